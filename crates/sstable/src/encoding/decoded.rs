//! The plain cells of a block while they are decoded from `PREFIX`, `DIFF` or `FAST_DIFF`.
//!
//! Nothing is believed: every length is held against the size that the block states, so that the
//! output never grows past it, and every reference against what is there to be referred to.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use super::plain::{self, LENGTHS_LEN, TAGS_LEN_MAX, write_tags_len};
use super::{CellLayout, What, tag_dictionary};
use crate::KeyRef;
use crate::block::body::Buffers;
use crate::input::{Input, write_hvlong};

/// The cells decoded so far.
#[derive(Debug)]
pub(super) struct Output {
    out: Vec<u8>,
    /// The bytes that the block says its cells take.
    size: usize,
    layout: CellLayout,
    family: Vec<u8>,
    previous: Option<Previous>,
    current: Previous,
    tags: tag_dictionary::Decoder,
}

/// What a cell may take from the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Previous {
    key_at: usize,
    pub(super) key_len: usize,
    row_len: usize,
    value_at: usize,
    pub(super) value_len: usize,
    pub(super) timestamp: i64,
    pub(super) type_code: u8,
}

impl Output {
    /// Expects cells that take `size` bytes, from an encoded block of `encoded_len`.
    pub(super) fn new(
        size: usize,
        encoded_len: usize,
        layout: CellLayout,
        buffers: &mut Buffers,
    ) -> Self {
        // What is stated is not yet proven; past this the vector grows with what is decoded.
        let likely = size.min(encoded_len.saturating_mul(8));
        Self {
            out: buffers.take_empty(likely.saturating_add(SHORT_LEN)),
            size,
            layout,
            family: Vec::new(),
            previous: None,
            current: Previous::default(),
            tags: tag_dictionary::Decoder::default(),
        }
    }

    /// The cell before the one that is being decoded.
    #[inline]
    pub(super) const fn previous(&self) -> Option<Previous> {
        self.previous
    }

    /// Takes the family that all cells share.
    pub(super) fn set_family(&mut self, family: &[u8]) {
        self.family = family.to_vec();
    }

    /// Begins a cell.
    #[inline]
    pub(super) fn begin(&mut self, key_len: usize, value_len: usize) -> Result<(), What> {
        if key_len < KeyRef::FIXED_LEN {
            return Err(format!("a key of {key_len} bytes").into());
        }
        self.reserve(LENGTHS_LEN.saturating_add(key_len).saturating_add(value_len))?;
        let lens = [key_len, value_len].map(|len| u32::try_from(len).unwrap_or(u32::MAX));
        let lens = u64::from(lens[0]) << 32 | u64::from(lens[1]);
        self.out.extend_from_slice(&lens.to_be_bytes());
        self.current = Previous { key_at: self.out.len(), key_len, value_len, ..self.current };
        Ok(())
    }

    /// Appends the first `len` bytes of the previous key.
    #[inline]
    pub(super) fn push_shared(&mut self, len: usize) -> Result<(), What> {
        let (start, there) = self.previous.map_or((0, 0), |cell| (cell.key_at, cell.key_len));
        if len > there || len > self.key_room() {
            return Err(format!("shares {len} bytes with a key of {there}").into());
        }
        if let Some(short) = self.out.get(start..).and_then(|key| key.first_chunk().copied())
            && len <= SHORT_LEN
        {
            push_short(&mut self.out, short, len);
        } else {
            self.out.extend_from_within(start..start.saturating_add(len));
        }
        Ok(())
    }

