//! The rows of a merge from the last to the first, and the cells of each row in cell order.
//!
//! ```text
//! source 0    a  ·  c  ·  e      row e: 0 and 1 are merged, 2 waits at d
//! source 1    ·  b  ·  ·  e      row d: 0 is back at c, 1 at b; 2 is read
//! source 2    a  ·  ·  d  ·      row c: 2 is back at a; 0 is read
//! ```
//!
//! Only the sources that have the current row seek. So the cost of a step does not grow with the number of
//! sources, except for comparisons of the first bytes of their rows.

use crate::row_head::row_head;

use crate::merge::{HeapEntry, MergeCursor, RowCursor};

/// The state of a merge that goes backwards.
#[derive(Debug, Default)]
pub struct RowsBackward {
    /// The row that is read, or the exclusive upper bound of the first one; `None` for no bound.
    row: Option<Vec<u8>>,
    /// Whether a row was read.
    has_row: bool,
    /// The sources that have the row, or all sources before the first row.
    in_row: Vec<usize>,
    /// The sources at the first cells of lower rows, in ascending order of these rows.
    waiting: Vec<HeapEntry>,
}

impl RowsBackward {
    /// Begins below `bound`, or with the last row if `bound` is `None`.
    pub fn new(source_count: usize, bound: Option<Vec<u8>>) -> Self {
        Self {
            row: bound,
            has_row: false,
            in_row: (0..source_count).collect(),
            waiting: Vec::new(),
        }
    }

    /// If the merge has left the current row, moves it to the first cell of the next lower row. Without such a
    /// row, the merge has no position.
    ///
    /// # Errors
    ///
    /// If a source cannot be read.
    pub fn go_to_row<S: RowCursor>(&mut self, merge: &mut MergeCursor<S>) -> Result<(), S::Error> {
        let is_in_row = merge.row().is_some_and(|row| self.row.as_deref() == Some(row));
        if is_in_row { Ok(()) } else { self.next_row(merge) }
    }

    fn next_row<S: RowCursor>(&mut self, merge: &mut MergeCursor<S>) -> Result<(), S::Error> {
        merge.clear_position();
        let Self { row, has_row, in_row, waiting } = self;
        let sources = merge.sources_mut();
        for source in &*in_row {
            match row.as_deref() {
                Some(row) if *has_row => sources[*source].retreat_row(row)?,
                bound => sources[*source].seek_row_before(bound)?,
            }
        }
        *has_row = true;
        in_row.retain(|source| sources[*source].row().is_some());
        let stays_ahead = match in_row[..] {
            [source] => waiting
                .last()
                .is_none_or(|other| sources[other.source].row() < sources[source].row()),
            _ => false,
        };
        if !stays_ahead {
            for source in in_row.drain(..) {
                let lower = sources[source].row().expect("a source without a row was removed");
                let head = row_head(lower);
                // By heads first, which decide nearly all comparisons without a look at the rows.
                let place = waiting.partition_point(|other| {
                    let by_heads = other.head.cmp(&head);
                    by_heads.then_with(|| sources[other.source].row().cmp(&Some(lower))).is_lt()
                });
                waiting.insert(place, HeapEntry { head, source });
            }
            let Some(greatest) = waiting.pop() else { return Ok(()) };
            in_row.push(greatest.source);
            while let Some(other) = waiting.pop_if(|other| {
                other.head == greatest.head
                    && sources[other.source].row() == sources[greatest.source].row()
            }) {
                in_row.push(other.source);
            }
        }
        let found = in_row.first().and_then(|source| sources[*source].row());
        let current = row.get_or_insert_default();
        current.clear();
        current.extend_from_slice(found.expect("a row was found"));
        merge.merge_only(in_row);
        Ok(())
    }
}
