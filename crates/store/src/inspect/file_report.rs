//! The report about one file of a store.

use std::io;
use std::path::{Path, PathBuf};

use cells::{RowsBetween, error_line};
use sstable::BlockType;

use crate::error::Error;

/// A file of a store, and its problems.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileReport {
    /// The path of the file.
    pub path: PathBuf,
    /// The kind of file.
    pub kind: FileKind,
    /// The number of sound cells.
    pub cells: u64,
    /// The problems; in a salvage, what was lost.
    pub problems: Vec<FileProblem>,
    /// Why the file could not be read, or not to its end, although it may be sound: a refused permission, or a
    /// feature that this build does not have.
    pub unread: Vec<String>,
    /// Remarks that are not problems.
    pub notes: Vec<String>,
}

/// The kind of a store's file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FileKind {
    /// The manifest.
    Manifest,
    /// A segment of the log.
    LogSegment {
        /// The number of sound batches.
        records: u64,
    },
    /// A store file.
    StoreFile {
        /// The number of blocks read.
        blocks: u64,
        /// Whether counts, sizes and averages in the trailer and the file info could be checked.
        totals_checked: bool,
    },
    /// A file that the manifest does not list.
    LeftOver,
}

/// A problem of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileProblem {
    /// The offset in the file.
    pub at: u64,
    /// The number of bytes that cannot be used, if known.
    pub len: Option<u64>,
    /// The type of the block, in a store file.
    pub block: Option<BlockType>,
    /// The problem in words.
    pub what: String,
    /// The rows that may have lost cells, for an unreadable data block of a store file.
    pub rows: Option<RowsBetween>,
}

/// The progress of a verification or a salvage.
#[derive(Debug)]
#[non_exhaustive]
pub enum VerifyEvent<'a> {
    /// A file is being read.
    Reading {
        /// The path of the file.
        path: &'a Path,
        /// Bytes processed.
        done: u64,
        /// Bytes of the file.
        len: u64,
    },
    /// A file was processed.
    Done(&'a FileReport),
}

impl FileReport {
    pub(super) fn new(path: PathBuf, kind: FileKind) -> Self {
        Self { path, kind, cells: 0, problems: Vec::new(), unread: Vec::new(), notes: Vec::new() }
    }

    /// Returns whether the file was read and has no problems.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty() && self.unread.is_empty()
    }

    /// Adds the error of a read: as a problem, unless the file may be sound.
    pub(super) fn add_error(&mut self, error: &Error) {
        let line = error_line(error);
        let may_be_sound = match error {
            Error::Io { source, .. } | Error::StoreFile(sstable::Error::Io { source, .. }) => {
                // Something else in place of the file, such as a link, is invalid input.
                use io::ErrorKind::{InvalidInput, NotFound, UnexpectedEof};
                !matches!(source.kind(), NotFound | UnexpectedEof | InvalidInput)
            }
            Error::StoreFile(error) => {
                matches!(
                    error,
                    sstable::Error::Unsupported { .. } | sstable::Error::TooLarge { .. }
                )
            }
            _ => false,
        };
        if !may_be_sound {
            self.add_problem(line);
        } else if !self.unread.contains(&line) {
            self.unread.push(line);
        }
    }

    pub(super) fn add_problem(&mut self, what: impl Into<String>) {
        self.problems.push(FileProblem {
            at: 0,
            len: None,
            block: None,
            what: what.into(),
            rows: None,
        });
    }

    pub(super) fn add_loss(&mut self, len: u64, what: impl Into<String>) {
        self.problems.push(FileProblem {
            at: 0,
            len: Some(len),
            block: None,
            what: what.into(),
            rows: None,
        });
    }
}
