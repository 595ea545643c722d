//! The error of this crate.

use arrow_schema::ArrowError;
use cells::ValueType;
use sstable::FileName;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why cells could not be read, or batches not made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An HFile could not be read.
    #[error(transparent)]
    File(#[from] sstable::Error),
    /// A store could not be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A directory of HBase could not be read.
    #[error(transparent)]
    Directories(#[from] hbase_files::Error),
    /// A value is not of the type that was given for its column.
    #[error(
        "row {row}, {part}: {len} bytes are no {type_name}; choose another type, or binary-hex for any bytes"
    )]
    Value {
        /// The row, as HBase prints it.
        row: String,
        /// The column, or `the row key`.
        part: String,
        /// The length of the value.
        len: usize,
        /// The name of the type.
        type_name: String,
    },
    /// The options contradict each other, or a cell does not fit in a batch.
    #[error("{0}")]
    Invalid(String),
    /// Arrow refused a batch, or a file of batches could not be written.
    #[error("{file}: cannot write record batches: {source}")]
    Arrow {
        /// The file.
        file: FileName,
        /// The cause.
        source: ArrowError,
    },
    /// A Parquet file could not be written.
    #[cfg(feature = "parquet")]
    #[error("{file}: cannot write Parquet: {source}")]
    Parquet {
        /// The file.
        file: FileName,
        /// The cause.
        source: parquet::errors::ParquetError,
    },
    /// A Parquet file could not be read.
    #[cfg(feature = "parquet")]
    #[error("{file}: cannot read Parquet: {source}")]
    ReadParquet {
        /// The file.
        file: FileName,
        /// The cause.
        source: parquet::errors::ParquetError,
    },
    /// A rule of this crate was broken: a bug.
    #[error("internal error: {0}; please report it")]
    Internal(String),
}

impl Error {
    /// Returns the error of a value that is not of its type.
    pub(crate) fn value(row: &[u8], part: String, value: &[u8], value_type: ValueType) -> Self {
        Self::Value {
            row: cells::escape(row).to_string(),
            part,
            len: value.len(),
            type_name: value_type.to_string(),
        }
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        Self::ExternalError(Box::new(error))
    }
}
