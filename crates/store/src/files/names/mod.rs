//! The names in a store's directory, and the numbers of its log segments and batches.
//!
//! `identity.rs` draws the random names of files.

pub(crate) mod identity;
pub(crate) mod segment_number;
pub(crate) mod sequence;
mod store_names;

pub(crate) use self::store_names::{
    LOCK_NAME, MANIFEST_NAME, MANIFEST_TEMPORARY_NAME, UNFINISHED_NAME, WAL_DIRECTORY,
    check_family_name,
};
