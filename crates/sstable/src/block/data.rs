//! A data block as it is kept in memory: cells, and once they were checked, where each row starts.
//!
//! No cell is used that was not checked after it was read. A block that is to be searched is
//! [checked](DataBlock::check) from end to end, and then [`Searchable`]; its cells are plain ones then.
//! A scan that passes the cache by, and the first get that reads a block of differences, need neither
//! a row index nor all plain cells at once: they decode and check each cell when they come to it, in
//! their [walk](DataBlock::walk).
//!
//! A block in the cache does not change, because the cache counts its bytes when it comes and when it
//! goes. One that was put there as it was read is [replaced](DataBlock::to_searchable) once it is to
//! be searched.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::sync::OnceLock;

use super::body::Buffers;
use super::header::Header;
use super::index::BlockPlace;
use super::searchable::{RowIndex, RowStarts, Searchable};
use super::walk::{PlainWalk, Step, Walk};
use crate::encoding::{CellLayout, Cells, Decoded, Deltas, What};
use crate::{BlockOffset, BlockType, CellRef};

/// The cells of a data block.
#[derive(Debug)]
pub(crate) struct DataBlock {
    place: BlockPlace,
    block_type: BlockType,
    previous: Option<BlockOffset>,
    cells: Cells,
    /// Of differences, once all cells were wanted.
    plain: OnceLock<Decoded>,
    layout: CellLayout,
    index: OnceLock<RowIndex>,
}

impl DataBlock {
    /// Takes the cells of a block, which are still to be checked.
    pub(crate) const fn new(
        place: BlockPlace,
        header: &Header,
        cells: Cells,
        layout: CellLayout,
    ) -> Self {
        Self {
            place,
            block_type: header.block_type,
            previous: header.previous_block,
            cells,
            plain: OnceLock::new(),
            layout,
            index: OnceLock::new(),
        }
    }

    pub(crate) const fn place(&self) -> BlockPlace {
        self.place
    }

    pub(crate) const fn block_type(&self) -> BlockType {
        self.block_type
    }

    /// The data block before this one, as its header has it.
    pub(crate) const fn previous(&self) -> Option<BlockOffset> {
        self.previous
    }

