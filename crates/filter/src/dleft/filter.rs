//! The d-left filter in memory.

use alloc::vec::Vec;

use crate::kind::allocate;
use crate::{Absent, BuildError, FilterStats, Full, Insert, KeyHash, Membership, Remove, Sizing};

use super::layout::{Found, Layout};
use super::shape::{REMAINDER_BITS, SUBTABLES, Shape, Widths};

/// How many cells a key may fill before it saturates.
const CELLS_MAX: u32 = 4;

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

    pub(super) const fn counter_max(self) -> u32 {
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
    remainder_bits: Option<u32>,
}

impl Default for DLeftOptions {
    fn default() -> Self {
        Self { subtables: 4, counter_bits: CounterBits::Two, remainder_bits: None }
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

    /// Sets the bits of a remainder, 4 to 26, in place of those that suit the sizing best. Default: those.
    ///
    /// With r bits and d subtables of seven of eight cells in use, about 7·d in 2^r absent keys pass, and 83 %
    /// at 4 bits and four subtables. An error rate can still be had, by emptier buckets.
    ///
    /// # Panics
    ///
    /// If it is less than 4 or more than 26.
    pub fn remainder_bits(self, bits: u32) -> Self {
        assert!(REMAINDER_BITS.contains(&bits), "a remainder has 4 to 26 bits");
        Self { remainder_bits: Some(bits), ..self }
    }

    /// The remainders to choose from: the one that was set, or all with which a filter at its planned load
    /// denies at least half of the absent keys. With r bits 7·d of 2^r pass.
    pub(super) fn widths(self) -> Widths {
        let least = (14 * self.subtables).next_power_of_two().ilog2();
        self.remainder_bits.map_or(least..=*REMAINDER_BITS.end(), |bits| bits..=bits)
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
        Self::plan_with_options(sizing, keys, DLeftOptions::default())
    }

    /// Says what a filter laid out as told will cost and how often it will err once it holds so many different
    /// keys, without making it.
    ///
    /// ```
    /// use filter::{DLeft, DLeftOptions, ErrorRate, Sizing};
    ///
    /// let sizing = Sizing::ErrorRate(ErrorRate::new(0.01)?);
    /// let four = DLeft::plan_with_options(sizing, 1_000_000, DLeftOptions::default())?;
    /// let two = DLeft::plan_with_options(sizing, 1_000_000, DLeftOptions::default().subtables(2))?;
    /// assert!(two.bits_per_key() < four.bits_per_key());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made.
    pub fn plan_with_options(
        sizing: Sizing,
        keys: u64,
        options: DLeftOptions,
    ) -> Result<FilterStats, BuildError> {
        Ok(Shape::new(sizing, keys, options)?.stats(keys))
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

    /// Returns the bits of a remainder, 4 to 26.
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
