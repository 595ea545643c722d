//! The block cache: blocks of all kinds under one budget of bytes.
//!
//! ```text
//! capacity  ├── reserved by readers for filter blocks ──┤── blocks, evicted when full ──┤
//!            at most one half, unless pinned
//! ```
//!
//! If all blocks were treated alike, data blocks would evict the filters that save reading data
//! blocks; if filters were outside the budget, they would grow without bound. So a reader holds the
//! filter blocks that it has loaded, and reserves their bytes, which reduces the budget for other
//! blocks. Once half of the capacity is reserved, further filters are cached like other blocks.

use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cells::BlockOffset;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};

use crate::block::cached::CachedBlock;
use crate::own_process::OwnProcess;

/// A cache for the blocks of many files, shared by their readers.
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
    /// Blocks of files that should stay in memory.
    preferred: BlockMap,
    capacity: u64,
    reserved: Mutex<u64>,
    /// Whether both parts are less than 7/8 full, as of the last change.
    has_room: AtomicBool,
}

type BlockMap = Cache<CacheKey, CachedBlock, ByBytes, BuildHasherDefault<KeyHasher>>;

/// The contents of a cache at one moment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct CacheStats {
    /// The budget in bytes.
    pub capacity_bytes: u64,
    /// The number of evictable blocks.
    pub blocks: u64,
    /// Bytes of the evictable blocks.
    pub block_bytes: u64,
    /// Bytes of the preferred blocks among them.
    pub preferred_bytes: u64,
    /// Bytes of the filter blocks that readers hold.
    pub reserved_bytes: u64,
}

/// The file and the offset of a block; `is_preferred` is the same for all blocks of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct CacheKey {
    pub(crate) file: u64,
    pub(crate) offset: u64,
    pub(crate) is_preferred: bool,
}

/// The place of one file in a cache: the writer of the file and its reader share the blocks there.
#[derive(Clone, Debug)]
pub struct FileInCache {
    pub(crate) cache: Arc<BlockCache>,
    pub(crate) file: u64,
    pub(crate) is_preferred: bool,
}

impl FileInCache {
    /// Returns a place for a new file, which [`ReaderOptions::written_to`](crate::ReaderOptions::written_to) must
    /// open: `in_memory` is as in [`ReaderOptions::in_memory`](crate::ReaderOptions::in_memory).
    pub fn new(cache: Arc<BlockCache>, in_memory: bool) -> Self {
        Self { cache, file: next_file_id(), is_preferred: in_memory }
    }

    pub(crate) fn insert(&self, at: BlockOffset, block: CachedBlock) {
        let Self { file, is_preferred, .. } = *self;
        self.cache.insert(CacheKey { file, offset: at.get(), is_preferred }, block);
    }

    /// Removes a block of a file that is not completed.
    pub(crate) fn remove(&self, at: BlockOffset) {
        let Self { file, is_preferred, .. } = *self;
        self.cache.remove(CacheKey { file, offset: at.get(), is_preferred });
    }
}

/// Returns the next file id, for the keys of caches. A file that is opened twice gets two ids.
pub(crate) fn next_file_id() -> u64 {
    static NEXT_FILE_ID: AtomicU64 = AtomicU64::new(0);
    NEXT_FILE_ID.fetch_add(1, Ordering::Relaxed)
}

impl Hash for CacheKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // `is_preferred` depends on the file only.
        state.write_u64(self.file);
        state.write_u64(self.offset);
    }
}

impl BlockCache {
    /// Returns an empty cache with a budget of `capacity_bytes`.
    ///
    /// # Panics
    ///
    /// Never: the options of the underlying cache are complete.
    pub fn new(capacity_bytes: u64) -> Self {
        let blocks = new_block_map(capacity_bytes);
        let preferred = new_block_map(capacity_bytes / 4);
        Self {
            blocks,
            preferred,
            capacity: capacity_bytes,
            reserved: Mutex::new(0),
            has_room: AtomicBool::new(true),
        }
    }

