//! A cell like most others, read over the one before it in few comparisons.
//!
//! ```text
//! key before  row…family…qualifier…time type
//!             ├─ shared ─┤  └── own: of a row as long as the one before, and greater by its first own
//!                                byte, or of the same row
//! ```
//!
//! A scan comes here for every cell but the first of a block. For each encoding it is one piece of
//! straight code without calls. What is not such a cell, or is damaged, is `None`: it is left to be read
//! [in all steps](super::cell_input) from its start, where is found out what is wrong with it. Until the
//! cell is complete nothing of the one before is given up but bytes of its key behind those shared, and
//! not before the rows are in order: whatever is missed behind that is damage all the same.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]
#![expect(clippy::inline_always, reason = "a call costs as much as what it does")]

use std::ops::Range;

use super::{CellFlags, CellInput, DeltaCursor, Lengths};
use crate::encoding::plain::{LENGTHS_LEN, TIME_LEN};
use crate::encoding::{DeltaCells, Step};
use crate::input::{Input, hvlong_len};
use crate::{CellType, Comparator, SequenceId};

/// Time and type, as cells may have them.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    timestamp: i64,
    cell_type: CellType,
}

impl Time {
    #[inline(always)]
    fn new(timestamp: i64, type_code: u8) -> Option<Self> {
        let cell_type = CellType::from_code(type_code)?;
        (timestamp >= 0).then_some(Self { timestamp, cell_type })
    }
}

impl<'w, 'b> CellInput<'w, 'b> {
    /// The cell behind the one that a walk stands on, if it may be a usual one.
    #[inline(always)]
    pub(crate) fn usual(walk: &'w mut DeltaCursor, deltas: &'b DeltaCells) -> Option<Self> {
        let body = deltas.body();
        if walk.layout.order != Comparator::Bytes {
            return None;
        }
        let input = Input::new(body.behind(walk.next_at));
        Some(Self { walk, input, body_len: body.len() })
    }

    /// Takes a whole key of `key_len` bytes behind the first `common`, which it shares.
    #[inline(always)]
    pub(crate) fn take_key(&mut self, key_len: usize, common: usize) -> Option<(Step, Time)> {
        let walk = &mut *self.walk;
        let rest = self.input.rest();
        let own = self.input.take(key_len.wrapping_sub(common))?;
        let step = walk.usual_step(common, own)?;
        if let Some(family_at) = walk.row_end.checked_sub(common) {
            let family_len = usize::from(*own.get(family_at)?);
            if family_len.wrapping_add(1) != walk.family_field_len {
                return None;
            }
        }
        if key_len < walk.qualifier_at().wrapping_add(TIME_LEN) {
            return None;
        }
        walk.key.put(common, rest, own.len())?;
        let [time @ .., type_code]: [u8; TIME_LEN] = match own.last_chunk() {
            Some(own) => *own,
            None => *walk.key.part(0, key_len).last_chunk()?,
        };
        Some((step, Time::new(i64::from_be_bytes(time), type_code)?))
    }

    /// Becomes a cell of `DIFF` or `FAST_DIFF`, whose flags were read.
    #[inline(always)]
    pub(crate) fn take_differences(&mut self, flags: impl CellFlags) -> Option<Step> {
        let Lengths { key_len, value_len, common } = self.read_lengths(flags).ok()?;
        let step = self.take_columns(key_len, common)?;
        let (timestamp, type_code) = self.read_time(flags).ok()?;
        let time = self.take_time(key_len, timestamp, type_code)?;
        let value = if flags.same_value() {
            self.value_before(value_len)?
        } else {
            self.take_value(value_len)?
        };
        self.become_usual(key_len, time, value)?;
        Some(step)
    }

