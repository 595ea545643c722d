//! The d-left filter in memory.

use alloc::vec::Vec;

use crate::kernel::{self, CellTarget};
use crate::kind::allocate;
use crate::membership::CACHED_LEN;
use crate::{Absent, BuildError, FilterStats, Full, Insert, KeyHash, Membership, Remove, Sizing};

use super::cells::{Bucket, Cell, Cells};
use super::shape::{Permutations, Place, SUBTABLES, Shape};

/// How many cells a key may fill before it saturates.
const CELLS_MAX: u32 = 4;

/// How many keys of a batch are sent for at once: with four buckets each, they keep a core's line
/// buffers busy.
const BATCH: usize = 8;

/// Where a key may be, by subtable.
type Targets = [CellTarget; *SUBTABLES.end() as usize];

/// How far the counter of one cell goes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum CounterBits {
    /// Up to 3 copies a cell, and 12 a key. Right where keys hardly ever come twice.
    #[default]
    Two,
    /// Up to 15 copies a cell, and 60 a key.
    Four,
}

impl CounterBits {
    /// Returns the number of bits.
    pub const fn get(self) -> u32 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    const fn counter_max(self) -> u32 {
        (1 << self.get()) - 1
    }

    /// Returns how many copies of a key are counted. A key with as many stays in the filter for good.
    pub const fn copies_max(self) -> u32 {
        CELLS_MAX * self.counter_max()
    }
}

/// How a d-left filter is laid out.
///
/// ```
/// use filter::{CounterBits, DLeft, DLeftOptions, Sizing};
///
/// let options = DLeftOptions::default().subtables(3).counter_bits(CounterBits::Four);
/// let filter = DLeft::with_options(Sizing::BitsPerKey(24.0), 1_000, options)?;
/// assert_eq!(filter.subtable_loads().count(), 3);
/// # Ok::<(), filter::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct DLeftOptions {
    pub(super) subtables: u32,
    pub(super) counter_bits: CounterBits,
}

impl Default for DLeftOptions {
    fn default() -> Self {
        Self { subtables: 4, counter_bits: CounterBits::Two }
    }
}

impl DLeftOptions {
    /// Sets the number of subtables, and so of places that a key may be at, 2 to 8. More spread the
    /// keys more evenly and make every lookup longer. Default: 4.
    ///
    /// # Panics
    ///
    /// If it is less than 2 or more than 8.
    pub fn subtables(self, subtables: u32) -> Self {
        assert!(SUBTABLES.contains(&subtables), "a d-left filter has 2 to 8 subtables");
        Self { subtables, ..self }
    }

    /// Sets how many copies of a key can be told apart. Default: [`CounterBits::Two`].
    pub const fn counter_bits(self, counter_bits: CounterBits) -> Self {
        Self { counter_bits, ..self }
    }
}

/// A d-left filter in memory: keys can be added to it and taken out.
///
/// It is sized for a number of keys, at which seven of eight cells are in use. It takes some more, into
/// a stash at last, which may exceed a budget of bytes by a little, and is then [`Full`].
///
/// ```
/// use filter::{DLeft, ErrorRate, Insert, KeyHash, Membership, Remove, Seed, Sizing};
///
/// let seed = Seed::new(42);
/// let key = |name: &str| KeyHash::new(seed, name.as_bytes());
/// let mut accounts = DLeft::new(Sizing::ErrorRate(ErrorRate::new(0.002)?), 1_000)?;
/// accounts.insert(key("alice"))?;
/// accounts.insert(key("bob"))?;
/// accounts.remove(key("alice"))?;
/// assert!(accounts.may_contain(key("bob")));
/// assert!(!accounts.may_contain(key("alice")));
/// assert!(accounts.remove(key("alice")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DLeft {
    pub(super) layout: Layout,
    /// The subtables, one after the other.
    pub(super) table: Vec<u8>,
    /// What found no cell, by number.
    pub(super) stash: Vec<Aside>,
    /// Cells in use in each subtable.
    pub(super) used: [u64; *SUBTABLES.end() as usize],
    pub(super) keys: u64,
}

