//! Apache HBase's files, tables, snapshots and stores as Arrow record batches.
//!
//! [`BatchScan`] says what to read, and in which form. It opens an HFile
//! ([`hfile`](BatchScan::hfile)), the half of one ([`store_file`](BatchScan::store_file)), a store
//! ([`store`](BatchScan::store)), or a table or snapshot in a root directory of HBase
//! ([`table`](BatchScan::table), [`region`](BatchScan::region)) as [`Batches`], an iterator over record
//! batches of bounded size.
//!
//! | form                             | a row is          | columns                                           |
//! |----------------------------------|-------------------|---------------------------------------------------|
//! | [`cells`](BatchScan::cells)      | a cell            | its parts ([`CellColumn`])                         |
//! | [`pivot`](BatchScan::pivot)      | a row of a table  | the row key and typed columns ([`PivotColumn`])    |
//!
//! ```
//! use hfile_arrow::BatchScan;
//! use sstable::{Reader, ReaderOptions};
//!
//! # let path = "testdata/s01-default.hfile";
//! let reader = Reader::open_file(path, ReaderOptions::default())?;
//! let mut batches = BatchScan::cells().raw(true).rows_max(1000).hfile(&reader)?;
//! let mut cells = 0;
//! for batch in &mut batches {
//!     cells += batch?.num_rows() as u64;
//! }
//! assert_eq!(cells, reader.trailer().entry_count);
//! assert!(batches.trace().data_blocks() > 0);
//! # Ok::<(), hfile_arrow::Error>(())
//! ```
//!
//! HBase does not store the types of values. [`PivotColumn`] takes one of [`sstable::ValueType`], the
//! types of `hfile build --type`; a value that is not of its type is an error that names the row and
//! the column, never a null.
//!
//! [`ParquetFile`] and [`ArrowFile`] write batches. [`Batches::into_reader`] returns Arrow's
//! [`RecordBatchReader`](arrow_array::RecordBatchReader). [`BatchBuilder`] makes batches from cells that
//! the caller reads.
//!
//! The opposite way, [`CellRows`] has the cells of a batch, [`ValueArray`] the values of a column as the bytes that
//! HBase stores, and [`TimeColumn`] its timestamps. [`ParquetInput`] reads batches. The crate `hfile-transfer` makes
//! HFiles of them.

mod arrow_file;
mod batch_builder;
mod batch_scan;
mod batches;
mod byte_array;
mod calendar;
mod cell_rows;
mod cells_builder;
mod columns;
mod counting_sink;
mod error;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "parquet")]
mod parquet_input;
mod pivot_builder;
mod source;
mod time_array;
mod typed_builder;
mod value_array;

pub use arrow_file::ArrowFile;
pub use batch_builder::BatchBuilder;
pub use batch_scan::BatchScan;
pub use batches::{BatchReader, Batches};
pub use cell_rows::CellRows;
pub use columns::{CellColumn, PivotColumn};
pub use error::{Error, Result};
#[cfg(feature = "parquet")]
pub use parquet_file::{ParquetCompression, ParquetFile};
#[cfg(feature = "parquet")]
pub use parquet_input::ParquetInput;
pub use time_array::{TimeColumn, TimeValue};
pub use value_array::ValueArray;

pub use arrow_array::{RecordBatch, RecordBatchReader};

/// The examples of the README, as doctests.
#[cfg(all(doctest, feature = "parquet"))]
#[doc = include_str!("../README.md")]
struct Readme;
