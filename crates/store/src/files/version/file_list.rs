//! The store files of a family version, in the two orders that reads need.

use std::cmp::Reverse;
use std::sync::Arc;

use sstable::lookup::LookupFiles;
use sstable::tools::{load_pinned_filters, unload_filters};

use crate::family_map::coverage::Coverage;
use crate::family_map::map::{FamilyMap, Inserted};
use crate::family_map::slots::Slots;
use crate::files::version::store_file::StoreFile;

/// The store files of a family. A clone is cheap: it shares the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// The files, sorted by their newest timestamp, newest first.
    files: Arc<[RankedFile]>,
    /// The same files in the same order, in the form that lookups need.
    lookup: LookupFiles,
    /// The family map and the files that it covers; `None` if there is no map.
    coverage: Option<Arc<Coverage>>,
}

/// A store file and its rank by age.
#[derive(Clone, Debug)]
pub(crate) struct RankedFile {
    pub(crate) file: Arc<StoreFile>,
    /// 1 for the file with the newest writes. Of equal cells, reads return that of the lowest rank.
    pub(crate) rank: usize,
}

impl Files {
    pub(crate) fn new(mut files: Vec<Arc<StoreFile>>) -> Self {
        // HBase's order: descending by sequence id; of equal ids, the smaller file is newer. The name
        // makes the order unique.
        files.sort_by(|left, right| {
            let key = |file: &StoreFile| (Reverse(file.entry.sequence_max), file.entry.length);
            key(left).cmp(&key(right)).then_with(|| right.entry.name.cmp(&left.entry.name))
        });
        let mut ranked: Vec<_> = files
            .into_iter()
            .enumerate()
            .map(|(index, file)| RankedFile { file, rank: index + 1 })
            .collect();
        ranked.sort_by_key(|ranked| (Reverse(ranked.file.newest()), ranked.rank));
        Self::from_ranked(ranked)
    }

    /// Creates the list from files that are sorted by their newest timestamp, newest first.
    fn from_ranked(ranked: Vec<RankedFile>) -> Self {
        let lookup = lookup_files(&ranked);
        let files = Self { files: ranked.into(), lookup, coverage: None };
        files.assert_in_order();
        files
    }

    /// Asserts that the ranks are 1, 2, 3 … in the order of the sequence ids, newest first.
    ///
    /// `lookup_files` asserts the order by time.
    fn assert_in_order(&self) {
        let mut by_rank: Vec<_> = self.files.iter().collect();
        by_rank.sort_by_key(|ranked| ranked.rank);
        assert!(
            by_rank.iter().zip(1..).all(|(ranked, rank)| ranked.rank == rank),
            "the ranks are 1, 2, 3 …"
        );
        let sequence_max = |ranked: &RankedFile| ranked.file.entry.sequence_max;
        assert!(
            by_rank.windows(2).all(|pair| sequence_max(pair[0]) >= sequence_max(pair[1])),
            "the ranks follow the newest writes"
        );
    }

    /// Returns the files by their newest timestamp, newest first.
    pub(crate) fn by_time(&self) -> &[RankedFile] {
        &self.files
    }

    /// Returns the files in the form that lookups need, in the order of [`by_time`](Self::by_time).
    pub(crate) fn lookup(&self) -> &LookupFiles {
        &self.lookup
    }

