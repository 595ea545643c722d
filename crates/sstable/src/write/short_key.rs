//! Chooses the index key of a data block.
//!
//! The key must be greater than the last cell before the block and at most the block's first cell.
//! The shortest such key keeps the index small. HBase: `HFileWriterImpl.getMidpoint`.

use cells::{CellRef, KeyRef, Timestamp};

/// Returns the flat index key of a block between the cells `left` and `right`.
///
/// `right` is the block's first cell, and `left` the last cell before the block.
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

/// Returns a short string greater than `left` and at most `right`; `None` if they are equal.
fn between(left: &[u8], right: &[u8]) -> Option<Vec<u8>> {
    let common = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let mut short = right[..common].to_vec();
    match left.get(common) {
        None if right.len() == common => return None,
        // `left` is a prefix of `right`.
        None => short.push(0),
        // Cannot overflow: the byte is less than the byte of `right`.
        Some(byte) => short.push(byte + 1),
    }
    Some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_short() {
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
