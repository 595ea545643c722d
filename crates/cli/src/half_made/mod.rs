//! Outputs that appear whole or not at all.
//!
//! A file or directory is written under a temporary name beside its place and renamed once it is
//! complete and on disk. Ctrl-C, a failure and a panic remove what is half made; only a killed process or a
//! dead machine can leave it behind, under a name that starts with a dot and `hfile-`.

mod directories;
mod joining;
mod output;

pub(crate) use self::directories::{OutputDirectory, ScratchDirectory};
pub(crate) use self::joining::OutputDirectories;
pub(crate) use self::output::{Output, Removal};
