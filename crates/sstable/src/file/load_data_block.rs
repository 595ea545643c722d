//! Loads data blocks through the index, and checks each block against its index entry.
//!
//! The checks detect a sound block in the wrong place. The header of a data block has the offset of
//! the data block before it (`previous`), and an index entry bounds the keys of its block:
//!
//! ```text
//! key of the entry ≤ first key ≤ … ≤ last key ≤ key of the next entry, or last key of the file
//! ```

use std::sync::Arc;

use cells::{BlockOffset, KeyRef};

use super::data_index::{
    DataEntry, DataIndex, Predecessor, check_at_most, check_key_range, check_lower_bound,
    check_predecessor, first_key_is_unambiguous,
};
use super::index_cursor::IndexCursor;
use super::open_file::OpenFile;
use super::read_context::ReadContext;
use crate::block::data::{DataBlock, DataRef};
use crate::block::decoded::{BlockSlot, DecodedBlock};
use crate::block::encoded::{EncodedBlock, EncodedCursor};
use crate::block::index_block::IndexBlock;
use crate::block::index_entry::BlockHandle;
use crate::block::origin::BlockIdentity;
use crate::buffers::Buffers;
use crate::encoding::DamageReason;
use crate::error::{BlockType, Damage, Error, Result};
use crate::trace::{BlockKind, BlockSource};

