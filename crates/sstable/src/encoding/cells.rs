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

use super::delta::{DeltaCells, DeltaEncoding};
use super::{DamageReason, DataBlockEncoding, PlainCells, row_index};
use crate::buffers::Body;
use crate::input::Input;

/// Bytes of the encoding id.
pub(super) const ID_LEN: usize = 2;

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
        Ok(Self::Delta(DeltaCells::new(delta, body, size)))
    }

    /// Bytes that they take in memory.
    pub(crate) const fn bytes(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.bytes(),
            Self::Delta(delta) => delta.body().buffer_len(),
        }
    }

    /// Bytes of all cells as plain cells; of delta-encoded ones, as the block states.
    pub(crate) const fn plain_len(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.body().len(),
            Self::Delta(delta) => delta.plain_len(),
        }
    }

    /// The buffer beneath, for another block.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        match self {
            Self::Plain(plain) => plain.into_buffer(),
            Self::Delta(delta) => delta.into_buffer(),
        }
    }
}
