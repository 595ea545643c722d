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
//! A value can contain the bytes of entries too, if a client stores logs. Those of a copy of the log
//! itself are told by their sequence ids: in a log, those of a region rise.

use std::collections::HashMap;
use std::sync::Arc;

use sstable::ReadAt;

use super::decode::Codec;
use super::error::Stop;
use super::input::Input;
use crate::{RegionName, TableName};

/// The number of entries that must follow each other to read on after damage.
pub(super) const ENTRIES_TO_READ_ON: usize = 3;

/// The number of bytes that are searched at a time.
const CHUNK_LEN: u64 = 256 << 10;
/// The number of bytes of a key up to its table.
const START_LEN: usize = 35;
/// The maximum number of bytes of the length before a key: that of the longest key, of 16 MiB.
const VARINT_LEN_MAX: u64 = 4;
/// The number of bytes that are read at a time to parse a candidate: bytes that look like a key.
const CANDIDATE_CHUNK_LEN: usize = 4 << 10;

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
        let left = end.saturating_mul(8).saturating_add(64 << 20);
        Self { source: Arc::clone(source), end, left }
    }

    /// Returns the offset of the first of `count` entries that follow each other, after the one at
    /// `offset`; `None` if there are none.
    ///
    /// Fewer entries are enough if the file ends after them. `last` has the greatest sequence ids by
    /// region so far.
    pub(super) fn find_entries(
        &mut self,
        offset: u64,
        count: usize,
        last: &HashMap<String, u64>,
    ) -> Result<Option<u64>, Stop> {
        let mut at = offset.saturating_add(1);
        let overlap = u64::try_from(START_LEN).unwrap_or(u64::MAX).saturating_sub(1);
        while at < self.end {
            let len = self.end.saturating_sub(at).min(CHUNK_LEN.saturating_add(overlap));
            let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
            self.source.read_exact_at(&mut bytes, at).map_err(|error| Stop::Io(at, error))?;
            for (index, window) in bytes.windows(START_LEN).enumerate() {
                if !begins_key(window) {
                    continue;
                }
                let key = at.saturating_add(u64::try_from(index).unwrap_or(u64::MAX));
                for start in (1..=VARINT_LEN_MAX).map(|len| key.saturating_sub(len)) {
                    if start <= offset {
                        continue;
                    }
                    if self.are_entries(start, key, count, last)? {
                        return Ok(Some(start));
                    }
                    if self.left == 0 {
                        return Ok(None);
                    }
                }
            }
            at = at.saturating_add(CHUNK_LEN);
        }
        Ok(None)
    }

    /// Returns whether entries begin at `start`, and the key of the first at `key`.
    fn are_entries(
        &mut self,
        start: u64,
        key: u64,
        count: usize,
        last: &HashMap<String, u64>,
    ) -> Result<bool, Stop> {
        let part = start..self.end;
        let mut input = Input::of_part(Arc::clone(&self.source), part.clone(), CANDIDATE_CHUNK_LEN);
        let is_key = matches!(input.varint_len(), Ok(1..)) && input.offset() == key;
        if !is_key {
            return Ok(false);
        }
        input.seek(start);
        let found = read_entries(&mut input, count, last);
        let parsed = input.offset().saturating_sub(start);
        let read = parsed.max(u64::try_from(CANDIDATE_CHUNK_LEN).unwrap_or(u64::MAX));
        self.left = self.left.saturating_sub(read);
        match found {
            Err(Stop::Ends | Stop::Wrong(_) | Stop::Unsupported(_)) => Ok(false),
            found => found,
        }
    }
}

fn begins_key(bytes: &[u8]) -> bool {
    let is_hex = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    match bytes {
        [0x0a, 0x20, digits @ .., 0x12] => digits.iter().all(is_hex),
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
