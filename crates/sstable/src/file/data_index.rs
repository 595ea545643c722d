//! The data index of an open file: maps a key to the data block that can hold the key.
//!
//! ```text
//! root, in memory ──→ intermediate blocks, 0 to 14 levels ──→ leaf ──→ data block
//! ```
//!
//! With one level, the root points to data blocks. A block's checksums do not prove that it is the
//! block that the index entry means. So the block is checked against the entry: its keys, and the
//! `previous` offset in its header, which locates the block of the same type before it.

use std::sync::Arc;

use bytes::Bytes;
use cells::{BlockOffset, Comparator, KeyRef};

use super::load_block::BlockReader;
use super::read_context::ReadContext;
use crate::block::decoded::{BlockSlot, DecodedBlock};
use crate::block::index_block::IndexBlock;
use crate::block::index_entry::{BlockHandle, IndexEntry};
use crate::encoding::DamageReason;
use crate::error::{BlockType, Result};

/// The root of the index and its number of levels.
#[derive(Debug)]
pub(crate) struct DataIndex {
    pub(crate) root: IndexBlock,
    pub(crate) levels: u32,
}

/// An index entry of a data block: the block's location, key range and predecessor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataEntry<'a> {
    pub(crate) block: BlockHandle,
    /// The key in the index; at most the block's first key.
    pub(crate) key: &'a [u8],
    /// The key of the next index entry; at least the block's last key. `None` for the last block.
    pub(crate) next_key: Option<&'a [u8]>,
    pub(crate) predecessor: Predecessor,
    pub(crate) slot: &'a BlockSlot,
}

/// The block of the same type that precedes a block in the file, according to the index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Predecessor {
    /// No block: the block is the first of its type, or of its index level.
    First,
    At(BlockOffset),
    /// A block whose entry is in the previous index block of the level, which was not read.
    InOtherLeaf,
}

impl Predecessor {
    /// Returns the predecessor of the block to which entry `index` of an index block points.
    ///
    /// `is_leftmost` says that `node` is the first index block of its level.
    pub(crate) fn of_entry(node: &IndexBlock, index: usize, is_leftmost: bool) -> Self {
        match index.checked_sub(1).and_then(|before| node.entry(before)) {
            Some(before) => Self::At(before.block.offset),
            None if is_leftmost => Self::First,
            None => Self::InOtherLeaf,
        }
    }
}

impl DataIndex {
    pub(crate) const fn new(root: IndexBlock, levels: u32) -> Self {
        Self { root, levels }
    }

    /// Returns the entries of all data blocks, if the root has them.
    pub(crate) fn entries_in_memory(&self) -> Option<&IndexBlock> {
        (self.levels <= 1).then_some(&self.root)
    }

    /// Returns the entry of the data block with this number.
    ///
    /// # Panics
    ///
    /// If the entry is not in memory.
    pub(crate) fn entry_in_memory(&self, number: usize) -> DataEntry<'_> {
        let entries = self.entries_in_memory().expect("entries that were in memory stay there");
        let entry = entries.entry(number).expect("the number is that of an entry");
        DataEntry {
            block: entry.block,
            key: entry.key,
            next_key: entries.entry(number + 1).map(|next| next.key),
            predecessor: Predecessor::of_entry(entries, number, true),
            slot: entries.slot(number),
        }
    }

    /// Descends from the root to the entry of a data block, and calls `visit` with the entry.
    ///
    /// `choose` returns the index of the entry to follow in each index block. A get uses this
    /// instead of an [`IndexCursor`](super::index_cursor::IndexCursor), because the cursor
    /// allocates a list of the blocks on the path, and a get needs only the last one.
    pub(crate) fn find<R>(
        &self,
        blocks: &BlockReader,
        choose: impl Fn(&IndexBlock) -> usize,
        context: &mut ReadContext<'_>,
        visit: impl FnOnce(DataEntry<'_>, &mut ReadContext<'_>) -> Result<R>,
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
            let predecessor = Predecessor::of_entry(node, index, is_leftmost);
            if level >= self.levels {
                let next_key = next.map(|next| next.key).or(above.as_deref());
                let (block, key, slot) = (entry.block, entry.key, node.slot(index));
                return visit(DataEntry { block, key, next_key, predecessor, slot }, context);
            }
            level += 1;
            is_leftmost &= index == 0;
            if let Some(next) = next {
                above = Some(node.owned_key(next.key));
            }
            let node = NodeEntry { entry, next_key: above.as_deref(), predecessor };
            held = Some(self.load_below(blocks, node, level, context)?);
        }
    }

    /// Loads the index block to which `node` points, and checks the block against that entry.
    ///
    /// `level` is the level of the loaded block; the root is level 1.
    pub(crate) fn load_below(
        &self,
        blocks: &BlockReader,
        node: NodeEntry<'_>,
        level: u32,
        context: &mut ReadContext<'_>,
    ) -> Result<Arc<IndexBlock>> {
        let is_leaf = level == self.levels;
        let block_type = if is_leaf { BlockType::LeafIndex } else { BlockType::IntermediateIndex };
        let wanted = node.entry.block.of_type(block_type);
        blocks.load(wanted, context.caching, context.trace, |found, header| {
            // The `previous` offsets chain the intermediate blocks of all levels: the first block
            // of a level names the last one of the level below, whose offset is not known here.
            let is_known = is_leaf || node.predecessor != Predecessor::First;
            if is_known && check_predecessor(header.previous_block, node.predecessor).is_err() {
                return Err("its `previous` offset is not that of the index block before it");
            }
            check_node_keys(found, node.entry.key, node.next_key, blocks.layout.order)
        })
    }
}

