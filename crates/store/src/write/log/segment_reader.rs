//! Reads a segment, and finds the valid records in it, also after damage.
//!
//! A record is valid if its checksum matches and it has its segment's id. The id is random, so the
//! search for records after damage looks only where the id occurs, and bytes that an older or
//! foreign segment left in the file are never taken for a record of this one.

use std::path::Path;

use super::record::RecordHeader;
use super::segment::SegmentHeader;
use crate::checksum::Crc32c;
use crate::error::{Error, Result};
use crate::files::file_access::chunked_read::{CHUNK_LEN, ChunkedReader};
use crate::vfs::Vfs;

/// The least limit for the length of a segment.
///
/// A segment is closed once it is longer than
/// [`wal_segment_bytes`](crate::StoreOptions::wal_segment_bytes), and no record exceeds 1 GiB. So
/// no segment exceeds both this limit and twice that option.
const LEN_MAX: u64 = 4 << 30;

/// Returns the maximum length of a segment in a store with this option.
pub(crate) fn segment_len_max(wal_segment_bytes: u64) -> u64 {
    wal_segment_bytes.saturating_mul(2).max(LEN_MAX)
}

/// Reads the header and the records of a segment.
pub(super) struct SegmentReader {
    pieces: ChunkedReader,
    /// The id of the segment's records; set by the caller once the id is known.
    pub(super) segment: u64,
    /// Bytes that the search for records after damage may still checksum.
    search_budget: u64,
}

/// The header and offsets of a valid record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) header: RecordHeader,
    pub(super) at: u64,
    pub(super) end: u64,
}

impl SegmentReader {
    /// Opens a segment of at most `len_max` bytes.
    pub(super) fn open(vfs: &dyn Vfs, path: &Path, len_max: u64) -> Result<Self> {
        let source = vfs.open(path).map_err(Error::io(path, "open"))?;
        let pieces = ChunkedReader::new(source, path, "a log segment", len_max)?;
        // Without a limit, overlapping candidates in a file of a few MiB could take hours to
        // checksum.
        let search_budget = pieces.len().saturating_mul(16);
        Ok(Self { pieces, segment: 0, search_budget })
    }

    pub(super) const fn len(&self) -> u64 {
        self.pieces.len()
    }

    /// Returns the bytes before the first record; fewer if the file is shorter.
    pub(super) fn header(&mut self) -> Result<&[u8]> {
        self.pieces.bytes(0, SegmentHeader::LEN)
    }

    /// Returns the encoded cells of a record.
    pub(super) fn body(&mut self, record: &Record) -> Result<&[u8]> {
        let len = to_len(record.header.length);
        self.pieces.bytes(record.at + RECORD_HEADER_LEN, len)
    }

    /// Returns the valid record of this segment at an offset.
    pub(super) fn record_at(&mut self, at: u64) -> Result<Option<Record>> {
        let own = self.segment;
        self.read_record_if(at, |segment| segment == own)
    }

    /// Returns whether a valid record of another segment begins at an offset, which no crash
    /// causes.
    pub(super) fn has_foreign_record_at(&mut self, at: u64) -> Result<bool> {
        let own = self.segment;
        Ok(self.read_record_if(at, |segment| segment != own)?.is_some())
    }

    /// Returns the segment id of the valid record at an offset, for a segment with a damaged
    /// header.
    pub(super) fn segment_id_of_record_at(&mut self, at: u64) -> Result<Option<u64>> {
        Ok(self.read_record_if(at, |_| true)?.map(|record| record.header.segment))
    }

    /// Returns the first valid record that begins after an offset.
    pub(super) fn next_record_after(&mut self, at: u64) -> Result<Option<Record>> {
        self.next_record_at_or_after(at + 1)
    }

    /// Returns the first valid record that begins at or after an offset, which is at most the
    /// length.
    pub(super) fn next_record_at_or_after(&mut self, mut from: u64) -> Result<Option<Record>> {
        const SEGMENT_AT: u64 = 8;
        assert!(from <= self.len(), "the offset is in the segment");
        // Only offsets at which the random id occurs are checked, because checking each would be
        // slow.
        while let Some(offset) = self.find_id(from + SEGMENT_AT)? {
            let offset = offset - SEGMENT_AT;
            self.charge_search_budget(offset)?;
            if let Some(record) = self.record_at(offset)? {
                return Ok(Some(record));
            }
            from = offset + 1;
        }
        Ok(None)
    }

    /// Returns whether a disk sector in a range is all zeros, so that its data never reached the
    /// disk.
    pub(super) fn has_zero_sector(&mut self, from: u64, to: u64) -> Result<bool> {
        const SECTOR: u64 = 512;
        let mut start = from - from % SECTOR;
        while start < to.min(self.len()) {
            let end = start + SECTOR;
            // The bytes of the sector before `from` are valid records.
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

    /// Returns whether all bytes of the segment are zeros.
    pub(super) fn is_all_zeros(&mut self) -> Result<bool> {
        let mut at = 0;
        while at < self.len() {
            let piece = self.pieces.bytes(at, CHUNK_LEN)?;
            if piece.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            at += to_u64(piece.len());
        }
        Ok(true)
    }

    /// Returns the first offset at or after `at` at which the segment's id occurs.
    fn find_id(&mut self, mut at: u64) -> Result<Option<u64>> {
        let id = self.segment.to_be_bytes();
        loop {
            let piece = self.pieces.window_from(at, id.len())?;
            if let Some(skip) = piece.windows(id.len()).position(|window| window == id) {
                return Ok(Some(at + to_u64(skip)));
            }
            // The id may cross the end of this piece.
            let Some(step) = (piece.len() + 1).checked_sub(id.len()).filter(|step| *step > 0)
            else {
                return Ok(None);
            };
            at += to_u64(step);
        }
    }

    /// Charges the search budget with the bytes that a candidate record at an offset claims.
    fn charge_search_budget(&mut self, at: u64) -> Result<()> {
        let header = RecordHeader::read(self.pieces.bytes(at, RecordHeader::LEN)?);
        let claimed = header.map_or(0, |header| u64::from(header.length));
        let is_checked = claimed <= self.len() - at;
        let left = self.search_budget.checked_sub(if is_checked { claimed } else { 0 });
        let too_many = "too many offsets after damage look like records";
        self.search_budget =
            left.ok_or_else(|| Error::corrupt(self.pieces.path(), at, too_many))?;
        Ok(())
    }

    fn read_record_if(
        &mut self,
        at: u64,
        is_wanted: impl Fn(u64) -> bool,
    ) -> Result<Option<Record>> {
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

    /// Returns the CRC-32C of the bytes in a range.
    ///
    /// Holds at most one piece in memory, because the range comes from an unverified length.
    fn checksum(&mut self, mut at: u64, end: u64) -> Result<u32> {
        let mut checksum = Crc32c::new();
        while at < end {
            let left = usize::try_from(end - at).map_or(CHUNK_LEN, |left| left.min(CHUNK_LEN));
            let piece = self.pieces.bytes(at, left)?;
            checksum.update(piece);
            at += to_u64(piece.len());
        }
        Ok(checksum.value())
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
