//! Buckets of packed fingerprints, and the computation of a key's two buckets.
//!
//! A bucket is one little-endian word of at most 64 bits. With fingerprints of f bits, slot s has
//! bits s·f to s·f + f − 1. An empty slot holds 0. Arithmetic on the word compares all slots in
//! parallel.
//!
//! Buckets are stored without gaps. If f is odd, a bucket of four slots has a whole number of bytes
//! and four bits. Every second bucket then begins in the upper half of the byte in which the
//! previous bucket ends.

use crate::hash::KeyHash;
use crate::kernel::{self, PREFETCH_DISTANCE};

/// Evaluates the first expression for layouts of four slots, the second for others.
///
/// The first expression may use two constants: `$BITS`, the bits of a fingerprint, and `$SPAN`, the
/// number of bytes that a bucket touches. The list has these two numbers for each width.
macro_rules! for_width {
    ($layout:expr, $BITS:ident, $SPAN:ident => $with:expr, $else:expr) => {
        for_width!(@widths $layout, $BITS, $SPAN, $with, $else,
            4 2, 5 3, 6 3, 7 4, 8 4, 9 5, 10 5, 11 6, 12 6, 13 7, 14 7, 15 8, 16 8)
    };
    (
        @widths $layout:expr, $BITS:ident, $SPAN:ident, $with:expr, $else:expr,
        $($bits:literal $span:literal),*
    ) => {
        match ($layout.bits, $layout.slots) {
            $(($bits, 4) => {
                const $BITS: u32 = $bits;
                const $SPAN: usize = $span;
                $with
            })*
            _ => $else,
        }
    };
}

/// The layout of fingerprints in a bucket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Buckets {
    /// Bits of a fingerprint.
    bits: u32,
    /// Fingerprints of a bucket.
    slots: u32,
    /// A mask of the lowest bit of each slot.
    low: u64,
    /// A mask of the highest bit of each slot.
    high: u64,
}

impl Buckets {
    /// Returns the layout of buckets of `slots` fingerprints.
    ///
    /// # Panics
    ///
    /// If a bucket exceeds a word, or has neither whole bytes nor four slots.
    pub(super) const fn new(bits: u32, slots: u32) -> Self {
        assert!(bits >= 4 && bits <= 16 && bits * slots <= 64);
        assert!((bits * slots).is_multiple_of(8) || slots == 4);
        let (mut low, mut slot) = (0, 0);
        while slot < slots {
            low |= 1 << (slot * bits);
            slot += 1;
        }
        Self { bits, slots, low, high: low << (bits - 1) }
    }

    /// Returns the bits of a fingerprint.
    pub(super) const fn fingerprint_bits(self) -> u32 {
        self.bits
    }

    /// Returns the number of fingerprints in a bucket.
    pub(super) const fn slots(self) -> u32 {
        self.slots
    }

    /// Returns the number of bits of a bucket, a multiple of four.
    pub(super) const fn bucket_bits(self) -> u32 {
        self.bits * self.slots
    }

    /// Returns the number of bytes of `count` buckets, rounded up; `u64::MAX` on overflow.
    pub(super) const fn table_len(self, count: u64) -> u64 {
        match count.checked_mul(self.bucket_bits() as u64) {
            Some(bits) => bits.div_ceil(8),
            None => u64::MAX,
        }
    }

    /// Returns the number of buckets that fit into `len` bytes.
    pub(super) const fn count_in(self, len: u64) -> u64 {
        let bits = len as u128 * 8;
        // A bucket has at least eight bits, so the result is at most `len`.
        (bits / self.bucket_bits() as u128) as u64
    }

