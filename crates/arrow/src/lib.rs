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

mod arrow_file;
mod batch_builder;
mod batch_scan;
mod batches;
mod cells_builder;
mod columns;
mod counting_sink;
mod error;
#[cfg(feature = "parquet")]
mod parquet_file;
mod pivot_builder;
mod source;
mod typed_builder;

pub use arrow_file::ArrowFile;
pub use batch_builder::BatchBuilder;
pub use batch_scan::BatchScan;
pub use batches::Batches;
pub use columns::{CellColumn, PivotColumn};
pub use error::{Error, Result};
#[cfg(feature = "parquet")]
pub use parquet_file::{ParquetCompression, ParquetFile};

pub use arrow_array::RecordBatch;

/// The examples of the README, as doctests.
#[cfg(all(doctest, feature = "parquet"))]
#[doc = include_str!("../README.md")]
struct Readme;
