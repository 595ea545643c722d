//! The family map: lines, a stash, and one writer.

use std::fmt;
use std::sync::Arc;

use filter::engine::KeyHash;
use sstable::BlockCache;
use sstable::tools::Reservation;

use super::fingerprint::{Fingerprint, LINES_MAX, line_index};
use super::form::MapForm;
use super::line::ENTRIES;
use super::lines::Lines;
use super::slots::{SLOT_COUNT, Slots};
use super::stash::Stash;
use crate::sync::{Mutex, lock};

/// Rows of the map for each hash that the stash has room for.
///
/// At the highest load, about one row in 2,000 is in the stash.
const ROWS_PER_STASHED: u64 = 256;
/// The number of hashes that the smallest stash has room for.
const STASH_MIN: u64 = 32;
/// Bytes of a line.
const LINE_LEN: u64 = 64;

/// A map from the hash of a row to the slots of the files that may have it.
pub(crate) struct FamilyMap {
    pub(super) lines: Lines,
    pub(super) stash: Stash,
    /// Locked to insert entries. Readers do not lock it.
    pub(super) writer: Mutex<MapWriter>,
    pub(super) size: MapSize,
    /// Reserves the memory of the map in the budget of the block cache.
    pub(super) _reservation: Reservation,
}

/// The size of a map.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct MapSize {
    pub(super) lines: u64,
    /// The number of hashes that the stash has room for.
    pub(super) stashed: u64,
    pub(super) form: MapForm,
}

/// What inserts change beside the entries, under the lock of the map.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MapWriter {
    /// The next slot number to give out; 64 if none is left.
    pub(super) next_slot: u32,
    /// The number of inserted rows, also of those in the stash and of those that share an entry. A sweep
    /// counts shared entries once.
    pub(super) entries: u64,
    /// The number of hashes in the stash.
    pub(super) stashed: u64,
    /// Whether the stash was too full for a row. The map then takes no further rows.
    pub(super) is_stash_full: bool,
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
    /// The map has no free slot or entry, or the stash is full.
    Full,
    /// The entries are wrong: a row was lost.
    Unsound,
}

impl MapSize {
    /// Returns the size of a map whose lines are 80 % full with this number of rows.
    pub(super) const fn of_rows(rows: u64, form: MapForm) -> Self {
        let lines = rows.saturating_mul(5).div_ceil(ENTRIES * 4);
        let stashed = rows / ROWS_PER_STASHED;
        Self {
            lines: if lines == 0 { 1 } else { lines },
            stashed: if stashed < STASH_MIN { STASH_MIN } else { stashed },
            form,
        }
    }

    pub(super) const fn bytes(self) -> u64 {
        let line_len = match self.form {
            MapForm::Narrow => LINE_LEN,
            MapForm::Wide => 2 * LINE_LEN,
        };
        self.lines.saturating_mul(line_len).saturating_add(Stash::bytes(self.stashed))
    }

    /// Returns the number of entries at which a map counts as full: 93 %.
    pub(super) const fn entries_max(self) -> u64 {
        self.lines * ENTRIES * 93 / 100
    }
}

impl FamilyMap {
    /// Returns an empty map for a number of rows, or `None` if the budget or the memory has no room for its
    /// lines.
    pub(crate) fn new(rows: u64, form: MapForm, cache: &Arc<BlockCache>) -> Option<Arc<Self>> {
        let size = MapSize::of_rows(rows, form);
        let reservation = cache.reserve(size.bytes())?;
        Some(Arc::new(Self {
            lines: Lines::new(size.lines, form)?,
            stash: Stash::new(size.stashed),
            writer: Mutex::default(),
            size,
            _reservation: reservation,
        }))
    }

    /// Returns whether the cache would have room for a map once `present` is dropped.
    pub(crate) fn would_fit(
        rows: u64,
        form: MapForm,
        present: Option<&Arc<Self>>,
        cache: &BlockCache,
    ) -> bool {
        let stats = cache.stats();
        let freed = present.map_or(0, |map| map.bytes());
        let others = stats.reserved_bytes.saturating_sub(freed);
        others.saturating_add(MapSize::of_rows(rows, form).bytes()) <= stats.capacity_bytes / 2
    }

    /// Prefetches the first line of a row.
    pub(super) fn prefetch(&self, hash: KeyHash) {
        self.lines.prefetch(line_index(hash, 0, self.lines.len()));
    }

