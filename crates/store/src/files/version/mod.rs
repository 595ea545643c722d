//! A version of the store: the families with their memstores and store files that a read uses.
//!
//! `store_version.rs` has the version, `file_list.rs` the files of a family in it, and `store_file.rs` one of them, which
//! `file_opener.rs` opens. `write_failures.rs` has why files of a family could not be written, or not with a filter;
//! `held.rs` counts what readers hold of older versions.

pub(crate) mod file_list;
pub(crate) mod file_opener;
pub(crate) mod held;
pub(crate) mod store_file;
pub(crate) mod store_version;
pub(crate) mod write_failures;
