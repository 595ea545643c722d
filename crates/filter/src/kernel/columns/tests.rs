//! Lookups in every instruction set, against counts of bits.

use alloc::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::compare::{ColumnWindow, Columns, Window};
use super::lookup::{ColumnLookup, FastPath};
use crate::hash::KeyHash;
use crate::kernel::column_vectors::{BlockEquation, COLUMN_LEN, ColumnMask};
use crate::kernel::instruction_set::InstructionSet;

/// Returns the parities of the columns, counted bit by bit.
fn parities(columns: &Columns<'_>) -> u32 {
    let words = |bytes: &[u8]| -> Vec<u64> {
        bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    };
    let slots = words(columns.low).into_iter().zip(words(columns.high));
    slots.enumerate().fold(0, |fingerprint, (column, (low, high))| {
        let both = u128::from(high) << 64 | u128::from(low);
        let slots = (both >> columns.equation.shift) as u64 & columns.equation.coefficients;
        fingerprint | (slots.count_ones() & 1) << column
    })
}

proptest! {
    /// 0 to 32 columns; the fingerprint that they give, one with a wrong bit, and any.
    #[test]
    fn every_set_compares_columns_alike(
        bytes in vec(any::<u8>(), 2 * 32 * COLUMN_LEN + 1),
        count in 0..=32_u32,
        is_mixed: bool,
        coefficients: u64,
        shift in 0..64_u32,
        blocks in 0..=u32::MAX >> 6,
        wrong in 0..32_u32,
        other: u32,
    ) {
        let (low, high) = bytes[1..].split_at(32 * COLUMN_LEN);
        let len = count as usize * COLUMN_LEN;
        let (low, high) = (&low[..len], &high[..len]);
        let equation = BlockEquation { shift, coefficients, fingerprint: 0 };
        let mut columns = Columns { low, high, equation };
        let expected = parities(&columns);
        let beyond = u32::MAX.checked_shl(count).unwrap_or(0);
        for set in InstructionSet::available() {
            for fingerprint in [expected, expected | beyond, expected ^ 1 << wrong, other] {
                columns.equation.fingerprint = fingerprint;
                let matches = (fingerprint ^ expected) & !beyond == 0;
                let is_fast = |_: &usize| len <= u8::MAX.into();
                for fast_layer in [Some(0), Some(1), Some(2), None] {
                    let fast_layer = fast_layer.filter(is_fast);
                    let masks = ColumnMask::of(count);
                    let filter = OneKey { columns, blocks, masks, fast_layer, is_mixed };
                    let hash = KeyHash::from_u64(0);
                    // Any bytes may follow the columns.
                    let body = [low, high, &[0x5a; size_of::<Window>()]].concat();
                    prop_assert_eq!(set.look_up(&filter, &body, hash), matches, "{:?}", set);
                    let mut answers = [!matches];
                    set.look_up_all(&filter, &body, &[hash], &mut answers);
                    prop_assert_eq!(answers, [matches], "{:?}", set);
                }
            }
        }
    }
}

/// A filter whose every key has the same columns.
struct OneKey<'a> {
    columns: Columns<'a>,
    /// The blocks before the one in which the key starts.
    blocks: u32,
    masks: [ColumnMask; 2],
    /// The layer with the fast path; the layers before it bump the key.
    fast_layer: Option<usize>,
    is_mixed: bool,
}

impl ColumnLookup for OneKey<'_> {
    fn fast_path<'a, const MIXED: bool>(
        &'a self,
        layer: usize,
        body: &'a [u8],
        _: KeyHash,
    ) -> FastPath<'a> {
        let Columns { low, equation, .. } = self.columns;
        match self.fast_layer {
            Some(fast) if fast == layer => FastPath::Columns(ColumnWindow {
                window: body.first_chunk().expect("a window"),
                next: low.len() as u8,
                masks: &self.masks,
                equation: BlockEquation { shift: equation.shift | self.blocks << 6, ..equation },
            }),
            Some(_) => FastPath::Bumped,
            None => FastPath::Slow,
        }
    }

    fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    fn look_up(&self, _: &[u8], _: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool {
        matches(&self.columns)
    }
}
