//! The arguments that name a snapshot or a table of a root directory.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cells::time_text;
use hbase_files::{
    FormerTable, LocalTree, Region, RootDirectory, Snapshot, SnapshotDescription, Table, TableName,
    TableScan,
};
use serde::Serialize;
use sstable::Timestamp;
use store::Clock;

use super::log_options::LogOptions;
use crate::arguments::cell_options::CellOptions;
use crate::failure::{Failure, UsageError};
use crate::text::size_text::show_number;
use crate::text::warnings::PrintedWarnings;

/// The arguments that name a table, or a snapshot of one.
pub(crate) trait Place: clap::Args {
    /// Opens it.
    fn open(&self) -> anyhow::Result<OpenTable>;
}

/// The arguments that name tables or snapshots, without how their logs are read.
pub(crate) trait NamedPlaces: clap::Args {
    /// What one of them is called.
    const UNIT: &'static str;

    /// Returns the given names; empty for all.
    fn given(&self) -> &[String];

    /// Opens the root directory.
    fn root(&self) -> anyhow::Result<RootDirectory>;

    /// Returns the names of all tables or snapshots of a root directory.
    fn all(&self, root: &RootDirectory) -> anyhow::Result<Vec<String>>;

    /// Opens one of them. Adds its warnings to `printed`.
    fn open_named(
        &self,
        root: &RootDirectory,
        name: &str,
        printed: &mut PrintedWarnings,
    ) -> anyhow::Result<NamedTable>;
}

/// The arguments that name tables or snapshots to read.
pub(crate) trait Places: clap::Args {
    /// The arguments that name them.
    type Named: NamedPlaces;

    /// Returns the arguments that name them.
    fn named(&self) -> &Self::Named;

    /// Opens one of them. Adds its warnings to `printed`.
    fn open_one(
        &self,
        root: &RootDirectory,
        name: &str,
        printed: &mut PrintedWarnings,
    ) -> anyhow::Result<OpenTable>;
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
    /// Root directory of HBase, or a directory that ExportSnapshot wrote (it has snapshots, but no tables)
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

/// Snapshots.
#[derive(clap::Args)]
pub(crate) struct SnapshotPlaces {
    #[command(flatten)]
    root: Root,
    /// Names of the snapshots [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// A table to read.
#[derive(clap::Args)]
pub(crate) struct TablePlace {
    #[command(flatten)]
    roots: TableRoots,
    /// Name of the table, with its namespace unless that is default: NAMESPACE:TABLE
    #[arg(value_name = "TABLE")]
    name: String,
    #[command(flatten)]
    logs: LogOptions,
}

/// Tables.
#[derive(clap::Args)]
pub(crate) struct TablePlaces {
    #[command(flatten)]
    roots: TableRoots,
    /// Names of the tables, with their namespaces unless that is default: NAMESPACE:TABLE [default: all]
    #[arg(value_name = "TABLE")]
    names: Vec<String>,
}

/// Tables to read.
#[derive(clap::Args)]
pub(crate) struct ReadTablePlaces {
    #[command(flatten)]
    tables: TablePlaces,
    #[command(flatten)]
    logs: LogOptions,
}

/// The root directories of tables and their logs.
#[derive(clap::Args)]
pub(crate) struct TableRoots {
    #[command(flatten)]
    root: Root,
    /// Root directory of the write-ahead logs, if hbase.wal.dir is set [default: that of --root]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    wal_root: Option<PathBuf>,
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

/// Opens a snapshot. Adds also a warning if its TTL has passed.
fn open_snapshot(
    root: &RootDirectory,
    name: &str,
    printed: &mut PrintedWarnings,
) -> anyhow::Result<NamedTable> {
    let Snapshot { description, table } = root.snapshot(name)?;
    printed.warn(&table.warnings);
    if description.expired(Clock::system().now()) {
        printed.print(format!(
            "hfile: warning: snapshot {name} of {} is past its TTL; HBase may have deleted files of it",
            time_text(description.creation_time.get())
        ));
    }
    Ok(NamedTable { table, snapshot: Some(description) })
}

fn to_read(NamedTable { table, snapshot }: NamedTable) -> OpenTable {
    let creation = snapshot.as_ref().map(|snapshot| snapshot.creation_time);
    OpenTable { table, snapshot: snapshot.map(|snapshot| snapshot.name), creation, logs: None }
}

impl Place for SnapshotPlace {
    fn open(&self) -> anyhow::Result<OpenTable> {
        open_snapshot(&self.root.open()?, &self.name, &mut PrintedWarnings::default()).map(to_read)
    }
}

impl NamedPlaces for SnapshotPlaces {
    const UNIT: &'static str = "snapshot";

    fn given(&self) -> &[String] {
        &self.names
    }

    fn root(&self) -> anyhow::Result<RootDirectory> {
        self.root.open()
    }

    fn all(&self, root: &RootDirectory) -> anyhow::Result<Vec<String>> {
        Ok(root.snapshot_names()?)
    }

    fn open_named(
        &self,
        root: &RootDirectory,
        name: &str,
        printed: &mut PrintedWarnings,
    ) -> anyhow::Result<NamedTable> {
        open_snapshot(root, name, printed)
    }
}

impl Places for SnapshotPlaces {
    type Named = Self;

    fn named(&self) -> &Self {
        self
    }

