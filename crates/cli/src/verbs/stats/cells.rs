//! The statistics of cells, taken in one pass over each file in the file's order.

use sstable::{CellRef, CellType};

use super::columns::Columns;
use super::histograms::Histograms;
use super::largest::Largest;
use super::tags::Tags;

/// The statistics of the cells of one file, or of several.
#[derive(Debug, Default)]
pub(super) struct CellStats {
    pub(super) histograms: Histograms,
    /// The number of cells of each type, in the order of [`CellType::ALL`].
    pub(super) types: [u64; CellType::ALL.len()],
    pub(super) tags: Tags,
    pub(super) columns: Columns,
    pub(super) largest: Largest,
    /// The least and the greatest timestamp.
    pub(super) timestamps: Option<(i64, i64)>,
}

/// The current row. It has no cells until the first cell of the file is counted.
#[derive(Debug, Default)]
struct CurrentRow {
    row: Vec<u8>,
    bytes: u64,
    cells: u64,
    columns: u64,
    family: Vec<u8>,
    qualifier: Vec<u8>,
}

/// Counts the cells of one file into [`CellStats`].
pub(super) struct Counter<'s> {
    stats: &'s mut CellStats,
    file: &'s str,
    current: CurrentRow,
}

impl<'s> Counter<'s> {
    pub(super) fn new(stats: &'s mut CellStats, file: &'s str) -> Self {
        Self { stats, file, current: CurrentRow::default() }
    }

    /// Counts the next cell of the file.
    pub(super) fn add(&mut self, cell: &CellRef<'_>) {
        let bytes = serialized_len(cell);
        let stats = &mut *self.stats;
        stats.histograms.key_bytes.add(cell.key().flat_len() as u64);
        stats.histograms.value_bytes.add(cell.value.len() as u64);
        stats.histograms.cell_bytes.add(bytes);
        stats.tags.add(cell);
        stats.largest.add_cell(cell, self.file, bytes);
        let position = CellType::ALL.iter().position(|known| *known == cell.cell_type);
        if let Some(count) = position.and_then(|index| stats.types.get_mut(index)) {
            *count += 1;
        }
        let time = cell.timestamp.get();
        let (min, max) = stats.timestamps.unwrap_or((time, time));
        stats.timestamps = Some((min.min(time), max.max(time)));
        if self.current.cells == 0 || self.current.row != cell.row {
            self.end_row();
            self.stats.histograms.row_key_bytes.add(cell.row.len() as u64);
            cell.row.clone_into(&mut self.current.row);
        }
        let current = &mut self.current;
        current.bytes += bytes;
        current.cells += 1;
        // A delete of a family belongs to no column.
        if cell.cell_type.deletes_family() {
            return;
        }
        self.stats.columns.add(cell, bytes);
        let is_new = current.columns == 0
            || current.qualifier != cell.qualifier
            || current.family != cell.family;
        if is_new {
            current.columns += 1;
            cell.family.clone_into(&mut current.family);
            cell.qualifier.clone_into(&mut current.qualifier);
        }
    }

    /// Counts the current row. Call it after the last readable cell of the file.
    pub(super) fn end_row(&mut self) {
        let current = &mut self.current;
        if current.cells == 0 {
            return;
        }
        self.stats.histograms.row_bytes.add(current.bytes);
        self.stats.histograms.cells_per_row.add(current.cells);
        self.stats.histograms.columns_per_row.add(current.columns);
        self.stats.largest.add_row(&current.row, self.file, current.bytes, current.cells);
        (current.bytes, current.cells, current.columns) = (0, 0, 0);
    }
}

impl CellStats {
    /// Adds the statistics of a later file. A row in both files counts twice.
    pub(super) fn merge(&mut self, other: Self) {
        self.histograms.merge(&other.histograms);
        for (own, others) in self.types.iter_mut().zip(other.types) {
            *own += others;
        }
        self.tags.merge(&other.tags);
        self.columns.merge(other.columns);
        self.largest.merge(other.largest);
        self.timestamps = match (self.timestamps, other.timestamps) {
            (Some((min, max)), Some((least, greatest))) => {
                Some((min.min(least), max.max(greatest)))
            }
            (own, others) => own.or(others),
        };
    }
}

/// The length of a cell as HBase serializes it: two lengths, key, value, and the tags if there are
/// any. HBase: `KeyValueUtil.length`.
fn serialized_len(cell: &CellRef<'_>) -> u64 {
    let tags = if cell.tags.is_empty() { 0 } else { 2 + cell.tags.len() };
    (8 + cell.key().flat_len() + cell.value.len() + tags) as u64
}