    /// Bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let cells = match &self.cells {
            Cells::Plain(plain) => plain.bytes(),
            Cells::Deltas(deltas) => deltas.bytes(),
        };
        let plain = self.plain.get().map_or(0, Decoded::bytes);
        let index = self.index.get().map_or(0, RowIndex::bytes);
        [cells, plain, index].into_iter().fold(size_of::<Self>(), usize::saturating_add)
    }

    /// The bytes of the longest cell, or of the block where that is not longer than `enough`.
    pub(crate) fn longest_cell_len(&self, enough: usize) -> Result<usize, What> {
        let len = match &self.cells {
            Cells::Plain(plain) => plain.cells().len(),
            Cells::Deltas(deltas) => deltas.plain_len(),
        };
        if len <= enough {
            return Ok(len);
        }
        let mut walk = self.walk()?;
        let mut longest = walk.cell_len();
        while self.step(&mut walk)? != Step::End {
            longest = longest.max(walk.cell_len());
        }
        Ok(longest)
    }

    /// Gives its buffers to other blocks.
    pub(crate) fn give_back(self, buffers: &mut Buffers) {
        buffers.give_back(match self.cells {
            Cells::Plain(plain) => plain.into_buffer(),
            Cells::Deltas(deltas) => deltas.into_buffer(),
        });
        if let Some(plain) = self.plain.into_inner() {
            buffers.give_back(plain.into_buffer());
        }
    }

    /// What can be searched, if all cells were checked before.
    #[inline]
    pub(crate) fn searchable(&self) -> Option<Searchable<'_>> {
        let index = self.index.get()?;
        let decoded = match &self.cells {
            Cells::Plain(plain) => plain,
            Cells::Deltas(_) => self.plain.get()?,
        };
        Some(Searchable { decoded, layout: self.layout, index })
    }

    /// Checks all cells, unless that was done before; then the block can be searched. Not for a block
    /// of differences in the cache: it would grow.
    #[inline]
    pub(crate) fn check(&self) -> Result<Searchable<'_>, What> {
        match self.searchable() {
            Some(searchable) => Ok(searchable),
            None => self.check_cells(),
        }
    }

    fn check_cells(&self) -> Result<Searchable<'_>, What> {
        // Another thread may have been as far at the same time, with the same outcome.
        let layout = self.layout;
        let (decoded, index) = match &self.cells {
            Cells::Plain(plain) => (plain, RowIndex::new(plain, layout)?),
            Cells::Deltas(deltas) => {
                let (plain, starts) = deltas.to_plain(layout, &mut Buffers::default())?;
                let plain = self.plain.get_or_init(|| plain);
                (plain, RowIndex::of(plain, layout, starts))
            }
        };
        let index = self.index.get_or_init(|| index);
        Ok(Searchable { decoded, layout, index })
    }

    /// The differences of a block that is still as it was read: each who walks it has to check what
    /// it comes to.
    #[inline]
    pub(crate) fn as_read(&self) -> Option<&Deltas> {
        match &self.cells {
            Cells::Deltas(deltas) if self.index.get().is_none() => Some(deltas),
            _ => None,
        }
    }

    /// Of a block as it was read the same with all cells plain and checked, in memory of its own.
    pub(crate) fn to_searchable(&self, buffers: &mut Buffers) -> Result<Option<Self>, What> {
        self.to_plain(buffers, |plain, starts| RowIndex::of(plain, self.layout, starts))
    }

    /// The same for a scan, which asks for its rows one after the other: there is nothing to look them
    /// up by but their order.
    pub(crate) fn to_walkable(&self, buffers: &mut Buffers) -> Result<Option<Self>, What> {
        self.to_plain(buffers, RowIndex::without_table)
    }

    fn to_plain(
        &self,
        buffers: &mut Buffers,
        index: impl FnOnce(&Decoded, RowStarts) -> RowIndex,
    ) -> Result<Option<Self>, What> {
        let Some(deltas) = self.as_read() else { return Ok(None) };
        let (plain, starts) = deltas.to_plain(self.layout, buffers)?;
        let index = index(&plain, starts);
        Ok(Some(Self {
            cells: Cells::Plain(plain),
            plain: OnceLock::new(),
            index: OnceLock::from(index),
            ..*self
        }))
    }

    /// The block with all cells plain and checked; `buffers` get what it needs no more.
    pub(crate) fn into_searchable(self, buffers: &mut Buffers) -> Result<Self, What> {
        if let Some(searchable) = self.to_searchable(buffers)? {
            self.give_back(buffers);
            return Ok(searchable);
        }
        self.check()?;
        Ok(self)
    }

    /// A walk from the first cell on, which checks the cells it comes to unless all were checked.
    pub(crate) fn walk(&self) -> Result<Walk, What> {
        match (self.walk_from(0), &self.cells) {
            (Some(walk), _) => Ok(walk),
            (None, Cells::Plain(plain)) => PlainWalk::begin(plain, self.layout).map(Walk::Plain),
            (None, Cells::Deltas(deltas)) => {
                deltas.walk(self.layout).map(|walk| Walk::Deltas(Box::new(walk)))
            }
        }
    }

    /// A walk from the cell on that starts at `at`; `None` if the block was not checked.
    pub(crate) fn walk_from(&self, at: usize) -> Option<Walk> {
        let decoded = self.searchable()?.decoded;
        PlainWalk::at(decoded, self.layout, at).map(Walk::Plain)
    }

    /// Goes to the next cell of a walk.
    #[inline]
    pub(crate) fn step(&self, walk: &mut Walk) -> Result<Step, What> {
        match (walk, &self.cells) {
            (Walk::Plain(walk), Cells::Plain(plain)) => walk.step(plain, self.layout),
            (Walk::Deltas(walk), Cells::Deltas(deltas)) => walk.step(deltas),
            (walk, _) => self.step_decoded(walk),
        }
    }

    /// The cell that a walk has come to.
    #[inline]
    pub(crate) fn cell<'a>(&'a self, walk: &'a Walk) -> Option<CellRef<'a>> {
        match (walk, &self.cells) {
            (Walk::Plain(walk), Cells::Plain(plain)) => walk.cell(plain),
            (Walk::Deltas(walk), Cells::Deltas(deltas)) => walk.cell(deltas),
            (walk, _) => self.decoded_cell(walk),
        }
    }

    /// Goes to the next cell, all of whose block was decoded beside it.
    #[inline(never)]
    fn step_decoded(&self, walk: &mut Walk) -> Result<Step, What> {
        match (walk, self.plain.get()) {
            (Walk::Plain(walk), Some(plain)) => walk.step(plain, self.layout),
            _ => Ok(Step::End),
        }
    }

    #[inline(never)]
    fn decoded_cell<'a>(&'a self, walk: &'a Walk) -> Option<CellRef<'a>> {
        match walk {
            Walk::Plain(walk) => walk.cell(self.plain.get()?),
            Walk::Deltas(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
