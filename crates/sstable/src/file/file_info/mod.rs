//! The file info: what a file says about itself, by name.
//!
//! Numbers are big-endian; a truth is one byte, not zero if true. HBase: `HFileInfo`, `HStoreFile`. As
//! bytes: see [`stored`].

mod entries;
mod stored;

pub use self::entries::{FileInfo, TimeRange};
