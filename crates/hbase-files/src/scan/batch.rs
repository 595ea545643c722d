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
    start: u32,
    row_end: u32,
    family_end: u32,
    qualifier_end: u32,
    value_end: u32,
    end: u32,
    timestamp: Timestamp,
    sequence_id: SequenceId,
    cell_type: CellType,
}

impl CellBatch {
    /// The bytes from which on a batch is full.
    const FULL: usize = 256 << 10;

    /// Adds a cell.
    pub(super) fn push(&mut self, cell: &CellRef<'_>) {
        let at = |len: usize| u32::try_from(len).expect(SMALL);
        let start = at(self.bytes.len());
        let mut end_of = |part: &[u8]| {
            self.bytes.extend_from_slice(part);
            at(self.bytes.len())
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
    pub(super) fn cell(&self, index: usize) -> Option<CellRef<'_>> {
        let cell = self.cells.get(index)?;
        let part = |start: u32, end: u32| {
            let [start, end] = [start, end].map(|at| usize::try_from(at).expect(INSIDE));
            self.bytes.get(start..end).expect(INSIDE)
        };
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

    /// Removes the cells, and keeps the memory for others.
    ///
    /// Gives memory back that one large cell took.
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.bytes.clear();
        self.bytes.shrink_to(Self::FULL);
    }

    pub(super) const fn is_full(&self) -> bool {
        self.memory() >= Self::FULL
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

const SMALL: &str = "the parts of a cell that a block has come to less than 2 GiB";
const INSIDE: &str = "the parts of a cell are in the bytes of its batch";
