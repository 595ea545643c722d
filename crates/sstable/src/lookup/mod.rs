//! Row lookups: find the first cell of a row in each file that has the row.
//!
//! ```text
//! for each file    time ─ range ─ filter ─→ index ─→ │ block ─→ │ cell
//!                   │       │       │       └────── FileSeek, one file ──────┘
//!                   └───────┴───────┴─ file skipped, no index or data block touched
//! ```
//!
//! | file            | what it does                                                              |
//! |-----------------|---------------------------------------------------------------------------|
//! | `files`         | the list, newest cells first, with each file's ranges and filter inline   |
//! | `row_lookup`    | one row: finds the files that may have the row, up to one that is too old |
//! | `file_seek`     | one row in one file: index, block, cell                                   |
//! | `batch`         | up to 16 rows: runs each step for all rows before the next step           |
//! | `scan_decision` | whether a scan reads a file: the same steps, once a scan                  |
//!
//! A family map, if the caller has one, answers for many files before the first of these steps.
//! The bars mark where a batch waits for all its rows, so that their cache misses overlap. Asking the
//! filter and searching an index of several levels can read blocks, too.

mod batch;
mod file_seek;
mod files;
mod row_lookup;
mod scan_decision;

pub use batch::{BATCH_MAX, begin_together};
pub use files::{FileFate, LookupFile, LookupFiles};
pub use row_lookup::{LookupObserver, MapAnswer, RowInFile, RowLookup};
pub use scan_decision::{FilterQuestion, RowBounds, WantedCells};

#[cfg(test)]
mod tests;
