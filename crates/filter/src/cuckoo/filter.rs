//! The filter in memory: lookups, inserts with their kicks, removes.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::bucket::{Buckets, Places, other_bucket};
use super::shape::Shape;
use crate::error::{Absent, BuildError, Full};
use crate::hash::KeyHash;
use crate::membership::{FilterStats, Insert, Membership, Remove};
use crate::memory::allocate;
use crate::sizing::Sizing;
use crate::theory;

/// Fingerprints that one insert may kick out of their places before it gives up.
const KICKS_MAX: usize = 500;

/// Returns how many copies of one key take slots; more are counted in the overflow.
///
/// With short fingerprints absent keys look like copies: at 8 bits three keys in a hundred look like a
/// second copy, and one in 7,000 like a third, which must not cost an entry of 16 bytes each. At 4 bits
/// a limit of 3 would cost half a bit a key. On the other hand, slots that copies take are missing in the
/// only two buckets where other keys could be.
const fn copies_in_slots(fingerprint_bits: u32) -> u32 {
    match fingerprint_bits {
        ..=4 => 5,
        5 => 4,
        _ => 3,
    }
}

/// Bytes that a key with overflow copies takes in the stored form.
pub(super) const OVERFLOW_ENTRY_LEN: usize = 16;

/// A cuckoo filter in memory: keys can be added and removed.
///
/// ```
/// use filter::{
///     Cuckoo, ErrorRate, Insert, KeyHash, Membership, Remove, Seed, Sizing, StoredFilter,
/// };
///
/// let seed = Seed::new(42);
/// let mut online = Cuckoo::new(Sizing::ErrorRate(ErrorRate::new(0.001)?), 1_000)?;
/// let (ann, bob) = (KeyHash::new(seed, b"ann"), KeyHash::new(seed, b"bob"));
///
/// online.insert(ann)?;
/// online.insert(bob)?;
/// online.insert(ann)?; // From another device.
/// online.remove(ann)?;
/// assert!(online.may_contain(ann));
/// online.remove(ann)?;
/// assert!(!online.may_contain(ann) && online.may_contain(bob));
///
/// // To a file and back, to go on with.
/// let stored = StoredFilter::parse(online.to_stored(seed))?;
/// let mut again = Cuckoo::from_stored(&stored)?;
/// again.insert(KeyHash::new(stored.seed(), b"row2"))?;
/// assert!(again.may_contain(bob));
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
    /// By identity, the copies of a key beyond those in slots. Who is here is in a slot as well.
    pub(super) overflow: BTreeMap<u64, u64>,
    /// The sum of the above.
    pub(super) overflow_keys: u64,
}

