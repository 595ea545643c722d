//! The data index held against the data blocks that are there.

use std::sync::Arc;

use super::Verifier;
use crate::block::branch::IndexBlock;
use crate::block::index::BlockPlace;
use crate::block::loaded::Block;
use crate::block::searchable::Searchable;
use crate::reader::Caching;
use crate::reader::blocks::Wanted;
use crate::{BlockOffset, BlockType, Damage, KeyRef, ReadTrace, Result};

/// A data block that was read, and the keys it starts and ends with.
pub(super) struct DataBlockSeen {
    pub(super) place: BlockPlace,
    first_key: Vec<u8>,
    last_key: Vec<u8>,
}

impl DataBlockSeen {
    pub(super) fn new(
        place: BlockPlace,
        first: Option<KeyRef<'_>>,
        block: &Searchable<'_>,
    ) -> Option<Self> {
        let (mut first_key, mut last_key) = (Vec::new(), Vec::new());
        first?.write_flat(&mut first_key);
        block.last_key()?.write_flat(&mut last_key);
        Some(Self { place, first_key, last_key })
    }
}

/// Where the walk through the index is.
struct Walk {
    /// The next data block that the index has to list.
    next: usize,
    /// Whether the index has listed one that is not there; the rest is then not worth a report.
    is_lost: bool,
}

impl Verifier<'_> {
    /// Walks the whole index: it has to list every data block in order, and no other.
    pub(super) fn check_index(&mut self) -> Result<()> {
        let file = self.file;
        let root_at = file.trailer.load_on_open_data_offset;
        let mut walk = Walk { next: 0, is_lost: false };
        if let Some(index) = &file.index {
            self.check_entries(&index.root, root_at, 1, &mut walk)?;
        }
        if !walk.is_lost && walk.next != self.data_blocks.len() {
            let (there, listed) = (self.data_blocks.len(), walk.next);
            let what = format!("lists {listed} of {there} data blocks");
            self.found.report(Damage::in_block(BlockType::RootIndex, root_at, what));
        }
        for (at, _) in std::mem::take(&mut self.index_blocks) {
            let what = "no other index block leads here";
            self.found.report(Damage { at, block: None, what: what.into() });
        }
        if let Some(middle) = &file.middle {
            let wanted = Wanted::LeafIndex;
            let trace = &mut ReadTrace::default();
            let leaf = file.blocks.load(middle.leaf, wanted, Caching::Use, trace, |_| Ok(()));
            let holds_it = |leaf: &Arc<Block>| match &**leaf {
                Block::Index(leaf) => (middle.entry_in_leaf as usize) < leaf.len(),
                _ => false,
            };
            if !leaf.as_ref().is_ok_and(holds_it) {
                let what = "the middle of the file is not in it";
                self.found.report(Damage::in_block(BlockType::RootIndex, root_at, what));
            }
        }
        Ok(())
    }

    fn check_entries(
        &mut self,
        node: &IndexBlock,
        at: BlockOffset,
        level: u32,
        walk: &mut Walk,
    ) -> Result<()> {
        let file = self.file;
        let levels = file.trailer.num_data_index_levels;
        let block = match level {
            1 => BlockType::RootIndex,
            level if level == levels => BlockType::LeafIndex,
            _ => BlockType::IntermediateIndex,
        };
        for index in 0..node.len() {
            let Some(entry) = node.entry(index) else { continue };
            if level == levels {
                if let Some(what) = self.check_entry(entry.block, entry.key, walk) {
                    self.found.report(Damage::in_block(block, at, what));
                }
                continue;
            }
            let below =
                if level + 1 == levels { Wanted::LeafIndex } else { Wanted::IntermediateIndex };
            self.index_blocks.remove(&entry.block.offset);
            let trace = &mut ReadTrace::default();
            let loaded = file.blocks.load(entry.block, below, Caching::Bypass, trace, |block| {
                let first = match block {
                    Block::Index(node) => node.entry(0).map(|first| first.key),
                    _ => None,
                };
                if first == Some(entry.key) { Ok(()) } else { Err("starts with another key") }
            });
            match loaded.as_deref() {
                Ok(Block::Index(node)) => {
                    self.check_entries(node, entry.block.offset, level + 1, walk)?;
                }
                Ok(_) => {}
                Err(_) => walk.is_lost = true,
            }
            if let Err(error) = loaded {
                self.take(error)?;
            }
        }
        Ok(())
    }

    /// Holds an entry against the data block it must lead to. Returns what is wrong with it.
    fn check_entry(&self, place: BlockPlace, key: &[u8], walk: &mut Walk) -> Option<String> {
        if walk.is_lost {
            return None;
        }
        let before = walk.next.checked_sub(1).and_then(|before| self.data_blocks.get(before));
        let Some(data) = self.data_blocks.get(walk.next).filter(|data| data.place == place) else {
            walk.is_lost = true;
            return Some(format!("leads to {}, which is not the next data block", place.offset));
        };
        walk.next += 1;
        let shown = || KeyRef::parse(key).map_or_else(String::new, |key| key.to_string());
        let parsed = KeyRef::parse(key);
        let Some(before) = before else {
            // Readers take the first row of the file from here.
            let is_first = key == data.first_key;
            return (!is_first).then(|| format!("{} is not the first key of the file", shown()));
        };
        let order = self.file.trailer.comparator;
        if !order.in_order(parsed, KeyRef::parse(&data.first_key)) {
            return Some(format!("{} is behind the first key of its block", shown()));
        }
        // Blocks may be cut between equal keys; then the entry's key is that key.
        if !order.in_order(KeyRef::parse(&before.last_key), parsed) {
            return Some(format!("{} is before the last key of the block in front", shown()));
        }
        None
    }
}