/// What a data block is loaded for. It decides the form of the block, unless the block is decoded in
/// the cache already:
///
/// | purpose | read with a cache | read without a cache |
/// |---------|-------------------|----------------------|
/// | search  | decoded           | decoded              |
/// | row     | decoded, unless   | encoded              |
/// |         | the cache is full |                      |
/// | scan    | decoded           | encoded              |
///
/// With a full cache, a get keeps the block encoded, because one row does not pay for
/// checking and indexing all cells of a block that may be evicted before its next use. An encoded block
/// in the cache is replaced by its decoded form when it is next loaded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Purpose {
    /// Searches for keys, or a get whose row may start in the next block: both need the decoded form.
    Search,
    /// A get of one row.
    Row,
    /// A scan of its cells.
    Scan,
}

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
            // A decoded block that came by way of the cache was checked when it was loaded.
            Some(DataBlock::Decoded(held))
                if held.origin().handle.offset == entry.block.offset
                    && self.blocks.cache_for(context.caching).is_some() =>
            {
                Ok(held)
            }
            Some(held) if held.as_ref().origin().handle.offset == entry.block.offset => {
                let block = self.decode(held, context.buffers)?;
                let checked = self.check_decoded(&block, entry);
                checked.map_err(|what| self.damage_in(block.origin(), what))?;
                Ok(block)
            }
            _ => self.load_decoded(entry, context),
        })?;
        Ok(Some(block))
    }

    /// Returns the data block at a cursor, for a scan.
    pub(crate) fn data_block_at(
        &self,
        cursor: &IndexCursor,
        context: &mut ReadContext<'_>,
    ) -> Result<DataBlock> {
        self.load(cursor.entry(self.data_index()), Purpose::Scan, context)
    }

    /// Returns the data block at a cursor, with all its cells checked.
    pub(crate) fn decoded_data_block_at(
        &self,
        cursor: &IndexCursor,
        context: &mut ReadContext<'_>,
    ) -> Result<Arc<DecodedBlock>> {
        self.load_decoded(cursor.entry(self.data_index()), context)
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
        origin: &BlockIdentity,
        key: &KeyRef<'_>,
        cursor: &IndexCursor,
    ) -> Result<()> {
        let checked = self.check_entry_upper_bound(key, cursor.entry(self.data_index()));
        checked.map_err(|what| self.damage_in(origin, what.into()))
    }

    /// Checks the last data block of the index against the trailer and the file info.
    pub(crate) fn check_end_of_file(
        &self,
        origin: &BlockIdentity,
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

    /// Decodes a block, without a check against the index and without a change of the cache.
    pub(crate) fn decode(
        &self,
        block: DataBlock,
        buffers: &mut Buffers,
    ) -> Result<Arc<DecodedBlock>> {
        let origin = *block.as_ref().origin();
        block.into_decoded(buffers).map_err(|what| self.damage_in(&origin, what))
    }

    /// Returns the error for damage in a block.
    #[cold]
    pub(crate) fn damage_in(&self, origin: &BlockIdentity, what: DamageReason) -> Error {
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
        match self.load(entry, Purpose::Search, context)? {
            DataBlock::Decoded(block) => Ok(block),
            DataBlock::Encoded(_) => unreachable!("a block is decoded for a search"),
        }
    }

    /// Returns the data block of an index entry: from its slot, the cache or the file.
    ///
    /// Reads load data blocks here, except a lookup that finds the block in its slot, a scan that
    /// prefetches, and `verify`. Checks a block that was read or decoded against the entry, and then keeps
    /// it in the cache and the slot.
    pub(crate) fn load(
        &self,
        entry: DataEntry<'_>,
        purpose: Purpose,
        context: &mut ReadContext<'_>,
    ) -> Result<DataBlock> {
        let cache = self.blocks.cache_for(context.caching);
        let slot = cache.and_then(|_| self.blocks.usable(entry.slot));
        if let Some(block) = slot.and_then(BlockSlot::block) {
            context.trace.touch(BlockKind::Data, BlockSource::Cache, block.bytes());
            return Ok(DataBlock::Decoded(block));
        }
        let key = self.blocks.cache_key(entry.block);
        let cached = match cache.and_then(|cache| cache.block(key)) {
            Some(found) => Some(self.blocks.cached_data_block(found, entry.block, context)?),
            None => None,
        };
        let source = if cached.is_some() { BlockSource::Cache } else { BlockSource::File };
        let block = match cached {
            Some(block) => block,
            None => DataBlock::Encoded(Arc::new(self.blocks.read_encoded(entry.block, context)?)),
        };
        let is_decoded = match purpose {
            Purpose::Search => true,
            Purpose::Row if source == BlockSource::Cache => true,
            Purpose::Row => cache.is_some_and(|cache| !cache.is_full(key)),
            Purpose::Scan => cache.is_some(),
        };
        let needs_check = matches!(block, DataBlock::Encoded(_));
        let block = if is_decoded {
            DataBlock::Decoded(self.decode(block, context.buffers)?)
        } else {
            block
        };
        if needs_check {
            self.check_loaded(block.as_ref(), entry, purpose, context)?;
            match (cache, source) {
                (Some(cache), BlockSource::File) => cache.insert(key, block.clone().into()),
                (Some(cache), BlockSource::Cache) => cache.replace(key, block.clone().into()),
                (None, _) => {}
            }
        }
        if let (Some(slot), DataBlock::Decoded(block)) = (slot, &block) {
            slot.remember(block);
        }
        Ok(block)
    }

    /// Checks a block that was just read or decoded against its index entry.
    ///
    /// Of an encoded block, a scan's first key is checked here. A get's cells are checked by
    /// [`find_row_in_encoded`](Self::find_row_in_encoded), up to its row.
    fn check_loaded(
        &self,
        block: DataRef<'_>,
        entry: DataEntry<'_>,
        purpose: Purpose,
        context: &mut ReadContext<'_>,
    ) -> Result<()> {
        let entry = match purpose {
            Purpose::Search | Purpose::Row => self.with_predecessor(block, entry, context)?,
            // A scan has come from the block before this one, and checked its keys.
            Purpose::Scan => entry,
        };
        let check = || {
            self.check_predecessor_of(block, entry)?;
            match (block, purpose) {
                (DataRef::Decoded(decoded), _) => self.check_decoded(decoded, entry),
                (DataRef::Encoded(_), Purpose::Scan) => self.check_by_first_key(block, entry),
                (DataRef::Encoded(_), Purpose::Search | Purpose::Row) => Ok(()),
            }
        };
        check().map_err(|what| self.damage_in(block.origin(), what))
    }

    /// Checks the `previous` offset of a data block; files of Hudi 1.1 do not state it.
    fn check_predecessor_of(
        &self,
        block: DataRef<'_>,
        entry: DataEntry<'_>,
    ) -> Result<(), DamageReason> {
        let origin = block.origin();
        if self.trailer.has_hudi_comparator() && origin.previous == Some(origin.handle.offset) {
            return Ok(());
        }
        Ok(check_predecessor(origin.previous, entry.predecessor)?)
    }

    /// Returns the entry of a block with its predecessor, reading the previous leaf of the index if
    /// the predecessor's entry is there.
    fn with_predecessor<'e>(
        &self,
        block: DataRef<'_>,
        entry: DataEntry<'e>,
        context: &mut ReadContext<'_>,
    ) -> Result<DataEntry<'e>> {
        if entry.predecessor != Predecessor::InOtherLeaf {
            return Ok(entry);
        }
        match self.find_predecessor(block, context) {
            // The check of the keys still identifies the block. Damage in the previous leaf therefore
            // does not make the first block of this leaf unreadable.
            Err(Error::Corrupt { .. }) => Ok(entry),
            found => Ok(DataEntry { predecessor: found?, ..entry }),
        }
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
        self.check_predecessor_of(block, entry)?;
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
        assert!(self.rows.is_some(), "only a file with cells has a last key");
        &self.last_key
    }
}
