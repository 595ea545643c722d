//! Cells in one piece of memory, as one thread hands them to another.

use sstable::{CellRef, CellType, SequenceId, Timestamp};

/// Cells in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct CellBatch {
    /// Row, family, qualifier, value and tags of each cell.
    bytes: Vec<u8>,
    cells: Vec<BatchedCell>,
}

/// A cell of a batch: the ends of its parts in the bytes, and the rest of its key.
#[derive(Debug)]
struct BatchedCell {
    start: usize,
    row_end: usize,
    family_end: usize,
    qualifier_end: usize,
    value_end: usize,
    end: usize,
    timestamp: Timestamp,
    sequence_id: SequenceId,
    cell_type: CellType,
}

impl CellBatch {
    /// The bytes from which on a batch is full.
    const FULL: usize = 256 << 10;

    /// Adds a cell.
    pub(super) fn push(&mut self, cell: &CellRef<'_>) {
        let start = self.bytes.len();
        let mut end_of = |part: &[u8]| {
            self.bytes.extend_from_slice(part);
            self.bytes.len()
        };
        let batched = BatchedCell {
            start,
            row_end: end_of(cell.row),
            family_end: end_of(cell.family),
            qualifier_end: end_of(cell.qualifier),
            value_end: end_of(cell.value),
            end: end_of(cell.tags),
            timestamp: cell.timestamp,
            sequence_id: cell.sequence_id,
            cell_type: cell.cell_type,
        };
        self.cells.push(batched);
    }

    /// Returns a cell, by its number in the batch.
    #[inline]
    pub(super) fn cell(&self, index: usize) -> Option<CellRef<'_>> {
        let cell = self.cells.get(index)?;
        let part = |start, end| self.bytes.get(start..end).expect(INSIDE);
        Some(CellRef {
            row: part(cell.start, cell.row_end),
            family: part(cell.row_end, cell.family_end),
            qualifier: part(cell.family_end, cell.qualifier_end),
            timestamp: cell.timestamp,
            cell_type: cell.cell_type,
            value: part(cell.qualifier_end, cell.value_end),
            tags: part(cell.value_end, cell.end),
            sequence_id: cell.sequence_id,
        })
    }

    /// Returns the bytes in memory.
    pub(super) const fn memory(&self) -> usize {
        let cells = self.cells.len().saturating_mul(size_of::<BatchedCell>());
        self.bytes.len().saturating_add(cells)
    }

    pub(super) const fn is_full(&self) -> bool {
        self.memory() >= Self::FULL
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

const INSIDE: &str = "the parts of a cell are in the bytes of its batch";
