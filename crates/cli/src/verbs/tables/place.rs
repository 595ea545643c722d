//! The arguments that name a snapshot or a table of a root directory.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hbase_files::{
    LocalTree, Region, RootDirectory, Snapshot, SnapshotDescription, Table, TableName, TableScan,
};
use serde::Serialize;
use sstable::Timestamp;
use store::Clock;

use super::log_options::LogOptions;
use crate::arguments::cell_options::CellOptions;
use crate::failure::UsageError;
use crate::text::size_text::show_number;
use crate::text::stderr::print_message;
use crate::text::times::date;
use crate::text::warnings::print_warnings;

/// The arguments that name a table, or a snapshot of one.
pub(crate) trait Place: clap::Args {
    /// Opens it.
    fn open(&self) -> anyhow::Result<OpenTable>;
}

/// The arguments that name a table or a snapshot, without how its logs are read.
pub(crate) trait NamedPlace: clap::Args {
    /// Opens it. Prints its warnings.
    fn open_named(&self) -> anyhow::Result<NamedTable>;
}

/// A table, and the description of the snapshot if it is one.
pub(crate) struct NamedTable {
    pub(super) table: Table,
    pub(super) snapshot: Option<SnapshotDescription>,
}

/// What a report is about, as JSON: the name of a snapshot or of a table.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Name {
    Snapshot(String),
    Table(String),
}

impl NamedTable {
    pub(super) fn name(&self) -> Name {
        match &self.snapshot {
            Some(snapshot) => Name::Snapshot(snapshot.name.clone()),
            None => Name::Table(self.table.name.to_string()),
        }
    }
}

/// A table to read.
pub(crate) struct OpenTable {
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
pub(crate) struct Root {
    /// Root directory of HBase; for snapshots, also a directory that ExportSnapshot wrote
    #[expect(clippy::doc_markdown, reason = "help is plain text")]
    #[arg(long = "root", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    path: PathBuf,
}

/// A snapshot.
#[derive(clap::Args)]
pub(crate) struct SnapshotPlace {
    #[command(flatten)]
    root: Root,
    /// Name of the snapshot
    name: String,
}

/// A table.
#[derive(clap::Args)]
pub(crate) struct TablePlace {
    #[command(flatten)]
    table: TableNamePlace,
    #[command(flatten)]
    logs: LogOptions,
}

/// The name of a table.
#[derive(clap::Args)]
pub(crate) struct TableNamePlace {
    #[command(flatten)]
    root: Root,
    /// Root directory of the write-ahead logs, if hbase.wal.dir is set [default: that of --root]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    wal_root: Option<PathBuf>,
    /// Name of the table, with its namespace unless that is default: NAMESPACE:TABLE
    #[arg(value_name = "TABLE")]
    name: String,
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

impl Root {
    /// Opens the directory. Refuses the address of another file system.
    pub(super) fn open(&self) -> anyhow::Result<RootDirectory> {
        check_is_local(&self.path)?;
        Ok(RootDirectory::open(Arc::new(LocalTree), &self.path)?)
    }
}

/// Refuses the address of another file system.
fn check_is_local(path: &Path) -> Result<(), UsageError> {
    let Some(address) = address(path) else { return Ok(()) };
    Err(UsageError(format!(
        "{address} is not a local directory; copy it first: hdfs dfs -get {address} DIR"
    )))
}

/// Returns the path, if it is an address such as `hdfs://namenode/hbase`.
fn address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.chars().all(|letter| letter.is_ascii_alphanumeric());
    (is_scheme && !path.exists()).then_some(text)
}

impl NamedPlace for SnapshotPlace {
    /// Prints also a warning if the TTL of the snapshot has passed.
    fn open_named(&self) -> anyhow::Result<NamedTable> {
        let Snapshot { description, table } = self.root.open()?.snapshot(&self.name)?;
        print_warnings(&table.warnings);
        if description.expired(Clock::system().now()) {
            print_message(format_args!(
                "hfile: warning: snapshot {} of {} is past its TTL; HBase may have deleted files of it",
                self.name,
                date(description.creation_time.get())
            ));
        }
        Ok(NamedTable { table, snapshot: Some(description) })
    }
}

impl Place for SnapshotPlace {
    fn open(&self) -> anyhow::Result<OpenTable> {
        let NamedTable { table, snapshot } = self.open_named()?;
        let creation = snapshot.as_ref().map(|snapshot| snapshot.creation_time);
        let snapshot = snapshot.map(|snapshot| snapshot.name);
        Ok(OpenTable { table, snapshot, creation, logs: None })
    }
}

impl NamedPlace for TableNamePlace {
    fn open_named(&self) -> anyhow::Result<NamedTable> {
        let Self { root, wal_root, name } = self;
        let parsed: TableName = name.parse().map_err(|_| {
            UsageError(format!("{name} is not the name of a table; write NAMESPACE:TABLE"))
        })?;
        let mut root = root.open()?;
        if let Some(wal_root) = wal_root {
            check_is_local(wal_root)?;
            root = root.with_wal_root(wal_root)?;
        }
        let table = root.table(&parsed)?;
        print_warnings(&table.warnings);
        Ok(NamedTable { table, snapshot: None })
    }
}

impl Place for TablePlace {
    fn open(&self) -> anyhow::Result<OpenTable> {
        let table = self.table.open_named()?.table;
        if !self.logs.with_wal() {
            print_unflushed(&table);
        } else if table.logs_missing.is_some() {
            return Err(UsageError(format!(
                "--with-wal: {} has no WALs; if the setting hbase.wal.dir is another directory, give it as --wal-root DIR; to read the store files only, leave out --with-wal",
                self.table.root
            ))
            .into());
        }
        Ok(OpenTable { table, snapshot: None, creation: None, logs: Some(self.logs.clone()) })
    }
}

/// Prints what `--with-wal` would read too.
fn print_unflushed(table: &Table) {
    let recovered = table.regions.iter().flat_map(|region| &region.recovered_edits);
    let logs = (table.logs.len() + recovered.count()) as u64;
    let hfiles = table.regions.iter().flat_map(Region::recovered_hfiles).count() as u64;
    let parts = [(logs, "write-ahead log"), (hfiles, "recovered HFile")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| show_number(*count, what)).collect();
    if parts.is_empty() {
        print_warnings(&table.log_warnings);
        return;
    }
    print_message(format_args!(
        "hfile: {} may have cells that are in no store file; --with-wal reads them too",
        parts.join(" and ")
    ));
}
