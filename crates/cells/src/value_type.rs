//! The types of values: numbers and text as HBase's `Bytes.toBytes` encodes them.
//!
//! | type         | text                                | bytes; all numbers are big-endian       |
//! |--------------|-------------------------------------|-----------------------------------------|
//! | `string`     | anything                            | the text's bytes, unchanged             |
//! | `int8`       | −128 … 127                          | 1, two's complement                     |
//! | `int16`      | −32768 … 32767                      | 2, as `Bytes.toBytes(short)`            |
//! | `int32`      | −2147483648 … 2147483647            | 4, as `Bytes.toBytes(int)`              |
//! | `int64`      | −2^63 … 2^63 − 1                    | 8, as `Bytes.toBytes(long)`             |
//! | `float32`    | `1.5`, `-2e10`, `NaN`, `inf`        | 4, IEEE 754, as `Bytes.toBytes(float)`  |
//! | `float64`    | the same                            | 8, IEEE 754, as `Bytes.toBytes(double)` |
//! | `bool`       | `true`, `false`, `1`, `0`; any case | 1, as `Bytes.toBytes(boolean)`: −1 for  |
//! |              |                                     | true, 0 for false                       |
//! | `binary-hex` | pairs of hex digits                 | the bytes that the digits stand for     |
//!
//! ASCII white space around the text is ignored, except in a `string`. A number that is too large
//! for its type is refused: a float is infinite only if its text is `inf` or `infinity`, in any
//! case, with or without a sign.

use std::fmt;

use crate::decimal::DecimalType;
use crate::text::{parse_hex, quoted};
use crate::time_text::parse_iso;

/// The type of a column's values, which HBase does not store: an agreement of those who use a table.
///
/// ```
/// use cells::ValueType;
///
/// let mut value = Vec::new();
/// let int64 = ValueType::from_name("int64")?;
/// int64.encode(b"258", &mut value)?;
/// assert_eq!(value, b"\0\0\0\0\0\0\x01\x02");
/// assert_eq!(int64.decode(&value), Some(cells::TypedValue::Int64(258)));
/// assert_eq!(int64.decode(b"258"), None); // Three bytes.
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ValueType {
    /// Text.
    #[default]
    String,
    /// One byte.
    Int8,
    /// Two bytes, big-endian.
    Int16,
    /// Four bytes, big-endian.
    Int32,
    /// Eight bytes, big-endian.
    Int64,
    /// Four bytes, IEEE 754.
    Float32,
    /// Eight bytes, IEEE 754.
    Float64,
    /// One byte: zero is false, all others are true.
    Bool,
    /// Eight bytes, big-endian: milliseconds since 1970.
    Timestamp,
    /// Four bytes, big-endian: days since 1970.
    Date,
    /// A scale and an integer, as `BigDecimal`.
    Decimal(DecimalType),
    /// Any bytes; as text, pairs of hex digits.
    BinaryHex,
}

