//! One file of a store, and what was found in it.

use std::path::{Path, PathBuf};

use sstable::BlockType;

/// A file of a store, and what is wrong with it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub kind: PartKind,
    /// Cells in it that are sound.
    pub cells: u64,
    /// What is wrong; in a salvage, what was lost by that.
    pub problems: Vec<Problem>,
    /// What is worth knowing, and not wrong.
    pub notes: Vec<String>,
}

/// What a file of a store is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PartKind {
    /// The list of all that belongs to the store.
    Manifest,
    /// A segment of the log.
    LogSegment {
        /// Batches in it that are sound.
        records: u64,
    },
    /// A store file.
    StoreFile {
        /// Blocks that were read.
        blocks: u64,
        /// Whether counts, sizes and averages could be held against the whole.
        totals_checked: bool,
    },
    /// A file that the manifest does not name.
    LeftOver,
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// Where, in bytes from the start of the file.
    pub at: u64,
    /// How many bytes cannot be used because of it, if that is known.
    pub len: Option<u64>,
    /// The block, in a store file.
    pub block: Option<BlockType>,
    /// What is wrong.
    pub what: String,
}

/// How far a verification or a salvage has come.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<'a> {
    /// A file is being read.
    Reads {
        /// Which one.
        path: &'a Path,
        /// Bytes of it that are done.
        done: u64,
        /// Its bytes in all.
        len: u64,
    },
    /// A file is done.
    Done(&'a Part),
}

impl Part {
    pub(super) fn new(path: PathBuf, kind: PartKind) -> Self {
        Self { path, kind, cells: 0, problems: Vec::new(), notes: Vec::new() }
    }

    /// Whether nothing is wrong with it.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn wrong(&mut self, what: impl Into<String>) {
        self.problems.push(Problem { at: 0, len: None, block: None, what: what.into() });
    }

    pub(super) fn lost(&mut self, len: u64, what: impl Into<String>) {
        self.problems.push(Problem { at: 0, len: Some(len), block: None, what: what.into() });
    }
}
