//! `DIFF`: like [`PREFIX`](super::prefix), with delta-encoded lengths, types and timestamps too.
//!
//! The payload of a block starts with the family: a u8 length and its bytes. The fields of a cell:
//!
//! | bytes | field        | meaning                                                             |
//! |------:|--------------|---------------------------------------------------------------------|
//! |     1 | flags        | see the constants of this module                                    |
//! |  1..5 | key length   | vint; absent if flagged as equal to the previous cell's             |
//! |  1..5 | value length | vint; absent if flagged as equal                                    |
//! |  1..5 | `c`          | vint; length of the shared key prefix, up to the qualifier's end    |
//! |       | rest         | the key from `c` to the qualifier's end, without the family         |
//! |  1..8 | timestamp    | little-endian; magnitude of timestamp or (previous − timestamp)     |
//! |     1 | type         | absent if flagged as equal                                          |
//! |       | value        |                                                                     |
//!
//! HBase: `DiffKeyDeltaEncoder`.

use cells::CellRef;

use super::cell_reader::{CellFlags, CellReader};
use super::cells::DeltaCells;
use super::current_cell::CurrentCell;
use super::encoder_key::{EncoderKey, write_len};
use super::fault::DeltaFault;
use crate::encoding::{CursorMove, DamageReason};
use crate::input::Input;

const SAME_KEY_LEN: u8 = 0x01;
const SAME_VALUE_LEN: u8 = 0x02;
const SAME_TYPE: u8 = 0x04;
/// The timestamp field holds the previous timestamp minus the timestamp.
const TIMESTAMP_DIFFERENCE: u8 = 0x08;
/// The mask of the timestamp field's length, stored minus one.
const TIMESTAMP_LEN: u8 = 0x70;
const TIMESTAMP_LEN_SHIFT: u32 = 4;
/// The number in the timestamp field is negative.
const TIMESTAMP_NEGATIVE: u8 = 0x80;

/// Appends the fields of a cell up to and including its value.
pub(in crate::encoding) fn encode(
    out: &mut Vec<u8>,
    cell: &CellRef<'_>,
    key: &EncoderKey,
    previous: Option<&EncoderKey>,
) {
    let timestamp = cell.timestamp.get();
    let mut stored = TimestampField::new(timestamp, 0);
    let mut common = 0;
    match previous {
        None => {
            out.push(
                u8::try_from(cell.family.len()).expect("the writer has checked the family length"),
            );
            out.extend_from_slice(cell.family);
        }
        Some(previous) => {
            common = key.common_len(previous, false);
            let difference = previous.timestamp.wrapping_sub(timestamp);
            let difference = TimestampField::new(difference, TIMESTAMP_DIFFERENCE);
            if difference.len < stored.len {
                stored = difference;
            }
        }
    }
    let same = |flag: u8, of: fn(&EncoderKey) -> usize| {
        if previous.is_some_and(|previous| of(previous) == of(key)) { flag } else { 0 }
    };
    let flags = stored.flags
        | same(SAME_KEY_LEN, EncoderKey::len)
        | same(SAME_VALUE_LEN, |key| key.value_len)
        | same(SAME_TYPE, |key| key.type_code.into());

    out.push(flags);
    if flags & SAME_KEY_LEN == 0 {
        write_len(out, key.len());
    }
    if flags & SAME_VALUE_LEN == 0 {
        write_len(out, cell.value.len());
    }
    write_len(out, common);
    key.write_rest(out, cell, common);
    out.extend(stored.bytes.iter().take(stored.len));
    if flags & SAME_TYPE == 0 {
        out.push(key.type_code);
    }
    out.extend_from_slice(cell.value);
}

/// An encoded timestamp or timestamp difference.
struct TimestampField {
    flags: u8,
    /// Little-endian.
    bytes: [u8; 8],
    /// The number of bytes to store, 1 ..= 8; the others are zero.
    len: usize,
}

impl TimestampField {
    fn new(value: i64, flags: u8) -> Self {
        let sign = if value < 0 { TIMESTAMP_NEGATIVE } else { 0 };
        let bytes = value.unsigned_abs().to_le_bytes();
        let zeros = bytes.iter().skip(1).rev().take_while(|byte| **byte == 0).count();
        let len = bytes.len() - zeros;
        let len_bits = u8::try_from(len - 1).expect("at most 8 bytes") << TIMESTAMP_LEN_SHIFT;
        Self { flags: flags | sign | len_bits, bytes, len }
    }
}

/// Reads the family of the block, which is stored before the first cell.
pub(super) fn decode_family<'a>(input: &mut Input<'a>) -> Result<&'a [u8], DamageReason> {
    let len = input.u8().ok_or("no family length")?;
    let family = i8::try_from(len).ok().and_then(|_| input.take(len.into()));
    Ok(family.ok_or("the family exceeds the block")?)
}

/// Reads the next cell.
#[inline(never)]
pub(super) fn decode(
    current: &mut CurrentCell,
    cells: &DeltaCells,
) -> Result<CursorMove, DeltaFault> {
    let mut cell = CellReader::new(current, cells);
    let flags = Flags(cell.input.u8().ok_or(DeltaFault::NoFlags)?);
    cell.read_differences(flags)
}

/// Reads the first cell, which must not refer to a previous cell.
pub(super) fn decode_first(
    current: &mut CurrentCell,
    cells: &DeltaCells,
) -> Result<CursorMove, DeltaFault> {
    let flags = CellReader::new(current, cells).input.u8().ok_or(DeltaFault::NoFlags)?;
    if flags & (SAME_KEY_LEN | SAME_VALUE_LEN | SAME_TYPE | TIMESTAMP_DIFFERENCE) != 0 {
        return Err(DeltaFault::FirstCellRefersBack);
    }
    decode(current, cells)
}

#[derive(Clone, Copy)]
struct Flags(u8);

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
        false
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs as much as the body")]
    fn read_timestamp(self, input: &mut Input<'_>, previous: i64) -> Option<i64> {
        // 1 to 8. The bytes after these in the array are arbitrary, and are masked.
        let len = ((self.0 & TIMESTAMP_LEN) >> TIMESTAMP_LEN_SHIFT) + 1;
        let bytes = input.up_to_eight(len.into())?;
        let mask = u64::MAX >> (64 - 8 * u32::from(len));
        let mut value = (u64::from_le_bytes(bytes) & mask).cast_signed();
        // Both operations wrap, as in Java: a difference of timestamps can overflow an i64.
        if self.0 & TIMESTAMP_NEGATIVE != 0 {
            value = value.wrapping_neg();
        }
        let is_difference = self.0 & TIMESTAMP_DIFFERENCE != 0;
        Some(if is_difference { previous.wrapping_sub(value) } else { value })
    }
}
