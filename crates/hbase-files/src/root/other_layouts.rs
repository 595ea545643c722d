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

use std::path::Path;

use crate::table::root_paths::list_if_there;
use crate::{Error, FileTree, ItemKind, Result};

/// The table that lists the store files of other tables.
const STORE_FILES: &str = "storefile";
/// The start of the name of `hbase:meta` in a root directory with several clusters.
const META_WITH_SUFFIX: &str = "meta_";

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
