//! A cursor over the cells of a delta-encoded block. It decodes and checks each cell it comes to.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::as_conversions))]

use std::cmp::Ordering;
use std::ops::Range;

use super::cell_reader::CellReader;
use super::key_buffer::{KeyBuffer, SHORT_LEN};
use super::wrong::Wrong;
use super::{diff, fast_diff, prefix};
use crate::encoding::cells::{DELTA_HEADER_LEN, DeltaCells, DeltaEncoding};
use crate::encoding::plain::TIME_LEN;
use crate::encoding::{CellLayout, Step, What, tag_dictionary};
use crate::input::Input;
use crate::{CellRef, CellType, SequenceId, Timestamp};

/// A cursor: on a cell that it has checked.
///
/// Every call must be given the cells that it was made for. After an error it stands on no cell, and must
/// not be used again.
#[derive(Clone, Debug)]
pub(crate) struct DeltaCursor {
    encoding: DeltaEncoding,
    pub(super) layout: CellLayout,
    /// Where the next cell starts in the body.
    pub(super) next_at: usize,
    pub(super) key: KeyBuffer,
    /// The length of the key; while a cell is read, that of the key before. 0 before the first cell.
    pub(super) key_len: usize,
    /// Where in the key the row ends, and the family begins with its length.
    pub(super) row_end: usize,
    /// The bytes of the family, with its length in front.
    pub(super) family_field_len: usize,
    pub(super) timestamp: i64,
    pub(super) cell_type: CellType,
    /// Where the value stands in the body.
    pub(super) value: Range<usize>,
    /// Where the tags stand in the body, or among the tags decoded from the dictionary.
    pub(super) tags: Range<usize>,
    pub(super) sequence_id: SequenceId,
    /// Where the cell would stand in a block of plain cells.
    pub(super) plain: Range<usize>,
    /// The bytes that the block says its cells take as plain cells.
    pub(super) size: usize,
    /// The family that all cells share, with its length in front, and room behind it.
    pub(super) family: Vec<u8>,
    pub(super) dictionary: tag_dictionary::Decoder,
    pub(super) tags_decoded: Vec<u8>,
}

impl DeltaCursor {
    /// Returns a cursor on the first cell.
    pub(in crate::encoding) fn begin(cells: &DeltaCells, layout: CellLayout) -> Result<Self, What> {
        let mut cursor = Self {
            encoding: cells.encoding(),
            layout,
            next_at: DELTA_HEADER_LEN,
            key: KeyBuffer::default(),
            key_len: 0,
            // Behind any place that a first cell may claim to share, so that it enters its row.
            row_end: 1,
            family_field_len: 0,
            timestamp: 0,
            cell_type: CellType::Put,
            value: 0..0,
            tags: 0..0,
            sequence_id: SequenceId::default(),
            plain: 0..0,
            size: cells.plain_len(),
            family: Vec::new(),
            dictionary: tag_dictionary::Decoder::default(),
            tags_decoded: Vec::new(),
        };
        if cursor.encoding == DeltaEncoding::Diff {
            let mut input = Input::new(cells.body().behind(DELTA_HEADER_LEN));
            cursor.set_family(diff::decode_family(&mut input)?);
            cursor.next_at = cells.body().len() - input.len();
        }
        if cells.body().behind(cursor.next_at).is_empty() {
            return Err("no cells".into());
        }
        let at = cursor.next_at;
        let first = match cursor.encoding {
            DeltaEncoding::Prefix => prefix::decode(&mut cursor, cells),
            DeltaEncoding::Diff => diff::decode_first(&mut cursor, cells),
            DeltaEncoding::FastDiff => fast_diff::decode_first(&mut cursor, cells),
        };
        first.map_err(|wrong| located(at, &wrong.what(&cursor)))?;
        if layout.tags {
            cursor.read_tail(cells, at)?;
        }
        Ok(cursor)
    }

