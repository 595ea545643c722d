//! Blocks kept in memory, all kinds in one budget of bytes.
//!
//! ```text
//! capacity  ├── reserved by readers for their filters ──┤── blocks, the least used leave first ──┤
//!            at most one half, unless a reader pins them
//! ```
//!
//! Two things go wrong in stores that treat all blocks alike: data blocks push out the filters that
//! would have spared them, or filters live outside the budget and grow without bound. So a reader
//! keeps the filter blocks it has loaded, and each byte of them is taken off what is left for other
//! blocks. Past one half of the capacity filters are cached like any other block.
#![allow(
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "bytes in memory, and shares of them"
)]

use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};

use crate::block::cached::CachedBlock;

/// Blocks of many files, shared by their readers.
///
/// ```
/// use std::sync::Arc;
///
/// use sstable::{BlockCache, ReaderOptions};
///
/// let cache = Arc::new(BlockCache::new(64 << 20));
/// let options = ReaderOptions::default().cache(Arc::clone(&cache));
/// assert_eq!(cache.stats().blocks, 0);
/// # drop(options);
/// ```
#[derive(Debug)]
pub struct BlockCache {
    blocks: BlockMap,
    /// Of files that are to stay in memory.
    preferred: BlockMap,
    capacity: u64,
    reserved: Mutex<u64>,
    has_room: AtomicBool,
}

type BlockMap = Cache<BlockKey, CachedBlock, ByBytes, BuildHasherDefault<KeyHasher>>;

/// What a cache holds at one moment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct CacheStats {
    /// The budget in bytes.
    pub capacity_bytes: u64,
    /// Blocks that may leave.
    pub blocks: u64,
    /// Bytes of these blocks.
    pub block_bytes: u64,
    /// Bytes of those among them that are preferred.
    pub preferred_bytes: u64,
    /// Bytes of filter blocks that readers keep.
    pub reserved_bytes: u64,
}

/// Which file, and where in it; all blocks of a file are preferred or none is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct BlockKey {
    pub(crate) file: u64,
    pub(crate) offset: u64,
    pub(crate) is_preferred: bool,
}

impl Hash for BlockKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The file tells whether it is preferred.
        state.write_u64(self.file);
        state.write_u64(self.offset);
    }
}

impl BlockCache {
    /// A cache for `capacity_bytes` bytes.
    ///
    /// # Panics
    ///
    /// Never: the one thing the cache beneath refuses is a missing number, and none is missing.
    pub fn new(capacity_bytes: u64) -> Self {
        let blocks = blocks_for(capacity_bytes);
        let preferred = blocks_for(capacity_bytes / 4);
        Self {
            blocks,
            preferred,
            capacity: capacity_bytes,
            reserved: Mutex::new(0),
            has_room: AtomicBool::new(true),
        }
    }

    /// What it holds now.
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            capacity_bytes: self.capacity,
            blocks: (self.blocks.len() + self.preferred.len()) as u64,
            block_bytes: self.blocks.weight() + self.preferred.weight(),
            preferred_bytes: self.preferred.weight(),
            reserved_bytes: *self.reserved(),
        }
    }

    /// Whether blocks have to leave for others, or soon will; in a cache without room always.
    pub(crate) fn is_full(&self, key: BlockKey) -> bool {
        let blocks = self.of(key);
        blocks.weight() >= blocks.capacity() / 8 * 7
    }

    /// Whether neither of its parts was ever more than half full: then no block has to leave soon, and
    /// which of them are used need not be known yet.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.has_room.load(Ordering::Relaxed)
    }

    /// Looks whether it still has room, after something came or the budget changed.
    fn measure(&self) {
        let is_half_full = |blocks: &BlockMap| blocks.weight() > blocks.capacity() / 2;
        if self.has_room() && (is_half_full(&self.blocks) || is_half_full(&self.preferred)) {
            self.has_room.store(false, Ordering::Relaxed);
        }
    }

    /// What its blocks take now, by their own account.
    #[cfg(test)]
    pub(crate) fn bytes_now(&self) -> u64 {
        let blocks = self.blocks.iter().chain(self.preferred.iter());
        blocks.map(|(key, block)| ByBytes.weight(&key, &block)).sum()
    }

    pub(crate) fn block(&self, key: BlockKey) -> Option<CachedBlock> {
        self.of(key).get(&key)
    }

    pub(crate) fn insert(&self, key: BlockKey, block: CachedBlock) {
        self.of(key).insert(key, block);
        if key.is_preferred {
            self.share_out(*self.reserved());
        }
        self.measure();
    }

    /// Puts another form of a block in its place, unless it has left meanwhile. It is not used by that.
    pub(crate) fn replace(&self, key: BlockKey, block: CachedBlock) {
        let _left = self.of(key).replace(key, block, true);
        if key.is_preferred {
            self.share_out(*self.reserved());
        }
        self.measure();
    }

    /// Gives up a block that a reader keeps from now on.
    pub(crate) fn forget(&self, key: BlockKey) {
        self.of(key).remove(&key);
    }

    const fn of(&self, key: BlockKey) -> &BlockMap {
        if key.is_preferred { &self.preferred } else { &self.blocks }
    }

    fn reserved(&self) -> MutexGuard<'_, u64> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves to other blocks what filters and preferred blocks do not take.
    fn share_out(&self, reserved: u64) {
        let taken = reserved + self.preferred.weight();
        self.blocks.set_capacity(self.capacity.saturating_sub(taken));
        self.measure();
    }

    /// Takes bytes off the budget for as long as the reservation lives; `None` if filters have
    /// their half already.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: u64) -> Option<Reservation> {
        let mut reserved = self.reserved();
        let sum = reserved.checked_add(bytes).filter(|sum| *sum <= self.capacity / 2)?;
        *reserved = sum;
        self.share_out(sum);
        drop(reserved);
        Some(Reservation { cache: Arc::clone(self), bytes })
    }

    /// Takes bytes off the budget that are kept in any case; what is left for other blocks may then
    /// be nothing.
    pub(crate) fn reserve_pinned(self: &Arc<Self>, bytes: u64) -> Reservation {
        let mut reserved = self.reserved();
        *reserved += bytes;
        self.share_out(*reserved);
        drop(reserved);
        Reservation { cache: Arc::clone(self), bytes }
    }
}

