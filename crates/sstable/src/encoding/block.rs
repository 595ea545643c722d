//! A data block's body: made from cells, and the cells in it again.
//!
//! | bytes | field          | meaning                                                            |
//! |------:|----------------|--------------------------------------------------------------------|
//! |     2 | encoding id    | u16 BE; blocks without an encoding lack it                         |
//! |     4 | unencoded size | i32 BE; only `PREFIX`, `DIFF`, `FAST_DIFF`: bytes as plain cells   |
//! |       | payload        | see the module of the encoding                                     |
//!
//! Behind the value of each cell, `PREFIX`, `DIFF` and `FAST_DIFF` put the tags as a vint of their
//! length and either themselves or [references](super::tag_dictionary), then the sequence id as an
//! hvlong; each only in files that have it.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use super::delta::{Key, write_len};
use super::{
    DataBlockEncoding, DeltaWalk, diff, fast_diff, plain, prefix, row_index, tag_dictionary,
};
use crate::block::body::{Body, Buffers};
use crate::block::searchable::RowStarts;
use crate::block::walk::Step;
use crate::input::{Input, write_hvlong};
use crate::{CellRef, Comparator};

/// What is wrong with some bytes; who knows where they stand makes it a [`Damage`](crate::Damage).
pub(crate) type What = Cow<'static, str>;

/// What the cells of a file carry beside key and value.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct CellLayout {
    /// Each cell has tags, if only none.
    pub(crate) tags: bool,
    /// Each cell has a sequence id.
    pub(crate) mvcc: bool,
    /// `PREFIX`, `DIFF` and `FAST_DIFF` keep tags in a dictionary.
    pub(crate) compressed_tags: bool,
    /// The order of rows.
    pub(crate) order: Comparator,
}

/// Bytes in front of the payload that the delta encodings need.
const ID_LEN: usize = 2;
pub(super) const DELTA_PREFIX_LEN: usize = 6;

/// Makes the body of one data block after another.
#[derive(Debug)]
pub(crate) struct BlockEncoder {
    encoding: DataBlockEncoding,
    layout: CellLayout,
    body: Vec<u8>,
    cell_count: u64,
    encoded_len: usize,
    unencoded_len: usize,
    current: Key,
    previous: Key,
    row_index: row_index::Encoder,
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
            current: Key::default(),
            previous: Key::default(),
            row_index: row_index::Encoder::default(),
            tags: tag_dictionary::Encoder::default(),
        };
        encoder.clear();
        encoder
    }

    /// Appends a cell, whose lengths the writer has checked.
    pub(crate) fn append(&mut self, cell: &CellRef<'_>) {
        let before = self.body.len();
        let mut behind = 0;
        match self.encoding {
            DataBlockEncoding::None => plain::write_cell(&mut self.body, cell, self.layout),
            DataBlockEncoding::RowIndexV1 => {
                behind = self.row_index.append(&mut self.body, ID_LEN, cell, self.layout);
            }
            DataBlockEncoding::Prefix | DataBlockEncoding::Diff | DataBlockEncoding::FastDiff => {
                self.append_delta(cell);
            }
        }
        let added = self.body.len().saturating_sub(before).saturating_add(behind);
        self.encoded_len = self.encoded_len.saturating_add(added);
        self.unencoded_len = self.unencoded_len.saturating_add(plain::cell_len(cell, self.layout));
        self.cell_count = self.cell_count.saturating_add(1);
    }

    fn append_delta(&mut self, cell: &CellRef<'_>) {
        self.current.set(cell);
        let (out, key) = (&mut self.body, &mut self.current);
        let previous = (self.cell_count > 0).then_some(&self.previous);
        match self.encoding {
            DataBlockEncoding::Prefix => prefix::encode(out, cell, key, previous),
            DataBlockEncoding::Diff => diff::encode(out, cell, key, previous),
            _ => fast_diff::encode(out, cell, key, previous),
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

    /// Bytes that the cells take in the block, as HBase counts them when it decides to cut.
    pub(crate) const fn encoded_len(&self) -> usize {
        self.encoded_len
    }

    /// Bytes that the cells take as plain cells.
    pub(crate) const fn unencoded_len(&self) -> usize {
        self.unencoded_len
    }

    /// Completes the body; [`clear`](Self::clear) begins the next.
    pub(crate) fn finish(&mut self) -> &[u8] {
        match self.encoding {
            DataBlockEncoding::None => {}
            DataBlockEncoding::RowIndexV1 => self.row_index.finish(&mut self.body, ID_LEN),
            DataBlockEncoding::Prefix | DataBlockEncoding::Diff | DataBlockEncoding::FastDiff => {
                let size = i32::try_from(self.unencoded_len);
                let size = size.expect("the writer cuts blocks long before 2 GiB").to_be_bytes();
                if let Some(place) = self.body.get_mut(ID_LEN..DELTA_PREFIX_LEN) {
                    place.copy_from_slice(&size);
                }
            }
        }
        &self.body
    }

    /// Begins a block.
    pub(crate) fn clear(&mut self) {
        self.body.clear();
        if self.encoding != DataBlockEncoding::None {
            self.body.extend_from_slice(&self.encoding.id().to_be_bytes());
        }
        if self.is_delta() {
            self.body.resize(DELTA_PREFIX_LEN, 0);
        }
        self.cell_count = 0;
        self.encoded_len = 0;
        self.unencoded_len = 0;
        self.tags.clear();
    }

    const fn is_delta(&self) -> bool {
        !matches!(self.encoding, DataBlockEncoding::None | DataBlockEncoding::RowIndexV1)
    }
}

/// A data block's plain cells, and what else the block said of them.
#[derive(Debug)]
pub(crate) struct Decoded {
    cells: Body,
    /// Where in the buffer beneath stands where each row's first cell starts, u32 BE each, if the
    /// encoding tells.
    rows: Option<Range<usize>>,
}

impl Decoded {
    /// Plain cells and nothing else.
    pub(super) const fn plain(cells: Body) -> Self {
        Self { cells, rows: None }
    }

    /// Plain cells and where their rows start: two parts of a body.
    fn with_rows(body: Body, cells: Range<usize>, rows: Range<usize>) -> Self {
        let (buffer, all) = body.into_parts();
        let [cells, rows] = [cells, rows]
            .map(|part| all.start.saturating_add(part.start)..all.start.saturating_add(part.end));
        Self { cells: Body::new(buffer, cells), rows: Some(rows) }
    }

    /// The plain cells.
    #[inline]
    pub(crate) const fn cells(&self) -> &Body {
        &self.cells
    }

    /// Holds the block's own row index, if it has one, against the `index`th row that its cells
    /// have, which starts at `at`.
    #[inline]
    pub(crate) fn check_row(&self, index: usize, at: usize) -> Result<(), What> {
        let Some(rows) = self.rows() else { return Ok(()) };
        let stored = rows.get(index).map(|offset| u32::from_be_bytes(*offset));
        if stored.is_some_and(|stored| usize::try_from(stored) == Ok(at)) {
            Ok(())
        } else {
            Err(ROWS_CONTRADICT.into())
        }
    }

    /// The same for the number of rows.
    pub(crate) fn check_row_count(&self, count: usize) -> Result<(), What> {
        match self.rows() {
            Some(rows) if rows.len() != count => Err(ROWS_CONTRADICT.into()),
            _ => Ok(()),
        }
    }

    fn rows(&self) -> Option<&[[u8; 4]]> {
        let rows = self.cells.buffer().get(self.rows.clone()?).unwrap_or_default();
        Some(rows.as_chunks().0)
    }

    /// Bytes that it takes in memory.
    pub(crate) const fn bytes(&self) -> usize {
        self.cells.buffer_len()
    }

    /// The buffer beneath, for another block.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.cells.into_buffer()
    }
}

