//! Reads and checks one delta-encoded cell, field by field. The cell replaces the previous cell.
//!
//! The functions that read a field are inlined into the decoders. Rare cases are in functions that
//! are not inlined: the first cell, a row of another length than the previous row, tags, damage.
//!
//! In names here, "own" bytes are stored in the cell itself, in contrast to shared ones; the
//! "columns" of a key are row, family and qualifier; its "time" is timestamp and type.

use std::ops::Range;

use cells::{CellType, KeyRef, SequenceId};

use super::cells::DeltaCells;
use super::current_cell::CurrentCell;
use super::fault::DeltaFault;
use crate::encoding::plain::{self, LENGTHS_LEN, TAGS_LEN_MAX, TIME_LEN};
use crate::encoding::{CursorMove, DamageReason};
use crate::input::{Input, hvlong_len};

/// A reader of one cell from the body of a block; it overwrites the previous cell in `current`.
pub(super) struct CellReader<'c, 'b> {
    current: &'c mut CurrentCell,
    pub(super) input: Input<'b>,
    body_len: usize,
}

/// The lengths at the start of a cell.
pub(super) struct Lengths {
    pub(super) key_len: usize,
    pub(super) value_len: usize,
    /// Length of the prefix that the key shares with the previous key.
    pub(super) common: usize,
}

/// Timestamp and type of a cell, both checked.
#[derive(Clone, Copy)]
pub(super) struct Time {
    timestamp: i64,
    cell_type: CellType,
}

impl Time {
    #[inline(always)]
    fn new(timestamp: i64, type_code: u8) -> Result<Self, DeltaFault> {
        let cell_type = CellType::from_code(type_code).ok_or(DeltaFault::UnknownType(type_code))?;
        if timestamp < 0 {
            return Err(DeltaFault::NegativeTimestamp);
        }
        Ok(Self { timestamp, cell_type })
    }
}

/// The flags of a `DIFF` or `FAST_DIFF` cell: which fields equal the fields of the previous cell.
pub(super) trait CellFlags: Copy {
    fn same_key_len(self) -> bool;
    fn same_value_len(self) -> bool;
    fn same_type(self) -> bool;
    fn same_value(self) -> bool;

    /// Reads the timestamp, which may be encoded relative to the `previous` timestamp.
    fn read_timestamp(self, input: &mut Input<'_>, previous: i64) -> Option<i64>;
}

impl<'c, 'b> CellReader<'c, 'b> {
    /// Creates a reader that starts after the previous cell, `current`.
    #[inline(always)]
    pub(super) fn new(current: &'c mut CurrentCell, cells: &'b DeltaCells) -> Self {
        let body = cells.body();
        let input = Input::new(body.tail(current.next_at));
        Self { current, input, body_len: body.len() }
    }

    /// Reads the rest of a `DIFF` or `FAST_DIFF` cell whose `flags` the caller has read.
    #[inline(always)]
    pub(super) fn read_differences(
        &mut self,
        flags: impl CellFlags,
    ) -> Result<CursorMove, DeltaFault> {
        let Lengths { key_len, value_len, common } = self.read_lengths(flags)?;
        let step = self.read_columns(key_len, common)?;
        let time = self.read_time(key_len, flags)?;
        let value = if flags.same_value() {
            self.previous_value(value_len)?
        } else {
            self.read_value(value_len)?
        };
        self.finish(key_len, time, value)?;
        Ok(step)
    }

    /// Reads key length, value length and shared length.
    #[inline(always)]
    fn read_lengths(&mut self, flags: impl CellFlags) -> Result<Lengths, DeltaFault> {
        let key_len = if flags.same_key_len() {
            self.current.key_len
        } else {
            self.input.vint().ok_or(DeltaFault::BadKeyLen)?
        };
        let value_len = if flags.same_value_len() {
            self.current.value.len()
        } else {
            self.input.vint().ok_or(DeltaFault::BadValueLen)?
        };
        let common = self.input.vint().ok_or(DeltaFault::BadSharedLen)?;
        Ok(Lengths { key_len, value_len, common })
    }

