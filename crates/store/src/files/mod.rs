//! The files of a store: the manifest, the store files that it lists, and the version that readers see.
//!
//! ```text
//! families        changes of the set of families
//! catalog ─┬─ manifest     the list of families and files, as on disk
//!          └─ version      what readers see: memstores and store files
//! new_files       writes new store files, and the marker of an unfinished salvage
//! file_access     reserves descriptors, reads in chunks, refuses links in place of directories
//! names           names of files and directories, numbers of segments and batches
//! ```

// The decoder of manifests warns of an index, a conversion or a sum that could go wrong.
pub(crate) mod catalog;
pub(crate) mod families;
pub(crate) mod file_access;
#[cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
pub(crate) mod manifest;
pub(crate) mod names;
pub(crate) mod new_files;
pub(crate) mod version;