/// A key that found no cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Aside {
    pub(super) number: u64,
    /// At most [`CounterBits::copies_max`].
    pub(super) copies: u32,
}

/// What is known of a table without its bytes: where a key goes, and how cells lie there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    pub(super) permutations: Permutations,
    cells: Cells,
}

/// A cell of the table, with the bucket that it was found in.
#[derive(Clone, Copy, Debug)]
struct Found {
    subtable: usize,
    at: usize,
    bucket: Bucket,
    cell: Cell,
    place: Place,
}

/// What the table holds of a key.
#[derive(Clone, Copy, Debug, Default)]
struct Search {
    /// How many copies are counted in cells.
    copies: u32,
    /// A cell of the key: one whose counter is not full, if there is one.
    cell: Option<Found>,
    /// The free cell that a new key would get.
    free: Option<Found>,
}

impl Layout {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, permutations: Permutations::new(shape), cells: Cells::new(shape) }
    }

    /// Returns at which byte of the table a bucket begins. (Its length fits a `usize`, and so does
    /// this.)
    fn bucket_at(&self, subtable: usize, bucket: u64) -> usize {
        let index = subtable as u64 * self.shape.buckets + bucket;
        (index * u64::from(self.shape.cell_bits())) as usize
    }

    /// Returns whether any place of a key holds it.
    #[inline]
    pub(super) fn contain(&self, table: &[u8], number: u64) -> bool {
        let mut targets = Targets::default();
        self.cells.contain(table, self.targets(number, &mut targets))
    }

    /// Finds the places of a key, one a subtable.
    #[inline]
    fn targets<'a>(&self, number: u64, targets: &'a mut Targets) -> &'a [CellTarget] {
        let targets = &mut targets[..self.shape.subtables as usize];
        for (subtable, target) in targets.iter_mut().enumerate() {
            let Place { bucket, remainder } = self.permutations.place(number, subtable);
            *target = CellTarget { at: self.bucket_at(subtable, bucket), remainder };
        }
        targets
    }

    /// Says for each of many keys what [`contain`](Self::contain) would: finds the places of a few
    /// keys and sends for their buckets, then looks into them.
    pub(super) fn contain_batch(&self, table: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
        if table.len() <= CACHED_LEN {
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer = self.contain(table, self.permutations.number(*hash));
            }
            return;
        }
        let subtables = self.shape.subtables as usize;
        let mut ahead = [Targets::default(); BATCH];
        for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            for (hash, targets) in hashes.iter().zip(&mut ahead) {
                for target in self.targets(self.permutations.number(*hash), targets) {
                    prefetch(table, target.at);
                }
            }
            for (targets, answer) in ahead.iter().zip(answers) {
                *answer = self.cells.contain(table, &targets[..subtables]);
            }
        }
    }

    /// Asks the processor for all buckets of a key.
    pub(super) fn prefetch(&self, table: &[u8], number: u64) {
        for target in self.targets(number, &mut Targets::default()) {
            prefetch(table, target.at);
        }
    }

    /// Looks into all places of a key.
    fn search(&self, table: &[u8], number: u64) -> Search {
        let cells = &self.cells;
        let counter_max = self.shape.counter_bits.counter_max();
        let mut search = Search::default();
        let mut least = u32::MAX;
        for subtable in 0..self.shape.subtables as usize {
            let place = self.permutations.place(number, subtable);
            let at = self.bucket_at(subtable, place.bucket);
            let Some(bucket) = cells.read(table, at) else { continue };
            for cell in cells.find(bucket, place) {
                let counter = cells.counter(bucket, cell);
                search.copies += counter;
                if search.cell.is_none() || counter < counter_max {
                    search.cell = Some(Found { subtable, at, bucket, cell, place });
                }
            }
            // Ties to the left: only a lesser load wins over a bucket seen before.
            let used = cells.used_count(bucket);
            if used < least {
                least = used;
                let free = cells.free(bucket);
                search.free = free.map(|cell| Found { subtable, at, bucket, cell, place });
            }
        }
        search
    }

    /// Counts the cells in use, subtable by subtable.
    pub(super) fn count_used(&self, table: &[u8]) -> [u64; *SUBTABLES.end() as usize] {
        let mut used = [0; *SUBTABLES.end() as usize];
        for (subtable, used) in used.iter_mut().take(self.shape.subtables as usize).enumerate() {
            let buckets = (0..self.shape.buckets)
                .filter_map(|bucket| self.cells.read(table, self.bucket_at(subtable, bucket)));
            *used = buckets.map(|bucket| u64::from(self.cells.used_count(bucket))).sum();
        }
        used
    }
}

