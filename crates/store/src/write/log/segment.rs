//! A segment: one append-only file of the log.
//!
//! | at | bytes | field        | encoding and meaning                                           |
//! |---:|------:|--------------|----------------------------------------------------------------|
//! |  0 |     8 | `magic`      | `STOREWAL`                                                     |
//! |  8 |     4 | `version`    | u32 BE; 3                                                      |
//! | 12 |     8 | `store`      | u64 BE; the store's id; another store's segment is refused     |
//! | 20 |     8 | `number`     | u64 BE; as in the file's name                                  |
//! | 28 |     8 | `segment`    | u64 BE; the segment's random id, repeated in each record       |
//! | 36 |     8 | `previous`   | u64 BE; the id of the previous segment; 0 in the first         |
//! | 44 |     8 | `length`     | u64 BE; the length of the previous segment in bytes            |
//! | 52 |     4 | `checksum`   | u32 BE; CRC-32C of bytes 0 to 51                               |
//! | 56 |       | records      | see [`record`](super::record)                                  |
//!
//! A segment is complete on disk before the next one is created. The header of the next segment
//! repeats the id and length of this one, so recovery detects a segment that was replaced, or cut
//! at a record boundary.

use std::io;
use std::path::{Path, PathBuf};

use crate::checksum::crc32c;
use crate::error::{Error, Result};
use crate::files::names::identity::random_number;
use crate::files::names::segment_number::SegmentNumber;
use crate::vfs::{AppendFile, Vfs};

/// The header of a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SegmentHeader {
    pub(crate) store: u64,
    pub(crate) number: SegmentNumber,
    /// The segment's random id.
    pub(crate) segment: u64,
    pub(crate) previous: PreviousSegment,
}

/// The id and length of the previous segment; both zero in the first segment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct PreviousSegment {
    pub(crate) segment: u64,
    pub(crate) len: u64,
}

impl SegmentHeader {
    /// The length of the header in bytes. The first record follows.
    pub(crate) const LEN: usize = 56;
    const MAGIC: [u8; 8] = *b"STOREWAL";
    const VERSION: u32 = 3;

    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::LEN);
        bytes.extend_from_slice(&Self::MAGIC);
        bytes.extend_from_slice(&Self::VERSION.to_be_bytes());
        bytes.extend_from_slice(&self.store.to_be_bytes());
        bytes.extend_from_slice(&self.number.0.to_be_bytes());
        bytes.extend_from_slice(&self.segment.to_be_bytes());
        bytes.extend_from_slice(&self.previous.segment.to_be_bytes());
        bytes.extend_from_slice(&self.previous.len.to_be_bytes());
        let checksum = crc32c(&bytes);
        bytes.extend_from_slice(&checksum.to_be_bytes());
        bytes
    }

    /// Parses a segment's header. The error says why the header is invalid.
    pub(crate) fn read(bytes: &[u8; Self::LEN]) -> Result<Self, &'static str> {
        let rest = bytes.strip_prefix(&Self::MAGIC).ok_or("not a log segment")?;
        let (version, rest) = rest.split_first_chunk().expect("the header has all of its fields");
        let (store, rest) = split_u64(rest);
        let (number, rest) = split_u64(rest);
        let (segment, rest) = split_u64(rest);
        let (previous, rest) = split_u64(rest);
        let (previous_len, rest) = split_u64(rest);
        let (covered, _) = bytes.split_last_chunk::<4>().expect("the header ends in 4 bytes");
        if rest != crc32c(covered).to_be_bytes() {
            return Err("the header's checksum does not match");
        }
        if u32::from_be_bytes(*version) != Self::VERSION {
            return Err("this build does not support the log's version");
        }
        let previous = PreviousSegment { segment: previous, len: previous_len };
        Ok(Self { store, number: SegmentNumber(number), segment, previous })
    }
}

/// The offset of the first record: the length of the header as a `u64`.
pub(super) const FIRST_RECORD_AT: u64 = 56;
const _: () = assert!(SegmentHeader::LEN == 56, "both constants are the header length");

