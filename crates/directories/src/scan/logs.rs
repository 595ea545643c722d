//! The cells of a table that are only in write-ahead logs, because they were not flushed.
//!
//! HBase replays the logs of a server that did not stop cleanly: of each store, it takes the cells
//! whose sequence id is greater than that of all the store's files. Older cells are in the files,
//! or a compaction has dropped them. HBase: `HRegion.replayRecoveredEditsIfAny`.
//!
//! After `restore_snapshot`, a region has its old files again, and HBase replays the writes that the
//! restore took back. This scan leaves them out. All writes are in store files when HBase opens or
//! closes a region, so the scan leaves out a write if
//!
//! * its sequence id is at most `N` of `recovered.edits/N.seqid`, which HBase writes when it opens the
//!   region, and deletes with the region's directory, for example after a split; or
//! * a log says that the region was opened or closed after the write.
//!
//! A torn log is read up to its unfinished part, as HBase does, and named in the result.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{Cell, FileName, RowsBetween, SequenceId, error_line};

use super::damage::MissingCells;
use super::open::open_files;
use super::plan::Plan;
use crate::{Error, Region, Result, Table, Warning, wal};

/// The unflushed cells of a table, by region and family, in order.
#[derive(Debug, Default)]
pub(super) struct LogCells {
    stores: HashMap<String, HashMap<Vec<u8>, Arc<Vec<Cell>>>>,
    old: Vec<OldLogCells>,
    torn: Vec<TornLog>,
    missing: Vec<MissingCells>,
    warnings: Vec<Warning>,
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
    /// The unfinished part, such as "an entry".
    pub part: &'static str,
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

/// The regions of a scan while the logs are read, and the bytes of their cells.
#[derive(Default)]
struct Unflushed {
    regions: HashMap<String, UnflushedRegion>,
    bytes: usize,
    torn: Vec<TornLog>,
    missing: Vec<MissingCells>,
    warnings: Vec<Warning>,
}

/// A region of the scan while the logs are read.
struct UnflushedRegion {
    last_opened: Option<SequenceId>,
    /// The last opening or closing of the region that the logs record.
    event: Option<WrittenBy>,
    stores: HashMap<Vec<u8>, UnflushedStore>,
    old: OldLogCells,
}

/// A store of the scan while the logs are read.
struct UnflushedStore {
    /// The sequence id up to which all cells are in files.
    flushed: Option<SequenceId>,
    cells: Vec<(WrittenBy, Cell)>,
}

/// The server that wrote an entry, when, and with which sequence id.
#[derive(Clone, Copy)]
struct WrittenBy {
    /// The number of the server's directory; `None` if it is not known.
    server: Option<usize>,
    time: u64,
    sequence: u64,
}

/// The milliseconds by which the clocks of two servers may differ. HBase: `hbase.master.maxclockskew`.
const CLOCK_SKEW_MAX: u64 = 30_000;

impl LogCells {
    /// Reads the logs of a table for a scan of regions.
    pub(super) fn read(table: &Table, regions: &[Region], plan: &Plan) -> Result<Self> {
        let regions = || regions.iter().filter(|region| plan.includes_region(region));
        let warnings = table.log_warnings.clone();
        let mut unflushed = Unflushed { warnings, ..Unflushed::default() };
        for region in regions() {
            let name = region.info.encoded_name.to_string();
            unflushed.regions.insert(name, UnflushedRegion::new(region, plan)?);
        }
        // The logs of a server follow each other in the order in which it wrote them.
        let (mut servers, mut directory) = (0_usize, None);
        let of_servers = table.logs.iter().map(|path| {
            if directory != Some(path.parent()) {
                directory = Some(path.parent());
                servers = servers.saturating_add(1);
            }
            (Some(servers), path)
        });
        let recovered = regions().flat_map(|region| &region.recovered_edits);
        for (server, path) in of_servers.chain(recovered.map(|path| (None, path))) {
            let read = unflushed.add_log(table, plan, path, server);
            read.or_else(|error| {
                let missing = MissingCells {
                    region: String::new(),
                    family: Vec::new(),
                    file: path.display().to_string(),
                    what: error_line(&error),
                    rows: RowsBetween::default(),
                };
                plan.losses.add_or_fail(error, |_| missing.clone())?;
                unflushed.missing.push(missing);
                Ok::<_, Error>(())
            })?;
        }
        Ok(unflushed.in_order(plan))
    }

    /// Returns the unflushed cells of a store.
    pub(super) fn of_store(&self, region: &str, family: &[u8]) -> Option<Arc<Vec<Cell>>> {
        self.stores.get(region)?.get(family).cloned()
    }

    /// Returns what was left out, by ascending region.
    pub(super) fn old(&self) -> &[OldLogCells] {
        &self.old
    }

