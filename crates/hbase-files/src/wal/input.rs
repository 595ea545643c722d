//! Reads a file from front to back, through a buffer.

use std::ops::Range;
use std::sync::Arc;

use sstable::ReadAt;

use super::error::Stop;

/// The number of bytes that a read fills the buffer to, unless another number is given; more for a
/// larger part.
const CHUNK_LEN: usize = 256 << 10;

/// A cursor over the bytes of a file up to `end`.
pub(super) struct Input {
    source: Arc<dyn ReadAt>,
    /// Bytes of the file, beginning at the file offset `offset` − `start`.
    buffer: Vec<u8>,
    /// The position of the cursor in the buffer.
    start: usize,
    /// The position of the cursor in the file.
    offset: u64,
    end: u64,
    chunk_len: usize,
}

impl Input {
    /// Creates a cursor at the first byte of a source.
    pub(super) fn new(source: Arc<dyn ReadAt>) -> Self {
        let end = source.len();
        Self { source, buffer: Vec::new(), start: 0, offset: 0, end, chunk_len: CHUNK_LEN }
    }

    /// Creates a cursor over a part of a source that reads few bytes ahead.
    pub(super) fn of_part(source: Arc<dyn ReadAt>, part: Range<u64>, chunk_len: usize) -> Self {
        Self { offset: part.start, end: part.end, chunk_len, ..Self::new(source) }
    }

    /// Moves the cursor to an offset.
    pub(super) fn seek(&mut self, offset: u64) {
        self.buffer.clear();
        (self.start, self.offset) = (0, offset);
    }

    /// Returns the end.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// Makes the bytes from `end` on unreadable: the trailer begins there.
    pub(super) fn set_end(&mut self, end: u64) {
        self.end = end.min(self.end);
    }

    /// Returns the source.
    pub(super) const fn source(&self) -> &Arc<dyn ReadAt> {
        &self.source
    }

    /// Returns the position of the cursor in the file.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of bytes from the cursor to the end.
    pub(super) const fn left(&self) -> u64 {
        self.end.saturating_sub(self.offset)
    }

    /// Returns the next `len` bytes, and moves the cursor past them.
    pub(super) fn take(&mut self, len: usize) -> Result<&[u8], Stop> {
        let wanted = u64::try_from(len).unwrap_or(u64::MAX);
        if wanted > self.left() {
            return Err(Stop::Ends);
        }
        if self.buffer.len().saturating_sub(self.start) < len {
            self.fill(len)?;
        }
        let from = self.start;
        self.start = from.saturating_add(len);
        self.offset = self.offset.saturating_add(wanted);
        self.buffer.get(from..self.start).ok_or(Stop::Ends)
    }

    /// Returns the next `len` bytes, if `limit` allows a part of this length.
    ///
    /// The end of the file is checked before the limit: a length that exceeds the rest of the file
    /// means a torn or damaged file, not a part that is too large for this reader.
    pub(super) fn take_part(
        &mut self,
        what: &str,
        len: usize,
        limit: usize,
    ) -> Result<&[u8], Stop> {
        if u64::try_from(len).unwrap_or(u64::MAX) <= self.left() {
            Stop::check_limit(what, len, limit)?;
        }
        self.take(len)
    }

    /// Fills the buffer with at least `len` bytes from the cursor on. The file must have them.
    fn fill(&mut self, len: usize) -> Result<(), Stop> {
        self.buffer.drain(..self.start.min(self.buffer.len()));
        self.start = 0;
        // Frees the memory of a large cell.
        self.buffer.shrink_to(self.chunk_len);
        let left = usize::try_from(self.left()).unwrap_or(usize::MAX);
        let target = len.max(self.chunk_len).min(left);
        let have = self.buffer.len();
        self.buffer.resize(target.max(have), 0);
        let at = self.offset.saturating_add(u64::try_from(have).unwrap_or(u64::MAX));
        let unread = self.buffer.get_mut(have..).unwrap_or_default();
        let done = self.source.read_exact_at(unread, at);
        done.map_err(|error| {
            self.buffer.truncate(have);
            Stop::Io(at, error)
        })
    }

    /// Reads a byte.
    pub(super) fn byte(&mut self) -> Result<u8, Stop> {
        self.take(1)?.first().copied().ok_or(Stop::Ends)
    }

    /// Reads `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        self.take(N)?.first_chunk().copied().ok_or(Stop::Ends)
    }

    /// Reads a length: a variable-length integer of protobuf, from 0 to 2³¹ − 1.
    pub(super) fn varint_len(&mut self) -> Result<usize, Stop> {
        let mut value: u64 = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let len = i32::try_from(value).ok().and_then(|len| usize::try_from(len).ok());
                return len.ok_or_else(|| Stop::wrong("a length is negative"));
            }
        }
        Err(Stop::wrong("a length has more than 5 bytes"))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn bytes_come_in_order_across_chunks() {
        let bytes: Vec<u8> = (0..3 * CHUNK_LEN + 7).map(|at| (at % 251) as u8).collect();
        let mut input = Input::new(Arc::new(Bytes::from(bytes.clone())));
        let mut found = Vec::new();
        for len in [1, CHUNK_LEN - 3, 10, 2 * CHUNK_LEN, 3].into_iter().cycle() {
            match input.take(len) {
                Ok(bytes) => found.extend_from_slice(bytes),
                Err(Stop::Ends) => break,
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!(found, bytes[..found.len()]);
        assert_eq!(input.offset(), found.len() as u64);
        input.take(4).expect("a failed read moves nothing");
    }

    #[test]
    fn lengths_are_checked() {
        let read =
            |bytes: &'static [u8]| Input::new(Arc::new(Bytes::from_static(bytes))).varint_len();
        assert!(matches!(read(b"\x7f"), Ok(127)));
        assert!(matches!(read(b"\xac\x02"), Ok(300)));
        assert!(matches!(read(b"\xff\xff\xff\xff\x07"), Ok(0x7fff_ffff)));
        assert!(matches!(read(b"\xff\xff\xff\xff\x08"), Err(Stop::Wrong(_))));
        assert!(matches!(read(b"\xff\xff\xff\xff\xff\x01"), Err(Stop::Wrong(_))));
        assert!(matches!(read(b"\xff\xff"), Err(Stop::Ends)));
    }
}
