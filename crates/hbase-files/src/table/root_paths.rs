//! The places of tables and store files in a root directory.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::names::{RegionName, TableName};
use crate::tree::{FileTree, Item, ItemKind};

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
    DATA.iter()
        .map(|data| table_in(root, data, table).join(region.as_str()).join(family).join(file))
        .collect()
}

/// Lists a directory; empty if there is none.
pub(crate) fn list_if_there(tree: &dyn FileTree, directory: &Path) -> Result<Vec<Item>> {
    match tree.find(directory).map_err(Error::io(directory, "find it"))? {
        Some(ItemKind::Directory | ItemKind::DirectoryLink) => {
            tree.list(directory).map_err(Error::io(directory, "list it"))
        }
        Some(ItemKind::File { .. } | ItemKind::Other) => {
            Err(Error::damaged(directory, "is not a directory"))
        }
        None => Ok(Vec::new()),
    }
}
