//! The cells of a table or region that a scan returns.

use std::sync::Arc;

use sstable::{Cell, CellRef, ReadTrace};

use super::damage::MissingCells;
use super::log_reader::plan_with_logs;
use super::logs::{OldLogCells, TornLog};
use super::open::OpenRegion;
use super::parallel::ParallelCells;
use super::plan::ScanPlan;
use super::region::RegionCells;
use super::unflushed::UnflushedCells;
use crate::error::Result;
use crate::scan::TableScan;
use crate::table::{Region, Table};
use crate::warning::Warning;

/// An iterator over the cells of a table that a scan returns, in HBase's order.
///
/// The families of a row follow each other, as in HBase's `Result`. The iterator copies each cell;
/// [`next_ref`](Self::next_ref) borrows it instead. After an error it ends.
#[derive(Debug)]
pub struct TableCells {
    plan: Arc<ScanPlan>,
    reading: Reading,
    trace: ReadTrace,
}

/// How the cells are read.
#[derive(Debug)]
enum Reading {
    InPlace(InPlace),
    Parallel(Box<ParallelCells>),
    Done,
}

/// The regions that one thread reads, one after the other.
#[derive(Debug)]
struct InPlace {
    /// The next regions, the nearest one last.
    regions: Vec<Region>,
    current: Option<Box<RegionCells>>,
    /// Whether the current cell was returned.
    is_returned: bool,
}

impl Table {
    /// Scans the cells of the table, region by region in the order of their rows.
    ///
    /// Files are opened when the scan reaches their region.
    ///
    /// ```no_run
    /// use std::path::Path;
    /// use std::sync::Arc;
    ///
    /// use hbase_files::{LocalTree, RootDirectory, TableScan};
    ///
    /// let root = RootDirectory::open(Arc::new(LocalTree), Path::new("hbase"))?;
    /// let snapshot = root.snapshot("users-monday")?;
    /// let mut cells = snapshot.table.scan(&TableScan::default().prefix("user1"))?;
    /// while let Some(cell) = cells.next_ref()? {
    ///     println!("{cell:?}");
    /// }
    /// # Ok::<(), hbase_files::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) for a family that the table does not have;
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a family with `NEW_VERSION_BEHAVIOR`,
    /// unless the scan is raw; [`Error::Incomplete`](crate::Error::Incomplete) if the table has
    /// [`problems`](Table::problems), unless the scan skips damage; errors of logs, if the scan
    /// reads them.
    pub fn scan(&self, scan: &TableScan) -> Result<TableCells> {
        self.scan_regions(scan, &self.regions)
    }

    /// Scans the cells of one region of the table.
    ///
    /// A scan with [logs](TableScan::with_logs) reads all logs of the table.
    ///
    /// # Errors
    ///
    /// As [`scan`](Self::scan).
    pub fn scan_region(&self, region: &Region, scan: &TableScan) -> Result<TableCells> {
        self.scan_regions(scan, std::slice::from_ref(region))
    }

    /// Returns the cells of one row. Ignores the rows, the prefix and the threads of `scan`.
    ///
    /// Opens all files of the region, and reads data blocks only of those whose key range, filter
    /// and time range allow the row.
    ///
    /// # Errors
    ///
    /// As [`scan`](Self::scan) and [`TableCells::next_ref`].
    pub fn get(&self, row: impl AsRef<[u8]>, scan: &TableScan) -> Result<Vec<Cell>> {
        let whole_row = TableScan { prefix: Vec::new(), ..scan.clone() };
        self.scan(&whole_row.row(row).threads(1))?.collect()
    }

    /// Reads the logs once, for several scans of rows and families that `scan` includes.
    ///
    /// # Errors
    ///
    /// As [`scan`](Self::scan) of a scan [with logs](TableScan::with_logs).
    pub fn read_logs(&self, scan: &TableScan) -> Result<UnflushedCells> {
        let of_logs = TableScan { unflushed: None, ..scan.clone() }.with_logs(true);
        let plan = plan_with_logs(self, &self.regions, &of_logs)?;
        Ok(UnflushedCells { extent: Arc::new(plan.log_selection()), logs: plan.logs })
    }

