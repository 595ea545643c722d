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

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::names::{RegionName, StoreFileName};
use crate::table::family_files::{FamilyEntry, live_files, warn_of_other_families};
use crate::table::region_info::{self, RegionInfo};
use crate::table::root_paths::list_if_there;
use crate::table::schema::TableSchema;
use crate::table::store_file::StorePlace;
use crate::table::{Family, Region, StoreFile};
use crate::table_reader::found::Found;
use crate::table_reader::meta::MetaRegions;
use crate::tree::{FileTree, Item, ItemKind};
use crate::warning::Warning;

/// The maximum number of directories and files of a table.
const ITEMS_MAX: usize = 1 << 22;

/// Reads the directories of regions.
pub(crate) struct RegionDirectories<'t> {
    pub(crate) tree: &'t dyn FileTree,
    /// The root directory.
    pub(crate) root: &'t Path,
    pub(crate) schema: &'t TableSchema,
    pub(crate) kind: DirectoryKind,
    /// What `hbase:meta` has of the table, if it can be read.
    pub(crate) meta: Option<&'t MetaRegions>,
}

/// What the directories of regions have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DirectoryKind {
    /// The store files of a table.
    Table,
    /// The MOB files of a table; no tracker has a list of them.
    MobFiles,
    /// A snapshot's list of store files, as empty files.
    Snapshot,
}