    fn open_one(
        &self,
        root: &RootDirectory,
        name: &str,
        printed: &mut PrintedWarnings,
    ) -> anyhow::Result<OpenTable> {
        open_snapshot(root, name, printed).map(to_read)
    }
}

impl TableRoots {
    pub(super) fn open(&self) -> anyhow::Result<RootDirectory> {
        let root = self.root.open()?;
        let Some(wal_root) = &self.wal_root else { return Ok(root) };
        check_is_local(wal_root)?;
        Ok(root.with_wal_root(wal_root)?)
    }

    /// Returns the root directory as it was given.
    pub(super) const fn given(&self) -> &Root {
        &self.root
    }

    /// Opens a table with the options that read its logs.
    fn open_to_read(
        &self,
        root: &RootDirectory,
        name: &str,
        logs: &LogOptions,
        printed: &mut PrintedWarnings,
    ) -> anyhow::Result<OpenTable> {
        let table = open_table(root, name, printed)?;
        if !logs.with_wal() {
            tell_unflushed(&table, printed);
        } else if table.logs_missing.is_some() {
            return Err(UsageError(format!(
                "--with-wal: {} has no WALs; if the setting hbase.wal.dir is another directory, give it as --wal-root DIR; to read the store files only, leave out --with-wal",
                self.root
            ))
            .into());
        }
        Ok(OpenTable { table, snapshot: None, creation: None, logs: Some(logs.clone()) })
    }
}

fn open_table(
    root: &RootDirectory,
    name: &str,
    printed: &mut PrintedWarnings,
) -> anyhow::Result<Table> {
    let parsed: TableName = name.parse().map_err(|_| {
        UsageError(format!("{name} is not the name of a table; write NAMESPACE:TABLE"))
    })?;
    let table = root.table(&parsed).map_err(|error| match &error {
        hbase_files::Error::NotFound { .. } => {
            former_table(root, &parsed).map_or_else(|| error.into(), anyhow::Error::from)
        }
        _ => error.into(),
    })?;
    printed.warn(&table.warnings);
    Ok(table)
}

/// Returns why a table cannot be opened, if only archived files, MOB files or recovered edits are left of it.
fn former_table(root: &RootDirectory, name: &TableName) -> Option<Failure> {
    let former = root.former_tables().ok()?.into_iter().find(|former| former.name == *name)?;
    let all = root.snapshots().map(|list| list.snapshots).unwrap_or_default();
    let of_table = all.into_iter().filter(|snapshot| snapshot.table == *name);
    let snapshots: Vec<String> = of_table.map(|snapshot| snapshot.name).collect();
    let shown = root.path().display();
    let what = format!("{shown}: the table {name} is gone: it has files only in {}", former.place);
    let verb = if former.place == FormerTable::RECOVERED_EDITS { "wal cat" } else { "cat" };
    Some(match &snapshots[..] {
        [] => Failure::FormerTable {
            what: format!("{what}, and no snapshot"),
            next: format!("hfile {verb} {} reads its files one by one", former.path.display()),
        },
        [snapshot, ..] => Failure::FormerTable {
            what: format!(
                "{what}, and {}: {}",
                show_number(snapshots.len() as u64, "snapshot"),
                snapshots.join(", ")
            ),
            next: format!("read a snapshot of it: hfile snapshot scan --root {shown} {snapshot}"),
        },
    })
}

impl NamedPlaces for TablePlaces {
    const UNIT: &'static str = "table";

    fn given(&self) -> &[String] {
        &self.names
    }

    fn root(&self) -> anyhow::Result<RootDirectory> {
        self.roots.open()
    }

    fn all(&self, root: &RootDirectory) -> anyhow::Result<Vec<String>> {
        Ok(root.tables()?.iter().map(ToString::to_string).collect())
    }

    fn open_named(
        &self,
        root: &RootDirectory,
        name: &str,
        printed: &mut PrintedWarnings,
    ) -> anyhow::Result<NamedTable> {
        Ok(NamedTable { table: open_table(root, name, printed)?, snapshot: None })
    }
}

impl Places for ReadTablePlaces {
    type Named = TablePlaces;

    fn named(&self) -> &TablePlaces {
        &self.tables
    }

    fn open_one(
        &self,
        root: &RootDirectory,
        name: &str,
        printed: &mut PrintedWarnings,
    ) -> anyhow::Result<OpenTable> {
        self.tables.roots.open_to_read(root, name, &self.logs, printed)
    }
}

impl Place for TablePlace {
    fn open(&self) -> anyhow::Result<OpenTable> {
        let root = self.roots.open()?;
        self.roots.open_to_read(&root, &self.name, &self.logs, &mut PrintedWarnings::default())
    }
}

/// Tells what `--with-wal` would read too.
fn tell_unflushed(table: &Table, printed: &mut PrintedWarnings) {
    let recovered = table.regions.iter().flat_map(|region| &region.recovered_edits);
    let logs = (table.logs.len() + recovered.count()) as u64;
    let hfiles = table.regions.iter().flat_map(Region::recovered_hfiles).count() as u64;
    let counts = [(logs, "write-ahead log"), (hfiles, "recovered HFile")];
    let present = counts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = present.map(|(count, what)| show_number(*count, what)).collect();
    if parts.is_empty() {
        printed.warn(&table.log_warnings);
        return;
    }
    printed.print(format!(
        "hfile: {} may have cells that are in no store file; --with-wal reads them too",
        parts.join(" and ")
    ));
}