    /// Reads a flat key of `key_len` bytes whose first `common` bytes are shared.
    ///
    /// `PREFIX` stores all keys in this form, `FAST_DIFF` the first one.
    #[inline(always)]
    pub(super) fn read_key(
        &mut self,
        key_len: usize,
        common: usize,
    ) -> Result<(CursorMove, Time), DeltaFault> {
        if key_len < KeyRef::FIXED_LEN {
            return Err(DeltaFault::key_too_short(key_len));
        }
        let current = &mut *self.current;
        if common > current.key_len || common > key_len {
            return Err(DeltaFault::shares_too_much(common));
        }
        let rest = self.input.rest();
        let step = current.enter_row(common, rest)?;
        let own = self.input.take(key_len - common).ok_or(DeltaFault::KeyExceedsBlock)?;
        // The family length is the byte at `row_end`; if it is shared, it stays as it is.
        if let Some(family_at) = current.row_end.checked_sub(common) {
            let family_len =
                usize::from(*own.get(family_at).ok_or(DeltaFault::KeyLengthsContradict)?);
            if family_len > KeyRef::FAMILY_LEN_MAX {
                return Err(DeltaFault::KeyLengthsContradict);
            }
            current.family_field_len = 1 + family_len;
        }
        if key_len < current.qualifier_at() + TIME_LEN {
            return Err(DeltaFault::KeyLengthsContradict);
        }
        current.key.make_room(key_len);
        current.key.put(common, rest, own.len());
        // Timestamp and type end the key. Usually no byte of them is shared, so `own` has them all.
        let end = own.last_chunk().or_else(|| current.key.range(0, key_len).last_chunk());
        let [time @ .., type_code]: [u8; TIME_LEN] = *end.expect("the key is longer");
        Ok((step, Time::new(i64::from_be_bytes(time), type_code)?))
    }

    /// Reads row and qualifier of a key of `key_len` bytes whose first `common` bytes are shared.
    ///
    /// Inserts the family of the block between them.
    #[inline(always)]
    fn read_columns(&mut self, key_len: usize, common: usize) -> Result<CursorMove, DeltaFault> {
        if key_len < KeyRef::FIXED_LEN {
            return Err(DeltaFault::key_too_short(key_len));
        }
        let current = &mut *self.current;
        let time_at = key_len - TIME_LEN;
        let own = self.input.rest();
        let shares_row = common >= current.row_end;
        let step = current.enter_row(common, own)?;
        let qualifier_at = current.qualifier_at();
        if shares_row {
            // In both keys, the shared prefix must end after the family, before timestamp and type.
            let is_in_columns =
                common >= qualifier_at && common <= time_at && common + TIME_LEN <= current.key_len;
            if !is_in_columns {
                return Err(self.shared_len_fault(key_len, common));
            }
            let own_len = time_at - common;
            self.input.take(own_len).ok_or(DeltaFault::KeyExceedsBlock)?;
            current.key.make_room(key_len);
            current.key.put(common, own, own_len);
        } else {
            let row_len = current.row_end - common;
            let qualifier_len = time_at.checked_sub(qualifier_at).ok_or(DeltaFault::RowTooLong)?;
            let columns =
                self.input.take(row_len + qualifier_len).ok_or(DeltaFault::KeyExceedsBlock)?;
            let (_, qualifier) =
                own.split_at_checked(row_len).ok_or(DeltaFault::KeyExceedsBlock)?;
            debug_assert_eq!(
                columns.len(),
                row_len + qualifier_len,
                "`take` returns the length asked for"
            );
            current.key.make_room(key_len);
            current.key.put(common, own, row_len);
            current.key.put(current.row_end, &current.family, current.family_field_len);
            current.key.put(qualifier_at, qualifier, qualifier_len);
        }
        Ok(step)
    }

    /// Returns the fault of a key of `key_len` bytes that must not share its first `common` bytes.
    ///
    /// The key has the previous row.
    #[cold]
    fn shared_len_fault(&self, key_len: usize, common: usize) -> DeltaFault {
        if common > self.current.key_len || common > key_len {
            DeltaFault::shares_too_much(common)
        } else if common < self.current.qualifier_at() {
            DeltaFault::SharesFamily
        } else {
            DeltaFault::SharesTimestamp
        }
    }

    /// Reads timestamp and type, and writes them to the end of the key of `key_len` bytes.
    #[inline(always)]
    fn read_time(&mut self, key_len: usize, flags: impl CellFlags) -> Result<Time, DeltaFault> {
        let current = &mut *self.current;
        let timestamp = flags.read_timestamp(&mut self.input, current.timestamp);
        let timestamp = timestamp.ok_or(DeltaFault::NoTimestamp)?;
        let type_code = if flags.same_type() {
            current.cell_type.code()
        } else {
            self.input.u8().ok_or(DeltaFault::NoType)?
        };
        current.key.put_time(key_len - TIME_LEN, timestamp, type_code);
        Time::new(timestamp, type_code)
    }

