//! The regions of a table by `hbase:meta`, read from its files and logs in the same root directory.
//!
//! A row of `hbase:meta` is a region: `TABLE,START_KEY,ID.ENCODED.`
//!
//! | column                      | value                                                              |
//! |-----------------------------|--------------------------------------------------------------------|
//! | `info:regioninfo`           | the description: `PBUF` and the message `RegionInfo`               |
//! | `info:splitA`, `splitB`     | of the parent of a split: the descriptions of its daughters        |
//! | `info:server`, `info:serverstartcode` | the server that opened the region: `HOST:PORT`, and when it started |
//! | `info:seqnumDuringOpen`     | the sequence id of the opening                                     |
//! | `info:state`                | `OPEN`, `CLOSED`, …; of HBase 2                                    |
//! | `info:mergeNNNN`            | of a merged region: the descriptions of the regions it was made of |
//!
//! The parent of a split is marked in its description; after a merge, the rows of the parents are
//! deleted. The other columns say where a region is served, and its state; they do not change
//! which cells count. They tell whether there must be a log: see `last_opening.rs`. HBase passes over a row without a readable description, as if there were no
//! such row. Here its name still counts, because the directory has a description too.
//!
//! HBase flushes `hbase:meta` rarely, so its newest cells are often in its log only: without a log of
//! it, `hbase:meta` may be old. HBase: `MetaTableAccessor`, `RegionStateStore`.

use std::collections::{BTreeMap, BTreeSet};

use cells::escape;
use sstable::SequenceId;

use crate::error::Result;
use crate::names::{RegionName, TableName};
use crate::scan::TableScan;
use crate::table::{RegionInfo, Table};
use crate::table_reader::last_opening::RegionOpening;
use crate::warning::Warning;

/// What `hbase:meta` has of a table.
#[derive(Debug, Default)]
pub(crate) struct MetaRegions {
    rows: BTreeMap<RegionName, MetaRow>,
    /// The regions from which a region of `hbase:meta` was merged.
    merged: BTreeSet<RegionName>,
    /// Whether a log of `hbase:meta` was read, so that its last changes are known.
    pub(crate) has_log: bool,
    /// What the rows, the files and the logs of `hbase:meta` leave in doubt.
    pub(crate) warnings: Vec<Warning>,
}

/// A region of `hbase:meta`.
#[derive(Debug, Default)]
struct MetaRow {
    /// The description; `None` if it is missing or unreadable.
    info: Option<RegionInfo>,
    /// Whether the row names the daughters of a split.
    has_daughters: bool,
    /// `HOST:PORT`.
    server: Option<String>,
    start_code: Option<u64>,
    opened: Option<u64>,
    is_open: bool,
}

impl MetaRegions {
    /// Reads the regions of a table, split parents included.
    ///
    /// # Errors
    ///
    /// If a file or a log of `hbase:meta` cannot be read.
    pub(crate) fn read(mut meta: Table, table: &TableName) -> Result<Self> {
        // Without logs `hbase:meta` may be old, which is no error.
        let unread = std::mem::take(&mut meta.log_problems);
        let with_logs = &Table { logs_missing: None, ..meta };
        // In the order of hbase:meta, the rows of a table are neighbours, and no table is between NAME
        // and NAME with a zero byte.
        let scan = TableScan::default()
            .start(format!("{table},,"))
            .stop(format!("{table}\0,,"))
            .family("info")
            .versions(1)
            .with_logs(true);
        let mut cells = with_logs.scan(&scan)?;
        let recovered = with_logs.regions.iter().map(|region| {
            region.recovered_edits.len().saturating_add(region.recovered_hfiles().count())
        });
        let logs = recovered.fold(with_logs.logs.len(), usize::saturating_add);
        // A log without a whole header has nothing to read.
        let unreadable = cells.torn_logs().iter().filter(|log| log.offset == 0).count();
        let mut regions = Self { has_log: logs > unreadable, ..Self::default() };
        regions.warnings.extend_from_slice(cells.warnings());
        regions.warnings.extend(cells.torn_logs().iter().map(|log| {
            let part = log.part;
            let what = format!("ends within {part}: the last changes of hbase:meta may be missing");
            Warning::new(&log.path, what)
        }));
        // The warnings of `hbase:meta` name what may have logs and was not read.
        regions.has_log &= unread.is_empty();
        while let Some(cell) = cells.next_ref()? {
            regions.add(with_logs, cell.row, cell.qualifier, cell.value);
        }
        regions.warn_of_undescribed_rows(with_logs);
        Ok(regions)
    }

