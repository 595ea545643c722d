//! What one get did with each file, as the lookups in its families recorded it.

use sstable::lookup::{FileOutcome, RowLookup};
use sstable::{Cell, ReadTrace, Timestamp};

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

/// What a get reports besides its cells.
#[derive(Debug, Default)]
pub(crate) struct GetReport {
    /// The counters of the families so far.
    pub(crate) trace: ReadTrace,
    /// What the get did in each family, if the caller wants to know.
    pub(crate) families: Option<Vec<FamilyExplanation>>,
}

impl GetReport {
    /// Adds a family whose lookup has ended.
    pub(crate) fn add_family(
        &mut self,
        family: &FamilyVersion,
        lookup: &RowLookup<'_>,
        memstore_cells: usize,
    ) {
        self.trace.add(lookup.trace());
        let Some(families) = &mut self.families else { return };
        let files = lookup.outcomes().iter().map(|outcome| {
            let FileOutcome { file, fate, trace } = *outcome;
            let entry = &family.files.by_time()[file].file.entry;
            FileExplanation {
                name: entry.name.clone(),
                bytes: entry.length,
                times: entry.times,
                fate,
                covered_by_map: family.files.coverage().is_some_and(|map| map.covers(file)),
                trace,
            }
        });
        let name = family.family.name.clone();
        families.push(FamilyExplanation { name, memstore_cells, files: files.collect() });
    }
}
