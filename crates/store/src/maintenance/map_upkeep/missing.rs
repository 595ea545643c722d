//! The files of a family that its map covers, could cover or lacks, and how many rows they have.

use std::sync::Arc;
use std::time::Instant;

use crate::family_map::coverage::Coverage;
use crate::files::version::file_list::Files;
use crate::files::version::store_file::StoreFile;
use crate::maintenance::filters::row_count;

/// The number of files that a map can cover: one for each bit of an answer.
const FILES_MAX: usize = 64;

/// Returns the files that a map can cover now, with their indexes in the list.
///
/// Leaves out the files after the 64th, and those that wait for another attempt to read them.
pub(super) fn mappable(
    files: &Files,
    now: Instant,
) -> impl Iterator<Item = (usize, &Arc<StoreFile>)> {
    let files = files.by_time().iter().take(FILES_MAX).map(|ranked| &ranked.file).enumerate();
    files.filter(move |(_, file)| file.map_retry().is_none_or(|retry| retry.is_due(now)))
}

/// Returns an estimate of the rows of the files that a map can cover now.
pub(super) fn rows_of(files: &Files, now: Instant) -> u64 {
    mappable(files, now).map(|(_, file)| rows_at_most(file)).sum()
}

/// Returns the files that a map can cover now but the present one does not, newest first.
pub(super) fn uncovered(files: &Files, now: Instant) -> impl Iterator<Item = &Arc<StoreFile>> {
    let is_covered =
        |index| files.coverage().is_some_and(|coverage: &Coverage| coverage.covers(index));
    mappable(files, now).filter(move |(index, _)| !is_covered(*index)).map(|(_, file)| file)
}

/// Returns the indexes of the covered files.
pub(super) fn covered<'f>(
    files: &'f Files,
    coverage: &'f Coverage,
) -> impl Iterator<Item = usize> + 'f {
    (0..files.by_time().len()).filter(|index| coverage.covers(*index))
}

/// Returns the rows of a file as its filters count them, at most its cells.
///
/// Without a filter over rows, each cell counts as a row.
pub(super) fn rows_at_most(file: &StoreFile) -> u64 {
    row_count(file).min(file.entry.cells)
}
