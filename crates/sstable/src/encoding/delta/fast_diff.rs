//! `FAST_DIFF`: like [`DIFF`](super::diff), but shares timestamp bytes and omits repeated values.
//!
//! The fields of a cell after the first:
//!
//! | bytes | field        | meaning                                                             |
//! |------:|--------------|---------------------------------------------------------------------|
//! |     1 | flags        | see the constants of this module                                    |
//! |  1..5 | key length   | vint; absent if flagged as equal to the previous cell's             |
//! |  1..5 | value length | vint; absent if flagged as equal                                    |
//! |  1..5 | `c`          | vint; length of the shared key prefix, up to the qualifier's end    |
//! |       | rest         | the key from `c` to the qualifier's end, without the family         |
//! |  1..8 | timestamp    | big-endian, without the leading bytes shared with the previous one  |
//! |     1 | type         | absent if flagged as equal                                          |
//! |       | value        | absent if flagged as equal                                          |
//!
//! In the first cell, flags and `c` are 0, and the whole flat key replaces rest, timestamp and
//! type. This key contains the family of the block, which is not stored elsewhere.
//!
//! HBase: `FastDiffDeltaEncoder`.

use cells::CellRef;

use super::cell_reader::{CellFlags, CellReader};
use super::cells::DeltaCells;
use super::current_cell::CurrentCell;
use super::encoder_key::{EncoderKey, write_len};
use super::fault::DeltaFault;
use crate::encoding::CursorMove;
use crate::input::Input;

/// The mask of the number of leading timestamp bytes that equal the bytes of the previous timestamp.
const SHARED_TIMESTAMP_LEN: u8 = 0x07;
const SAME_KEY_LEN: u8 = 0x08;
const SAME_VALUE_LEN: u8 = 0x10;
const SAME_TYPE: u8 = 0x20;
/// Set only together with [`SAME_VALUE_LEN`].
const SAME_VALUE: u8 = 0x40;
/// Encoders never set this bit.
const UNUSED: u8 = 0x80;

/// Appends the fields of a cell up to and including its value.
///
/// Sets `key.value_at` to the range of the value in `out`; for an omitted value, to the range of
/// the earlier equal value.
pub(in crate::encoding) fn encode(
    out: &mut Vec<u8>,
    cell: &CellRef<'_>,
    key: &mut EncoderKey,
    previous: Option<&EncoderKey>,
) {
    let Some(previous) = previous else {
        out.push(0);
        write_len(out, key.len());
        write_len(out, cell.value.len());
        write_len(out, 0);
        out.extend_from_slice(key.tail(0));
        push_value(out, cell, key);
        return;
    };
    let common = key.common_len(previous, false);
    let timestamp = key.timestamp.to_be_bytes();
    let shared = timestamp.iter().zip(previous.timestamp.to_be_bytes());
    let shared = shared.take(7).take_while(|(now, before)| **now == *before).count();

    let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
    let same_value_len = key.value_len == previous.value_len;
    let same_value =
        same_value_len && out.get(previous.value_at.clone()).is_some_and(|old| old == cell.value);
    let flags = u8::try_from(shared).expect("at most 7 of 8 bytes are shared")
        | flag(SAME_KEY_LEN, key.len() == previous.len())
        | flag(SAME_VALUE_LEN, same_value_len)
        | flag(SAME_TYPE, key.type_code == previous.type_code)
        | flag(SAME_VALUE, same_value);

    out.push(flags);
    if flags & SAME_KEY_LEN == 0 {
        write_len(out, key.len());
    }
    if flags & SAME_VALUE_LEN == 0 {
        write_len(out, cell.value.len());
    }
    write_len(out, common);
    key.write_rest(out, cell, common);
    out.extend(timestamp.iter().skip(shared));
    if flags & SAME_TYPE == 0 {
        out.push(key.type_code);
    }
    if same_value {
        key.value_at = previous.value_at.clone();
    } else {
        push_value(out, cell, key);
    }
}

fn push_value(out: &mut Vec<u8>, cell: &CellRef<'_>, key: &mut EncoderKey) {
    key.value_at = out.len()..out.len() + cell.value.len();
    out.extend_from_slice(cell.value);
}

/// Reads the next cell.
#[inline(never)]
pub(super) fn decode(
    current: &mut CurrentCell,
    cells: &DeltaCells,
) -> Result<CursorMove, DeltaFault> {
    let mut cell = CellReader::new(current, cells);
    let flags = Flags::read(&mut cell.input)?;
    cell.read_differences(flags)
}

/// Reads the first cell, which stores its whole key.
pub(super) fn decode_first(
    current: &mut CurrentCell,
    cells: &DeltaCells,
) -> Result<CursorMove, DeltaFault> {
    let mut cell = CellReader::new(current, cells);
    if Flags::read(&mut cell.input)?.0 != 0 {
        return Err(DeltaFault::FirstCellRefersBack);
    }
    let key_len = cell.input.vint().ok_or(DeltaFault::BadKeyLen)?;
    let value_len = cell.input.vint().ok_or(DeltaFault::BadValueLen)?;
    if cell.input.vint() != Some(0) {
        return Err(DeltaFault::FirstCellRefersBack);
    }
    let (step, time) = cell.read_key(key_len, 0)?;
    cell.set_block_family();
    let value = cell.read_value(value_len)?;
    cell.finish(key_len, time, value)?;
    Ok(step)
}

#[derive(Clone, Copy)]
struct Flags(u8);

impl Flags {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as the body")]
    fn read(input: &mut Input<'_>) -> Result<Self, DeltaFault> {
        let flags = input.u8().ok_or(DeltaFault::NoFlags)?;
        if flags & UNUSED != 0 {
            return Err(DeltaFault::UnknownFlags(flags));
        }
        Ok(Self(flags))
    }
}

impl CellFlags for Flags {
    fn same_key_len(self) -> bool {
        self.0 & SAME_KEY_LEN != 0
    }

    fn same_value_len(self) -> bool {
        self.0 & SAME_VALUE_LEN != 0
    }

    fn same_type(self) -> bool {
        self.0 & SAME_TYPE != 0
    }

    fn same_value(self) -> bool {
        self.0 & SAME_VALUE != 0
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as the body")]
    fn read_timestamp(self, input: &mut Input<'_>, previous: i64) -> Option<i64> {
        // At most 7, so that at least one byte is read, and the shift below is less than 64.
        let shared = self.0 & SHARED_TIMESTAMP_LEN;
        let bytes = input.up_to_eight(8 - usize::from(shared))?;
        let shared_bits = 8 * u32::from(shared);
        let own_mask = u64::MAX >> shared_bits;
        let own = u64::from_be_bytes(bytes) >> shared_bits;
        Some((previous.cast_unsigned() & !own_mask | own).cast_signed())
    }
}
