//! The parameters of a scan.

use std::ops::Range;
use std::path::PathBuf;

use cells::prefix_end;
use cells::view::{FamilySelection, QueryTimes, View};
use sstable::{Comparator, ReaderOptions, Timestamp};

use super::row_range::RowRange;
use super::unflushed::UnflushedCells;

/// Which cells of a table or region a scan returns, and how it reads them.
///
/// By default it returns what HBase shows of the whole table: all versions that the families keep,
/// without deleted and expired cells.
///
/// ```
/// use hbase_files::TableScan;
///
/// let history = TableScan::default().prefix("user1").column("f", "name");
/// let everything = TableScan::default().raw(true).threads(2);
/// # let _ = (history, everything);
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct TableScan {
    /// The first row; `None` for the first of the table.
    pub start: Option<Vec<u8>>,
    /// The row before which the scan ends; `None` for the end of the table.
    pub stop: Option<Vec<u8>>,
    /// The only row.
    pub(crate) row: Option<Vec<u8>>,
    /// The prefix of the rows.
    pub prefix: Vec<u8>,
    /// The families, and their columns; empty for all families.
    pub families: Vec<FamilyColumns>,
    /// The least timestamp.
    pub min_ts: Timestamp,
    /// The upper bound of the timestamps, exclusive.
    pub max_ts: Timestamp,
    /// The maximum number of versions of a column; unless raw, the family's own maximum applies too.
    pub versions: u32,
    /// Whether all stored cells are returned.
    pub raw: bool,
    /// The time for TTLs; `None` for the system clock.
    pub now: Option<Timestamp>,
    /// Whether the scan continues after damaged and missing files.
    pub skip_damaged: bool,
    /// What is returned for cells whose values are in MOB files.
    pub mob: MobValues,
    /// Whether cells that are only in write-ahead logs are returned.
    pub with_logs: bool,
    /// The cells from logs that were read before; `None` if each scan reads the logs.
    pub unflushed: Option<UnflushedCells>,
    /// The maximum bytes of cells from logs in memory.
    pub log_bytes_max: usize,
    /// The directory of the temporary file for cells from logs; `None` for the system's.
    pub log_directory: Option<PathBuf>,
    /// The number of threads that read.
    pub threads: usize,
    /// About how many bytes of store files a thread reads at a time.
    pub(crate) part_len: u64,
    /// How files are opened: limits, and the block cache.
    pub reader_options: ReaderOptions,
}

/// A family of a scan, and its columns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FamilyColumns {
    /// The family.
    pub family: Vec<u8>,
    /// The qualifiers; empty for all columns.
    pub qualifiers: Vec<Vec<u8>>,
}

/// What a scan returns for a cell whose value is in a MOB file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MobValues {
    /// The cell with its value, read from the MOB file.
    #[default]
    Resolve,
    /// The cell as it is stored: its value names the MOB file, and it has the tags of a reference.
    Reference,
}

impl Default for TableScan {
    fn default() -> Self {
        Self {
            start: None,
            stop: None,
            row: None,
            prefix: Vec::new(),
            families: Vec::new(),
            min_ts: Timestamp::new(0),
            max_ts: Timestamp::LATEST,
            versions: u32::MAX,
            raw: false,
            now: None,
            skip_damaged: false,
            mob: MobValues::Resolve,
            with_logs: false,
            unflushed: None,
            log_bytes_max: 256 << 20,
            log_directory: None,
            threads: 1,
            part_len: 8 << 20,
            reader_options: ReaderOptions::default(),
        }
    }
}

impl TableScan {
    /// Begins at this row, or at the next. Default: the first row of the table.
    pub fn start(mut self, row: impl AsRef<[u8]>) -> Self {
        self.start = Some(row.as_ref().to_vec());
        self
    }

    /// Ends before this row. Default: after the last row of the table.
    pub fn stop(mut self, row: impl AsRef<[u8]>) -> Self {
        self.stop = Some(row.as_ref().to_vec());
        self
    }

