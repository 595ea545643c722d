//! The way of one get, file by file.
//!
//! The read path tells a witness what became of each file. Gets have one that does not listen, and
//! of which nothing is left in the compiled code.

use sstable::{Cell, ReadTrace, Timestamp};

use crate::files::store_file::StoreFile;

/// What a get did, and what it found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Explanation {
    /// What it found, as [`Store::get`](crate::Store::get) returns it.
    pub cells: Vec<Cell>,
    /// What it did, in sum.
    pub trace: ReadTrace,
    /// The families that were asked.
    pub families: Vec<FamilyExplanation>,
}

/// What a get did in one family.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FamilyExplanation {
    /// The family.
    pub name: String,
    /// Cells of the row that stood in memstores, hidden ones too.
    pub memstore_cells: usize,
    /// The files, in the order in which they were considered.
    pub files: Vec<FileExplanation>,
}

/// What a get did with one file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileExplanation {
    /// The file's name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// The times of its oldest and its newest cell, if they are known. A marker that reaches back
    /// to the beginning of time counts as old as that.
    pub times: Option<(Timestamp, Timestamp)>,
    /// What became of it.
    pub fate: FileFate,
    /// What was asked and read for it.
    pub trace: ReadTrace,
}

/// What a get does with a file: it passes it over for one of four reasons, or looks into it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FileFate {
    /// All its cells are older than what decides the answer: what was found in newer files, the
    /// start of the time range, or the family's TTL.
    TooOld,
    /// All its cells are newer than the time range.
    TooNew,
    /// The row lies before its first row or behind its last.
    OutOfRange,
    /// Its filter says that it does not hold the row.
    Denied,
    /// It was looked into, and does not hold the row: it has no filter that could have told, or the
    /// filter was wrong.
    Absent,
    /// It holds the row, and its cells were read.
    Read,
}

impl FileFate {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::TooOld => "skipped: too old",
            Self::TooNew => "skipped: too new",
            Self::OutOfRange => "skipped: out of range",
            Self::Denied => "skipped: filter says no",
            Self::Absent => "looked into: not there",
            Self::Read => "read",
        }
    }
}

/// Is told what becomes of the files of a family, one after the other.
pub(crate) trait Witness {
    /// A family begins; `trace` is what was done in it before its first file.
    fn begin(&mut self, family: &str, memstore_cells: usize, trace: &ReadTrace);

    /// A file is done with; `trace` is what was done in the family up to here.
    fn file(&mut self, file: &StoreFile, fate: FileFate, trace: &ReadTrace);
}

/// Does not listen.
impl Witness for () {
    fn begin(&mut self, _: &str, _: usize, _: &ReadTrace) {}

    fn file(&mut self, _: &StoreFile, _: FileFate, _: &ReadTrace) {}
}

/// Writes everything down.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) families: Vec<FamilyExplanation>,
    before: ReadTrace,
}

impl Witness for Recorder {
    fn begin(&mut self, family: &str, memstore_cells: usize, trace: &ReadTrace) {
        let (name, files) = (family.to_owned(), Vec::new());
        self.families.push(FamilyExplanation { name, memstore_cells, files });
        self.before = *trace;
    }

    fn file(&mut self, file: &StoreFile, fate: FileFate, trace: &ReadTrace) {
        let family = self.families.last_mut().expect("a family has begun");
        family.files.push(FileExplanation {
            name: file.entry.name.clone(),
            bytes: file.entry.length,
            times: file.entry.times,
            fate,
            trace: trace.since(&self.before),
        });
        self.before = *trace;
    }
}
