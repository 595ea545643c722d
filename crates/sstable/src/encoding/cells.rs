//! The body of a data block as cells: plain or delta-encoded, as the block is stored.
//!
//! | bytes | field          | meaning                                                            |
//! |------:|----------------|--------------------------------------------------------------------|
//! |     2 | encoding id    | u16 BE; blocks without an encoding lack it                         |
//! |     4 | unencoded size | i32 BE; only `PREFIX`, `DIFF`, `FAST_DIFF`: bytes as plain cells   |
//! |       | payload        | see the module of the encoding                                     |
//!
//! Behind the value of each cell, `PREFIX`, `DIFF` and `FAST_DIFF` put the tags as a vint of their
//! length and either the tags or [references](super::tag_dictionary) to them, then the sequence id as
//! an hvlong; each only in files that have it.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::ops::Range;

use super::row_starts::RowStarts;
use super::{CellLayout, DataBlockEncoding, DeltaCursor, Step, What, plain, row_index};
use crate::buffers::{Body, Buffers};
use crate::input::Input;

/// Bytes of the encoding id.
pub(super) const ID_LEN: usize = 2;

/// Bytes in front of the payload of a delta encoding.
pub(super) const DELTA_HEADER_LEN: usize = 6;

/// The cells of a data block, as it is stored.
#[derive(Debug)]
pub(crate) enum Cells {
    Plain(PlainCells),
    /// Delta-encoded; a cursor decodes them.
    Delta(DeltaCells),
}

impl Cells {
    /// Takes the body of a data block, whose cells take at most `size_max` bytes as plain cells.
    ///
    /// Checks no cell: a cursor does that.
    pub(crate) fn open(
        encoding: DataBlockEncoding,
        body: Body,
        size_max: usize,
    ) -> Result<Self, What> {
        if encoding == DataBlockEncoding::None {
            return Ok(Self::Plain(PlainCells::new(body)));
        }
        let mut input = Input::new(&body);
        let id = input.u16().ok_or("no encoding id")?;
        if id != encoding.id() {
            return Err(format!("encoding id {id} in a file of {encoding}").into());
        }
        let delta = match encoding {
            DataBlockEncoding::None | DataBlockEncoding::RowIndexV1 => {
                let (cells, rows) = row_index::decode(input.rest(), ID_LEN)?;
                return Ok(Self::Plain(PlainCells::with_rows(body, cells, rows)));
            }
            DataBlockEncoding::Prefix => DeltaEncoding::Prefix,
            DataBlockEncoding::Diff => DeltaEncoding::Diff,
            DataBlockEncoding::FastDiff => DeltaEncoding::FastDiff,
        };
        let size = input.len_i32().ok_or("bad unencoded size")?;
        if size > size_max {
            return Err(format!("{size} bytes of cells where {size_max} are allowed").into());
        }
        Ok(Self::Delta(DeltaCells { encoding: delta, body, size }))
    }

    /// Bytes that they take in memory.
    pub(crate) const fn bytes(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.bytes(),
            Self::Delta(delta) => delta.body.buffer_len(),
        }
    }

    /// Bytes of all cells as plain cells; of delta-encoded ones, as the block states.
    pub(crate) const fn plain_len(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.body.len(),
            Self::Delta(delta) => delta.size,
        }
    }

    /// The buffer beneath, for another block.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        match self {
            Self::Plain(plain) => plain.body.into_buffer(),
            Self::Delta(delta) => delta.body.into_buffer(),
        }
    }
}

/// Plain cells, and the row index that the block stores beside them, if it does.
#[derive(Debug)]
pub(crate) struct PlainCells {
    body: Body,
    /// Where in the buffer beneath the stored offsets of the rows' first cells are, u32 BE each.
    rows: Option<Range<usize>>,
}

impl PlainCells {
    /// Takes cells without a stored row index.
    pub(super) const fn new(body: Body) -> Self {
        Self { body, rows: None }
    }

