//! What belongs to a store: the manifest, the files that it names, and the version that readers see.

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
