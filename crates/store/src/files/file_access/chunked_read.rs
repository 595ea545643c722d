//! Reads a file piece by piece, so that memory grows with the bytes read.
//!
//! The length of a sparse file says nothing about the memory that is worth allocating.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::ReadAt;

use crate::error::{Error, Result};

/// Bytes per read call.
pub(crate) const CHUNK_LEN: usize = 1 << 20;

/// A file and the part of it that is in memory.
pub(crate) struct ChunkedReader {
    source: Arc<dyn ReadAt>,
    path: PathBuf,
    /// The file's length when it was opened.
    len: u64,
    /// The offset of the part in memory.
    start: u64,
    window: Vec<u8>,
}

impl ChunkedReader {
    /// Creates a reader of a file of at most `len_max` bytes. `what` names the file in the error.
    pub(crate) fn new(
        source: Arc<dyn ReadAt>,
        path: &Path,
        what: &str,
        len_max: u64,
    ) -> Result<Self> {
        let len = source.len();
        if len > len_max {
            let what = format!("is {len} bytes long, and {what} has at most {len_max}");
            return Err(Error::corrupt(path, 0, what));
        }
        Ok(Self { source, path: path.to_path_buf(), len, start: 0, window: Vec::new() })
    }

    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns `len` bytes from `at` on, or fewer at the end of the file.
    pub(crate) fn bytes(&mut self, at: u64, len: usize) -> Result<&[u8]> {
        let at = at.min(self.len);
        let end = at + (self.len - at).min(to_u64(len));
        if at < self.start || end > self.window_end() {
            self.load(at, end)?;
        }
        let place = |offset: u64| to_usize(offset - self.start);
        Ok(self.window.get(place(at)..place(end)).expect("the window was loaded up to there"))
    }

    /// Returns the bytes in memory from `at` on: at least `len_min`, or fewer at the end of the file.
    ///
    /// Searches use this. [`bytes`](Self::bytes) in small steps would move and copy the window each time.
    pub(crate) fn window_from(&mut self, at: u64, len_min: usize) -> Result<&[u8]> {
        self.bytes(at, len_min)?;
        let skip = to_usize(at.min(self.len) - self.start);
        Ok(self.window.get(skip..).expect("the window was loaded up to there"))
    }

    fn window_end(&self) -> u64 {
        self.start + to_u64(self.window.len())
    }

    /// Moves the window to `at` and reads pieces until it reaches `end`.
    fn load(&mut self, at: u64, end: u64) -> Result<()> {
        let kept = at.checked_sub(self.start).and_then(|kept| usize::try_from(kept).ok());
        match kept.filter(|kept| *kept <= self.window.len()) {
            Some(kept) => drop(self.window.drain(..kept)),
            None => self.window.clear(),
        }
        self.start = at;
        // A sound record may have up to 1 GiB; its memory is not kept for the records after it.
        self.window.shrink_to(4 * CHUNK_LEN);
        while self.window_end() < end {
            let (from, old) = (self.window_end(), self.window.len());
            let left = to_usize((self.len - from).min(to_u64(CHUNK_LEN)));
            self.window.resize(old + left, 0);
            let piece = self.window.get_mut(old..).expect("just made that long");
            let read = self.source.read_exact_at(piece, from);
            if read.is_err() {
                self.window.truncate(old);
            }
            read.map_err(Error::io(&self.path, "read"))?;
        }
        Ok(())
    }
}

/// Converts a length in memory to an offset in a file.
fn to_u64(len: usize) -> u64 {
    u64::try_from(len).expect("no memory is larger")
}

/// Converts a distance within the window to a length.
fn to_usize(len: u64) -> usize {
    usize::try_from(len).expect("the window is in memory")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn pieces(len: usize) -> (Vec<u8>, ChunkedReader) {
        let bytes: Vec<u8> = (0..len).map(|at| (at * 31 % 251) as u8).collect();
        let source = Arc::new(Bytes::from(bytes.clone()));
        let pieces = ChunkedReader::new(source, Path::new("file"), "a file", u64::MAX).unwrap();
        (bytes, pieces)
    }

    #[test]
    fn bytes_are_those_of_the_file_for_every_position_of_the_window() {
        let (bytes, mut pieces) = pieces(3 * CHUNK_LEN + 17);
        let places =
            [0, 5, CHUNK_LEN - 3, CHUNK_LEN, 2 * CHUNK_LEN + 1, 7, bytes.len() - 4, bytes.len(), 0];
        for at in places {
            for len in [0, 1, 8, CHUNK_LEN + 2, 4 * CHUNK_LEN] {
                let end = (at + len).min(bytes.len());
                let there = pieces.window_from(at as u64, len).unwrap();
                assert!(there.len() >= end - at && bytes[at..].starts_with(there), "{len} at {at}");
                assert!(pieces.bytes(at as u64, len).unwrap() == &bytes[at..end], "{len} at {at}");
            }
        }
        assert!(pieces.bytes(u64::MAX, 9).unwrap().is_empty());
    }

    #[test]
    fn a_file_that_is_too_long_is_refused_before_it_is_read() {
        let source: Arc<dyn ReadAt> = Arc::new(Bytes::from_static(b"12345"));
        assert!(ChunkedReader::new(Arc::clone(&source), Path::new("file"), "a file", 5).is_ok());
        let refused = ChunkedReader::new(source, Path::new("file"), "a file", 4).err().unwrap();
        assert_eq!(refused.to_string(), "file: at 0x0: is 5 bytes long, and a file has at most 4");
    }
}
