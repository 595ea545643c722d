//! The bytes of a block in memory, in reusable buffers.
//!
//! ```text
//! buffer  header | body ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪ | checksums | bytes of an earlier block
//! ```
//!
//! A scan that bypasses the block cache drops each block before it reads the next one, and reads
//! the next block into the same buffers. Their memory is still in the CPU cache, and need not be
//! allocated and zeroed again.

use std::ops::{Deref, Range};

use bytes::Bytes;

/// The body of a block: a range of a buffer.
#[derive(Debug, Default)]
pub(crate) struct Body {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Body {
    /// Creates a body from a range of a buffer.
    ///
    /// # Panics
    ///
    /// If the range exceeds the buffer.
    pub(crate) fn new(buffer: Vec<u8>, range: Range<usize>) -> Self {
        let Range { start, end } = range;
        assert!(start <= end && end <= buffer.len(), "{start}..{end} of {}", buffer.len());
        Self { buffer, start, end }
    }

    /// Returns the bytes from offset `at` on.
    ///
    /// # Panics
    ///
    /// If `at` exceeds the length.
    #[inline]
    pub(crate) fn tail(&self, at: usize) -> &[u8] {
        match self.buffer.get(self.start + at..self.end) {
            Some(bytes) => bytes,
            None => past_the_end(at, self.len()),
        }
    }

    /// Returns the bytes from `at` to `end`; `end` must be at most the length.
    ///
    /// Only debug builds check this; release builds check that the range lies within the buffer.
    pub(crate) fn range(&self, at: usize, end: usize) -> &[u8] {
        debug_assert!(end <= self.len(), "{at}..{end} of {}", self.len());
        match self.buffer.get(self.start + at..self.start + end) {
            Some(bytes) => bytes,
            None => past_the_end(end, self.len()),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.end - self.start
    }

    /// The whole buffer, including the bytes before and after the body.
    pub(crate) const fn buffer(&self) -> &[u8] {
        self.buffer.as_slice()
    }

    /// Returns the whole buffer; the bytes outside the body are arbitrary.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Returns the whole buffer, and the range of the body in it.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Range<usize>) {
        (self.buffer, self.start..self.end)
    }

    /// The size of the buffer in memory, in bytes: its capacity.
    pub(crate) const fn buffer_len(&self) -> usize {
        self.buffer.capacity()
    }
}

#[cold]
fn past_the_end(at: usize, len: usize) -> ! {
    panic!("offset {at} is past the end of a block of {len} bytes")
}

impl Deref for Body {
    type Target = [u8];

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

/// A pool of buffers for reuse.
#[derive(Debug)]
pub(crate) struct Buffers {
    /// Buffers that were recycled: initialized up to their capacity, with arbitrary bytes.
    free: Vec<Vec<u8>>,
    count_max: usize,
}

impl Default for Buffers {
    /// Returns an empty pool of three buffers, for the stored, decompressed and decoded block.
    fn default() -> Self {
        Self::at_most(3)
    }
}

impl Buffers {
    /// The maximum capacity of a buffer in the pool, in bytes; larger ones are freed.
    const LEN_MAX: usize = 4 << 20;

    /// Returns an empty pool that keeps at most `count_max` buffers.
    pub(crate) const fn at_most(count_max: usize) -> Self {
        Self { free: Vec::new(), count_max }
    }

    /// Returns a buffer of at least `len` arbitrary bytes.
    pub(crate) fn take(&mut self, len: usize) -> Vec<u8> {
        match self.free.pop() {
            Some(buffer) if buffer.len() >= len => buffer,
            // Blocks differ a little in length; the extra eighth makes the buffer fit later blocks.
            Some(_) => vec![0; len + len / 8],
            None => vec![0; len],
        }
    }

    /// Returns an empty buffer with capacity for at least `len` bytes.
    pub(crate) fn take_empty(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = self.free.pop().unwrap_or_default();
        buffer.clear();
        buffer.reserve(len);
        buffer
    }

    /// Puts a buffer into the pool, unless the pool is full or the buffer is too large.
    pub(crate) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.free.len() < self.count_max && buffer.capacity() <= Self::LEN_MAX {
            buffer.resize(buffer.capacity(), 0);
            self.free.push(buffer);
        }
    }

    /// Moves one buffer from `others` to this pool, unless `others` is empty or this pool is full.
    pub(crate) fn take_from(&mut self, others: &mut Self) {
        if self.free.len() < self.count_max {
            self.free.extend(others.free.pop());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_a_range_of_its_buffer() {
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
    fn an_offset_past_the_end_of_a_body_is_a_broken_invariant() {
        let _ = Body::new(b"header-body-sums".to_vec(), 7..11).tail(5);
    }

    #[test]
    fn buffers_are_reused_and_long_enough() {
        let mut buffers = Buffers::default();
        let first = buffers.take(1000);
        assert_eq!(first.len(), 1000);
        let address = first.as_ptr();
        buffers.recycle(first);
        let again = buffers.take(900);
        assert_eq!((again.as_ptr(), again.len()), (address, 1000));
        buffers.recycle(again);
        assert!(buffers.take(1001).len() > 1001);
        for _ in 0..9 {
            buffers.recycle(vec![0; 10]);
        }
        buffers.recycle(vec![0; Buffers::LEN_MAX + 1]);
        assert_eq!(buffers.free.len(), 3);
        let mut more = Buffers::at_most(4);
        more.recycle(vec![0; 10]);
        for left in [2, 1, 0] {
            more.take_from(&mut buffers);
            assert_eq!((more.free.len(), buffers.free.len()), (4 - left, left));
        }
        buffers.recycle(vec![0; 10]);
        more.take_from(&mut buffers);
        assert_eq!((more.free.len(), buffers.free.len()), (4, 1));
    }
}
