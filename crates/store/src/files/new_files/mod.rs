//! Files that are being written: a store file, the HFiles for HBase's bulk load, the mark of a salvage.

pub(crate) mod failed_store;
pub(crate) mod new_file;
pub(crate) mod region_files;
pub(crate) mod salvage_marker;
