//! The cell at a delta cursor, relative to which the next cell is decoded.

use std::ops::Range;

use super::cells::DeltaCells;
use super::key_buffer::{KeyBuffer, SHORT_LEN};
use crate::encoding::plain::TIME_LEN;
use crate::encoding::{CellLayout, tag_dictionary};
use crate::{CellRef, CellType, SequenceId, Timestamp};

/// A checked cell, and the state that the next cell may refer to.
#[derive(Clone, Debug)]
pub(super) struct CurrentCell {
    pub(super) layout: CellLayout,
    /// The offset of the next cell in the body.
    pub(super) next_at: usize,
    pub(super) key: KeyBuffer,
    /// The key length; 0 before the first cell. While a cell is read, the length of the previous
    /// key.
    pub(super) key_len: usize,
    /// The end of the row in the key, where the family length is.
    pub(super) row_end: usize,
    /// Bytes of the family and its length byte.
    pub(super) family_field_len: usize,
    pub(super) timestamp: i64,
    pub(super) cell_type: CellType,
    /// The range of the value in the body.
    pub(super) value: Range<usize>,
    /// The range of the tags in the body or, with a dictionary, in `tags_decoded`.
    pub(super) tags: Range<usize>,
    pub(super) sequence_id: SequenceId,
    /// The range of the cell in the plain form of the block.
    pub(super) plain: Range<usize>,
    /// Bytes of the cells in plain form, as stated by the block.
    pub(super) stated_len: usize,
    /// The length byte and the bytes of the block's family, padded for [`KeyBuffer::put`].
    pub(super) family: Vec<u8>,
    pub(super) dictionary: tag_dictionary::Decoder,
    pub(super) tags_decoded: Vec<u8>,
}

impl CurrentCell {
    /// Returns the state before the first cell, which starts at `next_at`.
    pub(super) fn before_first(cells: &DeltaCells, layout: CellLayout, next_at: usize) -> Self {
        Self {
            layout,
            next_at,
            key: KeyBuffer::default(),
            key_len: 0,
            // Exceeds the shared length 0 of the first cell, so that the cell starts a row.
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
        tags.expect("the range of the tags was checked when they were read")
    }

    /// The offset of the qualifier in the key.
    #[inline]
    pub(super) const fn qualifier_at(&self) -> usize {
        self.row_end + self.family_field_len
    }

    /// Sets the family of the block, of at most 127 bytes.
    pub(super) fn set_family(&mut self, family: &[u8]) {
        let len = u8::try_from(family.len()).expect("a family has at most 127 bytes");
        self.family_field_len = 1 + family.len();
        self.family = Vec::with_capacity(self.family_field_len + SHORT_LEN);
        self.family.push(len);
        self.family.extend_from_slice(family);
        self.family.resize(self.family_field_len + SHORT_LEN, 0);
    }
}
