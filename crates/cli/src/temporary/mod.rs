//! Output files and directories that appear complete or not at all.
//!
//! An output is written under a temporary name in the directory of its destination, and renamed once it
//! is complete and synced. Ctrl-C, a failure and a panic remove the temporary output. Only a killed
//! process or a machine crash leaves it behind, under a name that starts with `.hfile-`.

mod directories;
mod joining;
mod output;

pub(crate) use self::directories::{OutputDirectory, ScratchDirectory};
pub(crate) use self::joining::OutputDirectories;
pub(crate) use self::output::{Output, OutputFile, TemporaryPath};