    fn scan_regions(&self, scan: &TableScan, regions: &[Region]) -> Result<TableCells> {
        let plan = Arc::new(plan_with_logs(self, regions, scan)?);
        let included = regions.iter().filter(|region| plan.includes_region(region)).cloned();
        let reading = if scan.threads > 1 && plan.single_row().is_none() {
            let all = included.collect();
            Reading::Parallel(Box::new(ParallelCells::new(&plan, all, scan.threads)))
        } else {
            let last_first = included.rev().collect();
            Reading::InPlace(InPlace { regions: last_first, current: None, is_returned: false })
        };
        Ok(TableCells { plan, reading, trace: ReadTrace::default() })
    }
}

impl TableCells {
    /// Returns a reference to the next cell, or `None` at the end.
    ///
    /// # Errors
    ///
    /// If a store file is missing, damaged or unsupported, or cannot be read, unless the scan
    /// [skips](TableScan::skip_damaged) such files.
    pub fn next_ref(&mut self) -> Result<Option<CellRef<'_>>> {
        let selected = match &mut self.reading {
            Reading::InPlace(cells) => cells.select_next(&self.plan, &mut self.trace),
            Reading::Parallel(cells) => cells.select_next(&mut self.trace),
            Reading::Done => return Ok(None),
        };
        if !matches!(selected, Ok(true)) {
            self.end();
        }
        selected?;
        Ok(match &self.reading {
            Reading::InPlace(cells) => cells.current.as_ref().and_then(|region| region.cell()),
            Reading::Parallel(cells) => cells.cell(),
            Reading::Done => None,
        })
    }

    /// Returns the counters of the reads so far.
    ///
    /// With several threads, the counters of the parts whose cells have all been returned.
    pub fn trace(&mut self) -> &ReadTrace {
        if let Reading::InPlace(InPlace { current: Some(region), .. }) = &mut self.reading {
            self.trace.add(&region.take_trace());
        }
        &self.trace
    }

    /// Returns what the scan has left out so far, because it is damaged or missing, and the store files
    /// and logs that are gone, if it reads [logs](TableScan::with_logs).
    ///
    /// Without logs, empty unless the scan [skips](TableScan::skip_damaged) damaged files.
    pub fn missing(&self) -> Vec<MissingCells> {
        self.plan.losses.list()
    }

    /// Returns what the scan left out of the logs, because it was written before HBase last opened
    /// the region.
    ///
    /// Empty unless the scan reads [logs](TableScan::with_logs).
    pub fn old_log_cells(&self) -> &[OldLogCells] {
        &self.plan.old
    }

    /// Returns the [warnings](Table::warnings) of the table, then the warnings of the logs if the scan [reads
    /// logs](TableScan::with_logs).
    pub fn warnings(&self) -> &[Warning] {
        &self.plan.warnings
    }

    /// Returns the torn logs. The scan read their entries before the unfinished part.
    ///
    /// Empty unless the scan reads [logs](TableScan::with_logs).
    pub fn torn_logs(&self) -> &[TornLog] {
        self.plan.logs.torn()
    }

    #[cold]
    fn end(&mut self) {
        self.trace();
        self.reading = Reading::Done;
    }
}

impl Iterator for TableCells {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_ref().transpose()?;
        Some(next.map(|cell| cell.to_cell()))
    }
}

impl InPlace {
    /// Moves to the next cell; returns whether there is one.
    fn select_next(&mut self, plan: &Arc<ScanPlan>, trace: &mut ReadTrace) -> Result<bool> {
        if let Some(region) = &mut self.current {
            if self.is_returned {
                region.advance()?;
            }
            self.is_returned = true;
            if region.has_cell() {
                return Ok(true);
            }
        }
        self.select_in_next_region(plan, trace)
    }

    #[cold]
    fn select_in_next_region(
        &mut self,
        plan: &Arc<ScanPlan>,
        trace: &mut ReadTrace,
    ) -> Result<bool> {
        loop {
            if let Some(mut region) = self.current.take() {
                trace.add(&region.take_trace());
            }
            let Some(region) = self.regions.pop() else { return Ok(false) };
            let open = OpenRegion::open(plan, &region, trace)?;
            let cells = RegionCells::new(plan, &open, &plan.range)?;
            let has_cell = cells.has_cell();
            self.current = Some(Box::new(cells));
            self.is_returned = true;
            if has_cell {
                return Ok(true);
            }
        }
    }
}
