//! Row heads: the first bytes of a row as numbers, for fast comparisons.

/// The first 16 bytes of a row as two big-endian numbers, padded with zeros.
///
/// Rows compare as their heads, unless the heads are equal.
pub type RowHead = [u64; 2];

/// Returns the head of a row.
#[inline]
pub fn row_head(row: &[u8]) -> RowHead {
    row.first_chunk().map_or_else(|| head_of(&padded(row)), head_of)
}

#[inline]
fn head_of(bytes: &[u8; 16]) -> RowHead {
    std::array::from_fn(|index| u64::from_be_bytes(bytes.as_chunks().0[index]))
}

/// Pads a row of less than 16 bytes with zeros.
fn padded(row: &[u8]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..row.len()].copy_from_slice(row);
    bytes
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
