//! The split-block Bloom filter of Apache Parquet, byte for byte.
//!
//! ```text
//! hash ──upper 32 bits──▶ block of 8 words     lower 32 bits × 8 odd numbers ──▶ one bit per word
//!
//! block   [1.......][....1...][.1......][......1.][1.......][...1....][.......1][..1.....]
//! ```
//!
//! A key sets eight bits at any error rate, and a block is half a cache line. Lookups are the
//! fastest of all filters, but it takes about 5 % more bits than [`Blocked`](super::Blocked) at 1
//! %, and more at rates far from that.
//!
//! The body of the stored form is the blocks, 32 bytes each, of little-endian words. There are no
//! parameters. In a Parquet file the same bytes follow a Thrift header, and keys have another hash:
//! [`ParquetBloom`](super::ParquetBloom).
//!
//! Format: <https://parquet.apache.org/docs/file-format/bloomfilter/>.

use alloc::vec::Vec;

use crate::bisect::least;
use crate::error::{BuildError, FormatError, Full};
use crate::hash::{KeyHash, Seed};
use crate::header::Header;
use crate::kernel::{self, Block, InstructionSet};
use crate::membership::{FilterStats, Insert};
use crate::memory::AlignedBytes;
use crate::methods::{filter_methods, from_hashes_by_inserts};
use crate::sizing::{Demand, Sizing};
use crate::stored_view::{StoredView, membership_of_view};
use crate::theory;

/// Bytes of a block.
const BLOCK_LEN: u64 = 32;

/// The most blocks of a filter: the index of a block is computed from 32 bits of the hash.
const BLOCKS_MAX: u64 = 1 << 31;

/// A split-block Bloom filter in memory, to which keys can be added.
///
/// ```
/// use filter::{Sizing, SplitBlock};
///
/// let mut seen = SplitBlock::new(Sizing::BitsPerKey(10.5), 1_000)?;
/// seen.insert("/index.html")?;
/// assert!(seen.may_contain("/index.html"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SplitBlock {
    body: AlignedBytes,
    view: SplitBlockView,
    keys: u64,
    seed: Seed,
}

impl SplitBlock {
    /// Creates an empty filter sized for `keys` keys, which it hashes with `seed`.
    ///
    /// It takes more keys than that, at a higher error rate. A filter sized for no keys has no
    /// bits: it takes no keys and denies all.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if there is no filter of that sizing.
    pub fn with_seed(sizing: Sizing, keys: u64, seed: Seed) -> Result<Self, BuildError> {
        let body = AlignedBytes::zeroed(block_count(sizing, keys)? * BLOCK_LEN)?;
        Ok(Self { body, view: SplitBlockView::new(), keys: 0, seed })
    }

    /// Returns the expected size and error rate of a filter of `keys` keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        Ok(stats(keys, block_count(sizing, keys)? * BLOCK_LEN))
    }

    /// Copies the blocks of a filter, to which `keys` keys were added.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if the bits are not a whole number of blocks, or do not fit into memory.
    pub(super) fn from_bitset(bitset: &[u8], keys: u64, seed: Seed) -> Result<Self, FormatError> {
        check_len(bitset)?;
        let body = AlignedBytes::copy_of(bitset)
            .map_err(|_| FormatError::Parameters("the filter does not fit into memory"))?;
        Ok(Self { body, view: SplitBlockView::new(), keys, seed })
    }

    /// Returns the blocks.
    pub(super) fn bitset(&self) -> &[u8] {
        &self.body
    }

    /// Returns the stored form, for [`StoredFilter`](crate::StoredFilter).
    pub fn to_stored(&self) -> Vec<u8> {
        let header = Header {
            kind: SplitBlockView::CODE,
            seed: self.seed,
            keys: self.keys,
            parameters: [0; 3],
        };
        header.write(&[&self.body])
    }
}

