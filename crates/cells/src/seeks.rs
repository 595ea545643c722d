//! When a cursor seeks past cells that the rules do not show, instead of passing them one by one.
//!
//! ```text
//! wanted column b:   a a … a │ b b b b … b │ c c … c
//!                    seek to b   seek past b, to the next wanted column or row
//! ```
//!
//! A seek takes longer than to pass a few cells, so a cursor passes some of the cells between two
//! positions that matter before it seeks the second. HBase: the `SEEK_NEXT_…` codes of
//! `ScanQueryMatcher`.

use crate::cell::CellRef;
use crate::key::KeyRef;

use crate::view::Columns;

/// Cells that are passed one by one before a seek to the next position that matters.
pub(crate) const SKIPS_MAX: u32 = 16;

/// The cells that were passed since the last position that matters.
#[derive(Debug, Default)]
pub(crate) struct PassedCells {
    count: u32,
    /// The index of the next wanted column, if some are listed.
    next: usize,
    /// The flat key of the position to seek.
    key: Vec<u8>,
}

impl PassedCells {
    /// Begins anew: at a row, or at a column if all are wanted.
    pub(crate) const fn clear(&mut self) {
        self.count = 0;
    }

    /// Counts a cell to pass. Returns the next position that matters if it is time to seek it.
    pub(crate) fn add(&mut self, cell: &CellRef<'_>, columns: &Columns) -> Option<KeyRef<'_>> {
        let next = index_after(columns, cell.qualifier);
        if next != self.next {
            self.next = next;
            self.count = 0;
        }
        if !self.is_time_to_seek() {
            return None;
        }
        let CellRef { row, family, qualifier, .. } = *cell;
        let position = match columns {
            Columns::All => KeyRef::after_column(row, family, qualifier),
            Columns::Only(columns) => match columns.get(next) {
                Some(column) => KeyRef::before_column(row, family, column),
                None => KeyRef::after_row(row),
            },
        };
        self.seek_to(position)
    }

    /// Counts an earlier write of a version to pass. Returns the position after the version if it is time to seek it.
    pub(crate) fn add_repeated(&mut self, cell: &CellRef<'_>) -> Option<KeyRef<'_>> {
        let key = cell.key();
        let type_code = key.type_code.saturating_sub(1);
        if self.is_time_to_seek() { self.seek_to(KeyRef { type_code, ..key }) } else { None }
    }

    /// Passes no further cell before the next seek.
    pub(crate) const fn seek_at_once(&mut self) {
        self.count = SKIPS_MAX;
    }

    fn is_time_to_seek(&mut self) -> bool {
        self.count = if self.count < SKIPS_MAX { self.count.saturating_add(1) } else { 0 };
        self.count == 0
    }

    fn seek_to(&mut self, position: KeyRef<'_>) -> Option<KeyRef<'_>> {
        self.key.clear();
        position.write_flat(&mut self.key);
        KeyRef::parse(&self.key)
    }
}

/// Returns the index of the first listed column after `qualifier`.
fn index_after(columns: &Columns, qualifier: &[u8]) -> usize {
    match columns {
        Columns::All => 0,
        Columns::Only(columns) => columns.partition_point(|known| &known[..] <= qualifier),
    }
}
