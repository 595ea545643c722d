//! Puts the blocks of a file into a block cache while the file is written.
//!
//! The blocks have the form that reads keep: data blocks decoded, index blocks, Bloom chunks and filters
//! parsed. Blocks that a reader loads when it opens the file are not cached, nor META blocks without a filter.
//! A file that is not completed leaves no block in the cache.

use std::sync::Arc;

use bytes::Bytes;
use cells::BlockOffset;

use crate::block::bloom::BloomBits;
use crate::block::cached::{CachedBlock, TypedBlock};
use crate::block::encoded::EncodedBlock;
use crate::block::index_block::IndexBlock;
use crate::block::meta::FilterBlock;
use crate::block::origin::BlockIdentity;
use crate::block::row_index::RowIndexKind;
use crate::buffers::{Body, Buffers};
use crate::cache::FileInCache;
use crate::encoding::{CellLayout, Cells, DamageReason, DataBlockEncoding};
use crate::error::BlockType;

/// The place of the written file in a cache, and how its data blocks are decoded.
#[derive(Debug)]
pub(super) struct BlockCaching {
    place: FileInCache,
    encoding: DataBlockEncoding,
    layout: CellLayout,
    /// The blocks in the cache, until the file is complete.
    inserted: Vec<BlockOffset>,
}

impl BlockCaching {
    pub(super) const fn new(
        place: FileInCache,
        encoding: DataBlockEncoding,
        layout: CellLayout,
    ) -> Self {
        Self { place, encoding, layout, inserted: Vec::new() }
    }

    /// Puts a block that was written into the cache. An error is a bug of the writer.
    pub(super) fn insert(
        &mut self,
        origin: BlockIdentity,
        body: &[u8],
    ) -> Result<(), DamageReason> {
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
        self.inserted.push(origin.handle.offset);
        Ok(())
    }

    /// Leaves the blocks in the cache: the file is complete.
    pub(super) fn keep(mut self) {
        self.inserted.clear();
    }

    fn parse<T: TypedBlock>(&self, body: &[u8]) -> Result<CachedBlock, DamageReason> {
        let block = T::parse(&Bytes::copy_from_slice(body), self.layout.order)?;
        Ok(T::into_cached(Arc::new(block)))
    }
}

impl Drop for BlockCaching {
    fn drop(&mut self) {
        for at in self.inserted.drain(..) {
            self.place.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockCache, CellRef, FileName, Timestamp, Writer, WriterOptions};

    #[test]
    fn only_a_file_that_is_complete_leaves_blocks_in_the_cache() {
        for is_complete in [false, true] {
            let cache = Arc::new(BlockCache::new(1 << 20));
            let options = WriterOptions::default().block_size(1 << 10);
            let place = FileInCache::new(Arc::clone(&cache), false);
            let writer = Writer::new(Vec::new(), FileName::new("file"), options).unwrap();
            let mut writer = writer.cached_in(place);
            for row in 0..100_u32 {
                let row = format!("row{row:04}");
                let cell = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), &[7; 50]);
                writer.append(cell).unwrap();
            }
            assert!(cache.stats().blocks > 0, "blocks are cached as they are written");
            if is_complete {
                writer.finish().unwrap();
            } else {
                drop(writer);
            }
            assert_eq!(cache.stats().blocks > 0, is_complete);
        }
    }
}
