//! A version of the store: the memstores and files that a reader sees.
//!
//! A version never changes. A flush or a compaction replaces it; readers of the old version keep its
//! memstores and files alive.

use std::sync::Arc;

use cells::{Clock, KeepDeletedCells, Retention};
use sstable::Timestamp;
use sstable::tools::ReadCounters;

use crate::error::{Error, Result};
use crate::family_map::coverage::Coverage;
use crate::files::version::file_list::Files;
use crate::files::version::store_file::StoreFile;
use crate::files::version::write_failures::WriteFailures;
use crate::memstore::Memstore;
use crate::options::FamilyOptions;
use crate::stats::FamilyStats;

/// All families of a version, sorted by name.
#[derive(Clone, Debug)]
pub(crate) struct StoreVersion {
    pub(crate) families: Vec<Arc<FamilyVersion>>,
    /// The store's clock, for readers.
    pub(crate) clock: Clock,
}

impl StoreVersion {
    pub(crate) fn new(mut families: Vec<Arc<FamilyVersion>>, clock: Clock) -> Self {
        families.sort_by(|left, right| left.family.name.cmp(&right.family.name));
        assert!(
            families.windows(2).all(|pair| pair[0].family.name != pair[1].family.name),
            "no two families share a name"
        );
        Self { families, clock }
    }

    pub(crate) fn family(&self, name: &[u8]) -> Option<&Arc<FamilyVersion>> {
        self.families.iter().find(|version| version.family.name.as_bytes() == name)
    }

    /// Returns the family of this name, or an error that names it.
    pub(crate) fn known_family(&self, name: &[u8]) -> Result<&Arc<FamilyVersion>> {
        self.family(name).ok_or_else(|| unknown_family(name))
    }

    /// Returns whether a family exists and is a key-value family.
    pub(crate) fn is_key_value(&self, name: &[u8]) -> bool {
        self.family(name).is_some_and(|known| known.family.options.key_value)
    }

    /// Returns a version with `change` applied to each family.
    pub(crate) fn map(
        &self,
        mut change: impl FnMut(&Arc<FamilyVersion>) -> Arc<FamilyVersion>,
    ) -> Self {
        let families = self.families.iter().map(&mut change).collect();
        Self { families, clock: self.clock.clone() }
    }

    /// Returns a version with `change` applied to one family.
    pub(crate) fn with(&self, family: &Family, mut change: impl FnMut(&mut FamilyVersion)) -> Self {
        self.map(|known| {
            if known.family.id != family.id {
                return Arc::clone(known);
            }
            let mut changed = FamilyVersion::clone(known);
            change(&mut changed);
            Arc::new(changed)
        })
    }

    /// Returns a version without one family.
    pub(crate) fn without(&self, family: &Family) -> Self {
        let mut families = self.families.clone();
        families.retain(|known| known.family.id != family.id);
        Self { families, clock: self.clock.clone() }
    }

    /// Returns the files of all families.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<StoreFile>> {
        self.families.iter().flat_map(|family| family.files.by_sequence())
    }

    /// Returns the memstores of all families.
    pub(crate) fn memstores(&self) -> impl Iterator<Item = &Arc<Memstore>> {
        self.families.iter().flat_map(|family| family.memstores())
    }

    /// Returns the bytes of all memstores, except of families whose last flush failed.
    ///
    /// Those have a limit of their own, so that they do not stop the writes to other families.
    pub(crate) fn memstore_bytes(&self) -> usize {
        let families = self.families.iter();
        let families = families.filter(|family| !family.family.failures.has_failed_flush());
        families.flat_map(|family| family.memstores()).map(|memstore| memstore.bytes()).sum()
    }

    /// Returns the error of the last flush of a family, if it failed because of its settings or its cells.
    pub(crate) fn check_flushed(&self) -> Result<()> {
        self.families.iter().try_for_each(|version| version.family.check_flushed())
    }

    /// Returns whether the last flush of a family failed because of its settings or its cells.
    pub(crate) fn has_failed_flush(&self) -> bool {
        self.families.iter().any(|family| family.family.failures.has_failed_flush())
    }

    /// Returns the bytes of the memstores that accept writes.
    pub(crate) fn active_bytes(&self) -> usize {
        self.families.iter().map(|family| family.active.bytes()).sum()
    }
}

