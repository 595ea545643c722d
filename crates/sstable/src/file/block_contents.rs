//! What a single block holds: the number of its entries and its first key.
//!
//! | block                  | entries              | first key                                     |
//! |------------------------|----------------------|-----------------------------------------------|
//! | data                   | cells                | key of the first cell                         |
//! | leaf, intermediate     | index entries        | index key of the first entry                  |
//! | root of the data index | index entries        | the same                                      |
//! | root of the meta index | META blocks          | name of the first META block                  |
//! | Bloom chunk            | not stored           | first key of the chunk, from the Bloom meta   |
//! | Bloom meta             | chunks               | first key of the first chunk                  |
//! | file info              | entries              | name of the first entry                       |
//! | META                   | –                    | –                                             |

use bytes::Bytes;
use cells::BlockOffset;

use super::filters::chunked_bloom::ChunkedBloom;
use super::parts::FileBlocks;
use crate::block::header::BlockHeader;
use crate::block::index_block::IndexBlock;
use crate::block::index_entry::{BlockHandle, IndexEntries};
use crate::block::origin::BlockIdentity;
use crate::block::row_index::RowIndexKind;
use crate::buffers::{Body, Buffers};
use crate::encoding::DamageReason;
use crate::error::{BlockType, Damage, Result};

/// The number of entries in a block, and its first key. See [`FileBlocks::contents`].
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct BlockContents {
    /// The number of cells, index entries, chunks or names; `None` if the block has no such.
    pub entries: Option<u64>,
    /// The first key; `None` if the block has none, or it is not known.
    pub first_key: Option<BlockFirstKey>,
}

/// The first key of a block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BlockFirstKey {
    /// The flat key of a cell, for [`KeyRef::parse`](crate::KeyRef::parse).
    Cell(Bytes),
    /// A row or the prefix of one, of a Bloom filter.
    Row(Bytes),
    /// The name of a META block, or of an entry of the file info.
    Name(Bytes),
}

impl FileBlocks<'_> {
    /// Returns the number of entries and the first key of a block that [`headers`] listed.
    ///
    /// Reads data and index blocks, and checks them as a scan does, except for their place in the
    /// index. The contents of other blocks are in memory.
    ///
    /// [`headers`]: Self::headers
    ///
    /// # Errors
    ///
    /// If the block cannot be read.
    #[doc(hidden)]
    pub fn contents(self, at: BlockOffset, header: &BlockHeader) -> Result<BlockContents> {
        let block_type = header.block_type;
        let found = match block_type {
            BlockType::Data | BlockType::EncodedData => self.data_contents(at, header)?,
            BlockType::LeafIndex | BlockType::IntermediateIndex => {
                let (_, body) = self.raw_block(at, header)?;
                index_contents(body).map_err(|what| {
                    Damage { at, block: Some(block_type), what }.in_file(&self.0.blocks.name)
                })?
            }
            BlockType::RootIndex if at == self.0.trailer.load_on_open_data_offset => {
                let root = self.0.index.as_ref().map(|index| &index.root);
                let first = root.and_then(|root| Some(root.owned_key(root.entry(0)?.key)));
                counted(root.map_or(0, IndexBlock::len), first.map(BlockFirstKey::Cell))
            }
            BlockType::RootIndex => {
                let first = self.0.metas.first().map(|(name, _)| name.clone());
                counted(self.0.metas.len(), first.map(BlockFirstKey::Name))
            }
            BlockType::FileInfo => {
                let first = self.0.file_info.iter().next();
                let first = first.map(|(key, _)| BlockFirstKey::Name(Bytes::copy_from_slice(key)));
                counted(self.0.file_info.iter().count(), first)
            }
            BlockType::BloomChunk => {
                let filters = self.0.filters();
                let blooms = [&filters.bloom, &filters.delete_family_bloom];
                let first = blooms.into_iter().flatten().find_map(|bloom| {
                    bloom.first_key_of_chunk_at(at).map(|key| bloom_key(bloom, key))
                });
                BlockContents { entries: None, first_key: first }
            }
            BlockType::GeneralBloomMeta => bloom_contents(self.0.filters().bloom.as_ref()),
            BlockType::DeleteFamilyBloomMeta => {
                bloom_contents(self.0.filters().delete_family_bloom.as_ref())
            }
            BlockType::Meta | BlockType::Trailer => BlockContents::default(),
        };
        Ok(found)
    }

    fn data_contents(self, at: BlockOffset, header: &BlockHeader) -> Result<BlockContents> {
        let blocks = &self.0.blocks;
        let (_, body) = self.raw_block(at, header)?;
        let len = u32::try_from(header.len()).unwrap_or(u32::MAX);
        let origin = BlockIdentity::new(BlockHandle { offset: at, len }, header);
        let decoded = blocks
            .encoded_block(origin, Body::from(body.to_vec()))
            .and_then(|block| block.decode(RowIndexKind::ByOrder, &mut Buffers::default()))
            .map_err(|what| blocks.damaged_at(&origin, what))?;
        let mut first = Vec::new();
        decoded.first_key().write_flat(&mut first);
        Ok(BlockContents {
            entries: Some(decoded.cell_count()),
            first_key: Some(BlockFirstKey::Cell(first.into())),
        })
    }
}

