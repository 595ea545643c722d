//! A buffer that writes to its sink in aligned units of 1 MiB.
//!
//! ```text
//! blocks  [data ][data   ][bloom][data  ][data ] …          of any length
//! writes  [           1 MiB           ][           1 MiB …  at multiples of 1 MiB
//! ```
//!
//! Large writes need fewer system calls. Aligned large writes also make later reads from the page
//! cache faster: Linux keeps them in large folios, which it copies faster than single pages.

use std::io::{self, Write};

/// Writes to a sink in units of 1 MiB. Only the last write is shorter.
#[derive(Debug)]
pub(super) struct BufferedSink<W> {
    sink: W,
    /// The bytes that are not written yet: less than 1 MiB.
    buffer: Vec<u8>,
}

impl<W: Write> BufferedSink<W> {
    /// The length of each write but the last, in bytes.
    const WRITE_LEN: usize = 1 << 20;

    pub(super) const fn new(sink: W) -> Self {
        Self { sink, buffer: Vec::new() }
    }

    /// Appends bytes to the buffer, and writes the buffer whenever it is full.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while let Some((fill, rest)) = bytes.split_at_checked(Self::WRITE_LEN - self.buffer.len()) {
            self.buffer.extend_from_slice(fill);
            self.sink.write_all(&self.buffer)?;
            self.buffer.clear();
            bytes = rest;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes the buffered bytes, flushes the sink and returns it.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.sink.write_all(&self.buffer)?;
        self.sink.flush()?;
        Ok(self.sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records the bytes of each write.
    #[derive(Default)]
    struct Calls(Vec<Vec<u8>>);

    impl Write for Calls {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn all_writes_but_the_last_have_full_length() {
        const LEN: usize = BufferedSink::<Calls>::WRITE_LEN;
        let bytes: Vec<u8> = (0..5 * LEN + 77).map(|at| (at % 251) as u8).collect();
        let mut sink = BufferedSink::new(Calls::default());
        let mut rest = &bytes[..];
        let mut lens = [1, 70_000, LEN, 0, 2 * LEN + 3, 999].into_iter().cycle();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(lens.next().unwrap().min(rest.len()));
            sink.write(piece).unwrap();
            rest = after;
        }
        let calls = sink.finish().unwrap().0;
        assert_eq!(calls.concat(), bytes);
        assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [LEN, LEN, LEN, LEN, LEN, 77]);
    }
}
