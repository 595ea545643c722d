//! Loads data blocks through the index, and checks each block against its index entry.
//!
//! The checks detect a sound block in the wrong place. The header of a data block has the offset of
//! the data block before it (`previous`), and an index entry bounds the keys of its block:
//!
//! ```text
//! key of the entry ≤ first key ≤ … ≤ last key ≤ key of the next entry, or last key of the file
//! ```
#![allow(clippy::arithmetic_side_effects, reason = "a node has an entry")]

use std::sync::Arc;

use super::index::{
    DataEntry, DataIndex, Predecessor, check_at_most, check_key_range, check_lower_bound,
    check_predecessor, first_key_is_unambiguous,
};
use super::index_cursor::IndexCursor;
use super::open_file::OpenFile;
use super::options::Caching;
use super::read_context::ReadContext;
use crate::block::branch::IndexBlock;
use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::DecodedBlock;
use crate::block::encoded::{EncodedBlock, EncodedCursor};
use crate::block::index::BlockHandle;
use crate::block::origin::BlockOrigin;
use crate::block::slot::BlockSlot;
use crate::buffers::Buffers;
use crate::encoding::DamageReason;
use crate::{
    BlockKind, BlockOffset, BlockSource, BlockType, Damage, Error, FileInfo, KeyRef, ReadTrace,
    Result,
};

impl OpenFile {
    /// Returns the first data block.
    pub(crate) fn first_data_block(
        &self,
        context: &mut ReadContext<'_>,
    ) -> Result<Option<Arc<DecodedBlock>>> {
        let before_all = KeyRef::before_row(b"");
        self.data_block_for(&before_all, None, context)
    }

    /// Returns the last block whose index key is at most `key`, else the first block.
    ///
    /// `None` in a file without cells. `held` is a block that the caller has already loaded; it is
    /// returned, decoded, if it is the block.
    pub(crate) fn data_block_for(
        &self,
        key: &KeyRef<'_>,
        held: Option<DataBlock>,
        context: &mut ReadContext<'_>,
    ) -> Result<Option<Arc<DecodedBlock>>> {
        let Some(index) = &self.index else { return Ok(None) };
        let choose = |node: &IndexBlock| node.find(key);
        let block = index.find(&self.blocks, choose, context, |entry, context| match held {
            Some(held) if held.as_ref().origin().handle.offset == entry.block.offset => {
                let check = |block: &_| self.check_decoded(block, entry);
                self.blocks.check_and_decode_held(held, context, check)
            }
            _ => self.load_decoded(entry, context),
        })?;
        Ok(Some(block))
    }

