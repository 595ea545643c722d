//! The cells of a family of a region that a scan returns: store files merged, with HBase's rules.

use std::sync::Arc;

use sstable::{CellRef, KeyRef, ReadTrace};
use store::merge::{CellCursor, MergeCursor};
use store::rules::{Rules, Verdict};

use super::open::OpenFamily;
use super::plan::{FamilyPlan, ScanPlan};
use super::row_range::RowRange;
use super::source::Source;
use crate::Result;

/// A cursor over the cells of a family that a scan returns.
#[derive(Debug)]
pub(super) struct FamilyCells {
    plan: Arc<ScanPlan>,
    range: RowRange,
    merge: MergeCursor<Source>,
    rules: Rules<'static>,
    /// Whether the range has only one row.
    is_single_row: bool,
    is_done: bool,
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
        let files = open.files.iter().filter(|file| file.has_rows_of(plan, range));
        let files = files.map(|file| file.cells(plan));
        let sources = log.transpose()?.into_iter().chain(files).collect();
        let merge = MergeCursor::with_order(sources, start, order)?;
        let is_single_row = plan.single_row().is_some();
        let (plan, range, rules) = (Arc::clone(plan), range.clone(), family.rules());
        let mut cells = Self { plan, range, merge, rules, is_single_row, is_done: false };
        cells.find_shown()?;
        Ok(cells)
    }

    /// Returns the current cell; `None` at the end.
    #[expect(
        clippy::inline_always,
        reason = "avoids a call and copies of the cell for each cell of a scan"
    )]
    #[inline(always)]
    pub(super) fn cell(&self) -> Option<CellRef<'_>> {
        if self.is_done { None } else { self.merge.cell() }
    }

    /// Whether there is a current cell.
    #[inline]
    pub(super) const fn has_cell(&self) -> bool {
        !self.is_done
    }

    /// Moves to the next cell that the scan returns.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<()> {
        self.merge.advance()?;
        self.find_shown()
    }

    /// Moves to the first cell to return, at or after the current one.
    fn find_shown(&mut self) -> Result<()> {
        loop {
            let cell = self.merge.cell();
            // By reference: a move of the cell costs as much as the rules.
            let Some(cell) = &cell else { break };
            if !self.range.ends_after(cell.row, self.plan.order) {
                break;
            }
            let verdict = self.rules.judge(cell);
            if verdict == Verdict::Include && self.plan.includes_row(cell.row) {
                return Ok(());
            }
            if verdict == Verdict::SkipColumn && self.is_single_row && self.rules.ends_row(cell) {
                break; // Without a read of the next row.
            }
            self.merge.pass(&mut self.rules, verdict)?;
        }
        self.is_done = true;
        Ok(())
    }

    /// Counts the files whose filter did not deny the only row of the scan, and that lack it.
    pub(super) fn count_false_positives(&mut self, row: &[u8], trace: &mut ReadTrace) {
        for source in self.merge.sources_mut() {
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
        for source in self.merge.sources_mut() {
            if let Source::File(file) = source {
                sum.add(&file.take_trace());
            }
        }
        sum
    }
}
