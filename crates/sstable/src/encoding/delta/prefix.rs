//! `PREFIX`: omits the prefix that a key shares with the previous key.
//!
//! | bytes  | field                | meaning                                                      |
//! |-------:|----------------------|--------------------------------------------------------------|
//! |  1..5  | key length − `c`     | vint                                                         |
//! |  1..5  | value length         | vint                                                         |
//! |  1..5  | `c`                  | vint; bytes shared with the previous key, 0 in the first cell|
//! |        | the rest of the key  |                                                              |
//! |        | value                |                                                              |
//!
//! HBase: `PrefixKeyDeltaEncoder`.

use cells::CellRef;

use super::cell_reader::CellReader;
use super::cells::DeltaCells;
use super::current_cell::CurrentCell;
use super::encoder_key::{EncoderKey, write_len};
use super::fault::DeltaFault;
use crate::encoding::CursorMove;

/// Appends a cell up to its value.
pub(in crate::encoding) fn encode(
    out: &mut Vec<u8>,
    cell: &CellRef<'_>,
    key: &EncoderKey,
    previous: Option<&EncoderKey>,
) {
    let common = previous.map_or(0, |previous| key.common_len(previous, true));
    let rest = key.tail(common);
    write_len(out, rest.len());
    write_len(out, cell.value.len());
    write_len(out, common);
    out.extend_from_slice(rest);
    out.extend_from_slice(cell.value);
}

/// Reads the next cell, which may be the first.
#[inline(never)]
pub(super) fn decode(
    current: &mut CurrentCell,
    cells: &DeltaCells,
) -> Result<CursorMove, DeltaFault> {
    let mut cell = CellReader::new(current, cells);
    let own_len = cell.input.vint().ok_or(DeltaFault::BadKeyLen)?;
    let value_len = cell.input.vint().ok_or(DeltaFault::BadValueLen)?;
    let common = cell.input.vint().ok_or(DeltaFault::BadSharedLen)?;
    // Cannot overflow: each is at most `i32::MAX`.
    let key_len = common + own_len;
    let (step, time) = cell.read_key(key_len, common)?;
    let value = cell.read_value(value_len)?;
    cell.finish(key_len, time, value)?;
    Ok(step)
}
