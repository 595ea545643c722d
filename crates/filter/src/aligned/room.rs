//! Where aligned bytes stand: on the heap, or in huge pages of their own.

use alloc::vec::Vec;

use super::LINE_LEN;
use super::huge_pages::HugePages;
use crate::BuildError;
use crate::kind::allocate;

/// Memory of at least as many bytes as were asked for.
#[derive(Debug)]
pub(super) enum Room {
    Heap(Vec<u8>),
    Pages(HugePages),
}

impl Room {
    /// Makes room for so many bytes, all nought, and tells where they begin.
    pub(super) fn zeroed(len: u64) -> Result<(Self, usize), BuildError> {
        if let Some((pages, start)) = HugePages::zeroed(len) {
            return Ok((Self::Pages(pages), start));
        }
        let rest = if len == 0 { 0 } else { LINE_LEN as u64 - 1 };
        let room: Vec<u8> = allocate(len.checked_add(rest).ok_or(BuildError::Memory)?, 0)?;
        // An address that is a multiple of 64 is less than 64 away. A machine that will not tell how
        // far (an interpreter, say) gets bytes that are right, if not aligned.
        let start = room.as_ptr().align_offset(LINE_LEN).min(rest as usize);
        Ok((Self::Heap(room), start))
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(pages) => pages,
        }
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Pages(pages) => pages,
        }
    }
}
