//! The order of the cells in a memstore.

use std::borrow::Borrow;
use std::cmp::Ordering;

use cells::row_head;
use sstable::{Cell, CellRef, KeyRef, SequenceId, Timestamp};

/// A position in the order of cells, from which a memstore is read.
#[derive(Debug)]
pub(crate) struct SeekPosition<'a> {
    row: NameStart,
    column: NameStart,
    /// Whether the position is after all cells of the column.
    ends_column: bool,
    key: KeyRef<'a>,
    sequence_id: SequenceId,
    pub(super) is_exclusive: bool,
}

impl<'a> SeekPosition<'a> {
    /// The position of the first cell at or after `key`.
    pub(crate) fn at_or_after(key: KeyRef<'a>) -> Self {
        // Of equal keys the greatest sequence id comes first.
        Self::new(key, SequenceId::MAX, false)
    }

    /// The position of `cell`.
    pub(super) fn at(cell: CellRef<'a>) -> Self {
        Self::new(cell.key(), cell.sequence_id, false)
    }

    /// The position after `cell`.
    pub(crate) fn after(cell: CellRef<'a>) -> Self {
        Self { is_exclusive: true, ..Self::at(cell) }
    }

    pub(super) fn new(key: KeyRef<'a>, sequence_id: SequenceId, is_exclusive: bool) -> Self {
        // `KeyRef::after_row` has neither family nor qualifier, and is after all columns;
        // `KeyRef::after_column` has both, and is after all versions.
        let is_end = key.type_code == KeyRef::MINIMUM;
        let ends_row = is_end && key.family.is_empty();
        let column = if ends_row { NameStart::MAX } else { NameStart::of(key.qualifier) };
        let ends_column = is_end && key.timestamp == Timestamp::OLDEST;
        Self { row: NameStart::of(key.row), column, ends_column, key, sequence_id, is_exclusive }
    }
}

/// A cell in the tree. With the heads of row and column in the tree's nodes, a search reads few of
/// the cells it passes, also in a row with many columns.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) row: NameStart,
    pub(super) column: NameStart,
    pub(super) cell: Cell,
}

/// The sort key of an entry or position; lets the tree be searched by a borrowed key.
pub(super) trait SortKey {
    fn row(&self) -> NameStart;
    fn column(&self) -> NameStart;
    /// Whether the key is after all cells of the column.
    fn ends_column(&self) -> bool {
        false
    }
    fn key_and_id(&self) -> (KeyRef<'_>, SequenceId);
}

impl SortKey for Entry {
    fn row(&self) -> NameStart {
        self.row
    }

    fn column(&self) -> NameStart {
        self.column
    }

    fn key_and_id(&self) -> (KeyRef<'_>, SequenceId) {
        (self.cell.as_ref().key(), self.cell.sequence_id())
    }
}

impl SortKey for SeekPosition<'_> {
    fn ends_column(&self) -> bool {
        self.ends_column
    }

    fn row(&self) -> NameStart {
        self.row
    }

    fn column(&self) -> NameStart {
        self.column
    }

    fn key_and_id(&self) -> (KeyRef<'_>, SequenceId) {
        (self.key, self.sequence_id)
    }
}

fn compare_sort_keys<S: SortKey + ?Sized>(left: &S, right: &S) -> Ordering {
    let row = left.row();
    row.cmp(&right.row()).then_with(|| {
        // All cells have one family; only a position before or after the row has none.
        if row.is_whole() {
            let column = left.column();
            let by_column = column.cmp(&right.column());
            let by_end = left.ends_column().cmp(&right.ends_column());
            let by_start = if column.is_whole() { by_column.then(by_end) } else { by_column };
            if by_start.is_ne() {
                return by_start;
            }
        }
        let ((left, left_id), (right, right_id)) = (left.key_and_id(), right.key_and_id());
        left.cmp(&right).then_with(|| right_id.cmp(&left_id))
    })
}

/// The first 15 bytes of a row or qualifier, padded with zeros, and its length if that is less than 16, else 16.
///
/// Names are in the order of their starts. Names of at most 15 bytes are equal if their starts are.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct NameStart([u64; 2]);

impl NameStart {
    /// After the starts of all names.
    const MAX: Self = Self([u64::MAX; 2]);

    const LEN_MAX: u64 = 15;

    pub(super) fn of(name: &[u8]) -> Self {
        let [first, second] = row_head(name);
        let len = u64::try_from(name.len()).map_or(u64::MAX, |len| len.min(Self::LEN_MAX + 1));
        Self([first, second & !0xff | len])
    }

    /// Returns whether the start has the whole name.
    const fn is_whole(self) -> bool {
        self.0[1] & 0xff <= Self::LEN_MAX
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_sort_keys(self, other)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl<'a> Borrow<dyn SortKey + 'a> for Entry {
    fn borrow(&self) -> &(dyn SortKey + 'a) {
        self
    }
}

impl Ord for dyn SortKey + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_sort_keys(self, other)
    }
}

impl PartialOrd for dyn SortKey + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for dyn SortKey + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for dyn SortKey + '_ {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_are_in_the_order_of_their_starts(
            prefix in prop::collection::vec(prop::sample::select(vec![0, 1, 16, 255]), 0..20),
            (left, right) in prop::array::uniform2(
                prop::collection::vec(prop::sample::select(vec![0, 1, 15, 16, 255]), 0..5),
            ).prop_map(|[left, right]| (left, right)),
        ) {
            let [left, right] = [left, right].map(|end| [prefix.clone(), end].concat());
            let (left_start, right_start) = (NameStart::of(&left), NameStart::of(&right));
            let order = left_start.cmp(&right_start);
            prop_assert!(order.is_eq() || order == left.cmp(&right));
            if order.is_eq() && left_start.is_whole() {
                prop_assert_eq!(left, right);
            }
        }

        /// The order of the tree is the order of the keys, also for the positions around rows and columns.
        #[test]
        fn entries_and_positions_are_in_the_order_of_their_keys(
            keys in prop::collection::vec(
                (
                    prop::sample::select(vec!["r", "r\0", "row of 15 bytes", "a row of 16 byte", "z"]),
                    prop::sample::select(vec!["", "\0", "a", "a qualifier of 20 by", "a qualifier of 20 bz"]),
                    0..3_i64,
                    0..5_usize,
                ),
                2,
            ),
        ) {
            let key = |(row, qualifier, time, kind): (&'static str, &'static str, i64, usize)| {
                let (row, qualifier) = (row.as_bytes(), qualifier.as_bytes());
                let put = CellRef::put(row, b"f", qualifier, Timestamp::new(time), b"");
                match kind {
                    0 => KeyRef::before_row(row),
                    1 => KeyRef::after_row(row),
                    2 => KeyRef::before_column(row, b"f", qualifier),
                    3 => KeyRef::after_column(row, b"f", qualifier),
                    _ => put.key(),
                }
            };
            let (left, right) = (key(keys[0]), key(keys[1]));
            let position = |key| SeekPosition::new(key, SequenceId::MAX, false);
            let (left_position, right_position) = (position(left), position(right));
            let found = (&left_position as &dyn SortKey).cmp(&right_position as &dyn SortKey);
            prop_assert_eq!(found, left.cmp(&right), "{} {}", left, right);
        }
    }
}
