//! The cells of a table that are only in write-ahead logs, read once for several scans.

use std::sync::Arc;

use super::log_events::OldLogCells;
use super::logs::{LogCells, TornLog};
use super::plan::Plan;
use crate::{Result, Table, TableScan, Warning};

/// The cells of a table that are only in write-ahead logs, read once for several scans.
///
/// [`Table::read_logs`] reads them; [`TableScan::unflushed`] gives them to a scan.
#[derive(Clone, Debug)]
pub struct UnflushedCells(Arc<Plan>);

impl Table {
    /// Reads the logs once, for several scans of rows and families that `scan` includes.
    ///
    /// # Errors
    ///
    /// As [`scan`](Self::scan) of a scan [with logs](TableScan::with_logs).
    pub fn read_logs(&self, scan: &TableScan) -> Result<UnflushedCells> {
        let scan = TableScan { unflushed: None, ..scan.clone() }.with_logs(true);
        Ok(UnflushedCells(Arc::new(Plan::new(self, &self.regions, &scan)?)))
    }
}

impl UnflushedCells {
    /// Returns what was left out of the logs, as [`TableCells`](crate::TableCells::old_log_cells) does.
    pub fn old_log_cells(&self) -> &[OldLogCells] {
        self.0.logs.old()
    }

    /// Returns what the logs leave in doubt.
    pub fn warnings(&self) -> &[Warning] {
        self.0.logs.warnings()
    }

    /// Returns the torn logs, of which the entries before the unfinished part were read.
    pub fn torn_logs(&self) -> &[TornLog] {
        self.0.logs.torn()
    }

    /// Returns the cells, if they include those of a scan of `table`.
    pub(super) fn of(&self, table: &Table, plan: &Plan) -> Option<Arc<LogCells>> {
        let Self(read) = self;
        let has_families = plan
            .families
            .iter()
            .all(|wanted| read.families.iter().any(|family| family.name == wanted.name));
        let has_rows = read.scan.row.is_none()
            && plan.scan.prefix.starts_with(&read.scan.prefix)
            && plan.order.compare_rows(&read.range.start, &plan.range.start).is_le()
            && read.range.stop.as_ref().is_none_or(|stop| {
                let ends = plan.range.stop.as_ref();
                ends.is_some_and(|end| plan.order.compare_rows(end, stop).is_le())
            });
        let is_same = read.path == table.path && read.scan.skip_damaged == plan.scan.skip_damaged;
        (is_same && has_families && has_rows).then(|| Arc::clone(&read.logs))
    }
}
