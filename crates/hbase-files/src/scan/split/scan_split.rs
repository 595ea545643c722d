//! A part of a scan that another process can read: a region with its files and a range of rows, or an HFile and a
//! range of rows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{CellRef, Comparator, FileName, ReadTrace};

use crate::error::Result;
use crate::scan::TableScan;
use crate::scan::store_file_cells::StoreFileCells;
use crate::scan::table::TableCells;
use crate::table::{Region, StoreFileReader, Table, identify};
use crate::tree::FileTree;

/// A part of a scan: the rows of a region, or of an HFile, with all settings of the scan.
///
/// [`Table::splits`] and [`hfile`](Self::hfile) make splits. The splits of a scan together return each of its
/// cells once. A split has no open files. [`to_bytes`](Self::to_bytes) writes it for another process, which must
/// see the same directories at the same paths.
///
/// A split of a table has the list of the region's files, so that [`cells`](Self::cells) reads neither the manifest
/// nor the directories again. HBase can move files to the archive meanwhile; they are found there.
#[derive(Clone, Debug)]
pub struct ScanSplit {
    pub(super) source: SplitSource,
    /// The scan, limited to the rows of the split.
    pub(super) scan: TableScan,
    /// About how many bytes of files the split reads.
    pub(super) len: u64,
    pub(super) attachment: Vec<u8>,
}

/// Where the cells of a split are.
#[derive(Clone, Debug)]
pub(super) enum SplitSource {
    /// A table with one region.
    Table(Arc<Table>),
    /// An HFile, or a reference or link to one.
    File { path: PathBuf, tree: Arc<dyn FileTree>, order: Comparator },
}

/// The cells of a split.
#[derive(Debug)]
pub enum SplitCells {
    /// Of a table.
    Table(Box<TableCells>),
    /// Of an HFile.
    File(Box<StoreFileCells>),
}

impl ScanSplit {
    /// Begins to read the cells.
    ///
    /// # Errors
    ///
    /// As [`Table::scan`]; for an HFile as [`StoreFileReader::open`] and [`StoreFileCells::open`].
    pub fn cells(&self) -> Result<SplitCells> {
        Ok(match &self.source {
            SplitSource::Table(table) => SplitCells::Table(Box::new(table.scan(&self.scan)?)),
            SplitSource::File { path, tree, .. } => {
                let reader = open_file(&**tree, path, &self.scan)?;
                SplitCells::File(Box::new(StoreFileCells::open(&reader, &self.scan)?))
            }
        })
    }

    /// Returns the part of the split with the rows from `start` until before `stop`, or to its end.
    ///
    /// `None` if the split has none of them. Reads no file, so [`estimated_bytes`](Self::estimated_bytes) stays the same.
    pub fn within(&self, start: &[u8], stop: Option<&[u8]>) -> Option<Self> {
        let order = self.order();
        let (mut first, mut end) = (self.start(), self.stop());
        if order.compare_rows(start, &first).is_gt() {
            first = start.to_vec();
        }
        if let Some(stop) = stop
            && end.as_ref().is_none_or(|end| order.compare_rows(stop, end).is_lt())
        {
            end = Some(stop.to_vec());
        }
        if end.as_ref().is_some_and(|end| order.compare_rows(&first, end).is_ge()) {
            return None;
        }
        let mut scan = self.scan.clone();
        (scan.start, scan.stop) = (Some(first), end);
        Some(Self { scan, ..self.clone() })
    }

    /// Returns the region; `None` for an HFile.
    pub fn region(&self) -> Option<&Region> {
        match &self.source {
            SplitSource::Table(table) => table.regions.first(),
            SplitSource::File { .. } => None,
        }
    }

    /// Returns the path of the HFile; `None` for a region.
    pub fn file(&self) -> Option<&Path> {
        match &self.source {
            SplitSource::Table(_) => None,
            SplitSource::File { path, .. } => Some(path),
        }
    }

    /// Returns the first row that the split can have; empty for the first of all.
    pub fn start(&self) -> Vec<u8> {
        let start = self.scan.row_range(self.order()).start;
        let of_region = self.region().map(|region| &region.info.start_key);
        match of_region {
            Some(key) if self.order().compare_rows(key, &start).is_gt() => key.clone(),
            _ => start,
        }
    }

    /// Returns the row before which the split ends; `None` if it ends with the source.
    pub fn stop(&self) -> Option<Vec<u8>> {
        let stop = self.scan.row_range(self.order()).stop;
        let end_key = self.region().map(|region| &region.info.end_key);
        let of_region = end_key.filter(|key| !key.is_empty()).cloned();
        match (stop, of_region) {
            (Some(stop), Some(key)) if self.order().compare_rows(&key, &stop).is_lt() => Some(key),
            (Some(stop), _) => Some(stop),
            (None, of_region) => of_region,
        }
    }

    /// Returns about how many bytes of files the split reads, if it reads all columns.
    ///
    /// Zero if all its cells are in logs.
    pub const fn estimated_bytes(&self) -> u64 {
        self.len
    }

    /// Returns how many of the first warnings of [`cells`](Self::cells) are the table's own.
    pub fn table_warnings(&self) -> usize {
        match &self.source {
            SplitSource::Table(table) => table.warnings.len(),
            SplitSource::File { .. } => 0,
        }
    }

    /// Attaches bytes, which come with the split to another process.
    #[must_use]
    pub fn with_attachment(self, attachment: Vec<u8>) -> Self {
        Self { attachment, ..self }
    }

    /// Returns the attached bytes; empty by default.
    pub fn attachment(&self) -> &[u8] {
        &self.attachment
    }

    /// Returns the scan, limited to the rows of the split.
    pub const fn scan(&self) -> &TableScan {
        &self.scan
    }

    fn order(&self) -> Comparator {
        match &self.source {
            SplitSource::Table(table) => table.row_order(),
            SplitSource::File { order, .. } => *order,
        }
    }
}

/// Opens the HFile at a path, or the HFile of a reference or link.
pub(super) fn open_file(
    tree: &dyn FileTree,
    path: &Path,
    scan: &TableScan,
) -> Result<StoreFileReader> {
    let location = identify(tree, path)?.locate(tree)?;
    let name = FileName::new(path.display().to_string());
    StoreFileReader::open(tree, &location, name, scan.reader_options.clone())
}

impl SplitCells {
    /// Returns a reference to the next cell, or `None` at the end.
    ///
    /// # Errors
    ///
    /// As [`TableCells::next_ref`] and [`StoreFileCells::next_ref`].
    pub fn next_ref(&mut self) -> Result<Option<CellRef<'_>>> {
        match self {
            Self::Table(cells) => cells.next_ref(),
            Self::File(cells) => Ok(cells.next_ref()?),
        }
    }

    /// Returns the counters of the reads so far.
    pub fn trace(&mut self) -> &ReadTrace {
        match self {
            Self::Table(cells) => cells.trace(),
            Self::File(cells) => cells.trace(),
        }
    }
}
