//! Tables that are gone, but have files in the archive or among the MOB files.

use std::path::PathBuf;

use crate::table::root_paths::{list_if_there, table_in};
use crate::{ItemKind, Listing, Result, RootDirectory, TableName};

/// A table without a directory in `data`, of which files are left in `archive` or `mobdir`.
///
/// Snapshots and clones can still need them: HBase moves the files of a deleted table to the archive.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FormerTable {
    /// The name.
    pub name: TableName,
    /// The directory below the root that has the files: `archive` or `mobdir`.
    pub place: &'static str,
    /// The directory of the table there.
    pub path: PathBuf,
    /// The number of store files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The directories below the root, and those of the tables in them.
const PLACES: [(&str, &str); 2] = [("archive", "archive/data"), ("mobdir", "mobdir/data")];

impl RootDirectory {
    /// Returns the tables that have store files in `archive` or `mobdir` only, by ascending name.
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
        former.sort_by(|one, other| one.name.cmp(&other.name).then(one.place.cmp(other.place)));
        Ok(former)
    }

    /// Returns the names of the tables that have a directory below one of data.
    fn names_below(&self, data: &str) -> Result<Vec<TableName>> {
        let data = self.path().join(data);
        let mut names = Vec::new();
        for namespace in list_if_there(&**self.tree(), &data)? {
            if namespace.kind != ItemKind::Directory {
                continue;
            }
            for table in list_if_there(&**self.tree(), &namespace.path)? {
                let namespace = namespace.name().filter(|name| *name != "default");
                names.extend(table.name().and_then(|name| TableName::new(namespace, name).ok()));
            }
        }
        Ok(names)
    }
}
