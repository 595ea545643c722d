//! Whether a directory is a root directory, and which one a path is in.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::table::log_files::{LOGS, OLD_LOGS};
use crate::tree::FileTree;

/// The directory of snapshots.
pub(super) const SNAPSHOTS: &str = ".hbase-snapshot";
/// A root directory has at least one of these. `MasterData`, which is one too, has `data/master`.
const PARTS: [&str; 7] = [
    "data/default",
    "data/hbase",
    "data/master",
    SNAPSHOTS,
    "archive",
    "hbase.version",
    "hbase.id",
];

/// The directories of a root directory that have tables, snapshots and logs.
const TOPS: [&str; 7] = [SNAPSHOTS, "data", "archive", "mobdir", LOGS, OLD_LOGS, ".tmp"];

/// Returns whether a directory has a part of a root directory.
pub(super) fn is_root(tree: &dyn FileTree, path: &Path) -> Result<bool> {
    for part in PARTS {
        let part = path.join(part);
        if tree.find(&part).map_err(Error::io(&part, "find it"))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the root directory that a path is in, such as `ROOT` for `ROOT/data/default`.
pub(super) fn root_above(tree: &dyn FileTree, path: &Path) -> Option<PathBuf> {
    let absolute = tree.absolute(path).ok()?;
    let mut roots = absolute
        .ancestors()
        .filter(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| TOPS.contains(&name))
        })
        .filter_map(Path::parent);
    roots.find(|root| is_root(tree, root).is_ok_and(|is_root| is_root)).map(Path::to_owned)
}
