//! The cuckoo filter in memory: lookups, inserts with kicks, and removes.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::bucket::{Buckets, KeyBuckets, other_bucket};
use super::shape::Shape;
use crate::error::{Absent, BuildError, Full};
use crate::hash::{Key, KeyHash, Seed};
use crate::membership::{FilterStats, Insert, Membership, Remove};
use crate::memory::allocate;
use crate::methods::filter_methods;
use crate::sizing::Sizing;
use crate::theory;

/// Maximum number of kicks of an insert.
const KICKS_MAX: usize = 500;

/// Returns the maximum number of slots of one key; the overflow counts further copies.
///
/// With short fingerprints, distinct keys look like copies: at 8 bits 3 % of the keys look like a
/// second copy and one in 7,000 like a third, which should not cost an overflow entry of 16 bytes.
/// At 4 bits a limit of 3 would cost half a bit a key. But copies fill buckets that other keys
/// need, so the limit must be low.
const fn slots_per_key_max(fingerprint_bits: u32) -> u32 {
    match fingerprint_bits {
        ..=4 => 5,
        5 => 4,
        _ => 3,
    }
}

/// Bytes of an overflow entry in the stored form.
pub(super) const OVERFLOW_ENTRY_LEN: usize = 16;

/// A cuckoo filter in memory; keys can be inserted and removed.
///
/// [`build`](Self::build) counts copies of a key beyond three as part of a budget. It may exceed
/// bits per key, but no budget of bytes, if they leave too little room for the buckets.
///
/// ```
/// use filter::{Cuckoo, Seed, Sizing, StoredFilter};
///
/// let mut online = Cuckoo::with_seed(Sizing::error_rate(0.001)?, 1_000, Seed::new(42))?;
/// online.insert("ann")?;
/// online.insert("bob")?;
/// online.insert("ann")?; // From another device.
/// online.remove("ann")?;
/// assert!(online.may_contain("ann"));
/// online.remove("ann")?;
/// assert!(!online.may_contain("ann") && online.may_contain("bob"));
///
/// // A filter that was read from its stored form can be changed.
/// let stored = StoredFilter::parse(online.to_stored())?;
/// let mut again = Cuckoo::from_stored(&stored)?;
/// again.insert("zoe")?;
/// assert!(again.may_contain("bob"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cuckoo {
    pub(super) buckets: Buckets,
    /// Number of buckets.
    pub(super) count: usize,
    pub(super) table: Vec<u8>,
    /// Keys in the filter, copies counted.
    pub(super) keys: u64,
    /// Copies of a key beyond those in slots, by identity. Each of these keys is in a slot, too.
    pub(super) overflow: BTreeMap<u64, u64>,
    /// The sum of the copies in `overflow`.
    pub(super) overflow_keys: u64,
    pub(super) seed: Seed,
}

impl Cuckoo {
    /// Creates an empty filter for `keys` keys, including copies, which it hashes with `seed`.
    ///
    /// The keys fit with a probability of more than 99.99 %. Otherwise [`insert`](Self::insert)
    /// fails, and [`grow`](Self::grow) helps. A filter for zero keys has no buckets: it contains
    /// nothing, and each insert fails. A key with more than three copies (five with fingerprints of
    /// 4 bits, four with 5) takes 16 bytes more.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter can have that size; [`BuildError::Full`] if `keys` keys do not
    /// fit.
    pub fn with_seed(sizing: Sizing, keys: u64, seed: Seed) -> Result<Self, BuildError> {
        Self::with_shape(Shape::new(sizing, keys)?, seed)
    }

    /// Creates an empty filter for `keys` keys with fingerprints of `bits` bits, 4 to 16.
    ///
    /// [`with_seed`](Self::with_seed) chooses the width for an error rate or a size.
    ///
    /// ```
    /// use filter::{Cuckoo, Seed};
    ///
    /// let filter = Cuckoo::with_fingerprint_bits(10, 1_000_000, Seed::random())?;
    /// assert_eq!(filter.fingerprint_bits(), 10);
    /// assert!(filter.stats().bytes * 8 < 10_500_000);
    /// # Ok::<(), filter::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError::FingerprintBits`] if `bits` is not 4 to 16, [`BuildError::Memory`] if the
    /// filter does not fit into memory.
    pub fn with_fingerprint_bits(bits: u32, keys: u64, seed: Seed) -> Result<Self, BuildError> {
        Self::with_shape(Shape::with_fingerprint_bits(bits, keys)?, seed)
    }

