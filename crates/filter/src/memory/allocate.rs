//! Allocation whose failure is an error: sizes of filters come from callers.

use alloc::vec::Vec;

use crate::error::BuildError;

/// Makes room for so many lines, blocks or bytes, all empty. Sizes come from callers, so what does not
/// fit is an error and not the end of the program.
pub(crate) fn allocate<T: Clone>(count: u64, empty: T) -> Result<Vec<T>, BuildError> {
    let count = usize::try_from(count).map_err(|_| BuildError::Memory)?;
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| BuildError::Memory)?;
    room.resize(count, empty);
    Ok(room)
}
