//! Where the parts of a plain cell stand: found and checked once, cut out as often as wanted.
//!
//! ```text
//! at                                                                                      end
//! | key length | value length | row length | row… | family | qualifier | time type | value | … |
//!                                            └ head: the first 8 bytes, as a number
//! ```
//!
//! A scan comes here for every cell, and a get for its only one. How long a cell is follows from its
//! first bytes, so that it takes a few comparisons, each of which holds for several parts. Tags, and what is
//! wrong with a damaged cell, are left to [`plain`](super::plain).

use std::cmp::Ordering;

use super::plain::{LENGTHS_LEN, TIME_LEN, read_behind_value, read_cell};
use super::{CellLayout, DamageReason, PlainCells};
use crate::input::Input;
use crate::{CellRef, CellType, Comparator, KeyRef, SequenceId, Timestamp};

/// The bytes in front of a row: the two lengths of the cell, and the row's own.
const ROW_AT: usize = LENGTHS_LEN + 2;

/// Where the parts of a cell stand in a plain block.
///
/// Time and sequence id do not stand side by side: a processor that has just stored two numbers waits
/// for both to reach its cache before it loads them as one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C)]
pub(crate) struct CellParts {
    row: RowPart,
    end: usize,
    key_len: usize,
    timestamp: Timestamp,
    family_len: usize,
    sequence_id: SequenceId,
    value_len: usize,
    tags_len: usize,
    cell_type: CellType,
}

/// Where a cell and its row stand.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RowPart {
    cell_at: usize,
    len: usize,
    /// The first bytes of the row, with zeros behind a shorter one.
    head: u64,
}

impl CellParts {
    /// Reads and checks the cell that starts at `at`, with which `rest` begins.
    #[inline]
    pub(crate) fn read(rest: &[u8], at: usize, layout: CellLayout) -> Result<Self, DamageReason> {
        let mut parts = Self::before(at);
        parts.go_on(rest, layout)?;
        Ok(parts)
    }

    /// No cell, behind which one starts at `at`.
    fn before(at: usize) -> Self {
        Self {
            row: RowPart::default(),
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

    /// Reads and checks the cell behind this one, with which `rest` begins, and becomes it. If it cannot,
    /// it stays as it is.
    #[inline]
    pub(crate) fn go_on(&mut self, rest: &[u8], layout: CellLayout) -> Result<(), DamageReason> {
        self.go_on_to_sound(rest, layout).ok_or_else(|| what_is_wrong(rest, layout))
    }

    /// The same without a word on what is wrong.
    #[inline]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "lengths of two bytes, and of what is known to be in the block"
    )]
    fn go_on_to_sound(&mut self, rest: &[u8], layout: CellLayout) -> Option<()> {
        let [lengths @ .., high, low]: &[u8; ROW_AT] = rest.first_chunk()?;
        let lengths: [u32; 2] =
            [lengths.first_chunk()?, lengths.last_chunk()?].map(|len| u32::from_be_bytes(*len));
        let [key_len, value_len] = lengths;
        let (key_len, value_len) =
            (usize::try_from(key_len).ok()?, usize::try_from(value_len).ok()?);
        // A negative one is more than any block has.
        let len = LENGTHS_LEN.checked_add(key_len)?.checked_add(value_len)?;
        let (cell, behind) = rest.split_at_checked(len)?;
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
        let tail = match Tail::read_untagged(behind, layout) {
            Some(tail) => tail,
            None => Tail::read(behind, layout)?,
        };
        let head = u64::from_be_bytes(*cell.get(ROW_AT..)?.first_chunk()?);
        let head = if row_len < size_of::<u64>() { cut_head(head, row_len) } else { head };
        self.row = RowPart { cell_at: self.end, len: row_len, head };
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

    /// Where the cell starts.
    pub(crate) const fn at(&self) -> usize {
        self.row.cell_at
    }

    /// Where the next one starts.
    pub(crate) const fn end(&self) -> usize {
        self.end
    }

    /// Where its row stands.
    #[inline]
    pub(crate) const fn row(&self) -> RowPart {
        self.row
    }

    /// The cell, from its bytes; `None` if they are fewer.
    #[inline]
    #[expect(clippy::arithmetic_side_effects, reason = "the lengths were checked when it was read")]
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

/// What stands behind a value.
struct Tail {
    len: usize,
    tags_len: usize,
    sequence_id: SequenceId,
}

impl Tail {
    /// A sequence id without tags in front of it, if there is either.
    #[inline]
    fn read_untagged(bytes: &[u8], layout: CellLayout) -> Option<Self> {
        let mut input = Input::new(bytes);
        if layout.tags && input.u16()? != 0 {
            return None;
        }
        let mut sequence_id = 0;
        if layout.mvcc {
            sequence_id = u64::try_from(input.hvlong()?).ok()?;
        }
        let len = taken(bytes, &input);
        Some(Self { len, tags_len: 0, sequence_id: SequenceId::new(sequence_id) })
    }

    /// Any; a call, so that the rest of the cell stays in registers.
    #[inline(never)]
    fn read(bytes: &[u8], layout: CellLayout) -> Option<Self> {
        let mut input = Input::new(bytes);
        let (tags, sequence_id) = read_behind_value(&mut input, layout).ok()?;
        let len = taken(bytes, &input);
        Some(Self { len, tags_len: tags.len(), sequence_id })
    }
}

/// How many of the bytes an input has taken.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "the input is the end of the bytes")]
const fn taken(bytes: &[u8], input: &Input<'_>) -> usize {
    bytes.len() - input.len()
}

/// Why no sound cell begins here.
#[cold]
fn what_is_wrong(rest: &[u8], layout: CellLayout) -> DamageReason {
    match read_cell(&mut Input::new(rest), layout) {
        Err(what) => what,
        Ok(_) => "a cell that cannot be read".into(),
    }
}

impl RowPart {
    /// Compares the row with that of another cell of the block.
    #[inline]
    pub(crate) fn compare(&self, other: &Self, cells: &PlainCells, order: Comparator) -> Ordering {
        if order == Comparator::Bytes && self.head < other.head {
            return Ordering::Less;
        }
        order.compare_rows(self.row(cells), other.row(cells))
    }

    #[expect(clippy::arithmetic_side_effects, reason = "the row is in the block")]
    fn row<'a>(&self, cells: &'a PlainCells) -> &'a [u8] {
        let row_at = self.cell_at + ROW_AT;
        cells.body().between(row_at, row_at + self.len)
    }
}

