//! Cells into and out of HFiles and stores.
//!
//! | to write                                     | use                                                |
//! |----------------------------------------------|----------------------------------------------------|
//! | files and directories that appear complete   | [`OutputFile`], [`OutputDirectory`], [`OutputDirectories`] |
//! | what is too large for memory                 | [`ScratchDirectory`]                               |
//!
//! The crate prints nothing and installs no signal handler. A program that ends at a signal calls
//! [`remove_unfinished`] first.

mod error;
mod temporary;

pub use self::error::{Error, Result};
pub use self::temporary::{
    OutputDirectories, OutputDirectory, OutputFile, ScratchDirectory, TemporaryPath,
    before_unfinished, remove_unfinished,
};
