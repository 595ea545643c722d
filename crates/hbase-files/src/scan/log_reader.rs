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
//! * a log says that the region was opened or closed after the write: see `log_events.rs`.
//!
//! Of cells with equal keys and sequence ids, the one written last counts, as in HBase's memstore: the
//! last of an entry, and the last of the entries in the order in which they are read. That is first the
//! recovered edits of the region, which HBase has split from older logs, then the logs of each server by
//! ascending path, which has the time of the log.
//!
//! Cells are collected by table, region and store (`LogCellsBuilder`, `RegionCellsBuilder`,
//! `StoreLogCellsBuilder`), and sorted at the end (`LogCells`, `RegionCells`, `StoreLogCells`). A scan opens the
//! runs of the store that it reads (`OpenStoreLogCells`).
//!
//! The logs are read once for all regions. If the cells in memory exceed `log_bytes_max`, those of the
//! region with the most bytes go to sorted runs on disk: see `log_runs.rs`. An event that is read later can
//! concern cells of a run, which do not say who wrote them. Then the logs are read once more, with the
//! events of the first time: HBase flushes a region before it closes it, so this is rare.
//!
//! A torn log is read up to its unfinished part, as HBase does, and named in the result.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{FileName, RowsBetween, error_line};

use super::damage::MissingCells;
use super::log_events::{OldLogCells, Position, RegionEvents, WrittenBy};
use super::log_regions::RegionCellsBuilder;
use super::log_runs::RunFile;
use super::logs::{LogCells, TornLog};
use super::plan::ScanPlan;
use crate::{Error, Region, Result, Table, TableScan, Warning, wal};

/// Collects the unflushed cells of a table while the logs are read.
#[derive(Default)]
struct LogCellsBuilder {
    regions: HashMap<String, RegionCellsBuilder>,
    /// The bytes of the cells in memory.
    bytes: usize,
    run_file: Option<RunFile>,
    /// Whether an event came after cells that are on disk.
    has_late_event: bool,
    torn: Vec<TornLog>,
    missing: Vec<MissingCells>,
    warnings: Vec<Warning>,
}

/// Checks the parameters of a scan of regions, and reads the logs if the scan needs them.
pub(super) fn plan_with_logs(
    table: &Table,
    regions: &[Region],
    scan: &TableScan,
) -> Result<ScanPlan> {
    let mut plan = ScanPlan::new(table, scan)?;
    if scan.with_logs {
        add_logs(&mut plan, table, regions)?;
    }
    Ok(plan)
}

/// Reads the logs into a plan, or takes over what was read before.
fn add_logs(plan: &mut ScanPlan, table: &Table, regions: &[Region]) -> Result<()> {
    if let Some(searched) = &table.logs_missing {
        return Err(Error::logs_missing(table.root(), searched));
    }
    let known = plan.scan.unflushed.take();
    plan.logs = match known.and_then(|known| known.of(&plan.log_selection())) {
        Some(logs) => {
            logs.missing().iter().for_each(|missing| plan.losses.add(missing.clone()));
            logs
        }
        None => Arc::new(read(table, regions, plan)?),
    };
    plan.warnings.extend_from_slice(plan.logs.warnings());
    let has = |old: &&OldLogCells| {
        let mut regions = regions.iter().filter(|region| plan.includes_region(region));
        regions.any(|region| region.name().as_str() == old.region)
    };
    plan.old = plan.logs.old().iter().filter(has).cloned().collect();
    Ok(())
}

/// Reads the logs of a table for a scan of regions.
fn read(table: &Table, regions: &[Region], plan: &ScanPlan) -> Result<LogCells> {
    let mut builder = LogCellsBuilder::read(table, regions, plan, HashMap::new())?;
    if builder.has_late_event {
        let events = builder.regions.into_iter();
        let events = events.map(|(name, region)| (name, region.events)).collect();
        builder = LogCellsBuilder::read(table, regions, plan, events)?;
    }
    Ok(builder.finish(plan))
}

