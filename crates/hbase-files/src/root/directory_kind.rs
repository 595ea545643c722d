//! What a directory is in HBase's tree, by its name and its entries.
//!
//! ```text
//! ROOT/data/NAMESPACE/TABLE/REGION/FAMILY/FILE
//! ROOT/mobdir/data/NAMESPACE/TABLE/REGION/FAMILY/FILE     MOB files
//! ROOT/archive/data/NAMESPACE/TABLE/REGION/FAMILY/FILE    files that only links and snapshots use
//! ROOT/.tmp/data/NAMESPACE/TABLE/REGION/FAMILY/FILE       tables that are being made or deleted
//! ```

use std::fmt;
use std::path::Path;

use crate::names::RegionName;
use crate::table::family_files::has_store_file_name;
use crate::table::tracker;
use crate::tree::{FileTree, Item, ItemKind};

/// The kind of a directory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DirectoryKind {
    /// The root directory of an HBase installation.
    Root,
    /// A namespace: a directory of tables.
    Namespace,
    /// A table: a directory of regions.
    Table,
    /// A region: a directory of families.
    Region,
    /// A family of a region: a directory of store files.
    Family,
    /// A store of this project: a manifest, a log and directories of families.
    Store,
    /// Any other directory.
    Plain,
}

impl DirectoryKind {
    /// Returns what a directory with these entries is.
    ///
    /// Lists one subdirectory, the first, if the names of the entries do not decide.
    pub(crate) fn of(tree: &dyn FileTree, directory: &Path, items: &[Item]) -> Self {
        let has = |name: &str| items.iter().any(|item| item.name() == Some(name));
        let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if has("MANIFEST") && has("wal") {
            return Self::Store;
        }
        let of_root = ["hbase.version", "hbase.id", "WALs", "archive", ".hbase-snapshot", "mobdir"];
        if has("data") && of_root.into_iter().any(has) {
            return Self::Root;
        }
        if has(".regioninfo") || has("recovered.edits") {
            return Self::Region;
        }
        if has(".tabledesc") || subdirectories(items).any(|item| is_region(item.name())) {
            return Self::Table;
        }
        if has(tracker::DIRECTORY)
            || items
                .iter()
                .any(|item| matches!(item.kind, ItemKind::File { .. }) && has_store_file_name(item))
        {
            return Self::Family;
        }
        if is_region(Some(name)) {
            return Self::Region;
        }
        // A namespace has nothing of its own: look for a table in it.
        if subdirectories(items).next().is_some_and(|item| {
            let inner = tree.list(&item.path).unwrap_or_default();
            inner.iter().any(|item| item.name() == Some(".tabledesc"))
                || subdirectories(&inner).any(|item| is_region(item.name()))
        }) {
            return Self::Namespace;
        }
        Self::Plain
    }
}

impl fmt::Display for DirectoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "root directory",
            Self::Namespace => "namespace",
            Self::Table => "table",
            Self::Region => "region",
            Self::Family => "family",
            Self::Store => "store",
            Self::Plain => "directory",
        })
    }
}

fn subdirectories(items: &[Item]) -> impl Iterator<Item = &Item> {
    items.iter().filter(|item| item.kind == ItemKind::Directory)
}

/// Whether a directory is named like a region. Only the region of `hbase:meta` has a decimal name.
fn is_region(name: Option<&str>) -> bool {
    name.is_some_and(|name| {
        (name.len() == 32 || name == "1588230740") && name.parse::<RegionName>().is_ok()
    })
}