    /// Returns the largest fingerprint; the smallest is 1.
    const fn fingerprint_max(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// Reads a bucket; returns 0 if the bucket is after the end of the table.
    pub(super) fn word(self, table: &[u8], bucket: usize) -> u64 {
        match self.span() {
            1 => self.load::<1>(table, bucket),
            2 => self.load::<2>(table, bucket),
            3 => self.load::<3>(table, bucket),
            4 => self.load::<4>(table, bucket),
            5 => self.load::<5>(table, bucket),
            6 => self.load::<6>(table, bucket),
            7 => self.load::<7>(table, bucket),
            _ => self.load::<8>(table, bucket),
        }
    }

    /// Writes a bucket.
    pub(super) fn set_word(self, table: &mut [u8], bucket: usize, word: u64) {
        let (at, shift) = self.position(bucket);
        let target = &mut table[at..at + self.span()];
        let mut bytes = [0; 8];
        bytes[..target.len()].copy_from_slice(target);
        let old = u64::from_le_bytes(bytes) & !(self.mask() << shift);
        let bytes = (old | word << shift).to_le_bytes();
        target.copy_from_slice(&bytes[..target.len()]);
    }

    /// Returns whether the bits after the last bucket, up to the next byte, are zero.
    pub(super) fn is_padding_zero(self, table: &[u8], count: usize) -> bool {
        let ends_within = !self.bucket_bits().is_multiple_of(8) && !count.is_multiple_of(2);
        !ends_within || table.last().is_none_or(|last| last >> 4 == 0)
    }

    /// Returns the number of bytes that a bucket touches, the same for odd and even buckets.
    const fn span(self) -> usize {
        (self.bucket_bits() as usize).div_ceil(8)
    }

    /// Returns a mask of the bits of a bucket.
    const fn mask(self) -> u64 {
        u64::MAX >> (u64::BITS - self.bucket_bits())
    }

    /// Returns the index of a bucket's first byte, and the bucket's first bit in it: 0 or 4.
    const fn position(self, bucket: usize) -> (usize, u32) {
        if self.bucket_bits().is_multiple_of(8) {
            return (bucket * self.span(), 0);
        }
        // Two buckets have eight slots of `bits` bits, which is `bits` bytes.
        let odd = bucket & 1;
        (bucket / 2 * self.bits as usize + odd * (self.bits / 2) as usize, 4 * odd as u32)
    }

    /// Reads a bucket that touches `SPAN` bytes; returns 0 after the end of the table.
    fn load<const SPAN: usize>(self, table: &[u8], bucket: usize) -> u64 {
        if self.bucket_bits().is_multiple_of(8) {
            return word::<SPAN>(table, bucket);
        }
        let (at, shift) = self.position(bucket);
        let bytes = table.get(at..).and_then(|rest| rest.first_chunk::<SPAN>());
        bytes.map_or(0, |bytes| {
            let mut word = [0; 8];
            word[..SPAN].copy_from_slice(bytes);
            u64::from_le_bytes(word) >> shift & self.mask()
        })
    }

    /// Returns the fingerprint in a slot.
    pub(super) const fn get(self, word: u64, slot: u32) -> u64 {
        (word >> (slot * self.bits)) & self.fingerprint_max()
    }

    /// Returns the word with the fingerprint stored in a slot.
    pub(super) const fn with_slot(self, word: u64, slot: u32, fingerprint: u64) -> u64 {
        let shift = slot * self.bits;
        word & !(self.fingerprint_max() << shift) | fingerprint << shift
    }

    /// Returns a mask of the highest bits of the slots that hold the fingerprint.
    ///
    /// A slot of f bits equals the fingerprint if their xor is 0. The addition of 2^(f−1) − 1 to
    /// the lower f − 1 bits of the xor sets the highest bit of the slot unless these lower bits are
    /// all 0. The sum does not carry into the next slot. So the slot differs from the fingerprint
    /// if the highest bit of the sum or of the xor is set.
    const fn matches(self, word: u64, fingerprint: u64) -> u64 {
        let difference = word ^ (self.low * fingerprint);
        let lower = self.high - self.low;
        !(((difference & lower) + lower) | difference) & self.high
    }

    /// Returns the first slot that holds the fingerprint; for 0, the first empty slot.
    pub(super) const fn find(self, word: u64, fingerprint: u64) -> Option<u32> {
        let matches = self.matches(word, fingerprint);
        if matches == 0 { None } else { Some(matches.trailing_zeros() / self.bits) }
    }

    /// Returns the number of slots that hold the fingerprint.
    pub(super) const fn count(self, word: u64, fingerprint: u64) -> u32 {
        self.matches(word, fingerprint).count_ones()
    }

    /// Returns whether a table of `count` buckets may contain a key.
    ///
    /// For the common widths 8, 12 and 16, the layout is a constant, which gives faster code.
    #[inline]
    pub(super) fn contains(self, table: &[u8], count: usize, hash: KeyHash) -> bool {
        match (self.bits, self.slots) {
            (8, 4) => Self::new(8, 4).contains_in::<4>(table, count, hash),
            (12, 4) => Self::new(12, 4).contains_in::<6>(table, count, hash),
            (16, 4) => Self::new(16, 4).contains_in::<8>(table, count, hash),
            _ => self.contains_other_width(table, count, hash),
        }
    }

    /// Returns the result of [`contains`](Self::contains) for the other widths.
    ///
    /// Not inlined, so that a lookup with a common width stays small.
    #[inline(never)]
    fn contains_other_width(self, table: &[u8], count: usize, hash: KeyHash) -> bool {
        for_width!(
            self,
            BITS, SPAN => Self::new(BITS, 4).contains_in::<SPAN>(table, count, hash),
            self.holds(table, KeyBuckets::new(hash, self, count))
        )
    }

    fn contains_in<const SPAN: usize>(self, table: &[u8], count: usize, hash: KeyHash) -> bool {
        self.compare::<SPAN>(table, KeyBuckets::new(hash, self, count))
    }

    /// Returns whether either bucket holds the fingerprint, without a branch.
    ///
    /// Both buckets are loaded before they are compared, so that their cache misses overlap.
    ///
    /// To test whether any slot matches is cheaper than to find out which. A slot matches if its
    /// xor with the fingerprint is 0. Subtracting 1 from each slot sets the highest bit of the
    /// slots that were 0; `& !first` masks out the slots whose highest bit was set before. A borrow
    /// can also set the highest bit of the next slot, but only if a lower slot was 0, that is,
    /// matches. (Mycroft, 1987.)
    fn compare<const SPAN: usize>(self, table: &[u8], key: KeyBuckets) -> bool {
        let pattern = self.low.wrapping_mul(key.fingerprint);
        let first = self.load::<SPAN>(table, key.first) ^ pattern;
        let second = self.load::<SPAN>(table, key.second) ^ pattern;
        let zero = first.wrapping_sub(self.low) & !first | second.wrapping_sub(self.low) & !second;
        zero & self.high != 0
    }

    /// Writes the result of [`contains`](Self::contains) for each key.
    pub(super) fn contains_batch(
        self,
        table: &[u8],
        count: usize,
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
        for_width!(
            self,
            BITS, SPAN => Self::batch_in::<BITS, SPAN>(table, count, hashes, answers),
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer = self.contains(table, count, *hash);
            }
        );
    }

