//! Batched lookups: each step is done for up to 16 rows before the next step begins.

use std::collections::VecDeque;
use std::fmt;

use super::files::LookupFile;
use super::row_lookup::RowLookup;
use crate::{Error, ReadTrace, Result, RowProbe, Scanner};

/// The number of lookups in a batch: about the number of cache misses a core can have outstanding.
pub const BATCH_MAX: usize = 16;

/// Advances many lookups in lockstep, each to the first file that may have its row.
///
/// The steps are: prefetch the filters, search the filters and the index root, load the block,
/// prefetch the cell. Each step is done for all lookups before the next, so that the cache misses
/// of different lookups overlap. More than [`BATCH_MAX`] lookups are allowed, but only about that
/// number overlap. [`RowLookup::next_file`] then finishes each lookup; its observer is not called
/// for files that were skipped here.
pub fn begin_together<'l, 'a: 'l>(
    lookups: impl IntoIterator<Item = &'l mut RowLookup<'a>, IntoIter: ExactSizeIterator>,
) {
    let mut lookups: smallvec::SmallVec<[&mut RowLookup<'a>; BATCH_MAX]> =
        lookups.into_iter().collect();
    lookups.iter_mut().for_each(|lookup| lookup.prefetch_filters());
    lookups.iter_mut().for_each(|lookup| lookup.advance_to_candidate(&mut ()));
    lookups.iter_mut().for_each(|lookup| lookup.load_block());
    lookups.iter_mut().for_each(|lookup| lookup.prefetch_cell());
}

/// An iterator that looks up many rows in an ordered list of files, in batches of [`BATCH_MAX`].
///
/// ```
/// use bytes::Bytes;
/// use filter::Seed;
/// use sstable::{FileName, Lookup, LookupFiles, Reader, ReaderOptions, RowProbe};
/// # let file: &'static [u8] = include_bytes!("../../testdata/s03-one-cell.hfile");
///
/// # let source = std::sync::Arc::new(Bytes::from_static(file));
/// let reader = Reader::open(source, FileName::new("4f1c.hfile"), ReaderOptions::default())?;
/// let files = LookupFiles::new(vec![reader.lookup_file()]);
/// let row = reader.first_row().unwrap_or_default();
/// let probes = [b"no such row", row].map(|row| RowProbe::new(row, Seed::default()));
///
/// let mut lookup = Lookup::rows(&files, &probes);
/// for found in lookup.by_ref() {
///     let found = found?;
///     assert_eq!((found.row, found.file), (1, 0));
///     assert_eq!(found.scanner.cell().map(|cell| cell.row), Some(row));
/// }
/// assert_eq!(lookup.trace().files_considered, 2);
/// # Ok::<(), sstable::Error>(())
/// ```
///
/// Yields an error with the row's index if a block cannot be read. The next call continues with
/// the row's other files and the other rows.
pub struct Lookup<'a> {
    files: &'a [LookupFile],
    probes: &'a [RowProbe<'a>],
    /// The number of rows whose lookup has begun.
    next: usize,
    /// The unfinished lookups of the current batch, each with the index of its row.
    active: VecDeque<(usize, RowLookup<'a>)>,
    /// The counters of finished rows.
    trace: ReadTrace,
}

/// A row that was found in a file.
#[derive(Debug)]
pub struct FoundRow {
    /// The index of the row among the probes.
    pub row: usize,
    /// The file's index in the list.
    pub file: usize,
    /// A scanner at the row's first cell in the file.
    pub scanner: Scanner,
}

/// A row whose lookup failed in one file, because a block could not be read.
#[derive(Debug, thiserror::Error)]
#[error("row {row} of the lookup cannot be read in one file")]
pub struct FailedRow {
    /// The index of the row among the probes.
    pub row: usize,
    /// What failed, with the file's name.
    #[source]
    pub error: Error,
}

impl From<FailedRow> for Error {
    fn from(failed: FailedRow) -> Self {
        failed.error
    }
}

impl<'a> Lookup<'a> {
    /// Looks up rows in all files.
    ///
    /// Yields the rows in the order of the probes. A row that several files have is yielded once
    /// for each of them, in the order of `files`.
    pub fn rows(files: &'a [LookupFile], probes: &'a [RowProbe<'a>]) -> Self {
        let active = VecDeque::with_capacity(BATCH_MAX.min(probes.len()));
        Self { files, probes, next: 0, active, trace: ReadTrace::default() }
    }

    /// Returns the counters of all rows that are finished.
    pub const fn trace(&self) -> &ReadTrace {
        &self.trace
    }

    /// Begins the next batch.
    fn begin_batch(&mut self) {
        let end = self.probes.len().min(self.next + BATCH_MAX);
        let rows = self.next..end;
        self.active.extend(rows.map(|row| (row, RowLookup::new(self.files, &self.probes[row]))));
        begin_together(self.active.iter_mut().map(|(_, lookup)| lookup));
        self.next = end;
    }
}

impl Iterator for Lookup<'_> {
    type Item = Result<FoundRow, FailedRow>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while let Some((row, lookup)) = self.active.front_mut() {
                match lookup.next_file(&mut ()) {
                    Ok(Some(found)) => {
                        let (file, scanner) = (found.file(), found.into_scanner());
                        return Some(Ok(FoundRow { row: *row, file, scanner }));
                    }
                    Ok(None) => {
                        self.trace.add(lookup.trace());
                        self.active.pop_front();
                    }
                    Err(error) => return Some(Err(FailedRow { row: *row, error })),
                }
            }
            if self.next == self.probes.len() {
                return None;
            }
            self.begin_batch();
        }
    }
}

impl fmt::Debug for Lookup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("next", &self.next).finish_non_exhaustive()
    }
}
