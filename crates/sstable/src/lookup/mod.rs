//! The one way of a row: through an ordered list of files to its first cell in each file that has it.
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
//! | `batch`      | up to 16 rows: each step of all rows before the next step of any                  |
//!
//! A lookup waits for memory or a file at the bars. The steps are apart from each other, so that a batch can
//! take one step of all its rows before it waits for any of them.

mod batch;
mod file_seek;
mod files;
mod row_lookup;

pub use batch::{BATCH_MAX, FoundRow, Lookup, begin_together};
pub use files::{LookupFile, LookupFiles};
pub use row_lookup::{FileFate, LookupObserver, RowLookup};

#[cfg(test)]
mod tests;
