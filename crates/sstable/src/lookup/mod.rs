//! The lookup of rows: finds the first cell of a row in each file of an ordered list that has the row.
//!
//! ```text
//! for each file    time ─ range ─ filter ─→ index ─→ │ block ─→ │ cell
//!                   │       │       │       └────── FileSeek, one file ──────┘
//!                   └───────┴───────┴─ skipped: no block was touched
//! ```
//!
//! | file         | what it decides                                                                   |
//! |--------------|-----------------------------------------------------------------------------------|
//! | `files`      | the list: order by newest cell, and what is kept beside each file                 |
//! | `row_lookup` | one row: which file can have it; stops where no further file can matter           |
//! | `file_seek`  | one row in one file: index, block, cell                                           |
//! | `batch`      | up to 16 rows: runs each step for all rows before the next step                  |
//!
//! The bars mark steps that may miss the processor's caches or read the file. A batch takes each step for all
//! its rows, so that these waits overlap.
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "indexes below the number of files or rows, and counters"
)]

mod batch;
mod file_seek;
mod files;
mod row_lookup;

pub use batch::{BATCH_MAX, FailedRow, FoundRow, Lookup, begin_together};
pub use files::{FileFate, LookupFile, LookupFiles};
pub use row_lookup::{LookupObserver, RowLookup};

#[cfg(test)]
mod tests;
