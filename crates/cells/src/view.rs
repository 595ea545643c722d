//! What a read asks for: columns, versions, times.

use smallvec::{SmallVec, smallvec};

use crate::cell::CellRef;
use crate::key::CellType;
use crate::retention::Retention;
use crate::units::Timestamp;

/// A row, family or qualifier of a query, inline if short: building a get should not allocate.
pub type ShortBytes = SmallVec<[u8; 24]>;

/// Returns a copy of `bytes`.
#[inline]
pub fn short(bytes: &[u8]) -> ShortBytes {
    SmallVec::from_slice(bytes)
}

/// Which columns of a family are read: all, or a sorted list without duplicates.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Columns {
    #[default]
    /// All columns.
    All,
    /// These qualifiers, in ascending order.
    Only(SmallVec<[ShortBytes; 1]>),
}

impl Columns {
    /// Returns the column, if exactly one is listed.
    pub fn single(&self) -> Option<&[u8]> {
        match self {
            Self::Only(columns) => match &columns[..] {
                [only] => Some(only),
                _ => None,
            },
            Self::All => None,
        }
    }

    /// Adds a column.
    #[inline]
    pub fn add(&mut self, qualifier: &[u8]) {
        match self {
            Self::All => *self = Self::Only(smallvec![short(qualifier)]),
            Self::Only(columns) => {
                if let Err(index) = columns.binary_search_by(|known| known[..].cmp(qualifier)) {
                    columns.insert(index, short(qualifier));
                }
            }
        }
    }
}

/// The columns of a query, which may be named in any order.
#[derive(Clone, Debug, Default)]
pub struct NamedColumns {
    /// All columns after [`sort`](Self::sort).
    pub sorted: Columns,
    /// Columns that were named out of order: to insert each into a long list would take quadratic time.
    later: Vec<ShortBytes>,
}

impl NamedColumns {
    /// Maximum length of a list into which a column is inserted at once.
    const INSERTED_MAX: usize = 64;

    /// Adds a column.
    #[inline]
    pub fn add(&mut self, qualifier: &[u8]) {
        match &self.sorted {
            Columns::Only(known)
                if known.len() >= Self::INSERTED_MAX
                    && known.last().is_some_and(|last| &last[..] > qualifier) =>
            {
                self.later.push(short(qualifier));
            }
            _ => self.sorted.add(qualifier),
        }
    }

    /// Returns whether [`sorted`](Self::sorted) has all columns.
    pub fn is_sorted(&self) -> bool {
        self.later.is_empty()
    }

    /// Sorts the columns.
    pub fn sort(&mut self) {
        if let Columns::Only(columns) = &mut self.sorted
            && !self.later.is_empty()
        {
            columns.append(&mut SmallVec::<[_; 1]>::from_vec(std::mem::take(&mut self.later)));
            columns.sort();
            columns.dedup();
        }
    }
}

/// Which versions a read shows, and whether it shows deleted cells.
///
/// By default a read shows the newest version of each column.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct View {
    /// The maximum number of versions of each column.
    pub versions: u32,
    /// The timestamps of the versions.
    pub time_range: QueryTimes,
    /// Whether delete markers, deleted cells and expired cells are shown.
    pub raw: bool,
}

impl Default for View {
    fn default() -> Self {
        Self { versions: 1, time_range: QueryTimes::ALL, raw: false }
    }
}

impl View {
    /// Sets the maximum number of versions of each column, which the family's own maximum limits
    /// too. Default: 1.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// Shows only versions whose timestamp is in `min..max`. Default: all.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        self.time_range = QueryTimes { min, max };
        self
    }

    /// Shows all stored cells: delete markers, deleted cells and expired cells. Default: no.
    pub const fn raw(mut self, raw: bool) -> Self {
        self.raw = raw;
        self
    }
}

/// Returns whether a get shows `cell` and no other; otherwise [`Rules`](crate::rules::Rules) decide.
///
/// The fast path for a get of one version of one column. `cell` must be the first cell of the row in
/// its source, and all cells of the row in other sources must be older. The older cells of the source
/// do not matter: a delete marker that hides `cell` would come first. With `min_versions`, the rules
/// may show an older cell as well.
pub fn shows_only_put(
    family: &Retention,
    view: &View,
    columns: &Columns,
    cell: &CellRef<'_>,
) -> bool {
    cell.cell_type == CellType::Put
        && cell.tags.is_empty()
        && columns.single() == Some(cell.qualifier)
        && view.versions.min(family.versions) == 1
        && view.time_range.contains(cell.timestamp)
        && family.ttl.is_none()
        && family.min_versions == 0
}

/// The timestamps `min..max`, or all of them: [`ALL`](Self::ALL).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueryTimes {
    /// The first timestamp.
    pub min: Timestamp,
    /// The timestamp after the last one.
    pub max: Timestamp,
}

impl QueryTimes {
    /// HBase's `TimeRange.allTime`, which also has negative timestamps and the greatest one. Cells with
    /// such timestamps come from loaded files.
    pub const ALL: Self = Self { min: Timestamp::new(0), max: Timestamp::LATEST };

    /// Returns whether the range begins after `time`.
    pub fn begins_after(self, time: Timestamp) -> bool {
        time < self.min && self != Self::ALL
    }

    /// Returns whether the range ends at `time` or before.
    pub fn ends_by(self, time: Timestamp) -> bool {
        time >= self.max && self != Self::ALL
    }

    /// Returns whether a time is in the range.
    pub fn contains(self, time: Timestamp) -> bool {
        (self.min <= time && time < self.max) || self == Self::ALL
    }
}

/// The cells of a family that a scan reads.
#[derive(Clone, Debug)]
pub struct FamilySelection {
    /// The first row; empty for the first of all.
    pub start: Vec<u8>,
    /// The row before which the scan ends.
    pub stop: Option<Vec<u8>>,
    /// What the rows begin with.
    pub prefix: Vec<u8>,
    /// The qualifiers; empty for all columns.
    pub qualifiers: Vec<Vec<u8>>,
    /// The versions.
    pub view: View,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn name(number: u16) -> [u8; 2] {
        number.to_be_bytes()
    }

    fn named(numbers: impl IntoIterator<Item = u16>) -> NamedColumns {
        let mut columns = NamedColumns::default();
        numbers.into_iter().for_each(|number| columns.add(&name(number)));
        columns
    }

    proptest! {
        #[test]
        fn columns_are_read_in_order_whatever_the_order_in_which_they_are_named(
            numbers in prop::collection::vec(0..300_u16, 1..300),
        ) {
            let mut columns = named(numbers.iter().copied());
            columns.sort();
            let distinct: BTreeSet<_> = numbers.into_iter().collect();
            let expected = Columns::Only(distinct.into_iter().map(|number| short(&name(number))).collect());
            prop_assert_eq!(&columns.sorted, &expected);
        }
    }

    #[test]
    fn no_column_is_inserted_into_a_long_list() {
        let columns = named((0..1000).rev());
        let Columns::Only(sorted) = &columns.sorted else { panic!("columns are named") };
        let later = columns.later.len();
        assert_eq!((sorted.len(), later), (NamedColumns::INSERTED_MAX, 1000 - sorted.len()));
        assert!(!columns.is_sorted() && named(0..1000).is_sorted());
    }
}
