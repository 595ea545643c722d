//! Brings the cells of an input into HBase's order.
//!
//! [`Sorting::All`] sorts in bounded memory, [`Sorting::WithinRows`] each row in memory, and [`Sorting::None`] nothing:
//!
//! ```text
//! input ─→ buffered up to the limit ─→ sorted ─→ run 0, run 1, … in a temporary directory
//!                                                 └ merged 64 at a time ─→ longer runs ─→ merged
//! ```
//!
//! A run is an HFile of one family, which keeps tags and sequence ids. All cells of a family precede the cells of
//! the next family. Cells within the limit stay in memory. The directory is removed after the last cell, and at a
//! failure. A row has no limit with [`Sorting::WithinRows`].

mod buffer;
mod merge;
mod order;
mod row_sorter;
mod runs;
mod sorted_cells;
mod sorting;

pub(crate) use self::order::check_cancelled;
pub use self::runs::cell_bytes;
pub(crate) use self::sorted_cells::Sorted;
pub use self::sorting::Sorting;
