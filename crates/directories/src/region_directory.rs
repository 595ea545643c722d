//! The regions in the directory of a table, or of a snapshot with layout version 0.
//!
//! ```text
//! TABLE/REGION/.regioninfo
//!             /FAMILY/FILE             in a snapshot, empty or a reference
//!             /FAMILY/.filelist        of a store file tracker, which lists the files that count
//! ```
//!
//! Which regions count is decided in `region_rules.rs`. What HBase adds to a region when it opens it,
//! such as recovered edits, is read in `recovered.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::region_info::{self, RegionInfo};
use crate::root_paths::list_if_there;
use crate::schema::{TableSchema, is_family_name};
use crate::store_file::StorePlace;
use crate::table::{Family, Region};
use crate::tracker::TrackedFiles;
use crate::{Error, FileTree, Item, ItemKind, RegionName, Result, StoreFile, StoreFileName};

/// The setting that names the store file tracker of a table or a family.
const TRACKER: &str = "hbase.store.file-tracker.impl";
/// The setting that names the tracker that counts while a table migrates to another one.
const TRACKER_SOURCE: &str = "hbase.store.file-tracker.migration.src.impl";
/// The maximum number of directories and files of a table.
const ITEMS_MAX: usize = 1 << 22;

/// Reads the directories of regions.
pub(crate) struct RegionDirectories<'t> {
    pub(crate) tree: &'t dyn FileTree,
    /// The root directory.
    pub(crate) root: &'t Path,
    pub(crate) schema: &'t TableSchema,
    pub(crate) kind: DirectoryKind,
}

/// What the directories of regions have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DirectoryKind {
    /// The store files of a table.
    Table,
    /// The MOB files of a table, of which no tracker has a list.
    MobFiles,
    /// A snapshot's list of store files, as empty files.
    Snapshot,
}

