//! `DIFF`: lengths, types and timestamps, too, as differences from the cell before.
//!
//! In front of the first cell of a block: u8 family length, family. Then each cell:
//!
//! | bytes | field        | meaning                                                             |
//! |------:|--------------|---------------------------------------------------------------------|
//! |     1 | flags        | below                                                               |
//! |  1..5 | key length   | vint; left out if flagged as the same                               |
//! |  1..5 | value length | vint; left out if flagged as the same                               |
//! |  1..5 | `c`          | vint; bytes of the key shared up to the qualifier's end             |
//! |       | rest         | the key from `c` to the qualifier's end, without the family         |
//! |  1..8 | timestamp    | little-endian: its absolute value, or that of (previous − it)       |
//! |     1 | type         | left out if flagged as the same                                     |
//! |       | value        |                                                                     |
//!
//! HBase: `DiffKeyDeltaEncoder`.

use super::cell_reader::{CellFlags, CellReader};
use super::cells::DeltaCells;
use super::current_cell::CurrentCell;
use super::written_key::{Key, write_len};
use super::wrong::DeltaFault;
use crate::CellRef;
use crate::encoding::{DamageReason, Step};
use crate::input::Input;

const SAME_KEY_LEN: u8 = 0x01;
const SAME_VALUE_LEN: u8 = 0x02;
const SAME_TYPE: u8 = 0x04;
/// The timestamp field holds a difference.
const TIMESTAMP_DIFFERENCE: u8 = 0x08;
/// The timestamp field's bytes less one.
const TIMESTAMP_LEN: u8 = 0x70;
const TIMESTAMP_LEN_SHIFT: u32 = 4;
/// The timestamp field holds the absolute value of a negative number.
const TIMESTAMP_NEGATIVE: u8 = 0x80;

/// Appends a cell up to its value.
pub(in crate::encoding) fn encode(
    out: &mut Vec<u8>,
    cell: &CellRef<'_>,
    key: &Key,
    previous: Option<&Key>,
) {
    let timestamp = cell.timestamp.get();
    let mut stored = TimestampField::new(timestamp, 0);
    let mut common = 0;
    match previous {
        None => {
            out.push(u8::try_from(cell.family.len()).expect("lengths of families are checked"));
            out.extend_from_slice(cell.family);
        }
        Some(previous) => {
            common = key.common(previous, false);
            let difference = previous.timestamp.wrapping_sub(timestamp);
            let difference = TimestampField::new(difference, TIMESTAMP_DIFFERENCE);
            if difference.len < stored.len {
                stored = difference;
            }
        }
    }
    let same = |flag: u8, of: fn(&Key) -> usize| {
        if previous.is_some_and(|previous| of(previous) == of(key)) { flag } else { 0 }
    };
    let flags = stored.flags
        | same(SAME_KEY_LEN, Key::len)
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

/// A timestamp, or a difference of two, as it is stored.
struct TimestampField {
    flags: u8,
    /// Little-endian.
    bytes: [u8; 8],
    /// The bytes that are stored, 1 ..= 8.
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

/// Reads the family in front of the first cell.
pub(super) fn decode_family<'a>(input: &mut Input<'a>) -> Result<&'a [u8], DamageReason> {
    let len = input.u8().ok_or("no family length")?;
    let family = i8::try_from(len).ok().and_then(|_| input.take(len.into()));
    Ok(family.ok_or("the family goes past the block")?)
}

/// Reads the next cell.
#[inline(never)]
pub(super) fn decode(before: &mut CurrentCell, cells: &DeltaCells) -> Result<Step, DeltaFault> {
    let mut cell = CellReader::new(before, cells);
    let flags = Flags(cell.input.u8().ok_or(DeltaFault::NoFlags)?);
    cell.read_differences(flags)
}

/// Reads the first cell, which must not take anything from one before it.
pub(super) fn decode_first(
    before: &mut CurrentCell,
    cells: &DeltaCells,
) -> Result<Step, DeltaFault> {
    let flags = CellReader::new(before, cells).input.u8().ok_or(DeltaFault::NoFlags)?;
    if flags & (SAME_KEY_LEN | SAME_VALUE_LEN | SAME_TYPE | TIMESTAMP_DIFFERENCE) != 0 {
        return Err(DeltaFault::RefersBack);
    }
    decode(before, cells)
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
    #[expect(clippy::inline_always, reason = "a call costs as much as what it does")]
    fn read_timestamp(self, input: &mut Input<'_>, previous: i64) -> Option<i64> {
        // 1 to 8.
        let len = ((self.0 & TIMESTAMP_LEN) >> TIMESTAMP_LEN_SHIFT) + 1;
        let bytes = input.up_to_eight(len.into())?;
        let mask = u64::MAX >> (64 - 8 * u32::from(len));
        let mut value = (u64::from_le_bytes(bytes) & mask).cast_signed();
        // Both wrap in the format, as Java's numbers do: times may be further apart than an i64 holds.
        if self.0 & TIMESTAMP_NEGATIVE != 0 {
            value = value.wrapping_neg();
        }
        let is_difference = self.0 & TIMESTAMP_DIFFERENCE != 0;
        Some(if is_difference { previous.wrapping_sub(value) } else { value })
    }
}
