//! The cells of a family of a region that a scan returns: store files merged, with HBase's rules.

use std::sync::Arc;

use cells::merge::{CellCursor, MergeCursor};
use cells::rules::{Rules, Verdict};
use cells::shown::{Choice, Selection, ShownCells};
use sstable::{CellRef, KeyRef, ReadTrace};

use super::open::OpenFamily;
use super::plan::{FamilyPlan, ScanPlan};
use super::row_range::RowRange;
use super::source::Source;
use crate::error::Result;

/// A cursor over the cells of a family that a scan returns.
#[derive(Debug)]
pub(super) struct FamilyCells {
    cells: ShownCells<'static, Source>,
    selection: FamilySelection,
}

/// The rows of a scan.
#[derive(Debug)]
struct FamilySelection {
    plan: Arc<ScanPlan>,
    range: RowRange,
    /// Whether the range has only one row.
    is_single_row: bool,
}

impl FamilyCells {
    /// Begins at the first cell of the range.
    pub(super) fn new(
        plan: &Arc<ScanPlan>,
        family: &FamilyPlan,
        open: &OpenFamily,
        range: &RowRange,
    ) -> Result<Self> {
        let order = plan.order;
        let start = KeyRef::before_row(&range.start);
        let log = open.log.as_ref().map(|log| match log.in_memory(order) {
            Some(cells) => Ok(Source::Log(cells)),
            None => log.merge(start, order).map(|cells| Source::LogRuns(Box::new(cells))),
        });
        let wanted = open.files.iter().filter(|file| file.has_rows_of(plan, range));
        let files = wanted.map(|file| file.cells(plan, range));
        let sources = log.transpose()?.into_iter().chain(files).collect();
        let merge = MergeCursor::with_order(sources, start, order)?;
        let is_single_row = plan.single_row().is_some();
        let selection =
            FamilySelection { plan: Arc::clone(plan), range: range.clone(), is_single_row };
        let mut cells = Self { cells: ShownCells::new(merge, family.rules()), selection };
        cells.cells.select(&mut cells.selection)?;
        Ok(cells)
    }

    /// Returns the current cell; `None` at the end.
    #[expect(
        clippy::inline_always,
        reason = "avoids a call and copies of the cell for each cell of a scan"
    )]
    #[inline(always)]
    pub(super) fn cell(&self) -> Option<CellRef<'_>> {
        self.cells.selected()
    }

    /// Whether there is a current cell.
    pub(super) fn has_cell(&self) -> bool {
        self.cells.has_selected()
    }

    /// Moves to the next cell that the scan returns.
    pub(super) fn advance(&mut self) -> Result<()> {
        self.cells.take();
        self.cells.select(&mut self.selection).map(drop)
    }

    /// Counts the files whose filter did not deny the only row of the scan, and that lack it.
    pub(super) fn count_false_positives(&mut self, row: &[u8], trace: &mut ReadTrace) {
        for source in self.cells.sources_mut() {
            if let Source::File(file) = source
                && file.passed_filter
                && file.cell().is_none_or(|cell| cell.row != row)
            {
                trace.filter_false_positives = trace.filter_false_positives.saturating_add(1);
            }
        }
    }

    /// Returns the counters of the files, and resets them.
    pub(super) fn take_trace(&mut self) -> ReadTrace {
        let mut sum = ReadTrace::default();
        for source in self.cells.sources_mut() {
            if let Source::File(file) = source {
                sum.add(&file.take_trace());
            }
        }
        sum
    }
}

impl Selection<Source> for FamilySelection {
    fn includes(&self, cell: &CellRef<'_>) -> bool {
        self.range.ends_after(cell.row, self.plan.order)
    }

    fn choose(&mut self, cell: &CellRef<'_>, verdict: Verdict, rules: &Rules<'_>) -> Choice {
        match verdict {
            Verdict::Include if self.plan.includes_row(cell.row) => Choice::Return,
            // Without a read of the next row.
            Verdict::SkipColumn if self.is_single_row && rules.ends_row(cell) => Choice::End,
            _ => Choice::Pass,
        }
    }
}
