//! A store file that stands for an HFile, or for a half of it.

use cells::RowsBetween;
use sstable::{Half, Reader};

use super::damage::{TableDamage, rows_in};
use crate::error::{Error, Result, show_paths};
use crate::table::identity_check::Misfit;
use crate::table::{Location, RegionInfo, StoreFile};

/// A store file that stands for an HFile, or for a half of it.
#[derive(Debug)]
pub(super) struct FileUse {
    pub(super) region: RegionInfo,
    /// The rows that the file can have.
    pub(super) rows: RowsBetween,
    pub(super) family: Vec<u8>,
    pub(super) file: StoreFile,
}

impl FileUse {
    pub(super) fn damage(&self, what: String, rows: RowsBetween) -> TableDamage {
        TableDamage { rows: Some(rows), ..self.harmless_damage(what) }
    }

    /// Returns damage that costs no rows.
    pub(super) fn harmless_damage(&self, what: String) -> TableDamage {
        TableDamage {
            region: Some(self.region.encoded_name.clone()),
            family: Some(self.family.clone()),
            file: Some(self.file.short_path()),
            what,
            rows: None,
        }
    }

    /// Returns a missing or damaged file as damage, and other errors unchanged.
    pub(super) fn damage_of(&self, error: Error) -> Result<TableDamage> {
        let what = match error {
            Error::Missing { what, searched, .. } => {
                format!("{what} is missing; looked for {}", show_paths(&searched))
            }
            Error::Damaged { what, .. } => what,
            Error::File(sstable::Error::Corrupt { damage, .. }) => {
                format!("damaged: {}", damage.what)
            }
            error => return Err(error),
        };
        Ok(self.damage(what, self.rows.clone()))
    }

    /// Returns which of the lost rows of the HFile this store file loses; `None` if none.
    pub(super) fn rows_lost(&self, lost: &RowsBetween, location: &Location) -> Option<RowsBetween> {
        if self.region.is_mob() {
            return Some(lost.clone());
        }
        let rows = rows_in(&self.region, lost)?;
        let Some(half) = &location.half else { return Some(rows) };
        let split = half.split_key().row;
        let is_other_half = match half.half() {
            Half::Top => rows.last.as_deref().is_some_and(|last| last < split),
            Half::Bottom => rows.first.as_deref().is_some_and(|first| first > split),
        };
        (!is_other_half).then_some(rows)
    }

    pub(super) fn misfit(&self, misfit: Misfit) -> TableDamage {
        self.damage(misfit.what, misfit.rows.unwrap_or_else(|| self.rows.clone()))
    }

    /// Checks that the cells of the file belong to its family and region, and that its half fits.
    pub(super) fn check_cells(
        &self,
        reader: &Reader,
        location: &Location,
    ) -> Result<Option<TableDamage>> {
        if let Some(half) = &location.half {
            let checked = self.file.check_half(half, &self.region, reader.first_row());
            if let Err(error) = checked {
                return self.damage_of(error).map(Some);
            }
        }
        let misfit = self.file.check_keys(&self.region, location, reader).err();
        Ok(misfit.map(|misfit| self.misfit(misfit)))
    }
}
