//! The tail of the log: the open segment, if any, and the header data of the next one.
//!
//! A segment is created when there is a record to write, so a store without writes creates none.

use std::path::Path;

use super::segment::{PreviousSegment, SegmentWriter};
use crate::error::{Error, Result};
use crate::files::names::segment_number::SegmentNumber;
use crate::vfs::Vfs;

/// The tail of the log, to which records are appended.
#[derive(Debug)]
pub(crate) struct LogTail {
    /// The store's id.
    store: u64,
    segment: Option<SegmentWriter>,
    next_segment: SegmentNumber,
    /// The id and length of the last closed segment, for the header of the next one.
    previous: PreviousSegment,
}

impl LogTail {
    /// Creates the tail of a log whose segments before `next_segment` are closed.
    pub(crate) const fn new(
        store: u64,
        next_segment: SegmentNumber,
        previous: PreviousSegment,
    ) -> Self {
        Self { store, segment: None, next_segment, previous }
    }

    /// Returns the open segment.
    pub(crate) const fn segment(&self) -> Option<&SegmentWriter> {
        self.segment.as_ref()
    }

    /// Returns the length of the open segment; 0 if no segment is open.
    pub(crate) fn written(&self) -> u64 {
        self.segment().map_or(0, SegmentWriter::written)
    }

    /// Returns the number of the next segment to create.
    pub(crate) const fn next_segment(&self) -> SegmentNumber {
        self.next_segment
    }

    /// Creates the next segment. The previous one must be closed.
    pub(crate) fn begin(&mut self, vfs: &dyn Vfs, directory: &Path) -> Result<()> {
        assert!(self.segment.is_none(), "a segment is closed before the next begins");
        let (store, number) = (self.store, self.next_segment);
        if number == SegmentNumber::END {
            return Err(Error::invalid("the log's segment numbers are used up"));
        }
        self.segment = Some(SegmentWriter::create(vfs, directory, store, number, self.previous)?);
        self.next_segment = number.next();
        Ok(())
    }

    /// Returns the open segment for writing.
    ///
    /// # Panics
    ///
    /// If no segment is open.
    pub(crate) fn open_segment(&mut self) -> &mut SegmentWriter {
        self.segment.as_mut().expect("a segment is open")
    }

    /// Syncs the open segment, if any.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.segment.as_mut().map_or(Ok(()), SegmentWriter::sync)
    }

    /// Syncs and closes the open segment, if any.
    ///
    /// The segment must be complete on disk before the next one exists, because recovery treats a
    /// gap as damage.
    pub(crate) fn close(&mut self) -> Result<()> {
        self.sync()?;
        if let Some(segment) = self.segment.take() {
            self.previous = segment.as_previous();
        }
        Ok(())
    }
}
