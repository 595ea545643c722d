//! HBase's Bloom filter: its hashes, and the sizing, folding and lookup of a chunk.
//!
//! HBase splits the filter of a file into chunks. A chunk is an array of bits without a header. The
//! file's Bloom meta block has the offsets of the chunks and their common parameters.
//!
//! ```text
//! h1 = H(key, 0), h2 = H(key, h1)            two 32-bit hashes per key
//! bit i of a key = |(h1 + i·h2) mod bits|    i in 0..hash_count; wraps as in Java
//! bit p of a chunk = byte p / 8, mask 1 << (p % 8)
//! ```
//!
//! A chunk is sized for a maximum number of keys. A finished chunk with fewer keys is folded: as
//! long as half of the bits suffice for its keys at the same error rate, its halves are combined by
//! OR. A lookup in the folded chunk uses the same formula with fewer bits, because
//! |v| mod (bits/2) = (|v| mod bits) mod (bits/2), with v = h1 + i·h2.
//!
//! HBase: `BloomFilterUtil`, `BloomFilterChunk`, `CompoundBloomFilterWriter`.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::hash;

/// The hash function of a filter (`hbase.hash.type`), in the order of HBase's codes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum HashType {
    /// Bob Jenkins' lookup3.
    Jenkins,
    /// Murmur2 as HBase computes it, the default.
    #[default]
    Murmur,
    /// Murmur3 with 32 bits.
    #[cfg(feature = "std")]
    Murmur3,
}

impl HashType {
    /// All hash functions of this build.
    pub const ALL: &[Self] = &[
        Self::Jenkins,
        Self::Murmur,
        #[cfg(feature = "std")]
        Self::Murmur3,
    ];

    /// Returns the code that a file's Bloom meta block stores.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// Returns the hash function with this code.
    pub fn from_code(code: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|hash_type| hash_type.code() == code)
    }

    /// Returns the name in HBase's configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jenkins => "jenkins",
            Self::Murmur => "murmur",
            #[cfg(feature = "std")]
            Self::Murmur3 => "murmur3",
        }
    }

    /// Returns the hash function with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|hash_type| hash_type.name() == name)
    }

    /// Hashes a key.
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

/// The two hashes of a key, which determine its bits.
///
/// A lookup computes them once for all files.
///
/// ```
/// use filter::hbase::{HashPair, HashType};
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

    /// Returns the positions of the key's bits in a chunk of `bit_count` bits.
    ///
    /// # Panics
    ///
    /// If `bit_count` is 0 and `hash_count` is not.
    pub fn bits(self, hash_count: u32, bit_count: u32) -> impl Iterator<Item = u32> {
        let magnitudes = self.magnitudes().zip(0..hash_count);
        // A mask replaces the division if the number of bits is a power of two, as in the default
        // chunk of 128 KiB, folded or not.
        let mask = bit_count.is_power_of_two().then(|| bit_count - 1);
        magnitudes.map(move |(magnitude, _)| {
            mask.map_or_else(|| magnitude % bit_count, |mask| magnitude & mask)
        })
    }

    /// Returns an endless iterator over the magnitudes |h1 + i·h2|.
    ///
    /// A position is a magnitude modulo the number of bits. HBase computes |v % bits| with Java's
    /// truncated remainder; |v| mod bits is equal, also for `i32::MIN`.
    fn magnitudes(self) -> impl Iterator<Item = u32> {
        let mut composite = self.h1;
        core::iter::repeat_with(move || {
            let magnitude = composite.unsigned_abs();
            composite = composite.wrapping_add(self.h2);
            magnitude
        })
    }
}

/// Returns the error rate for the chunks of a ROWCOL filter, about half of the given rate.
///
/// HBase queries a ROWCOL filter twice per lookup, for the column and for the row's family deletes.
/// With the returned rate per query, the lookup has the given rate. The result is rounded to a
/// 32-bit float, as in `StoreFileWriter` and `BloomFilterFactory`.
pub fn row_column_error_rate(error_rate: f32) -> f32 {
    (1.0 - libm::sqrt(f64::from(1.0 - error_rate))) as f32
}

