//! What all parts of a scan share: its parameters, with what is derived from them once.

use std::path::PathBuf;
use std::sync::Arc;

use cells::rules::Rules;
use cells::view::View;
use cells::{Clock, Retention};
use sstable::{Comparator, Timestamp};

use super::damage::{Losses, MissingCells};
use super::logs::{LogCells, OldLogCells};
use super::mob::MobFiles;
use super::row_range::RowRange;
use super::unflushed::LogSelection;
use crate::error::{Error, Result};
use crate::scan::{MobValues, TableScan};
use crate::table::logged_compactions::LoggedCompactions;
use crate::table::{Region, Table};
use crate::tree::FileTree;
use crate::warning::Warning;

/// The parameters of a scan, and what is derived from them.
#[derive(Debug)]
pub(super) struct ScanPlan {
    pub(super) scan: TableScan,
    pub(super) tree: Arc<dyn FileTree>,
    pub(super) order: Comparator,
    /// The families to read, by ascending name.
    pub(super) families: Vec<FamilyPlan>,
    pub(super) range: RowRange,
    pub(super) mob: Option<MobFiles>,
    pub(super) losses: Losses,
    pub(super) logs: Arc<LogCells>,
    /// What the logs have of the regions of the scan, and was left out.
    pub(super) old: Vec<OldLogCells>,
    /// The warnings of the table, then the warnings of the logs.
    pub(super) warnings: Vec<Warning>,
    /// The compactions that the logs name, for a scan that does not read them.
    pub(super) compactions: Arc<LoggedCompactions>,
    /// The path of the table.
    pub(super) path: PathBuf,
}

/// A family of the scan.
#[derive(Debug)]
pub(super) struct FamilyPlan {
    pub(super) name: Vec<u8>,
    pub(super) retention: Retention,
    pub(super) qualifiers: Vec<Vec<u8>>,
    pub(super) is_mob: bool,
    view: View,
    now: Timestamp,
}

impl ScanPlan {
    /// Checks the parameters of a scan; the plan is without the cells of logs.
    pub(super) fn new(table: &Table, scan: &TableScan) -> Result<Self> {
        let order = table.row_order();
        let (families, range) = (Self::families(table, scan)?, scan.row_range(order));
        let losses = Losses::new(scan.skip_damaged);
        let of_logs = table.log_problems.iter().filter(|_| scan.with_logs);
        for problem in table.problems.iter().chain(of_logs).filter(|problem| {
            let place = table.place_of(problem);
            place
                .family
                .as_ref()
                .is_none_or(|name| families.iter().any(|family| family.name == *name))
                && range.overlaps_region(&place.rows, order)
        }) {
            let incomplete =
                Error::Incomplete { path: table.path.clone(), source: Arc::clone(problem) };
            losses.add_or_fail(incomplete, |_| MissingCells::of_problem(table, problem))?;
        }
        let resolves = scan.mob == MobValues::Resolve;
        Ok(Self {
            scan: scan.clone(),
            tree: Arc::clone(table.tree()),
            order,
            families,
            range,
            mob: resolves.then(|| MobFiles::new(table, scan)),
            losses,
            logs: Arc::default(),
            old: Vec::new(),
            warnings: table.warnings.clone(),
            compactions: Arc::clone(&table.compactions),
            path: table.path.clone(),
        })
    }

    /// Returns what the scan reads of the logs.
    pub(super) fn log_selection(&self) -> LogSelection {
        LogSelection {
            path: self.path.clone(),
            families: self.families.iter().map(|family| family.name.clone()).collect(),
            row: self.scan.row.clone(),
            prefix: self.scan.prefix.clone(),
            range: self.range.clone(),
            order: self.order,
            skip_damaged: self.scan.skip_damaged,
        }
    }

    fn families(table: &Table, scan: &TableScan) -> Result<Vec<FamilyPlan>> {
        let now = scan.now.unwrap_or_else(|| Clock::system().now());
        let view = scan.view();
        let unknown =
            scan.families.iter().find(|wanted| table.schema.family(&wanted.family).is_none());
        if let Some(unknown) = unknown {
            return Err(no_family(table, &unknown.family));
        }
        let mut plans = Vec::new();
        for family in &table.schema.families {
            let wanted = scan.families.iter().find(|wanted| wanted.family == family.name);
            if wanted.is_none() && !scan.families.is_empty() {
                continue;
            }
            if family.has_new_version_behavior() && !scan.raw {
                let name = cells::escape(&family.name);
                return Err(Error::Unsupported {
                    path: table.path.clone(),
                    what: format!("NEW_VERSION_BEHAVIOR of family {name}; a raw scan reads it"),
                });
            }
            let mut qualifiers = wanted.map_or(Vec::new(), |wanted| wanted.qualifiers.clone());
            // The rules insert each into their sorted list.
            qualifiers.sort();
            plans.push(FamilyPlan {
                name: family.name.clone(),
                retention: family.retention(),
                qualifiers,
                is_mob: family.is_mob(),
                view,
                now,
            });
        }
        plans.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(plans)
    }

    /// Returns whether a region can have rows of the scan.
    pub(super) fn includes_region(&self, region: &Region) -> bool {
        let (start, end) = (&region.info.start_key[..], &region.info.end_key[..]);
        let RowRange { start: first, stop } = &self.range;
        let order = self.order;
        let begins_before =
            stop.as_deref().is_none_or(|stop| order.compare_rows(start, stop).is_lt());
        let ends_after = end.is_empty() || order.compare_rows(first, end).is_lt();
        (start.is_empty() || begins_before) && ends_after
    }

    /// Returns whether a row can be returned.
    pub(super) fn can_return(&self, row: &[u8]) -> bool {
        let is_after_start = self.order.compare_rows(&self.range.start, row).is_le();
        is_after_start && self.range.ends_after(row, self.order) && self.includes_row(row)
    }

    /// Returns whether a row of the range is to be returned.
    pub(super) fn includes_row(&self, row: &[u8]) -> bool {
        // In the order of hbase:meta, other rows are between `t` and `t\0`, such as `t,,1`.
        let TableScan { row: only, prefix, .. } = &self.scan;
        // An empty vector has no memory. To compare with it takes 70 ns on processors with AVX-512,
        // where memcmp loads from its address with a mask, and the processor suppresses a fault.
        only.as_deref().is_none_or(|only| row == only)
            && (prefix.is_empty() || row.starts_with(prefix))
    }

    /// Returns the row, if the scan can return only one.
    pub(super) fn single_row(&self) -> Option<&[u8]> {
        match &self.scan.row {
            Some(row) => Some(row),
            None if self.order == Comparator::Bytes => self.range.single_row(),
            None => None,
        }
    }
}

impl FamilyPlan {
    /// Creates the rules of HBase for the cells of this family.
    pub(super) fn rules(&self) -> Rules<'static> {
        let rules = Rules::new(&self.retention, &self.view, self.now);
        self.qualifiers.iter().fold(rules, Rules::column)
    }

    /// Returns the column, if the scan reads exactly one of the family.
    pub(super) fn single_column(&self) -> Option<&[u8]> {
        match &self.qualifiers[..] {
            [column] => Some(column),
            _ => None,
        }
    }
}

fn no_family(table: &Table, family: &[u8]) -> Error {
    Error::NoFamily {
        table: table.name.clone(),
        family: family.to_vec(),
        known: table.schema.families.iter().map(|known| known.name.clone()).collect(),
    }
}
