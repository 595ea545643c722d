//! The cells of a table that are only in write-ahead logs, because they were not flushed.
//!
//! HBase replays the logs of a server that did not stop cleanly: of each store, it takes the cells
//! whose sequence id is greater than that of all the store's files. Older cells are in the files,
//! or a compaction has dropped them. HBase: `HRegion.replayRecoveredEditsIfAny`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use sstable::{Cell, FileName, RowsBetween, SequenceId};

use super::damage::{MissingCells, one_line};
use super::open::open_family;
use super::plan::Plan;
use crate::{Error, Result, Table, wal};

/// The unflushed cells of a table, by region and family, in order.
#[derive(Debug, Default)]
pub(super) struct LogCells(HashMap<String, HashMap<Vec<u8>, Arc<Vec<Cell>>>>);

/// A store of the scan while the logs are read.
#[derive(Debug, Default)]
struct UnflushedStore {
    /// The sequence id up to which all cells are in files.
    flushed: Option<SequenceId>,
    cells: Vec<Cell>,
}

/// The stores of the scan, by region and family, and the bytes of their cells.
struct Unflushed {
    stores: HashMap<String, HashMap<Vec<u8>, UnflushedStore>>,
    bytes: usize,
}

impl LogCells {
    /// Reads the logs of a table for a scan.
    pub(super) fn read(table: &Table, plan: &Plan) -> Result<Self> {
        let mut unflushed = Unflushed { stores: HashMap::new(), bytes: 0 };
        let regions = || table.regions.iter().filter(|region| plan.includes_region(region));
        for region in regions() {
            let mut families = HashMap::new();
            for wanted in &plan.families {
                let files = region.family(&wanted.name);
                let files = files.map(|family| open_family(plan, region, family)).transpose()?;
                let newest = files.iter().flatten().map(|file| file.sequence.newest);
                let store = UnflushedStore { flushed: newest.max().flatten(), cells: Vec::new() };
                families.insert(wanted.name.clone(), store);
            }
            unflushed.stores.insert(region.info.encoded_name.to_string(), families);
        }
        let of_regions = regions().flat_map(|region| &region.recovered_edits);
        for path in table.logs.iter().chain(of_regions) {
            let read = unflushed.add_log(table, plan, path);
            read.or_else(|error| {
                plan.losses.add_or_fail(error, |error| MissingCells {
                    region: String::new(),
                    family: Vec::new(),
                    file: path.display().to_string(),
                    what: one_line(error),
                    rows: RowsBetween::default(),
                })
            })?;
        }
        Ok(unflushed.in_order(plan))
    }

    /// Returns the unflushed cells of a store.
    pub(super) fn of_store(&self, region: &str, family: &[u8]) -> Option<Arc<Vec<Cell>>> {
        self.0.get(region)?.get(family).cloned()
    }
}

impl Unflushed {
    fn add_log(&mut self, table: &Table, plan: &Plan, path: &Path) -> Result<()> {
        let source = plan.tree.open(path).map_err(Error::io(path, "open it"))?;
        let reader = wal::Reader::open(source, FileName::new(path.display().to_string()))?;
        let name = table.name.to_string();
        for entry in reader {
            let entry = entry?;
            let families = self.stores.get_mut(&entry.region).filter(|_| entry.table == name);
            let Some(families) = families else { continue };
            for cell in entry.data_cells() {
                let Some(store) = families.get_mut(cell.family()) else { continue };
                let is_flushed = store.flushed.is_some_and(|flushed| cell.sequence_id() <= flushed);
                if is_flushed || !plan.can_return(cell.row()) {
                    continue;
                }
                let view = cell.as_ref();
                let parts = [view.row, view.family, view.qualifier, view.value, view.tags];
                let len: usize = parts.iter().map(|part| part.len()).sum();
                self.bytes = self.bytes.saturating_add(len).saturating_add(size_of::<Cell>());
                if self.bytes > plan.scan.log_bytes_max {
                    return Err(too_many(path, plan.scan.log_bytes_max));
                }
                store.cells.push(cell.clone());
            }
        }
        Ok(())
    }

    fn in_order(self, plan: &Plan) -> LogCells {
        let order = plan.order;
        let in_order = |(family, mut store): (Vec<u8>, UnflushedStore)| {
            store.cells.sort_by(|one, other| {
                let (one, other) = (one.as_ref(), other.as_ref());
                let by_key = order.compare(&one.key(), &other.key());
                by_key.then(other.sequence_id.cmp(&one.sequence_id))
            });
            (family, Arc::new(store.cells))
        };
        let stores = self.stores.into_iter().map(|(region, families)| {
            let families = families.into_iter().filter(|(_, store)| !store.cells.is_empty());
            (region, families.map(in_order).collect())
        });
        LogCells(stores.collect())
    }
}

fn too_many(path: &Path, bytes_max: usize) -> Error {
    Error::TooMany {
        path: path.to_owned(),
        what: format!(
            "the logs have more than {} MiB of cells that are in no store file; scan fewer rows or \
             families at a time, or raise the limit",
            bytes_max >> 20
        ),
    }
}
