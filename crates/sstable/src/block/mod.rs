//! The blocks of an HFile, one file a block type.

pub(crate) mod bloom;

pub use bloom::BloomType;
