//! The flat key of the cell that a walk stands on: what the next key shares with it stays in it.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use crate::encoding::plain::TIME_LEN;

/// A key, and room behind it, in which anything may stand.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyBuffer {
    bytes: Vec<u8>,
    /// How much of the key is there: all of it, but while a cell is read.
    filled: usize,
}

/// Up to here bytes are copied without asking how many they are.
pub(super) const SHORT_LEN: usize = 32;

impl KeyBuffer {
    /// How much of the key is there.
    #[inline]
    pub(super) const fn filled(&self) -> usize {
        self.filled
    }

    /// A part of the key; nothing, if it is not there.
    #[inline]
    pub(super) fn part(&self, start: usize, end: usize) -> &[u8] {
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Keeps the first `len` bytes.
    #[inline]
    pub(super) const fn keep(&mut self, len: usize) {
        self.filled = len;
    }

    /// Appends the first `len` of some bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(super) fn append(&mut self, bytes: &[u8], len: usize) {
        let place = self.bytes.get_mut(self.filled..).and_then(<[u8]>::first_chunk_mut);
        let (Some(place), Some(short), true) = (place, bytes.first_chunk(), len <= SHORT_LEN)
        else {
            self.append_any(bytes, len);
            return;
        };
        // Two instructions, where a copy of a length that is not known before takes a call. What is
        // copied too much of stands behind the key, in the room for the next.
        let (place, short): (&mut [u8; SHORT_LEN], &[u8; SHORT_LEN]) = (place, short);
        *place = *short;
        // Not more than the room.
        self.filled = self.filled.wrapping_add(len);
    }

    /// Appends time and type.
    #[inline]
    pub(super) fn append_time(&mut self, timestamp: i64, type_code: u8) {
        let mut field = [type_code; TIME_LEN];
        if let Some((time, _)) = field.split_first_chunk_mut() {
            *time = timestamp.to_be_bytes();
        }
        match self.bytes.get_mut(self.filled..).and_then(<[u8]>::first_chunk_mut) {
            Some(place) => {
                *place = field;
                self.filled = self.filled.wrapping_add(field.len());
            }
            None => self.append_any(&field, field.len()),
        }
    }

    /// Appends where there is no room, or nothing behind the bytes, or they are many.
    #[inline(never)]
    fn append_any(&mut self, bytes: &[u8], len: usize) {
        let bytes = bytes.get(..len).unwrap_or_default();
        let end = self.filled.saturating_add(bytes.len());
        let room = end.saturating_add(SHORT_LEN);
        if self.bytes.len() < room {
            self.bytes.resize(room.saturating_mul(2), 0);
        }
        if let Some(place) = self.bytes.get_mut(self.filled..end) {
            place.copy_from_slice(bytes);
        }
        self.filled = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With and without room in the buffer, and with and without bytes behind those that are meant.
    #[test]
    fn a_key_is_what_was_appended_whatever_is_copied_besides() {
        let bytes: Vec<u8> = (1..=100).collect();
        let (mut key, mut expected) = (KeyBuffer::default(), Vec::new());
        for round in 0..3 {
            key.keep(5 * round);
            expected.truncate(5 * round);
            for len in [0, 1, SHORT_LEN, SHORT_LEN + 1, 100, 3] {
                for bytes in [&bytes[..], &bytes[..len]] {
                    key.append(bytes, len);
                    expected.extend_from_slice(&bytes[..len]);
                    assert_eq!(key.part(0, key.filled()), expected);
                }
            }
            key.append_time(0x0102_0304_0506_0708, 4);
            expected.extend_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 4]);
            assert_eq!(key.part(0, key.filled()), expected);
        }
    }

    #[test]
    fn time_finds_room_where_there_is_none_left() {
        let mut key = KeyBuffer { bytes: vec![7; 4], filled: 4 };
        key.append_time(1, 2);
        assert_eq!(key.part(0, key.filled()), [7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(key.part(4, 99), [0; 0]);
    }
}
