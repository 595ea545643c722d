//! Looks for a sound entry after one that the end of the file cuts off.
//!
//! A server writes its log from front to back, so nothing follows an entry that it did not finish. If
//! entries follow, the file is not torn: a length in the entry is damaged.
//!
//! In a log without dictionaries, the key of an entry begins with the region and the table: the bytes
//! `0a 20`, 32 hex digits, and `12`; for `hbase:meta`, `0a 0a`, `1588230740`, and `12`. In a log with
//! dictionaries, most keys have numbers in place of both, so they cannot be searched for.
//!
//! A value can contain the bytes of an entry too, if a client stores logs. Then a torn log is called
//! damaged.

use std::sync::Arc;

use sstable::ReadAt;

use super::entry::Key;
use super::error::Stop;
use super::input::Input;
use super::limits::KEY_LEN_MAX;
use super::plain;

/// The number of bytes that are searched at a time.
const CHUNK_LEN: u64 = 256 << 10;
/// The maximum number of parsed candidates: bytes that look like the start of a key.
const CANDIDATES_MAX: usize = 64;
/// The number of bytes of a key up to its table.
const START_LEN: usize = 35;
/// The maximum number of bytes of the length before a key that is looked for.
const VARINT_LEN_MAX: u64 = 3;

/// Returns the offset of a sound entry after the one at `offset`; `None` if none is found.
pub(super) fn find_entry(source: &Arc<dyn ReadAt>, offset: u64) -> Result<Option<u64>, Stop> {
    let (end, mut at, mut candidates) = (source.len(), offset.saturating_add(1), 0_usize);
    let overlap = u64::try_from(START_LEN).unwrap_or(u64::MAX).saturating_sub(1);
    while at < end {
        let len = end.saturating_sub(at).min(CHUNK_LEN.saturating_add(overlap));
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        source.read_exact_at(&mut bytes, at).map_err(|error| Stop::Io(at, error))?;
        for (index, window) in bytes.windows(START_LEN).enumerate() {
            if !begins_key(window) {
                continue;
            }
            let key = at.saturating_add(u64::try_from(index).unwrap_or(u64::MAX));
            for start in (1..=VARINT_LEN_MAX).map(|len| key.saturating_sub(len)) {
                if start > offset && is_entry(source, start, key)? {
                    return Ok(Some(start));
                }
            }
            candidates = candidates.saturating_add(1);
            if candidates == CANDIDATES_MAX {
                return Ok(None);
            }
        }
        at = at.saturating_add(CHUNK_LEN);
    }
    Ok(None)
}

fn begins_key(bytes: &[u8]) -> bool {
    let is_hex = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    match bytes {
        [0x0a, 0x20, digits @ .., 0x12] => digits.iter().all(is_hex),
        bytes => bytes.starts_with(b"\x0a\x0a1588230740\x12"),
    }
}

/// Returns whether an entry of a log without dictionaries begins at `start`, and its key at `key`.
fn is_entry(source: &Arc<dyn ReadAt>, start: u64, key: u64) -> Result<bool, Stop> {
    let mut input = Input::at(Arc::clone(source), start);
    let mut read = || {
        let len = input.varint_len()?;
        if input.offset() != key {
            return Ok(false);
        }
        let key = Key::parse(input.take_part("the key of an entry", len, KEY_LEN_MAX)?)?;
        for _ in 0..key.cells {
            plain::read_cell(&mut input, sstable::SequenceId::new(key.sequence))?;
        }
        Ok(key.cells > 0)
    };
    match read() {
        Err(Stop::Ends | Stop::Wrong(_) | Stop::Unsupported(_)) => Ok(false),
        read => read,
    }
}