    /// Returns the current contents.
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            capacity_bytes: self.capacity,
            blocks: (self.blocks.len() + self.preferred.len()) as u64,
            block_bytes: self.blocks.weight() + self.preferred.weight(),
            preferred_bytes: self.preferred.weight(),
            reserved_bytes: *self.reserved(),
        }
    }

    /// Whether the part for this key is at least 7/8 full, so that inserts evict blocks now or
    /// soon.
    ///
    /// Always true if the capacity is 0.
    pub(crate) fn is_full(&self, key: CacheKey) -> bool {
        is_nearly_full(self.part(key))
    }

    /// Whether no block will be evicted soon, so that accesses need not be recorded.
    pub(crate) fn has_room(&self) -> bool {
        self.has_room.load(Ordering::Relaxed)
    }

    /// Updates `has_room` after a change of the blocks or of the budget.
    fn update_has_room(&self) {
        let has_room = !is_nearly_full(&self.blocks) && !is_nearly_full(&self.preferred);
        // Every get reads it: a store that changes nothing would take the cache line from their cores.
        if has_room != self.has_room() {
            self.has_room.store(has_room, Ordering::Relaxed);
        }
    }

    /// The current total size of the blocks, for a comparison with the recorded weights.
    #[cfg(test)]
    pub(crate) fn bytes_now(&self) -> u64 {
        let blocks = self.blocks.iter().chain(self.preferred.iter());
        blocks.map(|(key, block)| ByBytes.weight(&key, &block)).sum()
    }

    pub(crate) fn block(&self, key: CacheKey) -> Option<CachedBlock> {
        self.part(key).get(&key)
    }

    pub(crate) fn insert(&self, key: CacheKey, block: CachedBlock) {
        self.part(key).insert(key, block);
        if key.is_preferred {
            self.update_capacity(*self.reserved());
        }
        self.update_has_room();
    }

    /// Replaces a block by another form, unless it was evicted. Does not count as an access.
    pub(crate) fn replace(&self, key: CacheKey, block: CachedBlock) {
        let _evicted = self.part(key).replace(key, block, true);
        if key.is_preferred {
            self.update_capacity(*self.reserved());
        }
        self.update_has_room();
    }

    /// Removes a block that a reader now holds itself.
    pub(crate) fn remove(&self, key: CacheKey) {
        self.part(key).remove(&key);
        self.update_has_room();
    }

    const fn part(&self, key: CacheKey) -> &BlockMap {
        if key.is_preferred { &self.preferred } else { &self.blocks }
    }

    fn reserved(&self) -> MutexGuard<'_, u64> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the capacity for ordinary blocks: the budget without reservations and preferred blocks.
    fn update_capacity(&self, reserved: u64) {
        let used = reserved + self.preferred.weight();
        self.blocks.set_capacity(self.capacity.saturating_sub(used));
        self.update_has_room();
    }

    /// Reserves bytes of the budget until the reservation is dropped.
    ///
    /// Filters and family maps reserve the memory that they take. Returns `None` if reservations
    /// would exceed half of the capacity.
    #[doc(hidden)]
    pub fn reserve(self: &Arc<Self>, bytes: u64) -> Option<Reservation> {
        let mut reserved = self.reserved();
        let sum = reserved.checked_add(bytes).filter(|sum| *sum <= self.capacity / 2)?;
        *reserved = sum;
        self.update_capacity(sum);
        drop(reserved);
        Some(Reservation { cache: Arc::clone(self), bytes, process: OwnProcess::current() })
    }

    /// Reserves bytes of the budget without a limit; the budget for other blocks may become 0.
    pub(crate) fn reserve_pinned(self: &Arc<Self>, bytes: u64) -> Reservation {
        let mut reserved = self.reserved();
        *reserved += bytes;
        self.update_capacity(*reserved);
        drop(reserved);
        Reservation { cache: Arc::clone(self), bytes, process: OwnProcess::current() }
    }
}

/// Returns whether a part of the cache is at least 7/8 full.
fn is_nearly_full(blocks: &BlockMap) -> bool {
    blocks.weight() >= blocks.capacity() / 8 * 7
}

/// A cache of `capacity_bytes` bytes.
fn new_block_map(capacity_bytes: u64) -> BlockMap {
    /// The expected average size of a block: HBase's default block size.
    const BLOCK_BYTES_EXPECTED: u64 = 64 << 10;
    let blocks_expected = capacity_bytes.div_ceil(BLOCK_BYTES_EXPECTED);
    let options = OptionsBuilder::new()
        .estimated_items_capacity(usize::try_from(blocks_expected).unwrap_or(usize::MAX))
        .weight_capacity(capacity_bytes)
        .build()
        .expect("both required options are set");
    Cache::with_options(
        options,
        ByBytes,
        BuildHasherDefault::default(),
        DefaultLifecycle::default(),
    )
}

