//! Reads cells, CSV and record batches, writes HFiles, and exports HFiles, stores and tables.
//!
//! It is what `hfile build` and the `export` verbs of the command `hfile` do, for programs.
//!
//! ```
//! use sstable::{Comparator, FileName, Timestamp, WriterOptions};
//! use transfer::{
//!     Build, ColumnFamily, ColumnOptions, CsvOptions, InputFormat, InputOptions, OutputFile,
//!     Sorting,
//! };
//!
//! # let directory = tempfile::tempdir()?;
//! # let (csv, hfile) = (directory.path().join("users.csv"), directory.path().join("users.hfile"));
//! std::fs::write(&csv, "id,name\n7,Ada\n3,Alan\n")?;
//! let input = InputOptions {
//!     format: InputFormat::Csv,
//!     paths: vec![csv],
//!     is_dry_run: false,
//!     columns: ColumnOptions { row: vec!["id".to_owned()], ..Default::default() },
//!     csv: CsvOptions::default(),
//! };
//! let mut cells = input.open(ColumnFamily::Option("f"), Timestamp::new(1_700_000_000_000), 1)?;
//! let build = Build {
//!     options: WriterOptions::default(),
//!     order: Comparator::Bytes,
//!     sorting: &Sorting::All { memory: 256 << 20, directory: None },
//!     observer: &(),
//! };
//! let output = OutputFile::create(&hfile, false)?;
//! let (output, summary) = build.write_file(&mut cells, output, FileName::new("users.hfile"))?;
//! output.finish()?; // The file appears now.
//! assert_eq!(summary.cell_count, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go
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
//! | know of progress, and of cells left out         | [`Observer`]                                     |
//!
//! The crate prints nothing and installs no signal handler. A program that ends at a signal calls
//! [`remove_unfinished`] first.

#[cfg(feature = "arrow")]
mod batches;
mod build;
mod cells_output;
mod columns;
mod csv;
mod error;
mod export;
mod input;
mod option_problem;
mod progress;
mod read_bytes;
mod record_cells;
mod record_problem;
mod sorted;
mod temporary;
mod unseen_columns;

pub use self::build::{Build, BulkLoadFiles, write_store};
pub use self::cells_output::{CellsOutput, OutputFormat};
pub use self::columns::{
    BadLinePolicy, BadRecord, ColumnFamily, ColumnOptions, MappedColumn, TypedColumn,
};
pub use self::csv::{CsvOptions, Quote};
pub use self::error::{CellProblem, Error, Result};
pub use self::export::{
    ExportFile, ExportForm, ExportFormat, Exported, FilesSource, FormOptions, StoreSource,
    TableSource,
};
pub use self::input::{Input, InputFormat, InputOptions, display_name, open_keys};
pub use self::option_problem::{DifferingOption, InputOption, OptionProblem};
pub use self::progress::{Extent, Observer, Phase, Warning};
pub use self::record_problem::RecordProblem;
pub use self::sorted::{Sorting, cell_bytes};
pub use self::temporary::{
    OutputDirectory, OutputFile, ScratchDirectory, before_unfinished, remove_unfinished,
};
pub use self::unseen_columns::UnseenColumns;

/// The examples of the README, as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