#[cold]
fn unknown_family(name: &[u8]) -> Error {
    Error::invalid(format!("the store has no family \"{}\"", cells::escape(name)))
}

/// A family in a version.
#[derive(Clone, Debug)]
pub(crate) struct FamilyVersion {
    pub(crate) family: Arc<Family>,
    /// Accepts writes.
    pub(crate) active: Arc<Memstore>,
    /// Being flushed; newest first.
    pub(crate) flushing: Vec<Arc<Memstore>>,
    pub(crate) files: Files,
}

impl FamilyVersion {
    /// Returns which cells the family keeps.
    pub(crate) fn retention(&self) -> Retention {
        self.family.options.retention()
    }

    /// Returns an upper bound of the timestamps of all cells; `None` without cells.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        let files = self.files.by_sequence().map(|file| file.newest());
        self.memstores().filter_map(|memstore| memstore.newest()).chain(files).max()
    }

    /// Logs the filters that cannot be read, each once. Called by a read that met one.
    #[cold]
    pub(crate) fn log_filter_problems(&self) {
        for file in self.files.by_time() {
            file.file.log_filter_problem(&self.family.name);
        }
    }

    /// Returns the sizes of the family, and the counters of its reads.
    pub(crate) fn stats(&self) -> FamilyStats {
        let files = || self.files.by_time().iter().map(|ranked| &ranked.file.entry);
        FamilyStats {
            name: self.family.name.clone(),
            memstore_bytes: self.memstore_bytes() as u64,
            memstore_cells: self.memstores().map(|memstore| memstore.len() as u64).sum(),
            files: files().len() as u64,
            file_bytes: files().map(|file| file.length).sum(),
            file_cells: files().map(|file| file.cells).sum(),
            gets: self.family.reads.gets(),
            reads: self.family.reads.snapshot(),
            map: self.files.coverage().map(Coverage::stats),
            flush_failure: self.family.failures.flush_failure(),
            filters_omitted: self.family.failures.filters_omitted(),
            filter_omission: self.family.failures.filter_omission(),
        }
    }

    fn memstore_bytes(&self) -> usize {
        self.memstores().map(|memstore| memstore.bytes()).sum()
    }

    /// Returns the error of the last flush if it failed and the memstores are full.
    pub(crate) fn refuse_if_full(&self) -> Result<()> {
        let Family { name, failures, .. } = &*self.family;
        if !failures.has_failed_flush() {
            return Ok(());
        }
        failures.refuse_if_full(name, self.memstore_bytes())
    }

    pub(crate) fn memstores(&self) -> impl Iterator<Item = &Arc<Memstore>> {
        std::iter::once(&self.active).chain(&self.flushing)
    }
}

/// The properties of a family. Altering the family replaces them.
#[derive(Debug)]
pub(crate) struct Family {
    /// The family's id in log and manifest.
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) options: FamilyOptions,
    /// The sums of all reads' counters; also of reads before the family was altered.
    pub(crate) reads: Arc<ReadCounters>,
    /// The failed flushes and omitted filters; also those before the family was altered.
    pub(crate) failures: Arc<WriteFailures>,
}

impl Family {
    /// Returns the error of the last flush, if it could not write the family's file.
    pub(crate) fn check_flushed(&self) -> Result<()> {
        self.failures.check_flushed(&self.name)
    }
}

impl Family {
    /// Returns whether only the newest version of a column is kept, and nothing that is deleted.
    pub(crate) fn keeps_one_version(&self) -> bool {
        let options = &self.options;
        options.versions <= 1
            && options.min_versions == 0
            && options.keep_deleted_cells == KeepDeletedCells::False
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "no two families share a name")]
    fn a_name_of_two_families_is_a_broken_invariant() {
        let family = |id| {
            let (name, options) = ("f".to_owned(), FamilyOptions::default());
            Arc::new(FamilyVersion {
                family: Arc::new(Family {
                    id,
                    name,
                    options,
                    reads: Arc::default(),
                    failures: Arc::default(),
                }),
                active: Arc::new(Memstore::new()),
                flushing: Vec::new(),
                files: Files::default(),
            })
        };
        let _ = StoreVersion::new(vec![family(0), family(1)], Clock::default());
    }
}
