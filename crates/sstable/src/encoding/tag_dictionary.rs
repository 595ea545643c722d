//! The tag dictionary of a delta-encoded block.
//!
//! The dictionary is not stored: the encoder and the decoder both build it from the tags of the
//! block, in the order of the cells. Each tag is stored as:
//!
//! | first byte | then                     | meaning                                           |
//! |------------|--------------------------|---------------------------------------------------|
//! | `0xFF`     | vint length, type, data  | a new tag, which is added to the dictionary       |
//! | 0          | index, 1 byte: 0 ..= 126 | a tag in the dictionary; both bytes are a u16 BE  |
//!
//! The length is the length of type and data. A decoded tag starts with the same length as u16 BE.
//!
//! The dictionary has up to 127 tags. When it is full, a new tag replaces the least recently used
//! tag and takes its index. HBase: `LRUDictionary`.

use std::collections::HashMap;
use std::ops::Range;

use super::DamageReason;
use crate::input::{Input, write_vint};

/// The maximum number of tags in the dictionary.
const CAPACITY: u8 = 127;

/// The first byte of a tag that is not in the dictionary.
const LITERAL: u8 = 0xff;

/// The dictionary of the block being written.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    index_of: HashMap<Vec<u8>, u8>,
    tags: Vec<Vec<u8>>,
    order: UseOrder,
}

impl Encoder {
    /// Clears the dictionary for the next block.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Appends the encoded tags of a cell. The writer has checked that `tags` is well formed.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, tags: &[u8]) {
        let mut rest = Input::new(tags);
        while let Some(tag) = rest.u16().and_then(|len| rest.take(len.into())) {
            self.write_tag(out, tag);
        }
    }

    fn write_tag(&mut self, out: &mut Vec<u8>, tag: &[u8]) {
        if let Some(index) = self.index_of.get(tag) {
            self.order.touch(*index);
            out.extend_from_slice(&[0, *index]);
            return;
        }
        out.push(LITERAL);
        write_vint(out, u32::try_from(tag.len()).expect("a tag's length is a u16"));
        out.extend_from_slice(tag);
        let index = self.order.admit();
        match self.tags.get_mut(usize::from(index)) {
            Some(old) => {
                self.index_of.remove(old);
                *old = tag.to_vec();
            }
            None => self.tags.push(tag.to_vec()),
        }
        self.index_of.insert(tag.to_vec(), index);
    }
}

/// The dictionary of the block being read.
///
/// Keeps the range of each tag, type and data, in the decoded tags of the block.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoder {
    tags: Vec<Range<usize>>,
    order: UseOrder,
}

impl Decoder {
    /// Decodes the tags of a cell and appends them to `out`.
    ///
    /// `len` is their decoded length, at most 32,767 bytes. `out` must have all decoded tags of the
    /// earlier cells of the block.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`len` is at most 32,767, and `out` is in memory"
    )]
    pub(super) fn read(
        &mut self,
        input: &mut Input<'_>,
        len: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DamageReason> {
        let end = out.len() + len;
        while out.len() < end {
            self.read_tag(input, end, out)?;
        }
        Ok(())
    }

    fn read_tag(
        &mut self,
        input: &mut Input<'_>,
        end: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DamageReason> {
        // A decoded tag begins with two bytes of length.
        let room = end.checked_sub(out.len()).and_then(|room| room.checked_sub(2));
        let too_long = || DamageReason::from("a tag exceeds the cell's tags");
        let room = room.ok_or_else(too_long)?;
        match input.u8().ok_or("the tags end early")? {
            LITERAL => {
                let len = input.vint().filter(|len| *len > 0).ok_or("a tag without a type")?;
                if len > room {
                    return Err(too_long());
                }
                let tag = input.take(len).ok_or("a tag exceeds the block")?;
                push_len(out, len)?;
                let start = out.len();
                out.extend_from_slice(tag);
                let range = start..out.len();
                let index = self.order.admit();
                match self.tags.get_mut(usize::from(index)) {
                    Some(old) => *old = range,
                    None => self.tags.push(range),
                }
            }
            high => {
                let low = input.u8().ok_or("the tags end early")?;
                let index = u16::from_be_bytes([high, low]);
                let range = self.tags.get(usize::from(index)).cloned().ok_or_else(|| {
                    format!("tag {index} is not in the dictionary of {}", self.tags.len())
                })?;
                if range.len() > room {
                    return Err(too_long());
                }
                push_len(out, range.len())?;
                out.extend_from_within(range);
                self.order.touch(low);
            }
        }
        Ok(())
    }
}

fn push_len(out: &mut Vec<u8>, len: usize) -> Result<(), DamageReason> {
    let len = u16::try_from(len).map_err(|_| "a tag is too long")?;
    out.extend_from_slice(&len.to_be_bytes());
    Ok(())
}

/// The indices of the dictionary's entries, most recently used first.
///
/// There are at most 127 of them, one byte each: rotating them is cheaper than a linked list.
#[derive(Clone, Debug, Default)]
struct UseOrder(Vec<u8>);

impl UseOrder {
    /// Moves an entry to the front.
    fn touch(&mut self, index: u8) {
        if let Some(used) = self.0.iter().position(|entry| *entry == index)
            && let Some(newer) = self.0.get_mut(..=used)
        {
            newer.rotate_right(1);
        }
    }

    /// Returns the index for a new entry and moves that index to the front.
    ///
    /// If the dictionary is full, this is the index of the least recently used entry.
    fn admit(&mut self) -> u8 {
        let index = match u8::try_from(self.0.len()) {
            Ok(len) if len < CAPACITY => {
                self.0.push(len);
                len
            }
            _ => *self.0.last().expect("a full list has a last entry"),
        };
        self.0.rotate_right(1);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(number: u32) -> Vec<u8> {
        let mut tag = vec![0, 5, 65];
        tag.extend_from_slice(&number.to_be_bytes());
        tag
    }

    #[test]
    fn tags_round_trip_after_evictions() {
        // 200 different tags, more than the dictionary holds. Some repeated tags are still in it,
        // others were evicted.
        let cells: Vec<_> = (0..200_u32)
            .map(|number| [tag(number), tag(number / 2), tag(number % 7)].concat())
            .collect();
        let (mut encoder, mut stored) = (Encoder::default(), Vec::new());
        for tags in &cells {
            encoder.write(&mut stored, tags);
        }
        assert!(stored.len() < cells.concat().len() * 3 / 4);

        let (mut decoder, mut input) = (Decoder::default(), Input::new(&stored));
        let mut out = Vec::new();
        for tags in &cells {
            decoder.read(&mut input, tags.len(), &mut out).expect("sound");
        }
        assert!(input.is_empty());
        assert_eq!(out, cells.concat());
    }

    #[test]
    fn bad_references_and_lengths_are_rejected() {
        for (stored, len, what) in [
            (&[0, 0][..], 7, "tag 0 is not in the dictionary of 0"),
            (&[0xff, 0], 7, "a tag without a type"),
            (&[0xff, 9, 65], 7, "a tag exceeds the cell's tags"),
            (&[0xff, 5, 65], 7, "a tag exceeds the block"),
            (&[0xff, 1, 65], 1, "a tag exceeds the cell's tags"),
            (&[], 7, "the tags end early"),
            (&[0xff, 1, 65, 0, 1], 6, "tag 1 is not in the dictionary of 1"),
        ] {
            let error = Decoder::default().read(&mut Input::new(stored), len, &mut Vec::new());
            assert_eq!(error, Err(what.into()), "{stored:?}");
        }
    }
}
