//! The memory of an aligned buffer: the heap, or huge pages.

use alloc::vec::Vec;

use super::allocate::allocate;
use super::huge_pages::HugePages;
use crate::error::BuildError;

/// Bytes of a cache line.
pub(super) const LINE_LEN: usize = 64;

/// Memory of at least the requested length, not necessarily aligned.
#[derive(Debug)]
pub(super) enum Storage {
    Heap(Vec<u8>),
    Pages(HugePages),
}

impl Storage {
    /// Allocates `len` zero bytes and returns the offset of the first aligned one.
    pub(super) fn zeroed(len: u64) -> Result<(Self, usize), BuildError> {
        if let Some((pages, start)) = HugePages::zeroed(len) {
            return Ok((Self::Pages(pages), start));
        }
        let slack = if len == 0 { 0 } else { LINE_LEN as u64 - 1 };
        let bytes: Vec<u8> = allocate(len.checked_add(slack).ok_or(BuildError::Memory)?, 0)?;
        // `align_offset` may return `usize::MAX` (under Miri, for example). The buffer is then
        // unaligned but valid.
        let start = bytes.as_ptr().align_offset(LINE_LEN).min(slack as usize);
        Ok((Self::Heap(bytes), start))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(pages) => pages,
        }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(pages) => pages,
        }
    }
}
