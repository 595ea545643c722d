//! The faults that a delta decoder can find in a cell, and their messages.
//!
//! Decoders return this small enum, which fits into a register. The message is formatted only when
//! the block is reported as damaged.

use super::current_cell::CurrentCell;
use crate::encoding::DamageReason;
use crate::encoding::plain::unknown_type;

/// A fault in a cell.
///
/// All lengths fit into a `u32`, because the format stores them as ints of at most `i32::MAX`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum DeltaFault {
    NoFlags,
    UnknownFlags(u8),
    FirstCellRefersBack,
    BadKeyLen,
    BadValueLen,
    BadSharedLen,
    /// The key length, which is less than the fixed fields of a key take.
    KeyTooShort(u32),
    /// The shared length exceeds the previous key or the key itself.
    SharesTooMuch(u32),
    /// The shared prefix ends within the family, before the qualifier.
    SharesFamily,
    /// The shared prefix reaches into the timestamp and type.
    SharesTimestamp,
    KeyExceedsBlock,
    KeyLengthsContradict,
    NegativeRowLen,
    RowTooLong,
    RowOutOfOrder,
    NoTimestamp,
    NegativeTimestamp,
    NoType,
    UnknownType(u8),
    ValueExceedsBlock,
    RepeatedValueLenDiffers,
    BadSequenceId,
    ExceedsStatedSize,
}

impl DeltaFault {
    pub(super) fn key_too_short(key_len: usize) -> Self {
        Self::KeyTooShort(u32::try_from(key_len).expect("a key below the minimum length fits"))
    }

    #[cold]
    pub(super) fn shares_too_much(shared_len: usize) -> Self {
        Self::SharesTooMuch(u32::try_from(shared_len).expect("a length is at most i32::MAX"))
    }

    /// Returns the message. Until a key is decoded, `current` holds the key of the previous cell.
    #[cold]
    pub(super) fn reason(self, current: &CurrentCell) -> DamageReason {
        match self {
            Self::NoFlags => "no flags".into(),
            Self::UnknownFlags(flags) => format!("unknown flags {flags:#04x}").into(),
            Self::FirstCellRefersBack => "the first cell refers to a previous cell".into(),
            Self::BadKeyLen => "bad key length".into(),
            Self::BadValueLen => "bad value length".into(),
            Self::BadSharedLen => "bad shared length".into(),
            Self::KeyTooShort(len) => format!("the key has only {len} bytes").into(),
            Self::SharesTooMuch(len) => {
                format!("shares {len} bytes with a key of {} bytes", current.key_len).into()
            }
            Self::SharesFamily => "shares part of the family".into(),
            Self::SharesTimestamp => "shares more than the qualifier".into(),
            Self::KeyExceedsBlock => "the key exceeds the block".into(),
            Self::KeyLengthsContradict => "the lengths in the key contradict its length".into(),
            Self::NegativeRowLen => "negative row length".into(),
            Self::RowTooLong => "the row exceeds the key".into(),
            Self::RowOutOfOrder => "its row is out of order".into(),
            Self::NoTimestamp => "no timestamp".into(),
            Self::NegativeTimestamp => "negative timestamp".into(),
            Self::NoType => "no type".into(),
            Self::UnknownType(code) => unknown_type(code),
            Self::ValueExceedsBlock => "the value exceeds the block".into(),
            Self::RepeatedValueLenDiffers => "a repeated value has another length".into(),
            Self::BadSequenceId => "bad sequence id".into(),
            Self::ExceedsStatedSize => {
                format!("the cells exceed the {} bytes stated", current.stated_len).into()
            }
        }
    }
}
