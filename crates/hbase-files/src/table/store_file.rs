//! A store file of a table, and the HFile that has its cells.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::{Half, Reference};

use crate::error::{Error, Result};
use crate::names::{ReferredName, RegionName, StoreFileName, TableName};
use crate::table::location::{find_first, read_reference};
use crate::table::root_paths::in_all_data;
use crate::table::{Location, RegionInfo};
use crate::tree::{FileTree, ItemKind};
use crate::warning::Warning;

/// A store file of a table or a snapshot.
#[derive(Clone, Debug)]
pub struct StoreFile {
    /// The name.
    pub name: StoreFileName,
    /// The recorded length of the HFile that has the cells, of the whole file for a reference.
    ///
    /// A snapshot's manifest records it, and a store file tracker except for links and references. Zero
    /// of a link means that it is not known.
    pub len: Option<u64>,
    /// The half that a reference stands for, if a manifest or a tracker records it.
    pub half: Option<Reference>,
    /// The file itself, if it is a link or a reference in a directory.
    pub(crate) path: Option<PathBuf>,
    pub(crate) place: Arc<StorePlace>,
}

/// A family of a region of a table: what the places of its files have in common.
#[derive(Debug)]
pub(crate) struct StorePlace {
    pub(crate) root: PathBuf,
    pub(crate) table: TableName,
    pub(crate) region: RegionName,
    pub(crate) family: String,
    /// The directory below the region: the directory of the family, or its directory of recovered HFiles.
    pub(crate) directory: String,
    /// The manifest or the directory that lists the files, for errors.
    pub(crate) listed_in: PathBuf,
    /// Whether the files belong to the table itself, and are in its directory.
    pub(crate) is_table: bool,
}

impl StoreFile {
    /// Finds the HFile that has the cells, and the half that counts.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if the HFile is in none of the places where HBase looks; [`Error::File`]
    /// and [`Error::Io`] if the file is a reference that cannot be read.
    pub fn locate(&self, tree: &dyn FileTree) -> Result<Location> {
        let half = match (&self.name, &self.half) {
            (StoreFileName::Reference(_), Some(half)) => Some(half.clone()),
            (StoreFileName::Reference(_), None) => Some(self.read_half(tree)?),
            _ => None,
        };
        let path = self.candidates();
        Ok(Location { path: find_first(tree, self.listed(), self.target_text(), path)?, half })
    }

    /// Returns the path of the file below its table, as in `REGION/FAMILY/NAME`.
    pub fn short_path(&self) -> String {
        let StorePlace { region, directory, .. } = &*self.place;
        format!("{region}/{directory}/{}", self.name)
    }

    /// Returns the path of the HFile that has the cells, below `data`, `mobdir/data` or
    /// `archive/data`: `NAMESPACE/TABLE/REGION/FAMILY/FILE`.
    ///
    /// Store files with equal paths have their cells in the same HFile.
    pub fn hfile_path(&self) -> String {
        let (table, region, name) = self.target();
        let directory = &self.place.directory;
        format!("{}/{}/{region}/{directory}/{name}", table.namespace(), table.name())
    }

    /// Returns the length of the HFile that has the cells: as recorded, or as it is.
    ///
    /// `None` if the HFile is not there.
    pub fn hfile_len(&self, tree: &dyn FileTree) -> Option<u64> {
        self.len.or_else(|| {
            let location = self.locate(tree).ok()?;
            match tree.find(&location.path).ok()?? {
                ItemKind::File { len } => Some(len),
                _ => None,
            }
        })
    }

    /// Returns the name of the family whose directory or list has the file.
    pub(crate) fn family_name(&self) -> &str {
        &self.place.family
    }

