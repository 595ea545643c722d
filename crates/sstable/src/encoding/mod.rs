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
//! The body of an encoded block is `u16 BE id || payload`. A block that is used again and again is
//! decoded once, into [plain cells](plain), and cached in that form: so there is one search whatever
//! the encoding, which undoes no differences. A scan that passes the cache by, and the first get that
//! reads a block, do not need all cells at once: they undo the differences [as they go](delta_walk).

mod block;
mod cell_parts;
mod delta;
mod delta_walk;
mod diff;
mod fast_diff;
mod kind;
pub(crate) mod plain;
mod prefix;
mod row_index;
mod tag_dictionary;

pub(crate) use block::{BlockEncoder, CellLayout, Cells, Decoded, Deltas, What, open};
pub(crate) use cell_parts::CellParts;
pub(crate) use delta_walk::DeltaWalk;
pub use kind::DataBlockEncoding;
