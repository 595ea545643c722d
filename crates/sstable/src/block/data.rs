//! A data block in memory: encoded (as read from the file, not yet checked), or decoded.

use std::sync::Arc;

use cells::KeyRef;

use super::decoded::DecodedBlock;
use super::encoded::EncodedBlock;
use super::origin::BlockIdentity;
use super::row_index::RowIndexKind;
use crate::buffers::Buffers;
use crate::encoding::DamageReason;

/// An encoded or decoded data block, shared between the cache and readers.
#[derive(Clone, Debug)]
pub(crate) enum DataBlock {
    Encoded(Arc<EncodedBlock>),
    Decoded(Arc<DecodedBlock>),
}

impl DataBlock {
    pub(crate) fn as_ref(&self) -> DataRef<'_> {
        match self {
            Self::Encoded(block) => DataRef::Encoded(block),
            Self::Decoded(block) => DataRef::Decoded(block),
        }
    }

    /// Checks and decodes all cells, unless the block is decoded already.
    ///
    /// Plain cells are copied only if the block is shared; delta-encoded cells always are decoded
    /// into another buffer. `buffers` supplies new buffers, and receives those that become free.
    pub(crate) fn into_decoded(
        self,
        buffers: &mut Buffers,
    ) -> Result<Arc<DecodedBlock>, DamageReason> {
        let block = match self {
            Self::Decoded(block) => return Ok(block),
            Self::Encoded(block) => block,
        };
        let decoded = match Arc::try_unwrap(block) {
            Ok(own) => own.decode(RowIndexKind::ByHash, buffers),
            Err(shared) => shared.decode_copy(RowIndexKind::ByHash, buffers),
        };
        decoded.map(Arc::new)
    }

    /// Returns the block's buffer to `buffers`; if the block is shared, drops only this reference.
    pub(crate) fn recycle(self, buffers: &mut Buffers) {
        match self {
            Self::Encoded(block) => {
                if let Some(own) = Arc::into_inner(block) {
                    own.recycle(buffers);
                }
            }
            Self::Decoded(block) => {
                if let Some(own) = Arc::into_inner(block) {
                    own.recycle(buffers);
                }
            }
        }
    }
}

/// A borrowed data block, encoded or decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DataRef<'a> {
    Encoded(&'a EncodedBlock),
    Decoded(&'a DecodedBlock),
}

impl<'a> DataRef<'a> {
    /// Returns the block's handle, type and predecessor.
    pub(crate) const fn origin(self) -> &'a BlockIdentity {
        match self {
            Self::Encoded(block) => block.origin(),
            Self::Decoded(block) => block.origin(),
        }
    }

    /// Returns the size in memory, in bytes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Encoded(block) => block.bytes(),
            Self::Decoded(block) => block.bytes(),
        }
    }

    /// Calls `visit` with the key of the first cell, which is checked first in an encoded block.
    pub(crate) fn with_first_key<R>(
        self,
        visit: impl FnOnce(&KeyRef<'_>) -> R,
    ) -> Result<R, DamageReason> {
        match self {
            Self::Encoded(block) => Ok(visit(&block.cell(&block.cursor()?).key())),
            Self::Decoded(block) => Ok(visit(&block.first_key())),
        }
    }
}
