//! Bytes gathered into pieces before they are written.
//!
//! ```text
//! blocks  [data ][data   ][bloom][data  ][data ] …          as long as they come out
//! pieces  [           1 MiB           ][           1 MiB …  each where a multiple of a MiB is
//! ```
//!
//! Besides sparing calls, this is for who reads the file next. A kernel keeps what is written at once
//! in pages that hang together as far as they are aligned (Linux: large folios), and copies from
//! these half as fast again as from the single pages that blocks of some 64 KiB end up in.

use std::io::{self, Write};

/// Writes to a sink in pieces of the same length, but for the last one.
#[derive(Debug)]
pub(super) struct BufferedSink<W> {
    sink: W,
    /// Less than a piece.
    buffer: Vec<u8>,
}

impl<W: Write> BufferedSink<W> {
    /// Bytes of a piece; larger ones are not read faster.
    const LEN: usize = 1 << 20;

    pub(super) const fn new(sink: W) -> Self {
        Self { sink, buffer: Vec::new() }
    }

    /// Takes bytes, and writes the pieces that are complete.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while let Some((last, rest)) = bytes.split_at_checked(Self::LEN - self.buffer.len()) {
            self.buffer.extend_from_slice(last);
            self.sink.write_all(&self.buffer)?;
            self.buffer.clear();
            bytes = rest;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes what is left, and gives the sink back.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.sink.write_all(&self.buffer)?;
        self.sink.flush()?;
        Ok(self.sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes what it was given at once.
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
    fn all_bytes_arrive_in_order_and_every_piece_but_the_last_is_whole() {
        const LEN: usize = BufferedSink::<Calls>::LEN;
        let bytes: Vec<u8> = (0..5 * LEN + 77).map(|at| (at % 251) as u8).collect();
        let mut sink = BufferedSink::new(Calls::default());
        let (mut rest, mut next) =
            (&bytes[..], [1, 70_000, LEN, 0, 2 * LEN + 3, 999].iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at((*next.next().unwrap()).min(rest.len()));
            sink.write(now).unwrap();
            rest = later;
        }
        let calls = sink.finish().unwrap().0;
        assert_eq!(calls.concat(), bytes);
        assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [LEN, LEN, LEN, LEN, LEN, 77]);
    }
}
