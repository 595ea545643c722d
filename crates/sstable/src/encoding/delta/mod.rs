//! `PREFIX`, `DIFF` and `FAST_DIFF`: cells encoded relative to the previous cell.
//!
//! ```text
//! block  [flags|lengths|rest of key|value][flags|lengths|rest of key|value] …
//!                            │        └── borrowed from the block
//! key    row…family…qualifier…time type     one buffer; the prefix shared with the next key stays
//!        ├─ shared ─┤└── decoded into the same buffer
//! ```
//!
//! A [cursor](cursor) decodes cell by cell. Each encoding has one decoder, which knows the order of
//! the fields and which fields are omitted; a [cell reader](cell_reader) reads and checks each
//! field. Input is not trusted: the total size must match the size stated by the block, and every
//! reference is checked against the previous cell. A decoder returns a [fault](fault); a cold
//! function makes the message.

#[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
mod cell_reader;
mod cells;
mod current_cell;
mod cursor;
mod diff;
#[allow(clippy::indexing_slicing, reason = "the parts of a key are within it")]
mod encoder_key;
mod fast_diff;
mod fault;
#[allow(clippy::indexing_slicing, reason = "the parts are within the buffer, which grows first")]
mod key_buffer;
mod prefix;
mod row;

pub(crate) use cells::DeltaCells;
pub(super) use cells::{DELTA_HEADER_LEN, DeltaEncoding};
pub(crate) use cursor::{DeltaCursor, decode_delta};
pub(super) use encoder_key::{EncoderKey, write_len};
pub(super) use prefix::encode as encode_prefix;
pub(super) use {diff::encode as encode_diff, fast_diff::encode as encode_fast_diff};

#[cfg(test)]
mod tests;
