//! The compactions that the logs of a table name, for reads that do not read the logs.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use sstable::SequenceId;

use crate::table::table_log::TableLog;
use crate::wal::region_log::RegionLog;
use crate::{Error, FileTree, RegionName, Result, TableName, wal};

/// The compactions that the logs of a table name.
///
/// The logs are read when a region first needs them: if its files do not say which files they replaced.
#[derive(Debug)]
pub(crate) struct LoggedCompactions {
    tree: Arc<dyn FileTree>,
    table: TableName,
    logs: Vec<PathBuf>,
    old_logs: Option<PathBuf>,
    /// By encoded name of the region.
    of_servers: OnceLock<Result<HashMap<String, RegionLog>, Arc<Error>>>,
}

impl LoggedCompactions {
    pub(crate) fn new(
        tree: Arc<dyn FileTree>,
        table: TableName,
        logs: Vec<PathBuf>,
        old_logs: Option<PathBuf>,
    ) -> Self {
        Self { tree, table, logs, old_logs, of_servers: OnceLock::new() }
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
        let recovered = TableLog::in_order(recovered_edits, &[]);
        let mut recovered = self.read(&recovered).map_err(Arc::new)?;
        let name = region.as_str();
        let recovered = recovered.remove(name).unwrap_or_default();
        let of_servers = self
            .of_servers
            .get_or_init(|| self.read(&TableLog::in_order([], &self.logs)).map_err(Arc::new));
        let of_servers = of_servers.as_ref().map_err(Arc::clone)?;
        let parts = [Some(&recovered), of_servers.get(name)];
        let parts: Vec<&RegionLog> = parts.into_iter().flatten().collect();
        Ok(RegionLog::replaced_files(&parts, family, last_opened))
    }

    /// Reads what logs say of the regions of the table.
    fn read(&self, logs: &[TableLog<'_>]) -> Result<HashMap<String, RegionLog>> {
        let table = self.table.to_string();
        let mut regions: HashMap<String, RegionLog> = HashMap::new();
        for log in logs {
            for entry in log.open(&*self.tree, self.old_logs.as_deref())? {
                let entry = entry?;
                if entry.table == table && entry.cells.iter().any(wal::is_marker) {
                    let written = log.written_by(&entry);
                    regions.entry(entry.region.clone()).or_default().add(&entry, written);
                }
            }
        }
        Ok(regions)
    }
}
