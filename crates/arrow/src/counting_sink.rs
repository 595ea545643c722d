//! A sink that counts the bytes that it gets.

use std::io::{self, Write};

#[derive(Debug)]
pub(crate) struct CountingSink<W> {
    sink: W,
    written: u64,
}

impl<W> CountingSink<W> {
    pub(crate) const fn new(sink: W) -> Self {
        Self { sink, written: 0 }
    }

    pub(crate) const fn written(&self) -> u64 {
        self.written
    }

    pub(crate) fn into_inner(self) -> W {
        self.sink
    }
}

impl<W: Write> Write for CountingSink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.sink.write(bytes)?;
        self.written += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}
