//! Layouts of root directories that this crate does not read: found by their names, and refused.
//!
//! | entry                          | who writes it                  | what it changes                          |
//! |--------------------------------|--------------------------------|------------------------------------------|
//! | `data/hbase/meta_SUFFIX`       | clusters that share a root     | each cluster has an `hbase:meta`; which  |
//! |                                | directory: one writes, the     | one counts, only `active.cluster.suffix.id` |
//! |                                | others only read (HBASE-29081) | and the configurations tell              |
//! | `data/hbase/storefile`         | distributions of HBase on      | the table lists the live store files of  |
//! |                                | object stores                  | all other tables, not the directories    |
//!
//! Tables of such a root could be read with regions or files that do not count, or without some that do.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::root::root_path::{is_root, root_above};
use crate::table::root_paths::list_if_there;
use crate::tree::{FileTree, ItemKind};

/// The table that lists the store files of other tables.
const STORE_FILES: &str = "storefile";
/// The start of the name of `hbase:meta` in a root directory with several clusters.
const META_WITH_SUFFIX: &str = "meta_";

/// Refuses to list store files whose directories do not tell which of them count: those below `ROOT/data`, if the
/// table `hbase:storefile` lists them.
///
/// The root directory is looked for above the directory, which may be a copy outside of it: then nothing tells.
/// The files of that table itself can be listed.
///
/// # Errors
///
/// [`Error::Unsupported`] with the layout; [`Error::Io`] if it cannot be found out.
pub(super) fn check_listing(tree: &dyn FileTree, directory: &Path) -> Result<()> {
    let Some(root) = root_of_data(tree, directory)? else { return Ok(()) };
    let store_files = root.join("data/hbase").join(STORE_FILES);
    let found = tree.find(&store_files).map_err(Error::io(&store_files, "find it"))?;
    if found != Some(ItemKind::Directory) {
        return Ok(());
    }
    let absolute = tree.absolute(directory).map_err(Error::io(directory, "resolve it"))?;
    if absolute.starts_with(&store_files) {
        return Ok(());
    }
    let what = "its store files are listed in the table hbase:storefile, and may not count; take a snapshot and read that, or give single files";
    Err(Error::Unsupported { path: directory.to_owned(), what: what.to_owned() })
}

/// Returns the root directory, if a directory is one or is in its `data`.
fn root_of_data(tree: &dyn FileTree, directory: &Path) -> Result<Option<PathBuf>> {
    if let Some(root) = root_above(tree, directory) {
        let absolute = tree.absolute(directory).map_err(Error::io(directory, "resolve it"))?;
        return Ok(Some(root).filter(|root| absolute.starts_with(root.join("data"))));
    }
    Ok(is_root(tree, directory)?.then(|| directory.to_owned()))
}

/// Refuses the tables of a root directory whose layout this crate does not read.
///
/// # Errors
///
/// [`Error::Unsupported`] with the layout; [`Error::Io`] if the tables of HBase cannot be listed.
pub(super) fn check_layout(tree: &dyn FileTree, root: &Path) -> Result<()> {
    for item in list_if_there(tree, &root.join("data/hbase"))? {
        let name = item.name().filter(|_| !matches!(item.kind, ItemKind::File { .. }));
        let what = match name {
            Some(STORE_FILES) => {
                "a root directory whose store files are listed in the table hbase:storefile; take a snapshot and read that"
            }
            Some(name) if name.starts_with(META_WITH_SUFFIX) => {
                "a root directory of several clusters, which has several tables hbase:meta; take a snapshot and read that"
            }
            _ => continue,
        };
        return Err(Error::Unsupported { path: item.path, what: what.to_owned() });
    }
    Ok(())
}
