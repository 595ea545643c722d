//! One cell of a block of differences, read over the one before it.
//!
//! ```text
//! key before  row…family…qualifier…time type
//!             ├─ shared ─┤└── read, in the encoding's own order, into the same buffer
//! ```
//!
//! The encodings know in what order the parts stand and which of them are left out; what each part must
//! hold to is known here.
//!
//! A scan comes here for what is not a [usual cell](super::usual_cell), and for what is wrong with one.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::cmp::Ordering;

use super::DeltaCursor;
use super::key_buffer::SHORT_LEN;
use crate::encoding::What;
use crate::encoding::plain::{self, LENGTHS_LEN, TAGS_LEN_MAX, TIME_LEN, unknown_type};
use crate::input::{Input, hvlong_len};
use crate::{CellType, Comparator, KeyRef, SequenceId};

/// A cell while it is read, and the one before it, from which it becomes itself.
pub(crate) struct CellInput<'w, 'b> {
    pub(super) walk: &'w mut DeltaCursor,
    pub(crate) input: Input<'b>,
    pub(super) body_len: usize,
}

/// The lengths that a cell begins with.
pub(crate) struct Lengths {
    pub(crate) key_len: usize,
    pub(crate) value_len: usize,
    /// Bytes of the key that it shares with the key before.
    pub(crate) common: usize,
}

/// What the flags say with which a cell of `DIFF` or `FAST_DIFF` begins: which parts are those of the cell
/// before.
pub(crate) trait CellFlags: Copy {
    fn same_key_len(self) -> bool;
    fn same_value_len(self) -> bool;
    fn same_type(self) -> bool;
    fn same_value(self) -> bool;

    /// Reads the timestamp, of which the one before may be a part.
    fn read_timestamp(self, input: &mut Input<'_>, previous: i64) -> Option<i64>;
}

impl CellInput<'_, '_> {
    /// Whether there is no cell before it.
    pub(crate) const fn is_first(&self) -> bool {
        self.walk.key_len == 0
    }

    /// Reads a cell of `DIFF` or `FAST_DIFF` behind its flags, up to its value.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(crate) fn read_differences(&mut self, flags: impl CellFlags) -> Result<(), What> {
        let Lengths { key_len, value_len, common } = self.read_lengths(flags)?;
        self.begin(key_len, value_len)?;
        self.read_columns(key_len, common)?;
        let (timestamp, type_code) = self.read_time(flags)?;
        self.end_key(key_len, timestamp, type_code)?;
        if flags.same_value() { self.same_value(value_len) } else { self.read_value(value_len) }
    }

