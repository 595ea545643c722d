//! The cuckoo filter of the Go package `github.com/seiflotfy/cuckoofilter`, in the same format.
//!
//! A bucket has four slots, one byte each. The number of buckets `n` is a power of two. With `hash`
//! = `MetroHash64` of the key with seed 1337, the fingerprint and the two buckets of a key are:
//!
//! ```text
//! fingerprint = hash mod 255 + 1                     1 ..= 255; 0 is an empty slot
//! bucket      = (hash >> 32) mod n
//! other       = bucket xor ((MetroHash64 of the byte `fingerprint`, seed 1337) mod n)
//! ```
//!
//! The serialised form (`Encode`, `Decode`) has no header:
//!
//! | at      | bytes | field       | meaning                                                      |
//! |--------:|------:|-------------|--------------------------------------------------------------|
//! | `4·b+s` |     1 | fingerprint | slot `s` of bucket `b`; `n` = length / 4                     |
//!
//! A new fingerprint takes the first free slot of its bucket or, if that is full, of its other
//! bucket. If both are full, a stored fingerprint moves to its other bucket. Until then, a filter
//! built here and a filter that Go built from the same keys in the same order have equal bytes.
//! Afterwards they differ, because the Go package moves random fingerprints. Both filters still
//! contain all inserted keys, and each package can read the other's bytes.
//!
//! Two behaviours of the Go package are not copied. `Decode` accepts a number of buckets that is
//! not a power of two, and lookups then miss inserted keys; here this number is an error,
//! [`NotGoCuckoo::BucketCount`]. A failed `Insert` drops the fingerprint of another key, which
//! lookups then miss; here a failed insert changes nothing.

use alloc::vec::Vec;

use filter::theory::cuckoo_error_rate;
use filter::{Absent, BuildError, Full};

use crate::allocate::allocate;
use crate::metro::metro64;

/// The number of slots of a bucket.
const SLOTS: usize = 4;

/// The package's seed for hashes of keys and of fingerprints.
const SEED: u64 = 1337;

/// The maximum number of fingerprints that an insert moves, as in the Go package.
const MOVES_MAX: usize = 500;

/// A cuckoo filter with the hashes and the serialised form of the Go package's `Filter`.
///
/// ```
/// use foreign_filters::GoCuckoo;
///
/// let mut filter = GoCuckoo::new(1_000)?;
/// filter.insert(b"row1")?;
/// assert!(filter.may_contain(b"row1"));
///
/// let bytes = filter.to_bytes(); // `cuckoo.Decode` in Go reads them.
/// let mut again = GoCuckoo::from_bytes(&bytes)?;
/// assert_eq!(again, filter);
/// again.remove(b"row1")?;
/// assert!(again.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GoCuckoo {
    /// The fingerprints, 0 in an empty slot. The number of buckets is a power of two.
    buckets: Vec<[u8; SLOTS]>,
    /// The number of used slots.
    keys: u64,
}

/// How an insert found a slot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Placement {
    /// One of the key's two buckets had a free slot. The Go package chooses the same slot.
    Free,
    /// Other fingerprints were moved. The Go package moves random ones, so its bytes differ.
    Moved,
}

/// The fingerprint and the two buckets of a key.
#[derive(Clone, Copy, Debug)]
struct KeyBuckets {
    fingerprint: u8,
    first: usize,
    second: usize,
}

impl GoCuckoo {
    /// Creates an empty filter as large as the filter of `NewFilter(capacity)` in Go.
    ///
    /// The number of slots is `capacity`, rounded up to a power of two, and at least 4.
    ///
    /// Inserts begin to fail when about 95 % of the slots are used. If the number of keys exceeds
    /// 95 % of the power of two to which it is rounded up, pass a greater capacity.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if the slots do not fit into memory.
    pub fn new(capacity: u64) -> Result<Self, BuildError> {
        let slots = capacity.max(4).checked_next_power_of_two().ok_or(BuildError::Memory)?;
        Ok(Self { buckets: allocate(slots >> SLOTS.trailing_zeros(), [0; SLOTS])?, keys: 0 })
    }

    /// Inserts a key, or another copy of it.
    ///
    /// A filter can hold at most eight copies of a key: four in each of its two buckets.
    ///
    /// # Errors
    ///
    /// [`Full`] if no slot was found; the filter is then unchanged. (In the Go package, `Insert`
    /// returns `false` and another key is lost.)
    ///
    /// # Panics
    ///
    /// Never: the key count is at most the number of slots, and does not overflow.
    pub fn insert(&mut self, key: &[u8]) -> Result<Placement, Full> {
        let KeyBuckets { fingerprint, first, second } = self.key_buckets(key);
        let placement =
            if self.replace(first, 0, fingerprint) || self.replace(second, 0, fingerprint) {
                Placement::Free
            } else {
                self.move_others(fingerprint, first)?;
                Placement::Moved
            };
        self.keys = self.keys.checked_add(1).expect("fewer keys than slots");
        Ok(placement)
    }

