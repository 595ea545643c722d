//! `PREFIX`, `DIFF` and `FAST_DIFF`: cells as differences from the cell before.
//!
//! ```text
//! block  [flags|lengths|rest of key|value][flags|lengths|rest of key|value] …
//!                            │        └── borrowed from the block
//! key    row…family…qualifier…time type     one buffer: what the next key shares stays in it
//!        ├─ shared ─┤└── read, in the encoding's own order, into the same buffer
//! ```
//!
//! A [cursor](cursor) decodes cell by cell. Each encoding has one decoder, which knows the order of the
//! parts and which of them are left out; a [cell reader](cell_reader) reads and checks each part. Nothing
//! is believed: the cells must come to the size that the block states, and every reference is checked
//! against the cell before. A decoder only names what is [wrong](wrong); a cold function makes the sentence.
#![allow(clippy::arithmetic_side_effects, reason = "lengths of at most 32 bits, added in 64")]

mod cell_reader;
mod cells;
mod current_cell;
mod cursor;
mod diff;
mod fast_diff;
mod key_buffer;
mod prefix;
mod row;
mod written_key;
mod wrong;

pub(crate) use cells::DeltaCells;
pub(super) use cells::{DELTA_HEADER_LEN, DeltaEncoding};
pub(crate) use cursor::{DeltaCursor, decode_delta};
pub(super) use prefix::encode as encode_prefix;
pub(super) use written_key::{Key, write_len};
pub(super) use {diff::encode as encode_diff, fast_diff::encode as encode_fast_diff};

#[cfg(test)]
mod tests;
