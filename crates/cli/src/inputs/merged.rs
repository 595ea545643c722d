//! The cells of a file, or of all files of a directory, in the order of their keys.

use std::cmp::Ordering;
use std::path::Path;

use hbase_files::{CellScanner, FileSequence};
use sstable::{Caching, CellRef, Comparator};

use super::expand::Inputs;
use crate::failure::refuse;

/// A merging cursor over the cells of store files. Of equal keys, the cell that HBase returns comes first:
/// the cell with the greatest sequence id, then the cell of the newest file.
pub(crate) struct MergedCells {
    order: Comparator,
    /// The files that are not at their end, by descending cell: the last one has the next cell.
    files: Vec<FileCells>,
}

/// A file at a cell.
struct FileCells {
    scanner: CellScanner,
    sequence: FileSequence,
}

impl MergedCells {
    /// Opens a file, or all files of a directory, at the first cell.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or [`UsageError`](crate::failure::UsageError) if the files differ in the order of their rows.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let mut inputs = Inputs::expand(&[path.to_owned()]);
        if let Some(problem) = inputs.take_problems().into_iter().next() {
            return Err(problem.error);
        }
        let files = inputs.files();
        let mut merged = Self { order: Comparator::Bytes, files: Vec::new() };
        for (index, file) in files.iter().enumerate() {
            let reader = file.open()?.reader;
            let order = reader.whole().trailer().comparator;
            if index > 0 && order != merged.order {
                refuse!(
                    "{}: cannot merge a file of hbase:meta with another file: their row orders differ",
                    file.name()
                );
            }
            merged.order = order;
            // Several files are not read ahead: that would take a thread for each.
            let mut scanner = if files.len() == 1 {
                reader.bulk_scanner()
            } else {
                reader.scanner(Caching::Bypass)
            };
            scanner.seek_to_first()?;
            let name = file.path().file_name().and_then(|name| name.to_str()?.parse().ok());
            let sequence = FileSequence::of(name.as_ref(), &reader);
            merged.insert(FileCells { scanner, sequence });
        }
        Ok(merged)
    }

    /// The order of the rows.
    pub(crate) const fn order(&self) -> Comparator {
        self.order
    }

    /// Returns the current cell; `None` after the last one.
    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        self.files.last()?.scanner.cell()
    }

    /// Moves to the next cell.
    pub(crate) fn advance(&mut self) -> sstable::Result<()> {
        let Some(mut file) = self.files.pop() else { return Ok(()) };
        file.scanner.advance()?;
        self.insert(file);
        Ok(())
    }

    fn insert(&mut self, file: FileCells) {
        let Some(cell) = file.scanner.cell() else { return };
        let order = self.order;
        let at = self.files.partition_point(|other| {
            let other_cell = other.scanner.cell();
            other_cell.is_some_and(|other_cell| {
                let by_key = order.compare(&other_cell.key(), &cell.key());
                by_key.then_with(|| compare_ages(other, &other_cell, &file, &cell)).is_gt()
            })
        });
        self.files.insert(at, file);
    }
}

/// Compares two cells with equal keys, that which HBase returns first.
///
/// A cell of a bulk-loaded file has the sequence id of the file.
fn compare_ages(
    one: &FileCells,
    one_cell: &CellRef<'_>,
    other: &FileCells,
    other_cell: &CellRef<'_>,
) -> Ordering {
    let one_id = one.sequence.of_cells.unwrap_or(one_cell.sequence_id);
    let other_id = other.sequence.of_cells.unwrap_or(other_cell.sequence_id);
    other_id.cmp(&one_id).then_with(|| other.sequence.cmp(&one.sequence))
}
