//! Arrays of times, as milliseconds since 1970 and the digits after them, or as text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};

use crate::byte_array::ByteArray;

/// An array of timestamps or dates.
///
/// Arrow's timestamps with a time zone are in UTC; those without count as UTC, too.
#[derive(Clone, Debug)]
pub(crate) enum TimeArray {
    /// Numbers of a unit that is a whole number of milliseconds.
    Long { values: ScalarBuffer<i64>, unit_millis: i64 },
    /// Numbers of a unit that is a fraction of a millisecond.
    Short { values: ScalarBuffer<i64>, per_milli: i64 },
    /// Days.
    Days(ScalarBuffer<i32>),
}

impl TimeArray {
    /// # Errors
    ///
    /// A message for arrays of another type.
    pub(crate) fn new(array: &ArrayRef) -> Result<Self, String> {
        Ok(match array.data_type() {
            DataType::Int64 => Self::long::<Int64Type>(array, 1),
            DataType::Timestamp(TimeUnit::Second, _) => {
                Self::long::<TimestampSecondType>(array, 1000)
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                Self::long::<TimestampMillisecondType>(array, 1)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                Self::short::<TimestampMicrosecondType>(array, 1000)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                Self::short::<TimestampNanosecondType>(array, 1_000_000)
            }
            DataType::Date32 => Self::Days(array.as_primitive::<Date32Type>().values().clone()),
            DataType::Date64 => Self::long::<Date64Type>(array, 1),
            other => {
                return Err(format!(
                    "values of type {other} are no times; times are timestamps, dates, text, or int64 for \
                     milliseconds since 1970"
                ));
            }
        })
    }

    fn long<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef, unit_millis: i64) -> Self {
        Self::Long { values: array.as_primitive::<T>().values().clone(), unit_millis }
    }

    fn short<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef, per_milli: i64) -> Self {
        Self::Short { values: array.as_primitive::<T>().values().clone(), per_milli }
    }

    /// Returns a time in milliseconds since 1970, rounded down; `None` if i64 cannot hold it.
    pub(crate) fn millis(&self, index: usize) -> Option<i64> {
        match self {
            Self::Long { values, unit_millis } => values[index].checked_mul(*unit_millis),
            Self::Short { values, per_milli } => Some(values[index].div_euclid(*per_milli)),
            Self::Days(values) => Some(i64::from(values[index]) * 86_400_000),
        }
    }

    /// Returns the part of a time that [`Self::millis`] drops, in the unit of the array.
    pub(crate) fn below_millis(&self, index: usize) -> i64 {
        match self {
            Self::Short { values, per_milli } => values[index].rem_euclid(*per_milli),
            Self::Long { .. } | Self::Days(_) => 0,
        }
    }

    /// Returns the number of decimal digits after the milliseconds that times of the array have.
    pub(crate) fn digits_below_millis(&self) -> usize {
        match self {
            Self::Short { per_milli, .. } => per_milli.ilog10() as usize,
            Self::Long { .. } | Self::Days(_) => 0,
        }
    }
}

/// A column of timestamps of cells: numbers, times, dates or text.
///
/// Timestamps of HBase are milliseconds, so fractions of a millisecond are dropped.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, TimestampMicrosecondArray};
/// use hfile_arrow::{TimeColumn, TimeValue};
///
/// let array: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(1_500), None]));
/// let times = TimeColumn::new(&array)?;
/// assert_eq!(times.value(0), Some(TimeValue::Millis(1)));
/// assert_eq!(times.value(1), None);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct TimeColumn {
    times: Times,
    nulls: Option<NullBuffer>,
}

#[derive(Clone, Debug)]
enum Times {
    Numbers(TimeArray),
    Text(ByteArray),
}

/// A time of a [`TimeColumn`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TimeValue<'a> {
    /// Milliseconds since 1970.
    Millis(i64),
    /// A time that milliseconds in 64 bits cannot hold.
    TooFar,
    /// Text, which the caller parses.
    Text(&'a [u8]),
}

impl TimeColumn {
    /// Returns the times of an array.
    ///
    /// # Errors
    ///
    /// A message if it has values of another type, such as float64.
    pub fn new(array: &ArrayRef) -> Result<Self, String> {
        let text = ByteArray::new(array).filter(ByteArray::is_text);
        let times = text.map_or_else(
            || TimeArray::new(array).map(Times::Numbers),
            |text| Ok(Times::Text(text)),
        );
        Ok(Self { times: times?, nulls: array.logical_nulls() })
    }

    /// Returns a time; `None` if it is null.
    pub fn value(&self, index: usize) -> Option<TimeValue<'_>> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(index)) {
            return None;
        }
        Some(match &self.times {
            Times::Numbers(array) => {
                array.millis(index).map_or(TimeValue::TooFar, TimeValue::Millis)
            }
            Times::Text(array) => TimeValue::Text(array.value(index)),
        })
    }
}
