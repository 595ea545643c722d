//! The blocks of an HFile, one file a block type.

mod aligned;
pub(crate) mod bloom;
pub(crate) mod cached;
pub(crate) mod data;
pub(crate) mod decoded;
pub(crate) mod encoded;
pub(crate) mod filter_index;
pub(crate) mod header;
pub(crate) mod index;
pub(crate) mod index_block;
pub(crate) mod meta;
pub(crate) mod origin;
pub(crate) mod row_index;
pub(crate) mod row_table;
pub(crate) mod slot;

pub use bloom::BloomType;
pub use header::BlockHeader;

#[cfg(test)]
mod tests;
