//! What belongs to a store: the manifest, the files that it names, and the version that readers see.
//!
//! ```text
//! catalog ─┬─ manifest   what belongs to the store, as it is on disk
//!          ├─ version    what readers see: memstores, and a file_list in two orders
//!          └─ opener     how each store_file is opened
//! new_file, region_files      how files are made, for the store and for HBase
//! names, own_directory, unfinished, identity, segment_number, sequence      what is called how
//! ```
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

pub(crate) mod catalog;
pub(crate) mod file_list;
pub(crate) mod identity;
pub(crate) mod manifest;
pub(crate) mod names;
pub(crate) mod new_file;
pub(crate) mod opener;
pub(crate) mod own_directory;
pub(crate) mod pieces;
pub(crate) mod region_files;
pub(crate) mod segment_number;
pub(crate) mod sequence;
pub(crate) mod store_file;
pub(crate) mod unfinished;
pub(crate) mod version;
