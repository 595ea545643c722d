//! The cells of a table that are only in write-ahead logs, because they were not flushed.
//!
//! HBase replays the logs of a server that did not stop cleanly: of each store, it takes the cells
//! whose sequence id is greater than the sequence ids of all the store's files. Older cells are in the files,
//! or a compaction has dropped them. HBase: `HRegion.replayRecoveredEditsIfAny`.
//!
//! After `restore_snapshot`, a region has its old files again, and HBase replays the writes that the
//! restore took back. This scan leaves them out. All writes are in store files when HBase opens or
//! closes a region, so the scan leaves out a write if
//!
//! * its sequence id is at most `N` of `recovered.edits/N.seqid`, which HBase writes when it opens the
//!   region, and deletes with the region's directory, for example after a split; or
//! * a log says that the region was opened or closed after the write: see `wal/region_events.rs`.
//!
//! Of cells with equal keys and sequence ids, the one written last counts, as in HBase's memstore: the last cell of
//! an entry, and of several entries the entry that is read last. The reader takes first the recovered edits of the
//! region, which HBase has split from older logs, then the logs of each server by ascending path, which has the
//! time of the log.
//!
//! Cells are collected by table, region and store (`LogCellsBuilder`, `RegionCellsBuilder`,
//! `StoreLogCellsBuilder`), and sorted at the end (`LogCells`, `RegionCells`, `StoreLogCells`). A scan opens the
//! runs of the store that it reads (`OpenStoreLogCells`).
//!
//! The logs are read once for all regions. If the cells in memory exceed `log_bytes_max`, the cells of the region
//! with the most bytes go to sorted runs on disk: see `log_runs.rs`. An event that is read later can concern cells
//! of a run, which do not say who wrote them. Then the logs are read once more, with the events of the first time:
//! HBase flushes a region before it closes it, so this is rare.
//!
//! A torn log is read up to its unfinished part, as HBase does, and named in the result.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cells::{RowsBetween, error_line};

use super::damage::MissingCells;
use super::log_regions::RegionCellsBuilder;
use super::log_runs::RunFile;
use super::logs::{LogCells, TornLog};
use super::plan::ScanPlan;
use crate::error::{Error, Result};
use crate::history::{FileLoss, FileSearch};
use crate::scan::TableScan;
use crate::table::table_log::TableLog;
use crate::table::{Region, Table};
use crate::wal;
use crate::wal::region_events::RegionEvents;
use crate::warning::Warning;

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
    /// Whether entries after the end of a log may be lost.
    is_cut: bool,
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
        Some(logs) => logs,
        None => Arc::new(read(table, regions, plan)?),
    };
    let of_scan = regions.iter().filter(|region| plan.includes_region(region));
    let included: HashSet<&str> = of_scan.map(|region| region.name().as_str()).collect();
    let missing = plan.logs.missing().iter().filter(|missing| {
        let mut families = plan.families.iter();
        let has_family =
            missing.family.is_empty() || families.any(|family| family.name == missing.family);
        missing.region.is_empty() || included.contains(&*missing.region) && has_family
    });
    missing.for_each(|missing| plan.losses.add(missing.clone()));
    plan.warnings.extend_from_slice(plan.logs.warnings());
    let old = plan.logs.old().iter().filter(|old| included.contains(&*old.region));
    plan.old = old.cloned().collect();
    Ok(())
}

/// Reads the logs of a table for a scan of regions.
fn read(table: &Table, regions: &[Region], plan: &ScanPlan) -> Result<LogCells> {
    let mut builder = LogCellsBuilder::read(table, regions, plan, HashMap::new())?;
    if builder.has_late_event {
        let of_regions = builder.regions.into_iter();
        let events = of_regions.map(|(name, region)| (name, region.log.events)).collect();
        builder = LogCellsBuilder::read(table, regions, plan, events)?;
    }
    Ok(builder.finish(plan))
}

