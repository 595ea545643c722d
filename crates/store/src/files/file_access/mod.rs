//! Access to the files of a store: a reserve of descriptors, reads in chunks, and checks of paths.
//!
//! [`sstable::tools::PooledFile`] limits the descriptors of store files; `reserve.rs` keeps some for all other calls.

pub(crate) mod chunked_read;
pub(crate) mod path_checks;
pub(crate) mod reserve;