    /// Looks up the keys in batches: prefetches [`PREFETCH_DISTANCE`] keys, then compares them.
    fn batch_in<const BITS: u32, const SPAN: usize>(
        table: &[u8],
        count: usize,
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        let layout = const { Self::new(BITS, 4) };
        let unset = KeyBuckets { fingerprint: 0, first: 0, second: 0 };
        let mut prefetched = [unset; PREFETCH_DISTANCE];
        let batches = hashes.chunks(PREFETCH_DISTANCE).zip(answers.chunks_mut(PREFETCH_DISTANCE));
        for (hashes, answers) in batches {
            for (hash, key) in hashes.iter().zip(&mut prefetched) {
                *key = KeyBuckets::new(*hash, layout, count);
                layout.prefetch_in::<SPAN>(table, *key);
            }
            for (key, answer) in prefetched.iter().zip(answers) {
                *answer = layout.compare::<SPAN>(table, *key);
            }
        }
    }

    /// Prefetches both buckets of a key.
    pub(super) fn prefetch(self, table: &[u8], count: usize, hash: KeyHash) {
        let key = KeyBuckets::new(hash, self, count);
        for bucket in [key.first, key.second] {
            kernel::prefetch_at(table, self.position(bucket).0);
        }
    }

    /// Prefetches both buckets of a key, for buckets that touch `SPAN` bytes.
    fn prefetch_in<const SPAN: usize>(self, table: &[u8], key: KeyBuckets) {
        let (buckets, _) = table.as_chunks::<SPAN>();
        for bucket in [key.first, key.second] {
            if !self.bucket_bits().is_multiple_of(8) {
                kernel::prefetch_at(table, self.position(bucket).0);
            } else if let Some(bucket) = buckets.get(bucket) {
                kernel::prefetch_unit(bucket);
            }
        }
    }

    /// Returns whether either bucket holds the fingerprint.
    pub(super) fn holds(self, table: &[u8], key: KeyBuckets) -> bool {
        let holds = |bucket| self.find(self.word(table, bucket), key.fingerprint).is_some();
        holds(key.first) || holds(key.second)
    }
}

/// Reads a bucket of `LEN` whole bytes; returns 0 after the end of the table.
#[inline]
fn word<const LEN: usize>(table: &[u8], bucket: usize) -> u64 {
    let (buckets, _) = table.as_chunks::<LEN>();
    buckets.get(bucket).map_or(0, |bytes| {
        let mut word = [0; 8];
        word[..LEN].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    })
}

