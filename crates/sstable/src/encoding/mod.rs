//! Data block encodings: cells stored as differences from their predecessors.
//!
//! | encoding       | id | idea                                                                |
//! |----------------|---:|---------------------------------------------------------------------|
//! | `NONE`         |  0 | cells as they are                                                   |
//! | `PREFIX`       |  2 | leaves out what a key shares with the key before it                 |
//! | `DIFF`         |  3 | also lengths, types and timestamps, as differences                  |
//! | `FAST_DIFF`    |  4 | the same with whole bytes of timestamps, and repeated values        |
//! | `ROW_INDEX_V1` |  7 | cells as they are, and behind them where each row starts            |
//!
//! The body of an encoded block is `u16 BE id || payload`. A block that is used again is decoded once,
//! into [plain cells](plain), and cached in that form: one search serves every encoding. A scan past the
//! cache, and the first get that reads a block, do not need all cells at once: they decode cell by cell,
//! with a [cursor](DeltaCursor).

mod cell_bounds;
mod cells;
mod delta;
mod encoder;
mod kind;
mod layout;
pub(crate) mod plain;
mod plain_cells;
mod plain_cursor;
mod row_index;
mod row_starts;
mod tag_dictionary;

pub(crate) use cell_bounds::CellBounds;
pub(crate) use cells::Cells;
pub(crate) use delta::{DeltaCursor, decode_delta};
pub(crate) use encoder::BlockEncoder;
pub use kind::DataBlockEncoding;
pub(crate) use layout::{CellLayout, DamageReason, Step};
pub(crate) use plain_cells::PlainCells;
pub(crate) use plain_cursor::{CheckingCursor, PlainCursor};
pub(crate) use row_starts::RowStarts;

#[cfg(test)]
mod tests;
