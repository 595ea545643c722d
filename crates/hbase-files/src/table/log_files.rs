//! The write-ahead logs of a root directory that may have unflushed cells.
//!
//! ```text
//! WALROOT/WALs/SERVER/LOG             of a server that runs, or died
//!             /SERVER-splitting/LOG   of a server whose logs HBase splits by region
//!             /…/LOG.meta             the cells of hbase:meta
//!        /oldWALs/LOG                 HBase has flushed or split all cells: read by `verify` only
//!        /corrupt/LOG                 HBase could not read the log when it split it: not read
//! ```
//!
//! The root of the logs is the root of the tables, unless the setting `hbase.wal.dir` is another one.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::table::Table;
use crate::table::root_paths::list_if_there;
use crate::tree::{FileTree, Item, ItemKind};
use crate::wal::{self, End, LogContinuation};
use crate::warning::Warning;

/// The directory of the logs that may have unflushed cells.
pub(crate) const LOGS: &str = "WALs";
/// The directory of the logs whose cells have all been flushed or split.
pub(crate) const OLD_LOGS: &str = "oldWALs";
/// The start of the names of logs of another format, which HBase 2.2 and older move to [`OLD_LOGS`].
///
/// HBase: `MasterProcedureUtil`.
const PROCEDURE_LOG: &str = "pv2-";
/// The directory of the logs that HBase could not read.
const CORRUPT: &str = "corrupt";

/// The logs that may have unflushed cells of a table.
#[derive(Default)]
pub(crate) struct LogFiles {
    /// By ascending path.
    pub(crate) logs: Vec<PathBuf>,
    /// The directory of the logs.
    pub(crate) directory: PathBuf,
    /// The directory of the logs, if it is not there.
    pub(crate) missing: Option<PathBuf>,
    /// The directory of the logs whose cells have all been flushed or split, which may not be there.
    pub(crate) old: PathBuf,
    /// The logs without bytes, which are left out.
    pub(crate) empty: Vec<PathBuf>,
    /// The directories that cannot be read.
    pub(crate) problems: Vec<Error>,
    /// The logs that are left out.
    pub(crate) warnings: Vec<Warning>,
}

impl LogFiles {
    /// Finds the logs of `hbase:meta`, or the logs of all other tables.
    pub(crate) fn find(
        tree: &dyn FileTree,
        root: &Path,
        wal_root: Option<&Path>,
        is_meta: bool,
    ) -> Self {
        let of_logs = wal_root.unwrap_or(root);
        let directory = of_logs.join(LOGS);
        let old = of_logs.join(OLD_LOGS);
        let mut found = Self { directory: directory.clone(), old, ..Self::default() };
        if matches!(tree.find(&directory), Ok(None)) {
            found.missing = Some(directory);
            return found;
        }
        for server in found.list(tree, &directory) {
            match server.kind {
                ItemKind::Directory | ItemKind::DirectoryLink => {}
                ItemKind::File { .. } => {
                    if server.name().is_some_and(|name| !name.starts_with('.')) {
                        let what = "is in no directory of a server, where logs are; left out";
                        found.warnings.push(Warning::new(server.path, what));
                    }
                    continue;
                }
                // A symbolic link that leads nowhere is kept: opening it fails, and says why.
                ItemKind::Other => {
                    found.logs.push(server.path);
                    continue;
                }
            }
            found.add_server(tree, &server.path, is_meta);
        }
        found.logs.sort();
        found.warnings.sort();
        found.warn_of_others(tree, root, wal_root);
        found
    }

    /// Lists a directory, or adds why it cannot be listed.
    fn list(&mut self, tree: &dyn FileTree, directory: &Path) -> Vec<Item> {
        let listed = tree.list(directory).map_err(Error::io(directory, "list it"));
        listed.unwrap_or_else(|error| {
            self.problems.push(error);
            Vec::new()
        })
    }

    fn add_server(&mut self, tree: &dyn FileTree, server: &Path, is_meta: bool) {
        for item in self.list(tree, server) {
            if is_log_of_meta(&item.path) != is_meta {
                continue;
            }
            match item.kind {
                ItemKind::File { len: 0 } => {
                    let what = "the log has no bytes; HDFS shows that of a log which is still open, and its cells would be missing";
                    self.warnings.push(Warning::new(&item.path, what));
                    self.empty.push(item.path);
                }
                ItemKind::File { .. } | ItemKind::Other => self.logs.push(item.path),
                ItemKind::Directory | ItemKind::DirectoryLink => {}
            }
        }
    }

    /// Warns of directories with logs that HBase does not read.
    fn warn_of_others(&mut self, tree: &dyn FileTree, root: &Path, wal_root: Option<&Path>) {
        let mut warn = |directory: PathBuf, what: &str| {
            if list_if_there(tree, &directory).is_ok_and(|items| !items.is_empty()) {
                self.warnings.push(Warning::new(directory, what));
            }
        };
        let corrupt = wal_root.unwrap_or(root).join(CORRUPT);
        warn(corrupt, "has logs that HBase could not read; their cells are left out");
        if wal_root.is_some_and(|wal_root| wal_root != root) {
            warn(root.join(LOGS), "its logs are left out: those of the other WAL root count");
        }
    }
}

/// Finds the logs of `hbase:meta`, or the logs of all other tables, whose cells have all been flushed or split:
/// in the directory, and in the directories of servers below, which HBase makes if it is set to.
pub(crate) fn old_logs(
    tree: &dyn FileTree,
    directory: &Path,
    is_meta: bool,
) -> Result<Vec<PathBuf>> {
    let (servers, mut items): (Vec<_>, Vec<_>) = list_if_there(tree, directory)?
        .into_iter()
        .partition(|item| item.kind == ItemKind::Directory);
    for server in servers {
        items.extend(list_if_there(tree, &server.path)?);
    }
    Ok(items
        .into_iter()
        .filter(|item| {
            matches!(item.kind, ItemKind::File { len: 1.. })
                && is_log_of_meta(&item.path) == is_meta
                && !item.name().is_some_and(|name| name.starts_with(PROCEDURE_LOG))
        })
        .map(|item| item.path)
        .collect())
}

impl Table {
    /// Returns a warning if entries after the end of a log may be lost, because its server went on in another one.
    pub(crate) fn warning_of_continuation(
        &self,
        log: &Path,
        end: Option<&End>,
    ) -> Result<Option<Warning>> {
        if !matches!(end, Some(End::Torn { .. } | End::Open)) {
            return Ok(None);
        }
        let tree = &**self.tree();
        let directory = self.old_logs.as_deref();
        let old = directory
            .map_or(Ok(Vec::new()), |directory| old_logs(tree, directory, self.name.is_meta()))?;
        let others = self.logs.iter().chain(&old).map(PathBuf::as_path);
        let found = match LogContinuation::find(tree, log, others) {
            // HBase has moved one of the logs in the meantime.
            Err(wal::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            found => found?,
        };
        let continued = found.filter(|found| !found.is_repeated);
        Ok(continued.map(|continued| Warning::new(log, continued.to_string())))
    }
}

/// Returns whether a log has the cells of `hbase:meta`.
pub(crate) fn is_log_of_meta(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "meta")
}
