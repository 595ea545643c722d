//! The current cell of a cursor over a delta-encoded block, which the next cell refers to.

use std::ops::Range;

use cells::{CellRef, CellType, SequenceId, Timestamp};

use super::cells::DeltaCells;
use super::key_buffer::{KeyBuffer, SHORT_LEN};
use crate::encoding::plain::TIME_LEN;
use crate::encoding::{CellLayout, tag_dictionary};

/// The current cell, already checked, and all state that is needed to decode the next cell.
#[derive(Clone, Debug)]
pub(super) struct CurrentCell {
    pub(super) layout: CellLayout,
    /// The offset of the next cell in the body.
    pub(super) next_at: usize,
    pub(super) key: KeyBuffer,
    /// The length of `key`; 0 before the first cell.
    ///
    /// While the next cell is decoded, this is still the length of the previous key.
    pub(super) key_len: usize,
    /// The end of the row in `key`, which is the offset of the family's length byte.
    pub(super) row_end: usize,
    /// The length of the family, plus its length byte.
    pub(super) family_field_len: usize,
    pub(super) timestamp: i64,
    pub(super) cell_type: CellType,
    /// The range of the value in the body.
    pub(super) value: Range<usize>,
    /// The range of the tags in the body or, with a dictionary, in `tags_decoded`.
    pub(super) tags: Range<usize>,
    pub(super) sequence_id: SequenceId,
    /// The range of the cell in the block after decoding (encoding `NONE`).
    pub(super) plain: Range<usize>,
    /// The length of all cells after decoding, as stated by the block.
    pub(super) stated_len: usize,
    /// The length byte and the bytes of the block's family, padded for [`KeyBuffer::put`], which
    /// copies short slices with a fixed length.
    pub(super) family: Vec<u8>,
    pub(super) dictionary: tag_dictionary::Decoder,
    /// The decompressed tags of the cell, if the layout compresses tags.
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
            // The first cell shares 0 bytes: less than this row end, so that it starts a row.
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

    /// Returns the flat key: row, family, qualifier, timestamp and type, as stored in a file.
    pub(super) fn flat_key(&self) -> &[u8] {
        self.key.range(0, self.key_len)
    }

    /// Returns the row, which follows its two-byte length in the key.
    pub(super) fn row(&self) -> &[u8] {
        self.key.range(2, self.row_end)
    }

    /// Returns the cell.
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

    /// Returns the offset of the qualifier in the key.
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