    /// Takes two parts of a body: cells and row offsets.
    ///
    /// # Panics
    ///
    /// If the body does not have these parts.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "both parts lie in the body, and so in the buffer"
    )]
    fn with_rows(body: Body, cells: Range<usize>, rows: Range<usize>) -> Self {
        assert!(cells.end <= rows.start && rows.end <= body.len(), "{cells:?}, {rows:?}");
        let (buffer, all) = body.into_parts();
        let [cells, rows] = [cells, rows].map(|it| all.start + it.start..all.start + it.end);
        Self { body: Body::new(buffer, cells), rows: Some(rows) }
    }

    /// The bytes of the cells.
    #[inline]
    pub(crate) const fn body(&self) -> &Body {
        &self.body
    }

    /// Checks all cells, and returns where their rows start.
    pub(crate) fn check(&self, layout: CellLayout) -> Result<RowStarts, What> {
        RowStarts::of_plain(self, layout)
    }

    /// Checks the stored row index, if there is one: its row `index` must start at `at`.
    #[inline]
    pub(super) fn check_row(&self, index: usize, at: usize) -> Result<(), What> {
        let Some(rows) = self.stored_rows() else { return Ok(()) };
        let stored = rows.get(index).map(|offset| u32::from_be_bytes(*offset));
        if stored.is_some_and(|stored| usize::try_from(stored) == Ok(at)) {
            Ok(())
        } else {
            Err(ROWS_CONTRADICT.into())
        }
    }

    /// Checks the number of rows in the stored row index, if there is one.
    pub(super) fn check_row_count(&self, count: usize) -> Result<(), What> {
        match self.stored_rows() {
            Some(rows) if rows.len() != count => Err(ROWS_CONTRADICT.into()),
            _ => Ok(()),
        }
    }

    #[inline]
    fn stored_rows(&self) -> Option<&[[u8; 4]]> {
        let rows = self.rows.clone()?;
        let rows = self.body.buffer().get(rows).expect("the row offsets lie in the buffer");
        Some(rows.as_chunks().0)
    }

    /// Bytes that they take in memory.
    pub(crate) const fn bytes(&self) -> usize {
        self.body.buffer_len()
    }

    /// The buffer beneath, for another block.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.body.into_buffer()
    }

    /// Returns the same cells in a buffer of their own, without the stored row index.
    pub(crate) fn to_owned_in(&self, buffers: &mut Buffers) -> Self {
        let mut buffer = buffers.take_empty(self.body.len());
        buffer.extend_from_slice(&self.body);
        Self::new(buffer.into())
    }
}

const ROWS_CONTRADICT: &str = "the row index contradicts the rows";

/// The encodings that store differences between cells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum DeltaEncoding {
    Prefix,
    Diff,
    FastDiff,
}

/// The body of a `PREFIX`, `DIFF` or `FAST_DIFF` block.
#[derive(Debug)]
pub(crate) struct DeltaCells {
    encoding: DeltaEncoding,
    body: Body,
    /// The bytes that the block says its cells take as plain cells.
    size: usize,
}

impl DeltaCells {
    /// Returns a cursor on the first cell.
    pub(crate) fn cursor(&self, layout: CellLayout) -> Result<DeltaCursor, What> {
        DeltaCursor::begin(self, layout)
    }

    /// Decodes all cells into plain cells, and returns where their rows start.
    ///
    /// The cursor checks each cell and compares its row with the one before, so that what is written
    /// here needs no second check.
    pub(crate) fn to_plain(
        &self,
        layout: CellLayout,
        buffers: &mut Buffers,
    ) -> Result<(PlainCells, RowStarts), What> {
        // The stated size is not proven yet; past this the vector grows with what is decoded.
        let likely_len = self.size.min(self.body.len().saturating_mul(8));
        let mut out = buffers.take_empty(likely_len);
        let mut cursor = self.cursor(layout)?;
        let mut starts = RowStarts::begin(likely_len);
        loop {
            plain::write_cell_with(&mut out, cursor.key(), &cursor.cell(self), layout);
            match cursor.step(self)? {
                Step::End => return Ok((PlainCells::new(out.into()), starts)),
                step => starts.pass(step == Step::NextRow, cursor.position())?,
            }
        }
    }

    pub(super) const fn encoding(&self) -> DeltaEncoding {
        self.encoding
    }

    /// The bytes that the block says its cells take as plain cells.
    pub(super) const fn plain_len(&self) -> usize {
        self.size
    }

    /// The whole body.
    #[inline]
    pub(super) const fn body(&self) -> &Body {
        &self.body
    }
}