impl RegionDirectories<'_> {
    /// Reads all regions of a table's directory. Adds what cannot be read to `found`.
    pub(crate) fn read(&self, table: &Path, found: &mut Found) -> Result<Vec<Region>> {
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
                    self.add_unread(&name, self.not_a_region(table, item.path), found);
                    continue;
                }
            }
            match self.read_region(&item.path, &name, found) {
                Ok(region) => {
                    seen = seen.saturating_add(1).saturating_add(region.files().count());
                    regions.push(region);
                }
                Err(error) => self.add_unread(&name, error, found),
            }
            if seen > ITEMS_MAX {
                let what = format!("has more than {ITEMS_MAX} files and directories");
                return Err(Error::TooMany { path: table.to_owned(), what });
            }
        }
        Ok(regions)
    }

    /// Returns where a description is from that is not in the directory of the region.
    fn known_by(&self) -> &'static str {
        match self.meta {
            Some(_) => "the one in hbase:meta was read",
            None => "the region of hbase:meta always has the same",
        }
    }

    /// Adds the error of a region that cannot be read: as a warning if the region does not count.
    fn add_unread(&self, name: &RegionName, error: Error, found: &mut Found) {
        match self.meta.filter(|meta| meta.decides_alone()) {
            Some(meta) if !meta.has(name) => {
                found.warn_of(&error, "hbase:meta does not have the region, which was left out");
            }
            Some(meta) if meta.is_parent(name) => {
                found.warn_of(&error, "the region was split or merged, and was left out");
            }
            _ => found.problems.push(error),
        }
    }

    fn read_region(
        &self,
        directory: &Path,
        name: &RegionName,
        found: &mut Found,
    ) -> Result<Region> {
        let info = self.description(directory, name, found)?;
        Ok(self.read_families(directory, info, found))
    }

    /// Returns the description of a region: the one in `hbase:meta`, or else the one in its directory.
    fn description(
        &self,
        directory: &Path,
        name: &RegionName,
        found: &mut Found,
    ) -> Result<RegionInfo> {
        let described = self.read_description(directory, name);
        let known = match self.meta {
            Some(meta) => meta.description(name).cloned(),
            None => RegionInfo::of_meta(&self.schema.table, name),
        };
        let Some(known) = known else {
            let Err(error @ Error::Damaged { .. }) = described else { return described };
            let Some(merged) = self.merged_description(directory, name) else { return Err(error) };
            let done = "the descriptions of the regions that were merged give the right one";
            found.warnings.push(as_warning(error, done)?);
            return Ok(merged);
        };
        match described {
            Err(error) => found.warnings.push(as_warning(error, self.known_by())?),
            Ok(info) if info.rows() == known.rows() => {}
            Ok(info) => {
                let what = format!(
                    "the region has {} by its description, and {} by hbase:meta, which decides",
                    info.rows(),
                    known.rows()
                );
                found.warnings.push(Warning::new(directory.join(region_info::FILE), what));
            }
        }
        // A `.regioninfo` has no marks of an offline or split region; only `hbase:meta` has them.
        Ok(RegionInfo { offline: false, split: false, ..known })
    }

    /// Returns the description of a region that was merged from the regions to which its references lead.
    ///
    /// HBase 2.4 leaves the description of the first parent in the directory of a merged region, if both have the
    /// same length (`HRegionFileSystem.checkRegionInfoOnFilesystem`). The name of the region proves the start key
    /// and the id, not the end key: `None` if the next region may have been merged, too.
    fn merged_description(&self, directory: &Path, name: &RegionName) -> Option<RegionInfo> {
        let table = directory.parent()?;
        let (mut parents, mut with_references) = (BTreeSet::new(), Vec::new());
        for family in &self.schema.families {
            for item in self.family_items(directory, &family.name)? {
                if let Some(Ok(StoreFileName::Reference(reference))) = item.name().map(str::parse) {
                    parents.insert(reference.region);
                    with_references.push(&family.name[..]);
                }
            }
        }
        // Only the description of a parent is one that HBase has left there.
        let left = RegionInfo::read(self.tree, &directory.join(region_info::FILE)).ok()?;
        if !parents.contains(&left.encoded_name) {
            return None;
        }
        let describe =
            |region: &RegionName| self.read_description(&table.join(region.as_str()), region);
        let described = parents.iter().map(describe).collect::<Result<Vec<_>>>().ok()?;
        let merged = RegionInfo::of_merged(name, &described)?;
        for item in list_if_there(self.tree, table).ok()? {
            let Some(Ok(other)) = item.name().map(str::parse::<RegionName>) else { continue };
            if other == *name || parents.contains(&other) {
                continue;
            }
            let info = describe(&other).ok()?;
            let is_next = !merged.end_key.is_empty() && info.start_key == merged.end_key;
            // The merged region would have references to the files of a parent.
            if is_next
                && info.id < merged.id
                && !with_references.iter().any(|family| {
                    let items = self.family_items(&item.path, family);
                    items.is_some_and(|items| {
                        items.iter().any(|item| matches!(item.kind, ItemKind::File { len: 1.. }))
                    })
                })
            {
                return None;
            }
        }
        Some(merged)
    }

    /// Lists the directory of a family of a region; `None` if it cannot be listed.
    fn family_items(&self, region: &Path, family: &[u8]) -> Option<Vec<Item>> {
        list_if_there(self.tree, &region.join(&*String::from_utf8_lossy(family))).ok()
    }

    /// Reads the description in the directory of a region.
    fn read_description(&self, directory: &Path, name: &RegionName) -> Result<RegionInfo> {
        let path = directory.join(region_info::FILE);
        if self.tree.find(&path).map_err(Error::io(&path, "find it"))?.is_none() {
            let what = "the description of the region".to_owned();
            return Err(Error::Missing { path: directory.to_owned(), what, searched: vec![path] });
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
        Ok(info)
    }

    /// Reads the families of a region. Adds those that cannot be read to `found`.
    pub(crate) fn read_families(
        &self,
        directory: &Path,
        info: RegionInfo,
        found: &mut Found,
    ) -> Region {
        let mut families = Vec::new();
        for family in &self.schema.families {
            match self.read_family(directory, &info, &family.name, found) {
                Ok(family) => families.push(family),
                Err(error) => found.problems.push(error),
            }
        }
        let (tree, schema) = (self.tree, self.schema);
        warn_of_other_families(tree, schema, directory, "; left out", &mut found.warnings);
        Region { info, families, recovered_edits: Vec::new(), last_opened: None }
    }

    fn read_family(
        &self,
        region: &Path,
        info: &RegionInfo,
        name: &[u8],
        found: &mut Found,
    ) -> Result<Family> {
        // A schema's names of families are UTF-8.
        let family = String::from_utf8_lossy(name).into_owned();
        let directory = region.join(&family);
        let place = Arc::new(StorePlace {
            root: self.root.to_owned(),
            table: info.table.clone(),
            region: info.encoded_name.clone(),
            directory: family.clone(),
            family,
            listed_in: directory.clone(),
            is_table: self.kind == DirectoryKind::Table,
        });
        let items = list_if_there(self.tree, &directory)?;
        let mut files = Vec::new();
        let tracked = match self.kind {
            DirectoryKind::Table => {
                let (tree, schema) = (self.tree, self.schema);
                live_files(tree, Some(schema), name, &directory, &items, &mut found.warnings)?
            }
            _ => None,
        };
        match tracked {
            Some(tracked) => {
                for file in tracked.files {
                    let Ok(parsed) = file.name.parse::<StoreFileName>() else {
                        let what =
                            format!("damaged tracker file: {:?} is no store file", file.name);
                        found.problems.push(Error::damaged(&tracked.path, what));
                        continue;
                    };
                    let is_hfile = matches!(parsed, StoreFileName::HFile(_));
                    files.push(StoreFile {
                        name: parsed,
                        len: Some(file.size).filter(|size| is_hfile && *size > 0),
                        half: file.reference,
                        path: Some(directory.join(&file.name)),
                        place: place.clone(),
                    });
                }
            }
            None => self.add_items(&place, items, &mut files, &mut found.problems),
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
            let name = match FamilyEntry::of(&item) {
                FamilyEntry::StoreFile(name) => name,
                FamilyEntry::EmptyStoreFile(name) if self.kind == DirectoryKind::Snapshot => name,
                FamilyEntry::EmptyStoreFile(_) => {
                    problems.push(Error::damaged(&item.path, "the store file is empty"));
                    continue;
                }
                FamilyEntry::NotAFile => {
                    problems.push(self.not_a_file(&place.listed_in, item.path));
                    continue;
                }
                FamilyEntry::OtherFile { blocks_region } => {
                    if blocks_region && self.kind == DirectoryKind::Table {
                        let what = "is a file without the name of a store file: HBase does not open the region until it is moved away";
                        problems.push(Error::damaged(&item.path, what));
                    }
                    continue;
                }
                FamilyEntry::Other => continue,
            };
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
                searched: vec![path],
            },
            Ok(Some(_)) => Error::damaged(&path, format!("the {named} is not a {wanted}")),
        }
    }
}

/// Turns the error of a missing or damaged description into a warning, with what was done about it.
fn as_warning(error: Error, done: &str) -> Result<Warning> {
    match error {
        Error::Damaged { path, what } => Ok(Warning::new(path, format!("{what}; {done}"))),
        Error::Missing { path, what, .. } => {
            Ok(Warning::new(path, format!("{what} is missing; {done}")))
        }
        error => Err(error),
    }
}
