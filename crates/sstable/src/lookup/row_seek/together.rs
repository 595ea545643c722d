//! The lookups of many rows side by side: each step of all of them before the next one.

use std::collections::VecDeque;
use std::fmt;

use super::RowSeek;
use crate::Reader;
use crate::file::filters::file_filters::FilterAnswer;
use crate::{ReadTrace, Result, RowProbe, Scanner};

impl Reader {
    /// Looks many rows up, each as [`seek_row`](Self::seek_row) would, and counts the same. Returns those
    /// that the file has, in the order of the probes: the number of each, and a scanner on its first cell.
    ///
    /// A lookup waits for memory several times, and one that comes after it does not begin to wait until
    /// it is done. Here the waits of sixteen lookups overlap.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use filter::Seed;
    /// use sstable::{FileName, ReadTrace, Reader, ReaderOptions, RowProbe};
    /// # let file: &'static [u8] = include_bytes!("../../../../../tests/data/hfile/s03-one-cell.hfile");
    ///
    /// # let source = std::sync::Arc::new(Bytes::from_static(file));
    /// let reader = Reader::open(source, FileName::new("4f1c.hfile"), ReaderOptions::default())?;
    /// let row = reader.first_row().unwrap_or_default();
    /// let probes = [b"no such row", row].map(|row| RowProbe::new(row, Seed::default()));
    /// let mut trace = ReadTrace::default();
    /// for found in reader.seek_rows(&probes, &mut trace) {
    ///     let (number, scanner) = found?;
    ///     assert_eq!((number, scanner.cell().map(|cell| cell.row)), (1, Some(row)));
    /// }
    /// assert_eq!(trace.files_considered, 2);
    /// # Ok::<(), sstable::Error>(())
    /// ```
    ///
    /// Each item is an error if a block cannot be read; the rows after it are looked up all the same.
    pub fn seek_rows<'a>(
        &'a self,
        probes: &'a [RowProbe<'a>],
        trace: &'a mut ReadTrace,
    ) -> RowSeeks<'a> {
        let begun = VecDeque::with_capacity(TOGETHER.min(probes.len()));
        RowSeeks { reader: self, probes, next: 0, trace, begun }
    }
}

/// Lookups that wait for memory together: about as many as a core has loads under way.
const TOGETHER: usize = 16;

/// Rows that are looked up together: of each that the file has, its number among the probes and a
/// scanner on its first cell. Made by [`Reader::seek_rows`].
pub struct RowSeeks<'a> {
    reader: &'a Reader,
    probes: &'a [RowProbe<'a>],
    /// How many were begun.
    next: usize,
    trace: &'a mut ReadTrace,
    begun: VecDeque<(usize, RowSeek)>,
}

impl RowSeeks<'_> {
    /// Begins with the next rows, and sends for their cells.
    fn begin_some(&mut self) {
        let end = self.probes.len().min(self.next.saturating_add(TOGETHER));
        for probe in &self.probes[self.next..end] {
            // What it returns is asked for again with the row.
            let _ = self.reader.prefetched_filter(probe);
        }
        for number in self.next..end {
            let probe = &self.probes[number];
            match self.reader.consider(probe, self.trace) {
                FilterAnswer::No => {}
                answer => self.begun.push_back((number, self.reader.begin_seek(answer, probe))),
            }
        }
        self.next = end;
        for (number, seek) in &mut self.begun {
            self.reader.load_seek(seek, &self.probes[*number], self.trace);
        }
        self.begun.iter_mut().for_each(|(_, seek)| seek.prefetch());
    }
}

impl Iterator for RowSeeks<'_> {
    type Item = Result<(usize, Scanner)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while let Some((number, seek)) = self.begun.pop_front() {
                let RowSeek { answer, begun } = seek;
                let probe = &self.probes[number];
                match self.reader.finish_counted(answer, begun, probe, self.trace) {
                    Ok(None) => {}
                    // Made where it is wanted: a scanner is large, and moving it would take longer.
                    Ok(Some(place)) => {
                        return Some(Ok((number, Scanner::at(self.reader.clone(), place))));
                    }
                    Err(error) => return Some(Err(*error)),
                }
            }
            if self.next == self.probes.len() {
                return None;
            }
            self.begin_some();
        }
    }
}

impl fmt::Debug for RowSeeks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowSeeks").field("next", &self.next).finish_non_exhaustive()
    }
}