/// The fingerprint and the two buckets of a key.
///
/// The filter cannot distinguish two keys that have the same fingerprint and the same buckets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct KeyBuckets {
    pub(super) fingerprint: u64,
    pub(super) first: usize,
    pub(super) second: usize,
}

impl KeyBuckets {
    /// Computes the fingerprint and the two buckets, out of `count`, of a key.
    ///
    /// The upper bits of the hash give the first bucket, the lower 32 bits the fingerprint.
    /// Fingerprints of f bits are uniform over 1 to 2^f − 1. The common alternative, to replace 0
    /// by 1, would make the fingerprint 1 twice as frequent as the others.
    #[inline]
    pub(super) fn new(hash: KeyHash, buckets: Buckets, count: usize) -> Self {
        let lower = hash.get() & u64::from(u32::MAX);
        let fingerprint = 1 + ((lower * buckets.fingerprint_max()) >> 32);
        // The result is below `count`, which is a `usize`.
        let first = hash.slot(count as u64) as usize;
        Self { fingerprint, first, second: other_bucket(fingerprint, first, count) }
    }

    /// Returns a number that identifies the fingerprint and the unordered pair of buckets.
    pub(super) fn identity(self) -> u64 {
        // 48 bits are enough for a bucket index: 2^48 buckets of two bytes exceed any memory.
        ((self.first.min(self.second) as u64) << 16) | self.fingerprint
    }

    /// Returns the fingerprint and the two buckets of an identity.
    ///
    /// `None` if the fingerprint or the bucket is out of range, or if the bucket in the identity is
    /// not the lower of the two.
    pub(super) fn from_identity(identity: u64, buckets: Buckets, count: usize) -> Option<Self> {
        let fingerprint = identity & 0xffff;
        let first = usize::try_from(identity >> 16).ok().filter(|first| *first < count)?;
        if !(1..=buckets.fingerprint_max()).contains(&fingerprint) {
            return None;
        }
        let second = other_bucket(fingerprint, first, count);
        (first <= second).then_some(Self { fingerprint, first, second })
    }
}

