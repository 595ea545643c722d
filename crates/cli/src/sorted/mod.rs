//! Cells brought into HBase's order in bounded memory.
//!
//! ```text
//! input ─→ gathered up to the bound ─→ sorted ─→ run 0, run 1, … in a scratch directory
//!                                                 └ 64 at a time ─→ fewer, longer runs ─→ merged
//! ```
//!
//! A run is an HFile: the order of cells, tags and sequence ids are kept by what keeps them anyway.
//! A file has one family, so families are kept apart: all cells of one come before those of the next.
//! What fits the bound is sorted where it is. The directory is gone with the last cell, at a failure
//! and at Ctrl-C.

mod merge;
mod runs;

pub(crate) use self::runs::{SortOptions, cell_bytes};
