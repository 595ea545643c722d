//! The regions of a table by `hbase:meta`, read from its files and logs in the same root directory.
//!
//! A row of `hbase:meta` is a region: `TABLE,START_KEY,ID.ENCODED.`; its column `info:regioninfo` has
//! the region's description, `PBUF` and the message `RegionInfo`. The parent of a split is marked
//! there; after a merge, the rows of the parents are deleted. HBase flushes `hbase:meta` rarely, so
//! its newest cells are often in its log only. HBase: `MetaTableAccessor`.

use std::collections::BTreeMap;

use crate::{Error, RegionInfo, RegionName, Result, Table, TableName, TableScan};

/// Reads the regions that `hbase:meta` has of a table, split parents included, by encoded name.
///
/// # Errors
///
/// If a file or a log of `hbase:meta` cannot be read.
pub(crate) fn regions_of(
    meta: &Table,
    table: &TableName,
) -> Result<BTreeMap<RegionName, RegionInfo>> {
    // In the order of hbase:meta, the rows of a table are neighbours, and no table is between NAME
    // and NAME with a zero byte.
    let scan = TableScan::default()
        .start(format!("{table},,"))
        .stop(format!("{table}\0,,"))
        .column("info", "regioninfo")
        .versions(1)
        .with_logs(true);
    let mut cells = meta.scan(&scan)?;
    let mut regions = BTreeMap::new();
    while let Some(cell) = cells.next_ref()? {
        let info = RegionInfo::parse_meta_value(cell.value).map_err(|what| {
            let row = sstable::escape(cell.row);
            Error::damaged(&meta.path, format!("the row {row} of hbase:meta is damaged: {what}"))
        })?;
        regions.insert(info.encoded_name.clone(), info);
    }
    Ok(regions)
}
