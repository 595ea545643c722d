//! Data block encodings.
//!
//! | encoding       | id | idea                                                                |
//! |----------------|---:|---------------------------------------------------------------------|
//! | `NONE`         |  0 | plain cells                                                         |
//! | `PREFIX`       |  2 | omits the prefix that a key shares with the previous key            |
//! | `DIFF`         |  3 | also delta-encodes lengths, types and timestamps                    |
//! | `FAST_DIFF`    |  4 | as `DIFF`, with bytewise timestamps and omitted repeated values     |
//! | `ROW_INDEX_V1` |  7 | plain cells, followed by the offset of each row                     |
//!
//! The body of an encoded block is `u16 BE id || payload`. A block that is used again is decoded
//! once into [plain cells](plain) and cached in that form, so that one search serves every
//! encoding. A scan that bypasses the cache, and the first get that reads a block, decode cell by
//! cell with a [cursor](DeltaCursor).

mod cell_bounds;
mod cells;
#[allow(clippy::arithmetic_side_effects, reason = "lengths of at most 32 bits, added in 64")]
mod delta;
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "bytes in memory")]
mod encoder;
mod kind;
mod layout;
pub(crate) mod plain;
mod plain_cells;
#[allow(clippy::arithmetic_side_effects, reason = "the end of a cell is not before its start")]
mod plain_cursor;
mod row_index_v1;
#[allow(clippy::arithmetic_side_effects, reason = "a count of cells in memory")]
mod row_starts;
mod tag_dictionary;

pub(crate) use cell_bounds::CellBounds;
pub(crate) use cells::Cells;
pub(crate) use delta::{DeltaCursor, decode_delta};
pub(crate) use encoder::BlockEncoder;
pub use kind::DataBlockEncoding;
pub(crate) use layout::{CellLayout, CursorMove, DamageReason};
pub(crate) use plain_cells::PlainCells;
pub(crate) use plain_cursor::{CheckingCursor, PlainCursor};
pub(crate) use row_starts::RowStarts;

#[cfg(test)]
mod tests;