    /// Goes to the next cell.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    pub(crate) fn step(&mut self, cells: &DeltaCells) -> Result<Step, What> {
        let at = self.next_at;
        let read = match self.encoding {
            DeltaEncoding::Prefix => prefix::decode(self, cells),
            DeltaEncoding::Diff => diff::decode(self, cells),
            DeltaEncoding::FastDiff => fast_diff::decode(self, cells),
        };
        match read {
            Ok(step) if !self.layout.tags => Ok(step),
            Ok(step) => self.read_tail(cells, at).map(|()| step),
            Err(wrong) => self.end(cells, at, wrong),
        }
    }

    /// Reads what follows the value of the cell that starts at `at`, in files with tags.
    #[inline(never)]
    fn read_tail(&mut self, cells: &DeltaCells, at: usize) -> Result<(), What> {
        CellReader::new(self, cells).read_tail().map_err(|what| located(at, &what))
    }

    /// Ends at `at`, where no sound cell is: there is none, or it is damaged.
    #[cold]
    fn end(&self, cells: &DeltaCells, at: usize, wrong: Wrong) -> Result<Step, What> {
        if !cells.body().behind(at).is_empty() {
            return Err(located(at, &wrong.what(self)));
        }
        if self.plain.end != self.size {
            let (len, size) = (self.plain.end, self.size);
            return Err(format!("cells of {len} bytes where {size} are stated").into());
        }
        Ok(Step::End)
    }

    /// Goes on to the first cell whose row is not less than `row`; returns how that row compares with
    /// it. Where all rows are less it ends on the last cell.
    pub(crate) fn go_to_row(&mut self, cells: &DeltaCells, row: &[u8]) -> Result<Ordering, What> {
        loop {
            let found = self.layout.order.compare_rows(self.row(), row);
            if found.is_ge() {
                return Ok(found);
            }
            loop {
                match self.step(cells)? {
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
        self.plain.end - self.plain.start
    }

    /// The flat key.
    pub(in crate::encoding) fn key(&self) -> &[u8] {
        self.key.part(0, self.key_len)
    }

    /// The row of the cell.
    fn row(&self) -> &[u8] {
        self.key.part(2, self.row_end)
    }

    /// The cell it stands on.
    #[inline(never)]
    pub(crate) fn cell<'a>(&'a self, cells: &'a DeltaCells) -> CellRef<'a> {
        let qualifier_at = self.qualifier_at();
        CellRef {
            row: self.row(),
            family: self.key.part(self.row_end + 1, qualifier_at),
            qualifier: self.key.part(qualifier_at, self.key_len - TIME_LEN),
            timestamp: Timestamp::new(self.timestamp),
            cell_type: self.cell_type,
            value: cells.body().between(self.value.start, self.value.end),
            tags: if self.tags.is_empty() { &[] } else { self.tags(cells) },
            sequence_id: self.sequence_id,
        }
    }

    #[inline(never)]
    fn tags<'a>(&'a self, cells: &'a DeltaCells) -> &'a [u8] {
        let decoded = self.layout.compressed_tags;
        let tagged = if decoded { &self.tags_decoded[..] } else { cells.body() };
        let tags = tagged.get(self.tags.clone());
        tags.expect("the tags of the cell were read")
    }

    /// Where in the key the qualifier starts.
    #[inline]
    pub(super) const fn qualifier_at(&self) -> usize {
        self.row_end + self.family_field_len
    }

    /// Takes the family that all cells share, of at most 127 bytes.
    pub(super) fn set_family(&mut self, family: &[u8]) {
        let len = u8::try_from(family.len()).expect("a family has at most 127 bytes");
        self.family_field_len = 1 + family.len();
        self.family = Vec::with_capacity(self.family_field_len + SHORT_LEN);
        self.family.push(len);
        self.family.extend_from_slice(family);
        self.family.resize(self.family_field_len + SHORT_LEN, 0);
    }
}

#[cold]
fn located(at: usize, what: &str) -> What {
    format!("cell at {at} in the encoded block: {what}").into()
}
