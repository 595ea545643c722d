//! A walk over the cells of a `PREFIX`, `DIFF` or `FAST_DIFF` block, which undoes the differences as
//! it goes.
//!
//! ```text
//! block  [flags|lengths|rest of key|value][flags|lengths|rest of key|value] …
//!                            │        └── lent from where it stands
//! key    row…family…qualifier…time type     the one buffer: what the next key shares stays in it
//! ```
//!
//! Only what differs between keys is copied. Nothing is believed: the cells must come to the size
//! that the block states, and every reference is held against what there is to be referred to. Most
//! cells are [usual ones](usual_cell), for which that takes few comparisons; the others, and damaged ones,
//! are read [in all steps](cell_input).
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

mod cell_input;
mod key_buffer;
mod usual_cell;

use std::cmp::Ordering;
use std::ops::Range;

pub(super) use self::cell_input::{CellFlags, CellInput, Lengths};
use self::key_buffer::KeyBuffer;
use super::cells::DELTA_HEADER_LEN;
use super::plain::TIME_LEN;
use super::{
    CellLayout, DataBlockEncoding, DeltaCells, Step, What, diff, fast_diff, prefix, tag_dictionary,
};
use crate::input::Input;
use crate::{CellRef, CellType, SequenceId, Timestamp};

/// A place in a block: on a cell.
#[derive(Clone, Debug)]
pub(crate) struct DeltaCursor {
    encoding: DataBlockEncoding,
    layout: CellLayout,
    /// Where the next cell starts in the body.
    next_at: usize,
    key: KeyBuffer,
    /// The length of the key; while a cell is read, that of the key before.
    key_len: usize,
    /// Where in the key the row ends, and the family begins with its length.
    row_end: usize,
    /// The bytes of the family, with its length in front.
    family_field_len: usize,
    /// The row before, compared with this one.
    row_order: Ordering,
    /// Whether the row was as long as the one before, and the next one most likely is.
    rows_alike: bool,
    timestamp: i64,
    cell_type: CellType,
    /// Where the value stands in the body.
    value: Range<usize>,
    /// Where the tags stand in the body, or among the tags that came out of the dictionary.
    tags: Range<usize>,
    sequence_id: SequenceId,
    /// What all cells up to this one take as plain cells, this one not counted and counted.
    plain: Range<usize>,
    /// The bytes that the block says its cells take as plain cells.
    size: usize,
    /// The family that all cells share, with its length in front, and room behind it.
    family: Vec<u8>,
    dictionary: tag_dictionary::Decoder,
    tags_decoded: Vec<u8>,
}

impl DeltaCursor {
    /// Begins on the first cell.
    pub(super) fn begin(deltas: &DeltaCells, layout: CellLayout) -> Result<Self, What> {
        let mut walk = Self {
            encoding: deltas.encoding,
            layout,
            next_at: 0,
            key: KeyBuffer::default(),
            key_len: 0,
            row_end: 0,
            family_field_len: 0,
            row_order: Ordering::Less,
            rows_alike: true,
            timestamp: 0,
            cell_type: CellType::Put,
            value: 0..0,
            tags: 0..0,
            sequence_id: SequenceId::default(),
            plain: 0..0,
            size: deltas.size,
            family: Vec::new(),
            dictionary: tag_dictionary::Decoder::default(),
            tags_decoded: Vec::new(),
        };
        let body = deltas.body();
        let mut input = Input::new(body.get(DELTA_HEADER_LEN..).unwrap_or_default());
        if walk.encoding == DataBlockEncoding::Diff {
            walk.set_family(diff::decode_family(&mut input)?);
        }
        walk.next_at = body.len().saturating_sub(input.len());
        if input.is_empty() {
            return Err("no cells".into());
        }
        let at = walk.next_at;
        walk.read_cell(input, body.len()).map_err(|what| located(at, &what))?;
        Ok(walk)
    }

