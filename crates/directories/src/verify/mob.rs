//! Follows the references of a store file to MOB files.
//!
//! HBase keeps a MOB file while a store file refers to it, but deletes those of which all cells have
//! expired. So a reference that has expired may lead to no file.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sstable::{CellRef, Damage, FileName, Limits, ReaderOptions, RowsBetween};
use store::Clock;

use super::damage::TableDamage;
use super::file::FileUse;
use crate::scan::{is_reference, mob_file};
use crate::table::locate_mob;
use crate::{
    Error, FileTree, Location, MobFileName, RegionInfo, Result, StoreFileReader, Table, TableName,
    TableSchema,
};

/// The MOB files of a table, for the checks of its store files.
#[derive(Debug)]
pub(super) struct MobCheck {
    table: TableName,
    schema: TableSchema,
    path: PathBuf,
    root: PathBuf,
    /// The paths of the files that have a check of their own, as [`FileCheck::path`](super::FileCheck).
    pub(super) listed: HashSet<String>,
    /// The paths of the other files that were checked.
    checked: Mutex<HashSet<String>>,
}

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
            checked: Mutex::default(),
        }
    }

    /// Checks that the MOB files to which a store file refers are there, and each of them once.
    pub(super) fn run(
        &self,
        tree: &dyn FileTree,
        limits: Limits,
        used: &FileUse,
        location: &Location,
    ) -> Result<Vec<TableDamage>> {
        let mut damages = Vec::new();
        let references = self.references(tree, limits, used, location, &mut damages)?;
        for ((table, name), rows) in references {
            let with_rows = |damage| TableDamage { rows: rows.clone(), ..damage };
            let family = &used.family;
            let path = match locate_mob(tree, &self.root, &self.path, &table, family, &name) {
                Ok(path) => path,
                Err(error) => {
                    damages.push(with_rows(used.damage_of(error)?));
                    continue;
                }
            };
            if self.is_first(&table, family, &name) {
                for Damage { at, what, .. } in check(tree, limits, &path)? {
                    let (path, at) = (path.display(), at.get());
                    let what = format!("the MOB file {path} is damaged at {at:#x}: {what}");
                    damages.push(used.damage(what, rows.clone()));
                }
            }
        }
        Ok(damages)
    }

    /// Returns whether a MOB file has no check of its own, and was not checked yet.
    fn is_first(&self, table: &TableName, family: &[u8], name: &MobFileName) -> bool {
        let region = RegionInfo::mob_region_name(table);
        let family = String::from_utf8_lossy(family);
        let path = format!("{}/{}/{region}/{family}/{name}", table.namespace(), table.name());
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        !self.listed.contains(&path) && checked.insert(path)
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
        let is_sound = |read: sstable::Result<()>| match read {
            Err(error @ (sstable::Error::Io { .. } | sstable::Error::Internal { .. })) => {
                Err(Error::from(error))
            }
            read => Ok(read.is_ok()),
        };
        let file = match StoreFileReader::open(tree, location, name, options) {
            Ok(file) => file,
            Err(Error::File(error)) => return is_sound(Err(error)).map(|_| references),
            Err(error) => return Err(error),
        };
        let ttl = self.schema.family(&used.family).and_then(|family| family.options().ttl);
        let ttl = ttl.and_then(|ttl| i64::try_from(ttl.as_millis()).ok());
        let now = Clock::system().now().get();
        let is_expired = |cell: &CellRef<'_>| {
            ttl.is_some_and(|ttl| cell.timestamp.get().saturating_add(ttl) < now)
        };
        let mut cells = file.bulk_scanner();
        let mut is_good = is_sound(cells.seek_to_first())?;
        while let Some(cell) = cells.cell().filter(|_| is_good) {
            if is_reference(&cell) && used.region.contains_row(cell.row) && !is_expired(&cell) {
                let row = Some(cell.row.to_vec());
                match mob_file(&cell, &self.table) {
                    Ok((_, table, name)) => {
                        let rows = RowsBetween { first: row.clone(), last: row.clone() };
                        references.entry((table, name)).or_insert(rows).last = row;
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

/// Checks a MOB file.
fn check(tree: &dyn FileTree, limits: Limits, path: &Path) -> Result<Vec<Damage>> {
    let source = tree.open(path).map_err(Error::io(path, "open it"))?;
    let name = FileName::new(path.display().to_string());
    Ok(sstable::verify(source, name, limits, |_| {})?.problems)
}
