//! Checks the data index against the data blocks of the file.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use cells::{BlockOffset, KeyRef, show_count, show_number};

use super::cells::display_key;
use super::checked_block::{Keys, ReadableBlock, keys};
use super::verification::Verifier;
use crate::block::data::DataBlock;
use crate::block::index_block::IndexBlock;
use crate::block::index_entry::BlockHandle;
use crate::buffers::Buffers;
use crate::error::{BlockType, Damage, Result};
use crate::file::options::Caching;
use crate::file::read_context::ReadContext;
use crate::trace::ReadTrace;

/// The state of a traversal of the index.
struct IndexTraversal {
    /// The next data block that the index must list.
    next: usize,
    /// Whether the index has listed a block that is not there. The rest is then not reported.
    has_diverged: bool,
    /// The visited index blocks.
    ///
    /// None is visited twice: a hostile index of 16 levels would otherwise take hours.
    visited: HashSet<BlockOffset>,
}

impl Verifier<'_> {
    /// Checks that the index lists every data block, in order, and no other block.
    pub(super) fn check_index(&mut self) -> Result<()> {
        let file = self.file;
        let root_at = file.trailer.load_on_open_data_offset;
        let mut traversal =
            IndexTraversal { next: 0, has_diverged: false, visited: HashSet::new() };
        if let Some(index) = &file.index {
            self.check_entries(&index.root, root_at, 1, &mut traversal)?;
        }
        let unlisted = self
            .data_blocks
            .iter()
            .skip(traversal.next)
            .filter(|block| block.readable.is_some())
            .count();
        if !traversal.has_diverged && unlisted > 0 {
            let all = self.data_blocks.len();
            let listed = show_count(all.saturating_sub(unlisted) as u64);
            let what = format!("lists {listed} of {}", show_number(all as u64, "data block"));
            self.verification.report(Damage::in_block(BlockType::RootIndex, root_at, what));
        }
        let is_complete = self.unreadable.is_empty() && !traversal.has_diverged;
        let unreached = self.index_blocks.keys().filter(|at| !traversal.visited.contains(at));
        for at in unreached.filter(|_| is_complete) {
            let what = "no index entry points to this index block";
            self.verification.report(Damage { at: *at, block: None, what: what.into() });
        }
        if let Some(middle) = &file.middle {
            let trace = &mut ReadTrace::default();
            let number = middle.entry_in_leaf as usize;
            let wanted = middle.leaf.of_type(BlockType::LeafIndex);
            match file.blocks.load(wanted, Caching::Use, trace, |_, _| Ok(())) {
                Ok(leaf) if number < IndexBlock::len(&leaf) => {}
                Err(_) if self.is_unreadable(middle.leaf.offset) => {}
                _ => {
                    let what = "its entry for the middle of the file is wrong";
                    let damage = Damage::in_block(BlockType::RootIndex, root_at, what);
                    // Only a split of the region asks for the middle.
                    self.verification.report_harmless(damage);
                }
            }
        }
        Ok(())
    }

    fn check_entries(
        &mut self,
        node: &IndexBlock,
        at: BlockOffset,
        level: u32,
        traversal: &mut IndexTraversal,
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
                if let Some(what) = self.check_entry(entry.block, entry.key, traversal)? {
                    self.verification.report(Damage::in_block(block, at, what));
                }
                continue;
            }
            if !traversal.visited.insert(entry.block.offset) {
                let what = format!("points to {} a second time", entry.block.offset);
                self.verification.report(Damage::in_block(block, at, what));
                traversal.has_diverged = true;
                continue;
            }
            let is_leaf = level + 1 == levels;
            let below = if is_leaf { BlockType::LeafIndex } else { BlockType::IntermediateIndex };
            let (wanted, trace) = (entry.block.of_type(below), &mut ReadTrace::default());
            let loaded = file.blocks.load(wanted, Caching::Bypass, trace, |node, _| {
                let first = IndexBlock::entry(node, 0).map(|first| first.key);
                if first == Some(entry.key) { Ok(()) } else { Err("starts with another key") }
            });
            match loaded {
                Ok(node) => self.check_entries(&node, entry.block.offset, level + 1, traversal)?,
                Err(error) => {
                    traversal.has_diverged = true;
                    // Damage to an unreadable block was already reported.
                    if !self.is_unreadable(entry.block.offset) {
                        self.take(error)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks an entry against its data block. Returns the problem, if any.
    fn check_entry(
        &self,
        place: BlockHandle,
        key: &[u8],
        traversal: &mut IndexTraversal,
    ) -> Result<Option<String>> {
        if traversal.has_diverged {
            return Ok(None);
        }
        // An unreadable block may be of a type that the index does not list.
        let rest = self.data_blocks.iter().enumerate().skip(traversal.next);
        let mut candidates =
            rest.skip_while(|(_, block)| block.readable.is_none() && block.at < place.offset);
        let Some((number, data)) = candidates.next().filter(|(_, block)| block.at == place.offset)
        else {
            // The block is in a range of unreadable blocks.
            if self.is_unreadable(place.offset) {
                return Ok(None);
            }
            traversal.has_diverged = true;
            let what = format!("points to {}, which is not the next data block", place.offset);
            return Ok(Some(what));
        };
        let before = number.checked_sub(1).and_then(|before| self.data_blocks.get(before));
        traversal.next = number + 1;
        let Some(readable) = &data.readable else { return Ok(None) };
        if readable.place.len != place.len {
            let stated = show_number(place.len.into(), "byte");
            let is = show_count(readable.place.len.into());
            let what = format!("states {stated} for the block at {}, which has {is}", place.offset);
            return Ok(Some(what));
        }
        let parsed = KeyRef::parse(key);
        let display_key = || parsed.as_ref().map_or_else(String::new, display_key);
        let keys = self.keys_of(readable)?;
        let Some(before) = before else {
            // Readers take the first row of the file from this entry.
            let is_first = *key == keys.0;
            return Ok(
                (!is_first).then(|| format!("{} is not the first key of the file", display_key()))
            );
        };
        let order = self.file.trailer.comparator;
        if !order.in_order(parsed, KeyRef::parse(&keys.0)) {
            return Ok(Some(format!(
                "{} is greater than the first key of its block",
                display_key()
            )));
        }
        // A block boundary may be between equal keys; the entry then has that key.
        if let Some(before) = &before.readable
            && !order.in_order(KeyRef::parse(&self.keys_of(before)?.1), parsed)
        {
            return Ok(Some(format!(
                "{} is less than the last key of the previous block",
                display_key()
            )));
        }
        Ok(None)
    }

    /// Returns the first and the last key of a data block.
    fn keys_of<'a>(&self, readable: &'a ReadableBlock) -> Result<Cow<'a, Keys>> {
        if let Some(keys) = &readable.keys {
            return Ok(Cow::Borrowed(keys));
        }
        let (buffers, trace) = (&mut Buffers::default(), &mut ReadTrace::default());
        let context = &mut ReadContext { caching: Caching::Bypass, buffers, trace };
        let block = self.file.blocks.read_encoded(readable.place, context)?;
        let block = DataBlock::Encoded(Arc::new(block));
        let block = self.file.decode(block, context.buffers)?;
        Ok(Cow::Owned(keys(&block)))
    }
}
