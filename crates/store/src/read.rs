//! The read path of one row, top to bottom.
//!
//! ```text
//! memstores ─┐
//!            ├─ cells of the row, all in order ─ rules → what HBase would show
//! files that │
//! may have   ┘
//! the row, newest time first; stop when no file that remains can change the answer
//! ```

use std::sync::Arc;

use sstable::{Cell, CellRef, KeyRef, ReadTrace, SequenceId, Timestamp};

use crate::error::{Error, Result};
use crate::memstore::Place;
use crate::query::{Columns, Get, View};
use crate::rules::{Rules, Verdict};
use crate::version::{FamilyVersion, StoreVersion};

/// The store at one moment, for a reader.
#[derive(Clone, Debug)]
pub(crate) struct ReadView {
    pub(crate) version: Arc<StoreVersion>,
    pub(crate) visible: SequenceId,
    pub(crate) now: Timestamp,
}

impl ReadView {
    /// Answers a get; returns what it did beside what it found.
    pub(crate) fn get(&self, get: &Get) -> Result<(Vec<Cell>, ReadTrace)> {
        let mut found = Vec::new();
        let mut sum = ReadTrace::default();
        let mut answer = |family: &FamilyVersion, columns: &Columns| -> Result<()> {
            let mut trace = ReadTrace::default();
            let result = self.get_family(family, columns, get, &mut trace, &mut found);
            family.family.reads.record(&trace);
            sum.add(&trace);
            result
        };
        if get.families.is_empty() {
            for family in &self.version.families {
                answer(family, &Columns::All)?;
            }
        }
        for query in &get.families {
            answer(self.family(&query.family)?, &query.columns)?;
        }
        Ok((found, sum))
    }

    pub(crate) fn family(&self, name: &[u8]) -> Result<&Arc<FamilyVersion>> {
        self.version.family(name).ok_or_else(|| {
            Error::invalid(format!("the store has no family \"{}\"", sstable::escape(name)))
        })
    }

    fn get_family(
        &self,
        family: &FamilyVersion,
        columns: &Columns,
        get: &Get,
        _trace: &mut ReadTrace,
        shown: &mut Vec<Cell>,
    ) -> Result<()> {
        let mut row = RowCells { columns, cells: Vec::new() };
        for memstore in family.memstores() {
            let place = Place::From(KeyRef::before_row(&get.row));
            memstore.collect(&place, self.visible, usize::MAX, &mut row.cells, |cell| {
                cell.row == &get.row[..]
            });
        }
        row.show(family, &get.view, self.now, shown);
        Ok(())
    }
}

/// The cells of a row of a family, from wherever they were found.
struct RowCells<'a> {
    columns: &'a Columns,
    cells: Vec<Cell>,
}

impl RowCells<'_> {
    /// Appends what the rules show of the row.
    fn show(mut self, family: &FamilyVersion, view: &View, now: Timestamp, shown: &mut Vec<Cell>) {
        if self.cells.is_empty() {
            return;
        }
        // Stable: of equal cells that of the newer source stays in front.
        self.cells.sort_by(|left, right| left.as_ref().compare(&right.as_ref()));
        let mut rules = Rules::for_read(&family.family.options, view, self.columns, now);
        let included = |cell: &Cell| rules.judge(&cell.as_ref()) == Verdict::Include;
        shown.extend(self.cells.into_iter().filter(included));
    }
}

/// Whether a cell can matter to a read of these columns: it is of one, or deletes in all.
pub(crate) fn concerns(columns: &Columns, cell: &CellRef<'_>) -> bool {
    match columns {
        Columns::All => true,
        Columns::Only(columns) => {
            cell.cell_type.deletes_family()
                || columns.binary_search_by(|known| known[..].cmp(cell.qualifier)).is_ok()
        }
    }
}
