//! What a decoder of deltas can find wrong with a cell, and the sentence about it.
//!
//! A decoder returns a small number, which stays in a register; the sentence is made only once, for damage.

use super::current_cell::CurrentCell;
use crate::encoding::DamageReason;
use crate::encoding::plain::unknown_type;

/// What is wrong with a cell. Lengths of hostile cells fit: a vint is at most `i32::MAX`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum DeltaFault {
    NoFlags,
    UnknownFlags(u8),
    /// In the first cell of a block.
    FirstCellRefersBack,
    BadKeyLen,
    BadValueLen,
    BadSharedLen,
    KeyTooShort(u32),
    /// With the key before, or with the key itself.
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
        Self::KeyTooShort(u32::try_from(key_len).expect("it is less than the shortest key"))
    }

    #[cold]
    pub(super) fn shares_too_much(common: usize) -> Self {
        Self::SharesTooMuch(u32::try_from(common).expect("a vint is at most i32::MAX"))
    }

    /// The sentence about the cell that follows `before`.
    #[cold]
    pub(super) fn reason(self, before: &CurrentCell) -> DamageReason {
        match self {
            Self::NoFlags => "no flags".into(),
            Self::UnknownFlags(flags) => format!("unknown flags {flags:#04x}").into(),
            Self::FirstCellRefersBack => "the first cell refers to one before it".into(),
            Self::BadKeyLen => "bad key length".into(),
            Self::BadValueLen => "bad value length".into(),
            Self::BadSharedLen => "bad shared length".into(),
            Self::KeyTooShort(len) => format!("a key of {len} bytes").into(),
            Self::SharesTooMuch(len) => {
                format!("shares {len} bytes with a key of {}", before.key_len).into()
            }
            Self::SharesFamily => "shares a part of the family".into(),
            Self::SharesTime => "shares more than the qualifier".into(),
            Self::KeyEnds => "the key goes past the block".into(),
            Self::KeyLengthsContradict => "the lengths in the key contradict its length".into(),
            Self::NegativeRowLen => "negative row length".into(),
            Self::RowTooLong => "the row is longer than the key".into(),
            Self::RowOutOfOrder => "its row is out of order".into(),
            Self::NoTimestamp => "no timestamp".into(),
            Self::NegativeTimestamp => "negative timestamp".into(),
            Self::NoType => "no type".into(),
            Self::UnknownType(code) => unknown_type(code),
            Self::ValueEnds => "the value goes past the block".into(),
            Self::OtherValueLen => "a repeated value of another length".into(),
            Self::BadSequenceId => "bad sequence id".into(),
            Self::ExceedsStatedSize => {
                format!("cells of more than the {} bytes stated", before.stated_len).into()
            }
        }
    }
}