    /// Appends so many bytes of the key from `input`.
    #[inline]
    pub(super) fn push_key(&mut self, input: &mut Input<'_>, len: usize) -> Result<(), What> {
        let rest = input.rest();
        let bytes = input.take(len).ok_or("the key goes past the block")?;
        if len > self.key_room() {
            return Err("the parts of the key are longer than the key".into());
        }
        if let Some(short) = rest.first_chunk()
            && len <= SHORT_LEN
        {
            push_short(&mut self.out, *short, len);
        } else {
            self.out.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Reads row and qualifier behind the first `common` bytes; the family comes from the block.
    #[inline]
    pub(super) fn push_rest(&mut self, input: &mut Input<'_>, common: usize) -> Result<(), What> {
        let row_len = self.previous.map_or(0, |cell| cell.row_len);
        let family_len = self.family.len();
        let qualifier_start = row_len.saturating_add(family_len).saturating_add(3);
        let fixed_len = KeyRef::FIXED_LEN.saturating_add(family_len);
        self.push_shared(common)?;
        if self.previous.is_some() && common >= qualifier_start {
            // Neither may the shared bytes reach past the qualifiers, into time and type.
            let time_at = self.current.key_len.checked_sub(9).filter(|end| *end >= common);
            let time_before = self.previous.and_then(|cell| cell.key_len.checked_sub(9));
            let rest_len = time_at.zip(time_before).filter(|(_, before)| common <= *before);
            let (time_at, _) = rest_len.ok_or("shares more than the qualifier")?;
            return self.push_key(input, time_at.saturating_sub(common));
        }
        if common >= row_len.saturating_add(2) && self.previous.is_some() {
            return Err("shares a part of the family".into());
        }
        self.push_key(input, 2_usize.saturating_sub(common))?;
        let row_len = self.out.get(self.current.key_at..).and_then(|key| key.first_chunk());
        let row_len = row_len.and_then(|len| usize::try_from(i16::from_be_bytes(*len)).ok());
        let row_len = row_len.ok_or("negative row length")?;
        let row_rest = row_len.saturating_add(2).saturating_sub(common.max(2));
        self.push_key(input, row_rest)?;
        self.current.row_len = row_len;
        let qualifier_len = self.current.key_len.checked_sub(row_len.saturating_add(fixed_len));
        let qualifier_len = qualifier_len.ok_or("the row is longer than the key")?;
        self.out.push(u8::try_from(family_len).map_err(|_| "the family is too long")?);
        self.out.extend_from_slice(&self.family);
        self.push_key(input, qualifier_len)
    }

    /// Appends the end of the key.
    #[inline]
    pub(super) fn push_timestamp_and_type(
        &mut self,
        timestamp: i64,
        type_code: u8,
    ) -> Result<(), What> {
        let mut end = [type_code; 9];
        if let Some(place) = end.first_chunk_mut() {
            *place = timestamp.to_be_bytes();
        }
        if self.key_room() < end.len() {
            return Err("the parts of the key are longer than the key".into());
        }
        self.out.extend_from_slice(&end);
        self.current.timestamp = timestamp;
        self.current.type_code = type_code;
        Ok(())
    }

    /// Appends the value, with which the key must be whole.
    #[inline]
    pub(super) fn push_value(&mut self, value: Option<&[u8]>) -> Result<(), What> {
        let value = value.ok_or("the value goes past the block")?;
        self.end_key()?;
        self.current.value_at = self.out.len();
        self.out.extend_from_slice(value);
        Ok(())
    }

    /// Appends the value of the previous cell, whose length the cell must have.
    #[inline]
    pub(super) fn push_same_value(&mut self) -> Result<(), What> {
        self.end_key()?;
        let previous = self.previous.filter(|cell| cell.value_len == self.current.value_len);
        let start = previous.ok_or("a repeated value of another length")?.value_at;
        self.current.value_at = self.out.len();
        self.out.extend_from_within(start..start.saturating_add(self.current.value_len));
        Ok(())
    }

    /// Reads what follows the value in every encoding: tags and sequence id.
    #[inline]
    pub(super) fn end(&mut self, input: &mut Input<'_>) -> Result<(), What> {
        if self.layout.tags {
            let len = input.vint().filter(|len| *len <= TAGS_LEN_MAX).ok_or("bad tags length")?;
            self.reserve(len.saturating_add(2))?;
            write_tags_len(&mut self.out, len);
            if self.layout.compressed_tags {
                self.tags.read(input, len, &mut self.out)?;
            } else {
                let tags = input.take(len).ok_or("the tags go past the block")?;
                plain::check_tags(tags)?;
                self.out.extend_from_slice(tags);
            }
        }
        if self.layout.mvcc {
            let sequence_id = input.hvlong().filter(|number| *number >= 0);
            write_hvlong(&mut self.out, sequence_id.ok_or("bad sequence id")?);
            self.reserve(0)?;
        }
        self.previous = Some(self.current);
        Ok(())
    }

    /// The cells, if they are as long as the block says.
    pub(super) fn finish(self) -> Result<Vec<u8>, What> {
        if self.out.len() != self.size {
            let (len, size) = (self.out.len(), self.size);
            return Err(format!("cells of {len} bytes where {size} are stated").into());
        }
        Ok(self.out)
    }

    fn reserve(&self, len: usize) -> Result<(), What> {
        if self.out.len().saturating_add(len) > self.size {
            return Err(format!("cells of more than the {} bytes stated", self.size).into());
        }
        Ok(())
    }

    /// Bytes that the current key lacks.
    const fn key_room(&self) -> usize {
        let end = self.current.key_at.saturating_add(self.current.key_len);
        end.saturating_sub(self.out.len())
    }

    /// The key must be whole now. Of the first one of a block, notes what later ones may take from
    /// it; of those, that was noted when their parts came.
    fn end_key(&mut self) -> Result<(), What> {
        let contradicts = "the lengths in the key contradict its length";
        if self.key_room() > 0 {
            return Err(contradicts.into());
        }
        if self.previous.is_none() {
            let key = self.out.get(self.current.key_at..).and_then(KeyRef::parse);
            let key = key.ok_or(contradicts)?;
            self.current.row_len = key.row.len();
            self.current.timestamp = key.timestamp.get();
            self.current.type_code = key.type_code;
            self.family = key.family.to_vec();
        }
        Ok(())
    }
}

/// Up to here bytes are copied without asking how many they are.
const SHORT_LEN: usize = 16;

/// Appends the first `len` of 16 bytes. All 16 are copied, which is two instructions, where a copy of
/// a length that is not known before takes a call; then those too many are dropped again.
#[inline]
fn push_short(out: &mut Vec<u8>, bytes: [u8; SHORT_LEN], len: usize) {
    let end = out.len().saturating_add(len);
    out.extend_from_slice(&bytes);
    out.truncate(end);
}
