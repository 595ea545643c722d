//! SQL over Apache HBase's files, tables, snapshots and stores, with DataFusion and without HBase.
//!
//! [`TableOptions`] makes an [`HFileTable`], which is a DataFusion
//! [`TableProvider`](datafusion::catalog::TableProvider), in one of two forms: a row for each cell, or a row
//! for each row of the HBase table with typed columns.
//!
//! ```
//! use std::sync::Arc;
//!
//! use datafusion::prelude::SessionContext;
//! use hfile_datafusion::TableOptions;
//! use sstable::{Reader, ReaderOptions};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = "../../tests/data/hfile/s01-default.hfile";
//! let reader = Reader::open_file(path, ReaderOptions::default())?;
//! let context = SessionContext::new();
//! context.register_table("cells", Arc::new(TableOptions::cells().raw(true).hfile(&reader)?))?;
//! // Reads the blocks of these rows only; EXPLAIN shows the ranges.
//! let count = context.sql("SELECT count(*) FROM cells WHERE \"row\" >= 'row1'").await?;
//! println!("{}", count.to_string().await?);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go
//!
//! | to …                                        | use                                          |
//! |---------------------------------------------|----------------------------------------------|
//! | query a row per cell                        | [`TableOptions::cells`]                      |
//! | query a row per row, with typed columns     | [`TableOptions::pivot`]                      |
//! | make a table of an HFile or a store         | [`TableOptions::hfile`], [`TableOptions::store`] |
//! | make a table of a table or a snapshot       | [`TableOptions::table`]; `examples/snapshot.rs` |
//! | see what a query reads                      | `EXPLAIN`, [`HFileScanExec`]                 |
//!
//! # What is pushed down
//!
//! | predicate                                      | pushed down                                         |
//! |------------------------------------------------|-----------------------------------------------------|
//! | on `row`: `=`, `<>`, `<`, `<=`, `>`, `>=`, `BETWEEN`, `IN`, `LIKE 'x%'`, with `AND`, `OR`, `NOT` | exactly, as ranges of rows; at most 64 |
//! | `row LIKE 'x%y'`                               | the rows with the prefix; DataFusion checks the rest |
//! | on `family` and `qualifier`: `=`, `IN`         | as columns to read; DataFusion checks the rest       |
//! | on `timestamp`, in a raw table of cells        | exactly, as a range of times within that of the `TableScan` |
//! | on a column of a pivot                         | other columns are not read; DataFusion checks it     |
//!
//! What is not pushed down, and why:
//!
//! * Timestamps of tables that are not raw: HBase counts versions within the range of times, so a range
//!   would show older versions than the predicate.
//! * Times and qualifiers of a raw HFile, which shows cells that HBase's rules leave out.
//! * Row keys of floats and truth values, because several byte strings are equal values; and row keys of
//!   `hbase:meta`, which has an order of its own.
//!
//! A scan has at most as many partitions as DataFusion has target partitions; each reads
//! neighbouring regions. A partition holds at most about three batches, each of 4 MiB or of one
//! larger row. Errors of files are [`Error`] within
//! [`DataFusionError::External`](datafusion::error::DataFusionError::External), and name the file
//! and the place.
#![deny(missing_docs)]

mod column_filter;
mod columns;
mod literal;
mod options;
mod partition;
mod provider;
mod pushdown;
mod row_filter;
mod row_set;
mod scan_exec;
mod scan_parts;
mod source;
mod time_filter;

pub use options::TableOptions;
pub use provider::HFileTable;
pub use scan_exec::HFileScanExec;

pub use hfile_arrow::{Error, Result};

/// The examples of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