    /// Returns only rows that begin with `prefix`. Default: all rows.
    pub fn prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        self.prefix = prefix.as_ref().to_vec();
        self
    }

    /// Returns only this row, whatever `start` and `stop` are. Default: all rows.
    ///
    /// Files are skipped by their filters, as in a get.
    pub fn row(mut self, row: impl AsRef<[u8]>) -> Self {
        self.row = Some(row.as_ref().to_vec());
        self
    }

    /// Returns all columns of a family. Further calls add families. Default: all families.
    pub fn family(mut self, family: impl AsRef<[u8]>) -> Self {
        self.family_columns(family.as_ref()).qualifiers.clear();
        self
    }

    /// Returns one column. Further calls add columns. Default: all columns.
    pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        let name = family.as_ref();
        let is_whole =
            self.families.iter().any(|known| known.family == name && known.qualifiers.is_empty());
        if !is_whole {
            self.family_columns(name).qualifiers.push(qualifier.as_ref().to_vec());
        }
        self
    }

    fn family_columns(&mut self, family: &[u8]) -> &mut FamilyColumns {
        let known = self.families.iter().position(|known| known.family == family);
        let index = known.unwrap_or_else(|| {
            self.families.push(FamilyColumns { family: family.to_vec(), qualifiers: Vec::new() });
            self.families.len().saturating_sub(1)
        });
        self.families.get_mut(index).expect("found or pushed above")
    }

    /// Returns only versions whose timestamp is in `min..max`. Default: all.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        (self.min_ts, self.max_ts) = (min, max);
        self
    }

    /// Returns the timestamps to which the scan is limited; `None` if it has all.
    pub fn times(&self) -> Option<Range<Timestamp>> {
        let all = Self::default();
        let is_limited = (self.min_ts, self.max_ts) != (all.min_ts, all.max_ts);
        is_limited.then_some(self.min_ts..self.max_ts)
    }

    /// Returns what the scan reads of a family whose rows are in the order of bytes; `None` if it does not want
    /// the family.
    pub fn of_family(&self, family: &[u8]) -> Option<FamilySelection> {
        let wanted = self.families.iter().find(|wanted| wanted.family == family);
        if wanted.is_none() && !self.families.is_empty() {
            return None;
        }
        let RowRange { start, stop } = self.row_range(Comparator::Bytes);
        Some(FamilySelection {
            start,
            stop,
            prefix: self.prefix.clone(),
            qualifiers: wanted.map_or(Vec::new(), |wanted| wanted.qualifiers.clone()),
            view: self.view(),
        })
    }

    /// Returns the rows of the scan in this order.
    pub(super) fn row_range(&self, order: Comparator) -> RowRange {
        if let Some(row) = &self.row {
            return RowRange { start: row.clone(), stop: Some([row, &b"\0"[..]].concat()) };
        }
        let (mut start, mut stop) = (self.start.clone().unwrap_or_default(), self.stop.clone());
        // In the order of hbase:meta, rows with the same prefix need not be neighbours.
        if order == Comparator::Bytes {
            start = start.max(self.prefix.clone());
            stop = [stop, prefix_end(&self.prefix)].into_iter().flatten().min();
        }
        RowRange { start, stop }
    }

    /// Returns the versions that the scan reads.
    pub(crate) const fn view(&self) -> View {
        View {
            versions: self.versions,
            time_range: QueryTimes { min: self.min_ts, max: self.max_ts },
            raw: self.raw,
        }
    }

    /// Sets the maximum number of versions of a column. Default: all that the family keeps.
    ///
    /// The family's own maximum applies too, unless the scan is [raw](Self::raw).
    pub const fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// Returns all stored cells: also delete markers, deleted cells and expired cells. Default: no.
    ///
    /// Of cells with equal keys, only the one that was written last is returned. Cells that have
    /// expired by a TTL of their own are left out, as by a raw scan of HBase.
    pub const fn raw(mut self, raw: bool) -> Self {
        self.raw = raw;
        self
    }

    /// Sets the time by which cells expire. Default: the system clock.
    pub const fn now(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }

    /// Sets whether the scan continues after damaged or missing files and blocks. Default: no.
    ///
    /// [`TableCells::missing`](crate::TableCells::missing) then lists what was left out. Near lost
    /// cells, the scan may return deleted cells and old versions. It also skips files of a feature
    /// that this build lacks, because damage can look like one. An error of the operating system,
    /// such as a refused permission, ends the scan.
    pub const fn skip_damaged(mut self, skip: bool) -> Self {
        self.skip_damaged = skip;
        self
    }

    /// Sets what is returned for cells whose values are in MOB files. Default:
    /// [`MobValues::Resolve`].
    pub const fn mob(mut self, mob: MobValues) -> Self {
        self.mob = mob;
        self
    }

    /// Sets whether cells that are only in write-ahead logs are returned. Default: no.
    ///
    /// The logs of a server that did not stop cleanly have such cells; HBase replays them when it
    /// starts. For each store, the scan returns the entries that are newer than its files and were
    /// written after the region was last opened.
    /// [`TableCells::old_log_cells`](crate::TableCells::old_log_cells) counts the newer entries
    /// that were written before. HBase would replay them too: after `restore_snapshot`, they are
    /// what the restore took back.
    ///
    /// A [torn](crate::TornLog) log is read up to its unfinished part, without an error:
    /// [`TableCells::torn_logs`](crate::TableCells::torn_logs) names it.
    pub const fn with_logs(mut self, with_logs: bool) -> Self {
        self.with_logs = with_logs;
        self
    }

    /// Takes the cells from logs that [`Table::read_logs`](crate::Table::read_logs) has read, if the scan
    /// is [with logs](Self::with_logs). Default: the scan reads the logs.
    ///
    /// If they are of another table, or do not include the rows and families of this scan, it reads
    /// the logs nevertheless.
    pub fn unflushed(mut self, cells: UnflushedCells) -> Self {
        self.unflushed = Some(cells);
        self
    }

    /// Sets the maximum bytes of cells from logs in memory. Default: 256 MiB.
    ///
    /// It is the bound for all regions of the scan together, and with several threads. If there are more, the cells
    /// of the region with the most go to sorted runs in a temporary file, which the scan merges: see
    /// [`log_directory`](Self::log_directory). One entry more is in memory while the logs are read, and for each
    /// run of the regions that are being scanned a block of 64 KiB.
    pub const fn log_bytes_max(mut self, bytes: usize) -> Self {
        self.log_bytes_max = bytes;
        self
    }

    /// Sets the directory of the temporary file for cells from logs that exceed
    /// [`log_bytes_max`](Self::log_bytes_max). Default: the system's directory, `$TMPDIR` or `/tmp`.
    ///
    /// The file needs about the bytes of the cells, compressed with LZ4; twice as many with more than 16
    /// runs of a store. It has no name on Unix, so nothing of it stays when the program ends.
    pub fn log_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.log_directory = Some(directory.into());
        self
    }

    /// Sets the number of threads that read; 0 and 1 are the caller's thread alone. Default: 1.
    ///
    /// The cells come in the same order with any number of threads. Several threads divide regions
    /// by rows, and buffer at most about 80 MiB of cells. A scan of one row uses the caller's
    /// thread.
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets about how many bytes of store files a thread reads at a time, if there are several.
    /// Default: 8 MiB.
    ///
    /// Larger regions are divided between rows, at blocks of their largest files.
    pub const fn part_len(mut self, len: u64) -> Self {
        self.part_len = len;
        self
    }

    /// Sets how files are opened. Default: no block cache, and the default limits.
    ///
    /// Without a block cache, blocks of MOB files are kept in a cache of 32 MiB.
    pub fn reader_options(mut self, options: ReaderOptions) -> Self {
        self.reader_options = options;
        self
    }
}
