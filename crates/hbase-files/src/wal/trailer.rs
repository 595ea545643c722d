//! The trailer of a write-ahead log, which the server writes when it closes the file.
//!
//! | bytes | field        | meaning                                |
//! |------:|--------------|----------------------------------------|
//! |       | `WALTrailer` | a message without fields               |
//! |     4 | length       | i32 BE, of the message; HBase writes 0 |
//! |     4 | magic        | `LAWP`                                 |

use std::io;

use sstable::ReadAt;

use super::limits::TRAILER_LEN_MAX;

/// The trailer that HBase writes: an empty message.
const EMPTY: &[u8] = b"\0\0\0\0LAWP";

/// The size of the length and the magic, in bytes.
pub(super) const FIXED_LEN: u64 = 8;

/// Returns the offset of the trailer; `None` for a file without one.
///
/// `entries` is the offset of the first entry; the trailer cannot begin before it.
pub(super) fn find(source: &dyn ReadAt, entries: u64) -> io::Result<Option<u64>> {
    let Some(at) = source.len().checked_sub(FIXED_LEN) else { return Ok(None) };
    let mut bytes = [0; 8];
    source.read_exact_at(&mut bytes, at)?;
    let [a, b, c, d, magic @ ..] = bytes;
    let len = u64::from(u32::from_be_bytes([a, b, c, d]));
    if &magic != b"LAWP" || len > TRAILER_LEN_MAX {
        return Ok(None);
    }
    Ok(at.checked_sub(len).filter(|start| *start >= entries))
}

/// Returns whether the last bytes of a file, `rest`, are the beginning of a trailer.
pub(super) fn is_begun_by(rest: &[u8]) -> bool {
    EMPTY.starts_with(rest)
}
