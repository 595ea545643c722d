//! A walk over the cells of a `PREFIX`, `DIFF` or `FAST_DIFF` block, which undoes the differences as
//! it goes.
//!
//! ```text
//! block  [flags|lengths|rest of key|value][flags|lengths|rest of key|value] …
//!                            │        └── lent from where it stands
//! key    row…family…qualifier…time type     the one buffer: what the next key shares stays in it
//! ```
//!
//! Only what differs between keys is copied. Nothing is believed: the cells must come to the size
//! that the block states, and every reference is held against what there is to be referred to.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::cmp::Ordering;
use std::ops::Range;

use super::block::DELTA_PREFIX_LEN;
use super::plain::{self, LENGTHS_LEN, TAGS_LEN_MAX};
use super::{CellLayout, DataBlockEncoding, Deltas, What, diff, fast_diff, prefix, tag_dictionary};
use crate::block::walk::Step;
use crate::input::{Input, hvlong_len};
use crate::{CellRef, CellType, Comparator, KeyRef, SequenceId, Timestamp};

/// A place in a block: on a cell.
#[derive(Clone, Debug)]
pub(crate) struct DeltaWalk {
    encoding: DataBlockEncoding,
    layout: CellLayout,
    /// Where the next cell starts in the body.
    next_at: usize,
    /// The flat key, and room behind it, in which anything may stand.
    key: Vec<u8>,
    key_len: usize,
    /// How much of the key is there: all of it, but while a cell is read.
    filled: usize,
    row_len: usize,
    family_len: usize,
    /// The row before, compared with this one.
    row_order: Ordering,
    timestamp: i64,
    type_code: u8,
    cell_type: CellType,
    /// Where the value stands in the body.
    value: Range<usize>,
    /// Where the tags stand in the body, or among the tags that came out of the dictionary.
    tags: Range<usize>,
    sequence_id: SequenceId,
    /// What all cells up to this one take as plain cells, this one not counted and counted.
    plain: Range<usize>,
    /// The bytes that the block says its cells take as plain cells.
    size: usize,
    /// The family that all cells share, with its length in front, and room behind it.
    family: Vec<u8>,
    dictionary: tag_dictionary::Decoder,
    tags_decoded: Vec<u8>,
}

impl DeltaWalk {
    /// Begins on the first cell.
    pub(super) fn begin(deltas: &Deltas, layout: CellLayout) -> Result<Self, What> {
        let mut walk = Self {
            encoding: deltas.encoding,
            layout,
            next_at: 0,
            key: Vec::new(),
            key_len: 0,
            filled: 0,
            row_len: 0,
            family_len: 0,
            row_order: Ordering::Less,
            timestamp: 0,
            type_code: 0,
            cell_type: CellType::Put,
            value: 0..0,
            tags: 0..0,
            sequence_id: SequenceId::default(),
            plain: 0..0,
            size: deltas.size,
            family: Vec::new(),
            dictionary: tag_dictionary::Decoder::default(),
            tags_decoded: Vec::new(),
        };
        let body = deltas.body();
        let mut input = Input::new(body.get(DELTA_PREFIX_LEN..).unwrap_or_default());
        if walk.encoding == DataBlockEncoding::Diff {
            walk.set_family(diff::decode_family(&mut input)?);
        }
        walk.next_at = body.len().saturating_sub(input.len());
        if input.is_empty() {
            return Err("no cells".into());
        }
        walk.step(deltas)?;
        Ok(walk)
    }

    /// Goes to the next cell.
    #[inline]
    pub(crate) fn step(&mut self, deltas: &Deltas) -> Result<Step, What> {
        let body = deltas.body();
        let at = self.next_at;
        let mut input = Input::new(body.get(at..).unwrap_or_default());
        if input.is_empty() {
            return self.check_size().map(|()| Step::End);
        }
        self.read_cell(&mut input, body.len()).map_err(|what| located(at, &what))?;
        self.next_at = body.len().saturating_sub(input.len());
        match self.row_order {
            Ordering::Equal => Ok(Step::SameRow),
            Ordering::Less => Ok(Step::NextRow),
            Ordering::Greater => Err(located(at, "its row is out of order")),
        }
    }

    /// Goes on to the first cell whose row is not less than `row`; returns how that row compares with
    /// it. Where all rows are less it ends on the last cell.
    pub(crate) fn go_to_row(&mut self, deltas: &Deltas, row: &[u8]) -> Result<Ordering, What> {
        loop {
            let found = self.layout.order.compare_rows(self.row(), row);
            if found.is_ge() {
                return Ok(found);
            }
            loop {
                match self.step(deltas)? {
                    Step::SameRow => {}
                    Step::NextRow | Step::Cell => break,
                    Step::End => return Ok(found),
                }
            }
        }
    }

