//! The bytes of a block in memory, in buffers that can serve one block after the other.
//!
//! ```text
//! buffer  header | body ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪ | checksums | what an earlier block left behind
//! ```
//!
//! A scan that passes the cache by is done with each block before it reads the next one. Its
//! buffers go round: memory that was just used is still in the processor's cache, and need not be
//! filled with zeros again.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "start and end are within the buffer"
)]

use std::ops::{Deref, Range};

use bytes::Bytes;

/// The bytes of a block: a part of a buffer.
#[derive(Debug, Default)]
pub(crate) struct Body {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Body {
    /// Takes a part of a buffer.
    ///
    /// # Panics
    ///
    /// If the buffer does not have that part.
    pub(crate) fn new(buffer: Vec<u8>, range: Range<usize>) -> Self {
        let Range { start, end } = range;
        assert!(start <= end && end <= buffer.len(), "{start}..{end} of {}", buffer.len());
        Self { buffer, start, end }
    }

    /// Returns what follows the first `at` bytes.
    ///
    /// # Panics
    ///
    /// If it has fewer.
    #[inline]
    pub(crate) fn behind(&self, at: usize) -> &[u8] {
        match self.buffer.get(self.start + at..self.end) {
            Some(bytes) => bytes,
            None => past_the_end(at, self.len()),
        }
    }

    /// Returns the bytes from `at` to `end`, neither of which is past its end.
    #[inline]
    pub(crate) fn between(&self, at: usize, end: usize) -> &[u8] {
        debug_assert!(end <= self.len(), "{at}..{end} of {}", self.len());
        match self.buffer.get(self.start + at..self.start + end) {
            Some(bytes) => bytes,
            None => past_the_end(end, self.len()),
        }
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.end - self.start
    }

    /// The whole buffer.
    pub(crate) const fn buffer(&self) -> &[u8] {
        self.buffer.as_slice()
    }

    /// The buffer, whose other parts may hold anything.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// The buffer, and which part of it this is.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Range<usize>) {
        (self.buffer, self.start..self.end)
    }

    /// Bytes that it takes in memory.
    pub(crate) const fn buffer_len(&self) -> usize {
        self.buffer.capacity()
    }
}

#[cold]
fn past_the_end(at: usize, len: usize) -> ! {
    panic!("a step to {at}, past the end of a block of {len} bytes")
}

impl Deref for Body {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }
}

impl From<Vec<u8>> for Body {
    fn from(buffer: Vec<u8>) -> Self {
        Self { start: 0, end: buffer.len(), buffer }
    }
}

impl From<Body> for Bytes {
    fn from(body: Body) -> Self {
        Self::from(body.buffer).slice(body.start..body.end)
    }
}

/// Buffers of blocks that are done with.
#[derive(Debug)]
pub(crate) struct Buffers {
    kept: Vec<Vec<u8>>,
    count_max: usize,
}

impl Default for Buffers {
    /// Keeps as many as a block passes through: as stored, decompressed, decoded.
    fn default() -> Self {
        Self::at_most(3)
    }
}

impl Buffers {
    /// Larger ones are too rare to be kept.
    const LEN_MAX: usize = 4 << 20;

    /// Keeps at most `count_max` buffers.
    pub(crate) const fn at_most(count_max: usize) -> Self {
        Self { kept: Vec::new(), count_max }
    }

    /// A buffer of at least `len` bytes, which may hold anything.
    pub(crate) fn take(&mut self, len: usize) -> Vec<u8> {
        match self.kept.pop() {
            Some(buffer) if buffer.len() >= len => buffer,
            // Blocks differ a little in length: this one shall do for the others as well.
            Some(_) => vec![0; len + len / 8],
            None => vec![0; len],
        }
    }

    /// A buffer with nothing in it, and with room for `len` bytes or more.
    pub(crate) fn take_empty(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = self.kept.pop().unwrap_or_default();
        buffer.clear();
        buffer.reserve(len);
        buffer
    }

    /// Takes back a buffer, for the next block.
    pub(crate) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.kept.len() < self.count_max && buffer.capacity() <= Self::LEN_MAX {
            buffer.resize(buffer.capacity(), 0);
            self.kept.push(buffer);
        }
    }

    /// Takes a buffer that `others` have kept.
    pub(crate) fn take_one(&mut self, others: &mut Self) {
        if self.kept.len() < self.count_max {
            self.kept.extend(others.kept.pop());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_its_part_of_the_buffer() {
        let body = Body::new(b"header-body-sums".to_vec(), 7..11);
        assert_eq!(&*body, b"body");
        assert_eq!(Bytes::from(body), b"body"[..]);
    }

    #[test]
    #[should_panic(expected = "3..99 of 5")]
    fn a_body_past_its_buffer_is_a_broken_invariant() {
        let _ = Body::new(b"short".to_vec(), 3..99);
    }

    #[test]
    #[should_panic(expected = "past the end of a block")]
    fn a_step_past_the_end_of_a_body_is_a_broken_invariant() {
        let _ = Body::new(b"header-body-sums".to_vec(), 7..11).behind(5);
    }

    #[test]
    fn buffers_go_round_and_are_never_too_short() {
        let mut buffers = Buffers::default();
        let first = buffers.take(1000);
        assert_eq!(first.len(), 1000);
        let place = first.as_ptr();
        buffers.give_back(first);
        let again = buffers.take(900);
        assert_eq!((again.as_ptr(), again.len()), (place, 1000));
        buffers.give_back(again);
        assert!(buffers.take(1001).len() > 1001);
        for _ in 0..9 {
            buffers.give_back(vec![0; 10]);
        }
        buffers.give_back(vec![0; Buffers::LEN_MAX + 1]);
        assert_eq!(buffers.kept.len(), 3);
        let mut more = Buffers::at_most(4);
        more.give_back(vec![0; 10]);
        for left in [2, 1, 0] {
            more.take_one(&mut buffers);
            assert_eq!((more.kept.len(), buffers.kept.len()), (4 - left, left));
        }
        buffers.give_back(vec![0; 10]);
        more.take_one(&mut buffers);
        assert_eq!((more.kept.len(), buffers.kept.len()), (4, 1));
    }
}
