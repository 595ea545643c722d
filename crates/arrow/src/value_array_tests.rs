//! Tests of `value_array`: HBase's `org.apache.hadoop.hbase.util.Bytes` makes the same bytes.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Date64Array,
    Decimal128Array, FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, LargeBinaryArray, LargeStringArray, ListArray, NullArray, StringArray,
    StringViewArray, TimestampMicrosecondArray, TimestampNanosecondArray, TimestampSecondArray,
    UInt64Array,
};
use cells::{DecimalType, ValueType as T};

use super::ValueArray;

fn encoded(array: &ArrayRef, value_type: Option<T>) -> Result<Vec<u8>, String> {
    let values = ValueArray::new(array, value_type)?;
    assert!(!values.is_null(0));
    let mut bytes = Vec::new();
    values.encode(0, &mut bytes)?;
    Ok(bytes)
}

fn array(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

#[test]
fn values_have_the_type_of_their_array_or_the_given_one() {
    let dictionary = {
        let mut builder = StringDictionaryBuilder::<Int32Type>::new();
        builder.append_value("unused");
        builder.append_value("é");
        array(builder.finish().slice(1, 1))
    };
    let text = array(StringArray::from(vec!["258"]));
    let time = array(TimestampMicrosecondArray::from(vec![1_700_000_000_500_000]));
    let decimals = Decimal128Array::from(vec![-12_345]).with_precision_and_scale(9, 2);
    let decimal = array(decimals.expect("it fits"));
    for (array, value_type, expected) in [
        (array(BooleanArray::from(vec![true])), None, &b"\xff"[..]),
        (array(Int16Array::from(vec![-2])), None, b"\xff\xfe"),
        (array(Int32Array::from(vec![258])), None, b"\0\0\x01\x02"),
        (array(Int64Array::from(vec![i64::MIN])), None, b"\x80\0\0\0\0\0\0\0"),
        (array(Float32Array::from(vec![1.5])), None, b"\x3f\xc0\0\0"),
        (array(Float64Array::from(vec![-0.1])), None, b"\xbf\xb9\x99\x99\x99\x99\x99\x9a"),
        (array(Float64Array::from(vec![f64::INFINITY])), Some(T::Float32), b"\x7f\x80\0\0"),
        (text.clone(), None, b"258"),
        (text.clone(), Some(T::Int16), b"\x01\x02"),
        (text.clone(), Some(T::BinaryHex), b""),
        (array(LargeStringArray::from(vec!["a"])), None, b"a"),
        (array(StringViewArray::from(vec!["b"])), None, b"b"),
        (array(BinaryArray::from(vec![&b"\0\xff"[..]])), None, b"\0\xff"),
        (array(LargeBinaryArray::from(vec![&b"c"[..]])), Some(T::BinaryHex), b"c"),
        (array(BinaryViewArray::from(vec![&b"d"[..]])), Some(T::String), b"d"),
        (
            array(FixedSizeBinaryArray::try_from_iter([[1_u8, 2]].into_iter()).expect("equal")),
            None,
            b"\x01\x02",
        ),
        (dictionary, None, "é".as_bytes()),
        // Another type: as the number's text.
        (array(Int64Array::from(vec![258])), Some(T::Int16), b"\x01\x02"),
        (array(Int64Array::from(vec![258])), Some(T::String), b"258"),
        (array(Int8Array::from(vec![-1])), Some(T::Int32), b"\xff\xff\xff\xff"),
        (array(UInt64Array::from(vec![7])), Some(T::Int64), b"\0\0\0\0\0\0\0\x07"),
        (array(Float64Array::from(vec![3.0])), Some(T::Int16), b"\0\x03"),
        (decimal.clone(), Some(T::String), b"-123.45"),
        (decimal.clone(), None, b"\0\0\0\x02\xcf\xc7"),
        (array(Int8Array::from(vec![-2])), None, b"\xfe"),
        (array(Date32Array::from(vec![1])), None, b"\0\0\0\x01"),
        (array(Date32Array::from(vec![1])), Some(T::Timestamp), &86_400_000_i64.to_be_bytes()),
        (time.clone(), Some(T::Timestamp), &1_700_000_000_500_i64.to_be_bytes()),
        // As a float64 it is not 0.1.
        (array(Float32Array::from(vec![0.1])), Some(T::Float64), &f64::from(0.1_f32).to_be_bytes()),
        (time.clone(), Some(T::Int64), &1_700_000_000_500_i64.to_be_bytes()),
        (time.clone(), Some(T::String), b"2023-11-14T22:13:20.500000Z"),
        (array(TimestampNanosecondArray::from(vec![-1_000_000])), Some(T::Int64), &[0xff; 8]),
        (array(TimestampSecondArray::from(vec![2])), Some(T::Int64), &2_000_i64.to_be_bytes()),
        (array(Date32Array::from(vec![1])), Some(T::Int32), b"\0\0\0\x01"),
        (array(Date32Array::from(vec![1])), Some(T::Int64), &86_400_000_i64.to_be_bytes()),
        (array(Date32Array::from(vec![1])), Some(T::String), b"1970-01-02"),
    ] {
        let found = encoded(&array, value_type);
        if value_type == Some(T::BinaryHex) && expected.is_empty() {
            assert!(found.expect_err("three digits").contains("is not of type binary-hex"));
            continue;
        }
        assert_eq!(found.as_deref(), Ok(expected), "{:?} as {value_type:?}", array.data_type());
    }
}

#[test]
fn values_that_are_not_of_the_type_are_errors() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]);
    for (array, value_type, message) in [
        (array(Int64Array::from(vec![32_768])), Some(T::Int16), "\"32768\" is not of type int16"),
        (array(Float64Array::from(vec![1.5])), Some(T::Int64), "\"1.5\" is not of type int64"),
        (array(Float64Array::from(vec![1e39])), Some(T::Float32), "is too large for float32"),
        (array(StringArray::from(vec!["x"])), Some(T::Bool), "\"x\" is not of type bool"),
        (
            array(StringArray::from(vec![""])),
            Some(T::Int16),
            "\"\" is not of type int16; null makes",
        ),
        (array(UInt64Array::from(vec![u64::MAX])), Some(T::Int64), "is not of type int64"),
        (
            array(UInt64Array::from(vec![1])),
            None,
            "values of type UInt64 need a type of cells: int16",
        ),
        (array(TimestampSecondArray::from(vec![1])), None, "timestamp for milliseconds since 1970"),
        (array(Int64Array::from(vec![1])), Some(T::Timestamp), "cannot be written as timestamp"),
        (array(Int16Array::from(vec![128])), Some(T::Int8), "\"128\" is not of type int8"),
        (
            array(StringArray::from(vec!["1.234"])),
            Some(T::Decimal(DecimalType::new(9, 2).expect("a type"))),
            "\"1.234\" is not of type decimal(9,2)",
        ),
        (
            array(StringArray::from(vec!["x".repeat(9000)])),
            Some(T::Bool),
            "…\" (9000 bytes) is not of",
        ),
        (array(TimestampSecondArray::from(vec![1])), Some(T::Bool), "cannot be written as bool"),
        (array(BinaryArray::from(vec![&b"1"[..]])), Some(T::Int64), "cannot be written as int64"),
        (array(Int64Array::from(vec![1])), Some(T::BinaryHex), "cannot be written as binary-hex"),
        (array(list), Some(T::String), "cannot become cells"),
    ] {
        let error = encoded(&array, value_type).expect_err(message);
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn nulls_are_known_in_all_layouts() {
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    dictionary.append_null();
    for array in [
        array(NullArray::new(1)),
        array(Int64Array::from(vec![None])),
        array(StringViewArray::from(vec![None::<&str>])),
        array(dictionary.finish()),
    ] {
        let values = ValueArray::new(&array, None).expect("a type");
        assert!(values.is_null(0), "{:?}", array.data_type());
    }
}

/// A unit that is finer than the type, or more digits than a float has.
#[test]
fn no_digit_is_lost_by_a_conversion() {
    let micros = array(TimestampMicrosecondArray::from(vec![1_700_000_000_500_900]));
    let nanos = array(TimestampNanosecondArray::from(vec![-1]));
    let date = array(Date64Array::from(vec![86_400_001]));
    let numbers = Decimal128Array::from(vec![-12_345_678_901_234_567_890]);
    let wide = array(numbers.with_precision_and_scale(20, 2).expect("it fits"));
    for (array, value_type, expected) in [
        (micros.clone(), T::String, Ok("2023-11-14T22:13:20.500900Z")),
        (nanos.clone(), T::String, Ok("1969-12-31T23:59:59.999999999Z")),
        (array(TimestampSecondArray::from(vec![2])), T::String, Ok("1970-01-01T00:00:02.000Z")),
        (micros.clone(), T::Timestamp, Err("20.500900Z has digits after the milliseconds")),
        (micros.clone(), T::Int64, Err("which int64 would lose")),
        (nanos.clone(), T::Timestamp, Err("59.999999999Z has digits after the milliseconds")),
        (date.clone(), T::String, Err("1970-01-02T00:00:00.001Z has a time of day")),
        (date.clone(), T::Date, Err("write it as timestamp")),
        (date.clone(), T::Int32, Err("write it as timestamp")),
        (array(StringArray::from(vec!["1970-01-01T00:00:00.0001Z"])), T::Timestamp, Err("digits")),
        (array(Float64Array::from(vec![0.123_456_789])), T::Float32, Err("float32: 0.12345679;")),
        (array(Int32Array::from(vec![16_777_217])), T::Float32, Err("float32: 16777216;")),
        (
            array(Int64Array::from(vec![(1 << 53) + 1])),
            T::Float64,
            Err("float64: 9007199254740992"),
        ),
        (wide.clone(), T::Float64, Err("-123456789012345678.90 would lose digits")),
        (wide.clone(), T::String, Ok("-123456789012345678.90")),
    ] {
        match (encoded(&array, Some(value_type)), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(String::from_utf8_lossy(&found), expected),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            (found, _) => panic!("{:?} as {value_type}: {found:?}", array.data_type()),
        }
    }
    // Floats that have the digits, though not more of them.
    let large = 1_000_000_015_047_466_219_876_688_855_040_f64;
    for number in [0.1, -0.0, 1.5, f64::from(0.1_f32), 1e30, large, f64::NAN, f64::INFINITY] {
        assert!(encoded(&array(Float64Array::from(vec![number])), Some(T::Float32)).is_ok());
    }
    for number in [0, -258, 1 << 60, i64::MIN] {
        assert!(encoded(&array(Int64Array::from(vec![number])), Some(T::Float64)).is_ok());
    }
    assert_eq!(
        encoded(&date, Some(T::Timestamp)).as_deref(),
        Ok(&86_400_001_i64.to_be_bytes()[..])
    );
}
