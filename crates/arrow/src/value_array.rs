//! Values of an array as the bytes that HBase stores: the opposite of `typed_builder`.
//!
//! | array                        | without a type | with a type                                           |
//! |------------------------------|----------------|-------------------------------------------------------|
//! | text                         | `string`       | parsed, as a field of CSV                             |
//! | bytes                        | `binary-hex`   | only `binary-hex` and `string`: the bytes as they are |
//! | int8, int16, int32, int64    | the same type  | the number, if it is of the type                      |
//! | float32, float64, boolean    | the same type  | the same                                              |
//! | decimal                      | `decimal`      | the same; `decimal` keeps the scale of the array      |
//! | unsigned                     | an error       | the same                                              |
//! | timestamp                    | an error       | `timestamp`, `int64`: milliseconds since 1970; `string`: ISO 8601, with all digits of the array's unit |
//! | date                         | `date`         | `date`, `int32`: days since 1970; `timestamp`, `int64`, `string` as above |
//!
//! A value that would lose digits is an error: a timestamp with microseconds as `timestamp`, a date with a time of
//! day as `date`, 0.123456789 as `float32`.
//!
//! An array with a dictionary counts as an array of the dictionary's values. Arrays of lists and structs, and
//! others, are errors.

use std::fmt::{self, Write as _};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Decimal256Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use cells::{DecimalType, TypedValue, ValueType, date_text, time_text};

use crate::byte_array::ByteArray;
use crate::time_array::TimeArray;

const DAY_MILLIS: i64 = 86_400_000;

/// The values of an array, encoded as a [`ValueType`].
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array};
/// use hfile_arrow::ValueArray;
/// use cells::ValueType;
///
/// let array: ArrayRef = Arc::new(Int64Array::from(vec![Some(258), None]));
/// let mut bytes = Vec::new();
/// ValueArray::new(&array, Some(ValueType::Int16))?.encode(0, &mut bytes)?;
/// assert_eq!(bytes, b"\x01\x02");
/// assert!(ValueArray::new(&array, None)?.is_null(1));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValueArray {
    values: Values,
    nulls: Option<NullBuffer>,
    value_type: ValueType,
}

#[derive(Clone, Debug)]
enum Values {
    /// An array whose values are all null.
    Null,
    Bytes(ByteArray),
    Bool(BooleanArray),
    Int8(Int8Array),
    Int16(Int16Array),
    Int32(Int32Array),
    Int64(Int64Array),
    UInt8(UInt8Array),
    UInt16(UInt16Array),
    UInt32(UInt32Array),
    UInt64(UInt64Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Decimal128(Decimal128Array),
    Decimal256(Decimal256Array),
    Time(TimeArray),
    Date(TimeArray),
    /// Indexes of the values of another array.
    Dictionary(Vec<usize>, Box<Values>),
}

impl ValueArray {
    /// Returns the values of an array; they are encoded as `wanted`, or by the type of the array.
    ///
    /// # Errors
    ///
    /// A message if values of the array are never of the type, or if a type is needed.
    pub fn new(array: &ArrayRef, wanted: Option<ValueType>) -> Result<Self, String> {
        let values = Values::new(array)?;
        let value_type = values.check_type(array.data_type(), wanted)?;
        Ok(Self { values, nulls: array.logical_nulls(), value_type })
    }

    /// Returns the type of the encoded values.
    pub const fn value_type(&self) -> ValueType {
        self.value_type
    }

    /// Returns whether a value is null.
    pub fn is_null(&self, index: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(index))
    }

    /// Appends the encoded bytes of a value that is not null.
    ///
    /// # Errors
    ///
    /// A message if the value is not of the type.
    pub fn encode(&self, index: usize, out: &mut Vec<u8>) -> Result<(), String> {
        self.values.encode(index, self.value_type, out)
    }
}

