//! The compactions that the logs of a table name, for reads that do not read the logs.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cells::error_line;
use sstable::SequenceId;

use crate::error::{Error, Result};
use crate::names::{RegionName, TableName};
use crate::table::table_log::TableLog;
use crate::tree::FileTree;
use crate::wal;
use crate::wal::region_log::RegionLog;
use crate::warning::Warning;

/// The compactions that the logs of a table name.
///
/// The logs are read when a region first needs them: if its files do not say which files they replaced.
#[derive(Debug)]
pub(crate) struct LoggedCompactions {
    tree: Arc<dyn FileTree>,
    table: TableName,
    logs: Vec<PathBuf>,
    old_logs: Option<PathBuf>,
    /// The logs that were not found, because a directory cannot be read.
    problems: Vec<Arc<Error>>,
    /// By encoded name of the region.
    of_servers: OnceLock<Result<HashMap<String, RegionLog>, Arc<Error>>>,
}

impl LoggedCompactions {
    pub(crate) fn new(
        tree: Arc<dyn FileTree>,
        table: TableName,
        logs: Vec<PathBuf>,
        old_logs: Option<PathBuf>,
        problems: Vec<Arc<Error>>,
    ) -> Self {
        Self { tree, table, logs, old_logs, problems, of_servers: OnceLock::new() }
    }

    /// Returns the names of the files of a family of a region that compactions replaced.
    ///
    /// # Errors
    ///
    /// If a log cannot be read: it may name files.
    pub(crate) fn replaced_files(
        &self,
        region: &RegionName,
        recovered_edits: &[PathBuf],
        last_opened: Option<SequenceId>,
        family: &[u8],
    ) -> Result<HashSet<String>, Arc<Error>> {
        if let Some(problem) = self.problems.iter().find(|problem| may_concern(region, problem)) {
            return Err(Arc::clone(problem));
        }
        let edits = TableLog::in_order(recovered_edits, &[]);
        let mut by_region = self.read(&edits).map_err(Arc::new)?;
        let name = region.as_str();
        let recovered = by_region.remove(name).unwrap_or_default();
        let read = self
            .of_servers
            .get_or_init(|| self.read(&TableLog::in_order([], &self.logs)).map_err(Arc::new));
        let of_servers = read.as_ref().map_err(Arc::clone)?;
        let found = [Some(&recovered), of_servers.get(name)];
        let parts: Vec<&RegionLog> = found.into_iter().flatten().collect();
        Ok(RegionLog::replaced_files(&parts, family, last_opened))
    }

    /// Returns the parts that cannot be read and may have logs, and why.
    pub(crate) fn unread(&self) -> Vec<Warning> {
        self.problems
            .iter()
            .map(|problem| {
                let path = problem.path().unwrap_or(Path::new(""));
                Warning::new(path, error_line(&**problem))
            })
            .collect()
    }

    /// Reads what logs say of the regions of the table.
    fn read(&self, logs: &[TableLog<'_>]) -> Result<HashMap<String, RegionLog>> {
        let table = self.table.to_string();
        let mut regions: HashMap<String, RegionLog> = HashMap::new();
        for log in logs {
            for read in log.open(&*self.tree, self.old_logs.as_deref())? {
                let entry = read?;
                if entry.table == table && entry.cells.iter().any(wal::is_marker) {
                    let written = log.written_by(&entry);
                    regions.entry(entry.region.clone()).or_default().add(&entry, written);
                }
            }
        }
        Ok(regions)
    }
}

/// Returns whether a part that cannot be read may have logs of a region: unless the part is in the directory of another.
fn may_concern(region: &RegionName, problem: &Error) -> bool {
    let names = problem.path().into_iter().flatten().filter_map(|name| name.to_str());
    let mut regions = names.filter_map(|name| name.parse::<RegionName>().ok());
    regions.next_back().is_none_or(|other| other == *region)
}
