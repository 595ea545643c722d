//! The blocks of an HFile, one file a block type.

pub(crate) mod bloom;
pub(crate) mod body;
pub(crate) mod branch;
pub(crate) mod data;
pub(crate) mod filter_index;
pub(crate) mod header;
pub(crate) mod index;
pub(crate) mod loaded;
pub(crate) mod meta;
pub(crate) mod ribbon;
mod row_table;
pub(crate) mod searchable;
pub(crate) mod walk;

pub use bloom::BloomType;
pub use header::Header;