    /// Reads the lengths of key and value, where they are not those of the cell before, and how much the
    /// keys share.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(super) fn read_lengths(&mut self, flags: impl CellFlags) -> Result<Lengths, What> {
        let key_len = if flags.same_key_len() {
            self.walk.key_len
        } else {
            self.input.vint().ok_or("bad key length")?
        };
        let value_len = if flags.same_value_len() {
            self.previous_value_len()
        } else {
            self.input.vint().ok_or("bad value length")?
        };
        let common = self.input.vint().ok_or("bad shared length")?;
        Ok(Lengths { key_len, value_len, common })
    }

    /// Reads the timestamp, and the type where it is not that of the cell before.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(super) fn read_time(&mut self, flags: impl CellFlags) -> Result<(i64, u8), What> {
        let timestamp = flags.read_timestamp(&mut self.input, self.walk.timestamp);
        let timestamp = timestamp.ok_or("no timestamp")?;
        if flags.same_type() {
            return Ok((timestamp, self.walk.cell_type.code()));
        }
        Ok((timestamp, self.input.u8().ok_or("no type")?))
    }

    /// The length of the value before.
    pub(super) const fn previous_value_len(&self) -> usize {
        self.walk.value.end.saturating_sub(self.walk.value.start)
    }

    /// Begins a cell.
    #[inline]
    pub(crate) fn begin(&mut self, key_len: usize, value_len: usize) -> Result<(), What> {
        if key_len < KeyRef::FIXED_LEN {
            return Err(too_short(key_len));
        }
        let walk = &mut *self.walk;
        walk.plain.start = walk.plain.end;
        walk.take_plain(LENGTHS_LEN.saturating_add(key_len).saturating_add(value_len))
    }

    /// Reads a whole key of `key_len` bytes behind the first `common`, which it shares.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(crate) fn read_key(&mut self, key_len: usize, common: usize) -> Result<(), What> {
        self.share(common, key_len)?;
        self.walk.enter_row(self.input.rest(), common)?;
        let own_len = key_len.saturating_sub(common);
        let own = self.input.rest().get(..own_len);
        self.copy(own_len)?;
        let walk = &mut *self.walk;
        let is_first = walk.key_len == 0;
        walk.key_len = key_len;
        let family_len = walk.key.part(walk.row_end, key_len).first();
        let family_len = family_len.and_then(|len| usize::try_from(len.cast_signed()).ok());
        walk.family_field_len = family_len.ok_or(KEY_CONTRADICTS)?.saturating_add(1);
        let qualifier_at = walk.qualifier_at();
        if key_len < qualifier_at.saturating_add(TIME_LEN) {
            return Err(KEY_CONTRADICTS.into());
        }
        if is_first {
            let family = walk.key.part(walk.row_end.saturating_add(1), qualifier_at).to_vec();
            walk.set_family(&family);
        }
        // The end is mostly among the bytes that were just read.
        let end = own.and_then(<[u8]>::last_chunk).or_else(|| walk.key().last_chunk());
        let [time @ .., type_code]: [u8; TIME_LEN] = *end.ok_or(KEY_CONTRADICTS)?;
        walk.set_time(i64::from_be_bytes(time), type_code)
    }

    /// Reads row and qualifier of a key of `key_len` bytes behind the first `common`, which it shares;
    /// the family comes from the block.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    fn read_columns(&mut self, key_len: usize, common: usize) -> Result<(), What> {
        self.share(common, key_len)?;
        if common >= self.walk.row_end && !self.is_first() {
            return self.read_qualifier(key_len, common);
        }
        self.walk.enter_row(self.input.rest(), common)?;
        let walk = &mut *self.walk;
        let row_end = walk.row_end;
        let fixed_len = walk.qualifier_at().saturating_add(TIME_LEN);
        let qualifier_len = key_len.checked_sub(fixed_len);
        let qualifier_len = qualifier_len.ok_or("the row is longer than the key")?;
        self.copy(row_end.saturating_sub(common))?;
        let walk = &mut *self.walk;
        walk.key.append(&walk.family, walk.family_field_len);
        self.copy(qualifier_len)
    }

    /// The same in the row of the cell before.
    #[inline]
    fn read_qualifier(&mut self, key_len: usize, common: usize) -> Result<(), What> {
        let walk = &mut *self.walk;
        if common < walk.qualifier_at() {
            return Err("shares a part of the family".into());
        }
        // Neither may the shared bytes reach past the qualifiers, into time and type.
        let time_at = key_len.saturating_sub(TIME_LEN);
        if common > time_at || common > walk.key_len.saturating_sub(TIME_LEN) {
            return Err("shares more than the qualifier".into());
        }
        walk.row_order = Ordering::Equal;
        self.copy(time_at.saturating_sub(common))
    }

    /// Ends a key of `key_len` bytes, whose columns were read.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    fn end_key(&mut self, key_len: usize, timestamp: i64, type_code: u8) -> Result<(), What> {
        let walk = &mut *self.walk;
        walk.key.append_time(timestamp, type_code);
        if walk.key.filled() != key_len {
            return Err(KEY_CONTRADICTS.into());
        }
        walk.key_len = key_len;
        walk.set_time(timestamp, type_code)
    }

    /// Takes the value.
    #[inline]
    pub(crate) fn read_value(&mut self, len: usize) -> Result<(), What> {
        let start = self.at();
        self.input.take(len).ok_or("the value goes past the block")?;
        self.walk.value = start..self.at();
        Ok(())
    }

    /// Keeps the value of the cell before, whose length the cell must have.
    fn same_value(&self, len: usize) -> Result<(), What> {
        if len == self.previous_value_len() {
            return Ok(());
        }
        Err("a repeated value of another length".into())
    }

    /// Reads what follows the value in every encoding: tags and sequence id.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(super) fn read_end(&mut self) -> Result<(), What> {
        if self.walk.layout.tags {
            self.read_tags()?;
        }
        let walk = &mut *self.walk;
        if walk.layout.mvcc {
            let number = self.input.hvlong().ok_or("bad sequence id")?;
            let sequence_id = u64::try_from(number).map_err(|_| "bad sequence id")?;
            walk.sequence_id = SequenceId::new(sequence_id);
            walk.take_plain(hvlong_len(number))?;
        }
        self.walk.next_at = self.at();
        Ok(())
    }

    fn read_tags(&mut self) -> Result<(), What> {
        let len = self.input.vint().filter(|len| *len <= TAGS_LEN_MAX);
        let len = len.ok_or("bad tags length")?;
        let start = self.at();
        let walk = &mut *self.walk;
        walk.take_plain(len.saturating_add(2))?;
        if walk.layout.compressed_tags {
            let start = walk.tags_decoded.len();
            // Whatever a call is lent has to be in memory: this one gets a copy.
            let mut input = self.input;
            walk.dictionary.read(&mut input, len, &mut walk.tags_decoded)?;
            self.input = input;
            walk.tags = start..start.saturating_add(len);
        } else {
            plain::check_tags(self.input.take(len).ok_or("the tags go past the block")?)?;
            self.walk.tags = start..self.at();
        }
        Ok(())
    }

    /// Where it stands in the body.
    #[inline]
    pub(super) const fn at(&self) -> usize {
        self.body_len.saturating_sub(self.input.len())
    }

    /// Keeps the first `len` bytes of the key before.
    #[inline]
    fn share(&mut self, len: usize, key_len: usize) -> Result<(), What> {
        let there = self.walk.key_len;
        if len > there || len > key_len {
            return Err(shares_too_much(len, there));
        }
        self.walk.key.keep(len);
        Ok(())
    }

    /// Copies so many bytes of the key.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    fn copy(&mut self, len: usize) -> Result<(), What> {
        let rest = self.input.rest();
        self.input.take(len).ok_or(KEY_ENDS)?;
        self.walk.key.append(rest, len);
        Ok(())
    }
}

