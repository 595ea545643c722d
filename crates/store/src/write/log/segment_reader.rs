//! The bytes of a segment, read in pieces, and where sound records stand among them.
//!
//! A record is sound if its checksum is right and it carries its segment's id. The id is random, so
//! it also marks where records can begin behind damage, and what an older or a foreign segment left
//! in the file is never taken for a record of this one.

#![warn(clippy::indexing_slicing, clippy::as_conversions)]

use std::path::Path;

use super::record::RecordHeader;
use super::segment::SegmentHeader;
use crate::error::{Error, Result};
use crate::files::pieces::{PIECE, Pieces};
use crate::vfs::Vfs;

/// The shortest limit for the length of a segment.
///
/// A segment is closed once it is longer than
/// [`wal_segment_bytes`](crate::StoreOptions::wal_segment_bytes), and no record exceeds 1 GiB, so a
/// store writes none that exceeds this or twice that option.
const LEN_MAX: u64 = 4 << 30;

/// The length that a segment has at most in a store with this option.
pub(crate) fn segment_len_max(wal_segment_bytes: u64) -> u64 {
    wal_segment_bytes.saturating_mul(2).max(LEN_MAX)
}

/// The bytes of a segment.
pub(super) struct SegmentReader {
    pieces: Pieces,
    /// The id that its records carry, once it is known.
    pub(super) segment: u64,
    /// Bytes that the search for a record behind damage may still checksum.
    search_budget: u64,
}

/// A sound record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) header: RecordHeader,
    pub(super) at: u64,
    /// Where it ends.
    pub(super) end: u64,
}

impl SegmentReader {
    /// Opens a segment of at most `len_max` bytes.
    pub(super) fn open(vfs: &dyn Vfs, path: &Path, len_max: u64) -> Result<Self> {
        let source = vfs.open(path).map_err(Error::io(path, "open"))?;
        let pieces = Pieces::new(source, path, "a log segment", len_max)?;
        // Candidates that overlap would let a file of a few MiB be checksummed for hours.
        let search_budget = pieces.len().saturating_mul(16);
        Ok(Self { pieces, segment: 0, search_budget })
    }

    pub(super) const fn len(&self) -> u64 {
        self.pieces.len()
    }

    /// Returns the bytes in front of the first record, or those that there are.
    pub(super) fn header(&mut self) -> Result<&[u8]> {
        self.pieces.bytes(0, SegmentHeader::HEADER_LEN)
    }

    /// Returns the cells of a record, as they are stored.
    pub(super) fn body(&mut self, record: &Record) -> Result<&[u8]> {
        let len = to_len(record.header.length);
        self.pieces.bytes(record.at + RECORD_HEADER_LEN, len)
    }

    /// Returns the record of this segment that begins at a place.
    pub(super) fn record_at(&mut self, at: u64) -> Result<Option<Record>> {
        let own = self.segment;
        self.record_if(at, |segment| segment == own)
    }

    /// Whether a whole record of another segment begins at a place: no crash leaves such.
    pub(super) fn is_foreign_at(&mut self, at: u64) -> Result<bool> {
        let own = self.segment;
        Ok(self.record_if(at, |segment| segment != own)?.is_some())
    }

    /// Returns the id that a record at a place carries, whatever the segment's header says.
    pub(super) fn segment_of_record_at(&mut self, at: u64) -> Result<Option<u64>> {
        Ok(self.record_if(at, |_| true)?.map(|record| record.header.segment))
    }

    /// Returns the first record behind a place in the segment.
    pub(super) fn next_record_behind(&mut self, at: u64) -> Result<Option<Record>> {
        self.next_record(at + 1)
    }

    /// Returns the first record from a place in the segment on, or from its end.
    pub(super) fn next_record(&mut self, mut from: u64) -> Result<Option<Record>> {
        const SEGMENT_AT: u64 = 8;
        assert!(from <= self.len(), "a place in the segment");
        // The random id marks where a record can begin: looking at every place would be slow.
        while let Some(place) = self.find_id(from + SEGMENT_AT)? {
            let place = place - SEGMENT_AT;
            self.spend(place)?;
            if let Some(record) = self.record_at(place)? {
                return Ok(Some(record));
            }
            from = place + 1;
        }
        Ok(None)
    }

