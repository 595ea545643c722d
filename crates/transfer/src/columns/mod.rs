//! How named columns, of CSV or of record batches, become cells.
//!
//! ```text
//! options     what the user says of the columns
//! mapping     the columns of the row key, of the timestamp and of the cells
//! bad_lines   records that cannot be read: they end the run, or are counted, or copied to a file
//! ```

mod bad_lines;
mod mapping;
mod options;

pub(crate) use self::bad_lines::BadLines;
pub use self::bad_lines::Problem;
pub(crate) use self::mapping::{
    Mapping, TimestampSource, ValueColumn, check_row, in_column, timestamp_source,
};
pub use self::options::{BadLinePolicy, ColumnFamily, ColumnOptions, MappedColumn, TypedColumn};
