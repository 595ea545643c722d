//! Sources of bytes: files, memory, or any other implementation of positioned reads.
//!
//! `open_files.rs` limits how many files of the process have a descriptor, `descriptors.rs` knows the limit.

mod descriptors;
#[allow(clippy::as_conversions, reason = "a length in memory has at most 64 bits")]
mod file_source;
mod open_files;

pub use self::descriptors::raise_descriptors_max;
pub use self::file_source::{FileSource, ReadAt};
pub use self::open_files::{OpenFilesLimit, PooledFile, close_some_files};
