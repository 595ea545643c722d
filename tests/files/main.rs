//! The files of a store: their identity, log segments, locks and links, and descriptors.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

mod beside_a_writer;
mod file_identity;
mod locks_and_links;
mod log_segments;
mod open_files;
mod own_directory;
