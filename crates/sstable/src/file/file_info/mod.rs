//! The file info: named metadata entries of a file.
//!
//! Numbers are big-endian; a flag is one byte, zero if false. The byte layout is in [`stored`].
//! HBase: `HFileInfo`, `HStoreFile`.

mod entries;
mod longest_cell;
mod stored;
mod values;

pub(crate) use self::entries::FilterId;
pub use self::entries::{FileInfo, TimeRange};
pub(crate) use self::longest_cell::LongestCell;
pub use self::values::FileInfoValue;
