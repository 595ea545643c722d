//! Lookups with every kind of vector, against plain sums.

use alloc::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::compare::{COLUMN_LEN, ColumnMask, Columns, FewColumns, Key, Window};
use super::lookup::{ColumnLookup, FastPath};
use crate::KeyHash;
use crate::kernel::vector::Vector;

/// What the columns give, bit by bit.
fn give(columns: &Columns<'_>) -> u32 {
    let words = |bytes: &[u8]| -> Vec<u64> {
        bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    };
    let slots = words(columns.low).into_iter().zip(words(columns.high));
    slots.enumerate().fold(0, |fingerprint, (column, (low, high))| {
        let both = u128::from(high) << 64 | u128::from(low);
        let slots = (both >> columns.key.shift) as u64 & columns.key.coefficients;
        fingerprint | (slots.count_ones() & 1) << column
    })
}

proptest! {
    /// Every kind of vector says of any columns, from none to 32, what counting bits says: of the
    /// fingerprint that they give, of one with a wrong bit, and of any.
    #[test]
    fn columns_are_read_alike(
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
        let key = Key { shift, coefficients, fingerprint: 0 };
        let mut columns = Columns { low, high, key };
        let given = give(&columns);
        let beyond = u32::MAX.checked_shl(count).unwrap_or(0);
        for vector in Vector::all() {
            for fingerprint in [given, given | beyond, given ^ 1 << wrong, other] {
                columns.key.fingerprint = fingerprint;
                let matches = (fingerprint ^ given) & !beyond == 0;
                let is_fast = |_: &usize| len <= u8::MAX.into();
                for fast_layer in [Some(0), Some(1), Some(2), None] {
                    let fast_layer = fast_layer.filter(is_fast);
                    let masks = ColumnMask::of(count);
                    let asks = Asks { columns, blocks, masks, fast_layer, is_mixed };
                    let hash = KeyHash::from_u64(0);
                    // What comes after the columns is anything.
                    let body = [low, high, &[0x5a; size_of::<Window>()]].concat();
                    prop_assert_eq!(vector.look_up(&asks, &body, hash), matches, "{:?}", vector);
                    let mut answers = [!matches];
                    vector.look_up_all(&asks, &body, &[hash], &mut answers);
                    prop_assert_eq!(answers, [matches], "{:?}", vector);
                }
            }
        }
    }
}

struct Asks<'a> {
    columns: Columns<'a>,
    /// Those in front of the one in which the key starts.
    blocks: u32,
    masks: [ColumnMask; 2],
    fast_layer: Option<usize>,
    is_mixed: bool,
}

impl ColumnLookup for Asks<'_> {
    fn fast_path<'a, const MIXED: bool>(
        &'a self,
        layer: usize,
        body: &'a [u8],
        _: KeyHash,
    ) -> FastPath<'a> {
        let Columns { low, key, .. } = self.columns;
        match self.fast_layer {
            Some(fast) if fast == layer => FastPath::Columns(FewColumns {
                window: body.first_chunk().expect("a window"),
                next: low.len() as u8,
                masks: &self.masks,
                key: Key { shift: key.shift | self.blocks << 6, ..key },
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
