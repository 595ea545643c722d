//! The unflushed cells of a table, and the logs that end within an entry.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use sstable::{Cell, SequenceId};

use super::damage::MissingCells;
use super::log_cells::OpenStoreLogCells;
use super::log_runs::{RunFile, StoreLogCells};
use crate::error::Result;
use crate::wal;
use crate::warning::Warning;

/// The unflushed cells of a table, in order.
#[derive(Debug, Default)]
pub(super) struct LogCells {
    /// By region and family.
    pub(super) stores: HashMap<String, HashMap<Vec<u8>, StoreLogCells>>,
    pub(super) run_file: Option<RunFile>,
    /// The files that compactions replaced, by region and family.
    pub(super) replaced: HashMap<String, HashMap<Vec<u8>, HashSet<String>>>,
    pub(super) old: Vec<OldLogCells>,
    pub(super) torn: Vec<TornLog>,
    pub(super) missing: Vec<MissingCells>,
    pub(super) warnings: Vec<Warning>,
}

/// A torn write-ahead log: it ends within an entry, or within its header or trailer.
///
/// Its server died or still writes it, or a copy of it was cut off. HBase ignores the unfinished part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TornLog {
    /// The log.
    pub path: PathBuf,
    /// The offset of the unfinished part in the file.
    pub offset: u64,
    /// The bytes from there to the end of the file, which were not read.
    pub bytes: u64,
    /// The unfinished part.
    pub part: wal::LogPart,
}

/// Cells of logs that a scan left out: they were written before HBase last opened the region, and
/// no store file has them.
///
/// After `restore_snapshot`, these are cells that the restore took back. Otherwise a flush has
/// dropped them, as expired cells, or store files were lost. HBase itself replays them when it
/// starts after a crash.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OldLogCells {
    /// The encoded name of the region.
    pub region: String,
    /// How many.
    pub cells: u64,
    /// The least of their sequence ids.
    pub oldest: SequenceId,
    /// The greatest of their sequence ids.
    pub newest: SequenceId,
}

impl LogCells {
    /// Opens the unflushed cells of a store; `None` if there are none.
    pub(super) fn open_store(
        &self,
        region: &str,
        family: &[u8],
    ) -> Result<Option<OpenStoreLogCells>> {
        let Some(store) = self.stores.get(region).and_then(|stores| stores.get(family)) else {
            return Ok(None);
        };
        let runs = self.run_file.as_ref().map(|file| file.open(&store.runs)).transpose()?;
        Ok(Some(OpenStoreLogCells {
            cells: Arc::clone(&store.cells),
            runs: runs.unwrap_or_default(),
        }))
    }

    /// Returns the names of the files of a family that compactions replaced.
    pub(super) fn replaced_files(
        &self,
        region: &str,
        family: &[u8],
    ) -> impl Iterator<Item = &String> {
        let of_region = self.replaced.get(region);
        of_region.and_then(|families| families.get(family)).into_iter().flatten()
    }

    /// Returns the number of cells.
    pub(super) fn cell_count(&self) -> Result<u64> {
        let mut count = 0_u64;
        for store in self.stores.values().flat_map(HashMap::values) {
            let in_memory = u64::try_from(store.cells.len()).unwrap_or(u64::MAX);
            count = count.saturating_add(in_memory);
            let runs = self.run_file.as_ref().map(|file| file.open(&store.runs)).transpose()?;
            for run in runs.iter().flatten() {
                count = count.saturating_add(run.trailer().entry_count);
            }
        }
        Ok(count)
    }

    /// Returns what was left out, by ascending region.
    pub(super) fn old(&self) -> &[OldLogCells] {
        &self.old
    }

    /// Returns the logs that were left out, because they are damaged, and the store files and logs that are gone.
    pub(super) fn missing(&self) -> &[MissingCells] {
        &self.missing
    }

    /// Returns what the logs leave in doubt.
    pub(super) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the logs that end within an entry.
    pub(super) fn torn(&self) -> &[TornLog] {
        &self.torn
    }
}

impl OldLogCells {
    /// Counts a cell.
    pub(super) fn add(&mut self, cell: &Cell) {
        self.cells = self.cells.saturating_add(1);
        self.oldest = self.oldest.min(cell.sequence_id());
        self.newest = self.newest.max(cell.sequence_id());
    }
}
