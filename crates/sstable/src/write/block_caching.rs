//! Puts the blocks of a file into a block cache while the file is written.
//!
//! The blocks have the form in which a read keeps them: data blocks decoded, index blocks, Bloom chunks and filters
//! parsed. Blocks that a reader loads when it opens the file are not cached, nor META blocks without a filter.

use std::sync::Arc;

use bytes::Bytes;

use crate::block::bloom::BloomBits;
use crate::block::cached::{CachedBlock, TypedBlock};
use crate::block::encoded::EncodedBlock;
use crate::block::index_block::IndexBlock;
use crate::block::meta::FilterBlock;
use crate::block::origin::BlockIdentity;
use crate::block::row_index::RowIndexKind;
use crate::buffers::{Body, Buffers};
use crate::cache::FileInCache;
use crate::encoding::DataBlockEncoding;
use crate::encoding::{CellLayout, Cells, DamageReason};
use crate::error::BlockType;

/// The place of the written file in a cache, and how its data blocks are decoded.
#[derive(Debug)]
pub(super) struct BlockCaching {
    place: FileInCache,
    encoding: DataBlockEncoding,
    layout: CellLayout,
}

impl BlockCaching {
    pub(super) const fn new(
        place: FileInCache,
        encoding: DataBlockEncoding,
        layout: CellLayout,
    ) -> Self {
        Self { place, encoding, layout }
    }

    /// Puts a block that was written into the cache. An error is a bug of the writer.
    pub(super) fn insert(&self, origin: BlockIdentity, body: &[u8]) -> Result<(), DamageReason> {
        let block = match origin.block_type {
            BlockType::Data | BlockType::EncodedData => {
                let cells = Cells::open(self.encoding, Body::from(body.to_vec()), usize::MAX)?;
                let block = EncodedBlock::new(origin, cells, self.layout);
                let decoded = block.decode(RowIndexKind::ByHash, &mut Buffers::default())?;
                CachedBlock::Decoded(Arc::new(decoded))
            }
            BlockType::LeafIndex | BlockType::IntermediateIndex => {
                self.parse::<IndexBlock>(body)?
            }
            BlockType::BloomChunk => self.parse::<BloomBits>(body)?,
            BlockType::Meta => match self.parse::<FilterBlock>(body) {
                Ok(filter) => filter,
                Err(_) => return Ok(()),
            },
            _ => return Ok(()),
        };
        self.place.insert(origin.handle.offset, block);
        Ok(())
    }

    fn parse<T: TypedBlock>(&self, body: &[u8]) -> Result<CachedBlock, DamageReason> {
        let block = T::parse(&Bytes::copy_from_slice(body), self.layout.order)?;
        Ok(T::into_cached(Arc::new(block)))
    }
}
