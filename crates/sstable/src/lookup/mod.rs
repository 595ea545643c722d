//! The way of a row: range, filters, index, block, cell.

pub(crate) mod lookup;
pub(crate) mod row_seek;
