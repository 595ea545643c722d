//! The bounds of the fields of a plain cell: parsed and checked once, then only sliced.
//!
//! ```text
//! at                                                                                      end
//! | key length | value length | row length | row… | family | qualifier | time type | value | … |
//!                                            └ first_bytes: the first 8 bytes, as a number
//! ```
//!
//! This is the hot path of scans. The lengths at the start of a cell are checked together, with few
//! comparisons. Tags and damaged cells take the slow path in
//! [`plain`](super::plain).

use std::cmp::Ordering;

use cells::{CellRef, CellType, Comparator, KeyRef, SequenceId, Timestamp};

use super::plain::{LENGTHS_LEN, TIME_LEN, read_after_value, read_cell};
use super::{CellLayout, DamageReason, PlainCells};
use crate::input::Input;

/// The offset of the row in a cell: after key length, value length and row length.
const ROW_AT: usize = LENGTHS_LEN + 2;

/// The bounds of the fields of a cell in a plain block.
///
/// `timestamp` and `sequence_id` are not adjacent: the compiler would load both with one wide load,
/// which cannot be forwarded from the two narrow stores just before, and stalls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C)]
pub(crate) struct CellBounds {
    row: RowSpan,
    end: usize,
    key_len: usize,
    timestamp: Timestamp,
    family_len: usize,
    sequence_id: SequenceId,
    value_len: usize,
    tags_len: usize,
    cell_type: CellType,
}

/// The bounds of a cell's row.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RowSpan {
    cell_at: usize,
    len: usize,
    /// The first 8 bytes of the row as a number, padded with zeros.
    first_bytes: u64,
}

impl CellBounds {
    /// Reads and checks the cell at `at`; `rest` starts with that cell.
    pub(crate) fn read(rest: &[u8], at: usize, layout: CellLayout) -> Result<Self, DamageReason> {
        let mut bounds = Self::before_cell_at(at);
        bounds.advance(rest, layout)?;
        Ok(bounds)
    }

    /// Returns empty bounds that end at `at`, where the first cell starts.
    fn before_cell_at(at: usize) -> Self {
        Self {
            row: RowSpan::default(),
            end: at,
            key_len: 0,
            timestamp: Timestamp::default(),
            family_len: 0,
            sequence_id: SequenceId::default(),
            value_len: 0,
            tags_len: 0,
            cell_type: CellType::Put,
        }
    }

    /// Reads and checks the next cell; `rest` starts with that cell.
    ///
    /// Unchanged on error.
    #[inline]
    pub(crate) fn advance(&mut self, rest: &[u8], layout: CellLayout) -> Result<(), DamageReason> {
        self.try_advance(rest, layout).ok_or_else(|| damage_reason(rest, layout))
    }

