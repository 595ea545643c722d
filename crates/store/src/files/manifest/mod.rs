//! The manifest: the store's families and files, as on disk.
//!
//! ```text
//! list     the manifest: store, families, checksum
//! file     a store file          options  a family's options
//! bytes    strings, flags and lengths
//! ```

mod bytes;
mod file;
mod list;
mod options;

pub use file::FILE_ID_KEY;
pub(crate) use file::{FileEntry, FileId, FlatKey};
pub(crate) use list::{FamilyEntry, Manifest};
