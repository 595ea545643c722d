//! The statistics of one file: its cells and its parts.

use std::path::Path;

use sstable::{Reader, Result, Scanner};

use super::cells::{CellStats, Counter};
use super::parts::Parts;
use crate::reading_options::{reader_options, scan, scan_without_read_ahead};

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
/// `reads_ahead` uses a second thread, for a file that is read alone.
///
/// # Errors
///
/// If the file cannot be opened. A later error ends the pass, and is the problem of the result.
pub(super) fn read_file(path: &Path, reads_ahead: bool) -> Result<FileStats> {
    let reader = Reader::open_file(path, reader_options())?;
    let name = path.display().to_string();
    let mut stats = FileStats { size: reader.len(), ..FileStats::default() };
    let counted = count_cells(&reader, &name, reads_ahead, &mut stats.cells);
    let parts = stats.parts.read(&reader);
    stats.problem = counted.and(parts).err();
    Ok(stats)
}

fn count_cells(
    reader: &Reader,
    name: &str,
    reads_ahead: bool,
    stats: &mut CellStats,
) -> Result<()> {
    let mut scanner = if reads_ahead { scan(reader)? } else { scan_without_read_ahead(reader)? };
    let mut cells = Counter::new(stats, name);
    let outcome = add_cells(&mut scanner, &mut cells);
    cells.end_row();
    outcome
}

fn add_cells(scanner: &mut Scanner, cells: &mut Counter<'_>) -> Result<()> {
    while let Some(cell) = scanner.cell() {
        cells.add(&cell);
        scanner.advance()?;
    }
    Ok(())
}
