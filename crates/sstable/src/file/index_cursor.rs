//! A cursor over the entries of the data index, one for each data block.
//!
//! Scans in both directions find the next block and its key range through the index, never through
//! the header of the current block. A misplaced block has valid checksums, and its header would
//! make the scan skip the blocks between.

use std::sync::Arc;

use cells::KeyRef;

use super::data_index::{DataEntry, DataIndex, NodeEntry, Predecessor};
use super::open_file::OpenFile;
use super::read_context::ReadContext;
use crate::block::index_block::IndexBlock;
use crate::block::index_entry::{BlockHandle, IndexEntry};
use crate::block::origin::BlockIdentity;
use crate::error::{Damage, Error, Result};

/// A cursor over the data index, at the entry of a data block.
#[derive(Clone, Debug)]
pub(crate) struct IndexCursor {
    /// The current entry of the root.
    root_entry: usize,
    /// The nodes below the root, down to the leaf, each with its current entry.
    below: Vec<(Arc<IndexBlock>, usize)>,
    /// The location of the data block.
    block: BlockHandle,
    predecessor: Predecessor,
}

impl IndexCursor {
    /// Returns a cursor at the entry of the first data block.
    pub(crate) fn first(file: &OpenFile, context: &mut ReadContext<'_>) -> Result<Self> {
        let block = entry_of(&file.data_index().root, 0).block;
        let predecessor = Predecessor::First;
        let mut cursor = Self { root_entry: 0, below: Vec::new(), block, predecessor };
        cursor.descend(|_| 0, file, context)?;
        Ok(cursor)
    }

    /// Returns a cursor at the entry of a block whose first key is `first_key`.
    pub(crate) fn on_block(
        origin: &BlockIdentity,
        first_key: &KeyRef<'_>,
        file: &OpenFile,
        context: &mut ReadContext<'_>,
    ) -> Result<Self> {
        let find = |node: &IndexBlock| node.find(first_key);
        let index = file.data_index();
        let (root_entry, wanted) = (find(&index.root), origin.handle);
        let mut cursor = Self {
            root_entry,
            below: Vec::new(),
            block: wanted,
            predecessor: Predecessor::InOtherLeaf,
        };
        cursor.descend(find, file, context)?;
        // A damaged index can have equal keys. The search finds the last of them.
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

    /// Returns the location of the data block.
    pub(crate) const fn block_place(&self) -> BlockHandle {
        self.block
    }

    /// Returns the index entry of the block.
    pub(crate) fn entry<'a>(&'a self, index: &'a DataIndex) -> DataEntry<'a> {
        let (node, number) = self.lowest_node(index);
        let IndexEntry { block, key } = entry_of(node, number);
        let (next_key, slot) = (self.next_key(index), node.slot(number));
        DataEntry { block, key, next_key, predecessor: self.predecessor, slot }
    }

    /// Moves to the next data block; `None` after the last one.
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
        self.predecessor = Predecessor::At(from);
        Ok(Some(self))
    }

    /// Moves to the previous data block; `None` before the first one.
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

    /// Returns the error for two neighbour entries whose block offsets are not ascending.
    ///
    /// The order within an index block is checked when the block is loaded. This check covers
    /// neighbours in two index blocks.
    #[cold]
    fn out_of_order(&self, file: &OpenFile) -> Error {
        let what = "is out of order in the index";
        Damage { at: self.block.offset, block: None, what: what.into() }.in_file(&file.blocks.name)
    }

    /// Loads the nodes below the lowest one, down to a leaf, and moves to an entry in it.
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
            let (node, number) = self.lowest_node(index);
            let (entry, next_key) = (entry_of(node, number), self.next_key(index));
            let predecessor = Predecessor::of_entry(node, number, self.is_leftmost());
            let node = NodeEntry { entry, next_key, predecessor };
            let below = index.load_below(&file.blocks, node, level, context)?;
            let chosen = choose(&below);
            self.below.push((below, chosen));
        }
        let (node, number) = self.lowest_node(index);
        let predecessor = Predecessor::of_entry(node, number, self.is_leftmost());
        self.block = entry_of(node, number).block;
        self.predecessor = predecessor;
        Ok(())
    }

    /// Returns the loaded node on the lowest level, and its current entry.
    fn lowest_node<'a>(&'a self, index: &'a DataIndex) -> (&'a IndexBlock, usize) {
        match self.below.last() {
            Some((node, entry)) => (node, *entry),
            None => (&index.root, self.root_entry),
        }
    }

    /// Returns whether the lowest loaded node is the first of its level.
    fn is_leftmost(&self) -> bool {
        let mut above = self.below.iter().rev().skip(1);
        self.below.is_empty() || self.root_entry == 0 && above.all(|(_, entry)| *entry == 0)
    }

    /// Returns the key of the next entry, in the lowest node or in a node above it.
    fn next_key<'a>(&'a self, index: &'a DataIndex) -> Option<&'a [u8]> {
        let levels = self.below.iter().rev().map(|(block, entry)| (&**block, *entry));
        let mut levels = levels.chain([(&index.root, self.root_entry)]);
        levels.find_map(|(node, entry)| node.entry(entry + 1)).map(|next| next.key)
    }
}

fn entry_of(node: &IndexBlock, number: usize) -> IndexEntry<'_> {
    node.entry(number).expect("the entry is chosen from those of a node with at least one entry")
}
