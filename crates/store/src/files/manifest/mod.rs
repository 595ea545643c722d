//! The manifest: the list of all that belongs to a store, as it is on disk.
//!
//! ```text
//! list     the manifest itself: store, families, checksum
//! file     a store file          options  a family's options
//! bytes    what all of them are made of
//! ```

mod bytes;
mod file;
mod list;
mod options;

pub use file::FILE_ID_KEY;
pub(crate) use file::{FileEntry, FileId, FlatKey};
pub(crate) use list::{FamilyEntry, Manifest};
