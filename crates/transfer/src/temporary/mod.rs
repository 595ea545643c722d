//! Output files and directories that appear complete or not at all.
//!
//! An output is written under a temporary name in the directory of its destination, and renamed once it
//! is complete and synced. A failure and a panic remove the temporary output, and so does a signal handler
//! that calls [`remove_unfinished`]. Only a killed process or a machine crash leaves it behind, under a
//! name that starts with `.hfile-`.

mod directories;
mod joining;
mod output;
mod sync;
#[cfg(test)]
mod sync_tests;

pub use self::directories::{OutputDirectory, ScratchDirectory};
pub(crate) use self::joining::OutputDirectories;
pub(crate) use self::output::TemporaryPath;
pub use self::output::{OutputFile, before_unfinished, remove_unfinished};
