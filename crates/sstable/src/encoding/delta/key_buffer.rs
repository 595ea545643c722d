//! The flat key of the cell that a cursor stands on: what the next key shares with it stays in it.
#![allow(clippy::indexing_slicing, reason = "the parts are within the buffer, which grows first")]

use crate::encoding::plain::TIME_LEN;

/// A key, and room behind it, which may hold anything.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyBuffer {
    bytes: Vec<u8>,
}

/// Up to here bytes are copied without a look at how many they are.
pub(super) const SHORT_LEN: usize = 32;

impl KeyBuffer {
    /// A part of the key.
    #[inline]
    pub(super) fn part(&self, start: usize, end: usize) -> &[u8] {
        &self.bytes[start..end]
    }

    /// A byte of the key.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    /// Makes room for a key of `len` bytes, and for what is copied beyond its end.
    #[inline]
    pub(super) fn make_room(&mut self, len: usize) {
        if self.bytes.len() < len + SHORT_LEN {
            self.grow(len);
        }
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        self.bytes.resize(2 * (len + SHORT_LEN), 0);
    }

    /// Puts the first `len` of some bytes behind the first `at` of the key, where there must be room.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(super) fn put(&mut self, at: usize, bytes: &[u8], len: usize) {
        let place = &mut self.bytes[at..];
        match (place.first_chunk_mut(), bytes.first_chunk(), len <= SHORT_LEN) {
            (Some(place), Some(short), true) => {
                // Two instructions, where a copy whose length is not known takes a call. What is copied
                // beyond `len` is behind the key, in the room for the next one.
                let (place, short): (&mut [u8; SHORT_LEN], &[u8; SHORT_LEN]) = (place, short);
                *place = *short;
            }
            _ => place[..len].copy_from_slice(&bytes[..len]),
        }
    }

    /// Does the same for time and type.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(super) fn put_time(&mut self, at: usize, timestamp: i64, type_code: u8) {
        let mut field = [type_code; TIME_LEN];
        field[..TIME_LEN - 1].copy_from_slice(&timestamp.to_be_bytes());
        self.bytes[at..at + TIME_LEN].copy_from_slice(&field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With and without bytes behind those that are meant.
    #[test]
    fn a_key_is_what_was_put_into_it_whatever_is_copied_besides() {
        let bytes: Vec<u8> = (1..=100).collect();
        let (mut key, mut expected) = (KeyBuffer::default(), Vec::new());
        for round in 0..3 {
            expected.truncate(5 * round);
            for len in [0, 1, SHORT_LEN, SHORT_LEN + 1, 100, 3] {
                for bytes in [&bytes[..], &bytes[..len]] {
                    let at = expected.len();
                    key.make_room(at + len);
                    key.put(at, bytes, len);
                    expected.extend_from_slice(&bytes[..len]);
                    assert_eq!(key.part(0, expected.len()), expected);
                }
            }
            key.make_room(expected.len() + TIME_LEN);
            key.put_time(expected.len(), 0x0102_0304_0506_0708, 4);
            expected.extend_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 4]);
            assert_eq!(key.part(0, expected.len()), expected);
        }
    }

    #[test]
    #[should_panic(expected = "range")]
    fn a_key_past_its_room_is_a_broken_invariant() {
        let mut key = KeyBuffer::default();
        key.make_room(4);
        key.put(200, b"row", 3);
    }
}
