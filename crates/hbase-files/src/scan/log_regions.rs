//! The unflushed cells of a region while the logs are read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sstable::{Cell, Comparator, SequenceId};

use super::log_cells::sorted;
use super::log_runs::{Run, RunFile, StoreLogCells};
use super::logs::OldLogCells;
use super::open::open_files;
use super::plan::ScanPlan;
use crate::error::Result;
use crate::table::Region;
use crate::wal::region_events::{RegionEvents, WrittenBy};
use crate::wal::region_log::RegionLog;

/// Collects the unflushed cells of a region while the logs are read.
pub(super) struct RegionCellsBuilder {
    last_opened: Option<SequenceId>,
    /// The openings, closings and compactions of the region that the logs record.
    pub(super) log: RegionLog,
    stores: HashMap<Vec<u8>, StoreLogCellsBuilder>,
    /// The bytes of the cells in memory.
    pub(super) bytes: usize,
    old: OldLogCells,
}

/// Collects the unflushed cells of a store while the logs are read.
struct StoreLogCellsBuilder {
    /// The sequence id up to which all cells are in files.
    flushed: Option<SequenceId>,
    /// In the order of the reads.
    cells: Vec<(WrittenBy, Cell)>,
    /// Older than the cells; the oldest first.
    runs: Vec<Run>,
}

/// The unflushed cells of a region, in order.
#[derive(Debug)]
pub(super) struct RegionCells {
    /// By family; without stores that have none.
    pub(super) stores: HashMap<Vec<u8>, StoreLogCells>,
    /// The files that compactions replaced, by family.
    pub(super) replaced: HashMap<Vec<u8>, HashSet<String>>,
    /// The cells that were left out.
    pub(super) old: OldLogCells,
}

impl RegionCellsBuilder {
    /// Opens the files of a region, which say what was flushed.
    pub(super) fn new(region: &Region, plan: &ScanPlan, events: RegionEvents) -> Result<Self> {
        let mut stores = HashMap::new();
        for wanted in &plan.families {
            let family = region.family(&wanted.name);
            // Without recovered HFiles: they can be newer than cells of logs that are not split yet.
            let files = family
                .map(|family| open_files(plan, region, &family.name, family.files.iter()))
                .transpose()?;
            let newest = files.iter().flatten().filter_map(|file| file.sequence.newest);
            let flushed = newest.max();
            let store = StoreLogCellsBuilder { flushed, cells: Vec::new(), runs: Vec::new() };
            stores.insert(wanted.name.clone(), store);
        }
        let old = OldLogCells {
            region: region.info.encoded_name.to_string(),
            cells: 0,
            oldest: SequenceId::MAX,
            newest: SequenceId::new(0),
        };
        let log = RegionLog::with_events(events);
        Ok(Self { last_opened: region.last_opened, log, stores, bytes: 0, old })
    }

    /// Adds a cell, unless a file has it or it is older than the region's last opening or closing.
    /// Returns the bytes that it takes.
    pub(super) fn add(&mut self, cell: &Cell, written: WrittenBy) -> usize {
        let Some(store) = self.stores.get_mut(cell.family()) else { return 0 };
        let sequence = cell.sequence_id();
        if store.flushed.is_some_and(|flushed| sequence <= flushed) {
            return 0;
        }
        let is_old = self.last_opened.is_some_and(|opened| sequence <= opened);
        if is_old || self.log.events.has_event_after(written) {
            self.old.add(cell);
            return 0;
        }
        store.cells.push((written, cell.clone()));
        let bytes = bytes(cell);
        self.bytes = self.bytes.saturating_add(bytes);
        bytes
    }

    /// Drops the cells in memory that were written before the region was opened or closed.
    pub(super) fn drop_old(&mut self) {
        let Self { log, stores, bytes: all, old, .. } = self;
        for store in stores.values_mut() {
            store.cells.retain(|(written, cell)| {
                let is_old = log.events.has_event_after(*written);
                if is_old {
                    old.add(cell);
                    *all = all.saturating_sub(bytes(cell));
                }
                !is_old
            });
        }
    }

    /// Writes the cells in memory to runs, one for each store.
    pub(super) fn write_runs(&mut self, file: &mut RunFile, order: Comparator) -> Result<()> {
        for store in self.stores.values_mut().filter(|store| !store.cells.is_empty()) {
            let unsorted = std::mem::take(&mut store.cells);
            let cells = sorted(unsorted, order);
            file.add(&mut store.runs, &cells)?;
        }
        self.bytes = 0;
        Ok(())
    }

    /// Returns whether cells of the region are on disk.
    pub(super) fn has_runs(&self) -> bool {
        self.stores.values().any(|store| !store.runs.is_empty())
    }

    /// Sorts the cells.
    pub(super) fn finish(mut self, order: Comparator) -> RegionCells {
        self.drop_old();
        let (mut stores, mut replaced) = (HashMap::new(), HashMap::new());
        for (family, store) in self.stores {
            let files = RegionLog::replaced_files(&[&self.log], &family, self.last_opened);
            replaced.insert(family.clone(), files);
            let cells = sorted(store.cells, order);
            if !cells.is_empty() || !store.runs.is_empty() {
                let cells_of_store = StoreLogCells { cells: Arc::new(cells), runs: store.runs };
                stores.insert(family, cells_of_store);
            }
        }
        RegionCells { stores, replaced, old: self.old }
    }
}

/// Returns the bytes that a cell takes in memory.
fn bytes(cell: &Cell) -> usize {
    let view = cell.as_ref();
    let parts = [view.row, view.family, view.qualifier, view.value, view.tags];
    let len: usize = parts.iter().map(|part| part.len()).sum();
    len.saturating_add(size_of::<(WrittenBy, Cell)>())
}

#[cfg(test)]
mod tests {
    use sstable::{CellRef, CellType, Timestamp};

    use super::*;

    #[test]
    fn a_cell_takes_the_bytes_of_all_its_parts_and_of_its_entry() {
        let cell = |value: &[u8], tags: &[u8]| {
            let (row, family, qualifier) = (&b"row"[..], &b"f"[..], &b"q"[..]);
            let (timestamp, cell_type) = (Timestamp::new(1), CellType::Put);
            let sequence_id = SequenceId::new(1);
            CellRef { row, family, qualifier, timestamp, cell_type, value, tags, sequence_id }
                .to_cell()
        };
        let empty = bytes(&cell(b"", b""));
        assert!(empty >= 5 + size_of::<Cell>(), "{empty}");
        assert_eq!(bytes(&cell(&[7; 1000], &[0, 1, 1])), empty + 1003);
    }
}
