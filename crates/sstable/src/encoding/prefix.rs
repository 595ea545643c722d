//! `PREFIX`: leaves out what a key shares with the key before it.
//!
//! | bytes  | field                | meaning                                                      |
//! |-------:|----------------------|--------------------------------------------------------------|
//! |  1..5  | key length − `c`     | vint                                                         |
//! |  1..5  | value length         | vint                                                         |
//! |  1..5  | `c`                  | vint; bytes shared with the key before, 0 in the first cell  |
//! |        | the rest of the key  |                                                              |
//! |        | value                |                                                              |
//!
//! HBase: `PrefixKeyDeltaEncoder`.
#![cfg_attr(
    not(test),
    warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)
)]

use super::What;
use super::decoded::Output;
use super::delta::{Key, write_len};
use crate::CellRef;
use crate::input::Input;

/// Appends a cell up to its value.
pub(super) fn encode(out: &mut Vec<u8>, cell: &CellRef<'_>, key: &Key, previous: Option<&Key>) {
    let common = previous.map_or(0, |previous| key.common(previous, true));
    let rest = key.tail(common);
    write_len(out, rest.len());
    write_len(out, cell.value.len());
    write_len(out, common);
    out.extend_from_slice(rest);
    out.extend_from_slice(cell.value);
}

/// Reads a cell up to its value.
#[inline]
pub(super) fn decode(input: &mut Input<'_>, output: &mut Output) -> Result<(), What> {
    let rest_len = input.vint().ok_or("bad key length")?;
    let value_len = input.vint().ok_or("bad value length")?;
    let common = input.vint().ok_or("bad shared length")?;
    output.begin(common.saturating_add(rest_len), value_len)?;
    output.push_shared(common)?;
    output.push_key(input, rest_len)?;
    output.push_value(input.take(value_len))
}
