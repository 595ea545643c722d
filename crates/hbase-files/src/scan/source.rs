//! A source of the cells of a family: a store file, or the cells of logs.

use cells::merge::CellCursor;
use sstable::{Cell, CellRef, KeyRef};

use super::file_cells::FileCells;
use super::log_cells::{LogMerge, MemoryCursor};
use crate::error::{Error, Result};

/// A source of the cells of a family.
#[derive(Debug)]
pub(super) enum Source {
    /// A store file.
    File(Box<FileCells>),
    /// The cells that are only in logs, in memory.
    Log(MemoryCursor),
    /// The cells that are only in logs, with those in sorted runs on disk.
    LogRuns(Box<LogMerge>),
}

impl CellCursor for Source {
    type Error = Error;

    #[expect(
        clippy::inline_always,
        reason = "avoids a call and copies of the cell for each cell of a scan"
    )]
    #[inline(always)]
    fn cell(&self) -> Option<CellRef<'_>> {
        match self {
            Self::File(file) => file.cell(),
            Self::Log(log) => log.cell().map(Cell::as_ref),
            Self::LogRuns(log) => log.cell(),
        }
    }

    fn row(&self) -> Option<&[u8]> {
        match self {
            Self::File(file) => file.row(),
            Self::Log(log) => log.cell().map(Cell::row),
            Self::LogRuns(log) => log.row(),
        }
    }

    fn may_delete_families(&self) -> bool {
        match self {
            Self::File(file) => file.may_delete_families(),
            Self::Log(_) | Self::LogRuns(_) => true,
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Self::File(file) => file.advance(),
            Self::Log(log) => {
                log.advance();
                Ok(())
            }
            Self::LogRuns(log) => Ok(log.advance()?),
        }
    }

    fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        match self {
            Self::File(file) => file.seek(key),
            Self::Log(log) => {
                log.seek(key);
                Ok(())
            }
            Self::LogRuns(log) => Ok(log.seek(key)?),
        }
    }
}
