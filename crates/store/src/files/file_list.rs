//! The store files of a family version, in the two orders that reads need.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "indexes below the number of files"
)]

use std::cmp::Reverse;
use std::sync::Arc;

use sstable::LookupFiles;

use crate::files::store_file::StoreFile;

/// The store files of a family. A clone shares them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// The files in the order of `lookup`.
    files: Arc<[RankedFile]>,
    /// The same files as lookups take them: newest cell first.
    lookup: LookupFiles,
}

/// A store file and its rank by age.
#[derive(Clone, Debug)]
pub(crate) struct RankedFile {
    pub(crate) file: Arc<StoreFile>,
    /// 1 for the file with the newest writes. Among equal cells, the cell of the least rank wins.
    pub(crate) rank: usize,
}

impl Files {
    pub(crate) fn new(mut files: Vec<Arc<StoreFile>>) -> Self {
        // HBase's order: by sequence id; of two files with the same id, the smaller file is newer.
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

    /// Creates the list from files in the order of their newest cells.
    fn from_ranked(ranked: Vec<RankedFile>) -> Self {
        let lookup_file = |ranked: &RankedFile| {
            let file = &ranked.file;
            file.reader.lookup_file().times(file.oldest(), file.newest())
        };
        let lookup = LookupFiles::new(ranked.iter().map(lookup_file).collect());
        let files = Self { files: ranked.into(), lookup };
        files.assert_in_order();
        files
    }

    /// Asserts that ranks are unique and follow the sequence ids. [`LookupFiles::new`] asserts the order
    /// by time.
    fn assert_in_order(&self) {
        let mut by_rank: Vec<_> = self.files.iter().collect();
        by_rank.sort_by_key(|ranked| ranked.rank);
        assert!(
            by_rank.iter().zip(1..).all(|(ranked, rank)| ranked.rank == rank),
            "each file has a rank of its own"
        );
        let sequence_max = |ranked: &RankedFile| ranked.file.entry.sequence_max;
        assert!(
            by_rank.windows(2).all(|pair| sequence_max(pair[0]) >= sequence_max(pair[1])),
            "files rank by their newest writes"
        );
    }

    /// Returns the files, newest cell first.
    pub(crate) fn by_time(&self) -> &[RankedFile] {
        &self.files
    }

    /// Returns the files for lookups, in the order of [`by_time`](Self::by_time).
    pub(crate) fn lookup(&self) -> &LookupFiles {
        &self.lookup
    }

    /// Returns the files, newest write first.
    pub(crate) fn by_sequence(&self) -> impl DoubleEndedIterator<Item = &Arc<StoreFile>> + use<'_> {
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_by_key(|ranked| ranked.rank);
        files.into_iter().map(|ranked| &ranked.file)
    }

    /// Returns the list without `old` and with `new`.
    pub(crate) fn replace(&self, old: &[Arc<StoreFile>], new: Option<&Arc<StoreFile>>) -> Self {
        let is_old = |file: &Arc<StoreFile>| old.iter().any(|old| Arc::ptr_eq(old, file));
        let kept = self.files.iter().map(|ranked| &ranked.file).filter(|file| !is_old(file));
        let kept: Vec<_> = kept.chain(new).cloned().collect();
        let expected = self.files.len() + new.iter().len() - old.len();
        assert_eq!(kept.len(), expected, "replaced files are in the list");
        Self::new(kept)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::store::StoreInner;
    use crate::{FamilyOptions, Put, Store, StoreOptions, Timestamp};

    /// Returns three files, from the oldest to the newest.
    fn three(directory: &std::path::Path) -> Files {
        let options = StoreOptions::default().background(false).auto_compaction(false);
        let store = Store::open(directory, options.clone()).unwrap();
        store.create_family("f", FamilyOptions::default()).unwrap();
        for time in 1..4 {
            let time = Timestamp::new(time);
            store.put(Put::new("row").column_at("f", "q", time, "value")).unwrap();
            store.flush().unwrap();
        }
        drop(store);
        let parts = StoreInner::open(directory, options).unwrap();
        parts.catalog.version().families[0].files.clone()
    }

    fn is_accepted(files: &[RankedFile]) -> bool {
        let files = AssertUnwindSafe(files.to_vec());
        catch_unwind(|| Files::from_ranked(files.to_vec())).is_ok()
    }

    /// A read over such a list would stop too early, or show the older of two equal cells.
    #[test]
    fn a_list_that_is_out_of_order_is_never_used() {
        let directory = tempfile::tempdir().unwrap();
        let files = three(directory.path());
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
        let mut twice = sound.clone();
        twice[1].rank = 1;
        assert!(!is_accepted(&twice));
    }

    #[test]
    fn replaced_files_must_be_in_the_list() {
        let directory = tempfile::tempdir().unwrap();
        let files = three(directory.path());
        let oldest = Arc::clone(&files.by_time()[2].file);
        let without = files.replace(&[Arc::clone(&oldest)], None);
        assert_eq!(without.by_time().len(), 2);
        assert!(catch_unwind(AssertUnwindSafe(|| without.replace(&[oldest], None))).is_err());
    }
}