impl Cuckoo {
    /// Makes an empty filter with room for so many keys, copies counted.
    ///
    /// The size is such that they fit but for bad luck of less than one in ten thousand; then
    /// [`insert`](Insert::insert) says so, and [`grow`](Self::grow) helps. A filter for no keys has
    /// no buckets: it denies all, and is full. A key with more than three copies (five at widths of 4 bits,
    /// four at 5) takes 16 bytes on top.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made; [`BuildError::Full`] if so many keys
    /// do not fit into it.
    pub fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        Self::with_shape(Shape::new(sizing, keys)?)
    }

    /// Makes an empty filter with room for so many keys and fingerprints of so many bits, 4 to 16.
    ///
    /// A sizing by error rate chooses the width itself; this is for a layout that is given.
    ///
    /// ```
    /// use filter::{Cuckoo, Membership};
    ///
    /// let filter = Cuckoo::with_fingerprint_bits(10, 1_000_000)?;
    /// assert_eq!(filter.fingerprint_bits(), 10);
    /// assert!(filter.stats().bytes * 8 < 10_500_000);
    /// # Ok::<(), filter::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError::FingerprintBits`] if there is no such width, [`BuildError::Memory`] if the filter does
    /// not fit into memory.
    pub fn with_fingerprint_bits(bits: u32, keys: u64) -> Result<Self, BuildError> {
        Self::with_shape(Shape::with_fingerprint_bits(bits, keys)?)
    }

    /// What a filter will cost and how often it will err once it holds so many keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        Ok(Shape::new(sizing, keys)?.stats(keys))
    }

    /// Says what a filter with fingerprints of so many bits will cost and how often it will err once it
    /// holds so many different keys, without making it.
    ///
    /// # Errors
    ///
    /// [`BuildError::FingerprintBits`] if there is no such width.
    pub fn plan_fingerprint_bits(bits: u32, keys: u64) -> Result<FilterStats, BuildError> {
        Ok(Shape::with_fingerprint_bits(bits, keys)?.stats(keys))
    }

    pub(super) fn with_shape(shape: Shape) -> Result<Self, BuildError> {
        let count = usize::try_from(shape.count).map_err(|_| BuildError::Memory)?;
        let table = allocate(shape.len(), 0)?;
        let (buckets, overflow) = (shape.buckets, BTreeMap::new());
        Ok(Self { buckets, count, table, keys: 0, overflow, overflow_keys: 0 })
    }

    /// Fills buckets of so many slots (1, 2, 4 or 8) with keys up to the first that finds no room, and
    /// returns the share of slots that are taken then. Fingerprints have 8 bits, or 16 where there are fewer
    /// than four slots.
    ///
    /// This repeats the experiment by which buckets of four were chosen; filters have no others.
    ///
    /// The keys must be distinct, and more than the table can hold: a further copy of a key is never refused.
    ///
    /// ```
    /// use filter::{Cuckoo, KeyHash, Seed};
    ///
    /// let keys = (0_u32..).map(|key| KeyHash::new(Seed::new(1), &key.to_le_bytes()));
    /// let load = Cuckoo::load_at_first_refusal(4, 10_000, keys)?;
    /// assert!(load > 0.95);
    /// # Ok::<(), filter::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError::SlotCount`] for other numbers of slots, [`BuildError::Memory`] if the buckets do not fit
    /// into memory.
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
        let mut filter = Self::with_shape(Shape { buckets: layout, count: buckets })?;
        let _ = keys.into_iter().try_for_each(|key| filter.insert(key));
        Ok(filter.load())
    }

    /// Builds a filter that holds the keys.
    ///
    /// If they do not fit, it is made again: larger if it was sized by error rate, else with shorter
    /// fingerprints. What the overflow takes is taken from the buckets, unless it was sized by bits
    /// per key and they take too much: then they come on top.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made.
    pub fn from_keys(sizing: Sizing, keys: &[KeyHash]) -> Result<Self, BuildError> {
        let mut shape = Shape::new(sizing, keys.len() as u64)?;
        let mut budget = match sizing {
            Sizing::ErrorRate(_) => None,
            Sizing::BitsPerKey(_) | Sizing::Bytes(_) => Some(shape.len()),
        };
        let mut growth = 0.01;
        loop {
            let mut filter = Self::with_shape(shape)?;
            let full = keys.iter().any(|key| filter.insert(*key).is_err());
            let excess = budget.map_or(0, |budget| filter.len().saturating_sub(budget));
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

    /// Makes the filter anew, with room for `capacity` keys, from the hashes of all keys that it
    /// shall hold: a filter has only fingerprints, which do not tell where they would go in a larger
    /// one. Without room for all, it stays as it was.
    ///
    /// ```
    /// use filter::{Cuckoo, Insert, KeyHash, Membership, Seed, Sizing};
    ///
    /// let key = |number: u64| KeyHash::new(Seed::new(7), &number.to_le_bytes());
    /// let mut filter = Cuckoo::new(Sizing::BitsPerKey(17.0), 1_000)?;
    /// for number in 0..5_000 {
    ///     if filter.insert(key(number)).is_err() {
    ///         let room = filter.stats().keys * 2;
    ///         filter.grow(Sizing::BitsPerKey(17.0), room, (0..=number).map(key))?;
    ///     }
    /// }
    /// assert!((0..5_000).all(|number| filter.may_contain(key(number))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made, or the keys do not fit into it.
    pub fn grow(
        &mut self,
        sizing: Sizing,
        capacity: u64,
        keys: impl IntoIterator<Item = KeyHash>,
    ) -> Result<(), BuildError> {
        let mut larger = Self::new(sizing, capacity)?;
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

    /// Returns how many fingerprints there is room for; inserts begin to fail above 95 % of them.
    pub const fn slot_count(&self) -> u64 {
        self.count as u64 * self.buckets.slots() as u64
    }

    /// Returns the share of slots that are taken, from 0 to 1.
    pub fn load(&self) -> f64 {
        if self.count == 0 { 1.0 } else { self.slots_taken() as f64 / self.slot_count() as f64 }
    }

    /// Returns how many copies of a key the filter holds. It may be too many, as often as absent keys
    /// pass, but never too few.
    pub fn copies(&self, hash: KeyHash) -> u64 {
        let places = self.places(hash);
        let overflow = self.overflow.get(&places.identity()).copied().unwrap_or(0);
        overflow + u64::from(self.copies_in_slots(places))
    }

    /// Bytes of the body of the stored form.
    fn len(&self) -> u64 {
        (self.table.len() + self.overflow.len() * OVERFLOW_ENTRY_LEN) as u64
    }

    fn slots_taken(&self) -> u64 {
        debug_assert!(self.overflow_keys <= self.keys, "overflow copies are keys");
        self.keys - self.overflow_keys
    }

    pub(super) fn places(&self, hash: KeyHash) -> Places {
        Places::new(hash, self.buckets, self.count)
    }

    fn word(&self, bucket: usize) -> u64 {
        self.buckets.word(&self.table, bucket)
    }

    fn set_word(&mut self, bucket: usize, word: u64) {
        self.buckets.set_word(&mut self.table, bucket, word);
    }

    fn copies_in_slots(&self, places: Places) -> u32 {
        let count = |bucket| self.buckets.count(self.word(bucket), places.fingerprint);
        // A key whose two buckets are the same one has its copies there once, not twice.
        let second = if places.first == places.second { 0 } else { count(places.second) };
        count(places.first) + second
    }

    /// Replaces a fingerprint in a bucket by another, 0 being an empty slot. Returns whether it was
    /// there.
    fn replace(&mut self, bucket: usize, old: u64, new: u64) -> bool {
        let word = self.word(bucket);
        let slot = self.buckets.find(word, old);
        if let Some(slot) = slot {
            self.set_word(bucket, self.buckets.with(word, slot, new));
        }
        slot.is_some()
    }

    /// Puts a fingerprint into one of its buckets, moving others if it must. Changes nothing if it
    /// cannot.
    fn place(&mut self, places: Places) -> Result<(), Full> {
        if self.count == 0 {
            return Err(Full);
        }
        let Places { fingerprint, first, second } = places;
        if self.replace(first, 0, fingerprint) || self.replace(second, 0, fingerprint) {
            return Ok(());
        }
        self.kick(fingerprint, first)
    }

    /// Puts a fingerprint into a full bucket, by moving others to their other buckets.
    ///
    /// ```text
    /// repeat:  is there a fingerprint in this bucket whose other bucket has room?
    ///            yes: move it there, take its slot, done
    ///            no:  take the slot of any of them; go on with that one in its other bucket
    /// ```
    ///
    /// Looking ahead costs four loads, all at once, and saves most kicks. Who is kicked is decided by
    /// numbers that look random and depend on the fingerprint and its bucket only: the same inserts
    /// give the same filter. The kicks are written down, and undone if they come to no end.
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
                    self.set_word(bucket, self.buckets.with(word, slot, carried));
                    return Ok(());
                }
            }
            // A step of a linear congruential generator (Knuth's MMIX), whose upper bits are good.
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let slot = (random >> 33) as u32 % self.buckets.slots();
            *kick = (bucket, slot);
            self.set_word(bucket, self.buckets.with(word, slot, carried));
            carried = self.buckets.get(word, slot);
            bucket = other_bucket(carried, bucket, self.count);
        }

        for (bucket, slot) in kicks.into_iter().rev() {
            let word = self.word(bucket);
            self.set_word(bucket, self.buckets.with(word, slot, carried));
            carried = self.buckets.get(word, slot);
        }
        assert_eq!(carried, fingerprint, "all kicks are undone");
        Err(Full)
    }
}

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

    fn occupancy(&self) -> Option<f64> {
        Some(self.load())
    }

    fn stats(&self) -> FilterStats {
        FilterStats {
            keys: self.keys,
            bytes: self.len(),
            error_rate: theory::cuckoo_error_rate(
                self.slots_taken(),
                self.count as u64,
                self.fingerprint_bits(),
            ),
        }
    }
}

impl Insert for Cuckoo {
    /// Adds a key, or another copy of it. A key that the filter already holds always fits.
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        let keys = self.keys.checked_add(1).ok_or(Full)?;
        let places = self.places(hash);
        let copies = self.copies_in_slots(places);
        let fits = copies < copies_in_slots(self.fingerprint_bits()) && self.place(places).is_ok();
        if !fits {
            if copies == 0 {
                return Err(Full);
            }
            *self.overflow.entry(places.identity()).or_insert(0) += 1;
            self.overflow_keys += 1;
        }
        self.keys = keys;
        Ok(())
    }
}

impl Remove for Cuckoo {
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent> {
        let places = self.places(hash);
        if let Some(copies) = self.overflow.get_mut(&places.identity()) {
            *copies -= 1;
            if *copies == 0 {
                self.overflow.remove(&places.identity());
            }
            self.overflow_keys -= 1;
        } else if !self.replace(places.first, places.fingerprint, 0)
            && !self.replace(places.second, places.fingerprint, 0)
        {
            return Err(Absent);
        }
        self.keys -= 1;
        Ok(())
    }
}
