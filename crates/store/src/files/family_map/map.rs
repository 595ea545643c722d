//! The family map: lines, a stash, and one writer.

use std::fmt;
use std::sync::Arc;

use filter::{KeyHash, prefetch_line};
use sstable::{BlockCache, Reservation};

use super::line::{ENTRIES, Line};
use super::places::{Fingerprint, LINES_MAX, line_index};
use super::slots::{SLOT_COUNT, Slots};
use super::stash::Stash;
use crate::sync::{Mutex, lock};

/// Rows for each hash of the stash. At the highest load it needs one for about 2,000 rows.
const ROWS_PER_STASHED: u64 = 256;
/// Hashes of the smallest stash.
const STASH_MIN: u64 = 32;
/// Bytes of a line.
const LINE_LEN: u64 = 64;

/// A map from the hash of a row to the slots of the files that may have it.
pub(crate) struct FamilyMap {
    pub(super) lines: Box<[Line]>,
    pub(super) stash: Stash,
    /// Inserts entries. Readers do not lock it.
    pub(super) writer: Mutex<MapWriter>,
    pub(super) size: MapSize,
    /// The memory of the map in the budget of the block cache.
    _reservation: Reservation,
}

/// The size of a map.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct MapSize {
    pub(super) lines: u64,
    /// Hashes of the stash.
    pub(super) stashed: u64,
}

/// What the writer of a map knows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MapWriter {
    /// The first slot number that was not given out; 64 if all were.
    pub(super) next_slot: u32,
    /// Inserted entries; equal ones are counted twice.
    pub(super) entries: u64,
    /// Hashes in the stash.
    pub(super) stashed: u64,
}

/// The room that a map has for further files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Room {
    pub(crate) slots: u32,
    pub(crate) entries: u64,
}

/// Why a map cannot take the rows of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NotTaken {
    /// The map has no room, or too many rows have the same hash.
    Full,
    /// An inserted row was not found again.
    Unsound,
}

impl MapSize {
    /// Returns the size for a number of rows, at which the lines are 80 % full.
    pub(super) const fn of_rows(rows: u64) -> Self {
        let lines = rows.saturating_mul(5).div_ceil(ENTRIES * 4);
        let stashed = rows / ROWS_PER_STASHED;
        Self {
            lines: if lines == 0 { 1 } else { lines },
            stashed: if stashed < STASH_MIN { STASH_MIN } else { stashed },
        }
    }

    pub(super) const fn bytes(self) -> u64 {
        (self.lines.saturating_mul(LINE_LEN)).saturating_add(Stash::bytes(self.stashed))
    }

    /// Returns the number of entries at which a map counts as full: 93 %.
    pub(super) const fn entries_max(self) -> u64 {
        self.lines * ENTRIES * 93 / 100
    }
}

impl FamilyMap {
    /// Returns an empty map for a number of rows, or `None` if the cache has no room for it.
    pub(crate) fn new(rows: u64, cache: &Arc<BlockCache>) -> Option<Arc<Self>> {
        let size = MapSize::of_rows(rows);
        let reservation = cache.reserve(size.bytes())?;
        let mut lines = Vec::new();
        lines.try_reserve_exact(usize::try_from(size.lines).ok()?).ok()?;
        lines.extend((0..size.lines).map(|_| Line::new()));
        let (stash, writer) = (Stash::new(size.stashed), MapWriter::default());
        Some(Arc::new(Self::from_parts(size, lines, stash, writer, reservation)))
    }

    pub(super) fn from_parts(
        size: MapSize,
        lines: Vec<Line>,
        stash: Stash,
        writer: MapWriter,
        reservation: Reservation,
    ) -> Self {
        let (lines, writer) = (lines.into(), Mutex::new(writer));
        Self { lines, stash, writer, size, _reservation: reservation }
    }

    /// Prefetches the first line of a row.
    #[inline]
    pub(super) fn prefetch(&self, hash: KeyHash) {
        prefetch_line(&self.lines[line_index(hash, 0, self.lines.len())]);
    }

