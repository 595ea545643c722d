//! The log is read back after the store was closed or the machine stopped.
//!
//! A record counts if it is whole: its checksum is right and it carries its segment's id. What
//! follows the last whole record of the last segment is a write that was under way; it is cut off.
//! Damage anywhere else would be a hole in acknowledged history, and is an error:
//!
//! ```text
//! last segment   ┃record┃record┃rec…            cut: the write was not acknowledged
//! last segment   ┃record┃re▒▒rd┃record┃         error, naming segment and offset
//! older segment  ┃record┃rec…                   error: a segment is whole before the next begins
//! ```
//!
//! One such hole is no damage: what was written but never synced may reach the disk out of order
//! before a power cut. It shows as sectors of zeros, behind all that the records found after it
//! call durable. Under [`SyncWal`](crate::Durability::SyncWal) no more than the time before the
//! power cut was promised, so the log ends at the hole.

#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use std::path::Path;

use sstable::{Cell, SequenceId};

use super::record::{RecordHeader, decode_cells};
use super::segment::{SegmentNumber, WalIdentity};
use crate::error::{Error, Result};
use crate::vfs::Vfs;

/// What the log held.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The segments that are there, in order.
    pub(crate) segments: Vec<SegmentNumber>,
    /// Batches in order, each the cells of one sequence id.
    pub(crate) batches: Vec<Vec<Cell>>,
    /// The last batch's.
    pub(crate) newest: SequenceId,
}

/// Reads the segments from `first` on and cuts what the last one holds of a half-made write.
///
/// Segments before `first` are flushed and only wait to be unlinked; the caller does that.
pub(crate) fn recover<'f>(
    vfs: &dyn Vfs,
    directory: &Path,
    store: u64,
    first: SegmentNumber,
    family_name: impl Fn(u16) -> Option<&'f [u8]>,
) -> Result<Recovered> {
    let entries = vfs.list(directory).map_err(Error::io(directory, "list"))?;
    let mut segments: Vec<_> = entries
        .iter()
        .filter_map(|entry| SegmentNumber::from_name(&entry.name))
        .filter(|number| *number >= first)
        .collect();
    segments.sort_unstable();
    let mut recovered = Recovered::default();
    let mut expected = first;
    for number in &segments {
        let path = number.path(directory);
        if *number != expected {
            let what = format!("segment {expected} before it is missing");
            return Err(Error::corrupt(&path, 0, what));
        }
        expected = number.next();
        let is_last = segments.last() == Some(number);
        let bytes = read_whole(vfs, &path)?;
        let segment = Segment { path: &path, bytes: &bytes, store, number: *number, is_last };
        let Some(end) = segment.replay(&family_name, &mut recovered)? else {
            // Not even its header is whole, so nothing was ever acknowledged by it.
            vfs.unlink(&path).map_err(Error::io(&path, "unlink"))?;
            break;
        };
        recovered.segments.push(*number);
        if end < bytes.len() {
            let end = u64::try_from(end).unwrap_or(u64::MAX);
            vfs.truncate(&path, end).map_err(Error::io(&path, "cut the half-made write off"))?;
        } else if is_last {
            // A process that was killed left it with the operating system only.
            let mut segment = vfs.append(&path).map_err(Error::io(&path, "open"))?;
            segment.sync().map_err(Error::io(&path, "sync"))?;
        }
    }
    // As their bytes, the names of the segments must be on disk before the next one's is.
    vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))?;
    Ok(recovered)
}

fn read_whole(vfs: &dyn Vfs, path: &Path) -> Result<Vec<u8>> {
    let source = vfs.open(path).map_err(Error::io(path, "open"))?;
    let len = usize::try_from(source.len())
        .map_err(|_| Error::corrupt(path, 0, "longer than this machine's memory"))?;
    let mut bytes = vec![0; len];
    source.read_exact_at(&mut bytes, 0).map_err(Error::io(path, "read"))?;
    Ok(bytes)
}

/// A segment that is being read back.
struct Segment<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    store: u64,
    number: SegmentNumber,
    is_last: bool,
}