/// The size of a chunk before folding, and its maximum number of keys.
///
/// ```
/// use filter::hbase::ChunkSizing;
///
/// let sizing = ChunkSizing::new(0.01, 128 * 1024, 7)?; // HBase's defaults
/// assert_eq!((sizing.bytes, sizing.hash_count, sizing.max_keys), (131_072, 7, 109_306));
/// # Ok::<(), filter::hbase::InvalidChunkSizing>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ChunkSizing {
    /// The size of the chunk in bytes.
    pub bytes: u32,
    /// The number of keys after which the next chunk is started.
    pub max_keys: u32,
    /// The number of bits that a key sets.
    pub hash_count: u32,
}

/// The error for parameters with which no chunk can be built.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("no Bloom chunk of {block_size} bytes with {max_fold} folds has error rate {error_rate}")]
pub struct InvalidChunkSizing {
    /// The requested error rate (`io.storefile.bloom.error.rate`).
    pub error_rate: f32,
    /// The requested size of a chunk in bytes (`io.storefile.bloom.block.size`).
    pub block_size: u32,
    /// The requested number of possible folds (`io.storefile.bloom.max.fold`).
    ///
    /// The size is rounded up to a multiple of 2^`max_fold`, so that it can be halved that often.
    pub max_fold: u32,
}

impl ChunkSizing {
    /// Sizes a chunk as HBase does, with HBase's rounding.
    ///
    /// The error rate is a 32-bit float as in HBase: a 64-bit 0.01 is a slightly different number
    /// and would give other sizes. For a ROWCOL filter pass the result of [`row_column_error_rate`].
    ///
    /// # Errors
    ///
    /// [`InvalidChunkSizing`] if the rate is not strictly between 0 and 1, the chunk would not hold
    /// a single key, or it would have 2^31 bits or more, which HBase's `int` arithmetic cannot
    /// address.
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

        // HBase's methods: idealMaxKeys, optimalFunctionCount, computeMaxKeys. Both casts to `i32`
        // saturate, as Java's do: at a rate close to 1 the number of keys exceeds an `int`.
        let rate_ln = libm::log(f64::from(error_rate));
        let ln_2 = core::f64::consts::LN_2;
        let ideal_max_keys = (bits as f64 * (ln_2 * ln_2 / -rate_ln)) as i32;
        let bits_per_key = bits.checked_div(ideal_max_keys.unsigned_abs().into()).ok_or(invalid)?;
        let hash_count = libm::ceil(ln_2 * bits_per_key as f64) as u32;
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

/// A chunk that is being filled.
///
/// ```
/// use filter::hbase::{ChunkBuilder, ChunkSizing, HashPair, HashType, may_contain};
///
/// let mut chunk = ChunkBuilder::new(ChunkSizing::new(0.01, 1024, 7)?);
/// let row = HashPair::new(HashType::Murmur, b"row1");
/// chunk.insert(row);
/// let folded = chunk.finish();
/// assert_eq!(folded.bits.len(), 2); // Folded as far as one key permits.
/// assert!(may_contain(&folded.bits, 7, row));
/// # Ok::<(), filter::hbase::InvalidChunkSizing>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChunkBuilder {
    sizing: ChunkSizing,
    bits: Vec<u8>,
    key_count: u32,
}

impl ChunkBuilder {
    /// Creates an empty chunk.
    pub fn new(sizing: ChunkSizing) -> Self {
        Self { sizing, bits: vec![0; sizing.bytes as usize], key_count: 0 }
    }

    /// Inserts a key, also into a full chunk, whose error rate then rises.
    pub fn insert(&mut self, pair: HashPair) {
        for bit in pair.bits(self.sizing.hash_count, self.sizing.bytes * 8) {
            self.bits[(bit >> 3) as usize] |= 1 << (bit & 7);
        }
        self.key_count += 1;
    }