fn counted(entries: usize, first_key: Option<BlockFirstKey>) -> BlockContents {
    BlockContents { entries: u64::try_from(entries).ok(), first_key }
}

fn index_contents(body: Bytes) -> Result<BlockContents, DamageReason> {
    let entries = IndexEntries::new(body)?;
    let first = entries.entry(0).map(|entry| entries.body().slice_ref(entry.key));
    Ok(counted(entries.len(), first.map(BlockFirstKey::Cell)))
}

fn bloom_contents(bloom: Option<&ChunkedBloom>) -> BlockContents {
    let Some(bloom) = bloom else { return BlockContents::default() };
    let first = bloom.first_key().map(|key| bloom_key(bloom, key));
    counted(bloom.summary().chunk_count, first)
}

fn bloom_key(bloom: &ChunkedBloom, key: &Bytes) -> BlockFirstKey {
    if bloom.is_over_columns() {
        BlockFirstKey::Cell(key.clone())
    } else {
        BlockFirstKey::Row(key.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cells::{FileName, KeyRef};

    use super::*;
    use crate::file::options::ReaderOptions;
    use crate::reader::Reader;

    const FILE: &[u8] = include_bytes!("../../testdata/p06-none-snappy-rowcol.hfile");

    fn open(bytes: Vec<u8>) -> Result<Reader> {
        Reader::open(Arc::new(Bytes::from(bytes)), FileName::new("a"), ReaderOptions::default())
    }

    /// Lists all blocks; returns the number of cells.
    fn list(reader: &Reader) -> Result<u64> {
        let mut cells = 0;
        for block in reader.blocks().headers() {
            let (at, header) = block?;
            let contents = reader.blocks().contents(at, &header)?;
            if matches!(header.block_type, BlockType::Data | BlockType::EncodedData) {
                cells += contents.entries.expect("a data block has cells");
                let Some(BlockFirstKey::Cell(first)) = contents.first_key else { panic!("no key") };
                assert!(KeyRef::parse(&first).is_some());
            }
        }
        Ok(cells)
    }

    #[test]
    fn data_blocks_hold_all_cells() {
        let reader = open(FILE.to_vec()).unwrap();
        assert_eq!(list(&reader).unwrap(), reader.trailer().entry_count);
    }

    /// The file has no checksums, so damage reaches the decoders.
    #[test]
    fn damaged_blocks_are_errors() {
        for at in (0..FILE.len()).step_by(29) {
            for value in [0x7f, 0xff] {
                let mut bytes = FILE.to_vec();
                bytes[at] = value;
                let Ok(reader) = open(bytes) else { continue };
                let _ = list(&reader);
                for (key, _) in reader.file_info().iter() {
                    let _ = reader.file_info().decoded(key);
                }
            }
        }
    }
}
