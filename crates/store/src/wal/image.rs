//! The bytes of a segment, and where sound records stand among them.
//!
//! A record is sound if its checksum is right and it carries its segment's id. The id is random, so
//! it also marks where records can begin behind damage, and what an older or a foreign segment left
//! in the file is never taken for a record of this one.

#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use super::record::RecordHeader;

/// The bytes of a segment whose id is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Image<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) segment: u64,
}

/// A sound record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) header: RecordHeader,
    /// Its cells, as they stand there.
    pub(super) body: &'a [u8],
    pub(super) at: usize,
    /// Where it ends.
    pub(super) end: usize,
}

impl<'a> Image<'a> {
    /// The record of this segment that begins at a place.
    pub(super) fn record_at(&self, at: usize) -> Option<Record<'a>> {
        record_at(self.bytes, at, |segment| segment == self.segment)
    }

    /// Whether a whole record of another segment begins at a place: no crash leaves such.
    pub(super) fn is_foreign_at(&self, at: usize) -> bool {
        record_at(self.bytes, at, |segment| segment != self.segment).is_some()
    }

    /// The first record from `from` on.
    pub(super) fn next_record(&self, mut from: usize) -> Option<Record<'a>> {
        const SEGMENT_AT: usize = 8;
        let id = self.segment.to_be_bytes();
        // The random id marks where a record can begin: looking at every place would be slow.
        while let Some(skip) = self
            .bytes
            .get(from.saturating_add(SEGMENT_AT)..)
            .and_then(|rest| rest.windows(id.len()).position(|window| window == id))
        {
            let place = from.saturating_add(skip);
            if let Some(record) = self.record_at(place) {
                return Some(record);
            }
            from = place.saturating_add(1);
        }
        None
    }

    /// Whether a disk sector between the two places is all zeros: it never got its data.
    pub(super) fn has_lost_sector(&self, from: usize, to: usize) -> bool {
        const SECTOR: usize = 512;
        let mut start = from.saturating_sub(from.checked_rem(SECTOR).unwrap_or(0));
        while start < to {
            let end = start.saturating_add(SECTOR);
            // The part in front of the damage was read as sound records.
            let lost = self.bytes.get(start.max(from)..end.min(self.bytes.len()));
            if lost.is_some_and(|lost| !lost.is_empty() && lost.iter().all(|byte| *byte == 0)) {
                return true;
            }
            start = end;
        }
        false
    }
}

/// The id that a record at a place carries, whatever the segment's header says.
pub(super) fn segment_of_record_at(bytes: &[u8], at: usize) -> Option<u64> {
    record_at(bytes, at, |_| true).map(|record| record.header.segment)
}

fn record_at(bytes: &[u8], at: usize, is_wanted: impl Fn(u64) -> bool) -> Option<Record<'_>> {
    let record = bytes.get(at..)?;
    let header = RecordHeader::read(record).ok()?;
    if header.length > RecordHeader::LENGTH_MAX || !is_wanted(header.segment) {
        return None;
    }
    let len = RecordHeader::LEN.checked_add(usize::try_from(header.length).ok()?)?;
    let record = record.get(..len)?;
    if crc32c::crc32c(record.get(RecordHeader::CHECKSUM_LEN..)?) != header.checksum {
        return None;
    }
    let body = record.get(RecordHeader::LEN..)?;
    Some(Record { header, body, at, end: at.checked_add(len)? })
}
