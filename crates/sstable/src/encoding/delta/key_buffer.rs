//! The buffer of a cursor's flat key.
//!
//! Each key overwrites the previous key; the prefix that both share stays in place.

use crate::encoding::plain::TIME_LEN;

/// A flat key, followed by at least `SHORT_LEN` arbitrary bytes that a copy may overwrite.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyBuffer {
    bytes: Vec<u8>,
}

/// Slices of up to this length are copied by a copy of exactly this length.
pub(super) const SHORT_LEN: usize = 32;

impl KeyBuffer {
    pub(super) fn range(&self, start: usize, end: usize) -> &[u8] {
        &self.bytes[start..end]
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    /// Ensures room for a key of `len` bytes and for the surplus bytes of `put`.
    pub(super) fn make_room(&mut self, len: usize) {
        if self.bytes.len() < len + SHORT_LEN {
            self.grow(len);
        }
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        self.bytes.resize(2 * (len + SHORT_LEN), 0);
    }

    /// Writes the first `len` of `bytes` at offset `at` of the key.
    ///
    /// The caller must have made room. Surplus bytes may overwrite up to `SHORT_LEN` bytes after
    /// the first `len`, so the parts of a key must be written in ascending order of their offsets.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as the body")]
    pub(super) fn put(&mut self, at: usize, bytes: &[u8], len: usize) {
        let target = &mut self.bytes[at..];
        match (target.first_chunk_mut(), bytes.first_chunk(), len <= SHORT_LEN) {
            (Some(target), Some(short), true) => {
                // A fixed-length copy takes a few instructions; one of variable length is a call.
                // The surplus bytes are overwritten by the next part, or are after the key.
                let (target, short): (&mut [u8; SHORT_LEN], &[u8; SHORT_LEN]) = (target, short);
                *target = *short;
            }
            _ => target[..len].copy_from_slice(&bytes[..len]),
        }
    }

    /// Writes timestamp and type at offset `at` of the key, and no bytes after these.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as the body")]
    pub(super) fn put_time(&mut self, at: usize, timestamp: i64, type_code: u8) {
        let mut field = [type_code; TIME_LEN];
        field[..TIME_LEN - 1].copy_from_slice(&timestamp.to_be_bytes());
        self.bytes[at..at + TIME_LEN].copy_from_slice(&field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes each part with and without surplus bytes after the first `len`.
    #[test]
    fn a_key_has_the_bytes_that_were_put() {
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
                    assert_eq!(key.range(0, expected.len()), expected);
                }
            }
            key.make_room(expected.len() + TIME_LEN);
            key.put_time(expected.len(), 0x0102_0304_0506_0708, 4);
            expected.extend_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 4]);
            assert_eq!(key.range(0, expected.len()), expected);
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
