//! Cells in memory that are sorted: in chunks, which are merged while the sorted cells are read.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::vec;

use sstable::{Cell, Comparator};

use super::merge::Head;
use super::order::{check_cancelled, compare};
use crate::error::Result;
use crate::progress::Observer;

/// The cells of a chunk. A chunk is sorted in a fraction of a second, so that the sort can be cancelled.
pub(super) const CHUNK_CELLS: usize = 1 << 16;

/// Cells in the order of the input.
#[derive(Default)]
pub(super) struct Buffer {
    chunks: Vec<Vec<Cell>>,
}

impl Buffer {
    pub(super) fn push(&mut self, cell: Cell) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK_CELLS => chunk.push(cell),
            _ => self.chunks.push(vec![cell]),
        }
    }

    /// Sorts the cells; of equal ones, the later one comes first.
    ///
    /// The input is a history: HBase's memstore keeps the cell that was written last, and a reader of a
    /// file the first one. HBase: `CellSet.add`.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub(super) fn into_sorted(
        mut self,
        order: Comparator,
        observer: &dyn Observer,
    ) -> Result<SortedBuffer> {
        for chunk in &mut self.chunks {
            check_cancelled(observer)?;
            chunk.reverse();
            chunk.sort_by(|one, other| compare(order, &one.as_ref(), &other.as_ref()));
        }
        let is_ascending = self.chunks.windows(2).all(|pair| {
            let ends = pair[0].last().zip(pair[1].first());
            let (last, first) = ends.expect("a chunk has cells");
            compare(order, &last.as_ref(), &first.as_ref()).is_lt()
        });
        let mut chunks: Vec<_> = self.chunks.into_iter().map(Vec::into_iter).collect();
        if is_ascending {
            chunks.reverse();
            return Ok(SortedBuffer::Ascending(chunks));
        }
        let mut heads = BinaryHeap::with_capacity(chunks.len());
        for (run, chunk) in chunks.iter_mut().enumerate() {
            heads.extend(chunk.next().map(|cell| Head { cell, run, order }));
        }
        Ok(SortedBuffer::Merged { chunks, heads })
    }
}

/// The cells of a [`Buffer`], sorted.
pub(super) enum SortedBuffer {
    /// The chunks follow each other; the first one is at the end.
    Ascending(Vec<vec::IntoIter<Cell>>),
    Merged {
        chunks: Vec<vec::IntoIter<Cell>>,
        /// The next cell of each chunk that has one.
        heads: BinaryHeap<Head>,
    },
}

impl Iterator for SortedBuffer {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        match self {
            Self::Ascending(chunks) => loop {
                if let Some(cell) = chunks.last_mut()?.next() {
                    return Some(cell);
                }
                chunks.pop();
            },
            Self::Merged { chunks, heads } => {
                let mut head = heads.peek_mut()?;
                Some(match chunks[head.run].next() {
                    Some(next) => std::mem::replace(&mut head.cell, next),
                    None => PeekMut::pop(head).cell,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sstable::{CellRef, Timestamp};

    use super::*;

    /// Of three chunks: the rows ascend, descend or repeat, and equal cells are in several chunks.
    #[test]
    fn cells_of_several_chunks_are_sorted_and_later_ones_come_first() {
        let count = 2 * CHUNK_CELLS as u32 + 7;
        for row_of in [
            (|index, _| index) as fn(u32, u32) -> u32,
            |index, count| count - index,
            |index, _| index % 1000,
            |_, _| 5,
        ] {
            let mut buffer = Buffer::default();
            let mut expected = Vec::new();
            for index in 0..count {
                let row = row_of(index, count).to_be_bytes();
                let value = index.to_be_bytes();
                let cell = CellRef::put(&row, b"f", b"q", Timestamp::new(1), &value);
                buffer.push(cell.to_cell());
                expected.push((row, std::cmp::Reverse(value)));
            }
            expected.sort_unstable();
            let sorted = buffer.into_sorted(Comparator::Bytes, &()).expect("not cancelled");
            let found = sorted.map(|cell| {
                let value = cell.value().try_into().expect("four bytes");
                (cell.row().try_into().expect("four bytes"), std::cmp::Reverse(value))
            });
            assert!(found.eq(expected));
        }
    }
}
