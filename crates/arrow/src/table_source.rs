//! The cells of a table or snapshot of a root directory, or of one of its regions.

use hbase_files::{MissingCells, Region, Table, TableCells, TableScan, TornLog, Warning};
use sstable::{CellRef, ReadTrace};

use crate::Result;
use crate::selection::Selection;
use crate::source::CellSource;

/// The cells of a table that a scan returns.
struct TableSource(TableCells);

impl CellSource for TableSource {
    fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        Ok(self.0.next_ref()?)
    }

    fn trace(&mut self) -> ReadTrace {
        *self.0.trace()
    }

    fn missing(&self) -> Vec<MissingCells> {
        self.0.missing()
    }

    fn warnings(&self) -> Vec<Warning> {
        self.0.warnings().to_vec()
    }

    fn torn_logs(&self) -> Vec<TornLog> {
        self.0.torn_logs().to_vec()
    }
}

/// Returns the cells of a region, or of the whole table.
pub(crate) fn open(
    table: &Table,
    region: Option<&Region>,
    selection: &Selection,
    base: &TableScan,
) -> Result<Box<dyn CellSource>> {
    let scan = request(selection, base);
    let cells = match region {
        Some(region) => table.scan_region(region, &scan)?,
        None => table.scan(&scan)?,
    };
    Ok(Box::new(TableSource(cells)))
}

/// Returns `base` with the rows, columns, versions and times of a selection.
fn request(selection: &Selection, base: &TableScan) -> TableScan {
    let mut scan = base.clone();
    scan.start.clone_from(&selection.start);
    scan.stop.clone_from(&selection.stop);
    scan.prefix = selection.prefix.clone().unwrap_or_default();
    scan.families.clear();
    for family in &selection.families {
        scan = scan.family(family);
    }
    for (family, qualifier) in &selection.columns {
        scan = scan.column(family, qualifier);
    }
    if let Some((min, max)) = selection.time_range {
        scan = scan.time_range(min, max);
    }
    if selection.now.is_some() {
        scan.now = selection.now;
    }
    scan.versions(selection.versions).raw(selection.raw)
}