/// A value of a [`ValueType`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypedValue<'v> {
    /// Of [`ValueType::String`].
    String(&'v str),
    /// Of [`ValueType::Int8`].
    Int8(i8),
    /// Of [`ValueType::Int16`].
    Int16(i16),
    /// Of [`ValueType::Int32`].
    Int32(i32),
    /// Of [`ValueType::Int64`].
    Int64(i64),
    /// Of [`ValueType::Float32`].
    Float32(f32),
    /// Of [`ValueType::Float64`].
    Float64(f64),
    /// Of [`ValueType::Bool`].
    Bool(bool),
    /// Of [`ValueType::Timestamp`].
    Timestamp(i64),
    /// Of [`ValueType::Date`].
    Date(i32),
    /// Of [`ValueType::Decimal`]: the number times ten to the power of the type's scale.
    Decimal(i128),
    /// Of [`ValueType::BinaryHex`].
    Binary(&'v [u8]),
}

impl ValueType {
    const NAMES: [(&str, Self); 12] = [
        ("string", Self::String),
        ("int8", Self::Int8),
        ("int16", Self::Int16),
        ("int32", Self::Int32),
        ("int64", Self::Int64),
        ("float32", Self::Float32),
        ("float64", Self::Float64),
        ("bool", Self::Bool),
        ("timestamp", Self::Timestamp),
        ("date", Self::Date),
        ("decimal", Self::Decimal(DecimalType::DEFAULT)),
        ("binary-hex", Self::BinaryHex),
    ];

    /// The names of Java and HBase for types, and other names that people write.
    const ALIASES: [(&str, Self); 9] = [
        ("byte", Self::Int8),
        ("short", Self::Int16),
        ("int", Self::Int32),
        ("long", Self::Int64),
        ("float", Self::Float32),
        ("double", Self::Float64),
        ("boolean", Self::Bool),
        ("text", Self::String),
        ("binary", Self::BinaryHex),
    ];

    /// Returns the type with this name, in any case.
    ///
    /// Java's names are other names: `byte`, `short`, `int`, `long`, `float`, `double` and `boolean`; so are `text`
    /// and `binary`. A decimal can have a precision and scale: `decimal(10,2)`.
    ///
    /// # Errors
    ///
    /// If there is none: a message that lists all names.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let lower = name.to_ascii_lowercase();
        let digits = lower.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(digits) = digits {
            return DecimalType::parse(digits).map(Self::Decimal).ok_or_else(|| {
                format!(
                    "{name:?} is no type; a decimal has at most 38 digits: decimal(PRECISION,SCALE)"
                )
            });
        }
        Self::NAMES
            .iter()
            .chain(&Self::ALIASES)
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, found)| *found)
            .ok_or_else(|| {
                let names = Self::names().collect::<Vec<_>>().join(", ");
                format!("unknown type {name:?}; types are {names}")
            })
    }

    /// Returns the names of all types.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().map(|(name, _)| *name)
    }

    /// Returns the type's name, of a decimal without precision and scale. `Display` writes them.
    ///
    /// # Panics
    ///
    /// Never: the table of names has all types.
    pub fn name(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(_, known)| match self {
            Self::Decimal(_) => matches!(known, Self::Decimal(_)),
            _ => *known == self,
        });
        named.expect("the table has all").0
    }

    /// Decodes a value; `None` if its length does not fit the type, or if it is no UTF-8 text.
    ///
    /// A boolean is true unless its byte is zero, as for HBase's `Bytes.toBoolean`.
    pub fn decode(self, value: &[u8]) -> Option<TypedValue<'_>> {
        Some(match self {
            Self::String => TypedValue::String(std::str::from_utf8(value).ok()?),
            Self::Int8 => TypedValue::Int8(i8::from_be_bytes(value.try_into().ok()?)),
            Self::Int16 => TypedValue::Int16(i16::from_be_bytes(value.try_into().ok()?)),
            Self::Int32 => TypedValue::Int32(i32::from_be_bytes(value.try_into().ok()?)),
            Self::Int64 => TypedValue::Int64(i64::from_be_bytes(value.try_into().ok()?)),
            Self::Float32 => TypedValue::Float32(f32::from_be_bytes(value.try_into().ok()?)),
            Self::Float64 => TypedValue::Float64(f64::from_be_bytes(value.try_into().ok()?)),
            Self::Bool => {
                let [byte] = value.try_into().ok()?;
                TypedValue::Bool(byte != 0)
            }
            Self::Timestamp => TypedValue::Timestamp(i64::from_be_bytes(value.try_into().ok()?)),
            Self::Date => TypedValue::Date(i32::from_be_bytes(value.try_into().ok()?)),
            Self::Decimal(decimal) => TypedValue::Decimal(decimal.decode(value)?),
            Self::BinaryHex => TypedValue::Binary(value),
        })
    }

    /// Appends the encoded bytes of a value.
    ///
    /// # Errors
    ///
    /// If the text is not a value of the type: a message that says so.
    pub fn encode(self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let bad = || {
            let hint = if text.is_empty() { "; use --null '' to skip empty fields" } else { "" };
            format!("{} is not of type {self}{hint}", quoted(text))
        };
        if self == Self::String {
            out.extend_from_slice(text);
            return Ok(());
        }
        let word = std::str::from_utf8(text).map_err(|_| bad())?.trim_ascii();
        match self {
            Self::String => {}
            Self::Int8 => out.extend(word.parse::<i8>().map_err(|_| bad())?.to_be_bytes()),
            Self::Int16 => out.extend(word.parse::<i16>().map_err(|_| bad())?.to_be_bytes()),
            Self::Int32 => out.extend(word.parse::<i32>().map_err(|_| bad())?.to_be_bytes()),
            Self::Int64 => out.extend(word.parse::<i64>().map_err(|_| bad())?.to_be_bytes()),
            Self::Float32 => {
                let number = word.parse::<f32>().map_err(|_| bad())?;
                if number.is_infinite() && !is_infinity(word) {
                    return Err(self.overflow(text));
                }
                out.extend(number.to_be_bytes());
            }
            Self::Float64 => {
                let number = word.parse::<f64>().map_err(|_| bad())?;
                if number.is_infinite() && !is_infinity(word) {
                    return Err(self.overflow(text));
                }
                out.extend(number.to_be_bytes());
            }
            Self::Bool => out.push(match word {
                "1" => 0xff,
                "0" => 0,
                _ if word.eq_ignore_ascii_case("true") => 0xff,
                _ if word.eq_ignore_ascii_case("false") => 0,
                _ => return Err(bad()),
            }),
            Self::Timestamp => {
                let millis = if let Ok(millis) = word.parse::<i64>() {
                    millis
                } else {
                    let time = parse_iso(word.as_bytes()).ok_or_else(bad)?;
                    if time.has_finer_digits {
                        return Err(finer_than_millis(text));
                    }
                    time.millis
                };
                out.extend(millis.to_be_bytes());
            }
            Self::Date => {
                let days = word.parse().ok().or_else(|| days_of(word));
                out.extend(days.ok_or_else(bad)?.to_be_bytes());
            }
            Self::Decimal(decimal) => out.extend(decimal.encode(word).ok_or_else(bad)?),
            Self::BinaryHex => out.extend(parse_hex(word).ok_or_else(bad)?),
        }
        Ok(())
    }

    fn overflow(self, text: &[u8]) -> String {
        format!("{} is too large for {}", quoted(text), self.name())
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Decimal(decimal) if *decimal != DecimalType::DEFAULT => {
                write!(f, "({},{})", decimal.precision(), decimal.scale())
            }
            _ => Ok(()),
        }
    }
}