impl LogCellsBuilder {
    /// Reads the logs. `events` are those of each region, if the logs were read before.
    fn read(
        table: &Table,
        regions: &[Region],
        plan: &ScanPlan,
        mut events: HashMap<String, RegionEvents>,
    ) -> Result<Self> {
        let regions = || regions.iter().filter(|region| plan.includes_region(region));
        let mut builder = Self { warnings: table.log_warnings.clone(), ..Self::default() };
        let is_first = events.is_empty();
        for region in regions() {
            let name = region.info.encoded_name.to_string();
            let events = events.remove(&name).unwrap_or_default();
            builder.regions.insert(name, RegionCellsBuilder::new(region, plan, events)?);
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
        let logs = recovered.map(|path| (None, path)).chain(of_servers);
        for (number, (server, path)) in logs.enumerate() {
            let log = Log { path, server, number };
            let mut reader = match log.open(table, plan) {
                Ok(reader) => reader,
                Err(error) => {
                    builder.leave_out(plan, &log, error, None)?;
                    continue;
                }
            };
            builder.add_log(table, plan, &log, &mut reader)?;
            if let Some(wal::End::Torn { offset, bytes, part }) = reader.end() {
                let (offset, bytes, part) = (*offset, *bytes, *part);
                builder.torn.push(TornLog { path: path.clone(), offset, bytes, part });
            }
            builder.warnings.extend(table.warning_of_continuation(path, reader.end())?);
        }
        builder.has_late_event &= is_first;
        Ok(builder)
    }

    /// Adds the entries of a log. Goes on after damage, if the scan does.
    fn add_log(
        &mut self,
        table: &Table,
        plan: &ScanPlan,
        log: &Log<'_>,
        reader: &mut wal::Reader,
    ) -> Result<()> {
        let name = table.name.to_string();
        while let Some(entry) = reader.next() {
            match entry {
                Ok(entry) if entry.table == name => self.add_entry(plan, log, &entry)?,
                Ok(_) => {}
                Err(error) => {
                    let skips = plan.losses.skips_damaged();
                    let skipped = if skips { reader.skip_damage()? } else { None };
                    self.leave_out(plan, log, error.into(), skipped)?;
                }
            }
        }
        Ok(())
    }

    fn add_entry(&mut self, plan: &ScanPlan, log: &Log<'_>, entry: &wal::LogEntry) -> Result<()> {
        let Some(region) = self.regions.get_mut(&entry.region) else { return Ok(()) };
        let position = Position { log: log.number, offset: entry.offset };
        let (server, time, sequence) = (log.server, entry.write_time, entry.sequence);
        let written = WrittenBy { server, position, time, sequence };
        if entry.is_region_event() {
            self.has_late_event |= region.has_runs();
            region.events.add(written);
            return Ok(());
        }
        for cell in entry.data_cells().filter(|cell| plan.can_return(cell.row())) {
            self.bytes = self.bytes.saturating_add(region.add(cell, written));
        }
        while self.bytes > plan.scan.log_bytes_max {
            self.free_memory(plan)?;
        }
        Ok(())
    }

    /// Frees the memory of the region with the most bytes: drops its old cells, or writes a run.
    fn free_memory(&mut self, plan: &ScanPlan) -> Result<()> {
        let largest = self.regions.values_mut().max_by_key(|region| region.bytes);
        let region = largest.expect("there are cells in memory");
        let bytes = region.bytes;
        region.drop_old();
        if region.bytes > bytes / 2 {
            let file = if let Some(file) = &mut self.run_file {
                file
            } else {
                let directory = plan.scan.log_directory.as_deref();
                self.run_file.insert(RunFile::create(directory, plan.order)?)
            };
            region.write_runs(file, plan.order)?;
        }
        self.bytes = self.bytes.saturating_sub(bytes).saturating_add(region.bytes);
        Ok(())
    }

    /// Notes that a log, or a part of it, is missing; returns the error if the scan ends at damage.
    fn leave_out(
        &mut self,
        plan: &ScanPlan,
        log: &Log<'_>,
        error: Error,
        skipped: Option<wal::SkippedBytes>,
    ) -> Result<()> {
        let skipped = skipped.map(|skipped| format!("; {skipped}")).unwrap_or_default();
        let missing = MissingCells {
            region: String::new(),
            family: Vec::new(),
            file: log.path.display().to_string(),
            what: format!("{}{skipped}", error_line(&error)),
            rows: RowsBetween::default(),
        };
        plan.losses.add_or_fail(error, |_| missing.clone())?;
        self.missing.push(missing);
        Ok(())
    }

    /// Sorts the cells.
    fn finish(self, plan: &ScanPlan) -> LogCells {
        let (mut stores, mut old) = (HashMap::new(), Vec::new());
        for (name, region) in self.regions {
            let cells = region.finish(plan.order);
            old.extend(Some(cells.old).filter(|old| old.cells > 0));
            stores.insert(name, cells.stores);
        }
        old.sort_by(|one, other| one.region.cmp(&other.region));
        let Self { run_file, torn, missing, warnings, .. } = self;
        LogCells { stores, run_file, old, torn, missing, warnings }
    }
}

/// A log of the scan.
struct Log<'p> {
    path: &'p Path,
    /// The number of the server's directory; `None` for recovered edits.
    server: Option<usize>,
    /// The number in the order in which the logs are read.
    number: usize,
}

impl Log<'_> {
    /// Opens the log where it was, or where HBase has moved it since.
    fn open(&self, table: &Table, plan: &ScanPlan) -> Result<wal::Reader> {
        let open = |path: &Path| {
            let source = plan.tree.open(path)?;
            Ok((source, FileName::new(path.display().to_string())))
        };
        let opened = open(self.path).or_else(|error: io::Error| {
            let is_gone = error.kind() == io::ErrorKind::NotFound;
            let moved = self.moved(table).into_iter().filter(|_| is_gone);
            moved.map(|path| open(&path)).find_map(io::Result::ok).ok_or(error)
        });
        let (source, name) = opened.map_err(Error::io(self.path, "open it"))?;
        Ok(wal::Reader::open(source, name)?)
    }

    /// Returns the places to which HBase moves the log of a server: when the server has died, and when all cells
    /// of the log are flushed or split.
    fn moved(&self, table: &Table) -> Vec<PathBuf> {
        let parts = (self.server, &table.old_logs, self.path.file_name(), self.path.parent());
        let (Some(_), Some(old), Some(name), Some(server)) = parts else { return Vec::new() };
        let mut splitting = server.as_os_str().to_owned();
        splitting.push("-splitting");
        let separate = server.file_name().map(|server| old.join(server).join(name));
        [Some(PathBuf::from(splitting).join(name)), Some(old.join(name)), separate]
            .into_iter()
            .flatten()
            .collect()
    }
}
