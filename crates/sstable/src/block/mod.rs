//! The blocks of an HFile.
//!
//! ```text
//! header, aligned             what all blocks have
//! data, encoded, decoded      data blocks, and their two forms in memory
//! row_index, row_table        the rows of a decoded block: by order, by hash
//! index, index_block          entries of the data index as bytes, and searchable in memory
//! bloom, filter_index, meta   filters, and blocks with a name
//! origin, cached              which block this is, and its form in the block cache
//! ```

mod aligned;
pub(crate) mod bloom;
pub(crate) mod cached;
pub(crate) mod data;
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "offsets within the block, and bytes in memory"
)]
pub(crate) mod decoded;
#[allow(clippy::arithmetic_side_effects, reason = "sums of lengths in memory cannot overflow")]
pub(crate) mod encoded;
pub(crate) mod filter_index;
pub(crate) mod header;
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "indexes below the number of entries, of which there is one at least"
)]
pub(crate) mod index_block;
pub(crate) mod index_entry;
#[allow(clippy::arithmetic_side_effects, reason = "bytes in memory")]
pub(crate) mod meta;
pub(crate) mod origin;
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "offsets of rows within the block, and bytes in memory"
)]
pub(crate) mod row_index;
#[allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "lines and slots are computed from the number of lines"
)]
pub(crate) mod row_table;

pub use bloom::BloomType;
pub use header::BlockHeader;

#[cfg(test)]
mod tests;
