//! Looks for sound entries after an entry that cannot be read.
//!
//! A server writes its log from front to back, so nothing follows an entry that it did not finish. If
//! an entry follows, the file is not torn: a length in the entry is damaged. To read on after damage,
//! three entries must follow each other, or all up to a sound end of the file.
//!
//! In a log without dictionaries, the key of an entry begins with the region and the table: the bytes
//! `0a 20`, 32 hex digits, and `12`; for `hbase:meta`, `0a 0a`, `1588230740`, and `12`. In a log with
//! dictionaries, most keys have numbers in place of both, so they cannot be searched for.
//!
//! A value can contain the bytes of entries too, if a client stores logs. Entries in a copy of the log itself are
//! recognized by their sequence ids: in a log, the ids of a region rise, except after `restore_snapshot`, which
//! sets them back. So the id of an entry must exceed the last id of its region before the damage. Limits: entries
//! of another log in a value count as sound; entries of a region that the damaged part restored are passed over.

use std::collections::HashMap;
use std::sync::Arc;

use sstable::ReadAt;

use super::entry_decoder::Codec;
use super::error::Stop;
use super::input::Input;
use crate::names::{RegionName, TableName};

/// The number of entries that must follow each other to read on after damage.
pub(super) const ENTRIES_TO_READ_ON: usize = 3;

/// The number of bytes that are searched at a time.
const CHUNK_LEN: u64 = 256 << 10;
/// The number of bytes of a key up to its table.
const START_LEN: usize = 35;
/// The maximum number of bytes of the length before a key; the longest key has 16 MiB.
const VARINT_LEN_MAX: usize = 4;
/// The number of bytes that are read at a time to parse a candidate: bytes that look like a key.
const CANDIDATE_CHUNK_LEN: usize = 4 << 10;
/// The bytes of candidates that may be parsed for each byte of the file.
///
/// A candidate counts as at least [`CANDIDATE_CHUNK_LEN`]. So a value may hold a log whose entries have
/// 512 bytes on average.
const PARSED_PER_BYTE: u64 = 8;
/// The bytes of candidates that may be parsed in addition: the bytes of 16,384 short entries in a small file.
const PARSED_MORE: u64 = 64 << 20;

/// What a search has found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Found {
    /// Sound entries, from this offset on.
    Entries(u64),
    /// No sound entries up to the end.
    Nothing,
    /// Nothing yet, and no more candidates may be parsed.
    GivenUp,
}

/// A search for entries in a log without dictionaries. Its time is linear in the length of the file,
/// whatever the bytes are.
pub(super) struct Search {
    source: Arc<dyn ReadAt>,
    end: u64,
    /// The bytes of candidates that may still be parsed, in all searches of the file.
    left: u64,
}

impl Search {
    /// Begins to search the bytes before `end`.
    pub(super) fn new(source: &Arc<dyn ReadAt>, end: u64) -> Self {
        let left = end.saturating_mul(PARSED_PER_BYTE).saturating_add(PARSED_MORE);
        Self { source: Arc::clone(source), end, left }
    }

    /// Finds the first of `count` entries that follow each other, after the one at `offset`.
    ///
    /// Fewer entries are enough if the file ends after them. `last` has the last sequence ids by region
    /// before `offset`.
    pub(super) fn find_entries(
        &mut self,
        offset: u64,
        count: usize,
        last: &HashMap<String, u64>,
    ) -> Result<Found, Stop> {
        const WINDOW_LEN: usize = VARINT_LEN_MAX + START_LEN;
        // The first key that a length after `offset` can precede is at `offset` + 2.
        let mut at = offset.saturating_add(2).saturating_sub(plus(0, VARINT_LEN_MAX));
        while at < self.end {
            let len = self.end.saturating_sub(at).min(plus(CHUNK_LEN, WINDOW_LEN - 1));
            let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
            self.source.read_exact_at(&mut bytes, at).map_err(|error| Stop::Io(at, error))?;
            for (index, window) in bytes.windows(WINDOW_LEN).enumerate() {
                let Some((before, key)) = window.split_at_checked(VARINT_LEN_MAX) else { continue };
                if !begins_key(key) {
                    continue;
                }
                // The lengths, from the shortest on, are suffixes of the bytes before the key.
                for skipped in (0..VARINT_LEN_MAX).rev() {
                    let start = plus(plus(at, index), skipped);
                    if start <= offset || !before.get(skipped..).is_some_and(is_len) {
                        continue;
                    }
                    if self.left == 0 {
                        return Ok(Found::GivenUp);
                    }
                    if self.are_entries(start, count, last)? {
                        return Ok(Found::Entries(start));
                    }
                }
            }
            at = at.saturating_add(CHUNK_LEN);
        }
        Ok(Found::Nothing)
    }

    /// Returns whether entries begin at `start`.
    fn are_entries(
        &mut self,
        start: u64,
        count: usize,
        last: &HashMap<String, u64>,
    ) -> Result<bool, Stop> {
        let part = start..self.end;
        let mut input = Input::of_part(Arc::clone(&self.source), part, CANDIDATE_CHUNK_LEN);
        let found = read_entries(&mut input, count, last);
        let parsed = input.offset().saturating_sub(start);
        self.left = self.left.saturating_sub(parsed.max(plus(0, CANDIDATE_CHUNK_LEN)));
        match found {
            Err(Stop::Ends | Stop::Wrong(_) | Stop::Unsupported(_)) => Ok(false),
            found => found,
        }
    }
}

fn plus(offset: u64, len: usize) -> u64 {
    offset.saturating_add(u64::try_from(len).unwrap_or(u64::MAX))
}

/// Returns whether bytes are one variable-length integer of protobuf, and not zero.
fn is_len(bytes: &[u8]) -> bool {
    let Some((last, others)) = bytes.split_last() else { return false };
    let has_end = last & 0x80 == 0 && others.iter().all(|byte| byte & 0x80 != 0);
    has_end && bytes.iter().any(|byte| byte & 0x7f != 0)
}

fn begins_key(bytes: &[u8]) -> bool {
    match bytes {
        [0x0a, 0x20, digits @ .., 0x12] => {
            digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        }
        bytes => bytes.starts_with(b"\x0a\x0a1588230740\x12"),
    }
}

/// Returns whether the next `count` entries, or all up to the end, are such as HBase writes.
fn read_entries(
    input: &mut Input,
    count: usize,
    last: &HashMap<String, u64>,
) -> Result<bool, Stop> {
    let mut of_these: HashMap<String, u64> = HashMap::new();
    for _ in 0..count {
        let Some(entry) = Codec::Plain.read_entry(input)? else { return Ok(false) };
        let before = of_these.get(&entry.region).or_else(|| last.get(&entry.region));
        let rises = before.is_none_or(|before| entry.sequence > *before);
        let has_names =
            entry.region.parse::<RegionName>().is_ok() && entry.table.parse::<TableName>().is_ok();
        if !rises || !has_names || entry.cells.is_empty() {
            return Ok(false);
        }
        of_these.insert(entry.region, entry.sequence);
        if input.left() == 0 {
            break;
        }
    }
    Ok(true)
}
