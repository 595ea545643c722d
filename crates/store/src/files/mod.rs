//! The files of a store: the manifest, the store files that it lists, and the version that readers see.
//!
//! ```text
//! families        changes of the set of families
//! catalog ─┬─ manifest     the list of families and files, as on disk
//!          └─ version      what readers see: memstores and store files
//! new_files       writes files: for the store, for HBase's bulk load
//! file_access     reserves descriptors, reads in chunks, refuses links in place of directories
//! names           names of files and directories, numbers of segments and batches
//! ```
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

pub(crate) mod catalog;
pub(crate) mod families;
pub(crate) mod file_access;
pub(crate) mod manifest;
pub(crate) mod names;
pub(crate) mod new_files;
pub(crate) mod version;
