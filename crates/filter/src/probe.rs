//! Looking one key up in many filters, as a point get over many files does.

use crate::hash::KeyHash;
use crate::membership::Membership;

/// The number of filters prefetched together: one per bit of the mask of candidates.
///
/// Few enough that no line is evicted from L1 before it is read.
const FILTERS_PER_BATCH: usize = u64::BITS as usize;

/// Calls `on_candidate` with the index of each filter that may hold the key, in ascending order.
///
/// All filters are prefetched before the first is probed, so that the cache misses of many files
/// overlap. Filters that read several lines are prefetched in two steps. The second step is skipped
/// if the first lines deny the key.
///
/// ```
/// use filter::{FilterKind, KeyHash, Seed, Sizing, StoredFilter, build, probe_many};
///
/// let seed = Seed::new(1);
/// let mut files = Vec::new();
/// for file in 0..16 {
///     let keys = [KeyHash::new(seed, format!("row{file}").as_bytes())];
///     let bytes = build(FilterKind::BlockedBloom, Sizing::BitsPerKey(16.0), seed, &keys)?;
///     files.push(StoredFilter::parse(bytes)?);
/// }
/// let mut candidates = Vec::new();
/// probe_many(&files, KeyHash::new(seed, b"row7"), |file| candidates.push(file));
/// assert!(candidates.contains(&7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn probe_many<M: Membership>(
    filters: &[M],
    hash: KeyHash,
    mut on_candidate: impl FnMut(usize),
) {
    let batch_starts = (0..).step_by(FILTERS_PER_BATCH);
    for (batch, batch_start) in filters.chunks(FILTERS_PER_BATCH).zip(batch_starts) {
        for filter in batch {
            filter.prefetch(hash);
        }
        let mut candidates = 0_u64;
        for (index, filter) in batch.iter().enumerate() {
            candidates |= u64::from(filter.prefetch_next(hash)) << index;
        }
        for (index, filter) in batch.iter().enumerate() {
            if candidates >> index & 1 != 0 && filter.may_contain(hash) {
                on_candidate(batch_start + index);
            }
        }
    }
}
