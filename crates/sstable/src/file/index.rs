//! The data index of an open file: from a key to the data block that can hold it.
//!
//! ```text
//! root, in memory ──→ intermediate blocks, none to fourteen levels ──→ leaf ──→ data block
//! ```

use std::sync::Arc;

use bytes::Bytes;

use super::block_reader::BlockReader;
use super::read_context::ReadContext;
use crate::block::branch::IndexBlock;
use crate::block::decoded::DecodedBlock;
use crate::block::index::{BlockHandle, IndexEntry};
use crate::block::slot::BlockSlot;
use crate::encoding::DamageReason;
use crate::{BlockOffset, BlockType, Comparator, KeyRef, Result};

/// The root of the index, and how many levels it has.
#[derive(Debug)]
pub(crate) struct DataIndex {
    pub(crate) root: IndexBlock,
    pub(crate) levels: u32,
}

/// Where the index has a data block, and what it says about the keys in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataPlace<'a> {
    pub(crate) block: BlockHandle,
    /// Not greater than the block's first key.
    pub(crate) key: &'a [u8],
    /// Not less than the block's last key; `None` for the last block of the file.
    pub(crate) next_key: Option<&'a [u8]>,
    pub(crate) before: BlockBefore,
    pub(crate) slot: &'a BlockSlot,
}

/// The block of the same type in front of another, as far as the index tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BlockBefore {
    /// There is none: the other is the first of the file.
    First,
    At(BlockOffset),
    /// Its entry is in the leaf before, which was not read.
    InOtherLeaf,
}

impl BlockBefore {
    /// Returns the block before entry `index`. `is_leftmost`: the node is the first of its level.
    pub(crate) fn of_entry(node: &IndexBlock, index: usize, is_leftmost: bool) -> Self {
        match index.checked_sub(1).and_then(|before| node.entry(before)) {
            Some(before) => Self::At(before.block.offset),
            None if is_leftmost => Self::First,
            None => Self::InOtherLeaf,
        }
    }
}

impl DataIndex {
    /// The entry of the root for a key, where the root leads to data blocks.
    pub(crate) fn find_in_root(&self, key: &KeyRef<'_>) -> Option<usize> {
        (self.levels <= 1).then(|| self.root.find(key))
    }

    /// Goes down from the root by the entry that `choose` takes of each node, and hands the data block of the
    /// last one to `visit`.
    ///
    /// [`IndexCursor`](super::index_cursor::IndexCursor) goes down too, and keeps the nodes and entries on its
    /// way in a list. A get needs only the last node and does not allocate a list. Both load each node by
    /// [`load_below`](Self::load_below).
    pub(crate) fn find<R>(
        &self,
        blocks: &BlockReader,
        choose: impl Fn(&IndexBlock) -> usize,
        context: &mut ReadContext<'_>,
        visit: impl FnOnce(DataPlace<'_>, &mut ReadContext<'_>) -> Result<R>,
    ) -> Result<R> {
        let mut held: Option<Arc<IndexBlock>> = None;
        let mut above: Option<Bytes> = None;
        let mut level = 1_u32;
        let mut is_leftmost = true;
        loop {
            let node = held.as_deref().unwrap_or(&self.root);
            let index = choose(node);
            let entry = node.entry(index).expect("an entry is chosen among those of its node");
            let next = node.entry(index + 1);
            let before = BlockBefore::of_entry(node, index, is_leftmost);
            if level >= self.levels {
                let next_key = next.map(|next| next.key).or(above.as_deref());
                let (block, key, slot) = (entry.block, entry.key, node.slot(index));
                return visit(DataPlace { block, key, next_key, before, slot }, context);
            }
            level += 1;
            is_leftmost &= index == 0;
            if let Some(next) = next {
                above = Some(node.owned_key(next.key));
            }
            let place = NodePlace { entry, next_key: above.as_deref(), before };
            held = Some(self.load_below(blocks, place, level, context)?);
        }
    }