    /// Checks that a half fits the region of the reference and the first row of the whole HFile.
    ///
    /// After a split, the split row is the start key of the upper region and the end key of the
    /// lower one. A merged region has the whole files of its parents as upper halves, split at the
    /// start key of the parent. A damaged split row would hide cells.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if it does not fit.
    pub(crate) fn check_half(
        &self,
        half: &Reference,
        region: &RegionInfo,
        first_row: Option<&[u8]>,
    ) -> Result<()> {
        let row = half.split_key().row;
        let fits = match half.half() {
            Half::Top => {
                row == &region.start_key[..]
                    || (region.contains_row(row) && first_row.is_none_or(|first| first >= row))
            }
            Half::Bottom => row == &region.end_key[..],
        };
        if fits {
            return Ok(());
        }
        let what = format!(
            "damaged reference: the half of {} at row {} does not fit the region, {}",
            self.short_path(),
            cells::escape(row),
            region.rows()
        );
        Err(Error::damaged(self.listed(), what))
    }

    /// Returns the table, the region and the name of the HFile that has the cells.
    fn target(&self) -> (&TableName, &RegionName, String) {
        let StorePlace { table, region, .. } = &*self.place;
        match &self.name {
            StoreFileName::HFile(name) => (table, region, name.to_string()),
            StoreFileName::Mob(name) => (table, region, name.to_string()),
            StoreFileName::Link(link) => (&link.table, &link.region, link.file.to_string()),
            StoreFileName::Reference(reference) => match &reference.referred {
                ReferredName::HFile(name) => (table, &reference.region, name.to_string()),
                ReferredName::Link(link) => (&link.table, &link.region, link.file.to_string()),
            },
        }
    }

    /// Returns the places where HBase looks for the HFile.
    fn candidates(&self) -> Vec<PathBuf> {
        let (table, region, name) = self.target();
        let mut places = in_all_data(&self.place.root, table, region, &self.place.directory, &name);
        if self.is_own() {
            places.truncate(1);
        }
        places
    }

    /// Returns a warning if the HFile of a reference is not where HBase looks for it: with the parent
    /// region, in the directory of the table.
    ///
    /// HBase does not open the region then. The cells in the archive are the right ones nevertheless.
    pub(crate) fn archived_parent(&self, tree: &dyn FileTree) -> Option<Warning> {
        let StoreFileName::Reference(reference) = &self.name else { return None };
        if !self.place.is_table || !matches!(reference.referred, ReferredName::HFile(_)) {
            return None;
        }
        let candidates = self.candidates();
        let found = candidates.iter().find(|path| matches!(tree.find(path), Ok(Some(_))))?;
        let wanted = candidates.first().filter(|wanted| *wanted != found)?;
        let what = format!(
            "HBase looks for the HFile of the reference only at {}, and does not open the region; it was read from {}",
            wanted.display(),
            found.display()
        );
        Some(Warning::new(self.listed(), what))
    }

    /// Returns whether the file is an HFile in the table's own directory.
    ///
    /// Such a file is not looked for in the archive. A store file tracker can list one that is
    /// there: HBase does not change the tracker's list in a `restore_snapshot`. HBase cannot open
    /// the region then, and the archived file has the cells that the restore took back.
    fn is_own(&self) -> bool {
        self.place.is_table && matches!(self.name, StoreFileName::HFile(_))
    }

    fn target_text(&self) -> String {
        let (table, region, name) = self.target();
        let family = &self.place.family;
        let is_tracked = self.is_own() && self.len.is_some();
        let listed = if is_tracked { " which the store file tracker lists," } else { "" };
        format!("the file {name} of family {family}, region {region}, table {table},{listed}")
    }

    /// Returns the file that names the HFile, for errors.
    fn listed(&self) -> &Path {
        self.path.as_deref().unwrap_or(&self.place.listed_in)
    }

    fn read_half(&self, tree: &dyn FileTree) -> Result<Reference> {
        if let Some(path) = &self.path
            && let Some(ItemKind::File { len }) =
                tree.find(path).map_err(Error::io(path, "find it"))?
        {
            return read_reference(tree, path, len);
        }
        Err(Error::Missing {
            path: self.place.listed_in.clone(),
            what: format!("the reference {}", self.short_path()),
            searched: self.path.iter().cloned().collect(),
        })
    }
}