/// An index entry that points to an index block, not to a data block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeEntry<'a> {
    pub(crate) entry: IndexEntry<'a>,
    /// The key of the next entry of the level; `None` for the last entry.
    pub(crate) next_key: Option<&'a [u8]>,
    pub(crate) predecessor: Predecessor,
}

/// Checks the keys of an index block against the entry that points to the block.
///
/// The first key must be `key`, the key of that entry, and the last key at most `next_key`.
fn check_node_keys(
    found: &IndexBlock,
    key: &[u8],
    next_key: Option<&[u8]>,
    order: Comparator,
) -> Result<(), &'static str> {
    if found.entry(0).is_none_or(|first| first.key != key) {
        return Err("does not start with the key of the entry that points to it");
    }
    match next_key {
        Some(next_key) => check_at_most(&parse_key(found.last_entry().key), next_key, order),
        None => Ok(()),
    }
}

/// Parses a key of the index, or the last key of the file, which were checked when read.
fn parse_key(key: &[u8]) -> KeyRef<'_> {
    KeyRef::parse(key).expect("keys of index blocks, and of the file info, are checked when read")
}

/// Checks the `previous` offset in a block's header against the predecessor in the index.
///
/// Accepts any offset if the predecessor is not known.
pub(crate) fn check_predecessor(
    previous: Option<BlockOffset>,
    predecessor: Predecessor,
) -> Result<(), &'static str> {
    let expected = match predecessor {
        Predecessor::InOtherLeaf => return Ok(()),
        Predecessor::First => None,
        Predecessor::At(offset) => Some(offset),
    };
    if previous == expected {
        return Ok(());
    }
    Err("its `previous` offset is not that of the data block before it in the index")
}

/// Checks the first and the last key of a decoded block against its index entry.
pub(crate) fn check_key_range(
    found: &DecodedBlock,
    key: &[u8],
    next_key: Option<&[u8]>,
    order: Comparator,
) -> Result<(), DamageReason> {
    check_lower_bound(&found.first_key(), key, order)?;
    if let Some(next_key) = next_key {
        check_at_most(&found.last_key(), next_key, order)?;
    }
    Ok(())
}

/// Returns whether the first key of a block proves that the block belongs to its index entry.
///
/// The proof needs a first key less than the key of the next entry. The next block can begin with
/// an equal key.
pub(crate) fn first_key_is_unambiguous(
    first: &KeyRef<'_>,
    next_key: Option<&[u8]>,
    order: Comparator,
) -> bool {
    next_key.is_none_or(|next| order.compare(first, &parse_key(next)).is_lt())
}

/// Checks that the first key of a block is at least `key`, the block's key in the index.
pub(crate) fn check_lower_bound(
    first: &KeyRef<'_>,
    key: &[u8],
    order: Comparator,
) -> Result<(), &'static str> {
    if order.compare(&parse_key(key), first).is_le() {
        return Ok(());
    }
    Err("its first key is less than the index says")
}

/// Checks that a key of a block is at most `end`: the next index key, or the file's last key.
pub(crate) fn check_at_most(
    found: &KeyRef<'_>,
    end: &[u8],
    order: Comparator,
) -> Result<(), &'static str> {
    if order.compare(found, &parse_key(end)).is_le() {
        return Ok(());
    }
    Err("a key in it is greater than the index, or the last key of the file, allows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_key_equal_to_the_next_index_key_does_not_identify_the_block() {
        let flat = |row: &[u8]| {
            let mut key = Vec::new();
            KeyRef::before_row(row).write_flat(&mut key);
            key
        };
        let (first, next) = (flat(b"row3"), flat(b"row4"));
        let is_unambiguous = |first: &[u8], next: Option<&[u8]>| {
            first_key_is_unambiguous(&parse_key(first), next, Comparator::Bytes)
        };
        assert!(is_unambiguous(&first, Some(&next)));
        assert!(!is_unambiguous(&next, Some(&next)));
        assert!(!is_unambiguous(&next, Some(&first)));
        assert!(is_unambiguous(&next, None), "no block follows");
    }
}
