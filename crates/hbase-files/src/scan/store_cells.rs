//! The cells of a store of this project that a scan selects: its families merged by row.

use sstable::{Cell, CellRef, Comparator};
use store::{Scan, ScanCells, Snapshot};

use super::plan::row_range;
use super::row_range::RowRange;
use crate::TableScan;

/// The cells of an embedded store that a scan selects, in the order of a table's.
///
/// Of a [`TableScan`], the rows, columns, times, versions and `raw` apply. The store has its own clock.
#[derive(Debug)]
pub struct StoreCells {
    /// By ascending name.
    families: Vec<FamilyCells>,
    /// The family whose cell was returned last.
    current: Option<usize>,
}

/// The cells of one family.
#[derive(Debug)]
struct FamilyCells {
    cells: ScanCells,
    /// The cell at which the family is; not used with a single family.
    next: Option<Cell>,
}

impl StoreCells {
    /// Begins a scan of these families of a store, as it was at the moment of a snapshot.
    ///
    /// # Errors
    ///
    /// If the store did not have one of the families, or cannot be read.
    pub fn open(snapshot: &Snapshot, families: &[String], scan: &TableScan) -> store::Result<Self> {
        let mut names: Vec<&String> = families.iter().collect();
        names.sort_unstable();
        let requests = names.into_iter().filter_map(|family| request(family, scan));
        let families = requests.map(|scan| {
            let cells = snapshot.scan(scan)?;
            Ok(FamilyCells { cells, next: None })
        });
        let mut cells = Self { families: families.collect::<store::Result<_>>()?, current: None };
        if cells.families.len() > 1 {
            cells.families.iter_mut().try_for_each(FamilyCells::advance)?;
        }
        Ok(cells)
    }

    /// Returns a reference to the next cell, or `None` at the end.
    ///
    /// # Errors
    ///
    /// If the store is damaged or cannot be read. No further cells follow.
    pub fn next_ref(&mut self) -> store::Result<Option<CellRef<'_>>> {
        if self.families.len() == 1 {
            return self.families.first_mut().map_or(Ok(None), |only| only.cells.next_ref());
        }
        if let Some(family) = self.current.take().and_then(|index| self.families.get_mut(index))
            && let Err(error) = family.advance()
        {
            self.families.clear();
            return Err(error);
        }
        // Of equal rows the lowest family: the earlier ones have returned their cells of the row.
        let rows = self.families.iter().enumerate();
        let rows = rows.filter_map(|(family, cells)| Some((cells.next.as_ref()?.row(), family)));
        self.current = rows.min().map(|(_, family)| family);
        let current = self.current.and_then(|index| self.families.get(index));
        Ok(current.and_then(|family| family.next.as_ref()).map(Cell::as_ref))
    }
}

impl FamilyCells {
    fn advance(&mut self) -> store::Result<()> {
        self.next = self.cells.next().transpose()?;
        Ok(())
    }
}

/// Returns the scan of a family; `None` if the family is not wanted.
fn request(family: &str, scan: &TableScan) -> Option<Scan> {
    let wanted = scan.families.iter().find(|wanted| wanted.family == family.as_bytes());
    if wanted.is_none() && !scan.families.is_empty() {
        return None;
    }
    let RowRange { start, stop } = row_range(scan, Comparator::Bytes);
    let mut request = Scan::family(family)
        .versions(scan.versions)
        .time_range(scan.min_ts, scan.max_ts)
        .raw(scan.raw)
        .start(&start);
    if let Some(stop) = &stop {
        request = request.stop(stop);
    }
    if !scan.prefix.is_empty() {
        request = request.prefix(&scan.prefix);
    }
    let qualifiers = wanted.map(|wanted| &wanted.qualifiers[..]).unwrap_or_default();
    Some(qualifiers.iter().fold(request, Scan::column))
}
