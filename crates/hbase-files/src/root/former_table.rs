//! Tables that are gone, but have files in the archive, among the MOB files, or recovered edits.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::names::TableName;
use crate::root::{Listing, RootDirectory};
use crate::table::root_paths::{list_if_there, table_in};
use crate::table_reader::recovered::RECOVERED_EDITS;
use crate::tree::ItemKind;

/// A table that is gone but has left files in `archive` or `mobdir`, or recovered edits in `data`.
///
/// Snapshots and clones can still need the files: HBase moves the files of a deleted table to the archive.
/// Recovered edits are of a server that died; HBase does not read them any more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FormerTable {
    /// The name.
    pub name: TableName,
    /// What has the files: the directory `archive` or `mobdir` below the root, or [`RECOVERED_EDITS`](Self::RECOVERED_EDITS).
    pub place: &'static str,
    /// The directory of the table there.
    pub path: PathBuf,
    /// The number of store files, or of recovered edits.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The directories below the root, and the directories of the tables in them.
const PLACES: [(&str, &str); 2] = [("archive", "archive/data"), ("mobdir", "mobdir/data")];

impl FormerTable {
    /// The [place](Self::place) of recovered edits, which are below the directory of the table.
    pub const RECOVERED_EDITS: &'static str = RECOVERED_EDITS;
}

impl RootDirectory {
    /// Returns the tables that have store files in `archive` or `mobdir` only, or recovered edits, by ascending name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if a directory cannot be listed, or a problem of the listing.
    pub fn former_tables(&self) -> Result<Vec<FormerTable>> {
        let tables = self.tables()?;
        let mut former = Vec::new();
        for (place, data) in PLACES {
            for name in self.names_below(data)? {
                if tables.binary_search(&name).is_ok() {
                    continue;
                }
                let path = table_in(self.path(), data, &name);
                let listing = Listing::read(&**self.tree(), &path)?;
                if let Some(problem) = listing.problems.into_iter().next() {
                    return Err(problem);
                }
                let files = u64::try_from(listing.entries.len()).unwrap_or(u64::MAX);
                let bytes = listing.entries.iter().map(|entry| entry.len).sum();
                if files > 0 {
                    former.push(FormerTable { name, place, path, files, bytes });
                }
            }
        }
        for name in self.names_below("data")? {
            let path = table_in(self.path(), "data", &name);
            if self.has_only_recovered_edits(&path) {
                let (files, bytes) = self.recovered_edits(&path)?;
                former.push(FormerTable { name, place: RECOVERED_EDITS, path, files, bytes });
            }
        }
        former.sort_by(|one, other| one.name.cmp(&other.name).then(one.place.cmp(other.place)));
        Ok(former)
    }

    /// Returns the number of recovered edits of the regions of a table, and their bytes.
    fn recovered_edits(&self, table: &Path) -> Result<(u64, u64)> {
        let (mut files, mut bytes) = (0_u64, 0_u64);
        for region in list_if_there(&**self.tree(), table)? {
            for item in list_if_there(&**self.tree(), &region.path.join(RECOVERED_EDITS))? {
                if let ItemKind::File { len: len @ 1.. } = item.kind {
                    files = files.saturating_add(1);
                    bytes = bytes.saturating_add(len);
                }
            }
        }
        Ok((files, bytes))
    }

    /// Returns the names of the tables that have a directory below one of data.
    fn names_below(&self, data: &str) -> Result<Vec<TableName>> {
        let directory = self.path().join(data);
        let mut names = Vec::new();
        for item in list_if_there(&**self.tree(), &directory)? {
            if item.kind != ItemKind::Directory {
                continue;
            }
            let namespace = item.name().filter(|name| *name != "default");
            for table in list_if_there(&**self.tree(), &item.path)? {
                names.extend(table.name().and_then(|name| TableName::new(namespace, name).ok()));
            }
        }
        Ok(names)
    }
}
