//! The cells of a region that a scan returns: its families merged by row.

use std::sync::Arc;

use sstable::{Cell, CellRef, ReadTrace};

use super::family::FamilyCells;
use super::open::OpenRegion;
use super::plan::ScanPlan;
use super::row_range::RowRange;
use crate::error::Result;

/// A cursor over the cells of a region, or of a range of its rows, that a scan returns.
#[derive(Debug)]
pub(super) struct RegionCells {
    plan: Arc<ScanPlan>,
    /// By ascending name. The families of a row follow each other.
    families: Vec<FamilyCells>,
    /// The family of the current cell.
    current: Option<usize>,
    /// The row of the current cell, if there are several families.
    row: Vec<u8>,
    /// The current cell with its value from a MOB file, if it was a reference.
    resolved: Option<Cell>,
    trace: ReadTrace,
}

impl RegionCells {
    /// Begins at the first cell of the range.
    pub(super) fn new(plan: &Arc<ScanPlan>, open: &OpenRegion, range: &RowRange) -> Result<Self> {
        let mut trace = ReadTrace::default();
        let mut families = Vec::with_capacity(open.families.len());
        for (family, open) in plan.families.iter().zip(&open.families) {
            let mut cells = FamilyCells::new(plan, family, open, range)?;
            if let Some(row) = plan.single_row() {
                cells.count_false_positives(row, &mut trace);
            }
            families.push(cells);
        }
        let mut cells = Self {
            plan: Arc::clone(plan),
            families,
            current: None,
            row: Vec::new(),
            resolved: None,
            trace,
        };
        cells.find_next_family();
        cells.resolve_mob()?;
        Ok(cells)
    }

    /// Returns the current cell; `None` at the end.
    pub(super) fn cell(&self) -> Option<CellRef<'_>> {
        match &self.resolved {
            None => self.families.get(self.current?)?.cell(),
            Some(cell) => Some(cell.as_ref()),
        }
    }

    /// Whether there is a current cell.
    pub(super) fn has_cell(&self) -> bool {
        let current = self.current.and_then(|current| self.families.get(current));
        current.is_some_and(FamilyCells::has_cell)
    }

    /// Moves to the next cell.
    pub(super) fn advance(&mut self) -> Result<()> {
        self.advance_stored()?;
        self.resolve_mob()
    }

    fn advance_stored(&mut self) -> Result<()> {
        self.resolved = None;
        let is_only = self.families.len() == 1;
        let Some(current) = self.current.and_then(|current| self.families.get_mut(current)) else {
            return Ok(());
        };
        current.advance()?;
        let stays = if is_only {
            current.has_cell()
        } else {
            current.cell().is_some_and(|cell| cell.row == self.row)
        };
        if !stays {
            self.find_next_family();
        }
        Ok(())
    }

    /// Chooses the family with the least row; of equal rows, the first.
    ///
    /// The families of the current row that are before the current one have gone on to other rows.
    fn find_next_family(&mut self) {
        let order = self.plan.order;
        let mut least: Option<(usize, &[u8])> = None;
        for (index, family) in self.families.iter().enumerate() {
            if let Some(cell) = family.cell()
                && least.is_none_or(|(_, row)| order.compare_rows(cell.row, row).is_lt())
            {
                least = Some((index, cell.row));
            }
        }
        self.current = least.map(|(index, _)| index);
        if let Some((_, row)) = least
            && self.families.len() > 1
        {
            self.row.clear();
            self.row.extend_from_slice(row);
        }
    }

    /// Replaces a reference to a MOB file by the cell with its value.
    ///
    /// If the scan continues after damage, leaves out a cell whose value cannot be read.
    fn resolve_mob(&mut self) -> Result<()> {
        while let (Some(mob), Some(current)) = (&self.plan.mob, self.current) {
            if !self.plan.families.get(current).is_some_and(|family| family.is_mob) {
                break;
            }
            let cell = self.families.get(current).and_then(FamilyCells::cell);
            let Some(cell) = cell.filter(super::mob::is_reference) else { break };
            let ScanPlan { tree, losses, .. } = &*self.plan;
            match mob.resolve(&**tree, losses, &cell, &mut self.trace)? {
                Some(resolved) => {
                    self.resolved = Some(resolved);
                    break;
                }
                None => self.advance_stored()?,
            }
        }
        Ok(())
    }

    /// Returns the counters of the reads, and resets them.
    pub(super) fn take_trace(&mut self) -> ReadTrace {
        let mut sum = std::mem::take(&mut self.trace);
        for family in &mut self.families {
            sum.add(&family.take_trace());
        }
        sum
    }
}
