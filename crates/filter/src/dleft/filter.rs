//! [`DLeft`], the filter in memory.

use alloc::vec::Vec;

use super::layout::{Layout, LocatedCell};
use super::options::{DLeftOptions, SUBTABLES};
use super::shape::Shape;
use super::stash::Stashed;
use crate::error::{Absent, BuildError, Full};
use crate::hash::{Key, KeyHash, Seed};
use crate::membership::{FilterStats, Insert, Membership, Remove};
use crate::memory::allocate;
use crate::methods::filter_methods;
use crate::sizing::Sizing;

/// A d-left filter in memory; keys can be inserted and removed.
///
/// With the planned number of keys, seven of eight cells are in use. Further keys fill the
/// remaining cells, and then a small stash, a list of keys outside the cells. With the stash the
/// filter may slightly exceed a budget of bytes. If the stash is full, inserts fail with [`Full`].
///
/// ```
/// use filter::{DLeft, Seed, Sizing};
///
/// let mut accounts = DLeft::with_seed(Sizing::error_rate(0.002)?, 1_000, Seed::new(42))?;
/// accounts.insert("alice")?;
/// accounts.insert("bob")?;
/// accounts.remove("alice")?;
/// assert!(accounts.may_contain("bob"));
/// assert!(!accounts.may_contain("alice"));
/// assert!(accounts.remove("alice").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DLeft {
    pub(super) layout: Layout,
    /// The buckets of all subtables, one subtable after the other.
    pub(super) table: Vec<u8>,
    /// The keys that found no free cell, ascending by number (the hash mapped to 0..M).
    pub(super) stash: Vec<Stashed>,
    /// Cells in use in each subtable.
    pub(super) used: [u64; *SUBTABLES.end() as usize],
    /// The number of keys, including copies.
    pub(super) keys: u64,
    pub(super) seed: Seed,
}

impl DLeft {
    /// Creates an empty filter for `keys` keys, which it hashes with `seed`.
    ///
    /// The filter has four subtables and counters of two bits. A filter for zero keys has no cells: it contains nothing, and each insert fails.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter can have that size.
    pub fn with_seed(sizing: Sizing, keys: u64, seed: Seed) -> Result<Self, BuildError> {
        Self::with_options(DLeftOptions::default(), sizing, keys, seed)
    }

    /// Creates an empty filter for `keys` keys, with the layout that `options` describes.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter can have that size.
    pub fn with_options(
        options: DLeftOptions,
        sizing: Sizing,
        keys: u64,
        seed: Seed,
    ) -> Result<Self, BuildError> {
        Self::with_shape(Shape::new(sizing, keys, options)?, seed)
    }

    /// Builds a filter from hashes with a seed, which may contain copies of a key.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter can have that size. [`BuildError::Full`] if the keys do not fit
    /// into the cells and the stash, or with a budget of bytes, if they do not fit without a stash.
    pub(crate) fn from_hashes(
        sizing: Sizing,
        seed: Seed,
        keys: &[KeyHash],
    ) -> Result<Self, BuildError> {
        let mut shape = Shape::new(sizing, keys.len() as u64, DLeftOptions::default())?;
        // The first attempt nearly always succeeds. Hashes that an attacker chose can make all
        // attempts fail, so their number is limited.
        for _ in 0..8 {
            let mut filter = Self::with_shape(shape, seed)?;
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

    /// Estimates size and error rate of a filter with `keys` distinct keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        Self::plan_with_options(DLeftOptions::default(), sizing, keys)
    }

    /// Estimates size and error rate of a filter with `keys` distinct keys and the given layout.
    ///
    /// ```
    /// use filter::{DLeft, DLeftOptions, Sizing};
    ///
    /// let sizing = Sizing::error_rate(0.01)?;
    /// let four = DLeft::plan_with_options(DLeftOptions::default(), sizing, 1_000_000)?;
    /// let options = DLeftOptions::default().subtables(2);
    /// let two = DLeft::plan_with_options(options, sizing, 1_000_000)?;
    /// assert!(two.bits_per_key() < four.bits_per_key());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter can have that size.
    pub fn plan_with_options(
        options: DLeftOptions,
        sizing: Sizing,
        keys: u64,
    ) -> Result<FilterStats, BuildError> {
        Shape::new(sizing, keys, options)?.stats(keys).if_possible()
    }

    pub(super) fn with_shape(shape: Shape, seed: Seed) -> Result<Self, BuildError> {
        let table = allocate(shape.table_len(), 0)?;
        let (layout, used) = (Layout::new(shape), [0; _]);
        Ok(Self { layout, table, stash: Vec::new(), used, keys: 0, seed })
    }

    /// Returns the number of copies of a key, up to the counters' maximum.
    ///
    /// The maximum is [`CounterBits::copies_max`](crate::CounterBits::copies_max). Below it, the
    /// number is at least the true one, and greater with the probability of a false positive.
    ///
    /// # Panics
    ///
    /// If `key` is a [`SeededHash`](crate::SeededHash) with another seed than the filter's.
    pub fn copies(&self, key: impl Key) -> u64 {
        let number = self.layout.permutations.number(key.hash_with(self.seed));
        let stashed = self.stash_position(number).map_or(0, |position| self.stash[position].copies);
        let copies = self.layout.search(&self.table, number).copies + stashed;
        copies.min(self.layout.shape.counter_bits.copies_max()).into()
    }

    /// Iterates over the loads of the subtables: the share of their cells in use, from 0 to 1.
    ///
    /// With the planned number of keys, the loads are about 0.875. They should differ by at most a
    /// few per cent.
    #[doc(hidden)]
    pub fn subtable_loads(&self) -> impl ExactSizeIterator<Item = f64> {
        let cells = self.layout.shape.subtable_cells().max(1) as f64;
        let subtables = self.layout.shape.subtables as usize;
        self.used.into_iter().take(subtables).map(move |used| used as f64 / cells)
    }

    /// Returns the number of distinct keys in the stash.
    #[cfg(test)]
    pub(super) fn stash_len(&self) -> usize {
        self.stash.len()
    }

    /// Returns the number of bits of a remainder, 4 to 26.
    pub const fn remainder_bits(&self) -> u32 {
        self.layout.shape.remainder_bits
    }

    /// Returns the number of cells in use and keys in the stash.
    ///
    /// The sum is the number of distinct keys, or more if keys with many copies have several cells.
    pub(super) fn entries(&self) -> u64 {
        self.used.iter().sum::<u64>() + self.stash.len() as u64
    }

    /// Returns the index of a number in the stash, or the index at which to insert it.
    fn stash_position(&self, number: u64) -> Result<usize, usize> {
        self.stash.binary_search_by_key(&number, |stashed| stashed.number)
    }

    /// Sets the counter of a cell.
    fn set(&mut self, found: LocatedCell, counter: u32) {
        let LocatedCell { at, cell, position, .. } = found;
        self.layout.cells.set(&mut self.table, at, cell, position, counter);
    }

    fn counter(&self, found: LocatedCell) -> u32 {
        self.layout.cells.counter(found.bucket, found.cell)
    }
}

filter_methods!(DLeft, removes);

impl Membership for DLeft {
    fn may_contain(&self, hash: KeyHash) -> bool {
        let number = self.layout.permutations.number(hash);
        self.layout.contains(&self.table, number)
            || !self.stash.is_empty() && self.stash_position(number).is_ok()
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        self.layout.contains_batch(&self.table, hashes, answers);
        if !self.stash.is_empty() {
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer =
                    *answer || self.stash_position(self.layout.permutations.number(*hash)).is_ok();
            }
        }
    }

