//! Row heads: the first bytes of a row as numbers, for fast comparisons.

/// The first 16 bytes of a row as two big-endian numbers, padded with zeros.
///
/// Rows compare as their heads, unless the heads are equal.
pub type RowHead = [u64; 2];

/// Returns the head of a row.
#[inline]
pub fn row_head(row: &[u8]) -> RowHead {
    // A copy whose length is not known to the compiler is a call.
    let bytes = row.first_chunk::<16>().copied().unwrap_or_else(|| {
        let mut padded = [0; 16];
        padded[..row.len()].copy_from_slice(row);
        padded
    });
    let number = u128::from_be_bytes(bytes);
    [(number >> 64) as u64, number as u64]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A small alphabet makes prefixes of other rows and equal heads likely.
        #[test]
        fn heads_never_contradict_the_order_of_rows(
            left in prop::collection::vec(0_u8..2, 0..20),
            right in prop::collection::vec(0_u8..2, 0..20),
        ) {
            let by_head = row_head(&left).cmp(&row_head(&right));
            prop_assert!(by_head.is_eq() || by_head == left.cmp(&right));
        }
    }
}
