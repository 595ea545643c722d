//! A data block in either of its two states: encoded, as read from the file, or decoded.

use std::sync::Arc;

use super::decoded::DecodedBlock;
use super::encoded::EncodedBlock;
use super::origin::BlockOrigin;
use super::row_index::RowIndexKind;
use crate::KeyRef;
use crate::buffers::Buffers;
use crate::encoding::DamageReason;

/// A data block in either state, shared between the cache and readers.
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

    /// Decodes the block in place, or into a copy if the block is shared.
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

    /// Returns the block's buffer to `buffers`, unless the block is shared.
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

/// A borrowed data block in either state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DataRef<'a> {
    Encoded(&'a EncodedBlock),
    Decoded(&'a DecodedBlock),
}

impl<'a> DataRef<'a> {
    /// Returns the block's handle, type and predecessor.
    pub(crate) const fn origin(self) -> &'a BlockOrigin {
        match self {
            Self::Encoded(block) => block.origin(),
            Self::Decoded(block) => block.origin(),
        }
    }

    /// Checks the first cell and calls `visit` with its key.
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
