//! The data index held against the data blocks that are there.

use std::borrow::Cow;
use std::collections::HashSet;

use super::verification::{Verifier, shown};
use crate::Caching;
use crate::block::branch::IndexBlock;
use crate::block::decoded::DecodedBlock;
use crate::block::index::BlockHandle;
use crate::buffers::Buffers;
use crate::file::read_context::ReadContext;
use crate::{BlockOffset, BlockType, Damage, KeyRef, ReadTrace, Result};

/// A block of which the index has to say something: one with cells, or one that could not be read
/// and may be such a one.
pub(super) struct DataBlockSeen {
    pub(super) at: BlockOffset,
    /// `None` if the block could not be read.
    seen: Option<Seen>,
}

/// A data block that was read, and the keys it starts and ends with.
struct Seen {
    place: BlockHandle,
    /// `None` where they are so long that they are read again.
    keys: Option<Keys>,
}

type Keys = (Vec<u8>, Vec<u8>);

impl DataBlockSeen {
    /// Longer keys are not kept for every block of a file: hostile ones are as long as their block.
    const KEPT_LEN_MAX: usize = 4096;

    pub(super) fn new(place: BlockHandle, block: &DecodedBlock) -> Self {
        let keys = Some(keys(block))
            .filter(|(first, last)| first.len().max(last.len()) <= Self::KEPT_LEN_MAX);
        Self { at: place.offset, seen: Some(Seen { place, keys }) }
    }

    pub(super) const fn unread(at: BlockOffset) -> Self {
        Self { at, seen: None }
    }

    /// The flat key that it begins with, if that is kept.
    pub(super) fn first_key(&self) -> Option<&[u8]> {
        self.seen.as_ref()?.keys.as_ref().map(|(first, _)| &first[..])
    }

    /// The flat key that it ends with, if that is kept.
    pub(super) fn last_key(&self) -> Option<&[u8]> {
        self.seen.as_ref()?.keys.as_ref().map(|(_, last)| &last[..])
    }
}

/// The first and the last key.
fn keys(block: &DecodedBlock) -> Keys {
    let flat = |key: KeyRef<'_>| {
        let mut flat = Vec::new();
        key.write_flat(&mut flat);
        flat
    };
    (flat(block.first_key()), flat(block.last_key()))
}

/// Where the walk through the index is.
struct Walk {
    /// The next data block that the index has to list.
    next: usize,
    /// Whether the index has listed one that is not there; the rest is then not worth a report.
    is_lost: bool,
    /// The index blocks that were walked through. One that is listed again is not: sixteen levels
    /// of two entries each would be walked for hours.
    walked: HashSet<BlockOffset>,
}

