//! Batched lookups: how far ahead keys are prefetched, and the loop over lines or blocks.

use super::prefetch::prefetch;
use crate::hash::KeyHash;

/// Bytes of a filter that about fits the L2 cache of current cores, 1 or 2 MiB.
///
/// Out-of-order execution hides the latency of L2, and prefetching costs more than it saves. Small
/// in unit tests, so that they reach both paths.
pub(crate) const CACHED_LEN: usize = if cfg!(test) { 1 << 12 } else { 1 << 21 };

/// The number of keys that a batch prefetches ahead.
///
/// Enough to fill the ten to sixteen line buffers that a core has for outstanding loads, and few
/// enough that no line is evicted before its use.
pub(crate) const PREFETCH_DISTANCE: usize = 16;

/// Asks `contains` of each key's unit, a line or a block, and prefetches the units of later keys.
///
/// Without units the answer is no.
#[inline(always)]
pub(super) fn in_batches<const N: usize>(
    units: &[[u8; N]],
    hashes: &[KeyHash],
    answers: &mut [bool],
    index: impl Fn(KeyHash, usize) -> usize,
    contains: impl Fn(&[u8; N], u64) -> bool,
) {
    assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
    let is_cached = size_of_val(units) <= CACHED_LEN;
    let distance = if is_cached { hashes.len() } else { PREFETCH_DISTANCE };
    for (at, (hash, answer)) in hashes.iter().zip(answers).enumerate() {
        if let Some(later) = hashes.get(at + distance)
            && let Some(unit) = units.get(index(*later, units.len()))
        {
            prefetch(unit);
        }
        // Not `is_some_and`, which is compiled without the vector instructions.
        *answer = match units.get(index(*hash, units.len())) {
            Some(unit) => contains(unit, hash.get()),
            None => false,
        };
    }
}
