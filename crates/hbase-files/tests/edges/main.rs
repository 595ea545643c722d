//! Scans at the edges of what they compare: rows, times, sequence ids, ages of files, lengths.
//!
//! The tables are written by the tests, because the edges must meet exactly: a file ends with the row
//! at which a scan begins, a log has the sequence id of the last flush.

pub(crate) mod made;

mod ages;
mod bounds;
mod columns;
mod compactions;
mod constants;
mod gone;
mod kinds;
mod log_ends;
mod logs;
mod losses;
mod options;
mod regions;
mod rows;
mod seeks;
mod states;
mod torn;
mod tracker;
mod tracker_lists;
