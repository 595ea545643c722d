//! The way of one get, file by file.
//!
//! The lookup tells an observer what became of each file. Plain gets have one that does not listen, of which
//! nothing is left in the compiled code.

use sstable::{Cell, LookupObserver, ReadTrace, Timestamp};

use crate::files::file_list::Files;
use crate::files::version::FamilyVersion;

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

pub use sstable::FileFate;

/// Is told the way of a get: its families, and what becomes of the files of each.
pub(crate) trait GetObserver: LookupObserver {
    /// A family begins; `trace` is what was done in it before its first file.
    fn begin_family(&mut self, family: &FamilyVersion, memstore_cells: usize, trace: &ReadTrace);
}

/// Does not listen.
impl GetObserver for () {
    fn begin_family(&mut self, _: &FamilyVersion, _: usize, _: &ReadTrace) {}
}

/// Writes everything down.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) families: Vec<FamilyExplanation>,
    /// Of the family that was begun last.
    files: Files,
    before: ReadTrace,
}

impl GetObserver for Recorder {
    fn begin_family(&mut self, family: &FamilyVersion, memstore_cells: usize, trace: &ReadTrace) {
        let name = family.family.name.clone();
        self.families.push(FamilyExplanation { name, memstore_cells, files: Vec::new() });
        self.files = family.files.clone();
        self.before = *trace;
    }
}

impl LookupObserver for Recorder {
    fn file(&mut self, index: usize, fate: FileFate, trace: &ReadTrace) {
        let family = self.families.last_mut().expect("a family has begun");
        let entry = &self.files.by_time()[index].file.entry;
        family.files.push(FileExplanation {
            name: entry.name.clone(),
            bytes: entry.length,
            times: entry.times,
            fate,
            trace: trace.since(&self.before),
        });
        self.before = *trace;
    }
}