    /// Returns the files by their newest write, newest first.
    pub(crate) fn by_sequence(&self) -> impl DoubleEndedIterator<Item = &Arc<StoreFile>> + use<'_> {
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_by_key(|ranked| ranked.rank);
        files.into_iter().map(|ranked| &ranked.file)
    }

    /// Returns the family map and the files that it covers, if there is a map.
    pub(crate) fn coverage(&self) -> Option<&Coverage> {
        self.coverage.as_deref()
    }

    /// Returns this list with another family map, which covers exactly `covered`.
    ///
    /// Files of `covered` that are no longer in the list are left out.
    pub(crate) fn with_map(
        &self,
        map: &Arc<FamilyMap>,
        covered: &[(Arc<StoreFile>, Slots)],
    ) -> Self {
        let slots = |file: &Arc<StoreFile>| {
            let found = covered.iter().find(|(covered, _)| Arc::ptr_eq(covered, file));
            found.map_or(Slots::NONE, |(_, slots)| *slots)
        };
        self.covered_by(self, Some(map), slots)
    }

    /// Returns this list without a family map.
    pub(crate) fn without_map(&self) -> Self {
        self.covered_by(self, None, |_| Slots::NONE)
    }

    /// Returns this list with a file covered, whose rows were inserted into a map.
    ///
    /// Changes nothing if the list has another map: the file then stays uncovered. A list without a
    /// map gets this one if it was made for the file. Otherwise the map has been dropped meanwhile.
    pub(crate) fn cover(&self, file: &Arc<StoreFile>, inserted: &Inserted) -> Self {
        let known = self.coverage.as_deref();
        let is_of_list = match known {
            Some(known) => Arc::ptr_eq(known.map(), &inserted.map),
            None => inserted.is_first_of_map(),
        };
        if !is_of_list {
            return self.clone();
        }
        self.covered_by(self, Some(&inserted.map), |other| {
            if Arc::ptr_eq(other, file) { inserted.slots } else { self.slots(other) }
        })
    }

    /// Returns whether the family map covers a file of this list; `false` for any other file.
    fn covers(&self, file: &Arc<StoreFile>) -> bool {
        let index = self.files.iter().position(|known| Arc::ptr_eq(&known.file, file));
        self.coverage().zip(index).is_some_and(|(coverage, index)| coverage.covers(index))
    }

    /// Loads the filters of the files that are not covered, if filters are pinned.
    pub(crate) fn load_pinned_filters(&self) {
        for (index, file) in self.lookup.iter().enumerate() {
            if !self.coverage().is_some_and(|coverage| coverage.covers(index)) {
                // Loads the filters of this list. If a newer list covers the file, it has others.
                load_pinned_filters(file);
            }
        }
    }

    /// Returns the slots of a file of this list; none for any other file.
    fn slots(&self, file: &Arc<StoreFile>) -> Slots {
        let index = self.files.iter().position(|known| Arc::ptr_eq(&known.file, file));
        let coverage = self.coverage().zip(index);
        coverage.map_or(Slots::NONE, |(coverage, index)| coverage.slots(index))
    }

    /// Returns the slots of a file whose rows are rows of the files `old` of this list.
    ///
    /// None if one of them is not covered.
    fn slots_of_successor(&self, old: &[Arc<StoreFile>]) -> Slots {
        let slots: Vec<_> = old.iter().map(|old| self.slots(old)).collect();
        if slots.iter().any(|slots| slots.is_empty()) {
            return Slots::NONE;
        }
        slots.into_iter().fold(Slots::NONE, Slots::union)
    }

    /// Returns this list with the slots of each file.
    ///
    /// The filters of the covered files leave memory once the older lists are dropped. `before` is
    /// the list that this one replaces.
    fn covered_by(
        &self,
        before: &Self,
        map: Option<&Arc<FamilyMap>>,
        slots: impl Fn(&Arc<StoreFile>) -> Slots,
    ) -> Self {
        let coverage = map.map(|map| {
            let slots = self.files.iter().map(|ranked| slots(&ranked.file)).collect();
            Arc::new(Coverage::new(Arc::clone(map), slots))
        });
        let is_covered = |index| coverage.as_ref().is_some_and(|now| now.covers(index));
        let covered = self.files.iter().enumerate().filter(|(index, _)| is_covered(*index));
        for (_, RankedFile { file, .. }) in covered {
            // The older lists keep the filters that they have, and may load them later. So a file
            // gets new ones when it becomes covered, even if its filters are not in memory.
            if !before.covers(file) || file.reader.filters().are_in_memory() {
                unload_filters(&file.reader);
            }
        }
        Self { files: Arc::clone(&self.files), lookup: lookup_files(&self.files), coverage }
    }

    /// Returns a list without the files `old` and with the file `new`.
    ///
    /// If `old` is not empty, each row of `new` must be a row of `old`: the slots of `old` in the
    /// family map become those of `new`, and the map does not change.
    ///
    /// # Panics
    ///
    /// If a file of `old` is not in this list.
    pub(crate) fn replace(&self, old: &[Arc<StoreFile>], new: Option<&Arc<StoreFile>>) -> Self {
        let is_old = |file: &Arc<StoreFile>| old.iter().any(|old| Arc::ptr_eq(old, file));
        let kept = self.files.iter().map(|ranked| &ranked.file).filter(|file| !is_old(file));
        let kept: Vec<_> = kept.chain(new).cloned().collect();
        let expected = self.files.len() + new.iter().len() - old.len();
        assert_eq!(kept.len(), expected, "replaced files are in the list");
        let slots = |file: &Arc<StoreFile>| match new {
            Some(new) if Arc::ptr_eq(new, file) => self.slots_of_successor(old),
            _ => self.slots(file),
        };
        Self::new(kept).covered_by(self, self.coverage().map(Coverage::map), slots)
    }
}

