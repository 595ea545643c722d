//! Fallible allocation of vectors.

use alloc::vec::Vec;

use crate::error::BuildError;

/// Allocates a vector of `count` copies of `value`.
///
/// The sizes of filters come from callers, so a failed allocation is an error, not an abort.
pub(crate) fn allocate<T: Clone>(count: u64, value: T) -> Result<Vec<T>, BuildError> {
    let count = usize::try_from(count).map_err(|_| BuildError::Memory)?;
    let mut vector = Vec::new();
    vector.try_reserve_exact(count).map_err(|_| BuildError::Memory)?;
    vector.resize(count, value);
    Ok(vector)
}