impl Values {
    fn new(array: &ArrayRef) -> Result<Self, String> {
        if let Some(bytes) = ByteArray::new(array) {
            return Ok(Self::Bytes(bytes));
        }
        Ok(match array.data_type() {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Bool(array.as_boolean().clone()),
            DataType::Int8 => Self::Int8(array.as_primitive::<Int8Type>().clone()),
            DataType::Int16 => Self::Int16(array.as_primitive::<Int16Type>().clone()),
            DataType::Int32 => Self::Int32(array.as_primitive::<Int32Type>().clone()),
            DataType::Int64 => Self::Int64(array.as_primitive::<Int64Type>().clone()),
            DataType::UInt8 => Self::UInt8(array.as_primitive::<UInt8Type>().clone()),
            DataType::UInt16 => Self::UInt16(array.as_primitive::<UInt16Type>().clone()),
            DataType::UInt32 => Self::UInt32(array.as_primitive::<UInt32Type>().clone()),
            DataType::UInt64 => Self::UInt64(array.as_primitive::<UInt64Type>().clone()),
            DataType::Float32 => Self::Float32(array.as_primitive::<Float32Type>().clone()),
            DataType::Float64 => Self::Float64(array.as_primitive::<Float64Type>().clone()),
            DataType::Decimal128(..) => {
                Self::Decimal128(array.as_primitive::<Decimal128Type>().clone())
            }
            DataType::Decimal256(..) => {
                Self::Decimal256(array.as_primitive::<Decimal256Type>().clone())
            }
            DataType::Timestamp(..) => Self::Time(TimeArray::new(array)?),
            DataType::Date32 | DataType::Date64 => Self::Date(TimeArray::new(array)?),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                // Without values there is nothing to refer to: all keys are null.
                if dictionary.values().is_empty() {
                    return Ok(Self::Null);
                }
                let values = Self::new(dictionary.values())?;
                Self::Dictionary(dictionary.normalized_keys(), Box::new(values))
            }
            other => return Err(format!("values of type {other} cannot become cells")),
        })
    }

    /// Returns the type of the encoded values.
    fn check_type(&self, found: &DataType, given: Option<ValueType>) -> Result<ValueType, String> {
        use ValueType as T;
        let natural = match self {
            Self::Dictionary(_, values) => return values.check_type(found, given),
            Self::Null => Some(T::String),
            Self::Bytes(array) => Some(if array.is_text() { T::String } else { T::BinaryHex }),
            Self::Bool(_) => Some(T::Bool),
            Self::Int8(_) => Some(T::Int8),
            Self::Date(_) => Some(T::Date),
            Self::Decimal128(_) | Self::Decimal256(_) => decimal_type(found),
            Self::Int16(_) => Some(T::Int16),
            Self::Int32(_) => Some(T::Int32),
            Self::Int64(_) => Some(T::Int64),
            Self::Float32(_) => Some(T::Float32),
            Self::Float64(_) => Some(T::Float64),
            _ => None,
        };
        let Some(given) = given else {
            let choice = match self {
                Self::Time(_) => "timestamp for milliseconds since 1970, or string for text",
                Self::Decimal128(_) | Self::Decimal256(_) => "string for text, or float64",
                _ => "int16, int32, int64 or string",
            };
            return natural
                .ok_or_else(|| format!("values of type {found} need a type of cells: {choice}"));
        };
        let fits = match self {
            Self::Null => true,
            Self::Bytes(array) => array.is_text() || matches!(given, T::BinaryHex | T::String),
            Self::Time(_) => matches!(given, T::Timestamp | T::Int64 | T::String),
            Self::Date(_) => {
                matches!(given, T::Date | T::Timestamp | T::Int32 | T::Int64 | T::String)
            }
            // A number is no time: its unit is unknown.
            _ => !matches!(given, T::BinaryHex | T::Timestamp | T::Date),
        };
        fits.then_some(given)
            .ok_or_else(|| format!("values of type {found} cannot be written as {given}"))
    }

    fn encode(&self, index: usize, as_type: ValueType, out: &mut Vec<u8>) -> Result<(), String> {
        use ValueType as T;
        match (self, as_type) {
            (Self::Dictionary(keys, values), _) => return values.encode(keys[index], as_type, out),
            (Self::Bytes(array), T::String) => out.extend_from_slice(array.value(index)),
            (Self::Bytes(array), T::BinaryHex) if !array.is_text() => {
                out.extend_from_slice(array.value(index));
            }
            (
                Self::Bytes(array),
                T::Int8
                | T::Int16
                | T::Int32
                | T::Int64
                | T::Float32
                | T::Float64
                | T::Bool
                | T::Timestamp
                | T::Date
                | T::Decimal(_),
            ) if array.value(index).is_empty() => {
                return Err(format!("\"\" is not of type {as_type}; null makes no cell"));
            }
            (Self::Bytes(array), _) => return as_type.encode(array.value(index), out),
            (Self::Int16(array), T::Int16) => out.extend(array.value(index).to_be_bytes()),
            (Self::Int32(array), T::Int32) => out.extend(array.value(index).to_be_bytes()),
            (Self::Int64(array), T::Int64) => out.extend(array.value(index).to_be_bytes()),
            (Self::Float32(array), T::Float32) => out.extend(array.value(index).to_be_bytes()),
            (Self::Float64(array), T::Float64) => out.extend(array.value(index).to_be_bytes()),
            // Through decimal text, 0.1 would become another number.
            (Self::Float32(array), T::Float64) => {
                out.extend(f64::from(array.value(index)).to_be_bytes());
            }
            (Self::Time(array), T::Timestamp | T::Int64) if array.below_millis(index) != 0 => {
                return Err(format!(
                    "{} has digits after the milliseconds, which {as_type} would lose; round the times, or write \
                     them as string",
                    time_with_digits(array, index)?
                ));
            }
            (Self::Date(array), T::Date | T::Int32 | T::String)
                if millis(array, index)?.rem_euclid(DAY_MILLIS) != 0 =>
            {
                return Err(format!(
                    "{} has a time of day, which {as_type} would lose; write it as timestamp",
                    time_with_digits(array, index)?
                ));
            }
            (_, T::Float32 | T::Float64) => return self.encode_float(index, as_type, out),
            _ => return as_type.encode(self.text(index, as_type)?.as_bytes(), out),
        }
        Ok(())
    }

    /// Encodes a number as a float that has its digits.
    fn encode_float(
        &self,
        index: usize,
        as_type: ValueType,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let (text, start) = (self.text(index, as_type)?, out.len());
        as_type.encode(text.as_bytes(), out)?;
        let (kept, float) = match as_type.decode(&out[start..]) {
            Some(TypedValue::Float32(float)) => {
                let is_exact = matches!(self, Self::Float64(array) if array.value(index).to_bits() == f64::from(float).to_bits());
                (is_exact || has_digits_of(float, &text), float.to_string())
            }
            Some(TypedValue::Float64(float)) => (has_digits_of(float, &text), float.to_string()),
            other => unreachable!("{as_type} decodes to {other:?}"),
        };
        if kept {
            return Ok(());
        }
        out.truncate(start);
        Err(format!(
            "{text} would lose digits as {as_type}: {float}; round the numbers, or write them as string"
        ))
    }

    /// Returns a number, a time or a truth value as text, which is encoded as a field of CSV.
    fn text(&self, index: usize, as_type: ValueType) -> Result<String, String> {
        let mut text = String::new();
        let written = match self {
            Self::Null | Self::Bytes(_) | Self::Dictionary(..) => {
                unreachable!("null has no text; text is encoded as it is")
            }
            Self::Bool(array) => write!(text, "{}", array.value(index)),
            Self::Int8(array) => write!(text, "{}", array.value(index)),
            Self::Int16(array) => write!(text, "{}", array.value(index)),
            Self::Int32(array) => write!(text, "{}", array.value(index)),
            Self::Int64(array) => write!(text, "{}", array.value(index)),
            Self::UInt8(array) => write!(text, "{}", array.value(index)),
            Self::UInt16(array) => write!(text, "{}", array.value(index)),
            Self::UInt32(array) => write!(text, "{}", array.value(index)),
            Self::UInt64(array) => write!(text, "{}", array.value(index)),
            Self::Float32(array) => write!(text, "{}", array.value(index)),
            Self::Float64(array) => write!(text, "{}", array.value(index)),
            Self::Decimal128(array) => write!(text, "{}", array.value_as_string(index)),
            Self::Decimal256(array) => write!(text, "{}", array.value_as_string(index)),
            Self::Time(array) | Self::Date(array)
                if matches!(as_type, ValueType::Int64 | ValueType::Timestamp) =>
            {
                write!(text, "{}", millis(array, index)?)
            }
            Self::Time(array) => write!(text, "{}", time_with_digits(array, index)?),
            Self::Date(array) if as_type == ValueType::String => {
                write!(text, "{}", date_text(millis(array, index)?))
            }
            Self::Date(array) => write!(text, "{}", millis(array, index)?.div_euclid(DAY_MILLIS)),
        };
        written.expect("a String takes all text");
        Ok(text)
    }
}

