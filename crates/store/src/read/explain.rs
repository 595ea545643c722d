//! What one get did with each file.
//!
//! The lookup reports the fate of each file to an observer. A plain get uses the observer `()`,
//! whose empty methods the compiler removes, [`Traced`] sums up the counters of the families, and
//! [`Recorder`] keeps everything.

use sstable::lookup::{LookupObserver, RowLookup};
use sstable::{Cell, ReadTrace, Timestamp};

use crate::files::version::file_list::Files;
use crate::files::version::store_version::FamilyVersion;

/// The answer of a get, and how the get treated each file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Explanation {
    /// The answer, as [`Store::get`](crate::Store::get) returns it.
    pub cells: Vec<Cell>,
    /// The counters of the whole get.
    pub trace: ReadTrace,
    /// The families that the get read.
    pub families: Vec<FamilyExplanation>,
}

/// What a get did in one family.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FamilyExplanation {
    /// The family's name.
    pub name: String,
    /// The number of cells that the get copied from memstores, including hidden cells.
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
    /// The file's length in bytes.
    pub bytes: u64,
    /// The timestamps of the oldest and the newest cell, if known.
    ///
    /// A delete marker that hides all older cells counts as [`Timestamp::OLDEST`].
    pub times: Option<(Timestamp, Timestamp)>,
    /// What the get did with the file.
    pub fate: FileFate,
    /// Whether the family map covers the file, so that the map was asked in place of its filter.
    pub covered_by_map: bool,
    /// The counters of this file.
    pub trace: ReadTrace,
}

pub use sstable::lookup::FileFate;

/// Observes a get: its families and the fate of each file.
pub(crate) trait GetObserver: LookupObserver {
    /// Called before the first file of a family; `lookup` is ready to read the files.
    fn begin_family(&mut self, family: &FamilyVersion, lookup: &RowLookup<'_>);

    /// Called for each file whose cells were merged; `trace` has the counters since
    /// [`LookupObserver::file`].
    fn read_further(&mut self, index: usize, trace: &ReadTrace);

    /// Returns whether the observer uses the calls of [`begin_family`](Self::begin_family) and of
    /// [`LookupObserver::file`]. If not, both are left out for a row that the family map denies.
    fn is_told_of_files(&self) -> bool {
        false
    }

    /// Called after the last file of a family, and after an error; `trace` has the family's
    /// counters, and `memstore_cells` is the number of cells copied from memstores.
    fn end_family(&mut self, trace: &ReadTrace, memstore_cells: usize);
}

impl GetObserver for () {
    fn begin_family(&mut self, _: &FamilyVersion, _: &RowLookup<'_>) {}
    fn read_further(&mut self, _: usize, _: &ReadTrace) {}
    fn end_family(&mut self, _: &ReadTrace, _: usize) {}
}

/// Sums up the counters of all families.
#[derive(Debug, Default)]
pub(crate) struct Traced(pub(crate) ReadTrace);

impl GetObserver for Traced {
    fn begin_family(&mut self, _: &FamilyVersion, _: &RowLookup<'_>) {}
    fn read_further(&mut self, _: usize, _: &ReadTrace) {}

    fn end_family(&mut self, trace: &ReadTrace, _: usize) {
        self.0.add(trace);
    }
}

impl LookupObserver for Traced {
    fn file(&mut self, _: usize, _: FileFate, _: &ReadTrace) {}
}

/// Records the families and the fate of each file.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) families: Vec<FamilyExplanation>,
    /// The counters of all families.
    pub(crate) trace: Traced,
    /// The files of the last family.
    files: Files,
    /// The trace at the last file.
    before: ReadTrace,
}

impl GetObserver for Recorder {
    fn begin_family(&mut self, family: &FamilyVersion, lookup: &RowLookup<'_>) {
        let name = family.family.name.clone();
        self.families.push(FamilyExplanation { name, memstore_cells: 0, files: Vec::new() });
        self.files = family.files.clone();
        self.before = *lookup.trace();
    }

    fn is_told_of_files(&self) -> bool {
        true
    }

    fn read_further(&mut self, index: usize, trace: &ReadTrace) {
        let files = &mut self.families.last_mut().expect(HAS_BEGUN).files;
        files[index].trace.add(trace); // Each file before this one has its entry, too.
    }

    fn end_family(&mut self, trace: &ReadTrace, memstore_cells: usize) {
        self.families.last_mut().expect(HAS_BEGUN).memstore_cells = memstore_cells;
        self.trace.end_family(trace, memstore_cells);
    }
}

impl LookupObserver for Recorder {
    fn file(&mut self, index: usize, fate: FileFate, trace: &ReadTrace) {
        let family = self.families.last_mut().expect(HAS_BEGUN);
        let entry = &self.files.by_time()[index].file.entry;
        let trace_of_file = trace.since(&self.before);
        family.files.push(FileExplanation {
            name: entry.name.clone(),
            bytes: entry.length,
            times: entry.times,
            fate,
            covered_by_map: self.files.coverage().is_some_and(|coverage| coverage.covers(index)),
            trace: trace_of_file,
        });
        self.before = *trace;
    }
}

const HAS_BEGUN: &str = "a family has begun";