    fn prefetch(&self, hash: KeyHash) {
        self.layout.prefetch(&self.table, self.layout.permutations.number(hash));
    }

    fn stats(&self) -> FilterStats {
        FilterStats {
            keys: self.keys,
            bytes: self.layout.shape.table_len() + self.stash.len() as u64 * Stashed::LEN,
            error_rate: self.layout.shape.held_rate(self.entries()),
        }
    }
}

impl Insert for DLeft {
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        // The number of keys may come from the header of a file, which can state 2^64 − 1.
        let keys = self.keys.checked_add(1).ok_or(Full)?;
        let number = self.layout.permutations.number(hash);
        let search = self.layout.search(&self.table, number);
        let stashed = self.stash_position(number);
        let stashed_copies = stashed.map_or(0, |position| self.stash[position].copies);
        let counter_bits = self.layout.shape.counter_bits;

        if search.copies + stashed_copies < counter_bits.copies_max() {
            let is_open = |found: &LocatedCell| self.counter(*found) < counter_bits.counter_max();
            match (search.cell.filter(is_open), stashed, search.free) {
                (Some(open), ..) => self.set(open, self.counter(open) + 1),
                (None, Ok(position), _) => self.stash[position].copies += 1,
                (None, Err(_), Some(free)) => {
                    self.set(free, 1);
                    self.used[free.subtable] += 1;
                }
                (None, Err(position), None) => {
                    if self.stash.len() >= self.layout.shape.stash_max() || self.table.is_empty() {
                        return Err(Full);
                    }
                    self.stash.insert(position, Stashed { number, copies: 1 });
                }
            }
        }
        self.keys = keys;
        Ok(())
    }
}

impl Remove for DLeft {
    fn occupancy(&self) -> Option<f64> {
        let subtables = self.subtable_loads();
        let count = subtables.len() as f64;
        Some(subtables.sum::<f64>() / count)
    }

    /// Removes one copy of a key.
    ///
    /// A key with [`CounterBits::copies_max`](crate::CounterBits::copies_max) copies stays in the
    /// filter, because its number of copies may be greater than the counters show.
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent> {
        let keys = self.keys.checked_sub(1).ok_or(Absent)?;
        let number = self.layout.permutations.number(hash);
        let search = self.layout.search(&self.table, number);
        let stashed = self.stash_position(number);
        let stashed_copies = stashed.map_or(0, |position| self.stash[position].copies);

        if search.copies + stashed_copies < self.layout.shape.counter_bits.copies_max() {
            match (stashed, search.cell) {
                (Ok(position), _) if stashed_copies > 1 => self.stash[position].copies -= 1,
                (Ok(position), _) => drop(self.stash.remove(position)),
                (Err(_), Some(found)) => {
                    let counter = self.counter(found) - 1; // At least 1 in a cell in use.
                    self.set(found, counter);
                    self.used[found.subtable] -= u64::from(counter == 0);
                }
                (Err(_), None) => return Err(Absent),
            }
        }
        self.keys = keys;
        Ok(())
    }
}