impl LogCellsBuilder {
    /// Reads the logs. `events` are the events of each region, if the logs were read before.
    fn read(
        table: &Table,
        regions: &[Region],
        plan: &ScanPlan,
        mut events: HashMap<String, RegionEvents>,
    ) -> Result<Self> {
        let included = regions.iter().filter(|region| plan.includes_region(region));
        let mut builder = Self { warnings: table.log_warnings.clone(), ..Self::default() };
        let is_first = events.is_empty();
        for region in included.clone() {
            let name = region.info.encoded_name.to_string();
            let of_region = events.remove(&name).unwrap_or_default();
            builder.regions.insert(name, RegionCellsBuilder::new(region, plan, of_region)?);
        }
        let mut search = FileSearch::new(table, included.clone());
        let recovered = included.flat_map(|region| &region.recovered_edits);
        for log in TableLog::in_order(recovered, &table.logs) {
            let mut reader = match log.open(&*plan.tree, table.old_logs.as_deref()) {
                Ok(reader) => reader,
                Err(error) => {
                    builder.leave_out(plan, &log, error, None)?;
                    continue;
                }
            };
            builder.add_log(table, plan, &log, &mut reader, &mut search)?;
            if let Some(wal::End::Torn { offset, bytes, part }) = reader.end() {
                builder.torn.push(TornLog {
                    path: log.path.to_owned(),
                    offset: *offset,
                    bytes: *bytes,
                    part: *part,
                });
            }
            let continued = table.warning_of_continuation(log.path, reader.end())?;
            builder.is_cut |= continued.is_some();
            builder.warnings.extend(continued);
        }
        builder.add_lost_files(plan, search);
        let all_lost = table.lost_logs.iter();
        let lost_logs = all_lost.filter(|lost| builder.regions.contains_key(lost.region.as_str()));
        builder.missing.extend(lost_logs.map(|lost| FileLoss::from(lost).into()));
        builder.has_late_event &= is_first;
        Ok(builder)
    }

    /// Adds the entries of a log. Goes on after damage, if the scan does.
    fn add_log(
        &mut self,
        table: &Table,
        plan: &ScanPlan,
        log: &TableLog<'_>,
        reader: &mut wal::Reader,
        search: &mut FileSearch<'_>,
    ) -> Result<()> {
        let name = table.name.to_string();
        while let Some(entry) = reader.next() {
            match entry {
                Ok(entry) if entry.table == name => {
                    search.add_entry(&entry, log.path);
                    self.add_entry(plan, log, &entry)?;
                }
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

    fn add_entry(
        &mut self,
        plan: &ScanPlan,
        log: &TableLog<'_>,
        entry: &wal::LogEntry,
    ) -> Result<()> {
        let Some(region) = self.regions.get_mut(&entry.region) else { return Ok(()) };
        let written = log.written_by(entry);
        region.log.add(entry, written);
        self.has_late_event |= entry.is_region_event() && region.has_runs();
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
        log: &TableLog<'_>,
        error: Error,
        skipped: Option<wal::SkippedBytes>,
    ) -> Result<()> {
        let more = skipped.map(|skipped| format!("; {skipped}")).unwrap_or_default();
        let missing = MissingCells {
            region: String::new(),
            family: Vec::new(),
            file: log.path.display().to_string(),
            what: format!("{}{more}", error_line(&error)),
            rows: RowsBetween::default(),
        };
        plan.losses.add_or_fail(error, |_| missing.clone())?;
        self.missing.push(missing);
        Ok(())
    }

    /// Adds the store files of the scan that are gone.
    ///
    /// A part of a log that was not read can say why a file is gone, and so can the logs that HBase would not replay.
    fn add_lost_files(&mut self, plan: &ScanPlan, mut search: FileSearch<'_>) {
        let is_wanted = |name: &[u8]| plan.families.iter().any(|family| family.name == name);
        if self.is_cut || !self.missing.is_empty() || search.losses(is_wanted).is_empty() {
            return;
        }
        let unread = search.read_old_logs();
        let losses = if unread.is_empty() { search.losses(is_wanted) } else { unread };
        self.missing.extend(losses.into_iter().map(MissingCells::from));
    }

    /// Sorts the cells.
    fn finish(self, plan: &ScanPlan) -> LogCells {
        let (mut stores, mut replaced, mut old) = (HashMap::new(), HashMap::new(), Vec::new());
        for (name, region) in self.regions {
            let cells = region.finish(plan.order);
            old.extend(Some(cells.old).filter(|old| old.cells > 0));
            replaced.insert(name.clone(), cells.replaced);
            stores.insert(name, cells.stores);
        }
        old.sort_by(|one, other| one.region.cmp(&other.region));
        let Self { run_file, torn, missing, warnings, .. } = self;
        LogCells { stores, run_file, replaced, old, torn, missing, warnings }
    }
}

impl From<FileLoss> for MissingCells {
    fn from(FileLoss { region, family, file, what, rows, .. }: FileLoss) -> Self {
        Self {
            region: region.map(|region| region.to_string()).unwrap_or_default(),
            family: family.unwrap_or_default(),
            file,
            what,
            rows,
        }
    }
}
