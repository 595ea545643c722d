//! The Bloom filter of a column in a Parquet file.
//!
//! The blocks are those of [`SplitBlock`]. The hash of a value is the XXH64, with seed 0, of its
//! plain encoding without a length: the bytes of a string, the little-endian bytes of a number.
//!
//! Format: <https://parquet.apache.org/docs/file-format/bloomfilter/>.

use xxhash_rust::xxh64::xxh64;

use super::split_block::SplitBlock;
use crate::error::{BuildError, FormatError, Full};
use crate::hash::{KeyHash, Seed};
use crate::membership::FilterStats;
use crate::sizing::Sizing;

/// The seed of every Parquet file.
const PARQUET_SEED: Seed = Seed::new(0);

/// The Bloom filter of a column in a Parquet file, with Parquet's hash.
///
/// ```
/// use filter::{ParquetBloom, Sizing};
///
/// let mut column = ParquetBloom::new(Sizing::BitsPerKey(10.5), 1_000)?;
/// column.insert("a0")?;
/// let bitset = column.bitset(); // As in a Parquet file, after the Thrift header.
/// assert_eq!(bitset.len() % 32, 0);
/// assert!(ParquetBloom::from_bitset(bitset, 1)?.may_contain("a0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ParquetBloom(SplitBlock);

impl ParquetBloom {
    /// Creates an empty filter sized for `values` distinct values.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if there is no filter of that sizing.
    pub fn new(sizing: Sizing, values: u64) -> Result<Self, BuildError> {
        SplitBlock::with_seed(sizing, values, PARQUET_SEED).map(Self)
    }

    /// Creates a filter from the bits in a Parquet file, which were set by `values` values.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if the bits are not a whole number of blocks, or do not fit into memory.
    pub fn from_bitset(bitset: &[u8], values: u64) -> Result<Self, FormatError> {
        SplitBlock::from_bitset(bitset, values, PARQUET_SEED).map(Self)
    }

    /// Returns the bits as in a Parquet file.
    pub fn bitset(&self) -> &[u8] {
        self.0.bitset()
    }

    /// Inserts a value, in its plain encoding.
    ///
    /// # Errors
    ///
    /// [`Full`] if the filter has no blocks, or counts 2^64 − 1 values.
    pub fn insert(&mut self, value: impl AsRef<[u8]>) -> Result<(), Full> {
        self.0.insert(hash(value.as_ref()))
    }

    /// Returns false if the value, in its plain encoding, is certainly not in the column.
    pub fn may_contain(&self, value: impl AsRef<[u8]>) -> bool {
        self.0.may_contain(hash(value.as_ref()))
    }

    /// Returns the filter's size and expected error rate.
    pub fn stats(&self) -> FilterStats {
        self.0.stats()
    }
}

/// Returns Parquet's hash of a value.
fn hash(value: &[u8]) -> KeyHash {
    KeyHash::from_u64(xxh64(value, 0))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    /// The filter of a column with the strings `a0` to `a9`, written by Spark's Parquet library.
    ///
    /// The tests of the `parquet` crate have the same bytes.
    const SPARK: [u8; 32] = [
        200, 1, 80, 20, 64, 68, 8, 109, 6, 37, 4, 67, 144, 80, 96, 32, 8, 132, 43, 33, 0, 5, 99,
        65, 2, 0, 224, 44, 64, 78, 96, 4,
    ];

    #[test]
    fn the_bits_equal_those_that_spark_wrote() {
        let mut filter = ParquetBloom::new(Sizing::BitsPerKey(25.6), 10).expect("possible");
        for key in 0..10 {
            filter.insert(format!("a{key}")).expect("never full");
        }
        assert_eq!(filter.bitset(), SPARK);
    }

    #[test]
    fn a_bitset_with_a_partial_block_is_refused() {
        assert!(ParquetBloom::from_bitset(&SPARK[..31], 10).is_err());
    }
}
