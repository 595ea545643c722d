//! Encodes values as HBase's `Bytes.toBytes` does.
//!
//! | type         | text                                | bytes; all numbers are big-endian       |
//! |--------------|-------------------------------------|-----------------------------------------|
//! | `string`     | anything                            | the text's bytes, unchanged             |
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

use crate::key_text::parse_hex;

/// The type of the values of a CSV column, which determines how they are encoded.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum ValueType {
    #[default]
    String,
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    Bool,
    BinaryHex,
}

impl ValueType {
    const NAMES: [(&str, Self); 8] = [
        ("string", Self::String),
        ("int16", Self::Int16),
        ("int32", Self::Int32),
        ("int64", Self::Int64),
        ("float32", Self::Float32),
        ("float64", Self::Float64),
        ("bool", Self::Bool),
        ("binary-hex", Self::BinaryHex),
    ];

    /// Returns the type with this name; if there is none, an error that lists all names.
    pub(super) fn from_name(name: &str) -> Result<Self, String> {
        Self::NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, found)| *found)
            .ok_or_else(|| {
                let names = Self::NAMES.map(|(name, _)| name).join(", ");
                format!("unknown type {name:?}; types are {names}")
            })
    }

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).expect("the table has all").0
    }

    /// Appends the encoded bytes of a value.
    pub(super) fn encode(self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let bad = || {
            let hint = if text.is_empty() { "; use --null '' to skip empty fields" } else { "" };
            format!("{:?} is not of type {}{hint}", String::from_utf8_lossy(text), self.name())
        };
        if self == Self::String {
            out.extend_from_slice(text);
            return Ok(());
        }
        let word = std::str::from_utf8(text).map_err(|_| bad())?.trim_ascii();
        match self {
            Self::String => {}
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
            Self::BinaryHex => out.extend(parse_hex(word).ok_or_else(bad)?),
        }
        Ok(())
    }

    fn overflow(self, text: &[u8]) -> String {
        format!("{:?} is too large for {}", String::from_utf8_lossy(text), self.name())
    }
}

/// Returns whether a number's text is `inf` or `infinity`, in any case, with or without a sign.
fn is_infinity(word: &str) -> bool {
    let word = word.trim_start_matches(['+', '-']);
    word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("infinity")
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
        ] {
            assert_eq!(encoded(name, text).as_deref(), Ok(bytes), "{name} {text}");
        }
    }

    #[test]
    fn text_of_another_type_is_refused() {
        for (name, text) in [
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
        for (name, text) in [("float32", "1e39"), ("float32", "-1e39"), ("float64", "1e309")] {
            let error = encoded(name, text).expect_err(text);
            assert_eq!(error, format!("{text:?} is too large for {name}"));
        }
        for text in ["inf", "-Infinity", "+INF"] {
            assert!(encoded("float32", text).is_ok(), "{text}");
        }
        assert!(encoded("int32", "").expect_err("empty").contains("--null ''"));
        assert!(
            encoded("int8", "1").expect_err("no such type").contains("types are string, int16")
        );
    }
}