const KEY_CONTRADICTS: &str = "the lengths in the key contradict its length";
const KEY_ENDS: &str = "the key goes past the block";

impl DeltaCursor {
    /// Takes the family that all cells share.
    pub(super) fn set_family(&mut self, family: &[u8]) {
        self.family_field_len = family.len().saturating_add(1);
        self.family = vec![0; self.family_field_len.saturating_add(SHORT_LEN)];
        if let Some((len, [room @ .., _])) = self.family.split_first_mut() {
            *len = u8::try_from(family.len()).unwrap_or(u8::MAX);
            if let Some(place) = room.get_mut(..family.len()) {
                place.copy_from_slice(family);
            }
        }
    }

    /// Where in the key the qualifier starts.
    #[inline]
    pub(super) const fn qualifier_at(&self) -> usize {
        self.row_end.saturating_add(self.family_field_len)
    }

    /// Finds the row of a key of which `common` bytes are shared and `rest` is the rest, and compares the
    /// row before with it.
    fn enter_row(&mut self, rest: &[u8], common: usize) -> Result<(), What> {
        // Rows of other lengths share no more than a byte of their length.
        self.rows_alike = self.key_len == 0 || common >= 2;
        if self.key_len > 0 && common >= self.row_end {
            self.row_order = Ordering::Equal;
            return Ok(());
        }
        let before_len = self.row_end.saturating_sub(2);
        let (row_len, rest) = match (common, rest, self.key.part(0, 1)) {
            (0, [high, low, rest @ ..], _) | (1, [low, rest @ ..], [high]) => {
                (u16::from_be_bytes([*high, *low]), rest)
            }
            (0 | 1, ..) => return Err(KEY_ENDS.into()),
            _ => (u16::try_from(before_len).unwrap_or(u16::MAX), rest),
        };
        if row_len.cast_signed() < 0 {
            return Err("negative row length".into());
        }
        let row_len = usize::from(row_len);
        let shared = common.saturating_sub(2);
        let tail = rest.get(..row_len.saturating_sub(shared)).ok_or(KEY_ENDS)?;
        let before = self.key.part(2, self.row_end);
        let order = self.layout.order;
        self.row_order = match before.get(..shared) {
            _ if self.key_len == 0 => Ordering::Less,
            None | Some([]) => order.compare_rows(before, tail),
            // What both share decides nothing.
            Some(shared) if order == Comparator::Bytes => {
                order.compare_rows(before.get(shared.len()..).unwrap_or_default(), tail)
            }
            Some(shared) => order.compare_rows(before, &[shared, tail].concat()),
        };
        self.row_end = row_len.saturating_add(2);
        Ok(())
    }

    /// Takes time and type of the key, which must be of a kind that cells have.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    fn set_time(&mut self, timestamp: i64, type_code: u8) -> Result<(), What> {
        self.timestamp = timestamp;
        self.cell_type = CellType::from_code(type_code).ok_or_else(|| unknown_type(type_code))?;
        if timestamp < 0 {
            return Err("negative timestamp".into());
        }
        Ok(())
    }

    /// Counts bytes of the plain cell.
    #[inline]
    fn take_plain(&mut self, len: usize) -> Result<(), What> {
        self.plain.end = self.plain.end.saturating_add(len);
        if self.plain.end > self.size {
            return Err(more_than(self.size));
        }
        Ok(())
    }
}

#[cold]
fn too_short(key_len: usize) -> What {
    format!("a key of {key_len} bytes").into()
}

#[cold]
fn shares_too_much(len: usize, there: usize) -> What {
    format!("shares {len} bytes with a key of {there}").into()
}

#[cold]
fn more_than(size: usize) -> What {
    format!("cells of more than the {size} bytes stated").into()
}
