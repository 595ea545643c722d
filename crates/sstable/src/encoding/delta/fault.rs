//! The faults that a delta decoder can find in a cell, and their messages.
//!
//! Decoders return a small enum, which fits a register; the message is made only once, for damage.

use super::current_cell::CurrentCell;
use crate::encoding::DamageReason;
use crate::encoding::plain::unknown_type;

/// A fault in a cell. All lengths fit an u32: a vint is at most `i32::MAX`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum DeltaFault {
    NoFlags,
    UnknownFlags(u8),
    FirstCellRefersBack,
    BadKeyLen,
    BadValueLen,
    BadSharedLen,
    KeyTooShort(u32),
    /// The shared length exceeds the previous key or the key itself.
    SharesTooMuch(u32),
    SharesFamily,
    SharesTime,
    KeyEnds,
    KeyLengthsContradict,
    NegativeRowLen,
    RowTooLong,
    RowOutOfOrder,
    NoTimestamp,
    NegativeTimestamp,
    NoType,
    UnknownType(u8),
    ValueEnds,
    OtherValueLen,
    BadSequenceId,
    ExceedsStatedSize,
}

impl DeltaFault {
    pub(super) fn key_too_short(key_len: usize) -> Self {
        Self::KeyTooShort(u32::try_from(key_len).expect("a key below the minimum length fits"))
    }

    #[cold]
    pub(super) fn shares_too_much(common: usize) -> Self {
        Self::SharesTooMuch(u32::try_from(common).expect("a vint is at most i32::MAX"))
    }

    /// The message about the cell after `before`.
    #[cold]
    pub(super) fn reason(self, before: &CurrentCell) -> DamageReason {
        match self {
            Self::NoFlags => "no flags".into(),
            Self::UnknownFlags(flags) => format!("unknown flags {flags:#04x}").into(),
            Self::FirstCellRefersBack => "the first cell refers to a previous cell".into(),
            Self::BadKeyLen => "bad key length".into(),
            Self::BadValueLen => "bad value length".into(),
            Self::BadSharedLen => "bad shared length".into(),
            Self::KeyTooShort(len) => format!("the key has only {len} bytes").into(),
            Self::SharesTooMuch(len) => {
                format!("shares {len} bytes with a key of {} bytes", before.key_len).into()
            }
            Self::SharesFamily => "shares part of the family".into(),
            Self::SharesTime => "shares more than the qualifier".into(),
            Self::KeyEnds => "the key exceeds the block".into(),
            Self::KeyLengthsContradict => "the lengths in the key contradict its length".into(),
            Self::NegativeRowLen => "negative row length".into(),
            Self::RowTooLong => "the row exceeds the key".into(),
            Self::RowOutOfOrder => "its row is out of order".into(),
            Self::NoTimestamp => "no timestamp".into(),
            Self::NegativeTimestamp => "negative timestamp".into(),
            Self::NoType => "no type".into(),
            Self::UnknownType(code) => unknown_type(code),
            Self::ValueEnds => "the value exceeds the block".into(),
            Self::OtherValueLen => "a repeated value has another length".into(),
            Self::BadSequenceId => "bad sequence id".into(),
            Self::ExceedsStatedSize => {
                format!("the cells exceed the {} bytes stated", before.stated_len).into()
            }
        }
    }
}
