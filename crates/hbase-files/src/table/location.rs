//! Resolves links and references to the HFile that has their cells.
//!
//! | store file               | the cells are in                                                        |
//! |--------------------------|-------------------------------------------------------------------------|
//! | HFile, MOB file          | itself                                                                  |
//! | link                     | REGION/FAMILY/FILE of its table, below one of the four directories      |
//! | reference                | a half of REGION/FAMILY/FILE of the same table                          |
//! | reference to a link      | a half of the file to which the link leads                              |
//!
//! The four directories are ROOT/data, ROOT/.tmp/data, ROOT/mobdir/data and ROOT/archive/data, in
//! this order. HBase: `HFileLink`.

use std::path::{Path, PathBuf};

use sstable::{FileName, Reference};

use crate::error::{Error, Result};
use crate::names::{HFileLink, ReferenceName, ReferredName};
use crate::table::entry::REFERENCE_LEN_MAX;
use crate::table::root_paths::DATA;
use crate::table::{EntryKind, ListedFile};
use crate::tree::root_tree::check_inside;
use crate::tree::{FileTree, ItemKind};

/// The HFile that has the cells of a store file, and for a reference the half that counts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Location {
    /// The path of the HFile.
    pub path: PathBuf,
    /// The half that counts, for a reference.
    pub half: Option<Reference>,
}

impl ListedFile {
    /// Finds the HFile that has the cells of this file.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] or [`Error::NoRoot`] if it cannot be found; [`Error::File`] if the file
    /// is a damaged reference.
    pub fn locate(&self, tree: &dyn FileTree) -> Result<Location> {
        match &self.kind {
            EntryKind::HFile | EntryKind::Mob => {
                Ok(Location { path: self.path.clone(), half: None })
            }
            EntryKind::Link(link) => {
                let place = FamilyPlace::of(tree, &self.path)?;
                Ok(Location { path: place.find_link(tree, &self.path, link)?, half: None })
            }
            EntryKind::Reference { name, stored } => {
                let half = match stored {
                    Some(reference) => reference.clone(),
                    None => read_reference(tree, &self.path, self.len)?,
                };
                let place = FamilyPlace::of(tree, &self.path)?;
                let path = match &name.referred {
                    ReferredName::Link(link) => place.find_link(tree, &self.path, link)?,
                    ReferredName::HFile(_) => place.find_referred(tree, &self.path, name)?,
                };
                Ok(Location { path, half: Some(half) })
            }
        }
    }
}

pub(crate) fn read_reference(tree: &dyn FileTree, path: &Path, len: u64) -> Result<Reference> {
    let source = tree.open(path).map_err(Error::io(path, "open it"))?;
    let mut bytes = vec![0; usize::try_from(len.min(REFERENCE_LEN_MAX)).unwrap_or(0)];
    source.read_exact_at(&mut bytes, 0).map_err(Error::io(path, "read it"))?;
    Ok(Reference::parse(&bytes, &FileName::new(path.display().to_string()))?)
}

/// Where the directory of a family is in HBase's tree.
struct FamilyPlace {
    /// The directory of the family, without symbolic links.
    family: PathBuf,
    /// The root directory, if the path has the form `ROOT/data/NAMESPACE/TABLE/REGION/FAMILY`.
    root: Option<PathBuf>,
}

impl FamilyPlace {
    fn of(tree: &dyn FileTree, file: &Path) -> Result<Self> {
        let given = match file.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let family = tree.absolute(given).map_err(Error::io(given, "resolve it"))?;
        let root = root_above(&family);
        Ok(Self { family, root })
    }

    /// Returns the path of a file in a region of the same table.
    fn in_region(&self, table: &Path, region: &str, file: &str) -> Option<PathBuf> {
        Some(table.join(region).join(self.family.file_name()?).join(file))
    }

    /// Finds the first file there is, which must not be behind a symbolic link out of the root.
    fn find(
        &self,
        tree: &dyn FileTree,
        path: &Path,
        what: String,
        candidates: Vec<PathBuf>,
    ) -> Result<PathBuf> {
        let found = find_first(tree, path, what, candidates)?;
        if let Some(root) = &self.root {
            check_inside(tree, root, &found).map_err(Error::io(&found, "resolve it"))?;
        }
        Ok(found)
    }

    /// Finds the file to which a link leads.
    fn find_link(&self, tree: &dyn FileTree, path: &Path, link: &HFileLink) -> Result<PathBuf> {
        let family = self.family.file_name().unwrap_or_default().display();
        let HFileLink { table, region, file } = link;
        let what = format!(
            "the file {file} of family {family}, region {region}, table {table}, to which the link leads,"
        );
        let Some(root) = &self.root else {
            return Err(Error::NoRoot { path: path.to_owned(), what });
        };
        let candidates = DATA.iter().filter_map(|data| {
            let table = root.join(data).join(table.namespace()).join(table.name());
            self.in_region(&table, region.as_str(), file.as_str())
        });
        self.find(tree, path, what, candidates.collect())
    }

    /// Finds the file to which a reference leads: beside its own region, or elsewhere in the root.
    fn find_referred(
        &self,
        tree: &dyn FileTree,
        path: &Path,
        name: &ReferenceName,
    ) -> Result<PathBuf> {
        let family = self.family.file_name().unwrap_or_default().display();
        let ReferenceName { referred, region } = name;
        let what = format!(
            "the file {referred} of family {family}, region {region}, of which this is a half,"
        );
        let (file, region_name) = (referred.to_string(), region.as_str());
        let table = self.family.parent().and_then(Path::parent);
        let mut candidates = Vec::new();
        if let Some(table) = table {
            candidates.extend(self.in_region(table, region_name, &file));
        }
        if let (Some(root), Some(table)) = (&self.root, table) {
            let names = table.parent().and_then(Path::file_name).zip(table.file_name());
            for data in DATA {
                let path = names.and_then(|(namespace, name)| {
                    self.in_region(&root.join(data).join(namespace).join(name), region_name, &file)
                });
                candidates.extend(path.filter(|path| !candidates.contains(path)));
            }
        }
        self.find(tree, path, what, candidates)
    }
}

/// Returns the root directory of a family; `None` if the path is not the path of a family in a root.
fn root_above(family: &Path) -> Option<PathBuf> {
    // FAMILY, REGION, TABLE, NAMESPACE, data
    let data = family.ancestors().nth(4)?;
    if data.file_name()? != "data" {
        return None;
    }
    let above = data.parent()?;
    let is_part = above
        .file_name()
        .is_some_and(|name| [".tmp", "mobdir", "archive"].iter().any(|part| name == *part));
    if is_part { above.parent().map(Path::to_owned) } else { Some(above.to_owned()) }
}

pub(crate) fn find_first(
    tree: &dyn FileTree,
    path: &Path,
    what: String,
    candidates: Vec<PathBuf>,
) -> Result<PathBuf> {
    for candidate in &candidates {
        let kind = tree.find(candidate).map_err(Error::io(candidate, "find it"))?;
        if matches!(kind, Some(ItemKind::File { .. })) {
            return Ok(candidate.clone());
        }
    }
    Err(Error::Missing { path: path.to_owned(), what, searched: candidates })
}
