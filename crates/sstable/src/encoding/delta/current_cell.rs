//! The cell that a cursor stands on, from which the next one is decoded.

use std::ops::Range;

use super::cells::DeltaCells;
use super::key_buffer::{KeyBuffer, SHORT_LEN};
use crate::encoding::plain::TIME_LEN;
use crate::encoding::{CellLayout, tag_dictionary};
use crate::{CellRef, CellType, SequenceId, Timestamp};

/// A cell that was checked, and what the next one may refer to.
#[derive(Clone, Debug)]
pub(super) struct CurrentCell {
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
    pub(super) stated_len: usize,
    /// The family that all cells share, with its length in front, and room behind it.
    pub(super) family: Vec<u8>,
    pub(super) dictionary: tag_dictionary::Decoder,
    pub(super) tags_decoded: Vec<u8>,
}

impl CurrentCell {
    /// No cell, behind which the first one of a block starts at `next_at`.
    pub(super) fn before_first(cells: &DeltaCells, layout: CellLayout, next_at: usize) -> Self {
        Self {
            layout,
            next_at,
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
            stated_len: cells.plain_len(),
            family: Vec::new(),
            dictionary: tag_dictionary::Decoder::default(),
            tags_decoded: Vec::new(),
        }
    }

    /// The flat key.
    pub(super) fn flat_key(&self) -> &[u8] {
        self.key.range(0, self.key_len)
    }

    /// The row of the cell.
    pub(super) fn row(&self) -> &[u8] {
        self.key.range(2, self.row_end)
    }

    /// The cell.
    #[inline(never)]
    pub(super) fn cell<'a>(&'a self, cells: &'a DeltaCells) -> CellRef<'a> {
        let qualifier_at = self.qualifier_at();
        CellRef {
            row: self.row(),
            family: self.key.range(self.row_end + 1, qualifier_at),
            qualifier: self.key.range(qualifier_at, self.key_len - TIME_LEN),
            timestamp: Timestamp::new(self.timestamp),
            cell_type: self.cell_type,
            value: cells.body().range(self.value.start, self.value.end),
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
