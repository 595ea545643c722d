//! A root directory of HBase: its tables and its snapshots.
//!
//! ```text
//! ROOT/data/NAMESPACE/TABLE         tables
//!     /.hbase-snapshot/NAME         snapshots
//!     /archive/data/…               files that only snapshots and links use
//!     /mobdir/data/…                MOB files
//!     /WALs/SERVER/LOG              write-ahead logs of running servers, and of those that died
//!     /oldWALs/LOG                  logs whose cells have all been flushed
//! ```
//!
//! `WALs` and `oldWALs` can be in a root of their own. `ExportSnapshot` writes a directory that has only
//! `.hbase-snapshot` and `archive`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::other_layouts::check_layout;
use super::root_path::{SNAPSHOTS, is_root, root_above};
use crate::error::{Error, Result};
use crate::names::TableName;
use crate::snapshot::{DESCRIPTION_FILE, Snapshot, SnapshotDescription};
use crate::table::log_files::LOGS;
use crate::table::root_paths::{list_if_there, table_in};
use crate::table::{Table, schema};
use crate::table_reader::TableReader;
use crate::table_reader::recovered::RECOVERED_EDITS;
use crate::tree::root_tree::RootTree;
use crate::tree::{FileTree, Item, ItemKind};

/// The directory of snapshots that are not finished.
const UNFINISHED: &str = ".tmp";

/// A root directory of HBase, or a directory that `ExportSnapshot` wrote.
///
/// ```
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use hbase_files::{LocalTree, RootDirectory};
///
/// # let path = Path::new("testdata");
/// # if path.join("data").exists() {
/// let root = RootDirectory::open(Arc::new(LocalTree), path)?;
/// for name in root.tables()? {
///     let table = root.table(&name)?;
///     println!("{name}: {} regions", table.regions.len());
/// }
/// # }
/// # Ok::<(), hbase_files::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RootDirectory {
    tree: Arc<dyn FileTree>,
    path: PathBuf,
    /// The root of the write-ahead logs, if it is another one.
    wal_root: Option<PathBuf>,
}

/// The snapshots of a root directory.
#[derive(Debug, Default)]
pub struct SnapshotList {
    /// The snapshots, by ascending name.
    pub snapshots: Vec<SnapshotDescription>,
    /// The names of snapshots that were not finished, ascending.
    pub unfinished: Vec<String>,
    /// The snapshots whose description cannot be read.
    pub problems: Vec<Error>,
}

impl RootDirectory {
    /// Opens a root directory, which may be a symbolic link.
    ///
    /// Symbolic links below it that lead out of it are errors for who opens or lists them.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it is missing, or has none of the directories and files of a root;
    /// [`Error::Io`] if it cannot be read.
    pub fn open(tree: Arc<dyn FileTree>, path: &Path) -> Result<Self> {
        if !is_root(&*tree, path)? {
            let problem = "is not a root directory of HBase: it has no .hbase-snapshot, archive, data/default or hbase.version";
            let above = root_above(&*tree, path).map(|root| format!("; {} is one", root.display()));
            let what = format!("{problem}{}", above.unwrap_or_default());
            return Err(Error::NotFound { path: path.to_owned(), what });
        }
        let absolute = tree.absolute(path).map_err(Error::io(path, "resolve it"))?;
        Ok(Self {
            tree: Arc::new(RootTree::new(tree, absolute.clone())),
            path: absolute,
            wal_root: None,
        })
    }

    /// Reads write-ahead logs and recovered edits from another root: the directory `hbase.wal.dir`.
    /// Default: from the root directory.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it has no directory `WALs`; [`Error::Io`] if it cannot be read.
    pub fn with_wal_root(mut self, path: &Path) -> Result<Self> {
        let logs = path.join(LOGS);
        if self.tree.find(&logs).map_err(Error::io(&logs, "find it"))?.is_none() {
            let what = format!("is not a directory of write-ahead logs of HBase: it has no {LOGS}");
            return Err(Error::NotFound { path: path.to_owned(), what });
        }
        self.wal_root = Some(self.tree.absolute(path).map_err(Error::io(path, "resolve it"))?);
        Ok(self)
    }

    /// Returns the tree of files, which refuses symbolic links out of the root.
    pub fn tree(&self) -> &Arc<dyn FileTree> {
        &self.tree
    }

    /// Returns the path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names of the finished snapshots, ascending.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a directory cannot be listed.
    pub fn snapshot_names(&self) -> Result<Vec<String>> {
        self.names_in(&self.path.join(SNAPSHOTS))
    }

