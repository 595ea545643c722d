//! HBase's Bloom filter: its hashes, the sizing of a chunk, its folding, and the lookup.
//!
//! HBase cuts the filter of a file into chunks, each a plain array of bits without a header; where
//! the chunks lie, and the parameters they share, is said in the file's Bloom meta block.
//!
//! ```text
//! h1 = H(key, 0), h2 = H(key, h1)            two 32-bit hashes, once a key
//! bit i of a key = |(h1 + i·h2) mod bits|    for i in 0..hash_count, Java's wrapping and remainder
//! bit p of a chunk = byte p / 8, mask 1 << (p % 8)
//! ```
//!
//! A chunk is sized for the keys it may get, and folded in half as long as it would still keep its
//! error rate with the keys it got. Folding keeps the positions right: |v| mod bits/2 is
//! (|v| mod bits) mod bits/2.
//!
//! HBase: `BloomFilterUtil`, `BloomFilterChunk`, `CompoundBloomFilterWriter`.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::hash;

/// Which of HBase's hashes a filter uses: `hbase.hash.type`. In the order of their codes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum HashType {
    /// Bob Jenkins' lookup3.
    Jenkins,
    /// Murmur2 as HBase computes it; the default.
    #[default]
    Murmur,
    /// Murmur3, 32 bits.
    #[cfg(feature = "std")]
    Murmur3,
}

impl HashType {
    /// All that this build knows.
    pub const ALL: &[Self] = &[
        Self::Jenkins,
        Self::Murmur,
        #[cfg(feature = "std")]
        Self::Murmur3,
    ];

    /// Returns the number that stands in a file's Bloom meta block.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// Returns the hash with that number, if there is one.
    pub fn from_code(code: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|hash_type| hash_type.code() == code)
    }

    /// Returns the name HBase's configuration has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jenkins => "jenkins",
            Self::Murmur => "murmur",
            #[cfg(feature = "std")]
            Self::Murmur3 => "murmur3",
        }
    }

    /// Returns the hash with that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|hash_type| hash_type.name() == name)
    }

    /// Hashes a key, starting from a seed.
    pub fn hash(self, key: &[u8], seed: i32) -> i32 {
        let seed = seed.cast_unsigned();
        let hash = match self {
            Self::Jenkins => hash::jenkins(key, seed),
            Self::Murmur => hash::murmur2(key, seed),
            #[cfg(feature = "std")]
            Self::Murmur3 => hash::murmur3(key, seed),
        };
        hash.cast_signed()
    }
}

impl fmt::Display for HashType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Both hashes of one key, from which all its bits follow: computed once a read, for all files.
///
/// ```
/// use filter::bloom::hbase::{HashPair, HashType};
///
/// let pair = HashPair::new(HashType::Murmur, b"row1");
/// assert_eq!((pair.h1, pair.h2), (0x0944_4512, 0xa1be_7502_u32.cast_signed()));
/// assert!(pair.bits(7, 64).eq([18, 44, 22, 40, 38, 28, 34]));
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct HashPair {
    /// The hash with seed 0.
    pub h1: i32,
    /// The hash with seed `h1`.
    pub h2: i32,
}

impl HashPair {
    /// Hashes a key.
    pub fn new(hash_type: HashType, key: &[u8]) -> Self {
        if hash_type == HashType::Murmur {
            let [h1, h2] = hash::murmur2_twice(key).map(u32::cast_signed);
            return Self { h1, h2 };
        }
        let h1 = hash_type.hash(key, 0);
        Self { h1, h2: hash_type.hash(key, h1) }
    }

    /// Returns the positions of the key's bits among `bit_count`.
    ///
    /// # Panics
    ///
    /// If `bit_count` is 0 and `hash_count` is not.
    pub fn bits(self, hash_count: u32, bit_count: u32) -> impl Iterator<Item = u32> {
        let sizes = self.sizes().zip(0..hash_count);
        // The usual chunk of 128 KiB has a power of two of bits, however often it was folded, and then
        // no division is needed.
        let mask = bit_count.is_power_of_two().then(|| bit_count - 1);
        sizes.map(move |(size, _)| mask.map_or_else(|| size % bit_count, |mask| size & mask))
    }

    /// Iterates over the numbers whose remainders are the positions of the key's bits, without end: |v mod m|
    /// with Java's truncated remainder is |v| mod m, also for the least `int`.
    #[inline]
    fn sizes(self) -> impl Iterator<Item = u32> {
        let mut composite = self.h1;
        core::iter::repeat_with(move || {
            let size = composite.unsigned_abs();
            composite = composite.wrapping_add(self.h2);
            size
        })
    }
}

