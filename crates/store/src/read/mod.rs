//! Reads: gets of one row, scans over many, and HBase's rules for which cells are visible.
//!
//! ```text
//! get   one row: memstores, and the files that may hold it ─┐
//! scan  a range of rows: all memstores and files merged ────┴─ rules → the cells HBase would show
//!                                                         └ scan: cell_filter
//! ```

pub(crate) mod explain;
pub(crate) mod get;
pub(crate) mod merged_scans;
pub(crate) mod query;
pub(crate) mod row_merge;
pub(crate) mod scan;
pub(crate) mod snapshot;
pub(crate) mod sources;
pub(crate) mod view;

#[cfg(test)]
mod long_row_tests;
#[cfg(test)]
mod tests;