    /// As [`advance`](Self::advance), without the reason of an error.
    #[inline]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "lengths of two bytes, and lengths within the block"
    )]
    fn try_advance(&mut self, rest: &[u8], layout: CellLayout) -> Option<()> {
        let [lengths @ .., high, low]: &[u8; ROW_AT] = rest.first_chunk()?;
        let lengths: [u32; 2] =
            [lengths.first_chunk()?, lengths.last_chunk()?].map(|len| u32::from_be_bytes(*len));
        let [key_len, value_len] = lengths;
        let (key_len, value_len) =
            (usize::try_from(key_len).ok()?, usize::try_from(value_len).ok()?);
        // Read as u32, a negative length exceeds every block.
        let len = LENGTHS_LEN.checked_add(key_len)?.checked_add(value_len)?;
        let (cell, rest_after_value) = rest.split_at_checked(len)?;
        let row_len = usize::from(u16::from_be_bytes([*high, *low]));
        let family_len = usize::from(*cell.get(ROW_AT + row_len)?);
        let columns_len = row_len + family_len;
        if row_len > KeyRef::ROW_LEN_MAX
            || family_len > KeyRef::FAMILY_LEN_MAX
            || KeyRef::FIXED_LEN + columns_len > key_len
        {
            return None;
        }
        let key_end = LENGTHS_LEN + key_len;
        let [time @ .., type_code]: [u8; TIME_LEN] = *cell.get(..key_end)?.last_chunk()?;
        let cell_type = CellType::from_code(type_code)?;
        let timestamp = i64::from_be_bytes(time);
        if timestamp < 0 {
            return None;
        }
        let tail = match Tail::read_untagged(rest_after_value, layout) {
            Some(tail) => tail,
            None => Tail::read(rest_after_value, layout)?,
        };
        let first_bytes = u64::from_be_bytes(*cell.get(ROW_AT..)?.first_chunk()?);
        let first_bytes = if row_len < size_of::<u64>() {
            mask_first_bytes(first_bytes, row_len)
        } else {
            first_bytes
        };
        self.row = RowSpan { cell_at: self.end, len: row_len, first_bytes };
        self.end += len + tail.len;
        self.key_len = key_len;
        self.family_len = family_len;
        self.value_len = value_len;
        self.tags_len = tail.tags_len;
        self.timestamp = Timestamp::new(timestamp);
        self.sequence_id = tail.sequence_id;
        self.cell_type = cell_type;
        Some(())
    }

    /// The offset of the cell.
    pub(crate) const fn at(&self) -> usize {
        self.row.cell_at
    }

    /// The offset of the next cell.
    pub(crate) const fn end(&self) -> usize {
        self.end
    }

    /// The bounds of the cell's row.
    pub(crate) const fn row(&self) -> &RowSpan {
        &self.row
    }

    /// Slices the cell out of its bytes; `None` if there are too few.
    #[inline]
    #[expect(clippy::arithmetic_side_effects, reason = "`advance` has checked the lengths")]
    pub(crate) fn cell<'a>(&self, bytes: &'a [u8]) -> Option<CellRef<'a>> {
        let mut input = Input::new(bytes);
        input.take(ROW_AT)?;
        let row = input.take(self.row.len)?;
        input.take(1)?;
        let family = input.take(self.family_len)?;
        let other_len = KeyRef::FIXED_LEN + self.row.len + self.family_len;
        let qualifier = input.take(self.key_len - other_len)?;
        input.take(TIME_LEN)?;
        let value = input.take(self.value_len)?;
        let mut tags = &[][..];
        if self.tags_len > 0 {
            input.take(2)?;
            tags = input.take(self.tags_len)?;
        }
        Some(CellRef {
            row,
            family,
            qualifier,
            timestamp: self.timestamp,
            cell_type: self.cell_type,
            value,
            tags,
            sequence_id: self.sequence_id,
        })
    }
}

/// The fields after the value: tags and sequence id.
struct Tail {
    len: usize,
    tags_len: usize,
    sequence_id: SequenceId,
}

impl Tail {
    /// Reads the sequence id, if the file has them; `None` if there are tags, or for damage.
    fn read_untagged(bytes: &[u8], layout: CellLayout) -> Option<Self> {
        let mut input = Input::new(bytes);
        if layout.tags && input.u16()? != 0 {
            return None;
        }
        let mut sequence_id = 0;
        if layout.mvcc {
            sequence_id = u64::try_from(input.hvlong()?).ok()?;
        }
        let len = consumed_len(bytes, &input);
        Some(Self { len, tags_len: 0, sequence_id: SequenceId::new(sequence_id) })
    }

    /// Reads tags and sequence id. Not inlined, which keeps the caller's state in registers.
    #[inline(never)]
    fn read(bytes: &[u8], layout: CellLayout) -> Option<Self> {
        let mut input = Input::new(bytes);
        let (tags, sequence_id) = read_after_value(&mut input, layout).ok()?;
        let len = consumed_len(bytes, &input);
        Some(Self { len, tags_len: tags.len(), sequence_id })
    }
}

/// The number of bytes that an input has consumed.
#[expect(clippy::arithmetic_side_effects, reason = "the input is a suffix of the bytes")]
const fn consumed_len(bytes: &[u8], input: &Input<'_>) -> usize {
    bytes.len() - input.len()
}

/// Returns why `rest` does not start with a sound cell.
#[cold]
fn damage_reason(rest: &[u8], layout: CellLayout) -> DamageReason {
    match read_cell(&mut Input::new(rest), layout) {
        Err(what) => what,
        Ok(_) => "a cell cannot be read".into(),
    }
}

impl RowSpan {
    /// Compares the row with the row of another cell of the block.
    #[inline]
    pub(crate) fn compare(&self, other: &Self, cells: &PlainCells, order: Comparator) -> Ordering {
        if order == Comparator::Bytes && self.first_bytes < other.first_bytes {
            return Ordering::Less;
        }
        order.compare_rows(self.row(cells), other.row(cells))
    }

