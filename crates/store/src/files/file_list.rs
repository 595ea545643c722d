//! The store files of a family at one moment, in the two orders that reads need.

use std::cmp::{Ordering, Reverse};
use std::sync::{Arc, OnceLock};

use sstable::{RowProbe, SharedFilter, Timestamp};

use crate::files::store_file::StoreFile;
use crate::row_head::{RowHead, row_head};

/// The store files of a family. Cloning them is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files(Arc<[RankedFile]>);

/// A store file and how new it is; beside it what decides about most reads, so that a get passes
/// over many files without a look at any of them.
#[derive(Clone, Debug)]
pub(crate) struct RankedFile {
    pub(crate) file: Arc<StoreFile>,
    /// 1 for the file with the newest writes. Of equal cells that of the least rank counts.
    pub(crate) rank: usize,
    /// The times of the file's cells, as far as they are known.
    pub(crate) oldest: Timestamp,
    pub(crate) newest: Timestamp,
    /// Of the first and the last row.
    heads: (RowHead, RowHead),
    /// The file's filter, from the moment that its reader keeps it.
    filter: OnceLock<SharedFilter>,
}

impl RankedFile {
    fn new(file: Arc<StoreFile>, rank: usize) -> Self {
        let (oldest, newest) = (file.oldest(), file.newest());
        let heads = (row_head(file.entry.first_row()), row_head(file.entry.last_row()));
        Self { file, rank, oldest, newest, heads, filter: OnceLock::new() }
    }

    /// The file's filter if it is one block in memory, with what it will look at on its way to the
    /// processor.
    #[inline]
    pub(crate) fn prefetched_filter(&self, probe: &RowProbe<'_>) -> Option<&SharedFilter> {
        let filter = self.filter.get().or_else(|| self.share_filter())?;
        filter.prefetch(probe);
        Some(filter)
    }

    #[cold]
    fn share_filter(&self) -> Option<&SharedFilter> {
        let filter = self.file.reader.shared_filter()?;
        Some(self.filter.get_or_init(|| filter))
    }

    /// Whether a row, whose head is given too, lies between the file's first and last one.
    #[inline]
    pub(crate) fn spans(&self, head: RowHead, row: &[u8]) -> bool {
        let (first, last) = self.heads;
        let entry = &self.file.entry;
        let is_from_first = match head.cmp(&first) {
            Ordering::Equal => row >= entry.first_row(),
            order => order.is_gt(),
        };
        let is_to_last = match head.cmp(&last) {
            Ordering::Equal => row <= entry.last_row(),
            order => order.is_lt(),
        };
        is_from_first && is_to_last
    }
}

impl Files {
    pub(crate) fn new(mut files: Vec<Arc<StoreFile>>) -> Self {
        // As HBase sorts its files: by sequence id, and of two that share it the smaller is newer.
        files.sort_by(|left, right| {
            let key = |file: &StoreFile| (Reverse(file.entry.sequence_max), file.entry.length);
            key(left).cmp(&key(right)).then_with(|| right.entry.name.cmp(&left.entry.name))
        });
        let mut ranked: Vec<_> = files
            .into_iter()
            .enumerate()
            .map(|(index, file)| RankedFile::new(file, index + 1))
            .collect();
        ranked.sort_by_key(|ranked| (Reverse(ranked.newest), ranked.rank));
        Self(ranked.into())
    }

    /// The files, those with the newest cells first.
    pub(crate) fn by_time(&self) -> &[RankedFile] {
        &self.0
    }

    /// The files, those with the newest writes first.
    pub(crate) fn by_sequence(&self) -> impl DoubleEndedIterator<Item = &Arc<StoreFile>> + use<'_> {
        let mut files: Vec<_> = self.0.iter().collect();
        files.sort_by_key(|ranked| ranked.rank);
        files.into_iter().map(|ranked| &ranked.file)
    }

    /// The same without `old` and with `new`.
    pub(crate) fn replace(&self, old: &[Arc<StoreFile>], new: Option<&Arc<StoreFile>>) -> Self {
        let is_old = |file: &Arc<StoreFile>| old.iter().any(|old| Arc::ptr_eq(old, file));
        let kept = self.0.iter().map(|ranked| &ranked.file).filter(|file| !is_old(file));
        Self::new(kept.chain(new).cloned().collect())
    }
}