    /// Estimates size and error rate of a filter with `keys` keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        Ok(Shape::new(sizing, keys)?.stats(keys))
    }

    /// Estimates a filter with `keys` distinct keys and fingerprints of `bits` bits.
    ///
    /// # Errors
    ///
    /// [`BuildError::FingerprintBits`] if `bits` is not 4 to 16.
    pub fn plan_with_fingerprint_bits(bits: u32, keys: u64) -> Result<FilterStats, BuildError> {
        Shape::with_fingerprint_bits(bits, keys)?.stats(keys).if_possible()
    }

    pub(super) fn with_shape(shape: Shape, seed: Seed) -> Result<Self, BuildError> {
        let count = usize::try_from(shape.count).map_err(|_| BuildError::Memory)?;
        let table = allocate(shape.len(), 0)?;
        let (buckets, overflow) = (shape.buckets, BTreeMap::new());
        Ok(Self { buckets, count, table, keys: 0, overflow, overflow_keys: 0, seed })
    }

    /// Fills buckets of 1, 2, 4 or 8 slots until an insert fails, and returns the load.
    ///
    /// Fingerprints have 8 bits, or 16 if a bucket has fewer than four slots. This experiment shows
    /// why filters have buckets of four.
    ///
    /// The keys must be distinct, because copies never fail, and must exceed the slots.
    ///
    /// ```
    /// use filter::engine::KeyHash;
    /// use filter::{Cuckoo, Seed};
    ///
    /// let seed = Seed::new(1);
    /// let keys = (0_u32..).map(|key| KeyHash::new(seed, &key.to_le_bytes()));
    /// let load = Cuckoo::load_at_first_refusal(4, 10_000, keys)?;
    /// assert!(load > 0.95);
    /// # Ok::<(), filter::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError::SlotCount`] for other numbers of slots, [`BuildError::Memory`] if the buckets
    /// do not fit into memory.
    #[doc(hidden)]
    pub fn load_at_first_refusal(
        slots: u32,
        buckets: u64,
        keys: impl IntoIterator<Item = KeyHash>,
    ) -> Result<f64, BuildError> {
        if ![1, 2, 4, 8].contains(&slots) {
            return Err(BuildError::SlotCount(slots));
        }
        let bits = if slots < 4 { 16 } else { 8 };
        let layout = Buckets::new(bits, slots);
        let mut filter =
            Self::with_shape(Shape { buckets: layout, count: buckets }, Seed::default())?;
        let _ = keys.into_iter().try_for_each(|key| filter.insert(key));
        Ok(filter.load())
    }

    /// Builds a filter from hashes with a seed.
    ///
    /// If the keys do not fit, the build is repeated: with more buckets if the sizing is an error
    /// rate, otherwise with shorter fingerprints. The overflow is part of the budget. Only with
    /// bits per key may the filter exceed the budget, if the overflow leaves too little room for
    /// the buckets.
    pub(crate) fn from_hashes(
        sizing: Sizing,
        seed: Seed,
        keys: &[KeyHash],
    ) -> Result<Self, BuildError> {
        let mut shape = Shape::new(sizing, keys.len() as u64)?;
        let mut budget = match sizing {
            Sizing::ErrorRate(_) => None,
            Sizing::BitsPerKey(_) | Sizing::Bytes(_) => Some(shape.len()),
        };
        let mut growth = 0.01;
        loop {
            let mut filter = Self::with_shape(shape, seed)?;
            let full = keys.iter().any(|key| filter.insert(*key).is_err());
            let excess = budget.map_or(0, |budget| filter.body_len().saturating_sub(budget));
            if !full && excess == 0 {
                return Ok(filter);
            }
            let smaller = budget
                .map(|budget| if full { shape.shortened(budget) } else { shape.without(excess) });
            shape = match (smaller, sizing) {
                (Some(Some(smaller)), _) => smaller,
                (Some(None), Sizing::Bytes(_)) => return Err(BuildError::Full),
                (Some(None), _) => {
                    budget = None;
                    Shape::smallest(keys.len() as u64)
                }
                (None, _) => {
                    growth *= 2.0;
                    shape.enlarged(growth)
                }
            };
        }
    }

    /// Rebuilds the filter for `capacity` keys from all its keys.
    ///
    /// The keys are needed because fingerprints do not determine the buckets of a larger filter.
    /// The seed stays. If the keys do not fit, the filter does not change.
    ///
    /// ```
    /// use filter::{Cuckoo, Sizing};
    ///
    /// let names: Vec<String> = (0..5_000).map(|number| format!("user {number}")).collect();
    /// let mut filter = Cuckoo::new(Sizing::BitsPerKey(17.0), 1_000)?;
    /// for (index, name) in names.iter().enumerate() {
    ///     if filter.insert(name).is_err() {
    ///         filter.grow(Sizing::BitsPerKey(17.0), filter.len() * 2, &names[..=index])?;
    ///     }
    /// }
    /// assert!(names.iter().all(|name| filter.may_contain(name)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter can have that size, or the keys do not fit.
    ///
    /// # Panics
    ///
    /// If a key is a [`SeededHash`](crate::SeededHash) with another seed than the filter's.
    pub fn grow(
        &mut self,
        sizing: Sizing,
        capacity: u64,
        keys: impl IntoIterator<Item: Key>,
    ) -> Result<(), BuildError> {
        let mut larger = Self::with_seed(sizing, capacity, self.seed)?;
        for key in keys {
            larger.insert(key).map_err(|Full| BuildError::Full)?;
        }
        *self = larger;
        Ok(())
    }

    /// Returns the bits of a fingerprint, 4 to 16.
    pub const fn fingerprint_bits(&self) -> u32 {
        self.buckets.fingerprint_bits()
    }

    /// Returns the number of slots. Inserts begin to fail at a load of more than 95 %.
    pub const fn slot_count(&self) -> u64 {
        self.count as u64 * self.buckets.slots() as u64
    }

    /// Returns the share of slots that are taken, from 0 to 1.
    pub(super) fn load(&self) -> f64 {
        if self.count == 0 { 1.0 } else { self.slots_taken() as f64 / self.slot_count() as f64 }
    }

    /// Returns the number of copies of a key.
    ///
    /// Never too low; too high with the probability of a false positive.
    ///
    /// # Panics
    ///
    /// If `key` is a [`SeededHash`](crate::SeededHash) with another seed than the filter's.
    pub fn copies(&self, key: impl Key) -> u64 {
        let key = self.key_buckets(key.hash_with(self.seed));
        let overflow = self.overflow.get(&key.identity()).copied().unwrap_or(0);
        overflow + u64::from(self.copies_in_slots(key))
    }

    /// Returns the bytes of the body of the stored form.
    fn body_len(&self) -> u64 {
        (self.table.len() + self.overflow.len() * OVERFLOW_ENTRY_LEN) as u64
    }

    fn slots_taken(&self) -> u64 {
        debug_assert!(self.overflow_keys <= self.keys, "overflow copies are keys");
        self.keys - self.overflow_keys
    }

    pub(super) fn key_buckets(&self, hash: KeyHash) -> KeyBuckets {
        KeyBuckets::new(hash, self.buckets, self.count)
    }

    fn word(&self, bucket: usize) -> u64 {
        self.buckets.word(&self.table, bucket)
    }

    fn set_word(&mut self, bucket: usize, word: u64) {
        self.buckets.set_word(&mut self.table, bucket, word);
    }

    fn copies_in_slots(&self, key: KeyBuckets) -> u32 {
        let count = |bucket| self.buckets.count(self.word(bucket), key.fingerprint);
        // If both buckets are the same bucket, count its slots once.
        let second = if key.first == key.second { 0 } else { count(key.second) };
        count(key.first) + second
    }

    /// Replaces fingerprint `old` in a bucket (0: an empty slot); returns whether it was found.
    fn replace(&mut self, bucket: usize, old: u64, new: u64) -> bool {
        let word = self.word(bucket);
        let slot = self.buckets.find(word, old);
        if let Some(slot) = slot {
            self.set_word(bucket, self.buckets.with_slot(word, slot, new));
        }
        slot.is_some()
    }

    /// Stores a fingerprint in one of its buckets, and moves others if necessary.
    ///
    /// Changes nothing on failure.
    fn insert_fingerprint(&mut self, key: KeyBuckets) -> Result<(), Full> {
        if self.count == 0 {
            return Err(Full);
        }
        let KeyBuckets { fingerprint, first, second } = key;
        if self.replace(first, 0, fingerprint) || self.replace(second, 0, fingerprint) {
            return Ok(());
        }
        self.kick(fingerprint, first)
    }

    /// Stores a fingerprint in a full bucket, by moving others to their other buckets.
    ///
    /// ```text
    /// repeat:  is there a fingerprint in this bucket whose other bucket has an empty slot?
    ///            yes: move it there, take its slot, done
    ///            no:  take the slot of a random one; continue with that one in its other bucket
    /// ```
    ///
    /// Checking the four other buckets costs four parallel loads and saves most kicks. The
    /// pseudorandom choice depends only on the fingerprint and the bucket: the same inserts give
    /// the same filter. After [`KICKS_MAX`] kicks, all kicks are reverted.
    fn kick(&mut self, fingerprint: u64, bucket: usize) -> Result<(), Full> {
        let (mut carried, mut bucket, mut random) =
            (fingerprint, bucket, fingerprint ^ bucket as u64);
        let mut kicks = [(0, 0); KICKS_MAX];
        for kick in &mut kicks {
            let word = self.word(bucket);
            for slot in 0..self.buckets.slots() {
                let moved = self.buckets.get(word, slot);
                let other = other_bucket(moved, bucket, self.count);
                if self.replace(other, 0, moved) {
                    self.set_word(bucket, self.buckets.with_slot(word, slot, carried));
                    return Ok(());
                }
            }
            // A step of a linear congruential generator (Knuth's MMIX), whose upper bits are good.
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let slot = (random >> 33) as u32 % self.buckets.slots();
            *kick = (bucket, slot);
            self.set_word(bucket, self.buckets.with_slot(word, slot, carried));
            carried = self.buckets.get(word, slot);
            bucket = other_bucket(carried, bucket, self.count);
        }

        for (bucket, slot) in kicks.into_iter().rev() {
            let word = self.word(bucket);
            self.set_word(bucket, self.buckets.with_slot(word, slot, carried));
            carried = self.buckets.get(word, slot);
        }
        assert_eq!(carried, fingerprint, "all kicks are reverted");
        Err(Full)
    }
}

