//! What is wrong with a table, and which rows are lost.

use cells::{RowsBetween, escape};

use crate::names::RegionName;
use crate::table::RegionInfo;

/// A damaged or missing part of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TableDamage {
    /// The region; `None` if rows are in no region, or if the whole table is concerned.
    pub region: Option<RegionName>,
    /// The family; `None` if all families of the region are concerned.
    pub family: Option<Vec<u8>>,
    /// The file that is damaged or missing: for a store file `REGION/FAMILY/NAME`.
    pub file: Option<String>,
    /// What is wrong.
    pub what: String,
    /// The rows that may have lost cells; `None` if no read of cells needs what is damaged. If the bounds are the
    /// keys of a region, the rows do not include its end key.
    pub rows: Option<RowsBetween>,
}

/// Returns the rows that are both in a region and between two rows; `None` if there are none.
pub(super) fn rows_in(region: &RegionInfo, rows: &RowsBetween) -> Option<RowsBetween> {
    let bound = region.rows();
    // `None` is the least first row, and the greatest last row.
    let first = rows.first.clone().max(bound.first);
    let last = match (rows.last.clone(), bound.last) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    let is_empty = first.as_ref().zip(last.as_ref()).is_some_and(|(first, last)| first > last);
    (!is_empty).then_some(RowsBetween { first, last })
}

impl TableDamage {
    /// Returns the place as text for people: the file, or the region.
    pub fn place(&self) -> String {
        match (&self.file, &self.region, &self.family) {
            (Some(file), ..) => file.clone(),
            (None, Some(region), Some(family)) => format!("{region}/{}", escape(family)),
            (None, Some(region), None) => region.to_string(),
            (None, None, _) => String::new(),
        }
    }
}
