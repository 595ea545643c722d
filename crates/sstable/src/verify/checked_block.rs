//! A data block of a verified file, with its first and last key.

use cells::{BlockOffset, KeyRef};

use crate::block::decoded::DecodedBlock;
use crate::block::index_entry::BlockHandle;

/// A data block, or an unreadable block that may be one. The index must list all data blocks.
pub(super) struct CheckedBlock {
    pub(super) at: BlockOffset,
    /// `None` if the block could not be read.
    pub(super) readable: Option<ReadableBlock>,
}

/// A readable data block, with its first and last key.
pub(super) struct ReadableBlock {
    pub(super) place: BlockHandle,
    /// `None` if the keys are too long to keep. They are then read again.
    pub(super) keys: Option<Keys>,
}

pub(super) type Keys = (Vec<u8>, Vec<u8>);

impl CheckedBlock {
    /// Longer keys are not kept, because keys of hostile files can be as long as their block.
    const KEPT_LEN_MAX: usize = 4096;

    pub(super) fn new(place: BlockHandle, block: &DecodedBlock) -> Self {
        let keys = Some(keys(block))
            .filter(|(first, last)| first.len().max(last.len()) <= Self::KEPT_LEN_MAX);
        Self { at: place.offset, readable: Some(ReadableBlock { place, keys }) }
    }

    pub(super) const fn unreadable(at: BlockOffset) -> Self {
        Self { at, readable: None }
    }

    /// Returns the flat first key, if it is kept.
    pub(super) fn first_key(&self) -> Option<&[u8]> {
        self.readable.as_ref()?.keys.as_ref().map(|(first, _)| &first[..])
    }

    /// Returns the flat last key, if it is kept.
    pub(super) fn last_key(&self) -> Option<&[u8]> {
        self.readable.as_ref()?.keys.as_ref().map(|(_, last)| &last[..])
    }
}

/// Returns the flat first and last key of a block.
pub(super) fn keys(block: &DecodedBlock) -> Keys {
    let flat = |key: KeyRef<'_>| {
        let mut flat = Vec::new();
        key.write_flat(&mut flat);
        flat
    };
    (flat(block.first_key()), flat(block.last_key()))
}