    /// Loads the index block at a place on the level `level`, counted from the root's 1, and checks that it
    /// is the one that belongs there.
    pub(crate) fn load_below(
        &self,
        blocks: &BlockReader,
        place: NodePlace<'_>,
        level: u32,
        context: &mut ReadContext<'_>,
    ) -> Result<Arc<IndexBlock>> {
        let is_leaf = level == self.levels;
        let block_type = if is_leaf { BlockType::LeafIndex } else { BlockType::IntermediateIndex };
        let wanted = place.entry.block.of_type(block_type);
        blocks.load(wanted, context.caching, context.trace, |found, header| {
            // Intermediate blocks of all levels are one chain, of which the first of a level follows the last
            // of the level below it.
            let is_known = is_leaf || place.before != BlockBefore::First;
            if is_known && check_previous(header.previous_block, place.before).is_err() {
                return Err("does not follow the index block that the index has in front of it");
            }
            check_index_keys(found, place.entry.key, place.next_key, blocks.layout.order)
        })
    }
}

/// Where the index has one of its own blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodePlace<'a> {
    pub(crate) entry: IndexEntry<'a>,
    /// The key of the entry behind.
    pub(crate) next_key: Option<&'a [u8]>,
    pub(crate) before: BlockBefore,
}

/// Checks that an index block is the one that an entry leads to: it starts with the entry's key.
fn check_index_keys(
    found: &IndexBlock,
    key: &[u8],
    next_key: Option<&[u8]>,
    order: Comparator,
) -> Result<(), &'static str> {
    if found.entry(0).is_none_or(|first| first.key != key) {
        return Err("does not start with the key of the entry that leads to it");
    }
    match next_key {
        Some(next_key) => check_later_key(&checked_key(found.last_entry().key), next_key, order),
        None => Ok(()),
    }
}

/// Parses a key of the index, or the last key of the file.
fn checked_key(key: &[u8]) -> KeyRef<'_> {
    KeyRef::parse(key).expect("keys of index blocks, and of the file info, are checked when read")
}

/// Checks the `previous` offset in a data block's header against the block that the index has there.
pub(crate) fn check_previous(
    previous: Option<BlockOffset>,
    before: BlockBefore,
) -> Result<(), &'static str> {
    let expected = match before {
        BlockBefore::InOtherLeaf => return Ok(()),
        BlockBefore::First => None,
        BlockBefore::At(offset) => Some(offset),
    };
    if previous == expected {
        return Ok(());
    }
    Err("does not follow the data block that the index has in front of it")
}

/// Checks the keys of a data block whose cells were checked against the entry that leads to it.
pub(crate) fn check_data_keys(
    found: &DecodedBlock,
    key: &[u8],
    next_key: Option<&[u8]>,
    order: Comparator,
) -> Result<(), DamageReason> {
    check_first_key(&found.first_key(), key, order)?;
    if let Some(next_key) = next_key {
        check_later_key(&found.last_key(), next_key, order)?;
    }
    Ok(())
}

/// Returns whether the first key alone identifies the block: it is less than the next entry's key, and
/// the key ranges of blocks are disjoint.
pub(crate) fn first_key_is_unambiguous(
    first: &KeyRef<'_>,
    next_key: Option<&[u8]>,
    order: Comparator,
) -> bool {
    next_key.is_none_or(|next| order.compare(first, &checked_key(next)).is_lt())
}

/// Checks the first key of a block against the entry that leads to it.
pub(crate) fn check_first_key(
    first: &KeyRef<'_>,
    key: &[u8],
    order: Comparator,
) -> Result<(), &'static str> {
    if order.compare(&checked_key(key), first).is_le() {
        return Ok(());
    }
    Err("its first key is less than the index says")
}

/// Checks a key of a block against an upper bound: the key of the entry behind, or the file's last key.
pub(crate) fn check_later_key(
    found: &KeyRef<'_>,
    end: &[u8],
    order: Comparator,
) -> Result<(), &'static str> {
    if order.compare(found, &checked_key(end)).is_le() {
        return Ok(());
    }
    Err("a key in it is greater than the index, or the last key of the file, allows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_key_that_equals_the_next_entrys_may_be_of_either_block() {
        let flat = |row: &[u8]| {
            let mut key = Vec::new();
            KeyRef::before_row(row).write_flat(&mut key);
            key
        };
        let (first, next) = (flat(b"row3"), flat(b"row4"));
        let is_unambiguous = |first: &[u8], next: Option<&[u8]>| {
            first_key_is_unambiguous(&checked_key(first), next, Comparator::Bytes)
        };
        assert!(is_unambiguous(&first, Some(&next)));
        assert!(!is_unambiguous(&next, Some(&next)));
        assert!(!is_unambiguous(&next, Some(&first)));
        assert!(is_unambiguous(&next, None), "no block follows");
    }
}