/// A reservation of bytes of the budget, for memory that is held outside of the cache.
#[derive(Debug)]
pub struct Reservation {
    cache: Arc<BlockCache>,
    bytes: u64,
    process: OwnProcess,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.process.is_current() {
            return; // A thread of the parent may hold the lock.
        }
        let cache = &self.cache;
        let mut reserved = cache.reserved();
        *reserved -= self.bytes;
        cache.update_capacity(*reserved);
    }
}

#[derive(Clone, Copy, Debug)]
struct ByBytes;

impl Weighter<CacheKey, CachedBlock> for ByBytes {
    fn weight(&self, _: &CacheKey, block: &CachedBlock) -> u64 {
        // Per block: key, pointer, position in the eviction order.
        const OVERHEAD: u64 = 64;
        block.bytes() as u64 + OVERHEAD
    }
}

/// Mixes the two numbers of a key, which an attacker cannot choose.
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
        // Folding the 128-bit product by an odd constant makes every bit depend on all input bits.
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
    fn inserts_never_exceed_the_budget() {
        let cache = BlockCache::new(1 << 20);
        for offset in 0..1000 {
            cache.insert(CacheKey { file: 1, offset, is_preferred: false }, block(10_000));
            assert!(cache.stats().block_bytes <= 1 << 20);
        }
        assert!(cache.stats().blocks > 50);
    }

    #[test]
    fn reservations_reduce_the_budget_for_blocks_until_dropped() {
        let cache = Arc::new(BlockCache::new(1 << 20));
        for offset in 0..1000 {
            cache.insert(CacheKey { file: 1, offset, is_preferred: false }, block(10_000));
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

    /// Of several reservations of both kinds, dropped in each order.
    #[test]
    fn blocks_get_exactly_the_bytes_that_no_reservation_holds() {
        const CAPACITY: u64 = 1 << 20;
        let fill = |cache: &BlockCache, file| {
            for offset in 0..400 {
                cache.insert(CacheKey { file, offset, is_preferred: false }, block(5_000));
            }
            cache.stats().block_bytes
        };
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let cache = Arc::new(BlockCache::new(CAPACITY));
            let mut held = [
                cache.reserve(200_000),
                Some(cache.reserve_pinned(300_000)),
                cache.reserve(20_000),
            ];
            for (file, dropped) in (1..).zip(order.map(Some).into_iter().chain([None])) {
                let reserved = held.iter().flatten().map(|held| held.bytes).sum::<u64>();
                let (filled, room) = (fill(&cache, file), CAPACITY - reserved);
                assert_eq!(cache.stats().reserved_bytes, reserved);
                assert!(filled <= room && filled + 20_000 > room, "{filled} of {room} bytes");
                if let Some(dropped) = dropped {
                    held[dropped] = None;
                }
            }
        }
    }

    #[test]
    fn preferred_blocks_outlast_others_and_take_at_most_a_quarter() {
        let cache = BlockCache::new(1 << 20);
        let key = |offset, is_preferred| CacheKey { file: 1, offset, is_preferred };
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
    fn a_scan_does_not_evict_frequently_used_blocks() {
        let cache = BlockCache::new(1 << 20);
        let key = |file, offset| CacheKey { file, offset, is_preferred: false };
        for _ in 0..4 {
            for offset in 0..40 {
                if cache.block(key(1, offset)).is_none() {
                    cache.insert(key(1, offset), block(10_000));
                }
            }
        }
        for offset in 0..2000 {
            assert!(cache.block(key(2, offset)).is_none(), "a scan reads each block once");
            cache.insert(key(2, offset), block(10_000));
        }
        let left = (0..40).filter(|offset| cache.block(key(1, *offset)).is_some()).count();
        assert!(left >= 36, "{left} of 40 blocks are left");
    }

    #[test]
    fn hashes_of_neighbouring_keys_differ() {
        use std::hash::{BuildHasher, BuildHasherDefault};
        let build = BuildHasherDefault::<KeyHasher>::default();
        let mut seen = std::collections::HashSet::new();
        for file in 0..100 {
            for offset in 0..100 {
                let hash =
                    build.hash_one(CacheKey { file, offset: offset * 65_536, is_preferred: false });
                assert!(seen.insert(hash & 0xf_ffff_ffff));
            }
        }
    }
}