    /// Skips the value of `len` bytes, and returns its range in the body.
    #[inline(always)]
    pub(super) fn read_value(&mut self, len: usize) -> Result<Range<usize>, DeltaFault> {
        let start = self.at();
        self.input.take(len).ok_or(DeltaFault::ValueExceedsBlock)?;
        Ok(start..start + len)
    }

    /// Returns the range of the previous value, which must be `len` bytes long.
    #[inline(always)]
    fn previous_value(&self, len: usize) -> Result<Range<usize>, DeltaFault> {
        let value = self.current.value.clone();
        if len == value.len() { Ok(value) } else { Err(DeltaFault::RepeatedValueLenDiffers) }
    }

    /// Completes the cell after key and value, and reads its sequence id in files without tags.
    ///
    /// In files with tags, the sequence id follows the tags, and the caller must then call
    /// [`read_tail`](Self::read_tail).
    #[inline(always)]
    pub(super) fn finish(
        &mut self,
        key_len: usize,
        time: Time,
        value: Range<usize>,
    ) -> Result<(), DeltaFault> {
        let layout = self.current.layout;
        // Cannot overflow: bytes in memory have the two lengths.
        let mut plain_len = LENGTHS_LEN + key_len + value.len();
        let mut sequence_id = SequenceId::default();
        if layout.mvcc && !layout.tags {
            let (number, len) = self.read_sequence_id()?;
            sequence_id = number;
            plain_len += len;
        }
        let next_at = self.at();
        let current = &mut *self.current;
        let plain_end = current.plain.end + plain_len;
        if plain_end > current.stated_len {
            return Err(DeltaFault::ExceedsStatedSize);
        }
        current.next_at = next_at;
        current.key_len = key_len;
        current.timestamp = time.timestamp;
        current.cell_type = time.cell_type;
        current.value = value;
        current.sequence_id = sequence_id;
        current.plain = current.plain.end..plain_end;
        Ok(())
    }

    /// Reads a sequence id, and returns it with its length in a plain cell.
    #[inline(always)]
    fn read_sequence_id(&mut self) -> Result<(SequenceId, usize), DeltaFault> {
        let number = self.input.hvlong().ok_or(DeltaFault::BadSequenceId)?;
        let sequence_id = u64::try_from(number).map_err(|_| DeltaFault::BadSequenceId)?;
        let len = if number < 0x80 { 1 } else { hvlong_len(number) };
        Ok((SequenceId::new(sequence_id), len))
    }

    /// Reads the fields after the value in files with tags: tags and sequence id.
    pub(super) fn read_tail(&mut self) -> Result<(), DamageReason> {
        self.read_tags()?;
        if self.current.layout.mvcc {
            let read = self.read_sequence_id();
            let (sequence_id, len) = read.map_err(|fault| fault.reason(self.current))?;
            self.current.sequence_id = sequence_id;
            self.grow_plain_cell(len)?;
        }
        self.current.next_at = self.at();
        Ok(())
    }

    /// Reads the tags. Decodes references to the tag dictionary if the file compresses tags.
    fn read_tags(&mut self) -> Result<(), DamageReason> {
        let len = self.input.vint().filter(|len| *len <= TAGS_LEN_MAX);
        let len = len.ok_or("bad tags length")?;
        self.grow_plain_cell(len + plain::TAGS_LEN_LEN)?;
        let current = &mut *self.current;
        if current.layout.compressed_tags {
            let start = current.tags_decoded.len();
            current.dictionary.read(&mut self.input, len, &mut current.tags_decoded)?;
            current.tags = start..start + len;
        } else {
            let start = self.at();
            plain::check_tags(self.input.take(len).ok_or("the tags exceed the block")?)?;
            self.current.tags = start..start + len;
        }
        Ok(())
    }

    /// Adds `len` to the length of the cell in plain form, and checks it against the stated size.
    fn grow_plain_cell(&mut self, len: usize) -> Result<(), DamageReason> {
        let current = &mut *self.current;
        current.plain.end += len;
        if current.plain.end > current.stated_len {
            return Err(DeltaFault::ExceedsStatedSize.reason(current));
        }
        Ok(())
    }

    /// Sets the family of the block to the family of the key just read.
    pub(super) fn set_block_family(&mut self) {
        let current = &mut *self.current;
        let family = current.key.range(current.row_end + 1, current.qualifier_at()).to_vec();
        current.set_family(&family);
    }

    /// Returns the offset of the next unread byte in the body.
    const fn at(&self) -> usize {
        self.body_len - self.input.len()
    }
}