    /// Returns whether the key may have been inserted; `false` is certain.
    pub fn may_contain(&self, key: &[u8]) -> bool {
        let KeyBuckets { fingerprint, first, second } = self.key_buckets(key);
        self.bucket(first).contains(&fingerprint) || self.bucket(second).contains(&fingerprint)
    }

    /// Removes one copy of a key, as `Delete` does. Only a key that was inserted may be removed.
    ///
    /// # Errors
    ///
    /// [`Absent`] if neither of its buckets has its fingerprint; the filter is then unchanged.
    ///
    /// # Panics
    ///
    /// Never: the key count includes every used slot.
    pub fn remove(&mut self, key: &[u8]) -> Result<(), Absent> {
        let KeyBuckets { fingerprint, first, second } = self.key_buckets(key);
        if !self.replace(first, fingerprint, 0) && !self.replace(second, fingerprint, 0) {
            return Err(Absent);
        }
        self.keys = self.keys.checked_sub(1).expect("a key was in a slot");
        Ok(())
    }

    /// Returns the number of keys, including copies (`Count`).
    pub const fn len(&self) -> u64 {
        self.keys
    }

    /// Returns whether the filter holds no key.
    pub const fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// Returns the number of slots.
    pub fn slot_count(&self) -> u64 {
        length(self.buckets.as_flattened())
    }

    /// Returns the expected error rate: 1 − (1 − 2/(255·n))^keys for n buckets.
    pub fn error_rate(&self) -> f64 {
        cuckoo_error_rate(self.keys, length(&self.buckets), 8)
    }

    /// Returns the serialised form, as `Encode` does.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.buckets.as_flattened().to_vec()
    }

    /// Reads the serialised form, as `Decode` does.
    ///
    /// # Errors
    ///
    /// [`NotGoCuckoo`] if no filter of the Go package has that length. The form has no checksum, so
    /// other damage is not detected.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotGoCuckoo> {
        let (buckets, rest) = bytes.as_chunks::<SLOTS>();
        if !rest.is_empty() || bytes.is_empty() {
            return Err(NotGoCuckoo::Length(bytes.len()));
        }
        if !buckets.len().is_power_of_two() {
            return Err(NotGoCuckoo::BucketCount(buckets.len()));
        }
        let keys = bytes.iter().map(|fingerprint| u64::from(*fingerprint != 0)).sum();
        Ok(Self { buckets: buckets.to_vec(), keys })
    }

    fn key_buckets(&self, key: &[u8]) -> KeyBuckets {
        let hash = metro64(key, SEED);
        let fingerprint = u8::try_from((hash % 255).wrapping_add(1)).expect("1 to 255");
        let first = self.bucket_of(hash >> 32);
        KeyBuckets { fingerprint, first, second: self.other_bucket(fingerprint, first) }
    }

    /// Returns the other bucket of a fingerprint. Applied twice, it returns the first bucket.
    fn other_bucket(&self, fingerprint: u8, bucket: usize) -> usize {
        bucket ^ self.bucket_of(metro64(&[fingerprint], SEED))
    }

    /// Reduces a hash to the index of a bucket.
    fn bucket_of(&self, hash: u64) -> usize {
        // The number of buckets is a power of two, so the mask is that number minus one.
        let mask = length(&self.buckets).checked_sub(1).expect("there is a bucket");
        usize::try_from(hash & mask).expect("below the number of buckets")
    }

    fn bucket(&self, bucket: usize) -> &[u8; SLOTS] {
        self.buckets.get(bucket).expect("indexes are reduced to the number of buckets")
    }

    /// Replaces the first slot of value `old` in a bucket; returns whether there was one.
    ///
    /// An empty slot has the value 0.
    fn replace(&mut self, bucket: usize, old: u8, new: u8) -> bool {
        let bucket = self.buckets.get_mut(bucket).expect("reduced to the number of buckets");
        let slot = bucket.iter_mut().find(|slot| **slot == old);
        slot.map(|slot| *slot = new).is_some()
    }

    /// Stores a fingerprint in a full bucket, by moving stored fingerprints to their other buckets.
    ///
    /// Reverts all moves and fails if there is no free slot after [`MOVES_MAX`] moves.
    fn move_others(&mut self, fingerprint: u8, bucket: usize) -> Result<(), Full> {
        let (mut carried, mut bucket) = (fingerprint, bucket);
        // Seeded from the filter's state, so that the same inserts give the same filter.
        let mut random = metro64(&[fingerprint], length(&self.buckets) ^ self.keys);
        let mut moves = Vec::with_capacity(MOVES_MAX);
        for _ in 0..MOVES_MAX {
            // A step of Knuth's linear congruential generator for MMIX. Only its upper bits are
            // random enough, so they choose the slot.
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let slot = usize::try_from(random >> 62).expect("two bits");
            moves.push((bucket, slot));
            carried = self.swap(bucket, slot, carried);
            bucket = self.other_bucket(carried, bucket);
            if self.replace(bucket, 0, carried) {
                return Ok(());
            }
        }
        for (bucket, slot) in moves.into_iter().rev() {
            carried = self.swap(bucket, slot, carried);
        }
        assert_eq!(carried, fingerprint, "all moves are reverted");
        Err(Full)
    }

    fn swap(&mut self, bucket: usize, slot: usize, fingerprint: u8) -> u8 {
        let bucket = self.buckets.get_mut(bucket).expect("reduced to the number of buckets");
        core::mem::replace(bucket.get_mut(slot).expect("below four"), fingerprint)
    }
}

