//! How a store is read: one row, many rows in order, and what HBase would show of the cells found.
//!
//! ```text
//! get   one row: memstores and the files that can have it ─┐
//! scan  many rows: all of them merged ─────────────────────┴─ rules → what HBase would show
//! ```

pub(crate) mod explain;
pub(crate) mod get;
pub(crate) mod merge;
pub(crate) mod query;
pub(crate) mod row_cells;
pub mod rules;
pub(crate) mod scan;
pub(crate) mod snapshot;

#[cfg(test)]
mod tests;
