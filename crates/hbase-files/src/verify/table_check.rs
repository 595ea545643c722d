//! The HFiles of a table, each once, and what is wrong with the table before any is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use cells::RowsBetween;

use super::damage::TableDamage;
use super::file_check::FileCheck;
use super::file_use::FileUse;
use super::mob::MobCheck;
use crate::error::Error;
use crate::history::{FileLoss, FileSearch};
use crate::table::problem_place::ProblemPlace;
use crate::table::{FamilySchema, Region, Table};
use crate::tree::{FileTree, ItemKind};

/// The checks of a table: what is known without reading a file, and one check for each HFile.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use hbase_files::{LocalTree, RootDirectory};
/// use sstable::Limits;
///
/// let root = RootDirectory::open(Arc::new(LocalTree), Path::new("hbase"))?;
/// let table = root.snapshot("users-monday")?.table;
/// let check = table.check();
/// let mut damages = check.damages.clone();
/// for file in &check.files {
///     file.run(&**table.tree(), Limits::default(), |_bytes| {}, &mut damages)?;
/// }
/// for damage in damages {
///     let rows = damage.rows.as_ref().map_or("no rows".to_owned(), ToString::to_string);
///     println!("{}: {}; {rows} may be lost", damage.place(), damage.what);
/// }
/// # Ok::<(), hbase_files::Error>(())
/// ```
#[derive(Debug)]
pub struct TableCheck {
    /// What is wrong with the table itself: regions that cannot be read, gaps and overlaps,
    /// store files and logs that are gone, or logs that do not tell which files are gone.
    pub damages: Vec<TableDamage>,
    /// Why parts of the table could not be read that are not known to be damaged: for lack of a permission,
    /// or because they need what this build does not have. With such parts, the check is incomplete.
    pub unread: Vec<Error>,
    /// The HFiles to check, in the order of the regions.
    pub files: Vec<FileCheck>,
}

impl Table {
    /// Returns the checks of the table: of its regions, and of each HFile.
    ///
    /// Of a table that is no snapshot, reads its logs, those in `oldWALs` as well, and the back references of
    /// cloned tables for the names of store files, and reports those that are gone. Does not report a file that
    /// HBase may have deleted, for example after a compaction. Reports a log that cannot be read to its end in
    /// place of such files. Reports the logs of open regions that are gone.
    pub fn check(&self) -> TableCheck {
        let (harmful, refused): (Vec<_>, Vec<_>) =
            self.all_problems().partition(|problem| self.is_damage(problem));
        let mut damages: Vec<_> =
            harmful.into_iter().map(|problem| self.damage_of(problem)).collect();
        let mut unread: Vec<_> = refused
            .into_iter()
            .map(|problem| Error::Incomplete {
                path: self.path.clone(),
                source: Arc::clone(problem),
            })
            .collect();
        for loss in self.missing_files() {
            match loss.unread {
                Some(error) => unread.push(error),
                None => damages.push(TableDamage::from(loss)),
            }
        }
        let (mut files, mut known): (Vec<FileCheck>, BTreeMap<String, usize>) = Default::default();
        for region in self.regions.iter().chain(&self.mob) {
            for family in &region.families {
                for file in family.files.iter().chain(&family.recovered_hfiles) {
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
                        files.push(FileCheck { path, uses: vec![used], mob: None });
                    }
                }
            }
        }
        self.follow_mob_references(&mut files);
        TableCheck { damages, unread, files }
    }

    /// Returns whether a problem tells of damage, and does not follow from a part that could not be read.
    ///
    /// A region whose description may not be read looks missing, and leaves a gap.
    fn is_damage(&self, problem: &Error) -> bool {
        let mut errors = self.all_problems().filter(|other| !other.is_damage());
        let follows = match problem {
            Error::KeyRanges { .. } => errors.next().is_some(),
            Error::Missing { searched, .. } => {
                let mut refused = errors.filter_map(|error| error.path());
                refused.any(|path| searched.iter().any(|place| path.starts_with(place)))
            }
            _ => false,
        };
        problem.is_damage() && !follows
    }

    /// Returns the store files that are gone, or the logs that cannot be read to their end, and the logs that are gone.
    fn missing_files(&self) -> Vec<FileLoss> {
        if self.old_logs.is_none() {
            return Vec::new();
        }
        let mut search = FileSearch::new(self, &self.regions);
        let unread = search.read_all_logs();
        let files = if unread.is_empty() { search.losses(|_| true) } else { unread };
        files.into_iter().chain(self.lost_logs.iter().map(FileLoss::from)).collect()
    }

    /// Lets the checks of the store files of MOB families follow the references to MOB files.
    fn follow_mob_references(&self, files: &mut [FileCheck]) {
        if !self.schema.families.iter().any(FamilySchema::is_mob) {
            return;
        }
        let mut check = MobCheck::new(self);
        check.listed = files.iter().map(|file| file.path.clone()).collect();
        let mob = Arc::new(check);
        for file in files {
            file.mob = file
                .uses
                .iter()
                .any(|used| {
                    let family = self.schema.family(&used.family);
                    family.is_some_and(FamilySchema::is_mob) && !used.region.is_mob()
                })
                .then(|| Arc::clone(&mob));
        }
    }

    /// Returns the rows that a store file can have: the rows of its region.
    ///
    /// A MOB file is of the region that its name names; that region may be gone.
    fn rows_of(&self, region: &Region, file: &crate::table::StoreFile) -> RowsBetween {
        if !region.info.is_mob() {
            return region.info.rows();
        }
        let name = match &file.name {
            crate::names::StoreFileName::Mob(name) => name.region(),
            _ => None,
        };
        let left_out = self.left_out.iter().map(|left_out| &left_out.region);
        let mut regions = self.regions.iter().chain(left_out);
        let writer = regions.find(|region| name == Some(region.name()));
        writer.map_or_else(RowsBetween::default, |region| region.info.rows())
    }

    /// Returns a problem of the table with the region and the rows that it concerns.
    fn damage_of(&self, problem: &Error) -> TableDamage {
        let ProblemPlace { file, region, family, what, rows } = self.place_of(problem);
        TableDamage { region, family, file, what, rows: Some(rows) }
    }
}

impl From<FileLoss> for TableDamage {
    fn from(FileLoss { region, family, file, what, rows, .. }: FileLoss) -> Self {
        Self { region, family, file: Some(file), what, rows: Some(rows) }
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