    /// Returns the logs that were left out, because they are damaged or missing.
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

impl Unflushed {
    fn add_log(
        &mut self,
        table: &Table,
        plan: &Plan,
        path: &Path,
        server: Option<usize>,
    ) -> Result<()> {
        let source = plan.tree.open(path).map_err(Error::io(path, "open it"))?;
        let mut reader = wal::Reader::open(source, FileName::new(path.display().to_string()))?;
        let name = table.name.to_string();
        for entry in &mut reader {
            let entry = entry?;
            let region = self.regions.get_mut(&entry.region).filter(|_| entry.table == name);
            let Some(region) = region else { continue };
            let written = WrittenBy { server, time: entry.write_time, sequence: entry.sequence };
            if entry.is_region_event() {
                self.bytes = self.bytes.saturating_sub(region.drop_before(written));
                continue;
            }
            for cell in entry.data_cells().filter(|cell| plan.can_return(cell.row())) {
                self.bytes = self.bytes.saturating_add(region.add(cell, written));
                if self.bytes > plan.scan.log_bytes_max {
                    let (path, bytes_max) = (path.to_owned(), plan.scan.log_bytes_max);
                    return Err(Error::TooManyLogCells { path, bytes_max });
                }
            }
        }
        if let Some(wal::End::Torn { offset, bytes, part }) = reader.end() {
            let (offset, bytes, part) = (*offset, *bytes, *part);
            self.torn.push(TornLog { path: path.to_owned(), offset, bytes, part });
        }
        Ok(())
    }

    fn in_order(self, plan: &Plan) -> LogCells {
        let order = plan.order;
        let in_order = |(family, store): (Vec<u8>, UnflushedStore)| {
            let mut cells: Vec<Cell> = store.cells.into_iter().map(|(_, cell)| cell).collect();
            cells.sort_by(|one, other| {
                let (one, other) = (one.as_ref(), other.as_ref());
                let by_key = order.compare(&one.key(), &other.key());
                by_key.then(other.sequence_id.cmp(&one.sequence_id))
            });
            (family, Arc::new(cells))
        };
        let (mut stores, mut old) = (HashMap::new(), Vec::new());
        for (name, region) in self.regions {
            old.extend(Some(region.old).filter(|old| old.cells > 0));
            let families = region.stores.into_iter().filter(|(_, store)| !store.cells.is_empty());
            stores.insert(name, families.map(in_order).collect());
        }
        old.sort_by(|one, other| one.region.cmp(&other.region));
        let Self { torn, missing, warnings, .. } = self;
        LogCells { stores, old, torn, missing, warnings }
    }
}

impl UnflushedRegion {
    fn new(region: &Region, plan: &Plan) -> Result<Self> {
        let mut stores = HashMap::new();
        for wanted in &plan.families {
            let files = region.family(&wanted.name);
            // Without recovered HFiles: they can be newer than cells of logs that are not split yet.
            let files = files
                .map(|family| open_files(plan, region, &family.name, family.files.iter()))
                .transpose()?;
            let newest = files.iter().flatten().map(|file| file.sequence.newest);
            let store = UnflushedStore { flushed: newest.max().flatten(), cells: Vec::new() };
            stores.insert(wanted.name.clone(), store);
        }
        let old = OldLogCells {
            region: region.info.encoded_name.to_string(),
            cells: 0,
            oldest: SequenceId::MAX,
            newest: SequenceId::new(0),
        };
        Ok(Self { last_opened: region.last_opened, event: None, stores, old })
    }

    /// Adds a cell, unless a file has it or it is older than the region's last opening or closing.
    /// Returns the bytes that it takes.
    ///
    /// With [`drop_before`](Self::drop_before), the one rule for both orders in which a cell and an
    /// event can be read.
    fn add(&mut self, cell: &Cell, written: WrittenBy) -> usize {
        let Some(store) = self.stores.get_mut(cell.family()) else { return 0 };
        let sequence = cell.sequence_id();
        if store.flushed.is_some_and(|flushed| sequence <= flushed) {
            return 0;
        }
        let is_old = self.last_opened.is_some_and(|opened| sequence <= opened)
            || self.event.is_some_and(|event| event.is_after_on_another_server(written));
        if is_old {
            self.old.add(cell);
            return 0;
        }
        store.cells.push((written, cell.clone()));
        bytes(cell)
    }

    /// Drops the cells that were written before the region was opened or closed; returns their bytes.
    fn drop_before(&mut self, event: WrittenBy) -> usize {
        let mut dropped = 0_usize;
        for store in self.stores.values_mut() {
            store.cells.retain(|(written, cell)| {
                // The entries of a server come in the order in which it wrote them.
                let is_of_server = event.server.is_some() && event.server == written.server;
                let is_old = is_of_server || event.is_after_on_another_server(*written);
                if is_old {
                    self.old.add(cell);
                    dropped = dropped.saturating_add(bytes(cell));
                }
                !is_old
            });
        }
        if self.event.is_none_or(|known| known.time <= event.time) {
            self.event = Some(event);
        }
        dropped
    }
}

impl WrittenBy {
    /// Returns whether this event came after an entry that another server wrote.
    ///
    /// The sequence ids of a region go back only in `restore_snapshot`. So an entry with a greater
    /// sequence id than the event is older only if the clocks of the two servers leave no doubt.
    fn is_after_on_another_server(self, entry: Self) -> bool {
        let is_other = self.server.is_none() || self.server != entry.server;
        let skew = if entry.sequence > self.sequence { CLOCK_SKEW_MAX } else { 0 };
        is_other && entry.time.saturating_add(skew) < self.time
    }
}

impl OldLogCells {
    fn add(&mut self, cell: &Cell) {
        self.cells = self.cells.saturating_add(1);
        self.oldest = self.oldest.min(cell.sequence_id());
        self.newest = self.newest.max(cell.sequence_id());
    }
}

/// Returns the bytes that a cell takes in memory.
fn bytes(cell: &Cell) -> usize {
    let view = cell.as_ref();
    let parts = [view.row, view.family, view.qualifier, view.value, view.tags];
    let len: usize = parts.iter().map(|part| part.len()).sum();
    len.saturating_add(size_of::<(WrittenBy, Cell)>())
}