    #[expect(clippy::arithmetic_side_effects, reason = "the row lies in the block")]
    pub(crate) fn row<'a>(&self, cells: &'a PlainCells) -> &'a [u8] {
        let row_at = self.cell_at + ROW_AT;
        cells.body().range(row_at, row_at + self.len)
    }
}

/// Zeroes the bytes of `first_bytes` that follow a row of less than 8 bytes.
#[cold]
#[expect(clippy::arithmetic_side_effects, reason = "less than 8 bytes have at most 56 bits")]
fn mask_first_bytes(first_bytes: u64, row_len: usize) -> u64 {
    let bits = u8::BITS * u32::try_from(row_len).expect("less than 8");
    first_bytes & !(u64::MAX >> bits)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::plain::{cell_at, write_cell};
    use super::*;

    fn layouts() -> impl Strategy<Value = CellLayout> {
        (any::<bool>(), any::<bool>()).prop_map(|(tags, mvcc)| CellLayout {
            tags,
            mvcc,
            ..CellLayout::default()
        })
    }

    /// The bytes of a random cell.
    fn written(layout: CellLayout) -> impl Strategy<Value = Vec<u8>> {
        let bytes = |len: usize| vec(any::<u8>(), 0..len);
        let tags = prop_oneof![Just(vec![]), Just(vec![0, 2, 7, 9])];
        let number = prop_oneof![0..0x80_u64, any::<u64>().prop_map(|number| number >> 1)];
        (bytes(20), bytes(20), bytes(300), bytes(40), tags, number, 0..i64::MAX).prop_map(
            move |(row, family, qualifier, value, tags, number, time)| {
                let cell = CellRef {
                    sequence_id: SequenceId::new(number),
                    tags: &tags,
                    ..CellRef::put(&row, &family, &qualifier, Timestamp::new(time), &value)
                };
                let mut out = Vec::new();
                write_cell(&mut out, &cell, layout);
                out
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// For sound and damaged cells, followed by random bytes.
        #[test]
        fn the_fast_paths_agree_with_the_slow_path(
            (layout, bytes) in layouts().prop_flat_map(|layout| (Just(layout), written(layout))),
            following in vec(any::<u8>(), 0..30),
            change in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
            at in 0..1000_usize,
        ) {
            let mut rest = [&bytes[..], &following[..]].concat();
            if let Some((place, byte)) = &change {
                rest[place.index(bytes.len())] = *byte;
            }
            let before = CellBounds { tags_len: 7, ..CellBounds::before_cell_at(at) };
            let mut bounds = before;
            let read = bounds.advance(&rest, layout);
            let mut input = Input::new(&rest);
            match read_cell(&mut input, layout) {
                Ok(cell) => {
                    prop_assert_eq!(read, Ok(()));
                    let len = rest.len() - input.len();
                    prop_assert_eq!((bounds.at(), bounds.end()), (at, at + len));
                    prop_assert_eq!(bounds.cell(&rest[..len]), Some(cell));
                    prop_assert_eq!(cell_at(&rest, 0, layout), Some(cell));
                    prop_assert!(change.is_some() || len == bytes.len());
                }
                Err(what) => {
                    prop_assert!(change.is_some());
                    prop_assert_eq!(read, Err(what));
                    prop_assert_eq!(bounds, before);
                }
            }
        }

        #[test]
        fn rows_compare_as_their_bytes_do(
            left in vec(prop_oneof![Just(0_u8), any::<u8>()], 0..12),
            right in vec(prop_oneof![Just(0_u8), any::<u8>()], 0..12),
        ) {
            let layout = CellLayout::default();
            let mut cells = Vec::new();
            for row in [&left, &right] {
                write_cell(&mut cells, &CellRef::put(row, b"f", b"", Timestamp::new(1), b""), layout);
            }
            let decoded = PlainCells::new(cells.clone().into());
            let first = CellBounds::read(&cells, 0, layout).expect("a cell");
            let second = CellBounds::read(&cells[first.end()..], first.end(), layout).expect("a cell");
            let order = first.row().compare(second.row(), &decoded, layout.order);
            prop_assert_eq!(order, left.cmp(&right));
            prop_assert_eq!(second.row().compare(first.row(), &decoded, layout.order), right.cmp(&left));
        }
    }
}
