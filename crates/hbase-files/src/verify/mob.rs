//! Follows the references of a store file to MOB files.
//!
//! HBase keeps a MOB file while a store file refers to it, but deletes a MOB file whose cells have all expired,
//! unless the family has `MIN_VERSIONS` (`MobFileCleanerChore`). So a reference that has expired may lead to no
//! file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cells::{Clock, RowsBetween};
use sstable::{Damage, FileName, Limits, ReaderOptions};

use super::damage::TableDamage;
use super::file_use::FileUse;
use crate::error::{Error, Result, unheard_feature};
use crate::names::{MobFileName, TableName};
use crate::scan::{MobValue, is_reference, mob_value};
use crate::table::{
    FamilySchema, Location, RegionInfo, StoreFileReader, Table, TableSchema, locate_mob,
};
use crate::tree::FileTree;

/// The MOB files of a table, for the checks of its store files.
#[derive(Debug)]
pub(super) struct MobCheck {
    table: TableName,
    schema: TableSchema,
    path: PathBuf,
    root: PathBuf,
    /// The paths of the files that have a check of their own, as [`FileCheck::path`](super::FileCheck).
    pub(super) listed: HashSet<String>,
    /// The problems of the other files, by path. Several store files can refer to one of them.
    others: Mutex<HashMap<String, Arc<OtherFile>>>,
}

/// The problems of a MOB file; `None` until a thread has checked it.
type OtherFile = Mutex<Option<Vec<MobProblem>>>;

/// The rows of the references of a store file, by MOB file.
type References = BTreeMap<(TableName, MobFileName), RowsBetween>;

impl MobCheck {
    pub(super) fn new(table: &Table) -> Self {
        Self {
            table: table.name.clone(),
            schema: table.schema.clone(),
            path: table.path.clone(),
            root: table.root.clone(),
            listed: HashSet::new(),
            others: Mutex::default(),
        }
    }

    /// Checks that the MOB files to which a store file refers are there and sound.
    ///
    /// Adds what is wrong to `damages`, also before an error.
    pub(super) fn run(
        &self,
        tree: &dyn FileTree,
        limits: Limits,
        used: &FileUse,
        location: &Location,
        damages: &mut Vec<TableDamage>,
    ) -> Result<()> {
        let references = self.references(tree, limits, used, location, damages)?;
        for ((table, name), rows) in references {
            let family = &used.family;
            match locate_mob(tree, &self.root, &self.path, &table, family, &name) {
                Ok(path) => {
                    for problem in self.problems(tree, limits, &table, family, &name, &path)? {
                        let rows = problem.costs_rows.then(|| rows.clone());
                        damages.push(TableDamage { rows, ..used.harmless_damage(problem.what) });
                    }
                }
                Err(error) => {
                    damages.push(TableDamage { rows: Some(rows), ..used.damage_of(error)? });
                }
            }
        }
        Ok(())
    }

    /// Returns the problems of a MOB file; none if the file has a check of its own.
    fn problems(
        &self,
        tree: &dyn FileTree,
        limits: Limits,
        table: &TableName,
        family: &[u8],
        name: &MobFileName,
        path: &Path,
    ) -> Result<Vec<MobProblem>> {
        let region = RegionInfo::mob_region_name(table);
        let family_name = String::from_utf8_lossy(family);
        let key = format!("{}/{}/{region}/{family_name}/{name}", table.namespace(), table.name());
        if self.listed.contains(&key) {
            return Ok(Vec::new());
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Arc::clone(others.entry(key).or_default());
        drop(others);
        // Other threads that need this file wait for its check, and no others do.
        let mut known = file.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(problems) => Ok(problems.clone()),
            None => Ok(known.insert(check(tree, limits, path)?).clone()),
        }
    }

    /// Returns the references of a store file up to damage, which the check of the file reports.
    fn references(
        &self,
        tree: &dyn FileTree,
        limits: Limits,
        used: &FileUse,
        location: &Location,
        damages: &mut Vec<TableDamage>,
    ) -> Result<References> {
        let mut references = References::new();
        let name = FileName::new(location.path.display().to_string());
        let options = ReaderOptions::default().limits(limits);
        // Damage ends the references; the check of the store file reports it.
        let is_sound = |read: sstable::Result<()>| match read {
            Err(error @ (sstable::Error::Io { .. } | sstable::Error::Internal { .. })) => {
                Err(Error::from(error))
            }
            read => Ok(read.is_ok()),
        };
        let file = match StoreFileReader::open(tree, location, name, options) {
            Ok(file) => file,
            Err(Error::File(error)) => {
                is_sound(Err(error))?;
                return Ok(references);
            }
            Err(error) => return Err(error),
        };
        let family = self.schema.family(&used.family).map(FamilySchema::retention);
        let duration =
            family.filter(|family| family.min_versions == 0).and_then(|family| family.ttl);
        let ttl = duration.and_then(|duration| i64::try_from(duration.as_millis()).ok());
        let now = Clock::system().now().get();
        let mut cells = file.bulk_scanner();
        let mut is_good = is_sound(cells.seek_to_first())?;
        while is_good && let Some(cell) = cells.cell() {
            let is_expired = ttl.is_some_and(|ttl| cell.timestamp.get().saturating_add(ttl) < now);
            if is_reference(&cell) && used.region.contains_row(cell.row) && !is_expired {
                let row = Some(cell.row.to_vec());
                match mob_value(&cell, &self.table) {
                    Ok(MobValue { table, file, .. }) => {
                        let rows = RowsBetween { first: row.clone(), last: row.clone() };
                        references.entry((table, file)).or_insert(rows).last = row;
                    }
                    Err(what) => {
                        let what = format!("a reference to a MOB file {what}");
                        damages
                            .push(used.damage(what, RowsBetween { first: row.clone(), last: row }));
                    }
                }
            }
            is_good = is_sound(cells.advance())?;
        }
        Ok(references)
    }
}

/// A problem of a MOB file.
#[derive(Clone, Debug)]
struct MobProblem {
    what: String,
    /// Whether values may be lost.
    costs_rows: bool,
}

/// Checks a MOB file, and returns what is wrong.
fn check(tree: &dyn FileTree, limits: Limits, path: &Path) -> Result<Vec<MobProblem>> {
    let source = tree.open(path).map_err(Error::io(path, "open it"))?;
    let shown = path.display();
    let verified = sstable::verify(source, FileName::new(shown.to_string()), limits, |_| {});
    if let Some(feature) = verified.as_ref().err().and_then(unheard_feature) {
        let what = format!("the MOB file {shown} cannot be read: {feature}");
        return Ok(vec![MobProblem { what, costs_rows: true }]);
    }
    let verification = verified?;
    Ok(verification
        .problems
        .iter()
        .map(|damage| {
            let Damage { at, what, .. } = damage;
            let what = format!("the MOB file {shown} is damaged at {:#x}: {what}", at.get());
            MobProblem { what, costs_rows: verification.rows_lost(damage).is_some() }
        })
        .collect())
}
