//! The files of a store: the manifest, the store files that it lists, and the version that readers see.
//!
//! ```text
//! families   changes of the set of families
//! catalog ─┬─ manifest   the list of families and files, as on disk
//!          ├─ version    what readers see: memstores, and a file_list per family
//!          └─ opener     how each store_file is opened
//! family_map                  names the files of a family that may hold a row
//! open_files, reserve         limit the descriptors: of store files, and for all other calls
//! map_retry                   when a file that the family map could not read is read again
//! new_file, region_files      write files: for the store, for HBase's bulk load
//! write_failures              why files of a family could not be written, or not with a filter
//! names, own_directory, unfinished, dropped, identity, segment_number, sequence      names of files and directories
//! ```
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

pub(crate) mod catalog;
pub(crate) mod dropped;
mod families;
pub(crate) mod family_map;
pub(crate) mod file_list;
pub(crate) mod identity;
pub(crate) mod manifest;
pub(crate) mod map_retry;
pub(crate) mod names;
pub(crate) mod new_file;
pub(crate) mod open_files;
pub(crate) mod opener;
pub(crate) mod own_directory;
pub(crate) mod pieces;
pub(crate) mod region_files;
pub(crate) mod reserve;
pub(crate) mod segment_number;
pub(crate) mod sequence;
pub(crate) mod store_file;
pub(crate) mod unfinished;
pub(crate) mod version;
pub(crate) mod write_failures;
