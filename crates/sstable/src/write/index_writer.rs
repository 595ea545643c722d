//! The writer of the data index: leaves among the data blocks, the upper levels after them.
//!
//! ```text
//! one level       root ─────────────────────────────→ data blocks
//! two levels      root ──────────────────→ leaves ──→ data blocks
//! three and more  root ──→ intermediates ─→ leaves ──→ data blocks
//! ```
//!
//! Entries collect in a leaf, which is written once it is large enough. If no leaf was written by
//! the end of the data, the entries become the root. HBase: `HFileBlockIndex.BlockIndexWriter`.

use std::io::Write;

use super::block_writer::BlockWriter;
use crate::block::index_entry::{BlockHandle, IndexEntry, MiddleEntry, write_index_entries};
use crate::error::{BlockType, Result};

/// The most levels that readers accept.
const LEVELS_MAX: u32 = 16;

/// The entries of a pending index block, with the lengths of both forms of the block.
#[derive(Debug, Default)]
struct PendingBlock {
    entries: Vec<(BlockHandle, Vec<u8>)>,
    keys_len: usize,
    root_len: usize,
}

impl PendingBlock {
    fn push(&mut self, block: BlockHandle, key: Vec<u8>) {
        self.keys_len += key.len();
        self.root_len += IndexEntry::root_len(key.len());
        self.entries.push((block, key));
    }

    /// Returns the bytes of a leaf or intermediate block with these entries.
    fn branch_len(&self) -> usize {
        4 + 4 * (self.entries.len() + 1) + BlockHandle::LEN * self.entries.len() + self.keys_len
    }

    fn iter(&self) -> impl Iterator<Item = IndexEntry<'_>> + Clone {
        self.entries.iter().map(|(block, key)| IndexEntry { block: *block, key })
    }
}

/// Writes the index of the data blocks.
#[derive(Debug)]
pub(super) struct IndexWriter {
    block_size: usize,
    entries_min: usize,
    leaf: PendingBlock,
    root: PendingBlock,
    /// The number of data blocks up to and including each leaf.
    block_counts: Vec<u64>,
    /// Uncompressed bytes of all index blocks.
    len: u64,
}

/// The fields of the trailer about the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenIndex {
    pub(super) root: BlockHandle,
    pub(super) root_entries: u32,
    pub(super) levels: u32,
    pub(super) len: u64,
}

impl IndexWriter {
    pub(super) fn new(block_size: u32, entries_min: u32) -> Self {
        Self {
            block_size: block_size as usize,
            entries_min: entries_min as usize,
            leaf: PendingBlock::default(),
            root: PendingBlock::default(),
            block_counts: Vec::new(),
            len: 0,
        }
    }

    /// Adds an entry for a data block.
    pub(super) fn push(&mut self, block: BlockHandle, key: Vec<u8>) {
        self.leaf.push(block, key);
    }

    /// Writes the leaf if it is large enough or, if `closing`, if there are other leaves.
    pub(super) fn write_leaf<W: Write>(
        &mut self,
        blocks: &mut BlockWriter<W>,
        closing: bool,
    ) -> Result<()> {
        let is_due = if closing {
            !self.root.entries.is_empty()
        } else {
            self.leaf.branch_len() >= self.block_size
        };
        if is_due && !self.leaf.entries.is_empty() {
            let leaf = std::mem::take(&mut self.leaf);
            let before = self.block_counts.last().map_or(0, |count| *count);
            self.block_counts.push(before + leaf.entries.len() as u64);
            self.write_index_entries(blocks, BlockType::LeafIndex, leaf)?;
        }
        Ok(())
    }

    /// Writes the levels above the leaves, the root last.
    pub(super) fn finish<W: Write>(&mut self, blocks: &mut BlockWriter<W>) -> Result<WrittenIndex> {
        let mut levels = 1;
        let mut middle = None;
        if self.root.entries.is_empty() {
            self.root = std::mem::take(&mut self.leaf);
        } else {
            levels = 2;
            // Computed while the root still has the entries of the leaves.
            middle = Some(self.middle());
            while self.root.root_len > self.block_size
                && self.root.entries.len() > self.entries_min
                && levels < LEVELS_MAX
            {
                self.add_level(blocks)?;
                levels += 1;
            }
        }
        let mut body = Vec::with_capacity(self.root.root_len + BlockHandle::LEN + 4);
        self.root.iter().for_each(|entry| entry.write_root(&mut body));
        if let Some(middle) = middle {
            middle.write(&mut body);
        }
        self.len += body.len() as u64;
        let root = blocks.write_uncounted(BlockType::RootIndex, &body)?;
        let root_entries = self.root.entries.len() as u32;
        Ok(WrittenIndex { root, root_entries, levels, len: self.len })
    }

    /// Adds a level of intermediate blocks under the root.
    fn add_level<W: Write>(&mut self, blocks: &mut BlockWriter<W>) -> Result<()> {
        let below = std::mem::take(&mut self.root);
        let mut group = PendingBlock::default();
        for (index, (block, key)) in below.entries.into_iter().enumerate() {
            group.push(block, key);
            // As HBase, counts the entries of the whole level, not the entries of the group.
            if index >= self.entries_min && group.root_len >= self.block_size {
                let group = std::mem::take(&mut group);
                self.write_index_entries(blocks, BlockType::IntermediateIndex, group)?;
            }
        }
        if !group.entries.is_empty() {
            self.write_index_entries(blocks, BlockType::IntermediateIndex, group)?;
        }
        Ok(())
    }

    /// Writes a leaf or intermediate block, and adds its entry to the root.
    fn write_index_entries<W: Write>(
        &mut self,
        blocks: &mut BlockWriter<W>,
        block_type: BlockType,
        mut pending: PendingBlock,
    ) -> Result<()> {
        let mut body = Vec::with_capacity(pending.branch_len());
        write_index_entries(&mut body, pending.iter());
        self.len += body.len() as u64;
        let block = match block_type {
            BlockType::LeafIndex => blocks.write(block_type, &body)?,
            _ => blocks.write_uncounted(block_type, &body)?,
        };
        let (_, first_key) = pending.entries.swap_remove(0);
        self.root.push(block, first_key);
        Ok(())
    }

    /// Returns the entry of the middle data block: its leaf, and its index in the leaf.
    fn middle(&self) -> MiddleEntry {
        let total = *self.block_counts.last().expect("a leaf was written");
        let middle = (total - 1) / 2;
        let leaf = self.block_counts.partition_point(|count| *count <= middle);
        let before = leaf.checked_sub(1).map_or(0, |index| self.block_counts[index]);
        let (place, _) = self.root.entries[leaf];
        MiddleEntry { leaf: place, entry_in_leaf: (middle - before) as u32 }
    }
}
