//! The data index of an open file: from a key to the data block that can hold it.
//!
//! ```text
//! root, in memory ──→ intermediate blocks, none to fourteen levels ──→ leaf ──→ data block
//! ```
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::sync::Arc;

use bytes::Bytes;

use super::Caching;
use super::blocks::{Blocks, Wanted};
use crate::block::branch::IndexBlock;
use crate::block::data::DataBlock;
use crate::block::index::BlockPlace;
use crate::block::loaded::{Block, BlockSlot};
use crate::encoding::What;
use crate::{BlockOffset, BlockType, Comparator, Damage, KeyRef, ReadTrace, Result};

/// The root of the index, and how many levels it has.
#[derive(Debug)]
pub(super) struct DataIndex {
    pub(super) root: IndexBlock,
    pub(super) levels: u32,
}

/// Where the index has a data block, and what it says about the keys in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataPlace<'a> {
    pub(super) block: BlockPlace,
    /// Not greater than the block's first key.
    pub(super) key: &'a [u8],
    /// Not less than the block's last key; `None` for the last block of the file.
    pub(super) next_key: Option<&'a [u8]>,
    pub(super) slot: Option<&'a BlockSlot>,
}

impl DataIndex {
    /// Finds the last data block whose index key is not greater than `key`, or the first of all,
    /// and hands it to `visit`.
    pub(super) fn find<R>(
        &self,
        blocks: &Blocks,
        key: &KeyRef<'_>,
        caching: Caching,
        trace: &mut ReadTrace,
        visit: impl FnOnce(DataPlace<'_>, &mut ReadTrace) -> Result<R>,
    ) -> Result<R> {
        self.descend(blocks, |node| node.find(key), caching, trace, visit)
    }

    /// The entry of the root for a key, where the root leads to data blocks.
    pub(super) fn find_in_root(&self, key: &KeyRef<'_>) -> Option<usize> {
        (self.levels <= 1).then(|| self.root.find(key))
    }

    /// As [`find`](Self::find), through the cache, for what [`find_in_root`](Self::find_in_root) found.
    pub(super) fn find_from_root<R>(
        &self,
        blocks: &Blocks,
        key: &KeyRef<'_>,
        in_root: Option<usize>,
        trace: &mut ReadTrace,
        visit: impl FnOnce(DataPlace<'_>, &mut ReadTrace) -> Result<R>,
    ) -> Result<R> {
        let choose = |node: &IndexBlock| in_root.unwrap_or_else(|| node.find(key));
        self.descend(blocks, choose, Caching::Use, trace, visit)
    }

    /// Finds the last data block of the file.
    pub(super) fn find_last<R>(
        &self,
        blocks: &Blocks,
        caching: Caching,
        trace: &mut ReadTrace,
        visit: impl FnOnce(DataPlace<'_>, &mut ReadTrace) -> Result<R>,
    ) -> Result<R> {
        self.descend(blocks, |node| node.len().saturating_sub(1), caching, trace, visit)
    }

    fn descend<R>(
        &self,
        blocks: &Blocks,
        choose: impl Fn(&IndexBlock) -> usize,
        caching: Caching,
        trace: &mut ReadTrace,
        visit: impl FnOnce(DataPlace<'_>, &mut ReadTrace) -> Result<R>,
    ) -> Result<R> {
        let mut held: Option<Arc<Block>> = None;
        let mut at = BlockOffset::default();
        let mut above: Option<Bytes> = None;
        let mut level = 1_u32;
        loop {
            let node = match held.as_deref() {
                Some(Block::Index(node)) => node,
                _ => &self.root,
            };
            let index = choose(node);
            let entry = node.entry(index).ok_or_else(|| {
                Damage::in_block(BlockType::RootIndex, at, "no entries").in_file(&blocks.name)
            })?;
            let next = index.checked_add(1).and_then(|next| node.entry(next));
            if level >= self.levels {
                let next_key = next.map(|next| next.key).or(above.as_deref());
                let (block, key, slot) = (entry.block, entry.key, node.slot(index));
                return visit(DataPlace { block, key, next_key, slot }, trace);
            }
            level = level.saturating_add(1);
            let wanted =
                if level == self.levels { Wanted::LeafIndex } else { Wanted::IntermediateIndex };
            if let Some(next) = next {
                above = Some(node.keep(next.key));
            }
            let below = blocks.load(entry.block, wanted, caching, trace, |block| {
                let Block::Index(found) = block else { return Err("no index block") };
                check_index_keys(found, entry.key, above.as_deref(), blocks.layout.order)
            })?;
            at = entry.block.offset;
            held = Some(below);
        }
    }
}

/// Holds an index block against the entry that leads to it.
fn check_index_keys(
    found: &IndexBlock,
    key: &[u8],
    next_key: Option<&[u8]>,
    order: Comparator,
) -> Result<(), &'static str> {
    let first = found.entry(0).and_then(|entry| KeyRef::parse(entry.key));
    let last = found.len().checked_sub(1).and_then(|last| found.entry(last));
    let last = last.and_then(|entry| KeyRef::parse(entry.key));
    check_keys(first, last, key, next_key, order)
}

/// Checks the cells of a data block, and holds it against the entry that leads to it.
pub(super) fn check_data_keys(
    found: &DataBlock,
    key: &[u8],
    next_key: Option<&[u8]>,
    order: Comparator,
) -> Result<(), What> {
    let found = found.check()?;
    Ok(check_keys(found.first_key(), found.last_key(), key, next_key, order)?)
}

fn check_keys(
    first: Option<KeyRef<'_>>,
    last: Option<KeyRef<'_>>,
    key: &[u8],
    next_key: Option<&[u8]>,
    order: Comparator,
) -> Result<(), &'static str> {
    check_first_key(first, key, order)?;
    check_later_key(last, next_key, order)
}

/// Holds the first key of a block against the entry that leads to it.
pub(super) fn check_first_key(
    first: Option<KeyRef<'_>>,
    key: &[u8],
    order: Comparator,
) -> Result<(), &'static str> {
    if order.in_order(KeyRef::parse(key), first) {
        return Ok(());
    }
    Err("its first key is less than the index says")
}

/// Holds the last key of a block, or one before it, against the entry behind the one that leads to it.
pub(super) fn check_later_key(
    found: Option<KeyRef<'_>>,
    next_key: Option<&[u8]>,
    order: Comparator,
) -> Result<(), &'static str> {
    match next_key.map(KeyRef::parse) {
        Some(next) if !order.in_order(found, next) => {
            Err("its last key is greater than the index says")
        }
        _ => Ok(()),
    }
}