/// Returns the files in the form that lookups need. They hold the files' current filters.
fn lookup_files(ranked: &[RankedFile]) -> LookupFiles {
    let lookup_file = |RankedFile { file, .. }: &RankedFile| {
        file.reader.lookup_file().times(file.oldest(), file.newest())
    };
    LookupFiles::new(ranked.iter().map(lookup_file).collect())
        .expect("files are sorted by their newest cells")
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::Timestamp;
    use crate::family_map::form::MapForm;
    use crate::options::{FamilyOptions, StoreOptions};
    use crate::store::{Store, StoreInner};
    use crate::write::mutation::Put;

    /// Returns three flushed files. The third flush has the newest cell and the newest write.
    fn three_files(directory: &std::path::Path) -> Files {
        let options = StoreOptions::default().background(false).auto_compaction(false);
        let store = Store::open(directory, options.clone()).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        for time in 1..4 {
            let time = Timestamp::new(time);
            store.put(Put::new("row").column_at("f", "q", time, "value")).unwrap();
            store.flush().unwrap();
        }
        drop(store);
        let inner = StoreInner::open(directory, options).unwrap();
        inner.catalog.version().families[0].files.clone()
    }

    /// Returns whether a list can be created from these files.
    fn is_accepted(files: &[RankedFile]) -> bool {
        let files = AssertUnwindSafe(files.to_vec());
        catch_unwind(|| Files::from_ranked(files.to_vec())).is_ok()
    }

    /// With a list in the wrong order, a read would stop too early, or return the older of two equal
    /// cells.
    #[test]
    fn a_list_in_the_wrong_order_panics() {
        let directory = tempfile::tempdir().unwrap();
        let files = three_files(directory.path());
        let sound = files.by_time().to_vec();
        assert!(is_accepted(&sound));
        for (left, right) in [(0, 1), (1, 2), (0, 2)] {
            let mut swapped = sound.clone();
            swapped.swap(left, right);
            assert!(!is_accepted(&swapped), "files {left} and {right} by time");
            let mut swapped = sound.clone();
            (swapped[left].rank, swapped[right].rank) = (sound[right].rank, sound[left].rank);
            assert!(!is_accepted(&swapped), "files {left} and {right} by rank");
        }
        let mut duplicate_rank = sound.clone();
        duplicate_rank[1].rank = 1;
        assert!(!is_accepted(&duplicate_rank));
    }

    /// A flush inserts into the map that it found; the list may have got another map meanwhile.
    #[test]
    fn a_file_is_covered_only_by_the_map_that_its_rows_are_in() {
        let directory = tempfile::tempdir().unwrap();
        let files = three_files(directory.path());
        let cache = Arc::new(sstable::BlockCache::new(1 << 20));
        let [map, other] = [(); 2].map(|()| FamilyMap::new(10, MapForm::Narrow, &cache).unwrap());
        let [newest, middle, oldest] = [0, 1, 2].map(|index| &files.by_time()[index].file);
        let inserted = |map: &Arc<FamilyMap>| map.begin_slot().unwrap().finish(0).unwrap();
        let in_map = inserted(&map);
        let covers = |files: &Files| {
            [0, 1, 2].map(|index| files.coverage().is_some_and(|known| known.covers(index)))
        };
        assert_eq!(covers(&files), [false; 3]);
        let second = inserted(&map);
        assert!(files.cover(newest, &second).coverage().is_none(), "a dropped map stays dropped");
        let files = files.cover(newest, &in_map);
        assert_eq!(covers(&files), [true, false, false]);
        assert_eq!(covers(&files.cover(middle, &inserted(&other))), [true, false, false]);
        let two = files.replace(std::slice::from_ref(oldest), None);
        let merged = two.replace(&[newest.clone(), middle.clone()], Some(oldest));
        assert_eq!(covers(&merged), [false; 3], "a row of an uncovered input has no entry");
        let both = files.cover(oldest, &inserted(&map));
        assert_eq!(covers(&both), [true, false, true]);
        // A compaction of covered files has a covered output, any other has not.
        let (newest, middle, oldest) = (newest.clone(), middle.clone(), oldest.clone());
        let only_oldest = both.replace(&[newest.clone(), middle.clone()], None);
        let merged = only_oldest.replace(std::slice::from_ref(&oldest), Some(&middle));
        assert_eq!(covers(&merged), [true, false, false]);
        let merged =
            both.replace(&[newest.clone(), middle.clone()], None).replace(&[], Some(&middle));
        assert_eq!(covers(&merged), [false, true, false]);
        let merged =
            both.replace(&[middle.clone(), oldest], None).replace(&[newest], Some(&middle));
        assert_eq!(covers(&merged), [true, false, false]);
        assert_eq!(merged.coverage().unwrap().slots(0), in_map.slots);
    }

    #[test]
    fn replaced_files_must_be_in_the_list() {
        let directory = tempfile::tempdir().unwrap();
        let files = three_files(directory.path());
        let oldest = Arc::clone(&files.by_time()[2].file);
        let without = files.replace(&[Arc::clone(&oldest)], None);
        assert_eq!(without.by_time().len(), 2);
        assert!(catch_unwind(AssertUnwindSafe(|| without.replace(&[oldest], None))).is_err());
    }
}
