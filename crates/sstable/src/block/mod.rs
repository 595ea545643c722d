//! The blocks of an HFile.
//!
//! ```text
//! header, aligned             what all blocks have
//! data, encoded, decoded      data blocks, and their two forms in memory
//! row_index, row_table        the rows of a decoded block: by order, by hash
//! index, index_block          entries of the data index as bytes, and searchable in memory
//! bloom, filter_index, meta   filters, and blocks with a name
//! origin, cached, slot        which block this is, in the block cache, beside an index entry
//! ```

mod aligned;
pub(crate) mod bloom;
pub(crate) mod cached;
pub(crate) mod data;
pub(crate) mod decoded;
pub(crate) mod encoded;
pub(crate) mod filter_index;
pub(crate) mod header;
pub(crate) mod index_block;
pub(crate) mod index_entry;
pub(crate) mod meta;
pub(crate) mod origin;
pub(crate) mod row_index;
pub(crate) mod row_table;
pub(crate) mod slot;

pub use bloom::BloomType;
pub use header::BlockHeader;

#[cfg(test)]
mod tests;
