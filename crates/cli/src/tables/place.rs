//! The arguments that name a snapshot or a table of a root directory.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use directories::{LocalTree, RootDirectory, Snapshot, Table, TableName, TableScan};
use sstable::Timestamp;
use store::Clock;

use super::log_options::LogOptions;
use crate::cell_options::{CellOptions, print_warnings};
use crate::failure::UsageError;
use crate::size_text::show_number;
use crate::stderr::print_message;
use crate::times::date;

/// The arguments that name a table, or a snapshot of one.
pub(super) trait Place: clap::Args {
    /// Opens it.
    fn open(&self) -> anyhow::Result<OpenTable>;
}

/// A table to read.
pub(super) struct OpenTable {
    pub(super) table: Table,
    /// The name of the snapshot; `None` for a table.
    pub(super) snapshot: Option<String>,
    /// When the snapshot was made; `None` for a table.
    pub(super) creation: Option<Timestamp>,
    /// How write-ahead logs are read; `None` for a snapshot, which has none.
    pub(super) logs: Option<LogOptions>,
}

impl OpenTable {
    /// Returns a scan with the options of the command line.
    pub(super) fn scan(&self, cells: &CellOptions) -> Result<TableScan, UsageError> {
        let scan = cells.scan(self.creation)?;
        Ok(match &self.logs {
            Some(logs) => logs.add_to(scan),
            None => scan,
        })
    }
}

/// The root directory.
#[derive(clap::Args)]
pub(super) struct Root {
    /// Root directory of HBase; for snapshots, also a directory that ExportSnapshot wrote
    #[expect(clippy::doc_markdown, reason = "help is plain text")]
    #[arg(long = "root", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    path: PathBuf,
}

/// A snapshot.
#[derive(clap::Args)]
pub(super) struct SnapshotPlace {
    #[command(flatten)]
    root: Root,
    /// Name of the snapshot
    #[arg(value_name = "NAME")]
    name: String,
}

/// A table.
#[derive(clap::Args)]
pub(super) struct TablePlace {
    #[command(flatten)]
    root: Root,
    /// Name of the table, with its namespace unless that is default: NAMESPACE:TABLE
    #[arg(value_name = "TABLE")]
    name: String,
    #[command(flatten)]
    logs: LogOptions,
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

impl Root {
    /// Opens the directory. Refuses the address of another file system.
    pub(super) fn open(&self) -> anyhow::Result<RootDirectory> {
        if let Some(address) = address(&self.path) {
            return Err(UsageError(format!(
                "{address} is not a local directory; copy it first: hdfs dfs -get {address} DIR"
            ))
            .into());
        }
        Ok(RootDirectory::open(Arc::new(LocalTree), &self.path)?)
    }
}

/// Returns the path, if it is an address such as `hdfs://namenode/hbase`.
fn address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.chars().all(|letter| letter.is_ascii_alphanumeric());
    (is_scheme && !path.exists()).then_some(text)
}

impl SnapshotPlace {
    /// Opens the snapshot. Prints its warnings, and one if its TTL has passed.
    pub(super) fn open_snapshot(&self) -> anyhow::Result<Snapshot> {
        let snapshot = self.root.open()?.snapshot(&self.name)?;
        print_warnings(&snapshot.table.warnings);
        let creation = snapshot.description.creation_time;
        if snapshot.description.expired(Clock::system().now()) {
            print_message(format_args!(
                "hfile: warning: snapshot {} of {} is past its TTL; HBase may have deleted files of it",
                self.name,
                date(creation.get())
            ));
        }
        Ok(snapshot)
    }
}

impl Place for SnapshotPlace {
    fn open(&self) -> anyhow::Result<OpenTable> {
        let Snapshot { description, table } = self.open_snapshot()?;
        Ok(OpenTable {
            table,
            snapshot: Some(description.name),
            creation: Some(description.creation_time),
            logs: None,
        })
    }
}

/// The name of a table, for verbs that read no cells.
#[derive(clap::Args)]
pub(super) struct TableNamePlace {
    #[command(flatten)]
    root: Root,
    /// Name of the table, with its namespace unless that is default: NAMESPACE:TABLE
    #[arg(value_name = "TABLE")]
    name: String,
}

impl TableNamePlace {
    /// Opens the table.
    pub(super) fn open_table(&self) -> anyhow::Result<Table> {
        open_table(&self.root, &self.name)
    }
}

fn open_table(root: &Root, name: &str) -> anyhow::Result<Table> {
    let parsed: TableName = name.parse().map_err(|_| {
        UsageError(format!("{name} is not the name of a table; write NAMESPACE:TABLE"))
    })?;
    let table = root.open()?.table(&parsed)?;
    print_warnings(&table.warnings);
    Ok(table)
}

impl Place for TablePlace {
    fn open(&self) -> anyhow::Result<OpenTable> {
        let table = open_table(&self.root, &self.name)?;
        let recovered = table.regions.iter().flat_map(|region| &region.recovered_edits);
        let logs = table.logs.len() + recovered.count();
        if logs > 0 && !self.logs.with_wal() {
            let logs = show_number(logs as u64, "write-ahead log");
            print_message(format_args!(
                "hfile: {logs} may have cells that are in no store file; --with-wal reads them too"
            ));
        }
        Ok(OpenTable { table, snapshot: None, creation: None, logs: Some(self.logs.clone()) })
    }
}
