//! The blocks of an HFile, one file a block type.

pub(crate) mod bloom;
pub(crate) mod header;
pub(crate) mod index;

pub use bloom::BloomType;
pub use header::Header;
