//! Finds regions whose logs are gone, by what `hbase:meta` says of their last opening.
//!
//! HBase 2 records where a region is open, `info:server` and `info:serverstartcode`, and the sequence id of its opening,
//! `info:seqnumDuringOpen`. The server writes a marker to its log when it opens the region, so a log of the server is there
//! as long as the region is open. A region was not closed since if the greatest N of its files `recovered.edits/N.seqid` is
//! less than the sequence id of the opening: closing the region, and opening it again, write a greater N.
//!
//! Nothing is reported if the server may have had logs that HBase has split by region, or does not need any more: a log of
//! the server is in `oldWALs`, or the region has recovered edits or HFiles. HBase 1 does not write states to `hbase:meta`,
//! which tell a region that is open from one that waits to be opened after its server died; so nothing is reported for it.

use std::collections::BTreeMap;
use std::path::Path;

use sstable::SequenceId;

use crate::table::Region;
use crate::table::log_files::{LogFiles, is_log_of_meta};
use crate::table::lost_logs::LostLogs;
use crate::table::root_paths::list_if_there;
use crate::tree::FileTree;

/// The last opening of a region that is open, by `hbase:meta`.
#[derive(Debug)]
pub(crate) struct RegionOpening {
    /// The server as in the names of its logs: `HOST,PORT,START_CODE`.
    pub(crate) server: String,
    pub(crate) sequence: SequenceId,
}

/// Returns the lost logs of regions.
pub(crate) fn lost_logs<'r>(
    tree: &dyn FileTree,
    logs: &LogFiles,
    regions: impl Iterator<Item = (&'r Region, RegionOpening)>,
) -> Vec<LostLogs> {
    let (mut lost, mut has_log) = (Vec::new(), BTreeMap::new());
    for (region, RegionOpening { server, sequence }) in regions {
        let was_not_closed = region.last_opened.is_some_and(|last| last < sequence);
        let has_recovered_files =
            !region.recovered_edits.is_empty() || region.recovered_hfiles().next().is_some();
        if !was_not_closed || has_recovered_files {
            continue;
        }
        let directory = logs.directory.join(&server);
        if !*has_log.entry(server).or_insert_with_key(|server| has_logs(tree, logs, server)) {
            lost.push(LostLogs {
                region: region.name().clone(),
                rows: region.info.rows(),
                directory,
                sequence,
            });
        }
    }
    lost
}

/// Returns whether there may be a log of a server, in whatever directory.
fn has_logs(tree: &dyn FileTree, logs: &LogFiles, server: &str) -> bool {
    // Names of logs have `%2C` in place of a comma. The host may be written in another way.
    let port_and_start_code = server.find(',').map_or(server, |comma| server.split_at(comma).1);
    let is_of_server = |path: &Path| {
        let name = path.to_string_lossy().replace("%2C", ",");
        name.contains(port_and_start_code) && !is_log_of_meta(path)
    };
    logs.logs.iter().chain(&logs.empty).any(|log| is_of_server(log))
        || match list_if_there(tree, &logs.old) {
            Ok(items) => items.iter().any(|item| is_of_server(&item.path)),
            Err(_) => true,
        }
}
