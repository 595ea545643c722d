//! Where the cells of a table come from, and what a query of them can limit.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use cells::escape;
use hbase_files::{Region, ScanSplit, Table, TableScan};
use hfile_arrow::{BatchScan, Batches, Result};
use sstable::{Comparator, Reader};
use store::{Snapshot, Store};

/// The name of the table of regions, whose rows have an order of their own.
const META_TABLE: &str = "hbase:meta";

/// The bytes of files below which a region is not divided: each part opens the files again.
const SPLIT_LEN_MIN: u64 = 64 << 20;

/// The cells of a table.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    HFile(Arc<Reader>),
    Table(Arc<Table>, Arc<TableScan>),
    Store(Store),
}

/// A family of a source.
#[derive(Clone, Debug)]
pub(crate) struct SourceFamily {
    pub(crate) name: Vec<u8>,
    /// Whether a scan of named columns returns the cells of a scan of all columns.
    ///
    /// HBase shows one more expired version of a named column where a family has `MIN_VERSIONS`.
    pub(crate) has_plain_columns: bool,
}

impl Source {
    /// Returns whether the rows are in the order of their bytes.
    pub(crate) fn has_rows_in_byte_order(&self) -> bool {
        match self {
            Self::HFile(reader) => reader.trailer().comparator == Comparator::Bytes,
            Self::Table(table, _) => table.name.to_string() != META_TABLE,
            Self::Store(_) => true,
        }
    }

    /// Returns the times that a raw scan shows; `None` if a scan of a range of times does not
    /// return all cells of the raw scan that have these times.
    ///
    /// A raw scan of a whole HFile also returns cells that HBase's rules leave out, such as the earlier of
    /// two cells with the same key.
    pub(crate) fn plain_times(&self) -> Option<Range<i64>> {
        let of = |scan: &TableScan| scan.min_ts.get()..scan.max_ts.get();
        match self {
            Self::HFile(_) => None,
            Self::Table(_, reading) => Some(of(reading)),
            Self::Store(_) => Some(of(&TableScan::default())),
        }
    }

    /// Returns the families; `None` if they are not known before the scan.
    pub(crate) fn families(&self) -> Option<Vec<SourceFamily>> {
        match self {
            Self::HFile(_) => None,
            Self::Table(table, _) => {
                let families = table.schema.families.iter().map(|family| SourceFamily {
                    name: family.name.clone(),
                    has_plain_columns: family.options().min_versions == 0,
                });
                Some(families.collect())
            }
            Self::Store(store) => {
                let families = store.families().into_iter().map(|(name, options)| SourceFamily {
                    name: name.into_bytes(),
                    has_plain_columns: options.retention().min_versions == 0,
                });
                Some(families.collect())
            }
        }
    }

    /// Returns the state of the source that a query reads.
    pub(crate) fn state(&self) -> SourceState {
        match self {
            Self::HFile(reader) => SourceState::HFile(Arc::clone(reader)),
            Self::Table(table, reading) => {
                SourceState::Table(Arc::clone(table), Arc::clone(reading))
            }
            Self::Store(store) => {
                // A family that is created between these calls is not in the snapshot's list, and one
                // that is dropped is an error.
                let families = store.families().into_iter().map(|(name, _)| name).collect();
                SourceState::Store(store.snapshot(), families)
            }
        }
    }
}

/// The state of a source that a query reads: a store changes, and a query must not.
#[derive(Clone)]
pub(crate) enum SourceState {
    HFile(Arc<Reader>),
    Table(Arc<Table>, Arc<TableScan>),
    Store(Snapshot, Vec<String>),
}

impl SourceState {
    /// Returns the regions that are read on their own.
    pub(crate) fn regions(&self) -> &[Region] {
        match self {
            Self::Table(table, _) => &table.regions,
            Self::HFile(_) | Self::Store(..) => &[],
        }
    }

    /// Divides a table into splits: each region has one, and a large region several.
    ///
    /// Opens files of large regions only. Empty for sources without regions.
    pub(crate) fn splits(&self, partitions_max: usize) -> Result<Vec<ScanSplit>> {
        let Self::Table(table, reading) = self else { return Ok(Vec::new()) };
        let reading = TableScan::clone(reading);
        let whole = table.splits(&reading, None)?.splits;
        let len = whole.iter().map(ScanSplit::estimated_bytes).fold(0, u64::saturating_add);
        let target = (len / partitions_max.max(1) as u64).max(SPLIT_LEN_MIN);
        if whole.iter().all(|split| split.estimated_bytes() <= target) {
            return Ok(whole);
        }
        Ok(table.splits(&reading, Some(target))?.splits)
    }

    /// Checks that no part of the source is missing: rows of a lost region are in no region.
    pub(crate) fn check(&self) -> Result<()> {
        if let Self::Table(table, reading) = self {
            // Opens no file.
            table.scan(&TableScan::clone(reading).with_logs(false).threads(1))?;
        }
        Ok(())
    }

    /// Scans the source, or one of its [`regions`](Self::regions).
    pub(crate) fn open(&self, scan: &BatchScan, region: Option<&Region>) -> Result<Batches> {
        match (self, region) {
            (Self::HFile(reader), _) => BatchScan::hfile(scan, reader),
            (Self::Table(table, reading), Some(region)) => {
                BatchScan::region(scan, table, region, reading)
            }
            (Self::Table(table, reading), None) => BatchScan::table(scan, table, reading),
            (Self::Store(snapshot, families), _) => {
                BatchScan::store_snapshot(scan, snapshot, families)
            }
        }
    }
}

impl fmt::Debug for SourceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SourceState {
    /// Writes what the source is, for `EXPLAIN`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HFile(reader) => write!(f, "hfile {}", reader.name()),
            Self::Table(table, _) => write!(f, "table {}", table.name),
            Self::Store(_, families) => {
                let names = families.iter().map(|name| escape(name.as_bytes()).to_string());
                write!(f, "store of {}", names.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
