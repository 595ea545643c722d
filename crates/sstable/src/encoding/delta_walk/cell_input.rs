//! One cell of a block of differences, read over the one before it.
//!
//! ```text
//! key before  row…family…qualifier…time type
//!             ├─ shared ─┤└── read, in the encoding's own order, into the same buffer
//! ```
//!
//! The encodings know in what order the parts stand and which of them are left out; what each part must
//! hold to is known here.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::cmp::Ordering;

use super::DeltaWalk;
use crate::encoding::What;
use crate::encoding::plain::{self, LENGTHS_LEN, TAGS_LEN_MAX};
use crate::input::{Input, hvlong_len};
use crate::{CellType, Comparator, KeyRef, SequenceId};

/// A cell while it is read, and the one before it, from which it becomes itself.
pub(crate) struct CellInput<'w, 'i, 'b> {
    pub(super) walk: &'w mut DeltaWalk,
    pub(crate) input: &'i mut Input<'b>,
    pub(super) body_len: usize,
}

impl CellInput<'_, '_, '_> {
    /// Whether there is no cell before it.
    #[inline]
    pub(crate) const fn is_first(&self) -> bool {
        self.walk.key_len == 0
    }

    /// The length of the key before.
    pub(crate) const fn previous_key_len(&self) -> usize {
        self.walk.key_len
    }

    /// The length of the value before.
    pub(crate) const fn previous_value_len(&self) -> usize {
        self.walk.value.end.saturating_sub(self.walk.value.start)
    }

    pub(crate) const fn previous_timestamp(&self) -> i64 {
        self.walk.timestamp
    }

    pub(crate) const fn previous_type(&self) -> u8 {
        self.walk.type_code
    }

    /// Begins a cell.
    #[inline]
    pub(crate) fn begin(&mut self, key_len: usize, value_len: usize) -> Result<(), What> {
        if key_len < KeyRef::FIXED_LEN {
            return Err(format!("a key of {key_len} bytes").into());
        }
        let walk = &mut *self.walk;
        walk.plain.start = walk.plain.end;
        walk.take_plain(LENGTHS_LEN.saturating_add(key_len).saturating_add(value_len))
    }

    /// Reads a whole key of `key_len` bytes behind the first `common`, which it shares.
    #[inline]
    pub(crate) fn read_key(&mut self, key_len: usize, common: usize) -> Result<(), What> {
        self.share(common, key_len)?;
        let row_len = self.enter_row(common)?;
        let own_len = key_len.saturating_sub(common);
        let own = self.input.rest().get(..own_len);
        self.copy(own_len)?;
        let walk = &mut *self.walk;
        let is_first = walk.key_len == 0;
        walk.key_len = key_len;
        let family_at = row_len.saturating_add(2);
        let family_len = walk.key.get(family_at).filter(|_| family_at < key_len);
        let family_len = family_len.and_then(|len| usize::try_from(len.cast_signed()).ok());
        let family_len = family_len.ok_or(KEY_CONTRADICTS)?;
        if key_len < KeyRef::FIXED_LEN.saturating_add(row_len).saturating_add(family_len) {
            return Err(KEY_CONTRADICTS.into());
        }
        if is_first {
            let family = walk.key.get(family_at.saturating_add(1)..).unwrap_or_default();
            let family = family.get(..family_len).unwrap_or_default().to_vec();
            walk.set_family(&family);
        }
        walk.family_len = family_len;
        // The end is mostly among the bytes that were just read.
        let end = own.and_then(<[u8]>::last_chunk).or_else(|| walk.key().last_chunk());
        let [time @ .., type_code]: [u8; 9] = *end.ok_or(KEY_CONTRADICTS)?;
        walk.set_time(i64::from_be_bytes(time), type_code)
    }

    /// Reads row and qualifier of a key of `key_len` bytes behind the first `common`, which it shares;
    /// the family comes from the block.
    #[inline]
    pub(crate) fn read_columns(&mut self, key_len: usize, common: usize) -> Result<(), What> {
        let is_first = self.is_first();
        let (row_len, before_len) = (self.walk.row_len, self.walk.key_len);
        let family_len = self.walk.family_len;
        let fixed_len = KeyRef::FIXED_LEN.saturating_add(family_len);
        self.share(common, key_len)?;
        if !is_first && common >= row_len.saturating_add(family_len).saturating_add(3) {
            // Neither may the shared bytes reach past the qualifiers, into time and type.
            let time_at = key_len.saturating_sub(9);
            if common > time_at || common > before_len.saturating_sub(9) {
                return Err("shares more than the qualifier".into());
            }
            self.walk.row_order = Ordering::Equal;
            return self.copy(time_at.saturating_sub(common));
        }
        if !is_first && common >= row_len.saturating_add(2) {
            return Err("shares a part of the family".into());
        }
        let row_len = self.enter_row(common)?;
        let qualifier_len = key_len.checked_sub(row_len.saturating_add(fixed_len));
        let qualifier_len = qualifier_len.ok_or("the row is longer than the key")?;
        self.copy(row_len.saturating_add(2).saturating_sub(common))?;
        let family = std::mem::take(&mut self.walk.family);
        self.walk.append(&family, family_len.saturating_add(1));
        self.walk.family = family;
        self.copy(qualifier_len)
    }

    /// Ends a key of `key_len` bytes, whose columns were read.
    #[inline]
    pub(crate) fn end_key(
        &mut self,
        key_len: usize,
        timestamp: i64,
        type_code: u8,
    ) -> Result<(), What> {
        let walk = &mut *self.walk;
        let end = walk.filled.saturating_add(9);
        if end != key_len {
            return Err(KEY_CONTRADICTS.into());
        }
        walk.make_room(end);
        if let Some(place) = walk.key.get_mut(walk.filled..).and_then(<[u8]>::first_chunk_mut) {
            let [time @ .., last]: &mut [u8; 9] = place;
            *time = timestamp.to_be_bytes();
            *last = type_code;
        }
        walk.key_len = key_len;
        walk.set_time(timestamp, type_code)
    }

    /// Takes the value.
    #[inline]
    pub(crate) fn read_value(&mut self, len: usize) -> Result<(), What> {
        let start = self.body_len.saturating_sub(self.input.len());
        self.input.take(len).ok_or("the value goes past the block")?;
        self.walk.value = start..start.saturating_add(len);
        Ok(())
    }

    /// Keeps the value of the cell before, whose length the cell must have.
    pub(crate) fn same_value(&self, len: usize) -> Result<(), What> {
        if len == self.previous_value_len() {
            return Ok(());
        }
        Err("a repeated value of another length".into())
    }

    /// Reads what follows the value in every encoding: tags and sequence id.
    #[inline]
    pub(super) fn read_end(&mut self) -> Result<(), What> {
        let walk = &mut *self.walk;
        if walk.layout.tags {
            let len = self.input.vint().filter(|len| *len <= TAGS_LEN_MAX);
            let len = len.ok_or("bad tags length")?;
            walk.take_plain(len.saturating_add(2))?;
            let start;
            if walk.layout.compressed_tags {
                start = walk.tags_decoded.len();
                walk.dictionary.read(self.input, len, &mut walk.tags_decoded)?;
            } else {
                start = self.body_len.saturating_sub(self.input.len());
                plain::check_tags(self.input.take(len).ok_or("the tags go past the block")?)?;
            }
            walk.tags = start..start.saturating_add(len);
        }
        if walk.layout.mvcc {
            let number = self.input.hvlong().ok_or("bad sequence id")?;
            let sequence_id = u64::try_from(number).map_err(|_| "bad sequence id")?;
            walk.sequence_id = SequenceId::new(sequence_id);
            walk.take_plain(hvlong_len(number))?;
        }
        Ok(())
    }

    /// Keeps the first `len` bytes of the key before.
    #[inline]
    fn share(&mut self, len: usize, key_len: usize) -> Result<(), What> {
        let there = self.walk.key_len;
        if len > there || len > key_len {
            return Err(format!("shares {len} bytes with a key of {there}").into());
        }
        self.walk.filled = len;
        Ok(())
    }

    /// Finds the row of a key of which `common` bytes are shared and the others come next, and
    /// compares the row before with it. Returns its length.
    #[inline]
    fn enter_row(&mut self, common: usize) -> Result<usize, What> {
        let walk = &mut *self.walk;
        let rest = self.input.rest();
        let short = || What::from("the key goes past the block");
        let before = walk.row_len.saturating_add(2);
        if walk.key_len > 0 && common >= before {
            walk.row_order = Ordering::Equal;
            return Ok(walk.row_len);
        }
        let (row_len, rest) = match (common, rest, walk.key.first()) {
            (0, [high, low, rest @ ..], _) | (1, [low, rest @ ..], Some(high)) => {
                (u16::from_be_bytes([*high, *low]), rest)
            }
            (0 | 1, ..) => return Err(short()),
            _ => (u16::try_from(walk.row_len).unwrap_or(u16::MAX), rest),
        };
        if row_len.cast_signed() < 0 {
            return Err("negative row length".into());
        }
        let row_len = usize::from(row_len);
        let shared = common.saturating_sub(2);
        let tail = rest.get(..row_len.saturating_sub(shared)).ok_or_else(short)?;
        let before = walk.key.get(2..before).unwrap_or_default();
        walk.row_order = match walk.layout.order {
            _ if walk.key_len == 0 => Ordering::Less,
            // What both share decides nothing.
            Comparator::Bytes => {
                Comparator::Bytes.compare_rows(before.get(shared..).unwrap_or_default(), tail)
            }
            Comparator::Meta => {
                let row = [before.get(..shared).unwrap_or_default(), tail].concat();
                Comparator::Meta.compare_rows(before, &row)
            }
        };
        walk.row_len = row_len;
        Ok(row_len)
    }

    /// Copies so many bytes of the key.
    #[inline]
    fn copy(&mut self, len: usize) -> Result<(), What> {
        let rest = self.input.rest();
        self.input.take(len).ok_or("the key goes past the block")?;
        self.walk.append(rest, len);
        Ok(())
    }
}