const ROWS_CONTRADICT: &str = "the row index contradicts the rows";

/// The cells of a data block as it is stored.
#[derive(Debug)]
pub(crate) enum Cells {
    /// Plain ones.
    Plain(Decoded),
    /// Differences, which a walk undoes.
    Deltas(Deltas),
}

/// Takes the body of a data block, whose cells take at most `size_max` bytes as plain ones.
///
/// The cells are still to be checked, by who [walks](crate::block::walk) them.
pub(crate) fn open(
    encoding: DataBlockEncoding,
    body: Body,
    size_max: usize,
) -> Result<Cells, What> {
    if encoding == DataBlockEncoding::None {
        return Ok(Cells::Plain(Decoded::plain(body)));
    }
    let mut input = Input::new(&body);
    let id = input.u16().ok_or("no encoding id")?;
    if id != encoding.id() {
        return Err(format!("encoding id {id} in a file of {encoding}").into());
    }
    if encoding == DataBlockEncoding::RowIndexV1 {
        let (cells, rows) = row_index::decode(input.rest(), ID_LEN)?;
        return Ok(Cells::Plain(Decoded::with_rows(body, cells, rows)));
    }
    let size = input.len_i32().ok_or("bad unencoded size")?;
    if size > size_max {
        return Err(format!("{size} bytes of cells where {size_max} are allowed").into());
    }
    Ok(Cells::Deltas(Deltas { encoding, body, size }))
}

/// The body of a `PREFIX`, `DIFF` or `FAST_DIFF` block.
#[derive(Debug)]
pub(crate) struct Deltas {
    pub(super) encoding: DataBlockEncoding,
    body: Body,
    /// The bytes that the block says its cells take as plain cells.
    pub(super) size: usize,
}

impl Deltas {
    /// Begins a walk on the first cell.
    pub(crate) fn walk(&self, layout: CellLayout) -> Result<DeltaWalk, What> {
        DeltaWalk::begin(self, layout)
    }

    /// Turns all cells into plain ones, and says where their rows start.
    ///
    /// The walk checks each cell and holds its row against the one before; what is written of it
    /// here need not be read and checked once more.
    pub(crate) fn to_plain(
        &self,
        layout: CellLayout,
        buffers: &mut Buffers,
    ) -> Result<(Decoded, RowStarts), What> {
        // What is stated is not yet proven; past this the vector grows with what is decoded.
        let likely_len = self.size.min(self.body.len().saturating_mul(8));
        let mut out = buffers.take_empty(likely_len);
        let mut walk = self.walk(layout)?;
        let mut starts = RowStarts::begin(likely_len);
        loop {
            if let Some(cell) = walk.cell(self) {
                plain::write_cell_with(&mut out, walk.key(), &cell, layout);
            }
            match walk.step(self)? {
                Step::End => return Ok((Decoded::plain(out.into()), starts)),
                step => starts.pass(step == Step::NextRow, walk.position())?,
            }
        }
    }

    /// The bytes of all cells as plain ones, as the block has it.
    pub(crate) const fn plain_len(&self) -> usize {
        self.size
    }

    /// All of the body.
    #[inline]
    pub(super) const fn body(&self) -> &Body {
        &self.body
    }

    /// Bytes that it takes in memory.
    pub(crate) const fn bytes(&self) -> usize {
        self.body.buffer_len()
    }

    /// The buffer beneath, for another block.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.body.into_buffer()
    }
}

#[cfg(test)]
mod tests;