    /// Returns the number of inserted keys.
    pub const fn key_count(&self) -> u32 {
        self.key_count
    }

    /// Returns the number of keys at which the chunk reaches its error rate.
    pub const fn max_keys(&self) -> u32 {
        self.sizing.max_keys
    }

    /// Returns the number of bits that a key sets.
    pub const fn hash_count(&self) -> u32 {
        self.sizing.hash_count
    }

    /// Returns whether the next key belongs in a new chunk.
    pub const fn is_full(&self) -> bool {
        self.key_count >= self.sizing.max_keys
    }

    /// Returns the bits before folding.
    pub fn bits(&self) -> &[u8] {
        &self.bits
    }

    /// Folds the chunk as far as its keys permit.
    ///
    /// An empty chunk is not folded; HBase never writes one.
    pub fn finish(self) -> FoldedChunk {
        let Self { sizing, mut bits, key_count } = self;
        let (mut len, mut max_keys) = (bits.len(), sizing.max_keys);
        if key_count > 0 {
            // Like HBase, this folds more often than `max_fold` if keys and size permit.
            while len.is_multiple_of(2) && u64::from(max_keys) > u64::from(key_count) * 2 {
                len /= 2;
                max_keys /= 2;
            }
        }
        let (folded, rest) = bits.split_at_mut(len);
        for part in rest.chunks_exact(len.max(1)) {
            for (byte, other) in folded.iter_mut().zip(part) {
                *byte |= other;
            }
        }
        bits.truncate(len);
        bits.shrink_to_fit();
        FoldedChunk { bits, keys: key_count, max_keys }
    }
}

/// A chunk as it is written to a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoldedChunk {
    /// The bits, which are the whole body of the chunk's block.
    pub bits: Vec<u8>,
    /// The number of inserted keys.
    pub keys: u32,
    /// The maximum number of keys of a chunk of this size.
    pub max_keys: u32,
}

/// Returns false if the key is certainly not in the chunk with these bits, true if it may be.
///
/// Returns true for an empty chunk and for one of 2^31 bits or more; HBase writes neither.
///
/// A `hash_count` that comes from a file must be checked by the caller, because it bounds the
/// running time. Even the lowest error rate of a 32-bit float needs only a few hundred hashes.
#[inline]
pub fn may_contain(bits: &[u8], hash_count: u32, pair: HashPair) -> bool {
    let bit_count = match u32::try_from(bits.len()).ok().and_then(|len| len.checked_mul(8)) {
        Some(count) if count > 0 && count <= i32::MAX.cast_unsigned() => count,
        _ => return true,
    };
    // The first case includes the default chunk of 128 KiB, folded or not.
    if bit_count.is_power_of_two() {
        all_set(bits, hash_count, pair, |magnitude| magnitude & (bit_count - 1))
    } else {
        all_set(bits, hash_count, pair, |magnitude| magnitude % bit_count)
    }
}

/// Returns whether all bits of a key are set.
///
/// `position_of` reduces a magnitude |h1 + i·h2| to a position.
#[inline(always)]
#[expect(clippy::inline_always, reason = "each reduction gets a loop compiled for it")]
fn all_set(bits: &[u8], hash_count: u32, pair: HashPair, position_of: impl Fn(u32) -> u32) -> bool {
    let mut composite = pair.h1;
    let mut is_next_set = || {
        let bit = position_of(composite.unsigned_abs());
        composite = composite.wrapping_add(pair.h2);
        bits.get((bit >> 3) as usize).is_some_and(|byte| byte >> (bit & 7) & 1 != 0)
    };
    // One branch per four bits: their loads are independent, and a branch per bit would be
    // unpredictable for absent keys.
    let mut remaining = hash_count;
    while remaining >= 4 {
        if !(is_next_set() & is_next_set() & is_next_set() & is_next_set()) {
            return false;
        }
        remaining -= 4;
    }
    (0..remaining).all(|_| is_next_set())
}