/// Up to here bytes are copied without asking how many they are.
const SHORT_LEN: usize = 32;

const KEY_CONTRADICTS: &str = "the lengths in the key contradict its length";

impl DeltaWalk {
    /// Takes the family that all cells share.
    pub(super) fn set_family(&mut self, family: &[u8]) {
        self.family_len = family.len();
        self.family = vec![0; family.len().saturating_add(1).saturating_add(SHORT_LEN)];
        if let Some((len, [room @ .., _])) = self.family.split_first_mut() {
            *len = u8::try_from(family.len()).unwrap_or(u8::MAX);
            if let Some(place) = room.get_mut(..family.len()) {
                place.copy_from_slice(family);
            }
        }
    }

    /// Appends the first `len` of some bytes to the key.
    #[inline]
    fn append(&mut self, bytes: &[u8], len: usize) {
        let start = self.filled;
        let end = start.saturating_add(len);
        self.filled = end;
        self.make_room(end);
        let Some(place) = self.key.get_mut(start..) else { return };
        if let (true, Some(place), Some(short)) =
            (len <= SHORT_LEN, place.first_chunk_mut(), bytes.first_chunk())
        {
            // Two instructions, where a copy of a length that is not known before takes a call. What
            // is copied too much of stands behind the key, in the room for the next.
            let (place, short): (&mut [u8; SHORT_LEN], &[u8; SHORT_LEN]) = (place, short);
            *place = *short;
        } else if let (Some(place), Some(bytes)) = (place.get_mut(..len), bytes.get(..len)) {
            place.copy_from_slice(bytes);
        }
    }

    /// Makes room in the key up to `end`, and for a short copy behind it.
    #[inline]
    fn make_room(&mut self, end: usize) {
        let room = end.saturating_add(SHORT_LEN);
        if self.key.len() < room {
            self.key.resize(room.saturating_mul(2), 0);
        }
    }

    /// Takes time and type of the key, which must be of a kind that cells have.
    #[inline]
    fn set_time(&mut self, timestamp: i64, type_code: u8) -> Result<(), What> {
        (self.timestamp, self.type_code) = (timestamp, type_code);
        self.cell_type = CellType::from_code(type_code)
            .ok_or_else(|| format!("unknown cell type {type_code}"))?;
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
            return Err(format!("cells of more than the {} bytes stated", self.size).into());
        }
        Ok(())
    }
}
