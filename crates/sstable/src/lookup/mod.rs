//! Lookups of rows in many files, for engines whose files are HFiles.
//!
//! An engine keeps its files in [`LookupFiles`], newest cells first. A [`RowLookup`] takes one row through the list,
//! and returns the row in each file that has it. [`begin_together`] overlaps the cache misses of a batch of rows.
//!
//! ```text
//! for each file    time ─ range ─ filter ─→ index ─→ │ block ─→ │ cell
//!                   │       │       │       └────── one file ────────────┘
//!                   └───────┴───────┴─ file skipped, no index or data block touched
//! ```
//!
//! A family map, if the engine has one, answers for many files before the first of these steps ([`MapAnswer`]).
//! The bars mark where a batch waits for all its rows, so that their cache misses overlap. Asking the
//! filter and searching an index of several levels can read blocks, too. For a scan, which needs all its files,
//! [`Reader::may_have`](crate::Reader::may_have) takes the first steps for each file.
//!
//! ```
//! use std::sync::Arc;
//!
//! use bytes::Bytes;
//! use filter::Seed;
//! use sstable::lookup::{LookupFile, LookupFiles, LookupLimits, RowLookup};
//! use sstable::{
//!     CellRef, FileName, Reader, ReaderOptions, RowProbe, Timestamp, Writer, WriterOptions,
//! };
//!
//! fn file(name: &'static str, time: Timestamp, value: &[u8]) -> sstable::Result<LookupFile> {
//!     let name = FileName::new(name);
//!     let mut writer = Writer::new(Vec::new(), name.clone(), WriterOptions::default())?;
//!     writer.append(CellRef::put(b"row1", b"f", b"q", time, value))?;
//!     let (bytes, _) = writer.finish()?;
//!     let reader = Reader::open(Arc::new(Bytes::from(bytes)), name, ReaderOptions::default())?;
//!     Ok(reader.lookup_file().times(time, time))
//! }
//!
//! let (older, newer) = (Timestamp::new(1), Timestamp::new(2));
//! let files = LookupFiles::new(vec![file("2", newer, b"Grace")?, file("1", older, b"Ada")?])?;
//!
//! let probe = RowProbe::new(b"row1", Seed::default());
//! let mut lookup = RowLookup::new(&files, &probe, LookupLimits::default());
//! let found = lookup.next_file()?.expect("both files have the row");
//! assert_eq!((found.file(), found.cell().value), (0, b"Grace".as_slice()));
//!
//! // A read of one version of this column needs no older cell: no other file is searched.
//! lookup.stop_below(found.cell().timestamp);
//! assert!(lookup.next_file()?.is_none());
//! lookup.end();
//! assert_eq!(lookup.trace().files_skipped_by_time, 1);
//! # Ok::<(), sstable::Error>(())
//! ```

// | file            | what it does                                                              |
// |-----------------|---------------------------------------------------------------------------|
// | `files`         | the list, newest cells first, with each file's ranges and filter inline   |
// | `row_lookup`    | one row: finds the files that may have the row, up to one that is too old |
// | `seek_row`      | one row in one file: index, block, cell                                   |
// | `batch`         | up to 16 rows: runs each step for all rows before the next step           |
// | `scan_decision` | whether a scan reads a file: the same steps, once a scan                  |

mod batch;
mod files;
mod row_lookup;
mod scan_decision;
mod seek_row;

pub use batch::{BATCH_MAX, begin_together};
pub use files::{FileFate, LookupFile, LookupFiles};
pub use row_lookup::{FileOutcome, LookupLimits, MapAnswer, RowInFile, RowLookup};
pub use scan_decision::{FilterQuestion, RowBounds, WantedCells};

#[cfg(test)]
mod tests;