    /// Returns the slots under which a row with this hash may have been inserted.
    ///
    /// No such slot is missing, but false positives are possible.
    pub(super) fn slots(&self, hash: KeyHash) -> Slots {
        let fingerprint = Fingerprint::of(hash);
        let first = line_index(hash, 0, self.lines.len());
        let slots = self.lines.slots(first, fingerprint);
        if !self.lines.overflows(first, fingerprint) {
            return slots;
        }
        slots.union(self.slots_beyond_first_line(hash, fingerprint))
    }

    #[inline(never)]
    fn slots_beyond_first_line(&self, hash: KeyHash, fingerprint: Fingerprint) -> Slots {
        let mut slots = Slots::NONE;
        for step in 1..LINES_MAX {
            let at = line_index(hash, step, self.lines.len());
            slots = slots.union(self.lines.slots(at, fingerprint));
            if !self.lines.overflows(at, fingerprint) {
                return slots;
            }
        }
        slots.union(self.stash.slots(hash))
    }

    pub(crate) const fn form(&self) -> MapForm {
        self.size.form
    }

    /// Returns the free slots and entries.
    pub(crate) fn room(&self) -> Room {
        let writer = lock(&self.writer);
        let entries = if writer.is_stash_full {
            0
        } else {
            self.size.entries_max().saturating_sub(writer.entries)
        };
        Room { slots: SLOT_COUNT - writer.next_slot, entries }
    }

    /// Returns the number of inserted rows, even if rows share an entry.
    pub(crate) fn entries(&self) -> u64 {
        lock(&self.writer).entries
    }

    /// Returns whether the budget has room for a copy of the map in addition to the map.
    pub(crate) fn has_room_for_copy(&self, cache: &BlockCache) -> bool {
        let stats = cache.stats();
        stats.reserved_bytes.saturating_add(self.bytes()) <= stats.capacity_bytes / 2
    }

    /// Returns the memory of the map in bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        self.size.bytes()
    }

    /// Gives out the next slot number, for the rows of one file.
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
/// If it is dropped before [`finish`](Self::finish), no file gets its slot, and answers ignore the
/// entries that were inserted.
#[derive(Debug)]
pub(crate) struct SlotWriter {
    map: Arc<FamilyMap>,
    slot: u32,
    rows: u64,
    /// Some of the inserted hashes; `finish` checks that lookups find them.
    sample: Vec<KeyHash>,
}

/// The map that has all rows of a file, and the slots under which they were inserted.
#[derive(Clone, Debug)]
pub(crate) struct Inserted {
    pub(crate) map: Arc<FamilyMap>,
    pub(crate) slots: Slots,
}

impl Inserted {
    /// Returns whether no other file was inserted into the map before: it was made for this file.
    pub(crate) const fn is_first_of_map(&self) -> bool {
        self.slots.contains(0)
    }
}

impl SlotWriter {
    /// One row in this many is looked up by `finish`.
    const ROWS_PER_SAMPLE: u64 = 61;
    /// The line of a row is prefetched this many rows before the row is inserted.
    const PREFETCH: usize = 12;

    /// Inserts rows, by their hashes. After an error, the writer must be dropped: some rows are missing.
    pub(crate) fn insert(&mut self, rows: &[KeyHash]) -> Result<(), NotTaken> {
        let map = &*self.map;
        let mut writer = lock(&map.writer);
        for (index, &hash) in rows.iter().enumerate() {
            if let Some(ahead) = rows.get(index + Self::PREFETCH) {
                map.prefetch(*ahead);
            }
            if writer.entries >= map.size.entries_max() || writer.is_stash_full {
                return Err(NotTaken::Full);
            }
            writer.entries += 1;
            let fingerprint = Fingerprint::of(hash);
            let insert_into = |step| {
                let at = line_index(hash, step, map.lines.len());
                map.lines.insert(at, fingerprint, self.slot)
            };
            if !(0..LINES_MAX).any(insert_into)
                && !map.stash.insert(hash, Slots::of(self.slot), &mut writer.stashed)
            {
                writer.is_stash_full = true;
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
    /// `rows` is the number of rows that the caller read. Checks this number, and looks up a sample
    /// of the rows: no get would find a row that a bug of the map had lost.
    pub(crate) fn finish(self, rows: u64) -> Result<Inserted, NotTaken> {
        let is_found = |hash: &KeyHash| self.map.slots(*hash).contains(self.slot);
        if self.rows != rows || !self.sample.iter().all(is_found) {
            return Err(NotTaken::Unsound);
        }
        Ok(Inserted { slots: Slots::of(self.slot), map: self.map })
    }
}
