//! The HFiles of a table, each once, and what is wrong with the table before any is read.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use sstable::RowsBetween;

use super::damage::TableDamage;
use super::file::{FileCheck, FileUse};
use crate::{Error, FileTree, ItemKind, Region, RegionName, Table};

/// The checks of a table: what is known without reading a file, and one check for each HFile.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use directories::{LocalTree, RootDirectory};
/// use sstable::Limits;
///
/// let root = RootDirectory::open(Arc::new(LocalTree), Path::new("hbase"))?;
/// let table = root.snapshot("users-monday")?.table;
/// let check = table.check();
/// let mut damages = check.damages.clone();
/// for file in &check.files {
///     damages.extend(file.run(&**table.tree(), Limits::default(), |_bytes| {})?);
/// }
/// for damage in damages {
///     println!("{}: {}; {} may be lost", damage.place(), damage.what, damage.rows);
/// }
/// # Ok::<(), directories::Error>(())
/// ```
#[derive(Debug)]
pub struct TableCheck {
    /// What is wrong with the table itself: regions that cannot be read, gaps and overlaps.
    pub damages: Vec<TableDamage>,
    /// The HFiles to check, in the order of the regions.
    pub files: Vec<FileCheck>,
}

impl Table {
    /// Returns the checks of the table: of its regions, and of each HFile.
    pub fn check(&self) -> TableCheck {
        let damages = self.problems.iter().map(|problem| self.damage_of(problem)).collect();
        let (mut files, mut known): (Vec<FileCheck>, BTreeMap<String, usize>) = Default::default();
        for region in self.regions.iter().chain(&self.mob) {
            for family in &region.families {
                for file in &family.files {
                    let used = FileUse {
                        region: region.info.clone(),
                        rows: self.rows_of(region, file),
                        family: family.name.clone(),
                        file: file.clone(),
                    };
                    let path = file.hfile_path();
                    if let Some(check) = known.get(&path).and_then(|at| files.get_mut(*at)) {
                        check.uses.push(used);
                    } else {
                        known.insert(path.clone(), files.len());
                        files.push(FileCheck { path, uses: vec![used] });
                    }
                }
            }
        }
        TableCheck { damages, files }
    }

    /// Returns the rows that a store file can have: those of its region.
    ///
    /// A MOB file is of the region that its name names; that region may be gone.
    fn rows_of(&self, region: &Region, file: &crate::StoreFile) -> RowsBetween {
        if !region.info.is_mob() {
            return region.info.rows();
        }
        let writer = match &file.name {
            crate::StoreFileName::Mob(name) => name.region(),
            _ => None,
        };
        let left_out = self.left_out.iter().map(|left_out| &left_out.region);
        let mut regions = self.regions.iter().chain(left_out);
        let writer = regions.find(|region| writer == Some(region.name()));
        writer.map_or_else(RowsBetween::default, |region| region.info.rows())
    }

    /// Returns a problem of the table with the region and the rows that it concerns.
    fn damage_of(&self, problem: &Error) -> TableDamage {
        let mut damage = TableDamage {
            region: None,
            family: None,
            file: None,
            what: problem.to_string(),
            rows: RowsBetween::default(),
        };
        let path = match problem {
            Error::KeyRanges { rows, what, .. } => {
                damage.rows = (**rows).clone();
                damage.what.clone_from(what);
                return damage;
            }
            Error::Io { path, .. } | Error::Damaged { path, .. } | Error::Missing { path, .. } => {
                path
            }
            _ => return damage,
        };
        damage.file = Some(path.display().to_string());
        let prefix = format!("{}: ", path.display());
        if let Some(what) = damage.what.strip_prefix(&prefix) {
            damage.what = String::from(what);
        }
        self.find_place(path, &mut damage);
        damage
    }

    /// Finds the region and the family whose directory a path is in.
    fn find_place(&self, path: &Path, damage: &mut TableDamage) {
        let mut names = path.components().filter_map(|component| match component {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
        let region = names.by_ref().find_map(|name| {
            let name = name.parse::<RegionName>().ok().filter(|name| name.as_str().len() == 32)?;
            Some(name)
        });
        let Some(name) = region else { return };
        if let Some(region) = self.regions.iter().find(|region| *region.name() == name) {
            damage.rows = region.info.rows();
        }
        let family = names.next().map(str::as_bytes);
        damage.family =
            family.filter(|name| self.schema.family(name).is_some()).map(<[u8]>::to_vec);
        damage.region = Some(name);
    }
}

impl FileCheck {
    /// Returns the length of the HFile, for the progress of a check; zero if it is not there.
    pub fn len(&self, tree: &dyn FileTree) -> u64 {
        let path = self.uses.first().and_then(|used| used.file.locate(tree).ok());
        match path.map(|location| tree.find(&location.path)) {
            Some(Ok(Some(ItemKind::File { len }))) => len,
            _ => 0,
        }
    }
}