/// Returns the error rate for ROWCOL filters: HBase asks them twice (for the column, and for the
/// row's family deletes), so each question may err only half as often, nearly.
///
/// `StoreFileWriter` and `BloomFilterFactory` compute in 32-bit floats here; so does this.
pub fn row_column_error_rate(error_rate: f32) -> f32 {
    (1.0 - libm::sqrt(f64::from(1.0 - error_rate))) as f32
}

/// The size of a chunk before folding, and how many keys it takes.
///
/// ```
/// use filter::bloom::hbase::ChunkSizing;
///
/// let sizing = ChunkSizing::new(0.01, 128 * 1024, 7)?; // HBase's defaults
/// assert_eq!((sizing.bytes, sizing.hash_count, sizing.max_keys), (131_072, 7, 109_306));
/// # Ok::<(), filter::bloom::hbase::InvalidChunkSizing>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ChunkSizing {
    /// Bytes of the chunk.
    pub bytes: u32,
    /// Keys it takes before the next chunk is begun.
    pub max_keys: u32,
    /// Bits a key sets.
    pub hash_count: u32,
}

/// Chunk parameters from which no filter can be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("no Bloom chunk of {block_size} bytes, folded {max_fold} times at most, errs {error_rate}")]
pub struct InvalidChunkSizing {
    /// The error rate asked for (`io.storefile.bloom.error.rate`).
    pub error_rate: f32,
    /// The chunk size asked for (`io.storefile.bloom.block.size`).
    pub block_size: u32,
    /// The power of two that the size must divide by (`io.storefile.bloom.max.fold`).
    pub max_fold: u32,
}

impl ChunkSizing {
    /// Sizes a chunk as HBase does, with HBase's roundings.
    ///
    /// The error rate is a 32-bit float because it is one in HBase, and 0.01 is not the same number
    /// there; for a ROWCOL filter it is first put through [`row_column_error_rate`].
    ///
    /// # Errors
    ///
    /// [`InvalidChunkSizing`] if the rate is not strictly between 0 and 1, the chunk could not hold
    /// one key, or it would have 2^31 bits or more, which HBase's `int` arithmetic cannot address.
    pub fn new(
        error_rate: f32,
        block_size: u32,
        max_fold: u32,
    ) -> Result<Self, InvalidChunkSizing> {
        let invalid = InvalidChunkSizing { error_rate, block_size, max_fold };
        if !(error_rate > 0.0 && error_rate < 1.0) || max_fold > 31 {
            return Err(invalid);
        }
        let unit = 1_u32 << max_fold;
        let bytes = block_size.checked_next_multiple_of(unit).ok_or(invalid)?;
        let bits = u64::from(bytes) * 8;
        if bits > u64::from(i32::MAX.cast_unsigned()) {
            return Err(invalid);
        }

        // The names are HBase's: idealMaxKeys, optimalFunctionCount, computeMaxKeys. A rate next to
        // 1 promises more keys than an `int` counts; Java's cast stops there, and so does this.
        let rate_ln = libm::log(f64::from(error_rate));
        let half_ln = core::f64::consts::LN_2;
        let ideal_max_keys = (bits as f64 * (half_ln * half_ln / -rate_ln)) as i32;
        let bits_per_key = bits.checked_div(ideal_max_keys.unsigned_abs().into()).ok_or(invalid)?;
        let hash_count = libm::ceil(half_ln * bits_per_key as f64) as u32;
        if hash_count == 0 {
            return Err(invalid);
        }
        let hashes = f64::from(hash_count);
        let max_keys =
            (-(bits as f64) / hashes * libm::log(1.0 - libm::exp(rate_ln / hashes))) as i32;
        if max_keys <= 0 {
            return Err(invalid);
        }
        Ok(Self { bytes, max_keys: max_keys.unsigned_abs(), hash_count })
    }
}

/// One chunk while it is filled.
///
/// ```
/// use filter::bloom::hbase::{ChunkBuilder, ChunkSizing, HashPair, HashType, may_contain};
///
/// let mut chunk = ChunkBuilder::new(ChunkSizing::new(0.01, 1024, 7)?);
/// let row = HashPair::new(HashType::Murmur, b"row1");
/// chunk.insert(row);
/// let folded = chunk.finish();
/// assert_eq!(folded.bits.len(), 2); // Folded as long as one key permits.
/// assert!(may_contain(&folded.bits, 7, row));
/// # Ok::<(), filter::bloom::hbase::InvalidChunkSizing>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChunkBuilder {
    sizing: ChunkSizing,
    bits: Vec<u8>,
    key_count: u32,
}

