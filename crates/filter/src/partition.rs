//! Sorting keys by their position in a filter, so that building accesses memory in the caches.

use alloc::vec::Vec;

use crate::error::BuildError;
use crate::hash::KeyHash;
use crate::memory::allocate;

/// Returns the keys sorted by partition, and the end of each partition.
///
/// The sort is stable. `partition_of` must return numbers below `count`.
pub(crate) fn partition(
    keys: &[KeyHash],
    count: u64,
    partition_of: impl Fn(KeyHash) -> u64,
) -> Result<(Vec<KeyHash>, Vec<usize>), BuildError> {
    // There is a counter in memory for each partition, so an index fits a `usize`.
    let partition_of = |key: &KeyHash| partition_of(*key) as usize;
    let mut ends: Vec<usize> = allocate(count, 0)?;
    let mut sorted = allocate(keys.len() as u64, KeyHash::from_u64(0))?;
    if let [end] = ends.as_mut_slice() {
        *end = keys.len();
        sorted.copy_from_slice(keys);
        return Ok((sorted, ends));
    }
    for key in keys {
        ends[partition_of(key)] += 1;
    }
    let mut begin = 0;
    for end in &mut ends {
        begin += core::mem::replace(end, begin);
    }
    // Each `end` is the start of its partition here, and advances with each key.
    for key in keys {
        let end = &mut ends[partition_of(key)];
        sorted[*end] = *key;
        *end += 1;
    }
    Ok((sorted, ends))
}
