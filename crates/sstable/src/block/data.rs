//! What is common to a data block in its two states, as read and decoded.

use std::sync::Arc;

use super::decoded::DecodedBlock;
use super::encoded::EncodedBlock;
use super::origin::BlockOrigin;
use super::row_index::RowIndexKind;
use crate::KeyRef;
use crate::buffers::Buffers;
use crate::encoding::DamageReason;

/// A data block in either state, shared by the cache and its readers.
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

    /// Decodes the block; copies it if others share it.
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

    /// Recycles the buffer, unless others share the block.
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
    /// Where it is in its file.
    pub(crate) const fn origin(self) -> &'a BlockOrigin {
        match self {
            Self::Encoded(block) => block.origin(),
            Self::Decoded(block) => block.origin(),
        }
    }

    /// Calls `visit` with the first cell's key, after a check of that cell.
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