/// Returns the other bucket of a fingerprint; this function is its own inverse.
///
/// The other bucket is (H(φ) − bucket) mod count. H must look random, not only be uniform: if an
/// insert kicks fingerprint φ from bucket i and then ψ from φ's other bucket, ψ moves to bucket
/// i + H(ψ) − H(φ). If H(φ) were a multiple of φ, few such differences would exist, and a chain of
/// kicks would soon return to the buckets where it has been.
pub(super) fn other_bucket(fingerprint: u64, bucket: usize, count: usize) -> usize {
    let mixed = fingerprint.wrapping_mul(0x9e37_79b9_7f4a_7c15); // 2^64 over the golden ratio.
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let mirror = KeyHash::from_u64(mixed).slot(count as u64) as usize;
    // `mirror` and `bucket` are below `count`, so one addition makes a negative difference valid.
    let (difference, borrowed) = mirror.overflowing_sub(bucket);
    if borrowed { difference.wrapping_add(count) } else { difference }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The parallel comparison gives the same result as the comparison of one slot at a time.
        #[test]
        fn slots_are_compared_independently(
            (bits, slots) in prop_oneof![
                prop::sample::select(&[(8, 1), (8, 2), (8, 8), (16, 1), (16, 2)][..]),
                (4_u32..=16).prop_map(|bits| (bits, 4)),
            ],
            // Few values, so that some are equal; adjacent values, so that borrows occur.
            fingerprints in prop::collection::vec(
                prop::sample::select(&[0_u64, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff][..]), 24
            ),
            wanted in prop::sample::select(&[0_u64, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff][..]),
        ) {
            let buckets = Buckets::new(bits, slots);
            let wanted = wanted & buckets.fingerprint_max();
            // All ones: a write must cover the whole bucket and leave its neighbours unchanged.
            let mut table = vec![0xff; buckets.table_len(3) as usize];
            let mut taken = fingerprints.iter().map(|fingerprint| fingerprint & buckets.fingerprint_max());
            let full = buckets.mask();
            for bucket in 0..3 {
                let word = (0..slots).zip(&mut taken).fold(0, |word, (slot, fingerprint)| {
                    buckets.with_slot(word, slot, fingerprint)
                });
                buckets.set_word(&mut table, bucket, word);
                prop_assert_eq!(buckets.word(&table, bucket), word);
                prop_assert!((bucket + 1..3).all(|later| buckets.word(&table, later) == full));
                let alike = |slot: &u32| buckets.get(word, *slot) == wanted;
                prop_assert_eq!(buckets.find(word, wanted), (0..slots).find(alike));
                let count = (0..slots).filter(alike).count();
                prop_assert_eq!(buckets.count(word, wanted) as usize, count);
            }
            let mut written = fingerprints.iter().map(|fingerprint| fingerprint & buckets.fingerprint_max());
            for bucket in 0..3 {
                let word = buckets.word(&table, bucket);
                let mut slots = 0..slots;
                prop_assert!(slots.all(|slot| Some(buckets.get(word, slot)) == written.next()));
            }
            prop_assert_eq!(buckets.word(&table, 3), 0);
            let holds = |bucket| buckets.find(buckets.word(&table, bucket), wanted).is_some();
            for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 2)] {
                let key = KeyBuckets { fingerprint: wanted, first, second };
                prop_assert_eq!(buckets.holds(&table, key), holds(first) || holds(second));
            }
        }

        /// The lookup with constant widths, the batched one and the general one agree.
        #[test]
        fn all_lookups_agree(
            bits in 4_u32..=16,
            table in prop::collection::vec(any::<u8>(), 24..400),
            hashes in prop::collection::vec(any::<u64>(), 200),
        ) {
            let buckets = Buckets::new(bits, 4);
            let count = buckets.count_in(table.len() as u64) as usize;
            let hashes: Vec<_> = hashes.into_iter().map(KeyHash::from_u64).collect();
            let mut answers = vec![false; hashes.len()];
            buckets.contains_batch(&table, count, &hashes, &mut answers);
            for (hash, answer) in hashes.into_iter().zip(answers) {
                buckets.prefetch(&table, count, hash);
                prop_assert_eq!(buckets.contains(&table, count, hash), answer);
                let slowly = buckets.holds(&table, KeyBuckets::new(hash, buckets, count));
                prop_assert_eq!(buckets.contains(&table, count, hash), slowly);
            }
        }

        /// The number of buckets need not be a power of two.
        #[test]
        fn the_other_bucket_of_the_other_bucket_is_the_bucket(
            fingerprint in 1_u64..1 << 16,
            count in prop_oneof![1..20_usize, 1..1_usize << 40],
            bucket: prop::sample::Index,
        ) {
            let bucket = bucket.index(count);
            let other = other_bucket(fingerprint, bucket, count);
            prop_assert!(other < count);
            prop_assert_eq!(other_bucket(fingerprint, other, count), bucket);
        }

        #[test]
        fn an_identity_is_the_same_from_either_bucket(hash: u64, count in 1..1000_usize) {
            let buckets = Buckets::new(12, 4);
            let key = KeyBuckets::new(KeyHash::from_u64(hash), buckets, count);
            let KeyBuckets { fingerprint, first, second } = key;
            let turned = KeyBuckets { fingerprint, first: second, second: first };
            prop_assert_eq!(key.identity(), turned.identity());
            let back = KeyBuckets::from_identity(key.identity(), buckets, count);
            prop_assert!(back == Some(key) || back == Some(turned));
        }
    }

    #[test]
    fn fingerprints_are_spread_evenly_and_none_is_empty() {
        let buckets = Buckets::new(8, 4);
        let mut seen = [0_u32; 256];
        for hash in 0..255_000_u64 {
            // 255,000 hashes whose lower 32 bits are spread evenly.
            let hash = KeyHash::from_u64(hash * (1 << 32) / 255_000);
            seen[KeyBuckets::new(hash, buckets, 10).fingerprint as usize] += 1;
        }
        assert_eq!(seen[0], 0);
        assert!(seen[1..].iter().all(|count| (999..=1001).contains(count)), "{seen:?}");
    }

    #[test]
    fn other_buckets_differ_from_fingerprint_to_fingerprint() {
        // Nearly all of the 255 · 254 differences are distinct.
        let count = 1 << 40;
        let mirrors: Vec<_> =
            (1..256).map(|fingerprint| other_bucket(fingerprint, 0, count)).collect();
        let differences: std::collections::BTreeSet<_> = mirrors
            .iter()
            .flat_map(|one| mirrors.iter().map(move |other| one.wrapping_sub(*other)))
            .collect();
        assert!(differences.len() > 255 * 254 - 100, "{}", differences.len());
    }
}
