//! The places of a store file in a root directory.

use std::path::{Path, PathBuf};

use crate::{RegionName, TableName};

/// The directories that have tables, below a root directory, in the order of the search.
pub(crate) const DATA: [&str; 4] = ["data", ".tmp/data", "mobdir/data", "archive/data"];

/// Returns the path of a table in one of these directories.
pub(crate) fn table_in(root: &Path, data: &str, table: &TableName) -> PathBuf {
    root.join(data).join(table.namespace()).join(table.name())
}

/// Returns the paths that a store file can have.
pub(crate) fn in_all_data(
    root: &Path,
    table: &TableName,
    region: &RegionName,
    family: &str,
    file: &str,
) -> Vec<PathBuf> {
    let path =
        |data: &&str| table_in(root, data, table).join(region.as_str()).join(family).join(file);
    DATA.iter().map(path).collect()
}
