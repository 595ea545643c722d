//! The row order of a file: bytewise, except for `hbase:meta`.
//!
//! ```text
//! t1,,1700000000000.4f…    table (up to the first comma), start key (up to the last comma), id
//! t1,a,1700000000000.9a…
//! t1,a\x00,17…             bytewise, this row would sort before the previous one: \x00 < ","
//! t10,,17…                 tables are compared first: t1 < t10
//! ```

use std::cmp::Ordering;

use crate::key::KeyRef;

/// The row order of a file.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Comparator {
    /// Bytewise: all tables except `hbase:meta`.
    #[default]
    Bytes,
    /// The order of `hbase:meta`, whose rows are `table,start key,id`.
    Meta,
}

impl Comparator {
    /// The class name that HBase writes for the order.
    pub const fn class_name(self) -> &'static str {
        match self {
            Self::Bytes => "org.apache.hadoop.hbase.KeyValue$KVComparator",
            Self::Meta => "org.apache.hadoop.hbase.KeyValue$MetaComparator",
        }
    }

    /// Returns the order for a comparator class of any HBase version.
    pub fn from_class_name(name: &str) -> Option<Self> {
        match name.strip_prefix("org.apache.hadoop.hbase.")? {
            "KeyValue$KVComparator"
            | "KeyValue$KeyComparator"
            | "KeyValue$RawBytesComparator"
            | "util.Bytes$ByteArrayComparator"
            | "CellComparator"
            | "CellComparatorImpl"
            | "InnerStoreCellComparator" => Some(Self::Bytes),
            "KeyValue$MetaComparator"
            | "KeyValue$MetaKeyComparator"
            | "CellComparator$MetaCellComparator"
            | "CellComparatorImpl$MetaCellComparator"
            | "MetaCellComparator" => Some(Self::Meta),
            _ => None,
        }
    }

    /// Compares two rows.
    #[inline]
    pub fn compare_rows(self, left: &[u8], right: &[u8]) -> Ordering {
        match self {
            // The first 8 bytes usually differ, or the next 8; comparing them needs no call.
            Self::Bytes => match (left.split_first_chunk::<8>(), right.split_first_chunk::<8>()) {
                (Some((left, _)), Some((right, _))) if left != right => {
                    u64::from_be_bytes(*left).cmp(&u64::from_be_bytes(*right))
                }
                (Some((_, left)), Some((_, right))) => {
                    match (left.first_chunk::<8>(), right.first_chunk::<8>()) {
                        (Some(left), Some(right)) if left != right => {
                            u64::from_be_bytes(*left).cmp(&u64::from_be_bytes(*right))
                        }
                        _ => left.cmp(right),
                    }
                }
                _ => left.cmp(right),
            },
            Self::Meta => MetaRow::compare(left, right),
        }
    }

    /// Compares two keys: rows in this order, the rest as in [`KeyRef`].
    #[inline]
    pub fn compare(self, left: &KeyRef<'_>, right: &KeyRef<'_>) -> Ordering {
        self.compare_rows(left.row, right.row).then_with(|| left.compare_in_row(right))
    }

    /// Whether `left` is at most `right`; `None` sorts before every key.
    pub fn in_order(self, left: Option<KeyRef<'_>>, right: Option<KeyRef<'_>>) -> bool {
        let Some(left) = left else { return true };
        right.is_some_and(|right| self.compare(&left, &right).is_le())
    }
}

/// The parts of a row of `hbase:meta`, in comparison order.
///
/// A missing part sorts before a present one, even if empty. HBase: `MetaCellComparator`.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct MetaRow<'a> {
    table: &'a [u8],
    /// Up to the last comma: a start key may hold commas too.
    start_key: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
}

impl<'a> MetaRow<'a> {
    /// Compares two rows. Not inlined, so that bytewise comparisons stay small.
    #[inline(never)]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        MetaRow::new(left).cmp(&MetaRow::new(right))
    }

    fn new(row: &'a [u8]) -> Self {
        let mut halves = row.splitn(2, |byte| *byte == b',');
        let (table, rest) = (halves.next().unwrap_or(row), halves.next());
        let Some(rest) = rest else { return Self { table, start_key: None, id: None } };
        // A start key may have commas.
        let mut ends = rest.rsplitn(2, |byte| *byte == b',');
        match (ends.next(), ends.next()) {
            (id, Some(start_key)) => Self { table, start_key: Some(start_key), id },
            _ => Self { table, start_key: Some(rest), id: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comparators_of_all_hbase_versions_are_known() {
        for (name, known) in [
            ("KeyValue$KVComparator", Some(Comparator::Bytes)),
            ("InnerStoreCellComparator", Some(Comparator::Bytes)),
            ("MetaCellComparator", Some(Comparator::Meta)),
            ("Unheard", None),
        ] {
            let name = format!("org.apache.hadoop.hbase.{name}");
            assert_eq!(Comparator::from_class_name(&name), known, "{name}");
        }
    }

    #[test]
    fn meta_rows_are_ordered_by_their_parts() {
        let sorted: [&[u8]; 12] = [
            b"a",
            b"a,",
            b"a,,1",
            b"a,,2",
            b"a,b",
            b"a,b,",
            b"a,b,1",
            b"a,b\x00,0",
            b"a,b,c,0",
            b"a,c,0",
            b"a\x00,,0",
            b"aa,,0",
        ];
        for (index, left) in sorted.iter().enumerate() {
            for (other, right) in sorted.iter().enumerate() {
                let order = Comparator::Meta.compare_rows(left, right);
                assert_eq!(order, index.cmp(&other), "{left:?} {right:?}");
            }
        }
        assert!(!sorted.is_sorted(), "the bytewise order differs");
    }
}