    /// Returns the slots that may have a row, among them every slot that a row of this hash was
    /// inserted with.
    #[inline]
    pub(super) fn slots(&self, hash: KeyHash) -> Slots {
        let fingerprint = Fingerprint::of(hash);
        let first = &self.lines[line_index(hash, 0, self.lines.len())];
        let slots = first.slots(fingerprint);
        if !first.overflows(fingerprint) {
            return slots;
        }
        slots.with(self.slots_beyond_first_line(hash, fingerprint))
    }

    #[inline(never)]
    fn slots_beyond_first_line(&self, hash: KeyHash, fingerprint: Fingerprint) -> Slots {
        let mut slots = Slots::NONE;
        for step in 1..LINES_MAX {
            let line = &self.lines[line_index(hash, step, self.lines.len())];
            slots = slots.with(line.slots(fingerprint));
            if !line.overflows(fingerprint) {
                return slots;
            }
        }
        slots.with(self.stash.slots(hash))
    }

    /// Returns the room that is left.
    pub(crate) fn room(&self) -> Room {
        let writer = lock(&self.writer);
        let entries = self.size.entries_max().saturating_sub(writer.entries);
        Room { slots: SLOT_COUNT - writer.next_slot, entries }
    }

    /// Returns the memory of the map in bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        self.size.bytes()
    }

    /// Takes a slot number for the rows of one file.
    pub(crate) fn begin_slot(self: &Arc<Self>) -> Result<SlotWriter, NotTaken> {
        let mut writer = lock(&self.writer);
        if writer.next_slot == SLOT_COUNT {
            return Err(NotTaken::Full);
        }
        let slot = writer.next_slot;
        writer.next_slot += 1;
        drop(writer);
        Ok(SlotWriter { map: Arc::clone(self), slot, rows: 0, sample: Vec::new() })
    }
}

impl fmt::Debug for FamilyMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FamilyMap").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Inserts the rows of one file into a map under a slot number of its own.
///
/// If it is dropped, its slot stands for no file, and its entries are never part of an answer.
#[derive(Debug)]
pub(crate) struct SlotWriter {
    map: Arc<FamilyMap>,
    slot: u32,
    rows: u64,
    /// Some of the inserted hashes, to check that they are found.
    sample: Vec<KeyHash>,
}

/// The proof that all rows of a file are in a map, and under which slots.
#[derive(Clone, Debug)]
pub(crate) struct Inserted {
    pub(crate) map: Arc<FamilyMap>,
    pub(crate) slots: Slots,
}

impl SlotWriter {
    /// One of this number of inserted rows is looked up at the end.
    const ROWS_PER_SAMPLE: u64 = 61;

    /// Inserts rows by their hashes.
    pub(crate) fn insert(&mut self, hashes: &[KeyHash]) -> Result<(), NotTaken> {
        let map = &*self.map;
        let mut writer = lock(&map.writer);
        for &hash in hashes {
            if writer.entries >= map.size.entries_max() {
                return Err(NotTaken::Full);
            }
            writer.entries += 1;
            let fingerprint = Fingerprint::of(hash);
            let place = |step| &map.lines[line_index(hash, step, map.lines.len())];
            if !(0..LINES_MAX).any(|step| place(step).insert(fingerprint, self.slot))
                && !map.stash.insert(hash, Slots::of(self.slot), &mut writer.stashed)
            {
                return Err(NotTaken::Full);
            }
            if self.rows.is_multiple_of(Self::ROWS_PER_SAMPLE) {
                self.sample.push(hash);
            }
            self.rows += 1;
        }
        Ok(())
    }

    /// Ends the insertion, once all rows of the file were inserted.
    ///
    /// `rows` is the number of rows that the caller read. The check is for errors of this code: a
    /// map that lost a row would hide the row from readers.
    pub(crate) fn finish(self, rows: u64) -> Result<Inserted, NotTaken> {
        let is_found = |hash: &KeyHash| self.map.slots(*hash).contains(self.slot);
        if self.rows != rows || !self.sample.iter().all(is_found) {
            return Err(NotTaken::Unsound);
        }
        Ok(Inserted { slots: Slots::of(self.slot), map: self.map })
    }
}