filter_methods!(Cuckoo, removes);

impl Membership for Cuckoo {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.buckets.contains(&self.table, self.count, hash)
    }

    fn prefetch(&self, hash: KeyHash) {
        self.buckets.prefetch(&self.table, self.count, hash);
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        self.buckets.contains_batch(&self.table, self.count, hashes, answers);
    }

    fn stats(&self) -> FilterStats {
        FilterStats {
            keys: self.keys,
            bytes: self.body_len(),
            error_rate: theory::cuckoo_error_rate(
                self.slots_taken(),
                self.count as u64,
                self.fingerprint_bits(),
            ),
        }
    }
}

impl Insert for Cuckoo {
    /// Inserts a key or another copy of a key. A key that the filter already holds always fits.
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        let keys = self.keys.checked_add(1).ok_or(Full)?;
        let key = self.key_buckets(hash);
        let copies = self.copies_in_slots(key);
        let fits = copies < slots_per_key_max(self.fingerprint_bits())
            && self.insert_fingerprint(key).is_ok();
        if !fits {
            if copies == 0 {
                return Err(Full);
            }
            *self.overflow.entry(key.identity()).or_insert(0) += 1;
            self.overflow_keys += 1;
        }
        self.keys = keys;
        Ok(())
    }
}

impl Remove for Cuckoo {
    fn occupancy(&self) -> Option<f64> {
        Some(self.load())
    }

    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent> {
        let key = self.key_buckets(hash);
        if let Some(copies) = self.overflow.get_mut(&key.identity()) {
            *copies -= 1;
            if *copies == 0 {
                self.overflow.remove(&key.identity());
            }
            self.overflow_keys -= 1;
        } else if !self.replace(key.first, key.fingerprint, 0)
            && !self.replace(key.second, key.fingerprint, 0)
        {
            return Err(Absent);
        }
        self.keys -= 1;
        Ok(())
    }
}
