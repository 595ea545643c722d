//! Files that are being written: a store file, and the mark of a salvage.

pub(crate) mod failed_store;
pub(crate) mod new_file;
pub(crate) mod salvage_marker;