/// Asks the processor for a bucket. It has ten bytes at least, and rarely lies in two lines.
#[inline]
fn prefetch(table: &[u8], at: usize) {
    if let Some(bytes) = table.get(at..).and_then(|bucket| bucket.first_chunk::<10>()) {
        kernel::prefetch(bytes);
    }
}

impl DLeft {
    /// Makes an empty filter for so many keys, with four subtables and counters of two bits.
    ///
    /// A filter sized for no keys has no cells: it takes none, and denies all.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made.
    pub fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        Self::with_options(sizing, keys, DLeftOptions::default())
    }

    /// Makes an empty filter for so many keys, laid out as told.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made.
    pub fn with_options(
        sizing: Sizing,
        keys: u64,
        options: DLeftOptions,
    ) -> Result<Self, BuildError> {
        Self::with_shape(Shape::new(sizing, keys, options)?)
    }

    /// Makes a filter of these keys, which may repeat.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made. [`BuildError::Full`] if a budget is so
    /// tight, and luck so bad, that some keys find no place in it.
    pub fn from_keys(sizing: Sizing, keys: &[KeyHash]) -> Result<Self, BuildError> {
        let mut shape = Shape::new(sizing, keys.len() as u64, DLeftOptions::default())?;
        // Once is the rule and twice is rare; the loop ends, lest odd hashes make it endless.
        for _ in 0..8 {
            let mut filter = Self::with_shape(shape)?;
            let is_in = keys.iter().all(|key| filter.insert(*key) == Ok(()));
            let is_over = matches!(sizing, Sizing::Bytes(_)) && !filter.stash.is_empty();
            if is_in && !is_over {
                return Ok(filter);
            }
            shape = match sizing {
                Sizing::ErrorRate(_) => shape.with_buckets(shape.buckets + shape.buckets / 16 + 1),
                Sizing::BitsPerKey(_) | Sizing::Bytes(_) => {
                    shape.with_shorter_remainders().ok_or(BuildError::Full)?
                }
            };
        }
        Err(BuildError::Full)
    }

    /// What a filter will cost and how often it will err once it holds so many keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        let shape = Shape::new(sizing, keys, DLeftOptions::default())?;
        Ok(FilterStats { keys, bytes: shape.table_len(), error_rate: shape.held_rate(keys) })
    }

    pub(super) fn with_shape(shape: Shape) -> Result<Self, BuildError> {
        let table = allocate(shape.table_len(), 0)?;
        let (layout, used) = (Layout::new(shape), [0; _]);
        Ok(Self { layout, table, stash: Vec::new(), used, keys: 0 })
    }

    /// Returns how often the key was inserted, up to [`CounterBits::copies_max`]; never too low, and
    /// too high for as few keys as the filter errs about.
    pub fn copies(&self, hash: KeyHash) -> u32 {
        let number = self.layout.permutations.number(hash);
        let aside = self.stash_place(number).map_or(0, |place| self.stash[place].copies);
        let copies = self.layout.search(&self.table, number).copies + aside;
        copies.min(self.layout.shape.counter_bits.copies_max())
    }

    /// Returns how full each subtable is, from 0 to 1. They should be within some per cent of one
    /// another, and at 0.875 when the filter holds the keys it was made for.
    pub fn subtable_loads(&self) -> impl ExactSizeIterator<Item = f64> {
        let cells = self.layout.shape.subtable_cells().max(1) as f64;
        let subtables = self.layout.shape.subtables as usize;
        self.used.into_iter().take(subtables).map(move |used| used as f64 / cells)
    }

    /// Returns how many different keys found no cell and were put aside.
    pub fn stash_len(&self) -> usize {
        self.stash.len()
    }

    /// Returns the bits of a remainder, 8 to 26.
    pub const fn remainder_bits(&self) -> u32 {
        self.layout.shape.remainder_bits
    }

    /// Returns how many cells and places in the stash are taken: as many as there are different keys,
    /// or some more if keys have many copies.
    pub(super) fn entries(&self) -> u64 {
        self.used.iter().sum::<u64>() + self.stash.len() as u64
    }

    /// Finds a number in the stash, or where it would stand.
    fn stash_place(&self, number: u64) -> Result<usize, usize> {
        self.stash.binary_search_by_key(&number, |aside| aside.number)
    }

    /// Sets the counter of a cell.
    fn set(&mut self, found: Found, counter: u32) {
        let Found { at, cell, place, .. } = found;
        self.layout.cells.set(&mut self.table, at, cell, place, counter);
    }

    fn counter(&self, found: Found) -> u32 {
        self.layout.cells.counter(found.bucket, found.cell)
    }
}

