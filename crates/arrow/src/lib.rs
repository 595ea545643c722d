//! Apache HBase's files, tables, snapshots and stores as Arrow record batches.
//!
//! [`BatchScan`] says what to read and in what form, and returns [`Batches`], an iterator over record
//! batches of bounded size.
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
//! # Where to go
//!
//! | to …                                        | use                                                     |
//! |---------------------------------------------|---------------------------------------------------------|
//! | read a row per cell                         | [`BatchScan::cells`] with [`CellColumn`]                |
//! | read a row per row, with typed columns      | [`BatchScan::pivot`] with [`PivotColumn`]               |
//! | read an HFile, or the half of one           | [`BatchScan::hfile`], [`BatchScan::store_file`]         |
//! | read a store, or a snapshot of one          | [`BatchScan::store`], [`BatchScan::store_snapshot`]     |
//! | read a table or a snapshot of HBase         | [`BatchScan::table`], [`BatchScan::region`]             |
//! | read a part of a scan in another process    | [`BatchScan::table_splits`], [`BatchSplit`]             |
//! | write batches to files                      | `ParquetFile` (feature `parquet`), [`ArrowFile`]        |
//! | pass batches to Arrow's readers             | [`Batches::into_reader`]                                |
//! | make batches of cells from elsewhere        | [`BatchBuilder`]                                        |
//!
//! HBase does not store the types of values. [`PivotColumn`] takes one of [`cells::ValueType`], the
//! types of `hfile build --type`; a value that is not of its type is an error that names the row and
//! the column, unless [`BatchScan::bad_values_as_null`] is set.
//!
//! The opposite way, [`CellRows`] has the cells of a batch, [`ValueArray`] the values of a column as the bytes that
//! HBase stores, and [`TimeColumn`] its timestamps. [`ParquetInput`] reads batches. The crate `hfile-transfer` makes
//! HFiles of them.

mod arrow_file;
mod batch_builder;
mod batch_scan;
mod batch_split;
mod batches;
mod byte_array;
mod cell_rows;
mod cells_builder;
mod columns;
mod counting_sink;
mod error;
#[cfg(feature = "parquet")]
mod parquet_chunks;
#[cfg(feature = "parquet")]
mod parquet_file;
#[cfg(feature = "parquet")]
mod parquet_input;
#[cfg(feature = "parquet")]
mod parquet_times;
mod pivot_builder;
mod source;
mod time_array;
mod typed_builder;
mod value_array;

pub use arrow_file::ArrowFile;
pub use batch_builder::BatchBuilder;
pub use batch_scan::BatchScan;
pub use batch_split::{BatchSplit, BatchSplits};
pub use batches::Batches;
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