fn finer_than_millis(text: &[u8]) -> String {
    let shown = quoted(text);
    format!(
        "{shown} has digits after the milliseconds, which a timestamp has not; round the time, or write it as string"
    )
}

/// Returns the days since 1970 of a date in ISO 8601 without a time.
fn days_of(date: &str) -> Option<i32> {
    const DAY_MILLIS: i64 = 86_400_000;
    const DATE_LEN: usize = "2023-11-14".len();
    if date.len() != DATE_LEN {
        return None;
    }
    let time = parse_iso(date.as_bytes())?;
    i32::try_from(time.millis.div_euclid(DAY_MILLIS)).ok()
}

/// Returns whether a number's text is `inf` or `infinity`, in any case, with or without a sign.
fn is_infinity(word: &str) -> bool {
    let unsigned = word.trim_start_matches(['+', '-']);
    unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(name: &str, text: &str) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        ValueType::from_name(name)?.encode(text.as_bytes(), &mut out).map(|()| out)
    }

    /// The expected bytes come from HBase's `org.apache.hadoop.hbase.util.Bytes`.
    #[test]
    fn values_are_encoded_as_hbase_encodes_them() {
        for (name, text, bytes) in [
            ("string", " é\\x00", &b" \xc3\xa9\\x00"[..]),
            ("int16", "-2", b"\xff\xfe"),
            ("int32", " 258 ", b"\0\0\x01\x02"),
            ("int64", "-9223372036854775808", b"\x80\0\0\0\0\0\0\0"),
            ("float32", "1.5", b"\x3f\xc0\0\0"),
            ("float64", "-0.1", b"\xbf\xb9\x99\x99\x99\x99\x99\x9a"),
            ("float64", "NaN", b"\x7f\xf8\0\0\0\0\0\0"),
            ("bool", "TRUE", b"\xff"),
            ("bool", "false", b"\0"),
            ("bool", "1", b"\xff"),
            ("bool", "0", b"\0"),
            ("binary-hex", "00fF", b"\0\xff"),
            ("binary-hex", "", b""),
            ("int8", "-2", b"\xfe"),
            ("timestamp", "2023-11-14T22:13:20Z", b"\0\0\x01\x8b\xcf\xe5\x68\0"),
            ("timestamp", "-1", b"\xff\xff\xff\xff\xff\xff\xff\xff"),
            ("date", "1970-01-03", b"\0\0\0\x02"),
            ("date", "-1", b"\xff\xff\xff\xff"),
            ("decimal", "1.50", b"\0\0\0\x02\0\x96"),
            ("decimal(3,1)", "1.5", b"\0\0\0\x01\x0f"),
        ] {
            assert_eq!(encoded(name, text).as_deref(), Ok(bytes), "{name} {text}");
        }
    }

    #[test]
    fn decoded_values_are_the_encoded_ones() {
        use TypedValue as V;
        for (name, text, value) in [
            ("string", "é", V::String("é")),
            ("int16", "-2", V::Int16(-2)),
            ("int32", "258", V::Int32(258)),
            ("int64", "-9223372036854775808", V::Int64(i64::MIN)),
            ("float32", "1.5", V::Float32(1.5)),
            ("float64", "-0.1", V::Float64(-0.1)),
            ("bool", "true", V::Bool(true)),
            ("bool", "0", V::Bool(false)),
            ("binary-hex", "00ff", V::Binary(b"\0\xff")),
            ("int8", "-128", V::Int8(-128)),
            ("timestamp", "1969-12-31T23:59:59.999Z", V::Timestamp(-1)),
            ("date", "2000-02-29", V::Date(11_016)),
        ] {
            let bytes = encoded(name, text).expect(text);
            let value_type = ValueType::from_name(name).expect(name);
            assert_eq!(value_type.decode(&bytes), Some(value), "{name} {text}");
            let longer = [&bytes[..], b"\0"].concat();
            let takes_any = matches!(value, V::String(_) | V::Binary(_));
            assert_eq!(value_type.decode(&longer).is_some(), takes_any, "{name}");
            assert_eq!(value_type.decode(b"").is_some(), takes_any, "{name}");
        }
        assert_eq!(ValueType::String.decode(b"\xff"), None);
    }

    #[test]
    fn text_of_another_type_is_refused() {
        for (name, text) in [
            ("int8", "128"),
            ("date", "2000-02-29T10:00"),
            ("date", "yesterday"),
            ("timestamp", "soon"),
            ("decimal", "1,5"),
            ("decimal(3,1)", "1.55"),
            ("int16", "32768"),
            ("int32", "1.0"),
            ("int64", "0x10"),
            ("float64", "1,5"),
            ("bool", "yes"),
            ("binary-hex", "abc"),
            ("binary-hex", "zz"),
        ] {
            let error = encoded(name, text).expect_err(text);
            assert_eq!(error, format!("{text:?} is not of type {name}"));
        }
        for text in ["2023-11-14T22:13:20.1234Z", "2023-11-14T22:13:20.000000001"] {
            let error = encoded("timestamp", text).expect_err(text);
            assert!(error.contains("has digits after the milliseconds"), "{error}");
        }
        assert!(encoded("timestamp", "2023-11-14T22:13:20.123000Z").is_ok());
        for (name, text) in [("float32", "1e39"), ("float32", "-1e39"), ("float64", "1e309")] {
            let error = encoded(name, text).expect_err(text);
            assert_eq!(error, format!("{text:?} is too large for {name}"));
        }
        for text in ["inf", "-Infinity", "+INF"] {
            assert!(encoded("float32", text).is_ok(), "{text}");
        }
        assert!(encoded("int32", "").expect_err("empty").contains("--null ''"));
        assert!(
            encoded("int7", "1")
                .expect_err("no such type")
                .contains("types are string, int8, int16")
        );
        for name in ["decimal(39,1)", "decimal(5,6)", "decimal(5)", "decimal()"] {
            assert!(ValueType::from_name(name).expect_err(name).contains("PRECISION"), "{name}");
        }
        assert_eq!(encoded("Double", "-0.1"), encoded("float64", "-0.1"));
        for (alias, name) in [
            ("byte", "int8"),
            ("short", "int16"),
            ("int", "int32"),
            ("LONG", "int64"),
            ("float", "float32"),
            ("double", "float64"),
            ("boolean", "bool"),
            ("text", "string"),
            ("binary", "binary-hex"),
        ] {
            let value_type = ValueType::from_name(alias).expect(alias);
            assert_eq!(value_type.name(), name, "{alias}");
        }
        for name in ValueType::names().chain(["decimal(10,2)"]) {
            let value_type = ValueType::from_name(name).expect(name);
            assert_eq!(value_type.to_string(), name);
        }
    }
}
