//! `SimpleBloomFilter`, a widely copied Java class: several string hashes over one `BitSet`.
//!
//! ```java
//! int hash(String value) {                     // one hash per seed; `cap` is the number of bits
//!   int result = 0;
//!   for (int i = 0; i < value.length(); i++) result = seed * result + value.charAt(i);
//!   return (cap - 1) & result;
//! }
//! ```
//!
//! The usual parameters are the seeds 5 7 11 13 31 37 61 and 2^25 bits; these are
//! [`SimpleBloom::default`]. A key is text, not bytes: `charAt` returns UTF-16 units. `int`
//! arithmetic wraps. Java writes the bits with `BitSet.toByteArray` and reads them with
//! `BitSet.valueOf`:
//!
//! | at      | bytes | field | meaning                                                              |
//! |--------:|------:|-------|----------------------------------------------------------------------|
//! | `i / 8` |     1 | bits  | bit `i` of the set is bit `i mod 8` of this byte, lowest first        |
//!
//! Trailing zero bytes are not written.
//!
//! The hash is weak: it collides often if a seed shares a factor with the number of bits, or if the
//! texts have one or two characters. Use this type to read existing filters; for new ones use
//! [`Blocked`](filter::Blocked).

use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU32;

/// The usual seeds of the class.
pub const SEEDS: [u32; 7] = [5, 7, 11, 13, 31, 37, 61];

/// The usual number of bits of the class: 2^25, 4 MiB.
const BITS: NonZeroU32 = NonZeroU32::new(1 << 25).expect("not 0");

/// A Bloom filter of texts with the same bits as the Java class `SimpleBloomFilter`.
///
/// ```
/// use foreign_filters::SimpleBloom;
///
/// let mut seen = SimpleBloom::default();
/// seen.insert("https://example.org/");
/// assert!(seen.may_contain("https://example.org/"));
/// assert!(!seen.may_contain("https://example.org/other"));
///
/// // Java reads these bytes with `BitSet.valueOf`.
/// let bytes = seen.to_bitset();
/// assert_eq!(SimpleBloom::default().with_bitset(&bytes), Ok(seen));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SimpleBloom {
    bits: NonZeroU32,
    seeds: Vec<u32>,
    bytes: Vec<u8>,
}

impl Default for SimpleBloom {
    fn default() -> Self {
        Self::new(BITS, &SEEDS)
    }
}

impl SimpleBloom {
    /// Creates an empty filter of `bits` bits, with one hash per seed.
    ///
    /// If `bits` is a power of two, the position is the masked hash, as in Java. Otherwise it is the
    /// unsigned hash modulo `bits`, because Java's mask would leave some bits unused.
    pub fn new(bits: NonZeroU32, seeds: &[u32]) -> Self {
        let bytes = vec![0; bits.get().div_ceil(8) as usize];
        Self { bits, seeds: seeds.to_vec(), bytes }
    }

    /// Inserts a text.
    pub fn insert(&mut self, text: &str) {
        for &seed in &self.seeds {
            let bit = position(text, seed, self.bits);
            self.bytes[bit as usize / 8] |= 1 << (bit % 8);
        }
    }

    /// Returns false if the text was certainly never inserted, true if it may have been.
    pub fn may_contain(&self, text: &str) -> bool {
        self.seeds.iter().all(|&seed| {
            let bit = position(text, seed, self.bits);
            self.bytes[bit as usize / 8] & 1 << (bit % 8) != 0
        })
    }

    /// Returns the number of bits of the filter.
    pub const fn bits(&self) -> u32 {
        self.bits.get()
    }

    /// Returns the seeds, one per hash.
    pub fn seeds(&self) -> &[u32] {
        &self.seeds
    }

    /// Returns the bits as Java's `BitSet.toByteArray` does: without trailing zero bytes.
    pub fn to_bitset(&self) -> Vec<u8> {
        let len = self.bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        self.bytes[..len].to_vec()
    }

