//! The key that stands for a data block in the index.
//!
//! Any key will do that is greater than the last cell before the block and not greater than its
//! first cell. The shortest such key keeps the index small. HBase: `HFileWriterImpl.getMidpoint`.

use crate::{CellRef, KeyRef, Timestamp};

/// The flat key for the block whose first cell is `right`; `left` is the last cell before it.
pub(super) fn short_key(left: &KeyRef<'_>, right: &CellRef<'_>) -> Vec<u8> {
    let right = right.key();
    let at_maximum = |row, family, qualifier| KeyRef {
        row,
        family,
        qualifier,
        timestamp: Timestamp::LATEST,
        type_code: KeyRef::MAXIMUM,
    };
    let mut flat = Vec::new();
    if let Some(row) = between(left.row, right.row) {
        at_maximum(&row, b"", b"").write_flat(&mut flat);
    } else if let Some(family) = between(left.family, right.family) {
        at_maximum(right.row, &family, b"").write_flat(&mut flat);
    } else if let Some(qualifier) = between(left.qualifier, right.qualifier) {
        at_maximum(right.row, right.family, &qualifier).write_flat(&mut flat);
    } else {
        right.write_flat(&mut flat);
    }
    flat
}

/// A short byte string greater than `left` and not greater than `right`; `None` if both are equal.
fn between(left: &[u8], right: &[u8]) -> Option<Vec<u8>> {
    let common = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let mut short = right[..common].to_vec();
    match left.get(common) {
        None if right.len() == common => return None,
        // `left` is a prefix of `right`.
        None => short.push(0),
        // Smaller than a byte of `right`, so one more is still a byte.
        Some(byte) => short.push(byte + 1),
    }
    Some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_string_between_is_found() {
        for (left, right, short) in [
            (&b"row1"[..], &b"row2"[..], Some(&b"row2"[..])),
            (b"apple", b"zebra", Some(b"b")),
            (b"ab", b"abc", Some(b"ab\0")),
            (b"", b"x", Some(b"\0")),
            (b"same", b"same", None),
            (b"a\xfe", b"a\xff\xff", Some(b"a\xff")),
        ] {
            assert_eq!(between(left, right).as_deref(), short);
        }
    }
}
