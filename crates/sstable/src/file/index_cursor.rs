//! A cursor over the data index: stands on the entry of one data block and moves to its neighbours.
//!
//! Scans in both directions find the next block and its key range through the index, never through the
//! header of the current block. A misplaced block has valid checksums, and its header would make the
//! scan skip the blocks between.

use std::sync::Arc;

use super::index::{BlockBefore, DataIndex, DataPlace, NodePlace};
use super::open_file::OpenFile;
use super::read_context::ReadContext;
use crate::block::branch::IndexBlock;
use crate::block::index::{BlockHandle, IndexEntry};
use crate::block::origin::BlockOrigin;
use crate::{Damage, Error, KeyRef, Result};

/// A position in the data index: on the entry of a data block.
#[derive(Clone, Debug)]
pub(crate) struct IndexCursor {
    /// The chosen entry of the root.
    root_entry: usize,
    /// The nodes below the root, down to the one that leads to data blocks, each with its entry.
    below: Vec<(Arc<IndexBlock>, usize)>,
    /// Where the block of the entry is.
    block: BlockHandle,
    before: BlockBefore,
}

impl IndexCursor {
    /// Goes to the entry of a block whose first key is `first_key`.
    pub(crate) fn on_block(
        origin: &BlockOrigin,
        first_key: &KeyRef<'_>,
        file: &OpenFile,
        context: &mut ReadContext<'_>,
    ) -> Result<Self> {
        let find = |node: &IndexBlock| node.find(first_key);
        let index = file.data_index();
        let (root_entry, wanted) = (find(&index.root), origin.handle);
        let mut cursor =
            Self { root_entry, below: Vec::new(), block: wanted, before: BlockBefore::InOtherLeaf };
        cursor.descend(find, file, context)?;
        // A damaged index can have equal keys, of which the search finds the last.
        while cursor.block != wanted {
            let key = KeyRef::parse(cursor.entry(index).key);
            let is_equal =
                key.is_some_and(|key| file.blocks.layout.order.compare(&key, first_key).is_eq());
            let before = if is_equal { cursor.into_previous(file, context)? } else { None };
            let missing = || {
                let what = "is not the block that the index has for its first key";
                file.blocks.damaged(wanted, origin.block_type, what.into())
            };
            cursor = before.ok_or_else(missing)?;
        }
        Ok(cursor)
    }

    /// Where the block is.
    pub(crate) const fn block_place(&self) -> BlockHandle {
        self.block
    }

    /// What the index says of the block.
    pub(crate) fn entry<'a>(&'a self, index: &'a DataIndex) -> DataPlace<'a> {
        let (node, number) = self.last_node(index);
        let IndexEntry { block, key } = entry_of(node, number);
        let (next_key, slot) = (self.next_key(index), node.slot(number));
        DataPlace { block, key, next_key, before: self.before, slot }
    }

    /// Moves to the next data block; `None` behind the last one.
    pub(crate) fn into_next(
        mut self,
        file: &OpenFile,
        context: &mut ReadContext<'_>,
    ) -> Result<Option<Self>> {
        let from = self.block.offset;
        let has_next = |node: &IndexBlock, entry: usize| entry + 1 < node.len();
        while let Some((block, entry)) = self.below.last_mut() {
            if has_next(block, *entry) {
                *entry += 1;
                break;
            }
            self.below.pop();
        }
        if self.below.is_empty() {
            if !has_next(&file.data_index().root, self.root_entry) {
                return Ok(None);
            }
            self.root_entry += 1;
        }
        self.descend(|_| 0, file, context)?;
        if self.block.offset <= from {
            return Err(self.out_of_order(file));
        }
        self.before = BlockBefore::At(from);
        Ok(Some(self))
    }

    /// Moves to the data block before; `None` in front of the first one.
    pub(crate) fn into_previous(
        mut self,
        file: &OpenFile,
        context: &mut ReadContext<'_>,
    ) -> Result<Option<Self>> {
        let from = self.block.offset;
        while let Some((_, entry)) = self.below.last_mut() {
            if let Some(before) = entry.checked_sub(1) {
                *entry = before;
                break;
            }
            self.below.pop();
        }
        if self.below.is_empty() {
            let Some(before) = self.root_entry.checked_sub(1) else { return Ok(None) };
            self.root_entry = before;
        }
        self.descend(|node| node.len() - 1, file, context)?;
        if self.block.offset >= from {
            return Err(self.out_of_order(file));
        }
        Ok(Some(self))
    }

    /// The error for an entry that leads to a block on the wrong side of its neighbour. A single index
    /// block is checked for that when it is loaded; this is for entries in two of them.
    #[cold]
    fn out_of_order(&self, file: &OpenFile) -> Error {
        let what = "is out of order in the index";
        Damage { at: self.block.offset, block: None, what: what.into() }.in_file(&file.blocks.name)
    }

    /// Loads the nodes below the last one, down to the one that leads to data blocks, and takes its
    /// entry.
    fn descend(
        &mut self,
        choose: impl Fn(&IndexBlock) -> usize,
        file: &OpenFile,
        context: &mut ReadContext<'_>,
    ) -> Result<()> {
        let index = file.data_index();
        let below = u32::try_from(self.below.len()).expect("the trailer allows sixteen levels");
        let mut level = 1 + below;
        while level < index.levels {
            level += 1;
            let (node, number) = self.last_node(index);
            let (entry, next_key) = (entry_of(node, number), self.next_key(index));
            let before = BlockBefore::of_entry(node, number, self.is_leftmost());
            let place = NodePlace { entry, next_key, before };
            let below = index.load_below(&file.blocks, place, level, context)?;
            let chosen = choose(&below);
            self.below.push((below, chosen));
        }
        let (node, number) = self.last_node(index);
        let before = BlockBefore::of_entry(node, number, self.is_leftmost());
        self.block = entry_of(node, number).block;
        self.before = before;
        Ok(())
    }

    /// The node on the lowest level that is loaded, and the chosen entry in it.
    fn last_node<'a>(&'a self, index: &'a DataIndex) -> (&'a IndexBlock, usize) {
        match self.below.last() {
            Some((node, entry)) => (node, *entry),
            None => (&index.root, self.root_entry),
        }
    }

    /// Whether the lowest node that is loaded is the first of its level.
    fn is_leftmost(&self) -> bool {
        let mut above = self.below.iter().rev().skip(1);
        self.below.is_empty() || self.root_entry == 0 && above.all(|(_, entry)| *entry == 0)
    }

    /// The key of the entry behind the chosen one, in the node or in those above it.
    fn next_key<'a>(&'a self, index: &'a DataIndex) -> Option<&'a [u8]> {
        let levels = self.below.iter().rev().map(|(block, entry)| (&**block, *entry));
        let mut levels = levels.chain([(&index.root, self.root_entry)]);
        levels.find_map(|(node, entry)| node.entry(entry + 1)).map(|next| next.key)
    }
}

fn entry_of(node: &IndexBlock, number: usize) -> IndexEntry<'_> {
    node.entry(number).expect("an entry is chosen among those of its node, which has at least one")
}