/// Returns the length of a slice as `u64`.
fn length<T>(slice: &[T]) -> u64 {
    u64::try_from(slice.len()).expect("a length in memory")
}

/// The error for bytes that the Go package never writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotGoCuckoo {
    /// The bytes are empty or not whole buckets.
    #[error("{0} bytes are not whole buckets of four fingerprints")]
    Length(usize),
    /// The number of buckets is not a power of two, so `other` does not lead back to `bucket`.
    #[error("{0} buckets are not a power of two")]
    BucketCount(usize),
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    fn key(number: u64) -> [u8; 8] {
        number.to_le_bytes()
    }

    #[test]
    fn sizes_are_those_of_the_go_package() {
        // Capacity and slots, from `len(NewFilter(capacity).Encode())`.
        for (capacity, slots) in
            [(0, 4), (1, 4), (4, 4), (5, 8), (8, 8), (9, 16), (1_000, 1_024), (10_000, 16_384)]
        {
            let filter = GoCuckoo::new(capacity).expect("small");
            assert_eq!(filter.slot_count(), slots, "{capacity}");
        }
        assert_eq!(GoCuckoo::new(u64::MAX), Err(BuildError::Memory));
        assert_eq!(GoCuckoo::new(1 << 62), Err(BuildError::Memory));
    }

    #[test]
    fn a_full_filter_refuses_keys_and_loses_none() {
        let mut filter = GoCuckoo::new(4_096).expect("small");
        let mut members = vec![];
        let mut moved = 0;
        let mut refused = 0;
        for number in 0..4_300 {
            let before = filter.clone();
            if let Ok(placement) = filter.insert(&key(number)) {
                moved += u64::from(placement == Placement::Moved);
                members.push(number);
            } else {
                refused += 1;
                assert_eq!(filter, before);
            }
        }
        assert!(moved > 100 && refused > 100, "{moved} moved, {refused} refused");
        assert_eq!(filter.len(), members.len() as u64);
        assert!(filter.len() * 100 > filter.slot_count() * 95, "{}", filter.len());
        assert!(members.iter().all(|number| filter.may_contain(&key(*number))));
        for number in members {
            filter.remove(&key(number)).expect("a member");
        }
        assert!(filter.is_empty());
        assert_eq!(filter.remove(&key(0)), Err(Absent));
    }

    #[test]
    fn the_ninth_copy_is_refused() {
        let mut filter = GoCuckoo::new(10_000).expect("small");
        for copy in 1..=8 {
            assert!(filter.insert(b"again").is_ok(), "copy {copy}");
        }
        assert_eq!(filter.insert(b"again"), Err(Full));
        assert_eq!(filter.len(), 8);
    }

    #[test]
    fn absent_keys_pass_as_often_as_theory_says() {
        let mut filter = GoCuckoo::new(1 << 16).expect("small");
        for number in 0..60_000 {
            filter.insert(&key(number)).expect("room");
        }
        let passed = (100_000..300_000).filter(|n| filter.may_contain(&key(*n))).count() as f64;
        let expected = filter.error_rate() * 200_000.0;
        assert!((passed - expected).abs() < 4.0 * expected.sqrt(), "{passed}, not {expected}");
    }

    #[test]
    fn lengths_that_go_never_writes_are_refused() {
        for len in 0..70 {
            let read = GoCuckoo::from_bytes(&vec![7; len]);
            let sound = len % 4 == 0 && (len / 4).is_power_of_two();
            assert_eq!(read.is_ok(), sound, "{len} bytes");
        }
        assert_eq!(GoCuckoo::from_bytes(&[0; 12]), Err(NotGoCuckoo::BucketCount(3)));
    }

    proptest! {
        /// All bytes of a valid length can be read as a filter, which can be changed and written.
        #[test]
        fn any_bytes_do_no_harm(
            pow in 0_u32..6,
            bytes in prop::collection::vec(any::<u8>(), 4 << 6),
            keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..50),
        ) {
            let bytes = &bytes[..4 << pow];
            let mut filter = GoCuckoo::from_bytes(bytes).expect("a power of two of buckets");
            prop_assert_eq!(filter.to_bytes(), bytes);
            for key in &keys {
                if filter.insert(key).is_ok() {
                    prop_assert!(filter.may_contain(key));
                }
            }
            for key in &keys {
                let _ = filter.remove(key);
            }
        }
    }
}
