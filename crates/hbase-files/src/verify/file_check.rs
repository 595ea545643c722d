//! Checks one HFile of a table, and the store files that use it.

use std::collections::BTreeMap;
use std::sync::Arc;

use cells::error_line;
use sstable::{Damage, FileName, Limits, Reader, ReaderOptions, Verification};

use super::damage::TableDamage;
use super::file_use::FileUse;
use super::mob::MobCheck;
use crate::error::{Error, Result, unheard_feature};
use crate::names::RegionName;
use crate::table::Location;
use crate::table::identity_check::FamilyCells;
use crate::tree::{FileTree, ItemKind};

/// The check of an HFile: the file, and the store files that stand for it or for a half of it.
#[derive(Debug)]
pub struct FileCheck {
    /// The path below `data`, `mobdir/data` or `archive/data`:
    /// `NAMESPACE/TABLE/REGION/FAMILY/FILE`.
    pub path: String,
    pub(super) uses: Vec<FileUse>,
    /// The MOB files to which the cells can refer, if the family has such.
    pub(super) mob: Option<Arc<MobCheck>>,
}

impl FileCheck {
    /// Checks the file, and adds what is wrong to `damages`, also before an error.
    ///
    /// Calls `progress` with the number of bytes checked so far.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be read, and [`Error::File`] with
    /// [`Unsupported`](sstable::Error::Unsupported) or [`TooLarge`](sstable::Error::TooLarge) if it needs a feature
    /// that this build does not have, or higher limits: the check is then incomplete, and the file is not known to
    /// be sound. Damage and missing files are not errors, but among the damages, and so is a file that names a
    /// codec or an order of rows which no release of HBase has.
    pub fn run(
        &self,
        tree: &dyn FileTree,
        limits: Limits,
        progress: impl FnMut(u64),
        damages: &mut Vec<TableDamage>,
    ) -> Result<()> {
        let mut found = Vec::new();
        for used in &self.uses {
            match used.file.locate(tree) {
                Ok(location) => found.push((used, location)),
                Err(error) => damages.push(used.damage_of(error)?),
            }
        }
        let Some((_, Location { path, .. })) = found.first() else { return Ok(()) };
        let len = match tree.find(path).map_err(Error::io(path, "find it"))? {
            Some(ItemKind::File { len }) => len,
            _ => 0,
        };
        let mut families: BTreeMap<(&RegionName, &[u8]), FamilyCells> = BTreeMap::new();
        for (used, location) in &found {
            let family = families.entry((&used.region.encoded_name, &used.family)).or_default();
            let misfits = [used.file.check_len(len), family.add(location)];
            damages.extend(
                misfits.into_iter().filter_map(Result::err).map(|misfit| used.misfit(misfit)),
            );
        }
        let name = FileName::new(path.display().to_string());
        let source = match tree.open(path).map_err(Error::io(path, "open it")) {
            Err(error @ Error::Damaged { .. }) => {
                let what = error_line(&error);
                damages.extend(
                    found.iter().map(|(used, _)| used.damage(what.clone(), used.rows.clone())),
                );
                return Ok(());
            }
            source => source?,
        };
        let verified = sstable::verify(source.clone(), name.clone(), limits, progress);
        if let Some(feature) = verified.as_ref().err().and_then(unheard_feature) {
            let what = format!("cannot be read: {feature}");
            damages
                .extend(found.iter().map(|(used, _)| used.damage(what.clone(), used.rows.clone())));
            return Ok(());
        }
        let verification = verified?;
        for problem in &verification.problems {
            report(problem, &verification, &found, damages);
        }
        let options = ReaderOptions::default().limits(limits);
        if let Ok(reader) = Reader::open(source, name, options) {
            for (used, location) in &found {
                damages.extend(used.check_cells(&reader, location)?);
                if let Some(mob) = &self.mob {
                    mob.run(tree, limits, used, location, damages)?;
                }
            }
        }
        Ok(())
    }
}

/// Reports a problem of the HFile for each store file that loses rows.
///
/// If none does, because the other half is damaged, or because reads do not need what is damaged, reports it once.
fn report(
    problem: &Damage,
    verification: &Verification,
    found: &[(&FileUse, Location)],
    damages: &mut Vec<TableDamage>,
) {
    let Some((first_use, _)) = found.first() else { return };
    let block = problem.block.map(|block| format!("{} block ", block.name())).unwrap_or_default();
    let what = format!("damaged: {block}at {:#x}: {}", problem.at.get(), problem.what);
    let Some(lost) = verification.rows_lost(problem) else {
        damages.push(first_use.harmless_damage(what));
        return;
    };
    let mut is_reported = false;
    for (used, location) in found {
        if let Some(rows) = used.rows_lost(&lost, location) {
            damages.push(used.damage(what.clone(), rows));
            is_reported = true;
        }
    }
    if !is_reported {
        damages.push(first_use.damage(format!("{what}; no rows of this region"), lost));
    }
}
