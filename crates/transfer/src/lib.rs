//! Reads cells, CSV and record batches, writes HFiles, and exports HFiles, stores and tables.
//!
//! | to do                                           | use                                              |
//! |-------------------------------------------------|--------------------------------------------------|
//! | read cells, CSV or Parquet                      | [`InputOptions::open`]                           |
//! | read record batches (feature `arrow`)           | `Input::batches`                                 |
//! | write an HFile, or a directory for a bulk load  | [`Build`], [`Sorting`]                           |
//! | write the cells of a store for a bulk load      | [`write_store`]                                  |
//! | export a table, a snapshot, a store or HFiles   | [`TableSource`], [`StoreSource`], [`FilesSource`] |
//! | print cells as text, CSV or JSON                | [`CellsOutput`]                                  |
//! | write a file that appears when it is complete   | [`OutputFile`]                                   |
//!
//! The README has an example.
//!
//! The crate prints nothing and installs no signal handler. A program that ends at a signal calls
//! [`remove_unfinished`] first.

#[cfg(feature = "arrow")]
mod batches;
mod build;
mod cells_output;
mod columns;
mod counts;
mod csv;
mod error;
mod export;
mod input;
mod progress;
mod read_bytes;
mod record_cells;
mod sorted;
mod temporary;

pub use self::build::{Build, BulkLoadFiles, write_store};
pub use self::cells_output::{CellsOutput, OutputFormat};
pub use self::columns::{
    BadLinePolicy, ColumnFamily, ColumnOptions, MappedColumn, Problem, TypedColumn,
};
pub use self::counts::{show_count, show_number};
pub use self::csv::{CsvOptions, Quote};
pub use self::error::{CellProblem, Error, Result};
pub use self::export::{
    ExportFile, ExportFormat, Exported, FilesSource, Form, FormOptions, StoreSource, TableSource,
};
pub use self::input::{Input, InputFormat, InputOptions, display_name, open_keys};
pub use self::progress::{Extent, Observer, Phase, Warning};
pub use self::sorted::{Sorting, cell_bytes};
pub use self::temporary::{OutputFile, ScratchDirectory, before_unfinished, remove_unfinished};

/// The examples of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
