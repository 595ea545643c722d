//! Writing files: cells in order go in, HFile v3 comes out; and copies of a file with another filter.
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "lengths and counts of what the writer has in memory"
)]

mod block_writer;
mod bloom;
mod index;
mod options;
mod pieces;
mod rebuild;
mod row_filter;
mod rules;
mod short_key;
mod statistics;
mod writer;
mod written;

pub use options::{FilterOptions, WriterOptions};
pub use rebuild::{FileInfoChange, rebuild_filter};
pub use writer::{FileSummary, Writer};
