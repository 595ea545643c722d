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
    /// How much of the key is there, while a cell is read in all steps.
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

    /// A byte of the key, if it is there.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Whether there is room for a key of so many bytes, and for what is copied too much of.
    #[inline]
    pub(super) fn has_room(&self, len: usize) -> bool {
        self.bytes.len() >= len.saturating_add(SHORT_LEN)
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
        match self.put(self.filled, bytes, len) {
            Some(()) => self.filled = self.filled.saturating_add(len),
            None => self.append_any(bytes.get(..len).unwrap_or_default()),
        }
    }

    /// Appends time and type.
    #[inline]
    pub(super) fn append_time(&mut self, timestamp: i64, type_code: u8) {
        self.append(&time_field(timestamp, type_code), TIME_LEN);
    }

    /// Puts the first `len` of some bytes behind the first `at` of the key, if there is room.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(super) fn put(&mut self, at: usize, bytes: &[u8], len: usize) -> Option<()> {
        let place = self.bytes.get_mut(at..)?;
        match (place.first_chunk_mut(), bytes.first_chunk(), len <= SHORT_LEN) {
            (Some(place), Some(short), true) => {
                // Two instructions, where a copy of a length that is not known before takes a call. What
                // is copied too much of stands behind the key, in the room for the next.
                let (place, short): (&mut [u8; SHORT_LEN], &[u8; SHORT_LEN]) = (place, short);
                *place = *short;
            }
            _ => place.get_mut(..len)?.copy_from_slice(bytes.get(..len)?),
        }
        Some(())
    }

    /// The same for time and type.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(super) fn put_time(&mut self, at: usize, timestamp: i64, type_code: u8) -> Option<()> {
        *self.bytes.get_mut(at..)?.first_chunk_mut()? = time_field(timestamp, type_code);
        Some(())
    }

    /// Makes room as well.
    #[inline(never)]
    fn append_any(&mut self, bytes: &[u8]) {
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

/// Time and type as they end a key.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
fn time_field(timestamp: i64, type_code: u8) -> [u8; TIME_LEN] {
    let mut field = [type_code; TIME_LEN];
    if let Some((time, _)) = field.split_first_chunk_mut() {
        *time = timestamp.to_be_bytes();
    }
    field
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
