//! An open file: its metadata in memory, and how each kind of block is loaded.
//!
//! | to find                                                       | file                  |
//! |---------------------------------------------------------------|-----------------------|
//! | how a file is opened: trailer, roots of the indexes, file info | `open.rs`, `trailer.rs`, `file_info`, `hudi.rs` |
//! | what an open file has in memory                               | `open_file.rs`        |
//! | where a block is read, verified and decompressed              | `read_raw_block.rs`, `raw_block.rs` |
//! | where a block is loaded: from the cache, or read and decoded  | `load_block.rs`       |
//! | where a data block is loaded, and checked by its index entry  | `load_data_block.rs`  |
//! | the data block that can hold a key                            | `data_index.rs`, `index_cursor.rs` |
//! | whether the file can hold a row                               | `filters`             |
//! | parameters of the user, and of one read                       | `options.rs`, `read_context.rs` |
//! | the parts of a file as users see them                         | `parts.rs`, `block_contents.rs` |

pub(crate) mod block_contents;
#[allow(
    clippy::arithmetic_side_effects,
    reason = "an index below the number of entries, and levels up to a bound"
)]
pub(crate) mod data_index;
pub(crate) mod file_info;
pub(crate) mod filters;
mod hudi;
#[allow(
    clippy::arithmetic_side_effects,
    reason = "indexes below the number of entries, and levels up to a bound"
)]
pub(crate) mod index_cursor;
pub(crate) mod load_block;
#[allow(clippy::arithmetic_side_effects, reason = "a node has an entry")]
pub(crate) mod load_data_block;
pub(crate) mod open;
pub(crate) mod open_file;
pub(crate) mod options;
#[allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "indexes below the number of blocks, and offsets within the file"
)]
pub(crate) mod parts;
pub(crate) mod raw_block;
pub(crate) mod read_context;
pub(crate) mod read_raw_block;
pub(crate) mod trailer;