    /// Returns the data block at a cursor, for a scan.
    ///
    /// Checks the `previous` offset, and the key range of a decoded block. The last key of an
    /// encoded block is not known yet, so usually only its first key is checked.
    pub(crate) fn data_block_at(
        &self,
        cursor: &IndexCursor,
        context: &mut ReadContext<'_>,
    ) -> Result<DataBlock> {
        let entry = cursor.entry(self.data_index());
        let check = |block: DataRef<'_>| match block {
            DataRef::Decoded(decoded) => {
                check_predecessor(decoded.origin().previous, entry.predecessor)?;
                self.check_decoded(decoded, entry)
            }
            DataRef::Encoded(_) => self.check_by_first_key(block, entry),
        };
        self.blocks.load_for_scan(entry.block, context, check)
    }

    /// Returns the data block at a cursor, with all its cells checked.
    pub(crate) fn decoded_data_block_at(
        &self,
        cursor: &IndexCursor,
        context: &mut ReadContext<'_>,
    ) -> Result<Arc<DecodedBlock>> {
        let entry = cursor.entry(self.data_index());
        self.load_decoded(entry, context)
    }

    /// Checks a block that the scan has prefetched against the index entry at a cursor.
    ///
    /// Runs the checks of a scan without prefetch that bypasses the cache, so that both report
    /// damage at the same cell.
    pub(crate) fn check_read_ahead(&self, block: &DataBlock, cursor: &IndexCursor) -> Result<()> {
        let (entry, block) = (cursor.entry(self.data_index()), block.as_ref());
        self.check_by_first_key(block, entry).map_err(|what| self.damage_in(block.origin(), what))
    }

    /// Checks a key of the block at a cursor against the block's upper bound.
    ///
    /// The bound is the next index key or, in the last block, the last key of the file.
    pub(crate) fn check_upper_bound(
        &self,
        origin: &BlockOrigin,
        key: &KeyRef<'_>,
        cursor: &IndexCursor,
    ) -> Result<()> {
        let checked = self.check_entry_upper_bound(key, cursor.entry(self.data_index()));
        checked.map_err(|what| self.damage_in(origin, what.into()))
    }

    /// Checks the last data block of the index against the trailer and the file info.
    pub(crate) fn check_end_of_file(
        &self,
        origin: &BlockOrigin,
        last_key: &KeyRef<'_>,
    ) -> Result<()> {
        let checked = self.check_last_data_block(origin.handle, last_key);
        checked.map_err(|what| self.damage_in(origin, what.into()))
    }

    /// Returns the last data block.
    pub(crate) fn last_data_block(
        &self,
        context: &mut ReadContext<'_>,
    ) -> Result<Option<Arc<DecodedBlock>>> {
        let Some(index) = &self.index else { return Ok(None) };
        let choose = |node: &IndexBlock| node.len() - 1;
        let load =
            |entry: DataEntry<'_>, context: &mut ReadContext<'_>| self.load_decoded(entry, context);
        index.find(&self.blocks, choose, context, load).map(Some)
    }

    /// Decodes the block that a scanner holds, without a check against the index.
    ///
    /// Does not put the decoded block into the cache in place of the encoded one: it would have to
    /// be checked against its index entry first, which the scanner does not keep.
    pub(crate) fn decode_held(
        &self,
        held: DataBlock,
        buffers: &mut Buffers,
    ) -> Result<Arc<DecodedBlock>> {
        let origin = *held.as_ref().origin();
        held.into_decoded(buffers).map_err(|what| self.damage_in(&origin, what))
    }

    /// Returns the error for damage in a block.
    #[cold]
    pub(crate) fn damage_in(&self, origin: &BlockOrigin, what: DamageReason) -> Error {
        self.blocks.damaged_at(origin, what)
    }

    /// Checks the number of cells that a scan of the whole file found against the trailer.
    pub(crate) fn check_cell_count(&self, found: u64) -> Result<()> {
        let stated = self.trailer.entry_count;
        if found == stated {
            return Ok(());
        }
        let at = BlockOffset::new(self.blocks.source.len());
        let what = format!("{found} cells, but the trailer states {stated}");
        Err(Damage { at, block: Some(BlockType::Trailer), what: what.into() }
            .in_file(&self.blocks.name))
    }
}

impl OpenFile {
    /// Returns the data index of a file that has data blocks.
    pub(crate) fn data_index(&self) -> &DataIndex {
        self.index.as_ref().expect("data blocks are loaded through the index")
    }

    /// Returns the data block of an index entry, with all its cells checked.
    pub(crate) fn load_decoded(
        &self,
        entry: DataEntry<'_>,
        context: &mut ReadContext<'_>,
    ) -> Result<Arc<DecodedBlock>> {
        let slot = self.slot_of(entry, context.caching);
        if let Some((block, bytes)) = slot.and_then(BlockSlot::block) {
            context.trace.touch(BlockKind::Data, BlockSource::Cache, bytes);
            return Ok(block);
        }
        let (mut predecessor, caching) = (PredecessorCheck::default(), context.caching);
        let check = |block: &DecodedBlock| {
            predecessor.check(self, DataRef::Decoded(block), entry, caching)?;
            self.check_decoded(block, entry)
        };
        let block = self.blocks.load_decoded(entry.block, context, check);
        let block = predecessor.counted(block, context.trace)?;
        if let Some(slot) = slot {
            slot.remember(&block);
        }
        Ok(block)
    }

