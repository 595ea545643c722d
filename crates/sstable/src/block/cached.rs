//! Blocks in the cache: one type for each kind of block.
//!
//! | block            | in the cache                       | loaded as                                   |
//! |------------------|------------------------------------|---------------------------------------------|
//! | data             | `Encoded`, and from the second use `Decoded` | `DataBlock` or `Arc<DecodedBlock>` |
//! | leaf index, intermediate index | `Index`              | `Arc<IndexBlock>`                           |
//! | Bloom chunk      | `Bloom`                            | `Arc<BloomBits>`                            |
//! | META             | `Meta`, or `Filter` if it was read as a filter | `Arc<MetaBlock>`, `Arc<FilterBlock>` |
//!
//! The kind is matched once, when a block is loaded; callers get a typed block.

use std::sync::Arc;

use bytes::Bytes;
use cells::Comparator;

use super::bloom::BloomBits;
use super::data::DataBlock;
use super::decoded::DecodedBlock;
use super::encoded::EncodedBlock;
use super::index_block::IndexBlock;
use super::index_entry::IndexEntries;
use super::meta::{FilterBlock, MetaBlock};
use crate::encoding::DamageReason;
use crate::trace::BlockKind;

/// A block in the cache; its size does not change.
#[derive(Clone, Debug)]
pub(crate) enum CachedBlock {
    /// A delta-encoded data block as read from the file.
    Encoded(Arc<EncodedBlock>),
    Decoded(Arc<DecodedBlock>),
    Index(Arc<IndexBlock>),
    Bloom(Arc<BloomBits>),
    Meta(Arc<MetaBlock>),
    /// A META block parsed as a filter.
    Filter(Arc<FilterBlock>),
}

impl CachedBlock {
    /// The size in memory, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Encoded(block) => block.bytes(),
            Self::Decoded(block) => block.bytes(),
            Self::Index(block) => block.bytes(),
            Self::Bloom(block) => block.bytes(),
            Self::Meta(block) => block.bytes(),
            Self::Filter(block) => block.bytes(),
        }
    }

    pub(crate) const fn kind(&self) -> BlockKind {
        match self {
            Self::Encoded(_) | Self::Decoded(_) => BlockKind::Data,
            Self::Index(_) => BlockKind::Index,
            Self::Bloom(_) => BlockKind::Bloom,
            Self::Meta(_) | Self::Filter(_) => BlockKind::Meta,
        }
    }
}

impl From<DataBlock> for CachedBlock {
    fn from(block: DataBlock) -> Self {
        match block {
            DataBlock::Encoded(block) => Self::Encoded(block),
            DataBlock::Decoded(block) => Self::Decoded(block),
        }
    }
}

/// A block type that the cache can hold, other than data blocks.
pub(crate) trait TypedBlock: Sized {
    /// The kind under which reads of this type are counted.
    const KIND: BlockKind;

    /// Parses the verified and decompressed body of a block.
    fn parse(body: &Bytes, order: Comparator) -> Result<Self, DamageReason>;

    /// The size in memory, in bytes.
    fn bytes(&self) -> usize;

    /// Wraps the block for the cache.
    fn into_cached(block: Arc<Self>) -> CachedBlock;

    /// Converts a cached block to this type, if possible.
    fn from_cached(block: CachedBlock) -> CacheLookup<Self>;
}

/// The result of looking up a block of type `T` in the cache.
pub(crate) enum CacheLookup<T> {
    Block(Arc<T>),
    /// The block is cached in a form that cannot be converted; it must be read again.
    OtherForm,
    /// The cache holds a block of another type under this key.
    OtherType(CachedBlock),
}

impl TypedBlock for IndexBlock {
    const KIND: BlockKind = BlockKind::Index;

    fn parse(body: &Bytes, order: Comparator) -> Result<Self, DamageReason> {
        Self::new(IndexEntries::new(body.clone())?, order)
    }

    fn bytes(&self) -> usize {
        Self::bytes(self)
    }

    fn into_cached(block: Arc<Self>) -> CachedBlock {
        CachedBlock::Index(block)
    }

    fn from_cached(block: CachedBlock) -> CacheLookup<Self> {
        match block {
            CachedBlock::Index(block) => CacheLookup::Block(block),
            other => CacheLookup::OtherType(other),
        }
    }
}

impl TypedBlock for BloomBits {
    const KIND: BlockKind = BlockKind::Bloom;

    fn parse(body: &Bytes, _: Comparator) -> Result<Self, DamageReason> {
        Ok(Self::new(body))
    }

    fn bytes(&self) -> usize {
        Self::bytes(self)
    }

    fn into_cached(block: Arc<Self>) -> CachedBlock {
        CachedBlock::Bloom(block)
    }

    fn from_cached(block: CachedBlock) -> CacheLookup<Self> {
        match block {
            CachedBlock::Bloom(block) => CacheLookup::Block(block),
            other => CacheLookup::OtherType(other),
        }
    }
}

impl TypedBlock for MetaBlock {
    const KIND: BlockKind = BlockKind::Meta;

    fn parse(body: &Bytes, _: Comparator) -> Result<Self, DamageReason> {
        Ok(Self::new(body))
    }

    fn bytes(&self) -> usize {
        Self::bytes(self)
    }

    fn into_cached(block: Arc<Self>) -> CachedBlock {
        CachedBlock::Meta(block)
    }

    fn from_cached(block: CachedBlock) -> CacheLookup<Self> {
        match block {
            CachedBlock::Meta(block) => CacheLookup::Block(block),
            CachedBlock::Filter(filter) => CacheLookup::Block(Arc::new(filter.as_meta())),
            other => CacheLookup::OtherType(other),
        }
    }
}

impl TypedBlock for FilterBlock {
    const KIND: BlockKind = BlockKind::Meta;

    fn parse(body: &Bytes, _: Comparator) -> Result<Self, DamageReason> {
        Self::new(body)
    }

    fn bytes(&self) -> usize {
        Self::bytes(self)
    }

    fn into_cached(block: Arc<Self>) -> CachedBlock {
        CachedBlock::Filter(block)
    }

    fn from_cached(block: CachedBlock) -> CacheLookup<Self> {
        match block {
            CachedBlock::Filter(block) => CacheLookup::Block(block),
            CachedBlock::Meta(_) => CacheLookup::OtherForm,
            other => CacheLookup::OtherType(other),
        }
    }
}
