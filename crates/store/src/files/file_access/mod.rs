//! Access to the files of a store: limits of descriptors, reads in chunks, and checks of paths.
//!
//! `open_files.rs` limits the descriptors of store files; `reserve.rs` keeps some for all other calls.

pub(crate) mod chunked_read;
pub(crate) mod open_files;
pub(crate) mod path_checks;
pub(crate) mod reserve;