/// Of the 8 bytes that begin with a row of fewer, those of the row, and zeros.
#[cold]
#[expect(clippy::arithmetic_side_effects, reason = "seven bytes have 56 bits")]
fn cut_head(head: u64, row_len: usize) -> u64 {
    let bits = u8::BITS * u32::try_from(row_len).expect("less than 8");
    head & !(u64::MAX >> bits)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::plain::write_cell;
    use super::*;

    fn layouts() -> impl Strategy<Value = CellLayout> {
        (any::<bool>(), any::<bool>()).prop_map(|(tags, mvcc)| CellLayout {
            tags,
            mvcc,
            ..CellLayout::default()
        })
    }

    /// A cell in its bytes.
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

        /// What is read in few steps is what is read in all, also of a cell that was changed, with anything
        /// behind it.
        #[test]
        fn cells_are_read_as_in_all_steps(
            (layout, bytes) in layouts().prop_flat_map(|layout| (Just(layout), written(layout))),
            behind in vec(any::<u8>(), 0..30),
            change in proptest::option::of((any::<prop::sample::Index>(), any::<u8>())),
            at in 0..1000_usize,
        ) {
            let mut rest = [&bytes[..], &behind[..]].concat();
            if let Some((place, byte)) = &change {
                rest[place.index(bytes.len())] = *byte;
            }
            let before = CellParts { tags_len: 7, ..CellParts::before(at) };
            let mut parts = before;
            let read = parts.go_on(&rest, layout);
            let mut input = Input::new(&rest);
            match read_cell(&mut input, layout) {
                Ok(cell) => {
                    prop_assert_eq!(read, Ok(()));
                    let len = rest.len() - input.len();
                    prop_assert_eq!((parts.at(), parts.end()), (at, at + len));
                    prop_assert_eq!(parts.cell(&rest[..len]), Some(cell));
                    prop_assert!(change.is_some() || len == bytes.len());
                }
                Err(what) => {
                    prop_assert!(change.is_some());
                    prop_assert_eq!(read, Err(what));
                    prop_assert_eq!(parts, before);
                }
            }
        }

        /// Rows told by their first bytes are told right, whatever their lengths.
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
            let first = CellParts::read(&cells, 0, layout).expect("a cell");
            let second = CellParts::read(&cells[first.end()..], first.end(), layout).expect("a cell");
            let order = first.row().compare(&second.row(), &decoded, layout.order);
            prop_assert_eq!(order, left.cmp(&right));
            prop_assert_eq!(second.row().compare(&first.row(), &decoded, layout.order), right.cmp(&left));
        }
    }
}