    /// Reads the descriptions of all snapshots.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a directory cannot be listed.
    pub fn snapshots(&self) -> Result<SnapshotList> {
        let directory = self.path.join(SNAPSHOTS);
        let mut list = SnapshotList {
            unfinished: self.names_in(&directory.join(UNFINISHED))?,
            ..SnapshotList::default()
        };
        for name in self.names_in(&directory)? {
            match SnapshotDescription::read(&*self.tree, &directory.join(name)) {
                Ok(description) => list.snapshots.push(description),
                Err(error) => list.problems.push(error),
            }
        }
        Ok(list)
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is none of this name, [`Error::Damaged`] if its manifest is
    /// damaged, [`Error::Missing`] if it has no manifest.
    pub fn snapshot(&self, name: &str) -> Result<Snapshot> {
        let names = self.snapshot_names()?;
        let snapshots = self.path.join(SNAPSHOTS);
        if !names.iter().any(|known| known == name) {
            let what = format!("has no snapshot {name}; {}", list_text("snapshots", &names));
            return Err(Error::NotFound { path: snapshots, what });
        }
        let directory = snapshots.join(name);
        let snapshot = Snapshot::read(&self.tree, &self.path, &directory)?;
        if snapshot.description.name != name {
            let what = format!(
                "damaged description of a snapshot: it is of {}",
                snapshot.description.name
            );
            return Err(Error::damaged(&directory.join(DESCRIPTION_FILE), what));
        }
        Ok(snapshot)
    }

    /// Returns the names of the tables, ascending, HBase's own included.
    ///
    /// A directory with nothing but recovered edits is left of a dropped table, and is none.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a directory cannot be listed.
    pub fn tables(&self) -> Result<Vec<TableName>> {
        let data = self.path.join("data");
        let mut tables = Vec::new();
        for namespace in self.names_in(&data)? {
            let items = self.list_named(&data.join(&namespace))?;
            let known = Some(&*namespace).filter(|name| *name != "default");
            for name in directory_names(&items) {
                if let Ok(table) = TableName::new(known, name)
                    && !self.has_only_recovered_edits(&data.join(&namespace).join(name))
                {
                    tables.push(table);
                }
            }
        }
        tables.sort();
        Ok(tables)
    }

    /// Reads a table of a running or abandoned root directory.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is no such table, [`Error::Missing`] or [`Error::Damaged`] if it
    /// has no sound schema; [`Error::Unsupported`] if the table `hbase:storefile` lists the store files,
    /// or the root directory has several tables `hbase:meta`. Regions that cannot be read are in [`Table::problems`].
    pub fn table(&self, name: &TableName) -> Result<Table> {
        let directory = table_in(&self.path, "data", name);
        let tree = &*self.tree;
        if tree.find(&directory).map_err(Error::io(&directory, "find it"))?
            != Some(ItemKind::Directory)
        {
            let names: Vec<String> = self.tables()?.iter().map(ToString::to_string).collect();
            if names.contains(&name.to_string()) {
                let what =
                    format!("the directory of table {name}, to which a symbolic link leads,");
                let path = directory.parent().unwrap_or(&directory).to_owned();
                return Err(Error::Missing { path, what, searched: vec![directory] });
            }
            let what = format!("has no table {name}; {}", list_text("tables", &names));
            return Err(Error::NotFound { path: self.path.join("data"), what });
        }
        if self.has_only_recovered_edits(&directory) {
            let what = format!("has no table {name}, which is gone: only recovered edits are left");
            return Err(Error::NotFound { path: directory, what });
        }
        check_layout(tree, &self.path)?;
        let (root, wal_root) = (&*self.path, self.wal_root.as_deref());
        TableReader { tree: &self.tree, root, wal_root }.read(name, directory)
    }

    /// Returns the names of the directories in a directory that are not hidden, ascending.
    fn names_in(&self, directory: &Path) -> Result<Vec<String>> {
        let items = list_if_there(&*self.tree, directory)?;
        let mut names: Vec<String> = directory_names(&items).map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    /// Returns whether a directory has regions with recovered edits, and nothing else.
    ///
    /// HBase writes recovered edits when it splits the logs of a dead server, also for a table that was dropped
    /// in the meantime, and never reads these. A directory that cannot be read may have more.
    pub(super) fn has_only_recovered_edits(&self, table: &Path) -> bool {
        // Nearly all tables have a schema, and need not be listed.
        if !matches!(self.tree.find(&table.join(schema::DIRECTORY)), Ok(None)) {
            return false;
        }
        let Ok(regions) = self.tree.list(table) else { return false };
        !regions.is_empty()
            && regions.iter().all(|region| {
                let parts = self.tree.list(&region.path).unwrap_or_default();
                region.kind == ItemKind::Directory
                    && !parts.is_empty()
                    && parts.iter().all(|part| part.name() == Some(RECOVERED_EDITS))
            })
    }

    /// Lists a directory that must be there, because another one has its name.
    fn list_named(&self, directory: &Path) -> Result<Vec<Item>> {
        self.tree.list(directory).map_err(Error::io(directory, "list it"))
    }
}

/// Returns the names of the directories among the entries of a directory that are not hidden.
///
/// A symbolic link that leads nowhere is among them: opening it fails, and says why.
fn directory_names(items: &[Item]) -> impl Iterator<Item = &str> {
    let directories = items.iter().filter(|item| !matches!(item.kind, ItemKind::File { .. }));
    directories.filter_map(Item::name).filter(|name| !name.starts_with('.'))
}

/// Returns the names as the end of an error message, cut after some.
fn list_text(what: &str, names: &[String]) -> String {
    const SHOWN: usize = 20;
    if names.is_empty() {
        return format!("it has no {what}");
    }
    let shown: Vec<&str> = names.iter().take(SHOWN).map(|name| &**name).collect();
    match names.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{what}: {} and {more} more", shown.join(", ")),
        _ => format!("{what}: {}", shown.join(", ")),
    }
}
