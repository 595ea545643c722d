//! The writing end of the log: the open segment, if there is one.
//!
//! A segment is made when there is a record to write, so that whoever only reads makes none.

#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use std::path::Path;

use super::segment::{PreviousSegment, SegmentWriter};
use crate::error::{Error, Result};
use crate::files::segment_number::SegmentNumber;
use crate::vfs::Vfs;

/// Where the log goes on.
#[derive(Debug)]
pub(crate) struct LogTail {
    /// The store's id.
    store: u64,
    segment: Option<SegmentWriter>,
    /// The number of the segment that begins next.
    next_segment: SegmentNumber,
    /// The id and length of the last closed segment, for the header of the next one.
    previous: PreviousSegment,
}

impl LogTail {
    /// The end of a log whose segments before `next` are closed.
    pub(crate) const fn new(
        store: u64,
        next_segment: SegmentNumber,
        previous: PreviousSegment,
    ) -> Self {
        Self { store, segment: None, next_segment, previous }
    }

    /// The segment that is being written.
    pub(crate) const fn segment(&self) -> Option<&SegmentWriter> {
        self.segment.as_ref()
    }

    /// The number of the segment that begins next.
    pub(crate) const fn next_segment(&self) -> SegmentNumber {
        self.next_segment
    }

    /// Makes the next segment. It must be closed before another begins.
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

    /// The segment that is being written, which must be open.
    pub(crate) fn open_segment(&mut self) -> &mut SegmentWriter {
        self.segment.as_mut().expect("a segment is open")
    }

    /// Waits until what was written is on disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.segment.as_mut().map_or(Ok(()), SegmentWriter::sync)
    }

    /// Syncs and closes the segment. It must be whole on disk before the next one exists, because recovery
    /// takes a gap for damage.
    pub(crate) fn close(&mut self) -> Result<()> {
        self.sync()?;
        if let Some(segment) = self.segment.take() {
            self.previous = segment.as_previous();
        }
        Ok(())
    }
}