    /// Returns the data block of an index entry, for a get of one row.
    ///
    /// All cells of a decoded block are checked. No cell of a block that is still delta-encoded is.
    pub(crate) fn load_for_row(
        &self,
        entry: DataEntry<'_>,
        context: &mut ReadContext<'_>,
    ) -> Result<DataBlock> {
        let slot = self.slot_of(entry, context.caching);
        if let Some((block, bytes)) = slot.and_then(BlockSlot::block) {
            context.trace.touch(BlockKind::Data, BlockSource::Cache, bytes);
            return Ok(DataBlock::Decoded(block));
        }
        let (mut predecessor, caching) = (PredecessorCheck::default(), context.caching);
        let check = |block: DataRef<'_>| {
            predecessor.check(self, block, entry, caching)?;
            match block {
                DataRef::Decoded(block) => self.check_decoded(block, entry),
                DataRef::Encoded(_) => Ok(()),
            }
        };
        let block = self.blocks.load_for_row(entry.block, context, check);
        let block = predecessor.counted(block, context.trace)?;
        if let (Some(slot), DataBlock::Decoded(block)) = (slot, &block) {
            slot.remember(block);
        }
        Ok(block)
    }

    /// Returns the slot of an entry while the cache has room.
    ///
    /// A slot has a weak pointer to the decoded block, which saves the cache lookup. A full cache
    /// must see every access, because the accesses decide which block it evicts.
    fn slot_of<'a>(&self, entry: DataEntry<'a>, caching: Caching) -> Option<&'a BlockSlot> {
        let has_room = caching == Caching::Use && self.blocks.cache_has_room();
        has_room.then_some(entry.slot)
    }

    /// Checks the key range of a decoded block against its index entry.
    ///
    /// Also checks the last data block against the trailer and the file info.
    fn check_decoded(
        &self,
        block: &DecodedBlock,
        entry: DataEntry<'_>,
    ) -> Result<(), DamageReason> {
        check_key_range(block, entry.key, entry.next_key, self.trailer.comparator)?;
        if entry.next_key.is_none() {
            self.check_last_data_block(block.origin().handle, &block.last_key())?;
        }
        Ok(())
    }

    /// Returns an index cursor at the entry of `block`, which was loaded through the index.
    pub(crate) fn cursor_on(
        &self,
        block: DataRef<'_>,
        context: &mut ReadContext<'_>,
    ) -> Result<IndexCursor> {
        let origin = block.origin();
        let cursor =
            block.with_first_key(|first| IndexCursor::on_block(origin, first, self, context));
        cursor.map_err(|what| self.blocks.damaged_at(origin, what))?
    }

    /// Finds the data block before `block`, reading the previous leaf of the index for its entry.
    fn find_predecessor(
        &self,
        block: DataRef<'_>,
        context: &mut ReadContext<'_>,
    ) -> Result<Predecessor> {
        let cursor = self.cursor_on(block, context)?;
        let before = cursor.into_previous(self, context)?;
        Ok(before.map_or(Predecessor::First, |before| Predecessor::At(before.block_place().offset)))
    }

    /// Checks the `previous` offset and the first key of a data block against its index entry.
    ///
    /// Checks all cells only if the first key equals the next index key: that key alone does not
    /// tell whether the block is the one of this entry or of the next.
    fn check_by_first_key(
        &self,
        block: DataRef<'_>,
        entry: DataEntry<'_>,
    ) -> Result<(), DamageReason> {
        check_predecessor(block.origin().previous, entry.predecessor)?;
        let order = self.trailer.comparator;
        let is_unambiguous = block.with_first_key(|first| {
            check_lower_bound(first, entry.key, order)?;
            self.check_entry_upper_bound(first, entry)?;
            Ok::<_, DamageReason>(first_key_is_unambiguous(first, entry.next_key, order))
        })??;
        if is_unambiguous {
            return Ok(());
        }
        match block {
            DataRef::Decoded(block) => self.check_decoded(block, entry),
            DataRef::Encoded(block) => self.check_remaining_cells(block, block.cursor()?, entry),
        }
    }

    /// Checks the cells after `cursor`, and the last key of the block against the upper bound.
    fn check_remaining_cells(
        &self,
        block: &EncodedBlock,
        mut cursor: EncodedCursor,
        entry: DataEntry<'_>,
    ) -> Result<(), DamageReason> {
        block.go_to_last(&mut cursor)?;
        Ok(self.check_entry_upper_bound(&block.cell(&cursor).key(), entry)?)
    }

    /// Checks a key against the next index key or, in the last block, the last key of the file.
    fn check_entry_upper_bound(
        &self,
        found: &KeyRef<'_>,
        entry: DataEntry<'_>,
    ) -> Result<(), &'static str> {
        let end = entry.next_key.unwrap_or_else(|| self.stated_last_key());
        check_at_most(found, end, self.trailer.comparator)
    }

    /// Returns a cursor at a row's first cell in an encoded block; `None` for an absent row.
    ///
    /// Checks each cell up to the row as decoding does, and none of the cells after the row. If the
    /// first key is ambiguous, checks all cells.
    pub(crate) fn find_row_in_encoded(
        &self,
        block: &EncodedBlock,
        entry: DataEntry<'_>,
        row: &[u8],
    ) -> Result<Option<EncodedCursor>, DamageReason> {
        let order = self.trailer.comparator;
        let mut cursor = block.cursor()?;
        let is_unambiguous = {
            let first = block.cell(&cursor).key();
            check_lower_bound(&first, entry.key, order)?;
            first_key_is_unambiguous(&first, entry.next_key, order)
        };
        if !is_unambiguous {
            self.check_remaining_cells(block, cursor.clone(), entry)?;
        }
        let found = block.go_to_row(&mut cursor, row)?;
        let reached = block.cell(&cursor).key();
        self.check_entry_upper_bound(&reached, entry)?;
        if found.is_lt() && entry.next_key.is_none() {
            self.check_last_data_block(block.origin().handle, &reached)?;
        }
        Ok(found.is_eq().then_some(cursor))
    }

    /// Checks the last data block against the trailer and the file info.
    ///
    /// A wrong last key in the file info would hide rows: reads skip the file for greater rows.
    fn check_last_data_block(
        &self,
        handle: BlockHandle,
        found: &KeyRef<'_>,
    ) -> Result<(), &'static str> {
        if self.trailer.last_data_block_offset != Some(handle.offset) {
            return Err("is the last data block of the index, but the trailer has another one");
        }
        if KeyRef::parse(self.stated_last_key()).as_ref() == Some(found) {
            Ok(())
        } else {
            Err("its last key is not the last key of the file info")
        }
    }

    /// Returns the last key that the file info states; the file must have cells.
    fn stated_last_key(&self) -> &[u8] {
        let last_key = self.file_info.value(FileInfo::LAST_KEY);
        last_key.expect("a file with cells is opened only if it states its last key")
    }
}

