//! Blocks as the cache holds them: one type for each kind of block.
//!
//! | block            | in the cache                       | loaded as                                   |
//! |------------------|------------------------------------|---------------------------------------------|
//! | data             | `Encoded`, and from the second use `Decoded` | `DataBlock` or `Arc<DecodedBlock>` |
//! | leaf index, intermediate index | `Index`              | `Arc<IndexBlock>`                           |
//! | Bloom chunk      | `Bloom`                            | `Arc<BloomBits>`                            |
//! | META             | `Meta`, or `Filter` if it was read as a filter | `Arc<MetaBlock>`, `Arc<FilterBlock>` |
//!
//! A block is matched once, where it is loaded; from there on its type is known.

use std::sync::Arc;

use bytes::Bytes;

use super::bloom::BloomBits;
use super::branch::IndexBlock;
use super::data::DataBlock;
use super::decoded::DecodedBlock;
use super::encoded::EncodedBlock;
use super::index::IndexEntries;
use super::meta::{FilterBlock, MetaBlock};
use crate::encoding::DamageReason;
use crate::{BlockKind, Comparator};

/// A block in the cache. Its size is fixed.
#[derive(Clone, Debug)]
pub(crate) enum CachedBlock {
    /// A delta-encoded data block as it was read.
    Encoded(Arc<EncodedBlock>),
    Decoded(Arc<DecodedBlock>),
    Index(Arc<IndexBlock>),
    Bloom(Arc<BloomBits>),
    Meta(Arc<MetaBlock>),
    /// A META block that was read as a filter.
    Filter(Arc<FilterBlock>),
}

impl CachedBlock {
    /// Bytes it takes in memory.
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

    /// What kind of block it is.
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

/// A block of a type that the cache knows, data blocks apart.
pub(crate) trait TypedBlock: Sized {
    /// The kind as which it is counted.
    const KIND: BlockKind;

    /// Takes the body of a block, verified and decompressed.
    fn parse(body: &Bytes, order: Comparator) -> Result<Self, DamageReason>;

    /// Bytes it takes in memory.
    fn bytes(&self) -> usize;

    /// Wraps it for the cache.
    fn into_cached(block: Arc<Self>) -> CachedBlock;

    /// Takes what the cache holds where a block of this type is expected.
    fn from_cached(block: CachedBlock) -> CacheLookup<Self>;
}

/// What the cache holds where a block of type `T` is expected.
pub(crate) enum CacheLookup<T> {
    Block(Arc<T>),
    /// The same block in another form. It has to be read again.
    OtherForm,
    /// A block of another type.
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