    /// Goes to the next cell.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(crate) fn step(&mut self, deltas: &DeltaCells) -> Result<Step, What> {
        let at = self.next_at;
        let usual = match self.encoding {
            // To find out that it is not one takes as long as a part of what comes then.
            _ if !self.rows_alike => None,
            DataBlockEncoding::Prefix => prefix::decode_usual(self, deltas),
            DataBlockEncoding::Diff => diff::decode_usual(self, deltas),
            _ => fast_diff::decode_usual(self, deltas),
        };
        match usual {
            Some(step) if !self.layout.tags => Ok(step),
            Some(step) => self.read_behind_value(deltas, at).map(|()| step),
            None => self.step_in_all_steps(deltas),
        }
    }

    /// Reads the tags of the cell that starts at `at`, and what follows them.
    #[inline(never)]
    fn read_behind_value(&mut self, deltas: &DeltaCells, at: usize) -> Result<(), What> {
        let body = deltas.body();
        let input = Input::new(body.behind(self.next_at));
        let mut cell = CellInput { walk: self, input, body_len: body.len() };
        cell.read_end().map_err(|what| located(at, &what))
    }

    /// Goes to the next cell, whatever it is like.
    #[inline(never)]
    fn step_in_all_steps(&mut self, deltas: &DeltaCells) -> Result<Step, What> {
        let body = deltas.body();
        let at = self.next_at;
        let input = Input::new(body.behind(at));
        if input.is_empty() {
            return self.check_size().map(|()| Step::End);
        }
        self.read_cell(input, body.len()).map_err(|what| located(at, &what))?;
        match self.row_order {
            Ordering::Equal => Ok(Step::SameRow),
            Ordering::Less => Ok(Step::NextRow),
            Ordering::Greater => Err(located(at, "its row is out of order")),
        }
    }

    /// Goes on to the first cell whose row is not less than `row`; returns how that row compares with
    /// it. Where all rows are less it ends on the last cell.
    pub(crate) fn go_to_row(&mut self, deltas: &DeltaCells, row: &[u8]) -> Result<Ordering, What> {
        loop {
            let found = self.layout.order.compare_rows(self.row(), row);
            if found.is_ge() {
                return Ok(found);
            }
            loop {
                match self.step(deltas)? {
                    Step::SameRow => {}
                    Step::NextRow => break,
                    Step::End => return Ok(found),
                }
            }
        }
    }

    /// Where the cell would start in a plain block.
    pub(crate) const fn position(&self) -> usize {
        self.plain.start
    }

    /// Bytes of the cell in a plain block.
    pub(crate) const fn cell_len(&self) -> usize {
        self.plain.end.saturating_sub(self.plain.start)
    }

    /// The flat key.
    pub(super) fn key(&self) -> &[u8] {
        self.key.part(0, self.key_len)
    }

    /// The row of the cell.
    fn row(&self) -> &[u8] {
        self.key.part(2, self.row_end)
    }

    /// The cell it stands on.
    ///
    /// # Panics
    ///
    /// If `cells` are not those that it was made for.
    #[inline(never)]
    pub(crate) fn cell<'a>(&'a self, cells: &'a DeltaCells) -> CellRef<'a> {
        self.cell_in(cells).expect("a delta cursor stands on a cell that it has checked")
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it has one caller")]
    fn cell_in<'a>(&'a self, deltas: &'a DeltaCells) -> Option<CellRef<'a>> {
        let columns = self.key.part(0, self.key_len.wrapping_sub(TIME_LEN));
        let (row, columns) = columns.split_at_checked(self.row_end)?;
        let (family, qualifier) = columns.split_at_checked(self.family_field_len)?;
        Some(CellRef {
            row: row.get(2..)?,
            family: family.get(1..)?,
            qualifier,
            timestamp: Timestamp::new(self.timestamp),
            cell_type: self.cell_type,
            value: deltas.body().get(self.value.clone())?,
            tags: if self.tags.is_empty() { &[] } else { self.some_tags(deltas)? },
            sequence_id: self.sequence_id,
        })
    }

    #[inline(never)]
    fn some_tags<'a>(&'a self, deltas: &'a DeltaCells) -> Option<&'a [u8]> {
        let body = deltas.body();
        let tagged: &[u8] = if self.layout.compressed_tags { &self.tags_decoded } else { body };
        tagged.get(self.tags.clone())
    }

    /// Reads the cell that `input` begins with, in a body of `body_len` bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    fn read_cell(&mut self, input: Input<'_>, body_len: usize) -> Result<(), What> {
        let mut cell = CellInput { walk: self, input, body_len };
        match cell.walk.encoding {
            DataBlockEncoding::Prefix => prefix::decode(&mut cell)?,
            DataBlockEncoding::Diff => diff::decode(&mut cell)?,
            _ if cell.is_first() => fast_diff::decode_first(&mut cell)?,
            _ => fast_diff::decode(&mut cell)?,
        }
        cell.read_end()
    }

    /// Whether the cells are as long as the block says.
    fn check_size(&self) -> Result<(), What> {
        if self.plain.end == self.size {
            return Ok(());
        }
        Err(format!("cells of {} bytes where {} are stated", self.plain.end, self.size).into())
    }
}

#[cold]
fn located(at: usize, what: &str) -> What {
    format!("cell at {at} in the encoded block: {what}").into()
}

#[cfg(test)]
mod tests;