impl ChunkBuilder {
    /// Begins an empty chunk.
    pub fn new(sizing: ChunkSizing) -> Self {
        Self { sizing, bits: vec![0; sizing.bytes as usize], key_count: 0 }
    }

    /// Adds a key. A full chunk takes it all the same, and errs more often.
    pub fn insert(&mut self, pair: HashPair) {
        for bit in pair.bits(self.sizing.hash_count, self.sizing.bytes * 8) {
            self.bits[(bit >> 3) as usize] |= 1 << (bit & 7);
        }
        self.key_count += 1;
    }

    /// Returns how many keys were added.
    pub const fn key_count(&self) -> u32 {
        self.key_count
    }

    /// Returns how many keys it takes at the error rate it was sized for.
    pub const fn max_keys(&self) -> u32 {
        self.sizing.max_keys
    }

    /// Returns how many bits a key sets.
    pub const fn hash_count(&self) -> u32 {
        self.sizing.hash_count
    }

    /// Returns whether the next key belongs into a new chunk.
    pub const fn is_full(&self) -> bool {
        self.key_count >= self.sizing.max_keys
    }

    /// Returns the bits as they are, before folding.
    pub fn bits(&self) -> &[u8] {
        &self.bits
    }

    /// Folds the chunk as far as its keys permit and returns what goes into the file.
    ///
    /// An empty chunk is not folded; HBase never writes one.
    pub fn finish(self) -> FoldedChunk {
        let Self { sizing, mut bits, key_count } = self;
        let (mut len, mut max_keys) = (bits.len(), sizing.max_keys);
        if key_count > 0 {
            // Not limited by the configured fold: HBase stops only at an odd number of bytes.
            while len.is_multiple_of(2) && u64::from(max_keys) > u64::from(key_count) * 2 {
                len /= 2;
                max_keys /= 2;
            }
        }
        let (folded, pieces) = bits.split_at_mut(len);
        for piece in pieces.chunks_exact(len.max(1)) {
            for (byte, other) in folded.iter_mut().zip(piece) {
                *byte |= other;
            }
        }
        bits.truncate(len);
        bits.shrink_to_fit();
        FoldedChunk { bits, keys: key_count, max_keys }
    }
}

/// A chunk as it goes into a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoldedChunk {
    /// Its bits: the whole body of its block.
    pub bits: Vec<u8>,
    /// Keys that were added.
    pub keys: u32,
    /// Keys that a chunk of this size takes.
    pub max_keys: u32,
}

/// Returns false if the key is certainly not in the chunk with these bits, true if it may be.
///
/// A chunk without bits, or with more of them than HBase's `int` arithmetic can address, was not
/// written by HBase; it may contain anything. The caller bounds `hash_count` when it reads it from
/// a file: no error rate that a float can hold needs more than a few hundred.
#[inline]
pub fn may_contain(bits: &[u8], hash_count: u32, pair: HashPair) -> bool {
    let bit_count = match u32::try_from(bits.len()).ok().and_then(|len| len.checked_mul(8)) {
        Some(count) if count > 0 && count <= i32::MAX.cast_unsigned() => count,
        _ => return true,
    };
    // The usual chunk of 128 KiB has a power of two of bits, however often it was folded.
    if bit_count.is_power_of_two() {
        all_set(bits, hash_count, pair, |size| size & (bit_count - 1))
    } else {
        all_set(bits, hash_count, pair, |size| size % bit_count)
    }
}

/// Returns whether all bits of a key are set; `place` is the remainder that makes a position of a size.
#[inline(always)]
#[expect(clippy::inline_always, reason = "each way to a position is a loop of its own")]
fn all_set(bits: &[u8], hash_count: u32, pair: HashPair, place: impl Fn(u32) -> u32) -> bool {
    let mut composite = pair.h1;
    let mut is_next_set = || {
        let bit = place(composite.unsigned_abs());
        composite = composite.wrapping_add(pair.h2);
        bits.get((bit >> 3) as usize).is_some_and(|byte| byte >> (bit & 7) & 1 != 0)
    };
    // By fours without a look at each: the bits of an absent key are read side by side, and where
    // the first that is not set stands, which nobody can predict, does not matter.
    let mut left = hash_count;
    while left >= 4 {
        if !(is_next_set() & is_next_set() & is_next_set() & is_next_set()) {
            return false;
        }
        left -= 4;
    }
    (0..left).all(|_| is_next_set())
}
