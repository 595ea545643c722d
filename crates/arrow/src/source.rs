//! Where cells come from: one interface for files, stores and tables.

use hbase_files::{MissingCells, SplitCells, StoreFileCells, TableCells, TornLog, Warning};
use sstable::{CellRef, ReadTrace};
use store::MergedScans;

use crate::error::Result;

/// A source of cells in HBase's order.
#[derive(Debug)]
pub(crate) enum Source {
    File(Box<StoreFileCells>),
    Store(MergedScans),
    Table(Box<TableCells>),
    Split(SplitCells),
}

impl Source {
    /// Moves to the next cell and returns it; `None` after the last one.
    pub(crate) fn next_cell(&mut self) -> Result<Option<CellRef<'_>>> {
        Ok(match self {
            Self::File(cells) => cells.next_ref()?,
            Self::Store(cells) => cells.next_ref()?,
            Self::Table(cells) => cells.next_ref()?,
            Self::Split(cells) => cells.next_ref()?,
        })
    }

    /// Returns the counters of the reads so far. A store counts elsewhere.
    pub(crate) fn trace(&mut self) -> ReadTrace {
        match self {
            Self::File(cells) => *cells.trace(),
            Self::Store(_) => ReadTrace::default(),
            Self::Table(cells) => *cells.trace(),
            Self::Split(cells) => *cells.trace(),
        }
    }

    /// Returns the cells of a table, which alone can have damage that was left out, warnings and logs.
    fn table(&self) -> Option<&TableCells> {
        match self {
            Self::Table(cells) | Self::Split(SplitCells::Table(cells)) => Some(cells),
            Self::File(_) | Self::Store(_) | Self::Split(SplitCells::File(_)) => None,
        }
    }

    /// Returns what was left out so far, because it is damaged or missing.
    pub(crate) fn missing(&self) -> Vec<MissingCells> {
        self.table().map(TableCells::missing).unwrap_or_default()
    }

    /// Returns what the source leaves in doubt.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        self.table().map(|cells| cells.warnings().to_vec()).unwrap_or_default()
    }

    /// Returns the torn write-ahead logs.
    pub(crate) fn torn_logs(&self) -> Vec<TornLog> {
        self.table().map(|cells| cells.torn_logs().to_vec()).unwrap_or_default()
    }
}
