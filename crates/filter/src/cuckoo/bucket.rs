//! Buckets of packed fingerprints, and where a key's two buckets are.
//!
//! A bucket is one little-endian word of at most 64 bits; slot s of it holds bits s·f to s·f + f − 1.
//! A slot without a key holds 0. All slots of a word are compared at once, by arithmetic on the word.
//!
//! Buckets follow each other without a gap. Four slots of an odd number of bits end within a byte, so
//! every second bucket begins at the upper half of the byte in which the one before it ends.

use crate::hash::KeyHash;
use crate::kernel::{self, PREFETCH_DISTANCE};

/// Evaluates the first expression for a layout of four slots, with the bits of a fingerprint and the bytes that
/// a bucket touches as constants; the second for layouts of other slots.
macro_rules! for_width {
    ($layout:expr, $BITS:ident, $SPAN:ident => $with:expr, $else:expr) => {
        for_width!(@widths $layout, $BITS, $SPAN, $with, $else,
            4 2, 5 3, 6 3, 7 4, 8 4, 9 5, 10 5, 11 6, 12 6, 13 7, 14 7, 15 8, 16 8)
    };
    (@widths $layout:expr, $BITS:ident, $SPAN:ident, $with:expr, $else:expr, $($bits:literal $span:literal),*) => {
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

/// How fingerprints lie in a bucket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Buckets {
    /// Bits of a fingerprint.
    bits: u32,
    /// Fingerprints of a bucket.
    slots: u32,
    /// The lowest bit of each slot.
    low: u64,
    /// The highest bit of each slot.
    high: u64,
}

impl Buckets {
    /// Lays out buckets of `slots` fingerprints.
    ///
    /// # Panics
    ///
    /// If a bucket is larger than a word, or neither made of whole bytes nor of four slots.
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

    /// Bits of a fingerprint.
    pub(super) const fn fingerprint_bits(self) -> u32 {
        self.bits
    }

    /// Fingerprints of a bucket.
    pub(super) const fn slots(self) -> u32 {
        self.slots
    }

    /// Bits of a bucket: a multiple of four.
    pub(super) const fn bucket_bits(self) -> u32 {
        self.bits * self.slots
    }

    /// Returns how many bytes so many buckets take, the last one to its end; `u64::MAX` for more than
    /// there can be.
    pub(super) const fn table_len(self, count: u64) -> u64 {
        match count.checked_mul(self.bucket_bits() as u64) {
            Some(bits) => bits.div_ceil(8),
            None => u64::MAX,
        }
    }

    /// Returns how many buckets have room in so many bytes.
    pub(super) const fn count_in(self, len: u64) -> u64 {
        let bits = len as u128 * 8;
        // A bucket has eight bits at least, so there are no more of them than bytes.
        (bits / self.bucket_bits() as u128) as u64
    }

    /// The largest fingerprint; the smallest is 1.
    const fn fingerprint_max(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// Reads a bucket. One that is not there is empty.
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
        let place = &mut table[at..at + self.span()];
        let mut bytes = [0; 8];
        bytes[..place.len()].copy_from_slice(place);
        let old = u64::from_le_bytes(bytes) & !(self.mask() << shift);
        let bytes = (old | word << shift).to_le_bytes();
        place.copy_from_slice(&bytes[..place.len()]);
    }

    /// Returns whether nothing follows the last bucket in its last byte.
    pub(super) fn ends_clean(self, table: &[u8], count: usize) -> bool {
        let ends_within = !self.bucket_bits().is_multiple_of(8) && !count.is_multiple_of(2);
        !ends_within || table.last().is_none_or(|last| last >> 4 == 0)
    }

    /// Bytes that a bucket touches. Those of half bytes touch as many, whichever half is theirs.
    #[inline]
    const fn span(self) -> usize {
        (self.bucket_bits() as usize).div_ceil(8)
    }

    /// All bits of a bucket.
    #[inline]
    const fn mask(self) -> u64 {
        u64::MAX >> (u64::BITS - self.bucket_bits())
    }

    /// Returns the byte in which a bucket begins, and at which bit of it: 0 or 4.
    #[inline]
    const fn position(self, bucket: usize) -> (usize, u32) {
        if self.bucket_bits().is_multiple_of(8) {
            return (bucket * self.span(), 0);
        }
        // Two buckets of four slots take as many bytes as a fingerprint has bits.
        let odd = bucket & 1;
        (bucket / 2 * self.bits as usize + odd * (self.bits / 2) as usize, 4 * odd as u32)
    }

    /// Reads a bucket that touches so many bytes. One that is not there is empty.
    #[inline]
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

    /// Returns the word with another fingerprint in a slot.
    pub(super) const fn with(self, word: u64, slot: u32, fingerprint: u64) -> u64 {
        let shift = slot * self.bits;
        word & !(self.fingerprint_max() << shift) | fingerprint << shift
    }

    /// Returns the highest bit of each slot that holds the fingerprint, and of no other.
    ///
    /// A slot equals the fingerprint if their difference, by xor, is 0. Adding 2^(f−1) − 1 to the
    /// lower f − 1 bits of a difference carries into its highest bit unless they are all 0, and never
    /// further; so that bit, or the difference's own highest bit, says "not equal".
    const fn matches(self, word: u64, fingerprint: u64) -> u64 {
        let difference = word ^ (self.low * fingerprint);
        let lower = self.high - self.low;
        !(((difference & lower) + lower) | difference) & self.high
    }

    /// Returns the first slot that holds the fingerprint; 0 finds an empty one.
    pub(super) const fn find(self, word: u64, fingerprint: u64) -> Option<u32> {
        let matches = self.matches(word, fingerprint);
        if matches == 0 { None } else { Some(matches.trailing_zeros() / self.bits) }
    }

    /// Returns how many slots hold the fingerprint.
    pub(super) const fn count(self, word: u64, fingerprint: u64) -> u32 {
        self.matches(word, fingerprint).count_ones()
    }

    /// Returns whether either bucket of a key holds its fingerprint, for a table of `count` buckets.
    ///
    /// For the layouts that filters have, all numbers but the hash and the count are constants.
    #[inline]
    pub(super) fn contains(self, table: &[u8], count: usize, hash: KeyHash) -> bool {
        match (self.bits, self.slots) {
            (8, 4) => Self::new(8, 4).contains_in::<4>(table, count, hash),
            (12, 4) => Self::new(12, 4).contains_in::<6>(table, count, hash),
            (16, 4) => Self::new(16, 4).contains_in::<8>(table, count, hash),
            _ => self.contains_between(table, count, hash),
        }
    }

    /// The same for the widths in between. Not inlined, so that they cost the other widths nothing.
    #[inline(never)]
    fn contains_between(self, table: &[u8], count: usize, hash: KeyHash) -> bool {
        for_width!(
            self,
            BITS, SPAN => Self::new(BITS, 4).contains_in::<SPAN>(table, count, hash),
            self.holds(table, Places::new(hash, self, count))
        )
    }

    #[inline]
    fn contains_in<const SPAN: usize>(self, table: &[u8], count: usize, hash: KeyHash) -> bool {
        self.compare::<SPAN>(table, Places::new(hash, self, count))
    }

    /// Both buckets are loaded before either is looked at, so that a lookup waits for memory once,
    /// and there is no branch between them that could be mispredicted.
    ///
    /// Whether a difference is 0 in some slot is cheaper to tell than in which: taking 1 from each
    /// slot sets the highest bit of those that were 0, or that had it set before. A borrow can set
    /// another's too, but only after a slot that was 0. (Mycroft, 1987.)
    #[inline]
    fn compare<const SPAN: usize>(self, table: &[u8], places: Places) -> bool {
        let pattern = self.low.wrapping_mul(places.fingerprint);
        let first = self.load::<SPAN>(table, places.first) ^ pattern;
        let second = self.load::<SPAN>(table, places.second) ^ pattern;
        let zero = first.wrapping_sub(self.low) & !first | second.wrapping_sub(self.low) & !second;
        zero & self.high != 0
    }

    /// Says for each of many keys what [`contains`](Self::contains) would.
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

    /// Finds the places of a few keys and prefetches their buckets, then looks into them.
    fn batch_in<const BITS: u32, const SPAN: usize>(
        table: &[u8],
        count: usize,
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        let layout = const { Self::new(BITS, 4) };
        let nowhere = Places { fingerprint: 0, first: 0, second: 0 };
        let mut ahead = [nowhere; PREFETCH_DISTANCE];
        let batches = hashes.chunks(PREFETCH_DISTANCE).zip(answers.chunks_mut(PREFETCH_DISTANCE));
        for (hashes, answers) in batches {
            for (hash, places) in hashes.iter().zip(&mut ahead) {
                *places = Places::new(*hash, layout, count);
                layout.prefetch_in::<SPAN>(table, *places);
            }
            for (places, answer) in ahead.iter().zip(answers) {
                *answer = layout.compare::<SPAN>(table, *places);
            }
        }
    }

    /// Prefetches both buckets of a key.
    pub(super) fn prefetch(self, table: &[u8], count: usize, hash: KeyHash) {
        let places = Places::new(hash, self, count);
        for bucket in [places.first, places.second] {
            kernel::prefetch_at(table, self.position(bucket).0);
        }
    }

    /// The same, for buckets that touch so many bytes.
    #[inline]
    fn prefetch_in<const SPAN: usize>(self, table: &[u8], places: Places) {
        let (buckets, _) = table.as_chunks::<SPAN>();
        for bucket in [places.first, places.second] {
            if !self.bucket_bits().is_multiple_of(8) {
                kernel::prefetch_at(table, self.position(bucket).0);
            } else if let Some(bucket) = buckets.get(bucket) {
                kernel::prefetch(bucket);
            }
        }
    }

    /// Returns whether either bucket holds the fingerprint.
    pub(super) fn holds(self, table: &[u8], places: Places) -> bool {
        let holds = |bucket| self.find(self.word(table, bucket), places.fingerprint).is_some();
        holds(places.first) || holds(places.second)
    }
}

/// Reads a bucket of so many whole bytes. One that is not there is empty.
#[inline]
fn word<const LEN: usize>(table: &[u8], bucket: usize) -> u64 {
    let (buckets, _) = table.as_chunks::<LEN>();
    buckets.get(bucket).map_or(0, |bytes| {
        let mut word = [0; 8];
        word[..LEN].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    })
}

/// A key as the filter sees it. Keys that agree in fingerprint and buckets are the same to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Places {
    pub(super) fingerprint: u64,
    pub(super) first: usize,
    pub(super) second: usize,
}

