//! One key against many filters: the question of a point read over many files.

use crate::hash::KeyHash;
use crate::membership::Membership;

/// Filters that are prefetched together: as many as a word has bits, and few enough that no line is evicted from
/// L1 before it is read.
const FILTERS_AT_ONCE: usize = u64::BITS as usize;

/// Calls `found` with the index of each filter that may hold the key, in order.
///
/// All filters are prefetched before the first is asked, so that a read over many files waits for
/// memory about once, and not once a file. Where a few lines mostly tell that a key is not there, the
/// others are prefetched only if they did not. Filters that were made for equally many keys are probed many
/// times faster bit-sliced: see [`SlicedFilters`](crate::SlicedFilters).
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
pub fn probe_many<M: Membership>(filters: &[M], hash: KeyHash, mut found: impl FnMut(usize)) {
    let firsts = (0..).step_by(FILTERS_AT_ONCE);
    for (filters, first) in filters.chunks(FILTERS_AT_ONCE).zip(firsts) {
        for filter in filters {
            filter.prefetch(hash);
        }
        let mut left = 0_u64;
        for (index, filter) in filters.iter().enumerate() {
            left |= u64::from(filter.prefetch_next(hash)) << index;
        }
        for (index, filter) in filters.iter().enumerate() {
            if left >> index & 1 != 0 && filter.may_contain(hash) {
                found(first + index);
            }
        }
    }
}
