//! Counts the bytes read from an input, and shows them as progress.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::rc::{Rc, Weak};

use crate::progress::{Extent, Observer, Phase};

/// The number of bytes read from an input so far; clones share it.
#[derive(Clone, Default)]
pub(crate) struct ReadBytes(Rc<Counts>);

#[derive(Default)]
struct Counts {
    done: Cell<u64>,
    /// The length of a regular file; `None` for a pipe.
    len: Cell<Option<u64>>,
    shown: RefCell<Option<Weak<dyn Phase>>>,
}

impl ReadBytes {
    /// Sets the length of the input.
    pub(crate) fn set_len(&self, len: u64) {
        self.0.len.set(Some(len));
    }

    /// Adds bytes that were read.
    pub(crate) fn add(&self, count: u64) {
        let counts = &self.0;
        counts.done.set(counts.done.get() + count);
        if let Some(progress) = counts.shown.borrow().as_ref().and_then(Weak::upgrade) {
            progress.set(counts.done.get());
        }
    }

    /// Returns whether who sees the progress ends the operation.
    #[cfg(feature = "arrow")]
    pub(crate) fn is_cancelled(&self) -> bool {
        let shown = self.0.shown.borrow().as_ref().and_then(Weak::upgrade);
        shown.is_some_and(|progress| progress.is_cancelled())
    }

    /// Returns a reader that counts the bytes that it reads from `inner`.
    pub(crate) fn counting<R>(&self, inner: R) -> CountingReader<R> {
        CountingReader { inner, bytes: self.clone() }
    }

    /// Shows the bytes read as the progress of a phase, until the returned value is dropped.
    pub(crate) fn show(&self, phase: &'static str, observer: &dyn Observer) -> Rc<dyn Phase> {
        let extent = self.0.len.get().map_or(Extent::UnknownBytes, Extent::Bytes);
        let progress: Rc<dyn Phase> = observer.begin(phase, extent).into();
        progress.set(self.0.done.get());
        *self.0.shown.borrow_mut() = Some(Rc::downgrade(&progress));
        progress
    }
}

/// A reader that counts its bytes.
pub(crate) struct CountingReader<R> {
    inner: R,
    bytes: ReadBytes,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.bytes.add(len as u64);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_while_progress_is_shown_and_after() {
        let bytes = ReadBytes::default();
        let mut reader = bytes.counting(&b"some bytes"[..]);
        let mut buffer = [0; 4];
        let progress = bytes.show("reading", &());
        assert_eq!(reader.read(&mut buffer).expect("memory"), 4);
        drop(progress);
        assert_eq!(reader.read(&mut buffer).expect("memory"), 4);
        assert_eq!(bytes.0.done.get(), 8);
    }
}