fn millis(array: &TimeArray, index: usize) -> Result<i64, String> {
    let millis = array.millis(index);
    millis.ok_or_else(|| "a time that milliseconds in 64 bits cannot hold".to_owned())
}

/// Returns a time as ISO 8601 with all digits of the array's unit, so that the texts of a column have one length.
fn time_with_digits(array: &TimeArray, index: usize) -> Result<String, String> {
    let mut text = time_text(millis(array, index)?);
    let digits = array.digits_below_millis();
    if digits > 0 {
        let below = format!("{:0digits$}", array.below_millis(index));
        text.insert_str(text.len() - "Z".len(), &below);
    }
    Ok(text)
}

/// Returns whether a float has all digits of a decimal number: rounded to them, or written with as few as it needs.
fn has_digits_of(float: impl fmt::Display, number: &str) -> bool {
    let scale = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    format!("{float:.scale$}") == number || float.to_string() == number
}

/// Returns the type of decimals of an array; `None` if it has more digits, or a negative scale.
fn decimal_type(found: &DataType) -> Option<ValueType> {
    let (DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale)) = found
    else {
        return None;
    };
    DecimalType::new(*precision, u8::try_from(*scale).ok()?).map(ValueType::Decimal)
}

#[cfg(test)]
#[path = "value_array_tests.rs"]
mod tests;