    /// Replaces the bits with the output of Java's `BitSet.toByteArray`.
    ///
    /// # Errors
    ///
    /// [`BitSetTooLong`] if a bit beyond this filter's size is set: the bit set belongs to a filter
    /// of another size.
    pub fn with_bitset(mut self, bytes: &[u8]) -> Result<Self, BitSetTooLong> {
        let last = bytes.iter().rposition(|&byte| byte != 0);
        let bit_len = last.map_or(0, |at| 8 * at as u64 + u64::from(8 - bytes[at].leading_zeros()));
        if bit_len > u64::from(self.bits.get()) {
            return Err(BitSetTooLong { bits: self.bits.get() });
        }
        let len = last.map_or(0, |at| at + 1);
        self.bytes.fill(0);
        self.bytes[..len].copy_from_slice(&bytes[..len]);
        Ok(self)
    }
}

/// Returns the index of the bit that a text sets with this seed.
fn position(text: &str, seed: u32, bits: NonZeroU32) -> u32 {
    let hash = text
        .encode_utf16()
        .fold(0_u32, |hash, unit| seed.wrapping_mul(hash).wrapping_add(u32::from(unit)));
    if bits.is_power_of_two() { hash & (bits.get() - 1) } else { hash % bits }
}

/// A bit set has bits beyond the size of the filter.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the bit set has bits beyond the filter's {bits}: it belongs to a filter of another size")]
pub struct BitSetTooLong {
    /// The number of bits of the filter.
    pub bits: u32,
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    /// The positions that Java computes for these texts.
    ///
    /// For example, "ab" with seed 5: 5 · 97 + 98 = 583. The last text is outside ASCII, and its last
    /// character takes two UTF-16 units.
    const POSITIONS: [(&str, [u32; 7]); 3] = [
        ("", [0; 7]),
        ("ab", [583, 777, 1165, 1359, 3105, 3687, 6015]),
        ("é😀", [339_442, 455_748, 693_952, 815_850, 1_996_812, 2_424_018, 4_300_602]),
    ];

    #[test]
    fn positions_are_those_of_java() {
        for (text, expected) in POSITIONS {
            assert_eq!(SEEDS.map(|seed| position(text, seed, BITS)), expected, "{text:?}");
        }
        // Java's `String.hashCode` is the same hash with seed 31. This text makes it wrap.
        let long = "https://example.org/a/rather/long/path";
        let bits = NonZeroU32::new(1 << 31).expect("not 0");
        assert_eq!(position(long, 31, bits), java_hash_code(long) & 0x7fff_ffff);
    }

    fn java_hash_code(text: &str) -> u32 {
        text.encode_utf16().fold(0, |hash: i32, unit| {
            hash.wrapping_mul(31).wrapping_add(i32::from(unit.cast_signed()))
        }) as u32
    }

    #[test]
    fn inserted_texts_are_found_in_a_filter_of_any_size_and_in_its_copy() {
        for bits in [1, 7, 8, 9, 1_000, 1 << 16] {
            let mut filter =
                SimpleBloom::new(NonZeroU32::new(bits).expect("not 0"), &[2, 3, 65_537]);
            let texts: Vec<_> = (0..500).map(|number| format!("key-{number}-ü")).collect();
            for text in &texts {
                filter.insert(text);
            }
            assert!(texts.iter().all(|text| filter.may_contain(text)));
            let copy =
                SimpleBloom::new(filter.bits, filter.seeds()).with_bitset(&filter.to_bitset());
            assert_eq!(copy.as_ref(), Ok(&filter));
        }
    }

    #[test]
    fn a_bit_set_of_a_larger_filter_is_refused() {
        let ten = SimpleBloom::new(NonZeroU32::new(10).expect("not 0"), &SEEDS);
        assert!(ten.clone().with_bitset(&[0xff, 0x03, 0, 0]).is_ok());
        assert_eq!(ten.clone().with_bitset(&[0xff, 0x04]), Err(BitSetTooLong { bits: 10 }));
        assert_eq!(ten.with_bitset(&[0, 0, 1]), Err(BitSetTooLong { bits: 10 }));
    }
}
