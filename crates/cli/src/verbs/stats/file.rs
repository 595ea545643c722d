//! The statistics of one file: its cells and its parts.

use hbase_files::{CellScanner, StoreFileReader};
use sstable::{Caching, Result};

use super::cells::{CellStats, Counter};
use super::parts::Parts;
use crate::inputs::{Input, OpenInput};

/// The statistics of a file, as far as it could be read.
#[derive(Debug, Default)]
pub(super) struct FileStats {
    pub(super) size: u64,
    pub(super) cells: CellStats,
    pub(super) parts: Parts,
    /// The error that ended the pass over the cells or the blocks.
    pub(super) problem: Option<sstable::Error>,
}

/// Reads a file completely.
///
/// For a reference, counts the cells of its half, and no blocks: the blocks belong to the file that
/// the reference leads to. `reads_ahead` uses a second thread, for a file that is read alone.
///
/// # Errors
///
/// If the file cannot be opened. A later error ends the pass, and is in the result as `problem`.
pub(super) fn read_file(input: &Input, reads_ahead: bool) -> anyhow::Result<FileStats> {
    let OpenInput { reader, target } = input.open()?;
    let mut stats = FileStats::default();
    let counted = count_cells(&reader, &input.name(), reads_ahead, &mut stats.cells);
    let parts = if target.is_half() {
        Ok(())
    } else {
        stats.size = reader.whole().len();
        stats.parts.read(reader.whole())
    };
    stats.problem = counted.and(parts).err();
    Ok(stats)
}

fn count_cells(
    reader: &StoreFileReader,
    name: &str,
    reads_ahead: bool,
    stats: &mut CellStats,
) -> Result<()> {
    let mut scanner =
        if reads_ahead { reader.bulk_scanner() } else { reader.scanner(Caching::Bypass) };
    scanner.seek_to_first()?;
    let mut cells = Counter::new(stats, name);
    let outcome = add_cells(&mut scanner, &mut cells);
    cells.end_row();
    outcome
}

fn add_cells(scanner: &mut CellScanner, cells: &mut Counter<'_>) -> Result<()> {
    while let Some(cell) = scanner.cell() {
        cells.add(&cell);
        scanner.advance()?;
    }
    Ok(())
}
