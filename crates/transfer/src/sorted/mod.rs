//! Sorts cells in HBase's order in bounded memory.
//!
//! ```text
//! input ─→ buffered up to the limit ─→ sorted ─→ run 0, run 1, … in a temporary directory
//!                                                 └ merged 64 at a time ─→ longer runs ─→ merged
//! ```
//!
//! A run is an HFile of one family, which keeps tags and sequence ids. All cells of a family precede those
//! of the next. Cells within the limit are sorted in memory. The directory is removed after the last cell,
//! and at a failure.

mod buffer;
mod merge;
mod order;
mod runs;

pub(crate) use self::order::check_cancelled;
pub(crate) use self::runs::Sorted;
pub use self::runs::{Sorting, cell_bytes};
