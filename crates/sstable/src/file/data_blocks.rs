//! Data blocks as gets and scanners ask for them: the one for a key, the next, the one before, the last.

use std::sync::Arc;

use super::index::{
    BlockBefore, DataIndex, DataPlace, check_data_keys, check_first_key, check_later_key,
    check_previous, first_key_is_unambiguous,
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

    /// Returns the last block whose index key is not greater than `key`, or the first of all; `None` in a file
    /// without cells. Reuses `held` if it is that block.
    pub(crate) fn data_block_for(
        &self,
        key: &KeyRef<'_>,
        held: Option<DataBlock>,
        context: &mut ReadContext<'_>,
    ) -> Result<Option<Arc<DecodedBlock>>> {
        let Some(index) = &self.index else { return Ok(None) };
        let choose = |node: &IndexBlock| node.find(key);
        let block = index.find(&self.blocks, choose, context, |place, context| match held {
            Some(held) if held.as_ref().origin().handle.offset == place.block.offset => {
                let check = |block: &_| self.check_data(block, place);
                self.blocks.held_decoded(held, context, check)
            }
            _ => self.load_decoded(place, context),
        })?;
        Ok(Some(block))
    }

    /// Returns the data block that a cursor stands on, for a scan. A block that the cache holds is checked
    /// whole; any other only by its `previous` offset and its first key.
    pub(crate) fn data_block_at(
        &self,
        cursor: &IndexCursor,
        context: &mut ReadContext<'_>,
    ) -> Result<DataBlock> {
        let place = cursor.entry(self.data_index());
        let check = |block: DataRef<'_>| match block {
            DataRef::Decoded(decoded) => {
                check_previous(decoded.origin().previous, place.before)?;
                self.check_data(decoded, place)
            }
            DataRef::Encoded(_) => self.check_first(block, place),
        };
        self.blocks.load_for_scan(place.block, context, check)
    }

    /// Returns the data block that a cursor stands on, with all cells checked.
    pub(crate) fn whole_data_block_at(
        &self,
        cursor: &IndexCursor,
        context: &mut ReadContext<'_>,
    ) -> Result<Arc<DecodedBlock>> {
        let place = cursor.entry(self.data_index());
        self.load_decoded(place, context)
    }

    /// Checks a block that was read ahead, on which a cursor stands. Runs the same checks as a read past the
    /// cache, so that both report damage at the same cell.
    pub(crate) fn check_read_ahead(&self, block: &DataBlock, cursor: &IndexCursor) -> Result<()> {
        let (place, block) = (cursor.entry(self.data_index()), block.as_ref());
        self.check_first(block, place).map_err(|what| self.damage_in(block.origin(), what))
    }

    /// Checks a key in the block that a cursor stands on against the next index key or, in the last block,
    /// against the last key of the file.
    pub(crate) fn check_upper_bound(
        &self,
        origin: &BlockOrigin,
        key: &KeyRef<'_>,
        cursor: &IndexCursor,
    ) -> Result<()> {
        let checked = self.check_upper_bound_at(key, cursor.entry(self.data_index()));
        checked.map_err(|what| self.damage_in(origin, what.into()))
    }

    /// Checks the last key of the last data block.
    pub(crate) fn check_last(&self, origin: &BlockOrigin, last_key: &KeyRef<'_>) -> Result<()> {
        let checked = self.check_last_key(origin.handle, last_key);
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
            |place: DataPlace<'_>, context: &mut ReadContext<'_>| self.load_decoded(place, context);
        index.find(&self.blocks, choose, context, load).map(Some)
    }

    /// Decodes the block that a scanner holds. An encoded block in the cache stays encoded: its decoded form
    /// has to be compared with its index entry, which the scanner no longer has.
    pub(crate) fn decoded(
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

    /// Checks the number of cells that a scan found against the trailer.
    pub(crate) fn check_cell_count(&self, found: u64) -> Result<()> {
        let stated = self.trailer.entry_count;
        if found == stated {
            return Ok(());
        }
        let at = BlockOffset::new(self.blocks.source.len());
        let what = format!("{found} cells, not {stated} as the trailer says");
        Err(Damage { at, block: Some(BlockType::Trailer), what: what.into() }
            .in_file(&self.blocks.name))
    }
}