    /// Adds a cell of the family `info`.
    fn add(&mut self, meta: &Table, row: &[u8], qualifier: &[u8], value: &[u8]) {
        let Some(name) = region_of_row(row) else {
            if qualifier == b"regioninfo" {
                let what = format!("the row {} of hbase:meta is no region", escape(row));
                self.warnings.push(Warning::new(&meta.path, what));
            }
            return;
        };
        let entry = self.rows.entry(name.clone()).or_default();
        match qualifier {
            b"regioninfo" => {
                let info = RegionInfo::parse_meta_value(value).ok();
                entry.info = info.filter(|info| info.encoded_name == name && info.replica_id == 0);
            }
            b"server" => entry.server = std::str::from_utf8(value).ok().map(str::to_owned),
            b"serverstartcode" => entry.start_code = number(value),
            b"seqnumDuringOpen" => entry.opened = number(value),
            b"state" => entry.is_open = value == b"OPEN",
            b"splitA" | b"splitB" => entry.has_daughters = true,
            _ if qualifier.starts_with(b"merge") => {
                let parent = RegionInfo::parse_meta_value(value).ok();
                self.merged.extend(parent.map(|parent| parent.encoded_name));
            }
            _ => {}
        }
    }

    /// Warns of the rows without a readable description.
    fn warn_of_undescribed_rows(&mut self, meta: &Table) {
        let rows = self.rows.iter().filter(|(_, row)| row.info.is_none());
        self.warnings.extend(rows.map(|(name, _)| {
            let what = format!("the row of region {name} has no readable info:regioninfo, so HBase does not serve the region: its directory counts if no other region has its rows");
            Warning::new(&meta.path, what)
        }));
    }

    /// Returns whether `hbase:meta` has no region of the table.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns whether `hbase:meta` alone decides which regions count.
    pub(crate) fn decides_alone(&self) -> bool {
        self.has_log && !self.is_empty()
    }

    /// Returns whether `hbase:meta` has a row of the region, described or not.
    pub(crate) fn has(&self, region: &RegionName) -> bool {
        self.rows.contains_key(region)
    }

    /// Returns the description of a region.
    pub(crate) fn description(&self, region: &RegionName) -> Option<&RegionInfo> {
        self.rows.get(region)?.info.as_ref()
    }

    /// Returns whether `hbase:meta` describes the region, and does not mark it as split.
    pub(crate) fn is_live(&self, region: &RegionName) -> bool {
        self.description(region).is_some_and(|info| !info.is_split_parent())
    }

    /// Returns whether a row says that the region was split or merged.
    pub(crate) fn is_parent(&self, region: &RegionName) -> bool {
        let row = self.rows.get(region);
        let is_split = row.is_some_and(|MetaRow { info, has_daughters, .. }| match info {
            Some(info) => info.is_split_parent(),
            None => *has_daughters,
        });
        is_split || self.merged.contains(region)
    }

    /// Returns the last opening of a region that is open.
    pub(crate) fn opening(&self, region: &RegionName) -> Option<RegionOpening> {
        let row = self.rows.get(region).filter(|row| row.is_open)?;
        let (host, port) = row.server.as_ref()?.rsplit_once(':')?;
        let server = format!("{host},{port},{}", row.start_code?);
        let sequence = row.opened.filter(|opened| *opened <= SequenceId::MAX.get())?;
        Some(RegionOpening { server, sequence: SequenceId::new(sequence) })
    }

    /// Returns the descriptions of the regions that are not marked as split, by encoded name.
    pub(crate) fn live(&self) -> impl Iterator<Item = &RegionInfo> {
        let infos = self.rows.values().filter_map(|row| row.info.as_ref());
        infos.filter(|info| !info.is_split_parent())
    }
}

/// Returns the encoded name of the region of a row; `None` if the row is not named as one.
fn region_of_row(row: &[u8]) -> Option<RegionName> {
    let without_dot = row.strip_suffix(b".")?;
    let dot = without_dot.iter().rposition(|byte| *byte == b'.')?;
    std::str::from_utf8(without_dot.get(dot..)?.get(1..)?).ok()?.parse().ok()
}

fn number(value: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(value.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_ends_with_the_encoded_name_of_its_region() {
        let name = "83a2af9efa70f232938815b9cf317a11";
        for (row, is_region) in [
            (format!("walt,,1795621490883.{name}."), true),
            (format!("walt,a.b,c.,1795621490883.{name}."), true),
            (format!("walt,,1795621490883.{name}"), false),
            ("walt,,1795621490883..".to_owned(), false),
            ("walt".to_owned(), false),
            (".".to_owned(), false),
        ] {
            let found = region_of_row(row.as_bytes());
            assert_eq!(found.map(|found| found.to_string()), is_region.then(|| name.to_owned()));
        }
    }
}