impl Segment<'_> {
    /// Appends the segment's batches and returns where its last whole record ends; `None` if it
    /// was only being made.
    fn replay<'f>(
        &self,
        family_name: &impl Fn(u16) -> Option<&'f [u8]>,
        recovered: &mut Recovered,
    ) -> Result<Option<usize>> {
        let Some(identity) = self.identity()? else { return Ok(None) };
        let mut at = WalIdentity::HEADER_LEN;
        while let Some((header, body, next)) = self.record_at(at, &identity) {
            let corrupt = |what| self.corrupt(at, what);
            if header.sequence_id <= recovered.newest {
                return Err(corrupt("a record that is older than the one before it"));
            }
            let cells = decode_cells(body, header.sequence_id, family_name).map_err(corrupt)?;
            recovered.batches.push(cells);
            recovered.newest = header.sequence_id;
            at = next;
        }
        if at < self.bytes.len() {
            self.check_tail(at, &identity)?;
        }
        Ok(Some(at))
    }

    fn identity(&self) -> Result<Option<WalIdentity>> {
        let Some(header) = self.bytes.first_chunk() else {
            // A segment gets records only once its header is on disk.
            return if self.is_last {
                Ok(None)
            } else {
                Err(self.corrupt(0, "ends in the segment's header"))
            };
        };
        let identity = match WalIdentity::read(header) {
            Ok(identity) => identity,
            Err(_) if self.is_last && self.bytes.iter().all(|byte| *byte == 0) => return Ok(None),
            Err(what) => return Err(self.corrupt(0, what)),
        };
        if identity.store != self.store || identity.number != self.number {
            return Err(self.corrupt(0, "the segment of another store or of another name"));
        }
        Ok(Some(identity))
    }

    /// The whole record at a place, with its cells' bytes and where it ends.
    fn record_at(&self, at: usize, identity: &WalIdentity) -> Option<(RecordHeader, &[u8], usize)> {
        let record = self.bytes.get(at..)?;
        let header = RecordHeader::read(record).ok()?;
        if header.length > RecordHeader::LENGTH_MAX || header.segment != identity.segment {
            return None;
        }
        let len = RecordHeader::LEN.checked_add(usize::try_from(header.length).ok()?)?;
        let record = record.get(..len)?;
        if crc32c::crc32c(record.get(RecordHeader::CHECKSUM_LEN..)?) != header.checksum {
            return None;
        }
        Some((header, record.get(RecordHeader::LEN..)?, at.checked_add(len)?))
    }

    /// Decides whether what stands from `at` on may be cut off.
    fn check_tail(&self, at: usize, identity: &WalIdentity) -> Result<()> {
        if !self.is_last {
            return Err(self.corrupt(at, "damage in a segment that another one follows"));
        }
        let Some((later, header)) = self.next_record(at, identity) else { return Ok(()) };
        let was_synced = u64::try_from(at).is_ok_and(|at| at < header.durable);
        if was_synced || !self.has_lost_sector(at, later) {
            let what = format!("damage, and a sound record behind it at {later:#x}");
            return Err(Error::corrupt(self.path, u64::try_from(at).unwrap_or(u64::MAX), what));
        }
        Ok(())
    }

    /// The last sound record behind `at`, which knows most about what was durable, and the place
    /// of the first.
    fn next_record(&self, at: usize, identity: &WalIdentity) -> Option<(usize, RecordHeader)> {
        const SEGMENT_AT: usize = 8;
        let id = identity.segment.to_be_bytes();
        let mut found = None;
        let mut from = at.saturating_add(1);
        // The random id marks where a record can begin: looking at every place would be slow.
        while let Some(skip) = self
            .bytes
            .get(from.saturating_add(SEGMENT_AT)..)
            .and_then(|rest| rest.windows(id.len()).position(|window| window == id))
        {
            let place = from.saturating_add(skip);
            from = match self.record_at(place, identity) {
                Some((header, _, end)) => {
                    found = Some((found.map_or(place, |(first, _)| first), header));
                    end
                }
                None => place.saturating_add(1),
            };
        }
        found
    }

    /// Whether a disk sector between the two places is all zeros: it never got its data.
    fn has_lost_sector(&self, from: usize, to: usize) -> bool {
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

    fn corrupt(&self, at: usize, what: &'static str) -> Error {
        Error::corrupt(self.path, u64::try_from(at).unwrap_or(u64::MAX), what)
    }
}
