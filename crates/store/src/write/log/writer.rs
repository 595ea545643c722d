//! Appends batches to the log; one thread at a time holds the writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sstable::{SequenceId, Timestamp};

use super::log_tail::LogTail;
use super::record::encode_batch;
use super::request::Request;
use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::names::segment_number::SegmentNumber;
use crate::files::names::sequence;
use crate::options::Durability;
use crate::write::accepted_batch::AcceptedBatch;
use crate::write::row_times::RowTimes;

/// Assigns sequence ids to batches and appends their records. Its lock serializes all writes.
#[derive(Debug)]
pub(crate) struct LogWriter {
    tail: LogTail,
    /// The length at which a segment is closed.
    segment_len_max: u64,
    /// The last assigned sequence id.
    newest: SequenceId,
    times: RowTimes,
    /// Encoded records that are not written to the operating system yet.
    pending: Vec<u8>,
    /// Whether a memstore holds cells that are not in the log.
    has_unlogged: bool,
    /// The number of times that pending records were written.
    writes: u64,
    /// The bytes of records written since the store was opened, shared with who shows them: the lock of the
    /// writer is held while records are synced.
    written_bytes: Arc<AtomicU64>,
    /// Whether the manifest covers the open segment.
    is_covered: bool,
}

/// What a writer had assigned and encoded at some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    newest: SequenceId,
    pending_len: usize,
    writes: u64,
}

impl LogWriter {
    pub(super) fn new(
        tail: LogTail,
        newest: SequenceId,
        times: RowTimes,
        segment_len_max: u64,
    ) -> Self {
        Self {
            tail,
            segment_len_max,
            newest,
            times,
            pending: Vec::new(),
            has_unlogged: false,
            writes: 0,
            written_bytes: Arc::default(),
            is_covered: false,
        }
    }

    /// Returns the counter of written bytes.
    pub(super) fn written_bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.written_bytes)
    }

    /// Returns the timestamps of cells without one.
    pub(super) const fn times(&mut self) -> &mut RowTimes {
        &mut self.times
    }

    /// Returns a mark, to which [`return_to`](Self::return_to) returns.
    pub(super) const fn mark(&self) -> Mark {
        Mark { newest: self.newest, pending_len: self.pending.len(), writes: self.writes }
    }

    /// Forgets the batches since `mark`, of which none was written.
    pub(super) fn return_to(&mut self, mark: Mark) {
        self.newest = mark.newest;
        // If the older records were written meanwhile, all that are pending now are newer.
        let kept = if self.writes == mark.writes { mark.pending_len } else { 0 };
        self.pending.truncate(kept);
    }

    /// Returns whether the open segment is so long that the next batch belongs to another.
    pub(super) fn has_long_segment(&self) -> bool {
        self.tail.written() + self.pending.len() as u64 > self.segment_len_max
    }

    /// Returns the last assigned sequence id.
    pub(crate) const fn newest(&self) -> SequenceId {
        self.newest
    }

    /// Marks the sequence ids up to `newest` as assigned, to a batch or to imported files.
    pub(crate) fn advance_sequence_id(&mut self, newest: SequenceId) {
        assert!(self.newest <= newest, "sequence ids are assigned in ascending order");
        self.newest = newest;
    }

    pub(crate) const fn has_unlogged(&self) -> bool {
        self.has_unlogged
    }

    pub(super) const fn pending_len(&self) -> usize {
        self.pending.len()
    }

    /// Creates the next segment, unless a segment is open that is not too long.
    ///
    /// A segment that is too long is still open if there was no space to close it. The manifest
    /// covers the new segment before the segment holds a record.
    pub(super) fn begin_segment(&mut self, catalog: &Catalog) -> Result<()> {
        debug_assert!(
            self.pending.is_empty() || self.tail.segment().is_some(),
            "pending records belong to an open segment"
        );
        if self.has_long_segment() {
            self.close_segment()?;
        }
        if self.tail.segment().is_none() {
            let opener = &catalog.opener;
            self.is_covered = false;
            self.tail.begin(&**opener.vfs(), &opener.wal_directory())?;
        }
        if !self.is_covered {
            catalog.record_log_end(self.tail.next_segment())?;
            self.is_covered = true;
        }
        Ok(())
    }

    /// Assigns a batch its sequence id and the timestamps it lacks, and encodes its record.
    pub(super) fn log_batch(
        &mut self,
        request: &mut Request<AcceptedBatch<'_>>,
        now: Timestamp,
    ) -> Result<()> {
        let sequence_id = sequence::after(self.newest)?;
        let batch = &mut request.batch;
        batch.assign_times(&mut self.times, now);
        for cell in &mut batch.cells {
            cell.set_sequence_id(sequence_id);
            if cell.timestamp() == Timestamp::LATEST {
                // In a key-value family.
                cell.set_timestamp(sequence::as_timestamp(sequence_id));
            }
        }
        if request.durability == Durability::Skip {
            self.has_unlogged = true;
        } else {
            let segment = self.tail.segment().expect("`begin_segment` precedes `log_batch`");
            let (header, durable) = (segment.header(), segment.durable());
            let cells = batch.cells_with_family_id();
            encode_batch(&mut self.pending, header, sequence_id, durable, request.replaces, cells)?;
        }
        self.advance_sequence_id(sequence_id);
        Ok(())
    }

    /// Writes the pending records to the operating system.
    pub(super) fn write_pending(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            self.tail.open_segment().write(&self.pending)?;
            let len = self.pending.len() as u64;
            self.written_bytes.fetch_add(len, Ordering::Relaxed);
            self.pending.clear();
            self.writes += 1;
        }
        Ok(())
    }

    /// Writes and syncs all logged records to disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.write_pending()?;
        self.tail.sync()
    }

    /// Closes the open segment, if any, when a flush replaces the memstores.
    ///
    /// Returns the number of the next segment: the new memstores need the log from there on.
    pub(crate) fn close_for_flush(&mut self) -> Result<SegmentNumber> {
        self.close_segment()?;
        self.has_unlogged = false;
        Ok(self.tail.next_segment())
    }

    /// Syncs and closes the open segment, if any, with the pending records.
    pub(super) fn close_segment(&mut self) -> Result<()> {
        self.write_pending()?;
        self.tail.close()
    }
}
