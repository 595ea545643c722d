//! A store: one directory, one log, several families.
//!
//! ```text
//! LOCK            locked while the store is open for writing
//! MANIFEST        the families, their options and their files
//! wal/…           the log
//! FAMILY/…        the store files of a family: 16 hex digits of the store's id and 16 random ones each
//! UNFINISHED      exists until a salvage into the directory is complete; opening fails until then
//! ```

mod families;
mod handle;
mod inner;
mod key_value_map;
mod map_writes;
mod open;
mod open_read_only;
mod reads;
mod whole_files;
mod writes;

pub use handle::Store;
pub(crate) use inner::StoreInner;
pub use key_value_map::{KeyValue, KeyValueMap, Pairs};
pub(crate) use open::take_lock;
pub(crate) use open_read_only::OPEN_ATTEMPTS_MAX;
pub use whole_files::{CheckedFile, CompactionKind, compact};

#[cfg(test)]
mod tests;
