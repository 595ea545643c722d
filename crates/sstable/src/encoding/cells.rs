//! The cells of a data block as stored: plain or delta-encoded.
//!
//! | bytes | field          | meaning                                                            |
//! |------:|----------------|--------------------------------------------------------------------|
//! |     2 | encoding id    | u16 BE; absent in blocks without an encoding                       |
//! |     4 | unencoded size | i32 BE; the size as plain cells; only in delta-encoded blocks      |
//! |       | payload        | see the module of the encoding                                     |
//!
//! The delta encodings are `PREFIX`, `DIFF` and `FAST_DIFF`. In these, two more fields follow each
//! value, in files that have them: the tags (a vint length, then the tags or
//! [references](super::tag_dictionary) to them) and the sequence id (an hvlong).

use super::delta::{DeltaCells, DeltaEncoding};
use super::{DamageReason, DataBlockEncoding, PlainCells, row_index_v1};
use crate::buffers::Body;
use crate::input::Input;

/// The length of the encoding id, in bytes.
pub(super) const ID_LEN: usize = 2;

/// The cells of a data block: plain, or delta-encoded and not yet decoded.
#[derive(Debug)]
pub(crate) enum Cells {
    Plain(PlainCells),
    Delta(DeltaCells),
}

impl Cells {
    /// Opens the body of a data block.
    ///
    /// Fails if a delta-encoded block states an unencoded size of more than `size_max` bytes. Does
    /// not check the cells; cursors do.
    pub(crate) fn open(
        encoding: DataBlockEncoding,
        body: Body,
        size_max: usize,
    ) -> Result<Self, DamageReason> {
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
                let (cells, rows) = row_index_v1::decode(input.rest(), ID_LEN)?;
                return Ok(Self::Plain(PlainCells::with_rows(body, cells, rows)));
            }
            DataBlockEncoding::Prefix => DeltaEncoding::Prefix,
            DataBlockEncoding::Diff => DeltaEncoding::Diff,
            DataBlockEncoding::FastDiff => DeltaEncoding::FastDiff,
        };
        let size = input.len_i32().ok_or("bad unencoded size")?;
        if size > size_max {
            return Err(format!("{size} bytes of cells exceed the limit of {size_max}").into());
        }
        Ok(Self::Delta(DeltaCells::new(delta, body, size)))
    }

    /// Returns the size in memory, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.bytes(),
            Self::Delta(delta) => delta.body().buffer_len(),
        }
    }

    /// Returns the size of all cells in plain form; for delta-encoded cells, the size stated.
    pub(crate) const fn plain_len(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.body().len(),
            Self::Delta(delta) => delta.plain_len(),
        }
    }

    /// Returns the underlying buffer, for reuse.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        match self {
            Self::Plain(plain) => plain.into_buffer(),
            Self::Delta(delta) => delta.into_buffer(),
        }
    }
}
