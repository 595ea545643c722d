//! The loop of a batched lookup, which prefetches the lines or blocks of later keys.

use super::prefetch::prefetch_unit;
use crate::hash::KeyHash;

/// The maximum size, in bytes, of a filter that is not prefetched.
///
/// Such a filter mostly stays in L2, which has 1 or 2 MiB in current cores. Out-of-order execution
/// hides the latency of L2, so prefetching would cost more than it saves. The size is small in unit
/// tests, so that they reach both paths.
pub(crate) const CACHED_LEN: usize = if cfg!(test) { 1 << 12 } else { 1 << 21 };

/// The number of keys between the key that is looked up and the key that is prefetched.
///
/// A core has ten to sixteen line fill buffers for outstanding loads. This distance keeps them
/// busy, and is short enough that no line is evicted before its use.
pub(crate) const PREFETCH_DISTANCE: usize = 16;

/// Looks up each key in its unit, a line or a block, and prefetches the units of later keys.
///
/// `index_of` returns the index of a key's unit among that number of units; `contains` decides
/// whether the unit holds the key. A filter without units holds no keys.
#[inline(always)]
pub(super) fn contains_batch<const N: usize>(
    units: &[[u8; N]],
    hashes: &[KeyHash],
    answers: &mut [bool],
    index_of: impl Fn(KeyHash, usize) -> usize,
    contains: impl Fn(&[u8; N], u64) -> bool,
) {
    assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
    let is_cached = size_of_val(units) <= CACHED_LEN;
    // No key lies `hashes.len()` ahead of another, so this distance turns prefetching off.
    let distance = if is_cached { hashes.len() } else { PREFETCH_DISTANCE };
    for (index, (hash, answer)) in hashes.iter().zip(answers).enumerate() {
        if let Some(later) = hashes.get(index + distance)
            && let Some(unit) = units.get(index_of(*later, units.len()))
        {
            prefetch_unit(unit);
        }
        // Not `is_some_and`: that function is compiled without the target features of the caller,
        // so `contains` would not be inlined into it with vector instructions.
        *answer = match units.get(index_of(*hash, units.len())) {
            Some(unit) => contains(unit, hash.get()),
            None => false,
        };
    }
}