    /// Takes row and qualifier of a key of `key_len` bytes behind the first `common`, which it shares;
    /// the family comes from the block.
    #[inline(always)]
    fn take_columns(&mut self, key_len: usize, common: usize) -> Option<Step> {
        let walk = &mut *self.walk;
        let own = self.input.rest();
        let step = walk.usual_step(common, own)?;
        let qualifier_at = walk.qualifier_at();
        let time_at = key_len.checked_sub(TIME_LEN)?;
        if !walk.key.has_room(key_len) {
            return None;
        }
        if step == Step::SameRow {
            // Neither what is shared nor what is not reaches into time and type.
            if common < qualifier_at || common.wrapping_add(TIME_LEN) > walk.key_len {
                return None;
            }
            let own_len = time_at.checked_sub(common)?;
            self.input.take(own_len)?;
            walk.key.put(common, own, own_len)?;
        } else {
            let row_len = walk.row_end.wrapping_sub(common);
            let qualifier_len = time_at.checked_sub(qualifier_at)?;
            self.input.take(row_len.wrapping_add(qualifier_len))?;
            walk.key.put(common, own, row_len)?;
            walk.key.put(walk.row_end, &walk.family, walk.family_field_len)?;
            walk.key.put(qualifier_at, own.get(row_len..)?, qualifier_len)?;
        }
        Some(step)
    }

    /// Takes time and type of a key of `key_len` bytes.
    #[inline(always)]
    fn take_time(&mut self, key_len: usize, timestamp: i64, type_code: u8) -> Option<Time> {
        self.walk.key.put_time(key_len.wrapping_sub(TIME_LEN), timestamp, type_code)?;
        Time::new(timestamp, type_code)
    }

    /// Takes the value.
    #[inline(always)]
    pub(crate) fn take_value(&mut self, len: usize) -> Option<Range<usize>> {
        let start = self.at();
        self.input.take(len)?;
        Some(start..start.wrapping_add(len))
    }

    /// Takes that of the cell before once more.
    #[inline(always)]
    fn value_before(&self, len: usize) -> Option<Range<usize>> {
        (len == self.previous_value_len()).then(|| self.walk.value.clone())
    }

    /// Becomes the cell whose key and value it has taken. What is behind the value it takes as well, if
    /// there are no tags.
    #[inline(always)]
    pub(crate) fn become_usual(
        &mut self,
        key_len: usize,
        time: Time,
        value: Range<usize>,
    ) -> Option<()> {
        let layout = self.walk.layout;
        // All of it are lengths of what is in memory.
        let value_len = value.end.wrapping_sub(value.start);
        let mut plain_len = LENGTHS_LEN.wrapping_add(key_len).wrapping_add(value_len);
        let mut sequence_id = SequenceId::default();
        if layout.mvcc && !layout.tags {
            let number = self.input.hvlong()?;
            sequence_id = SequenceId::new(u64::try_from(number).ok()?);
            let len = if number < 0x80 { 1 } else { hvlong_len(number) };
            plain_len = plain_len.wrapping_add(len);
        }
        let next_at = self.at();
        let walk = &mut *self.walk;
        let plain_end = walk.plain.end.wrapping_add(plain_len);
        if plain_end > walk.size {
            return None;
        }
        walk.next_at = next_at;
        walk.key_len = key_len;
        walk.timestamp = time.timestamp;
        walk.cell_type = time.cell_type;
        walk.value = value;
        walk.sequence_id = sequence_id;
        walk.plain = walk.plain.end..plain_end;
        Some(())
    }
}

impl DeltaCursor {
    /// Whether the next key, whose bytes behind the first `common` begin with `own`, is of another row
    /// than the key before, if that is how usual cells are.
    #[inline(always)]
    fn usual_step(&self, common: usize, own: &[u8]) -> Option<Step> {
        if common >= self.row_end {
            return (common <= self.key_len).then_some(Step::SameRow);
        }
        // Who encodes shares as much as there is, but for the length of the row.
        let is_greater = *own.first()? > self.key.byte(common)?;
        (is_greater && common >= 2).then_some(Step::NextRow)
    }
}
