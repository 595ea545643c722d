//! The kind of a file, recognized by its first and last bytes.
//!
//! | file                        | bytes                                                                 |
//! |-----------------------------|-----------------------------------------------------------------------|
//! | HFile                       | magic of a block at the start, or of a trailer where a trailer begins |
//! | write-ahead log             | `PWAL` at the start                                                   |
//! | log or manifest of a store  | `STOREWAL` or `STOREMAN` at the start                                  |
//! | description of a region, …  | `PBUF` at the start, then a protobuf message                          |

use std::io;

use sstable::{BlockType, ReadAt, Trailer};

/// The kind of a file, as far as its bytes show it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Contents {
    /// An HFile, which may be damaged.
    HFile,
    /// A write-ahead log of HBase.
    WriteAheadLog,
    /// The log or the manifest of a store of this project.
    StoreFiles,
    /// A protobuf message of HBase, such as the description of a region.
    Message,
    /// Anything else.
    Unknown,
}

const WAL_MAGIC: &[u8] = b"PWAL";
const STORE_MAGICS: [&[u8; 8]; 2] = [b"STOREWAL", b"STOREMAN"];
const MESSAGE_MAGIC: &[u8] = b"PBUF";
/// Bytes of the trailer of an HFile of version 2.
const TRAILER_V2_LEN: u64 = 212;

impl Contents {
    /// Reads the first 8 bytes of a file, and those at the two offsets where a trailer can begin.
    pub(crate) fn of(source: &dyn ReadAt) -> io::Result<Self> {
        let len = source.len();
        let mut first = [0; 8];
        if len < 8 {
            return Ok(Self::Unknown);
        }
        source.read_exact_at(&mut first, 0)?;
        if first.starts_with(WAL_MAGIC) {
            return Ok(Self::WriteAheadLog);
        }
        if STORE_MAGICS.contains(&&first) {
            return Ok(Self::StoreFiles);
        }
        if first.starts_with(MESSAGE_MAGIC) {
            return Ok(Self::Message);
        }
        if BlockType::from_magic(first).is_some() {
            return Ok(Self::HFile);
        }
        for trailer_len in [Trailer::LEN, TRAILER_V2_LEN] {
            if let Some(at) = len.checked_sub(trailer_len) {
                let mut magic = [0; 8];
                source.read_exact_at(&mut magic, at)?;
                if magic == BlockType::Trailer.magic() {
                    return Ok(Self::HFile);
                }
            }
        }
        Ok(Self::Unknown)
    }
}