impl Membership for DLeft {
    fn may_contain(&self, hash: KeyHash) -> bool {
        let number = self.layout.permutations.number(hash);
        self.layout.contain(&self.table, number)
            || !self.stash.is_empty() && self.stash_place(number).is_ok()
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        self.layout.contain_batch(&self.table, hashes, answers);
        if !self.stash.is_empty() {
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer =
                    *answer || self.stash_place(self.layout.permutations.number(*hash)).is_ok();
            }
        }
    }

    fn prefetch(&self, hash: KeyHash) {
        self.layout.prefetch(&self.table, self.layout.permutations.number(hash));
    }

    fn stats(&self) -> FilterStats {
        FilterStats {
            keys: self.keys,
            bytes: self.layout.shape.table_len() + self.stash.len() as u64 * Aside::LEN,
            error_rate: self.layout.shape.held_rate(self.entries()),
        }
    }
}

impl Insert for DLeft {
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        let number = self.layout.permutations.number(hash);
        let search = self.layout.search(&self.table, number);
        let aside = self.stash_place(number);
        let aside_copies = aside.map_or(0, |place| self.stash[place].copies);
        let counter_bits = self.layout.shape.counter_bits;

        if search.copies + aside_copies < counter_bits.copies_max() {
            let is_open = |found: &Found| self.counter(*found) < counter_bits.counter_max();
            match (search.cell.filter(is_open), aside, search.free) {
                (Some(open), ..) => self.set(open, self.counter(open) + 1),
                (None, Ok(place), _) => self.stash[place].copies += 1,
                (None, Err(_), Some(free)) => {
                    self.set(free, 1);
                    self.used[free.subtable] += 1;
                }
                (None, Err(place), None) => {
                    if self.stash.len() >= self.layout.shape.stash_max() || self.table.is_empty() {
                        return Err(Full);
                    }
                    self.stash.insert(place, Aside { number, copies: 1 });
                }
            }
        }
        self.keys = self.keys.saturating_add(1);
        Ok(())
    }
}

impl Remove for DLeft {
    /// Takes one copy of a key out. A key that was inserted [`CounterBits::copies_max`] times stays.
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent> {
        let number = self.layout.permutations.number(hash);
        let search = self.layout.search(&self.table, number);
        let aside = self.stash_place(number);
        let aside_copies = aside.map_or(0, |place| self.stash[place].copies);

        if search.copies + aside_copies < self.layout.shape.counter_bits.copies_max() {
            match (aside, search.cell) {
                (Ok(place), _) if aside_copies > 1 => self.stash[place].copies -= 1,
                (Ok(place), _) => drop(self.stash.remove(place)),
                (Err(_), Some(found)) => {
                    let counter = self.counter(found) - 1; // A cell in use counts at least one.
                    self.set(found, counter);
                    self.used[found.subtable] -= u64::from(counter == 0);
                }
                (Err(_), None) => return Err(Absent),
            }
        }
        self.keys = self.keys.saturating_sub(1);
        Ok(())
    }
}
