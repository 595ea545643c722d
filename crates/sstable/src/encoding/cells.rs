//! The cells of a data block as stored: plain or delta-encoded.
//!
//! | bytes | field          | meaning                                                            |
//! |------:|----------------|--------------------------------------------------------------------|
//! |     2 | encoding id    | u16 BE; absent in blocks without an encoding                       |
//! |     4 | unencoded size | i32 BE; only `PREFIX`, `DIFF`, `FAST_DIFF`: bytes as plain cells   |
//! |       | payload        | see the module of the encoding                                     |
//!
//! In `PREFIX`, `DIFF` and `FAST_DIFF`, each value is followed by the tags (a vint length, then the
//! tags or [references](super::tag_dictionary) to them) and the sequence id (an hvlong); each only
//! in files that have the field.

use super::delta::{DeltaCells, DeltaEncoding};
use super::{DamageReason, DataBlockEncoding, PlainCells, row_index};
use crate::buffers::Body;
use crate::input::Input;

/// Bytes of the encoding id.
pub(super) const ID_LEN: usize = 2;

/// The cells of a data block as stored.
#[derive(Debug)]
pub(crate) enum Cells {
    Plain(PlainCells),
    Delta(DeltaCells),
}

impl Cells {
    /// Takes the body of a data block whose plain form may have at most `size_max` bytes.
    ///
    /// Does not check the cells; cursors do.
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
            return Err(format!("{size} bytes of cells exceed the limit of {size_max}").into());
        }
        Ok(Self::Delta(DeltaCells::new(delta, body, size)))
    }

    /// The size in memory, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        match self {
            Self::Plain(plain) => plain.bytes(),
            Self::Delta(delta) => delta.body().buffer_len(),
        }
    }

    /// Bytes of all cells in plain form; for delta-encoded cells, as stated by the block.
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
