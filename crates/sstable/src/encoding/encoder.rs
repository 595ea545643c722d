//! The encoder of data block bodies. The layout is described in [`cells`](super::cells).

use std::mem;

use cells::CellRef;

use super::cells::ID_LEN;
use super::delta::{
    DELTA_HEADER_LEN, EncoderKey, encode_diff, encode_fast_diff, encode_prefix, write_len,
};
use super::{CellLayout, DataBlockEncoding, plain, row_index_v1, tag_dictionary};
use crate::input::write_hvlong;

/// An encoder of data block bodies, reused from block to block.
#[derive(Debug)]
pub(crate) struct BlockEncoder {
    encoding: DataBlockEncoding,
    layout: CellLayout,
    body: Vec<u8>,
    cell_count: u64,
    encoded_len: usize,
    unencoded_len: usize,
    current: EncoderKey,
    previous: EncoderKey,
    row_index_v1: row_index_v1::Encoder,
    tags: tag_dictionary::Encoder,
}

impl BlockEncoder {
    pub(crate) fn new(encoding: DataBlockEncoding, layout: CellLayout) -> Self {
        let mut encoder = Self {
            encoding,
            layout,
            body: Vec::new(),
            cell_count: 0,
            encoded_len: 0,
            unencoded_len: 0,
            current: EncoderKey::default(),
            previous: EncoderKey::default(),
            row_index_v1: row_index_v1::Encoder::default(),
            tags: tag_dictionary::Encoder::default(),
        };
        encoder.clear();
        encoder
    }

    /// Appends a cell, whose lengths the writer has checked.
    pub(crate) fn append(&mut self, cell: &CellRef<'_>) {
        let len_before = self.body.len();
        let mut index_len = 0;
        match self.encoding {
            DataBlockEncoding::None => plain::write_cell(&mut self.body, cell, self.layout),
            DataBlockEncoding::RowIndexV1 => {
                index_len = self.row_index_v1.append(&mut self.body, ID_LEN, cell, self.layout);
            }
            DataBlockEncoding::Prefix | DataBlockEncoding::Diff | DataBlockEncoding::FastDiff => {
                self.append_delta(cell);
            }
        }
        self.encoded_len += self.body.len() - len_before + index_len;
        self.unencoded_len += plain::cell_len(cell, self.layout);
        self.cell_count += 1;
    }

    fn append_delta(&mut self, cell: &CellRef<'_>) {
        self.current.set(cell);
        let (out, key) = (&mut self.body, &mut self.current);
        let previous = (self.cell_count > 0).then_some(&self.previous);
        match self.encoding {
            DataBlockEncoding::Prefix => encode_prefix(out, cell, key, previous),
            DataBlockEncoding::Diff => encode_diff(out, cell, key, previous),
            _ => encode_fast_diff(out, cell, key, previous),
        }
        if self.layout.tags {
            write_len(out, cell.tags.len());
            if self.layout.compressed_tags {
                self.tags.write(out, cell.tags);
            } else {
                out.extend_from_slice(cell.tags);
            }
        }
        if self.layout.mvcc {
            write_hvlong(out, cell.sequence_id.get().cast_signed());
        }
        mem::swap(&mut self.current, &mut self.previous);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.cell_count == 0
    }

    /// Returns whether the cells so far take `size` bytes, encoded or in plain form, as HBase counts
    /// them.
    ///
    /// The encoded bytes include the row offsets of `ROW_INDEX_V1`, but not the encoding id and the
    /// header of delta encodings.
    pub(crate) fn is_full(&self, size: usize) -> bool {
        !self.is_empty() && self.encoded_len.max(self.unencoded_len) >= size
    }

    /// Returns the bytes that the cells so far take in plain form.
    pub(crate) const fn unencoded_len(&self) -> usize {
        self.unencoded_len
    }

    /// Completes the body and returns it.
    ///
    /// The caller must call [`clear`](Self::clear) before it appends a cell of the next block.
    pub(crate) fn finish(&mut self) -> &[u8] {
        match self.encoding {
            DataBlockEncoding::None => {}
            DataBlockEncoding::RowIndexV1 => self.row_index_v1.finish(&mut self.body, ID_LEN),
            DataBlockEncoding::Prefix | DataBlockEncoding::Diff | DataBlockEncoding::FastDiff => {
                let size = i32::try_from(self.unencoded_len);
                let size = size.expect("the writer limits blocks to less than 2 GiB").to_be_bytes();
                self.body[ID_LEN..DELTA_HEADER_LEN].copy_from_slice(&size);
            }
        }
        &self.body
    }

    /// Discards the body and starts a new one, with the encoding id and the header.
    pub(crate) fn clear(&mut self) {
        self.body.clear();
        if self.encoding != DataBlockEncoding::None {
            self.body.extend_from_slice(&self.encoding.id().to_be_bytes());
        }
        if self.is_delta() {
            self.body.resize(DELTA_HEADER_LEN, 0);
        }
        self.cell_count = 0;
        self.encoded_len = 0;
        self.unencoded_len = 0;
        self.tags.clear();
    }

    const fn is_delta(&self) -> bool {
        match self.encoding {
            DataBlockEncoding::Prefix | DataBlockEncoding::Diff | DataBlockEncoding::FastDiff => {
                true
            }
            DataBlockEncoding::None | DataBlockEncoding::RowIndexV1 => false,
        }
    }
}
