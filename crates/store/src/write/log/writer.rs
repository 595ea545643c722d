//! The end of the log, in the hands of the one thread that writes.

use sstable::{SequenceId, Timestamp};

use super::log_tail::LogTail;
use super::record::encode_batch;
use super::request::{DefaultTimestamp, Request};
use super::segment::SegmentWriter;
use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::segment_number::SegmentNumber;
use crate::files::sequence;
use crate::files::version::StoreVersion;
use crate::options::Durability;

/// The end of the log. Whoever holds it, nobody else writes.
#[derive(Debug)]
pub(crate) struct Writer {
    tail: LogTail,
    /// The length at which a segment is closed.
    segment_len_max: u64,
    /// The last batch's.
    newest: SequenceId,
    /// Records that the operating system does not have yet.
    pending: Vec<u8>,
    /// Whether a memstore holds what no log does.
    has_unlogged: bool,
}

impl Writer {
    pub(super) const fn new(tail: LogTail, newest: SequenceId, segment_len_max: u64) -> Self {
        Self { tail, segment_len_max, newest, pending: Vec::new(), has_unlogged: false }
    }

    /// The greatest sequence id that was given.
    pub(crate) const fn newest(&self) -> SequenceId {
        self.newest
    }

    /// Notes that the sequence ids up to `newest` are given, to a batch or to files from elsewhere.
    pub(crate) fn advance_sequence_id(&mut self, newest: SequenceId) {
        assert!(self.newest <= newest, "sequence ids are given in their order");
        self.newest = newest;
    }

    pub(crate) const fn has_unlogged(&self) -> bool {
        self.has_unlogged
    }

    pub(super) const fn pending_len(&self) -> usize {
        self.pending.len()
    }

    /// Begins a segment unless one is open, after closing one that is long enough. The catalog knows
    /// of it before it holds a record.
    pub(super) fn begin_segment(&mut self, catalog: &Catalog) -> Result<()> {
        self.close_long_segment()?;
        if self.tail.segment().is_none() {
            let opener = &catalog.opener;
            self.tail.begin(&**opener.vfs(), &opener.wal_directory())?;
            catalog.note_log_end(self.tail.next_segment())?;
        }
        Ok(())
    }

    /// Gives a batch its sequence id and, where there is none, its time, and logs it.
    pub(super) fn log_batch(
        &mut self,
        version: &StoreVersion,
        request: &mut Request,
        now: Timestamp,
    ) -> Result<()> {
        let sequence_id = sequence::after(self.newest)?;
        let default_timestamp = match request.default_timestamp {
            DefaultTimestamp::Now => now,
            // Below 2^63: the ids count up from 1.
            DefaultTimestamp::SequenceId => Timestamp::new(sequence_id.get().cast_signed()),
        };
        for cell in &mut request.cells {
            cell.set_sequence_id(sequence_id);
            if cell.timestamp() == Timestamp::LATEST {
                cell.set_timestamp(default_timestamp);
            }
        }
        if request.durability == Durability::SkipWal {
            self.has_unlogged = true;
        } else {
            let mut family = (&b""[..], 0);
            let cells = request.cells.iter().map(|cell| {
                let cell = cell.as_ref();
                if cell.family != family.0 {
                    let known = version.family(cell.family).expect("checked before the queue");
                    family = (cell.family, known.family.id);
                }
                (family.1, cell)
            });
            let segment = self.tail.segment().expect("begun before a batch is logged");
            let (header, durable) = (*segment.header(), segment.durable());
            encode_batch(&mut self.pending, &header, sequence_id, durable, cells)?;
        }
        self.advance_sequence_id(sequence_id);
        Ok(())
    }

    /// Hands what is pending to the operating system.
    pub(super) fn write_pending(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            self.tail.open_segment().write(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }

    /// Brings all that was logged to the disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.write_pending()?;
        self.tail.sync()
    }

    /// Closes the open segment, if there is one, because memstores begin anew with the next. Returns the
    /// number of the segment that begins next: from there on the log is needed for the new memstores.
    pub(crate) fn close_for_flush(&mut self) -> Result<SegmentNumber> {
        self.close_segment()?;
        self.has_unlogged = false;
        Ok(self.tail.next_segment())
    }

    /// Closes the open segment if it has reached the length at which segments are closed.
    pub(super) fn close_long_segment(&mut self) -> Result<()> {
        debug_assert!(
            self.pending.is_empty() || self.tail.segment().is_some(),
            "records are of a segment"
        );
        let written = self.tail.segment().map_or(0, SegmentWriter::written);
        let len = written + self.pending.len() as u64;
        if len > self.segment_len_max { self.close_segment() } else { Ok(()) }
    }

    fn close_segment(&mut self) -> Result<()> {
        self.write_pending()?;
        self.tail.close()
    }
}