    /// Where the cell would start in a plain block.
    pub(crate) const fn position(&self) -> usize {
        self.plain.start
    }

    /// Bytes of the cell in a plain block.
    pub(crate) const fn cell_len(&self) -> usize {
        self.plain.end.saturating_sub(self.plain.start)
    }

    /// The flat key.
    pub(super) fn key(&self) -> &[u8] {
        self.key.get(..self.key_len).unwrap_or_default()
    }

    /// The row of the cell.
    fn row(&self) -> &[u8] {
        self.key.get(2..self.row_len.saturating_add(2)).unwrap_or_default()
    }

    /// The cell it stands on.
    #[inline]
    pub(crate) fn cell<'a>(&'a self, deltas: &'a Deltas) -> Option<CellRef<'a>> {
        let body = deltas.body();
        let tagged = if self.layout.compressed_tags { &self.tags_decoded } else { body };
        let mut key = Input::new(self.key());
        key.take(2)?;
        let row = key.take(self.row_len)?;
        key.take(1)?;
        let family = key.take(self.family_len)?;
        let (qualifier, _) = key.rest().split_last_chunk::<9>()?;
        Some(CellRef {
            row,
            family,
            qualifier,
            timestamp: Timestamp::new(self.timestamp),
            cell_type: self.cell_type,
            value: body.get(self.value.clone())?,
            tags: tagged.get(self.tags.clone())?,
            sequence_id: self.sequence_id,
        })
    }

    /// Reads the cell that `input` begins with, in a body of `body_len` bytes.
    #[inline]
    fn read_cell(&mut self, input: &mut Input<'_>, body_len: usize) -> Result<(), What> {
        let mut cell = CellInput { walk: self, input, body_len };
        match cell.walk.encoding {
            DataBlockEncoding::Prefix => prefix::decode(&mut cell)?,
            DataBlockEncoding::Diff => diff::decode(&mut cell)?,
            _ => fast_diff::decode(&mut cell)?,
        }
        cell.read_end()
    }

    /// Whether the cells are as long as the block says.
    fn check_size(&self) -> Result<(), What> {
        if self.plain.end == self.size {
            return Ok(());
        }
        Err(format!("cells of {} bytes where {} are stated", self.plain.end, self.size).into())
    }
}

#[cold]
fn located(at: usize, what: &str) -> What {
    format!("cell at {at} in the encoded block: {what}").into()
}

/// A cell while it is read, and the one before it, from which it becomes itself.
pub(super) struct CellInput<'w, 'i, 'b> {
    walk: &'w mut DeltaWalk,
    pub(super) input: &'i mut Input<'b>,
    body_len: usize,
}

impl CellInput<'_, '_, '_> {
    /// Whether there is no cell before it.
    #[inline]
    pub(super) const fn is_first(&self) -> bool {
        self.walk.key_len == 0
    }

    /// The length of the key before.
    pub(super) const fn previous_key_len(&self) -> usize {
        self.walk.key_len
    }

    /// The length of the value before.
    pub(super) const fn previous_value_len(&self) -> usize {
        self.walk.value.end.saturating_sub(self.walk.value.start)
    }

    pub(super) const fn previous_timestamp(&self) -> i64 {
        self.walk.timestamp
    }

    pub(super) const fn previous_type(&self) -> u8 {
        self.walk.type_code
    }

    /// Begins a cell.
    #[inline]
    pub(super) fn begin(&mut self, key_len: usize, value_len: usize) -> Result<(), What> {
        if key_len < KeyRef::FIXED_LEN {
            return Err(format!("a key of {key_len} bytes").into());
        }
        let walk = &mut *self.walk;
        walk.plain.start = walk.plain.end;
        walk.take_plain(LENGTHS_LEN.saturating_add(key_len).saturating_add(value_len))
    }

    /// Reads a whole key of `key_len` bytes behind the first `common`, which it shares.
    #[inline]
    pub(super) fn read_key(&mut self, key_len: usize, common: usize) -> Result<(), What> {
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
    pub(super) fn read_columns(&mut self, key_len: usize, common: usize) -> Result<(), What> {
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
    pub(super) fn end_key(
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
    pub(super) fn read_value(&mut self, len: usize) -> Result<(), What> {
        let start = self.body_len.saturating_sub(self.input.len());
        self.input.take(len).ok_or("the value goes past the block")?;
        self.walk.value = start..start.saturating_add(len);
        Ok(())
    }

    /// Keeps the value of the cell before, whose length the cell must have.
    pub(super) fn same_value(&self, len: usize) -> Result<(), What> {
        if len == self.previous_value_len() {
            return Ok(());
        }
        Err("a repeated value of another length".into())
    }

    /// Reads what follows the value in every encoding: tags and sequence id.
    #[inline]
    fn read_end(&mut self) -> Result<(), What> {
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
    fn set_family(&mut self, family: &[u8]) {
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
