//! A byte buffer that is aligned to a cache line, and requests huge pages if it is large.

use core::ops::{Deref, DerefMut};

use super::storage::Storage;
use crate::error::BuildError;

/// A byte buffer aligned to a cache line of 64 bytes.
///
/// In an aligned buffer, a filter's block of 64 bytes is in one cache line, not in two, so a lookup
/// has at most one cache miss per block. For the fastest lookups, copy the bytes of a stored filter
/// into this buffer.
///
/// On Linux, buffers of 2 MiB and more request huge pages. A large filter has more pages of 4 KiB
/// than the TLB has entries, so that most lookups would miss the TLB as well as the cache. If the
/// system provides no huge pages, the buffer uses ordinary pages.
///
/// ```
/// use filter::engine::{AlignedBytes, KeyHash, build};
/// use filter::{ErrorRate, FilterKind, Seed, Sizing, StoredFilter};
///
/// let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
/// let keys = [KeyHash::new(Seed::new(7), b"row1")];
/// let bytes = build(FilterKind::BlockedBloom, sizing, Seed::new(7), &keys)?;
///
/// let filter = StoredFilter::parse(AlignedBytes::copy_of(&bytes)?)?;
/// assert_eq!(filter.as_bytes().as_ptr().addr() % 64, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AlignedBytes {
    /// The memory, which may be longer than `start + len`.
    storage: Storage,
    /// Offset of the first aligned byte in `storage`, at which the buffer begins.
    start: usize,
    len: usize,
}

impl AlignedBytes {
    /// Allocates `len` bytes, all zero.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if there is not enough memory.
    pub(crate) fn zeroed(len: u64) -> Result<Self, BuildError> {
        let (storage, start) = Storage::zeroed(len)?;
        // The allocation succeeded, so the length fits a `usize`.
        Ok(Self { storage, start, len: len as usize })
    }

    /// Copies bytes into an aligned buffer.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if there is not enough memory.
    pub fn copy_of(bytes: &[u8]) -> Result<Self, BuildError> {
        let mut copy = Self::zeroed(bytes.len() as u64)?;
        copy.copy_from_slice(bytes);
        Ok(copy)
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.storage.bytes()[self.start..][..self.len]
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.storage.bytes_mut()[self.start..][..self.len]
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Clone for AlignedBytes {
    /// Copies the bytes into a new aligned buffer.
    ///
    /// # Panics
    ///
    /// If there is not enough memory.
    fn clone(&self) -> Self {
        Self::copy_of(self).expect("memory for a copy")
    }
}

#[cfg(test)]
mod tests {
    use super::super::storage::LINE_LEN;
    use super::*;

    #[test]
    fn a_buffer_and_its_clone_are_aligned_to_a_cache_line() {
        for len in [0, 1, 63, 64, 65, 1_000, 5_000_000] {
            let mut bytes = AlignedBytes::zeroed(len).expect("enough memory");
            assert!(bytes.len() as u64 == len && bytes.iter().all(|byte| *byte == 0));
            bytes.fill(7);
            let copy = bytes.clone();
            drop(bytes);
            assert!(copy.len() as u64 == len && copy.iter().all(|byte| *byte == 7));
            let is_aligned = copy.as_ptr().addr().is_multiple_of(LINE_LEN);
            assert!(len == 0 || is_aligned || cfg!(miri), "{len}");
        }
        assert_eq!(AlignedBytes::zeroed(u64::MAX).expect_err("too much"), BuildError::Memory);
    }
}