/// The check of a block's `previous` offset, and the outcome of the reads that it needed.
#[derive(Default)]
struct PredecessorCheck {
    trace: ReadTrace,
    failure: Option<Error>,
}

impl PredecessorCheck {
    /// Checks the `previous` offset of the block of an index entry.
    ///
    /// If the entry of the preceding block is in the previous leaf of the index, reads that leaf.
    fn check(
        &mut self,
        file: &OpenFile,
        block: DataRef<'_>,
        entry: DataEntry<'_>,
        caching: Caching,
    ) -> Result<(), DamageReason> {
        let mut predecessor = entry.predecessor;
        if predecessor == Predecessor::InOtherLeaf {
            let (buffers, trace) = (&mut Buffers::default(), &mut self.trace);
            match file.find_predecessor(block, &mut ReadContext { caching, buffers, trace }) {
                Ok(found) => predecessor = found,
                // The check of the keys still identifies the block. Damage in the previous leaf
                // therefore does not make the first block of this leaf unreadable.
                Err(Error::Corrupt { .. }) => {}
                Err(error) => {
                    self.failure = Some(error);
                    return Err("the index block before its own cannot be read".into());
                }
            }
        }
        Ok(check_predecessor(block.origin().previous, predecessor)?)
    }

    /// Adds the reads of the check to `trace`, and returns `loaded`.
    ///
    /// If the previous leaf could not be read, returns the error of that read instead.
    fn counted<T>(self, loaded: Result<T>, trace: &mut ReadTrace) -> Result<T> {
        trace.add(&self.trace);
        match self.failure {
            Some(failure) => Err(failure),
            None => loaded,
        }
    }
}
