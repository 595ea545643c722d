//! Keys dealt into piles, so that those whose places are near each other are handled one after the
//! other, in the caches.

use alloc::vec::Vec;

use crate::kind::allocate;
use crate::{BuildError, KeyHash};

/// Returns the keys pile by pile, and where each pile ends. Within a pile they keep their order.
pub(crate) fn deal(
    keys: &[KeyHash],
    piles: u64,
    pile_of: impl Fn(KeyHash) -> u64,
) -> Result<(Vec<KeyHash>, Vec<usize>), BuildError> {
    // The index of a pile that is there is a `usize`.
    let pile_of = |key: &KeyHash| pile_of(*key) as usize;
    let mut ends: Vec<usize> = allocate(piles, 0)?;
    let mut dealt = allocate(keys.len() as u64, KeyHash::from_u64(0))?;
    if let [end] = ends.as_mut_slice() {
        *end = keys.len();
        dealt.copy_from_slice(keys);
        return Ok((dealt, ends));
    }
    for key in keys {
        ends[pile_of(key)] += 1;
    }
    let mut begin = 0;
    for end in &mut ends {
        begin += core::mem::replace(end, begin);
    }
    // Each number stands at the begin of its pile now, and moves on with its keys.
    for key in keys {
        let end = &mut ends[pile_of(key)];
        dealt[*end] = *key;
        *end += 1;
    }
    Ok((dealt, ends))
}
