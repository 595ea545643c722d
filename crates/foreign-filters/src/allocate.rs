//! Vectors whose allocation can fail: sizes come from callers and from bytes.

use alloc::vec::Vec;

use filter::BuildError;

/// Allocates a vector of `count` copies of `value`.
pub(crate) fn allocate<T: Clone>(count: u64, value: T) -> Result<Vec<T>, BuildError> {
    let count = usize::try_from(count).map_err(|_| BuildError::Memory)?;
    let mut vector = Vec::new();
    vector.try_reserve_exact(count).map_err(|_| BuildError::Memory)?;
    vector.resize(count, value);
    Ok(vector)
}