impl Places {
    /// Finds a key's fingerprint and its two buckets out of `count`.
    ///
    /// The upper bits of the hash pick the first bucket, the lower 32 the fingerprint. It is spread
    /// evenly over 1 to 2^f − 1: mapping 0 to 1, as is often done, would double the share of 1.
    #[inline]
    pub(super) fn new(hash: KeyHash, buckets: Buckets, count: usize) -> Self {
        let lower = hash.get() & u64::from(u32::MAX);
        let fingerprint = 1 + ((lower * buckets.fingerprint_max()) >> 32);
        // A slot is below the count, which is a `usize`.
        let first = hash.slot(count as u64) as usize;
        Self { fingerprint, first, second: other_bucket(fingerprint, first, count) }
    }

    /// Returns the number that only the same fingerprint in the same buckets has, whichever of them
    /// is the first.
    pub(super) fn identity(self) -> u64 {
        // A bucket takes 48 bits at most: no machine addresses more than 2^57 bytes.
        ((self.first.min(self.second) as u64) << 16) | self.fingerprint
    }

    /// Finds the places that have an identity, if the fingerprint and the bucket exist and the
    /// bucket is the lower of the two.
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

/// Returns the other bucket in which a fingerprint may stand; the other's other is this one.
///
/// It is the mirror image (H(φ) − bucket) mod count. H must look random, and not only be even: two
/// kicks shift a key by H(φ) − H(ψ), and if H(φ) were a multiple of φ, then these differences would
/// be few, and kicks would turn in circles.
#[inline]
pub(super) fn other_bucket(fingerprint: u64, bucket: usize, count: usize) -> usize {
    let mixed = fingerprint.wrapping_mul(0x9e37_79b9_7f4a_7c15); // 2^64 over the golden ratio.
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let mirror = KeyHash::from_u64(mixed).slot(count as u64) as usize;
    // Both are below the count, so one addition brings the difference back into range.
    let (difference, borrowed) = mirror.overflowing_sub(bucket);
    if borrowed { difference.wrapping_add(count) } else { difference }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Comparing all slots at once is what comparing one after the other would be.
        #[test]
        fn slots_are_told_apart(
            (bits, slots) in prop_oneof![
                prop::sample::select(&[(8, 1), (8, 2), (8, 8), (16, 1), (16, 2)][..]),
                (4_u32..=16).prop_map(|bits| (bits, 4)),
            ],
            // Few fingerprints, so that they meet; neighbours, so that borrows have their chance.
            fingerprints in prop::collection::vec(
                prop::sample::select(&[0_u64, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff][..]), 24
            ),
            wanted in prop::sample::select(&[0_u64, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff][..]),
        ) {
            let buckets = Buckets::new(bits, slots);
            let wanted = wanted & buckets.fingerprint_max();
            // Full of ones: a bucket must be written whole, and its neighbours must be left alone.
            let mut table = vec![0xff; buckets.table_len(3) as usize];
            let mut taken = fingerprints.iter().map(|it| it & buckets.fingerprint_max());
            let full = buckets.mask();
            for bucket in 0..3 {
                let word = (0..slots).zip(&mut taken).fold(0, |word, (slot, fingerprint)| {
                    buckets.with(word, slot, fingerprint)
                });
                buckets.set_word(&mut table, bucket, word);
                prop_assert_eq!(buckets.word(&table, bucket), word);
                prop_assert!((bucket + 1..3).all(|later| buckets.word(&table, later) == full));
                let alike = |slot: &u32| buckets.get(word, *slot) == wanted;
                prop_assert_eq!(buckets.find(word, wanted), (0..slots).find(alike));
                prop_assert_eq!(buckets.count(word, wanted) as usize, (0..slots).filter(alike).count());
            }
            let mut written = fingerprints.iter().map(|it| it & buckets.fingerprint_max());
            for bucket in 0..3 {
                let word = buckets.word(&table, bucket);
                prop_assert!((0..slots).all(|slot| Some(buckets.get(word, slot)) == written.next()));
            }
            prop_assert_eq!(buckets.word(&table, 3), 0);
            let holds = |bucket| buckets.find(buckets.word(&table, bucket), wanted).is_some();
            for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 2)] {
                let places = Places { fingerprint: wanted, first, second };
                prop_assert_eq!(buckets.holds(&table, places), holds(first) || holds(second));
            }
        }

        /// The lookup with constants agrees with the one for any layout.
        #[test]
        fn both_lookups_agree(
            bits in 4_u32..=16,
            table in prop::collection::vec(any::<u8>(), 24..400),
            // In a table of random bytes every hash has its chance.
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
                let slowly = buckets.holds(&table, Places::new(hash, buckets, count));
                prop_assert_eq!(buckets.contains(&table, count, hash), slowly);
            }
        }

        /// Whatever the number of buckets, a power of two or not.
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
            let places = Places::new(KeyHash::from_u64(hash), buckets, count);
            let Places { fingerprint, first, second } = places;
            let turned = Places { fingerprint, first: second, second: first };
            prop_assert_eq!(places.identity(), turned.identity());
            let back = Places::from_identity(places.identity(), buckets, count);
            prop_assert!(back == Some(places) || back == Some(turned));
        }
    }

    #[test]
    fn fingerprints_are_spread_evenly_and_none_is_empty() {
        let buckets = Buckets::new(8, 4);
        let mut seen = [0_u32; 256];
        for hash in 0..255_000_u64 {
            // 255,000 hashes whose lower 32 bits are spread evenly.
            let hash = KeyHash::from_u64(hash * (1 << 32) / 255_000);
            seen[Places::new(hash, buckets, 10).fingerprint as usize] += 1;
        }
        assert_eq!(seen[0], 0);
        assert!(seen[1..].iter().all(|count| (999..=1001).contains(count)), "{seen:?}");
    }

    #[test]
    fn other_buckets_differ_from_fingerprint_to_fingerprint() {
        // Of 255 · 254 differences of mirrors nearly all are different numbers.
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
