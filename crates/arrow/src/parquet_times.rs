//! The unit of columns of the type INT96, as Spark, Hive and Impala write times.
//!
//! A time of INT96 has the nanoseconds of its day, then the Julian day. The crate `parquet` returns nanoseconds
//! since 1970, which overflow before 1677 and after 2262. So columns are read in microseconds, unless a time
//! has nanoseconds that microseconds would lose.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Type as PhysicalType;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{Int96, Int96Type};
use parquet::errors::{ParquetError, Result};

use crate::parquet_chunks::Chunks;

/// The number of times that are read at once.
const TIMES: usize = 4096;
/// The Julian day of 1970-01-01.
const DAY_OF_1970: i64 = 2_440_588;
const DAY_NANOS: i128 = 86_400_000_000_000;

/// Gives columns of the type INT96 a unit that keeps all digits. Columns within others are left as they are.
pub(crate) fn with_times_of_int96(
    metadata: ArrowReaderMetadata,
    chunks: &Chunks,
) -> Result<ArrowReaderMetadata> {
    let mut units = HashMap::new();
    for (index, column) in metadata.parquet_schema().columns().iter().enumerate() {
        if column.physical_type() == PhysicalType::INT96 && column.path().parts().len() == 1 {
            units.insert(column.name().to_owned(), unit(&metadata, chunks, index)?);
        }
    }
    if !units.values().any(|unit| *unit == TimeUnit::Microsecond) {
        return Ok(metadata);
    }
    let given = metadata.schema();
    let fields = given.fields().iter();
    let fields_with_units =
        fields.map(|field| match (field.data_type(), units.get(field.name())) {
            (DataType::Timestamp(TimeUnit::Nanosecond, zone), Some(unit)) => {
                let data_type = DataType::Timestamp(*unit, zone.clone());
                Arc::new(field.as_ref().clone().with_data_type(data_type))
            }
            _ => Arc::clone(field),
        });
    let schema =
        Schema::new_with_metadata(fields_with_units.collect::<Fields>(), given.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
}

/// Reads the times of a column, and returns the unit that holds all of them.
fn unit(metadata: &ArrowReaderMetadata, chunks: &Chunks, column: usize) -> Result<TimeUnit> {
    let described = metadata.parquet_schema().column(column);
    let (mut has_nanos, mut is_in_range) = (false, true);
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let pages = chunks.pages(number, column)?;
        let untyped = parquet::column::reader::get_column_reader(described.clone(), pages);
        let mut reader = get_typed_column_reader::<Int96Type>(untyped);
        let mut left = usize::try_from(group.num_rows())?;
        let (mut levels, mut times) = (Vec::new(), Vec::new());
        while left > 0 {
            levels.clear();
            times.clear();
            let nulls = (described.max_def_level() > 0).then_some(&mut levels);
            let (rows, ..) = reader.read_records(left.min(TIMES), nulls, None, &mut times)?;
            if rows == 0 {
                break;
            }
            left = left.saturating_sub(rows);
            has_nanos |= times.iter().any(|time| nanos_of_day(time) % 1000 != 0);
            is_in_range &= times.iter().all(|time| i64::try_from(nanos(time)).is_ok());
        }
    }
    match (has_nanos, is_in_range) {
        (false, _) => Ok(TimeUnit::Microsecond),
        (true, true) => Ok(TimeUnit::Nanosecond),
        (true, false) => Err(ParquetError::General(format!(
            "column {}: times of INT96 with nanoseconds and times before 1677 or after 2262 have no common unit; \
             write the times as int64 in microseconds",
            described.name()
        ))),
    }
}

fn nanos_of_day(time: &Int96) -> i64 {
    let [low, high, _] = [0, 1, 2].map(|at| u64::from(time.data()[at]));
    (low | high << 32).cast_signed()
}

/// Returns the nanoseconds since 1970.
fn nanos(time: &Int96) -> i128 {
    let day = i64::from(time.data()[2].cast_signed()) - DAY_OF_1970;
    i128::from(day) * DAY_NANOS + i128::from(nanos_of_day(time))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use arrow_array::cast::AsArray;
    use arrow_array::types::{TimestampMicrosecondType, TimestampNanosecondType};
    use arrow_array::{Array, ArrayRef};
    use parquet::file::writer::SerializedFileWriter;

    use crate::parquet_input::ParquetInput;

    /// Writes times, as the nanoseconds of the day and the Julian day, and reads them.
    fn read(times: &[(u32, u32)]) -> crate::error::Result<ArrayRef> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("times.parquet");
        let schema_text = "message times { optional int96 time; }";
        let schema = parquet::schema::parser::parse_message_type(schema_text).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer =
            SerializedFileWriter::new(file, schema.into(), super::Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let int96s = times.iter().map(|(nanos, day)| super::Int96::from(vec![*nanos, 0, *day]));
        let values: Vec<_> = int96s.collect();
        // The first row is null.
        let levels: Vec<_> = (0..=times.len()).map(|at| i16::from(at > 0)).collect();
        let column_writer = column.typed::<super::Int96Type>();
        column_writer.write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let mut batches = ParquetInput::open(&path)?.batches(|_| true)?;
        let batch = batches.next().unwrap().unwrap();
        assert!(batch.column(0).is_null(0) && batch.num_rows() == times.len() + 1);
        Ok(batch.column(0).slice(1, times.len()))
    }

    #[test]
    fn times_of_spark_are_read_in_microseconds() {
        // 0001-01-01, 1970-01-01 and 9999-12-31, one millisecond after midnight.
        let days = [1_721_426, 2_440_588, 5_373_484];
        let found = read(&days.map(|day| (1_000_000, day))).unwrap();
        let expected = days.map(|day| (i64::from(day) - 2_440_588) * 86_400_000_000 + 1_000);
        assert_eq!(found.as_primitive::<TimestampMicrosecondType>().values()[..], expected);
    }

    #[test]
    fn no_nanosecond_of_a_time_is_lost() {
        let found = read(&[(1_000_001, 2_440_588), (0, 2_440_589)]).unwrap();
        let nanos = found.as_primitive::<TimestampNanosecondType>();
        assert_eq!(nanos.values()[..], [1_000_001, 86_400_000_000_000]);
        let error = read(&[(1_000_001, 2_440_588), (0, 5_373_484)]).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("column time: times of INT96 with nanoseconds"), "{cause}");
    }
}