impl RegionDirectories<'_> {
    /// Reads all regions of a table's directory. Adds what cannot be read to `problems`.
    pub(crate) fn read(&self, table: &Path, problems: &mut Vec<Error>) -> Result<Vec<Region>> {
        let items = self.tree.list(table).map_err(Error::io(table, "list it"))?;
        let (mut regions, mut seen) = (Vec::new(), items.len());
        for item in items {
            let name = item.name().and_then(|name| name.parse::<RegionName>().ok());
            let Some(name) = name else { continue };
            match item.kind {
                ItemKind::Directory | ItemKind::DirectoryLink => {}
                // Not HBase's, and not what a copy leaves of a directory.
                ItemKind::File { .. } => continue,
                ItemKind::Other => {
                    problems.push(self.not_a_region(table, item.path));
                    continue;
                }
            }
            match self.read_region(&item.path, &name, problems) {
                Ok(region) => {
                    seen = seen.saturating_add(1).saturating_add(region.files().count());
                    regions.push(region);
                }
                Err(error) => problems.push(error),
            }
            if seen > ITEMS_MAX {
                let what = format!("has more than {ITEMS_MAX} files and directories");
                return Err(Error::TooMany { path: table.to_owned(), what });
            }
        }
        Ok(regions)
    }

    fn read_region(
        &self,
        directory: &Path,
        name: &RegionName,
        problems: &mut Vec<Error>,
    ) -> Result<Region> {
        let path = directory.join(region_info::FILE);
        if self.tree.find(&path).map_err(Error::io(&path, "find it"))?.is_none() {
            let what = "the description of the region".to_owned();
            return Err(Error::Missing { path: directory.to_owned(), what, looked: vec![path] });
        }
        let info = RegionInfo::read(self.tree, &path)?;
        if info.table != self.schema.table {
            let what = format!(
                "damaged description of a region: it is of table {}, in the directory of {}",
                info.table, self.schema.table
            );
            return Err(Error::damaged(&path, what));
        }
        if info.replica_id != 0 {
            let number = info.replica_id;
            let what = format!(
                "damaged description of a region: of replica {number}, which has no directory"
            );
            return Err(Error::damaged(&path, what));
        }
        if info.encoded_name != *name {
            let what = format!(
                "damaged description of a region: it is of region {}, in the directory of {name}",
                info.encoded_name
            );
            return Err(Error::damaged(&path, what));
        }
        Ok(self.read_families(directory, info, problems))
    }

    /// Reads the families of a region. Adds those that cannot be read to `problems`.
    pub(crate) fn read_families(
        &self,
        directory: &Path,
        info: RegionInfo,
        problems: &mut Vec<Error>,
    ) -> Region {
        let mut families = Vec::new();
        for family in &self.schema.families {
            match self.read_family(directory, &info, &family.name, problems) {
                Ok(family) => families.push(family),
                Err(error) => problems.push(error),
            }
        }
        if let Err(error) = self.check_other_families(directory, problems) {
            problems.push(error);
        }
        Region { info, families, recovered_edits: Vec::new(), last_opened: None }
    }

    /// Reports store files in directories of families that the schema does not have.
    fn check_other_families(&self, region: &Path, problems: &mut Vec<Error>) -> Result<()> {
        for item in list_if_there(self.tree, region)? {
            let name = item.name().filter(|name| is_family_name(name.as_bytes()));
            let is_directory = matches!(item.kind, ItemKind::Directory | ItemKind::DirectoryLink);
            let Some(name) = name.filter(|_| is_directory) else { continue };
            if self.schema.family(name.as_bytes()).is_some() {
                continue;
            }
            let is_store_file =
                |item: &Item| item.name().is_some_and(|name| name.parse::<StoreFileName>().is_ok());
            if list_if_there(self.tree, &item.path)?.iter().any(is_store_file) {
                let what = "has store files of a family that the schema of the table does not have";
                problems.push(Error::damaged(&item.path, what));
            }
        }
        Ok(())
    }

    fn read_family(
        &self,
        region: &Path,
        info: &RegionInfo,
        name: &[u8],
        problems: &mut Vec<Error>,
    ) -> Result<Family> {
        // A schema's names of families are UTF-8.
        let family = String::from_utf8_lossy(name).into_owned();
        let directory = region.join(&family);
        let place = Arc::new(StorePlace {
            root: self.root.to_owned(),
            table: info.table.clone(),
            region: info.encoded_name.clone(),
            family,
            listed_in: directory.clone(),
            is_table: self.kind == DirectoryKind::Table,
        });
        let items = list_if_there(self.tree, &directory)?;
        let mut files = Vec::new();
        match self.tracked(name, &directory, &items)? {
            Some(tracked) => {
                for file in tracked.files {
                    let Ok(parsed) = file.name.parse::<StoreFileName>() else {
                        let what =
                            format!("damaged tracker file: {:?} is no store file", file.name);
                        problems.push(Error::damaged(&tracked.path, what));
                        continue;
                    };
                    files.push(StoreFile {
                        name: parsed,
                        len: Some(file.size).filter(|size| *size > 0),
                        half: file.reference,
                        path: Some(directory.join(&file.name)),
                        place: place.clone(),
                    });
                }
            }
            None => self.add_items(&place, items, &mut files, problems),
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Family { name: name.to_owned(), files, recovered_hfiles: Vec::new() })
    }

    /// Adds the store files of a directory, by their names, as HBase does.
    fn add_items(
        &self,
        place: &Arc<StorePlace>,
        items: Vec<Item>,
        files: &mut Vec<StoreFile>,
        problems: &mut Vec<Error>,
    ) {
        for item in items {
            let name = item.name().and_then(|name| name.parse::<StoreFileName>().ok());
            let Some(name) = name else { continue };
            let ItemKind::File { len } = item.kind else {
                problems.push(self.not_a_file(&place.listed_in, item.path));
                continue;
            };
            let is_link = matches!(name, StoreFileName::Link(_));
            if len == 0 && self.kind != DirectoryKind::Snapshot && !is_link {
                problems.push(Error::damaged(&item.path, "the store file is empty"));
                continue;
            }
            let path = Some(item.path);
            files.push(StoreFile { name, len: None, half: None, path, place: place.clone() });
        }
    }

    /// Returns the error of a name of a store file that is no regular file.
    fn not_a_file(&self, family: &Path, path: PathBuf) -> Error {
        self.not_that(family, path, "store file", "regular file")
    }

    /// Returns the error of a name of a region that is neither a directory nor a file.
    fn not_a_region(&self, table: &Path, path: PathBuf) -> Error {
        self.not_that(table, path, "directory of a region", "directory")
    }

    /// Returns the error of an entry of `directory` that has the name of another kind of entry.
    fn not_that(&self, directory: &Path, path: PathBuf, named: &str, wanted: &str) -> Error {
        match self.tree.find(&path) {
            Err(source) => Error::io(&path, "find it")(source),
            Ok(None) => Error::Missing {
                path: directory.to_owned(),
                what: format!("the {named} to which a symbolic link leads"),
                looked: vec![path],
            },
            Ok(Some(_)) => Error::damaged(&path, format!("the {named} is not a {wanted}")),
        }
    }

    /// Returns the files that count if a store file tracker lists them.
    ///
    /// The table says whether it has one. If it does not, a server-wide setting decides, which is not
    /// in the root directory; then the tracker counts if there are files of it.
    fn tracked(
        &self,
        family: &[u8],
        directory: &Path,
        items: &[Item],
    ) -> Result<Option<TrackedFiles>> {
        let setting = |name: &str| {
            let of_family = self.schema.family(family).and_then(|it| it.configuration.get(name));
            of_family
                .or_else(|| self.schema.configuration.get(name))
                .map(|it| it.to_ascii_uppercase())
        };
        let kind = match setting(TRACKER).as_deref() {
            Some("MIGRATION") => setting(TRACKER_SOURCE),
            kind => kind.map(str::to_owned),
        };
        if self.kind != DirectoryKind::Table || kind.as_deref() == Some("DEFAULT") {
            return Ok(None);
        }
        let tracked = TrackedFiles::read(self.tree, directory)?;
        let has_files = items
            .iter()
            .any(|item| item.name().is_some_and(|name| name.parse::<StoreFileName>().is_ok()));
        if tracked.is_none() && kind.as_deref() == Some("FILE") && has_files {
            let looked = vec![directory.join(crate::tracker::DIRECTORY)];
            let what = "the list of the family's store file tracker".to_owned();
            return Err(Error::Missing { path: directory.to_owned(), what, looked });
        }
        Ok(tracked)
    }
}