impl OpenFile {
    /// Returns the data index of a file that has data blocks.
    pub(crate) fn data_index(&self) -> &DataIndex {
        self.index.as_ref().expect("data blocks are loaded through the index")
    }

    /// Returns the data block that the index has at `place`, with all its cells checked.
    pub(crate) fn load_decoded(
        &self,
        place: DataPlace<'_>,
        context: &mut ReadContext<'_>,
    ) -> Result<Arc<DecodedBlock>> {
        let slot = self.slot_of(place, context.caching);
        if let Some((block, bytes)) = slot.and_then(BlockSlot::block) {
            context.trace.touch(BlockKind::Data, BlockSource::Cache, bytes);
            return Ok(block);
        }
        let (mut before, caching) = (PreviousBlockCheck::default(), context.caching);
        let check = |block: &DecodedBlock| {
            before.check(self, DataRef::Decoded(block), place, caching)?;
            self.check_data(block, place)
        };
        let block = self.blocks.load_decoded(place.block, context, check);
        let block = before.counted(block, context.trace)?;
        if let Some(slot) = slot {
            slot.remember(&block);
        }
        Ok(block)
    }

    /// Returns the data block that the index has at `place`, for the row of a get: with all its cells
    /// checked, or delta-encoded with none of them checked.
    pub(crate) fn load_for_row(
        &self,
        place: DataPlace<'_>,
        context: &mut ReadContext<'_>,
    ) -> Result<DataBlock> {
        let slot = self.slot_of(place, context.caching);
        if let Some((block, bytes)) = slot.and_then(BlockSlot::block) {
            context.trace.touch(BlockKind::Data, BlockSource::Cache, bytes);
            return Ok(DataBlock::Decoded(block));
        }
        let (mut before, caching) = (PreviousBlockCheck::default(), context.caching);
        let check = |block: DataRef<'_>| {
            before.check(self, block, place, caching)?;
            match block {
                DataRef::Decoded(block) => self.check_data(block, place),
                DataRef::Encoded(_) => Ok(()),
            }
        };
        let block = self.blocks.load_for_row(place.block, context, check);
        let block = before.counted(block, context.trace)?;
        if let (Some(slot), DataBlock::Decoded(block)) = (slot, &block) {
            slot.remember(block);
        }
        Ok(block)
    }

    /// Returns the slot of a place while the cache has room. A full cache has to see each use of a block.
    fn slot_of<'a>(&self, place: DataPlace<'a>, caching: Caching) -> Option<&'a BlockSlot> {
        let has_room = caching == Caching::Use && self.blocks.cache_has_room();
        has_room.then_some(place.slot)
    }

    /// Checks the keys of a data block whose cells were checked against the index and the file info.
    fn check_data(&self, block: &DecodedBlock, place: DataPlace<'_>) -> Result<(), DamageReason> {
        check_data_keys(block, place.key, place.next_key, self.trailer.comparator)?;
        if place.next_key.is_none() {
            self.check_last_key(block.origin().handle, &block.last_key())?;
        }
        Ok(())
    }

    /// Returns a cursor over the index on the entry of `block`, which was loaded through the index.
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

    /// Finds the data block before `block` where the entry before is in another index block.
    fn block_before(
        &self,
        block: DataRef<'_>,
        context: &mut ReadContext<'_>,
    ) -> Result<BlockBefore> {
        let cursor = self.cursor_on(block, context)?;
        let before = cursor.into_previous(self, context)?;
        Ok(before.map_or(BlockBefore::First, |before| BlockBefore::At(before.block_place().offset)))
    }

    /// Checks that a data block is the one that the index has at `place`, by its first key; all cells are
    /// checked only where that is not enough.
    fn check_first(&self, block: DataRef<'_>, place: DataPlace<'_>) -> Result<(), DamageReason> {
        check_previous(block.origin().previous, place.before)?;
        let order = self.trailer.comparator;
        let is_unambiguous = block.with_first_key(|first| {
            check_first_key(first, place.key, order)?;
            self.check_upper_bound_at(first, place)?;
            Ok::<_, DamageReason>(first_key_is_unambiguous(first, place.next_key, order))
        })??;
        if is_unambiguous {
            return Ok(());
        }
        match block {
            DataRef::Decoded(block) => self.check_data(block, place),
            DataRef::Encoded(block) => self.check_end(block, block.cursor()?, place),
        }
    }

    /// Checks all further cells of a block, and the last key against the upper bound.
    fn check_end(
        &self,
        block: &EncodedBlock,
        mut cursor: EncodedCursor,
        place: DataPlace<'_>,
    ) -> Result<(), DamageReason> {
        block.go_to_last(&mut cursor)?;
        Ok(self.check_upper_bound_at(&block.cell(&cursor).key(), place)?)
    }

    /// Checks a key of the data block at `place` against the next index key or, in the last block, against
    /// the last key of the file.
    fn check_upper_bound_at(
        &self,
        found: &KeyRef<'_>,
        place: DataPlace<'_>,
    ) -> Result<(), &'static str> {
        let end = place.next_key.unwrap_or_else(|| self.stated_last_key());
        check_later_key(found, end, self.trailer.comparator)
    }

    /// Moves through an encoded block to a row, if the row is there. Each cell that it comes to is checked as
    /// in a block that is decoded; what follows the row is not looked at.
    pub(crate) fn find_row_in_encoded(
        &self,
        block: &EncodedBlock,
        place: DataPlace<'_>,
        row: &[u8],
    ) -> Result<Option<EncodedCursor>, DamageReason> {
        let order = self.trailer.comparator;
        let mut cursor = block.cursor()?;
        let is_unambiguous = {
            let first = block.cell(&cursor).key();
            check_first_key(&first, place.key, order)?;
            first_key_is_unambiguous(&first, place.next_key, order)
        };
        if !is_unambiguous {
            self.check_end(block, cursor.clone(), place)?;
        }
        let found = block.go_to_row(&mut cursor, row)?;
        let reached = block.cell(&cursor).key();
        self.check_upper_bound_at(&reached, place)?;
        if found.is_lt() && place.next_key.is_none() {
            self.check_last_key(block.origin().handle, &reached)?;
        }
        Ok(found.is_eq().then_some(cursor))
    }

    /// Checks the last data block against the trailer and the file info. The last key in the file info
    /// decides which rows are out of range, so it must be right.
    fn check_last_key(&self, place: BlockHandle, found: &KeyRef<'_>) -> Result<(), &'static str> {
        if self.trailer.last_data_block_offset != Some(place.offset) {
            return Err("is the last data block of the index, and not that of the trailer");
        }
        if KeyRef::parse(self.stated_last_key()).as_ref() == Some(found) {
            Ok(())
        } else {
            Err("its last key is not the last key of the file info")
        }
    }

    /// The last key of a file with cells, as the file info has it.
    fn stated_last_key(&self) -> &[u8] {
        let last_key = self.file_info.value(FileInfo::LAST_KEY);
        last_key.expect("a file with cells is opened only if it states its last key")
    }
}

