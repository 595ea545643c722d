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

use super::delta::{Key, write_len};
use super::delta_walk::{CellInput, DeltaCursor, Lengths};
use super::{DeltaCells, Step, What};
use crate::CellRef;

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
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
pub(super) fn decode(cell: &mut CellInput<'_, '_>) -> Result<(), What> {
    let Lengths { key_len, value_len, common } = read_lengths(cell)?;
    cell.begin(key_len, value_len)?;
    cell.read_key(key_len, common)?;
    cell.read_value(value_len)
}

/// The same for a usual cell.
#[inline(never)]
pub(super) fn decode_usual(walk: &mut DeltaCursor, deltas: &DeltaCells) -> Option<Step> {
    let mut cell = CellInput::usual(walk, deltas)?;
    let Lengths { key_len, value_len, common } = read_lengths(&mut cell).ok()?;
    let (step, time) = cell.take_key(key_len, common)?;
    let value = cell.take_value(value_len)?;
    cell.become_usual(key_len, time, value)?;
    Some(step)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
fn read_lengths(cell: &mut CellInput<'_, '_>) -> Result<Lengths, What> {
    let own_len = cell.input.vint().ok_or("bad key length")?;
    let value_len = cell.input.vint().ok_or("bad value length")?;
    let common = cell.input.vint().ok_or("bad shared length")?;
    Ok(Lengths { key_len: common.saturating_add(own_len), value_len, common })
}