/// A cache of `capacity_bytes` bytes.
fn blocks_for(capacity_bytes: u64) -> BlockMap {
    /// What a block takes on average; the default block size of HBase.
    const BLOCK_BYTES_EXPECTED: u64 = 64 << 10;
    let blocks_expected = capacity_bytes.div_ceil(BLOCK_BYTES_EXPECTED);
    let options = OptionsBuilder::new()
        .estimated_items_capacity(usize::try_from(blocks_expected).unwrap_or(usize::MAX))
        .weight_capacity(capacity_bytes)
        .build()
        .expect("both numbers that a cache needs are given");
    Cache::with_options(
        options,
        ByBytes,
        BuildHasherDefault::default(),
        DefaultLifecycle::default(),
    )
}

/// A part of the budget that a reader holds for a filter block.
#[derive(Debug)]
pub(crate) struct Reservation {
    cache: Arc<BlockCache>,
    bytes: u64,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let cache = &self.cache;
        let mut reserved = cache.reserved();
        *reserved -= self.bytes;
        cache.share_out(*reserved);
    }
}

#[derive(Clone, Copy, Debug)]
struct ByBytes;

impl Weighter<BlockKey, CachedBlock> for ByBytes {
    fn weight(&self, _: &BlockKey, block: &CachedBlock) -> u64 {
        // What the cache itself keeps of a block: key, pointer, place in the order of use.
        const OVERHEAD: u64 = 64;
        block.bytes() as u64 + OVERHEAD
    }
}

/// Mixes the two numbers of a key. They are ours, so nobody can choose them to collide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The two halves of a product by an odd constant depend on all bits between them.
        let product = u128::from(self.0.rotate_left(32) ^ number ^ 0x9e37_79b9_7f4a_7c15)
            * 0xa076_1d64_78bd_642f;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::bloom::BloomBits;

    fn block(len: usize) -> CachedBlock {
        CachedBlock::Bloom(Arc::new(BloomBits::new(&vec![0; len])))
    }

    #[test]
    fn the_budget_holds_whatever_is_put_in() {
        let cache = BlockCache::new(1 << 20);
        for offset in 0..1000 {
            cache.insert(BlockKey { file: 1, offset, is_preferred: false }, block(10_000));
            assert!(cache.stats().block_bytes <= 1 << 20);
        }
        assert!(cache.stats().blocks > 50);
    }

    #[test]
    fn what_filters_reserve_is_taken_from_other_blocks_and_given_back() {
        let cache = Arc::new(BlockCache::new(1 << 20));
        for offset in 0..1000 {
            cache.insert(BlockKey { file: 1, offset, is_preferred: false }, block(10_000));
        }
        let reservation = cache.reserve(500_000).unwrap();
        let stats = cache.stats();
        assert_eq!(stats.reserved_bytes, 500_000);
        assert!(stats.block_bytes + stats.reserved_bytes <= 1 << 20);
        assert!(cache.reserve(30_000).is_none(), "more than half");
        drop(reservation);
        assert_eq!(cache.stats().reserved_bytes, 0);
        assert!(cache.reserve(30_000).is_some());
    }

    #[test]
    fn preferred_blocks_outlast_any_number_of_others_and_take_no_more_than_a_quarter() {
        let cache = BlockCache::new(1 << 20);
        let key = |offset, is_preferred| BlockKey { file: 1, offset, is_preferred };
        for offset in 0..20 {
            cache.insert(key(offset, true), block(10_000));
        }
        for offset in 0..1000 {
            cache.insert(key(offset, false), block(10_000));
            assert!(cache.stats().block_bytes <= 1 << 20);
        }
        assert!((0..20).all(|offset| cache.block(key(offset, true)).is_some()));
        for offset in 0..1000 {
            cache.insert(key(offset, true), block(10_000));
            assert!(cache.stats().preferred_bytes <= 1 << 18);
            assert!(cache.stats().block_bytes <= 1 << 20);
        }
    }

    #[test]
    fn a_scan_does_not_push_out_what_is_used_again_and_again() {
        let cache = BlockCache::new(1 << 20);
        let key = |file, offset| BlockKey { file, offset, is_preferred: false };
        for _ in 0..4 {
            for offset in 0..40 {
                if cache.block(key(1, offset)).is_none() {
                    cache.insert(key(1, offset), block(10_000));
                }
            }
        }
        for offset in 0..2000 {
            assert!(cache.block(key(2, offset)).is_none(), "a scan comes by once");
            cache.insert(key(2, offset), block(10_000));
        }
        let left = (0..40).filter(|offset| cache.block(key(1, *offset)).is_some()).count();
        assert!(left >= 36, "{left} of 40 blocks are left");
    }

    #[test]
    fn neighbouring_keys_are_spread() {
        use std::hash::{BuildHasher, BuildHasherDefault};
        let build = BuildHasherDefault::<KeyHasher>::default();
        let mut seen = std::collections::HashSet::new();
        for file in 0..100 {
            for offset in 0..100 {
                let hash =
                    build.hash_one(BlockKey { file, offset: offset * 65_536, is_preferred: false });
                assert!(seen.insert(hash & 0xf_ffff_ffff));
            }
        }
    }
}