/// The check of a block's `previous` offset, and what had to be read for it.
#[derive(Default)]
struct PreviousBlockCheck {
    trace: ReadTrace,
    failure: Option<Error>,
}

impl PreviousBlockCheck {
    /// Checks the `previous` offset of the block at `place`. If the entry of the block in front is in
    /// another leaf, reads that leaf.
    fn check(
        &mut self,
        file: &OpenFile,
        block: DataRef<'_>,
        place: DataPlace<'_>,
        caching: Caching,
    ) -> Result<(), DamageReason> {
        let mut before = place.before;
        if before == BlockBefore::InOtherLeaf {
            let (buffers, trace) = (&mut Buffers::default(), &mut self.trace);
            match file.block_before(block, &mut ReadContext { caching, buffers, trace }) {
                Ok(found) => before = found,
                // A damaged leaf is no reason to lose the first block of the next one, whose keys
                // show that it is in its place.
                Err(Error::Corrupt { .. }) => {}
                Err(error) => {
                    self.failure = Some(error);
                    return Err("the index block in front of its own cannot be read".into());
                }
            }
        }
        Ok(check_previous(block.origin().previous, before)?)
    }

    /// Adds what was read to `trace`. Returns the failure to read the leaf in place of its consequence.
    fn counted<T>(self, loaded: Result<T>, trace: &mut ReadTrace) -> Result<T> {
        trace.add(&self.trace);
        match self.failure {
            Some(failure) => Err(failure),
            None => loaded,
        }
    }
}