impl Verifier<'_> {
    /// Walks the whole index: it has to list every data block in order, and no other.
    pub(super) fn check_index(&mut self) -> Result<()> {
        let file = self.file;
        let root_at = file.trailer.load_on_open_data_offset;
        let mut walk = Walk { next: 0, is_lost: false, walked: HashSet::new() };
        if let Some(index) = &file.index {
            self.check_entries(&index.root, root_at, 1, &mut walk)?;
        }
        let unlisted =
            self.data_blocks.iter().skip(walk.next).filter(|it| it.seen.is_some()).count();
        if !walk.is_lost && unlisted > 0 {
            let there = self.data_blocks.len();
            let what = format!("lists {} of {there} data blocks", there.saturating_sub(unlisted));
            self.found.report(Damage::in_block(BlockType::RootIndex, root_at, what));
        }
        let leads_everywhere = self.unread.is_empty() && !walk.is_lost;
        let unreached = self.index_blocks.keys().filter(|at| !walk.walked.contains(at));
        for at in unreached.filter(|_| leads_everywhere) {
            let what = "no other index block leads here";
            self.found.report(Damage { at: *at, block: None, what: what.into() });
        }
        if let Some(middle) = &file.middle {
            let trace = &mut ReadTrace::default();
            let number = middle.entry_in_leaf as usize;
            let wanted = middle.leaf.of_type(BlockType::LeafIndex);
            match file.blocks.load(wanted, Caching::Use, trace, |_, _| Ok(())) {
                Ok(leaf) if number < IndexBlock::len(&leaf) => {}
                Err(_) if self.is_unread(middle.leaf.offset) => {}
                _ => {
                    let what = "the middle of the file is not in it";
                    self.found.report(Damage::in_block(BlockType::RootIndex, root_at, what));
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
                if let Some(what) = self.check_entry(entry.block, entry.key, walk)? {
                    self.found.report(Damage::in_block(block, at, what));
                }
                continue;
            }
            if !walk.walked.insert(entry.block.offset) {
                let what = format!("leads to {} again", entry.block.offset);
                self.found.report(Damage::in_block(block, at, what));
                walk.is_lost = true;
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
                Ok(node) => self.check_entries(&node, entry.block.offset, level + 1, walk)?,
                Err(error) => {
                    walk.is_lost = true;
                    // What is wrong with a block that could not be read was said where it stands.
                    if !self.is_unread(entry.block.offset) {
                        self.take(error)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Holds an entry against the data block it must lead to. Returns what is wrong with it.
    fn check_entry(
        &self,
        place: BlockHandle,
        key: &[u8],
        walk: &mut Walk,
    ) -> Result<Option<String>> {
        if walk.is_lost {
            return Ok(None);
        }
        // Blocks that could not be read may be of another type, which the index does not list.
        let rest = self.data_blocks.iter().enumerate().skip(walk.next);
        let mut candidates = rest.skip_while(|(_, it)| it.seen.is_none() && it.at < place.offset);
        let Some((number, data)) = candidates.next().filter(|(_, it)| it.at == place.offset) else {
            // One of several blocks that could not be read.
            if self.is_unread(place.offset) {
                return Ok(None);
            }
            walk.is_lost = true;
            let what = format!("leads to {}, which is not the next data block", place.offset);
            return Ok(Some(what));
        };
        let before = number.checked_sub(1).and_then(|before| self.data_blocks.get(before));
        walk.next = number + 1;
        let Some(seen) = &data.seen else { return Ok(None) };
        if seen.place.len != place.len {
            let (stated, is) = (place.len, seen.place.len);
            let what = format!("has {stated} bytes for the block at {}, not {is}", place.offset);
            return Ok(Some(what));
        }
        let parsed = KeyRef::parse(key);
        let shown = || parsed.as_ref().map_or_else(String::new, shown);
        let keys = self.keys_of(seen)?;
        let Some(before) = before else {
            // Readers take the first row of the file from here.
            let is_first = *key == keys.0;
            return Ok((!is_first).then(|| format!("{} is not the first key of the file", shown())));
        };
        let order = self.file.trailer.comparator;
        if !order.in_order(parsed, KeyRef::parse(&keys.0)) {
            return Ok(Some(format!("{} is behind the first key of its block", shown())));
        }
        // Blocks may be cut between equal keys; then the entry's key is that key.
        if let Some(before) = &before.seen
            && !order.in_order(KeyRef::parse(&self.keys_of(before)?.1), parsed)
        {
            return Ok(Some(format!("{} is before the last key of the block in front", shown())));
        }
        Ok(None)
    }

    /// The first and the last key of a data block.
    fn keys_of<'a>(&self, seen: &'a Seen) -> Result<Cow<'a, Keys>> {
        if let Some(keys) = &seen.keys {
            return Ok(Cow::Borrowed(keys));
        }
        let (buffers, trace) = (&mut Buffers::default(), &mut ReadTrace::default());
        let context = &mut ReadContext { caching: Caching::Bypass, buffers, trace };
        let block = self.file.blocks.load_decoded(seen.place, context, |_| Ok(()))?;
        Ok(Cow::Owned(keys(&block)))
    }
}
