//! Batched lookups: how far ahead keys are prefetched, and the loop over lines or blocks.

use super::prefetch::prefetch;
use crate::hash::KeyHash;

/// Bytes of a filter that fits the L2 cache of current cores, one or two mebibytes, or nearly so. Out-of-order
/// execution hides the latency of L2, and prefetching costs more than it saves. Small in unit tests, so that
/// they reach both paths.
pub(crate) const CACHED_LEN: usize = if cfg!(test) { 1 << 12 } else { 1 << 21 };

/// How many keys a batch prefetches ahead: enough to fill the ten to sixteen line buffers that a
/// core has for outstanding loads, and few enough that nothing is evicted before it is used.
pub(crate) const PREFETCH_DISTANCE: usize = 16;

/// Finds each key's unit, a line or a block, and asks `contains` of it, while the units of later keys are
/// prefetched. Without units no key is contained.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a vector kernel must be inlined into its own loop")]
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
        // Not `is_some_and`: its closure would be a function without the vector instructions.
        *answer = match units.get(index(*hash, units.len())) {
            Some(unit) => contains(unit, hash.get()),
            None => false,
        };
    }
}