/// Splits a u64 off the start of `bytes`, which must have at least 8 bytes.
fn split_u64(bytes: &[u8]) -> (u64, &[u8]) {
    let (number, rest) = bytes.split_first_chunk::<8>().expect("the header has all of its fields");
    (u64::from_be_bytes(*number), rest)
}

/// Appends records to a segment.
#[derive(Debug)]
pub(crate) struct SegmentWriter {
    file: Box<dyn AppendFile>,
    path: PathBuf,
    header: SegmentHeader,
    /// Bytes passed to the operating system, including the header.
    written: u64,
    /// The length at the last sync; these bytes are on disk.
    durable: u64,
}

impl SegmentWriter {
    /// Creates a segment, and syncs its header and its directory entry to disk.
    pub(crate) fn create(
        vfs: &dyn Vfs,
        directory: &Path,
        store: u64,
        number: SegmentNumber,
        previous: PreviousSegment,
    ) -> Result<Self> {
        let path = number.path(directory);
        let header = SegmentHeader { store, number, segment: random_number()?, previous };
        let file = vfs.create(&path).map_err(Error::io(&path, "create"))?;
        let written = FIRST_RECORD_AT;
        let mut segment = Self { file, path, header, written, durable: written };
        match segment.write_header(vfs, directory) {
            Ok(()) => Ok(segment),
            // The next attempt creates the segment again. After other errors the store takes no writes.
            Err(error) if error.is_shortage() => Err(remove(vfs, &segment.path, error)),
            Err(error) => Err(error),
        }
    }

    fn write_header(&mut self, vfs: &dyn Vfs, directory: &Path) -> Result<()> {
        let Self { file, path, header, .. } = self;
        file.write_all(&header.to_bytes()).map_err(Error::io(path, "write"))?;
        file.sync().map_err(Error::io(path, "sync"))?;
        vfs.sync_directory(directory).map_err(Error::io(directory, "sync"))
    }

    pub(crate) const fn header(&self) -> &SegmentHeader {
        &self.header
    }

    /// Returns the id and length of this segment, for the header of the next segment.
    ///
    /// The segment must be synced.
    pub(crate) const fn as_previous(&self) -> PreviousSegment {
        PreviousSegment { segment: self.header.segment, len: self.written }
    }

    pub(crate) const fn written(&self) -> u64 {
        self.written
    }

    /// Returns the length at the last sync; these bytes are on disk.
    ///
    /// Each record stores this length. To recovery, an invalid record that begins below it is
    /// damage, not an incomplete write.
    pub(crate) const fn durable(&self) -> u64 {
        self.durable
    }

    /// Passes complete records to the operating system, without a sync.
    ///
    /// If space, quota or descriptors run out, the segment on disk is as before. After any other error,
    /// its contents are unknown.
    pub(crate) fn write(&mut self, records: &[u8]) -> Result<()> {
        if let Err(error) = self.file.write_all(records) {
            let error = Error::io(&self.path, "write")(error);
            if error.is_shortage() {
                let cut = self.file.truncate(self.written);
                cut.map_err(Error::io(&self.path, "cut off an incomplete write"))?;
                self.durable = self.written; // `truncate` syncs.
            }
            return Err(error);
        }
        let len = u64::try_from(records.len()).expect("a length in memory");
        self.written = self.written.checked_add(len).expect("less than 2^64 bytes in a segment");
        Ok(())
    }

    /// Syncs the written records to disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        if self.durable != self.written {
            self.file.sync().map_err(Error::io(&self.path, "sync"))?;
            self.durable = self.written;
        }
        Ok(())
    }
}

/// Removes an incomplete segment and returns `cause`, or why it cannot be removed.
fn remove(vfs: &dyn Vfs, path: &Path, cause: Error) -> Error {
    match vfs.unlink(path).map_err(io::Error::other) {
        Ok(()) => cause,
        Err(error) => Error::io(path, "remove an incomplete segment")(error),
    }
}