/// Returns the number of blocks for a sizing; no blocks for no keys.
fn block_count(sizing: Sizing, keys: u64) -> Result<u64, BuildError> {
    if keys == 0 {
        return Ok(0);
    }
    let blocks = match sizing.demand(keys, BLOCK_LEN)? {
        Demand::ErrorRate(rate) => {
            // With one block per key the length of the hash limits the error rate: the lower half
            // of an absent key's hash may equal that of a member.
            let exceeds_rate = |blocks| theory::split_block_error_rate(keys, blocks) > rate;
            if exceeds_rate(keys) {
                return Err(BuildError::ErrorRate(rate));
            }
            least(0, keys, |blocks| !exceeds_rate(blocks))
        }
        Demand::Bytes(bytes) => (bytes / BLOCK_LEN).max(1),
    };
    if blocks > BLOCKS_MAX { Err(BuildError::Memory) } else { Ok(blocks) }
}

/// Checks that the bytes are a whole number of blocks, at most 2^31.
fn check_len(bitset: &[u8]) -> Result<(), FormatError> {
    let (blocks, rest) = bitset.as_chunks::<{ size_of::<Block>() }>();
    if rest.is_empty() && blocks.len() as u64 <= BLOCKS_MAX {
        return Ok(());
    }
    Err(FormatError::Parameters("the body is not a whole number of blocks, at most 2^31"))
}

from_hashes_by_inserts!(SplitBlock);
filter_methods!(SplitBlock, inserts);
membership_of_view!(SplitBlock);

impl Insert for SplitBlock {
    /// Inserts a key. The filter is full only if it has no blocks, or counts 2^64 − 1 keys.
    #[inline]
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        // A count that was passed in with a bitset can be any number.
        let keys = self.keys.checked_add(1).ok_or(Full)?;
        let (blocks, _) = self.body.as_chunks_mut();
        let index = kernel::block_index(hash, blocks.len());
        kernel::block_insert(blocks.get_mut(index).ok_or(Full)?, hash.get());
        self.keys = keys;
        Ok(())
    }
}

fn stats(keys: u64, bytes: u64) -> FilterStats {
    let error_rate = theory::split_block_error_rate(keys, bytes / BLOCK_LEN);
    FilterStats { keys, bytes, error_rate }
}

/// A view of a stored split-block filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitBlockView {
    instructions: InstructionSet,
}

impl SplitBlockView {
    fn new() -> Self {
        Self { instructions: InstructionSet::detect() }
    }

    fn block(body: &[u8], hash: KeyHash) -> Option<&Block> {
        let (blocks, _) = body.as_chunks();
        blocks.get(kernel::block_index(hash, blocks.len()))
    }
}

impl StoredView for SplitBlockView {
    const CODE: u8 = 2;

    fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        check_len(body)?;
        if header.parameters != [0; 3] {
            return Err(FormatError::Parameters("a split-block filter has no parameters"));
        }
        if body.is_empty() && header.keys != 0 {
            return Err(FormatError::Parameters("there are keys but no blocks"));
        }
        Ok(Self::new())
    }

    #[inline]
    fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
        let block = Self::block(body, hash);
        block.is_some_and(|block| self.instructions.block_contains(block, hash.get()))
    }

    fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        self.instructions.blocks_contain(body.as_chunks().0, hashes, answers);
    }

    #[inline]
    fn prefetch(&self, body: &[u8], hash: KeyHash) {
        if let Some(block) = Self::block(body, hash) {
            kernel::prefetch_unit(block);
        }
    }

    fn stats(&self, body: &[u8], keys: u64) -> FilterStats {
        stats(keys, body.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::StoredFilter;

    #[test]
    fn no_member_is_denied_with_any_number_of_blocks() {
        for keys in [1_u64, 2, 100, 3_001] {
            let seed = Seed::new(9);
            let hashes: Vec<_> =
                (0..keys).map(|key| KeyHash::new(seed, &key.to_le_bytes())).collect();
            let mut filter =
                SplitBlock::with_seed(Sizing::BitsPerKey(9.7), keys, seed).expect("possible");
            for hash in &hashes {
                filter.insert(*hash).expect("never full");
            }
            let copy = SplitBlock::from_bitset(filter.bitset(), keys, seed).expect("whole blocks");
            let stored = StoredFilter::parse(filter.to_stored()).expect("our own bytes");
            for hash in hashes {
                assert!(filter.may_contain(hash) && copy.may_contain(hash));
                assert!(stored.may_contain(hash));
            }
        }
    }
}
