//! Checks that an HFile belongs in its place: its length, family and rows.
//!
//! A sound HFile in another file's place has wrong cells, or hides the right ones. HBase itself checks
//! the length of a snapshot's files only, and the rows of bulk-loaded files only; all files that it
//! writes fit.
//!
//! Costs no read: an open file has its first and last key in memory.

use std::collections::HashMap;
use std::path::PathBuf;

use cells::{RowsBetween, escape, show_count, show_number};
use sstable::{Half, KeyRef, Reader, Reference};

use crate::error::{Error, Result};
use crate::names::StoreFileName;
use crate::table::{Location, RegionInfo, StoreFile};

/// Why an HFile does not fit its place.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub(crate) what: String,
    /// The rows that are wrong; `None` for all of the region.
    pub(crate) rows: Option<RowsBetween>,
}

impl Misfit {
    fn whole(what: String) -> Self {
        Self { what, rows: None }
    }
}

impl StoreFile {
    /// Checks an open HFile in its place.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if its length, its family, its rows or its half belong to another place.
    pub(crate) fn check_fits(
        &self,
        region: &RegionInfo,
        location: &Location,
        file: &Reader,
    ) -> Result<()> {
        let fits =
            self.check_len(file.len()).and_then(|()| self.check_keys(region, location, file));
        fits.map_err(|misfit| Error::damaged(&location.path, misfit.what))?;
        match &location.half {
            Some(half) => self.check_half(half, region, file.first_row()),
            None => Ok(()),
        }
    }

    /// Checks the length of the HFile against the one that a manifest or a tracker records.
    pub(crate) fn check_len(&self, len: u64) -> Result<(), Misfit> {
        let Some(recorded) = self.len else { return Ok(()) };
        // Of a link in a MOB region, HBase records the length of the empty link: 0.
        let is_of_link = recorded == 0 && matches!(self.name, StoreFileName::Link(_));
        if recorded == len || is_of_link {
            return Ok(());
        }
        let (found, stated) = (show_number(len, "byte"), show_count(recorded));
        Err(Misfit::whole(format!("has {found}; {stated} are recorded")))
    }

    /// Checks the family of the first and the last cell, and that both are in the region.
    pub(crate) fn check_keys(
        &self,
        region: &RegionInfo,
        location: &Location,
        file: &Reader,
    ) -> Result<(), Misfit> {
        let index = file.index();
        let family = self.family_name().as_bytes();
        for flat in [index.first_key(), index.last_key()].into_iter().flatten() {
            if let Some(key) = KeyRef::parse(flat)
                && key.family != family
            {
                return Err(Misfit::whole(format!(
                    "has cells of family {}, in the place of a file of {}",
                    escape(key.family),
                    escape(family)
                )));
            }
        }
        let (Some(first), Some(last)) = (file.first_row(), file.last_row()) else { return Ok(()) };
        let (fits, place) = match &location.half {
            None => (region.contains_row(first) && region.contains_row(last), "its region"),
            // The rows on the other side of the split are in another region, up to the bounds of the
            // region that was split. HBase makes no reference for a side without rows.
            Some(half) => {
                let split = half.split_key().row;
                let is_in_half = match half.half() {
                    Half::Top => last >= split && region.contains_row(last),
                    Half::Bottom => first <= split && first >= &region.start_key[..],
                };
                (is_in_half, "the half of it that is in its region")
            }
        };
        if fits || region.is_mob() {
            return Ok(());
        }
        let what = format!(
            "has rows outside of {place}, which has {}: from {} to {}",
            region.rows(),
            escape(first),
            escape(last)
        );
        let rows = Some(RowsBetween { first: Some(first.to_vec()), last: Some(last.to_vec()) });
        Err(Misfit { what, rows })
    }
}

/// Finds HFiles that two store files of a family share.
#[derive(Debug, Default)]
pub(crate) struct FamilyCells {
    files: HashMap<PathBuf, Vec<Option<Reference>>>,
}

impl FamilyCells {
    /// Adds the cells of a store file.
    ///
    /// # Errors
    ///
    /// If another store file of the family has some of them.
    pub(crate) fn add(&mut self, location: &Location) -> Result<(), Misfit> {
        let known = self.files.entry(location.path.clone()).or_default();
        if known.iter().any(|known| overlap(known.as_ref(), location.half.as_ref())) {
            let what = "another store file of the family has the same cells of this HFile";
            return Err(Misfit::whole(what.to_owned()));
        }
        known.push(location.half.clone());
        Ok(())
    }
}

/// Returns whether two parts of a file have cells in common; `None` is the whole file.
fn overlap(one: Option<&Reference>, other: Option<&Reference>) -> bool {
    let Some((one, other)) = one.zip(other) else { return true };
    match (one.half(), other.half()) {
        (Half::Top, Half::Bottom) => one.split_key().row < other.split_key().row,
        (Half::Bottom, Half::Top) => other.split_key().row < one.split_key().row,
        _ => true,
    }
}