    /// Whether a disk sector between the two places is all zeros: it never got its data.
    pub(super) fn has_lost_sector(&mut self, from: u64, to: u64) -> Result<bool> {
        const SECTOR: u64 = 512;
        let mut start = from - from % SECTOR;
        while start < to.min(self.len()) {
            let end = start + SECTOR;
            // The part in front of the damage was read as sound records.
            let first = start.max(from);
            let len = usize::try_from(end - first).expect("at most a sector");
            let lost = self.pieces.bytes(first, len)?;
            if !lost.is_empty() && lost.iter().all(|byte| *byte == 0) {
                return Ok(true);
            }
            start = end;
        }
        Ok(false)
    }

    /// Whether all bytes are zeros.
    pub(super) fn is_zero(&mut self) -> Result<bool> {
        let mut at = 0;
        while at < self.len() {
            let piece = self.pieces.bytes(at, PIECE)?;
            if piece.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            at += to_u64(piece.len());
        }
        Ok(true)
    }

    /// Returns the first place from `at` on where the segment's id stands.
    fn find_id(&mut self, mut at: u64) -> Result<Option<u64>> {
        let id = self.segment.to_be_bytes();
        loop {
            let piece = self.pieces.window_from(at, id.len())?;
            if let Some(skip) = piece.windows(id.len()).position(|window| window == id) {
                return Ok(Some(at + to_u64(skip)));
            }
            // The id may stand across the end of this piece.
            let Some(step) = (piece.len() + 1).checked_sub(id.len()).filter(|step| *step > 0)
            else {
                return Ok(None);
            };
            at += to_u64(step);
        }
    }

    /// Counts what the record that seems to begin at a place takes of the search's budget.
    fn spend(&mut self, at: u64) -> Result<()> {
        let header = RecordHeader::read(self.pieces.bytes(at, RecordHeader::LEN)?);
        let claimed = header.map_or(0, |header| u64::from(header.length));
        let is_checked = claimed <= self.len() - at;
        let left = self.search_budget.checked_sub(if is_checked { claimed } else { 0 });
        let too_many = "too many places behind damage that look like records";
        self.search_budget =
            left.ok_or_else(|| Error::corrupt(self.pieces.path(), at, too_many))?;
        Ok(())
    }

    fn record_if(&mut self, at: u64, is_wanted: impl Fn(u64) -> bool) -> Result<Option<Record>> {
        let Ok(header) = RecordHeader::read(self.pieces.bytes(at, RecordHeader::LEN)?) else {
            return Ok(None);
        };
        if header.length > RecordHeader::LENGTH_MAX || !is_wanted(header.segment) {
            return Ok(None);
        }
        let end = at + RECORD_HEADER_LEN + u64::from(header.length);
        if end > self.len() {
            return Ok(None);
        }
        let is_sound = self.checksum(at + CHECKSUM_LEN, end)? == header.checksum;
        Ok(is_sound.then_some(Record { header, at, end }))
    }

    /// The CRC-32C of the bytes between two places, of which no more than a piece is in memory: a length
    /// is not believed before the checksum is right.
    fn checksum(&mut self, mut at: u64, end: u64) -> Result<u32> {
        let mut checksum = 0;
        while at < end {
            let left = usize::try_from(end - at).map_or(PIECE, |left| left.min(PIECE));
            let piece = self.pieces.bytes(at, left)?;
            checksum = crc32c::crc32c_append(checksum, piece);
            at += to_u64(piece.len());
        }
        Ok(checksum)
    }
}

const RECORD_HEADER_LEN: u64 = 32;
const CHECKSUM_LEN: u64 = 4;
const _: () = assert!(RecordHeader::LEN == 32, "the two are one number");
const _: () = assert!(RecordHeader::CHECKSUM_LEN == 4, "the two are one number");

fn to_u64(len: usize) -> u64 {
    u64::try_from(len).expect("no memory is larger")
}

fn to_len(length: u32) -> usize {
    usize::try_from(length).expect("at most 1 GiB")
}
