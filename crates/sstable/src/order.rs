//! The order of the rows in a file: by their bytes, but for `hbase:meta`.
//!
//! ```text
//! t1,,1700000000000.4f…    table, up to the first comma; start key, up to the last; the rest
//! t1,a,1700000000000.9a…   a comma is less than most letters of a start key, but not than all
//! t1,a\x00,17…             bytes: as bytes, this row would stand before the one above it
//! t10,,17…                 as bytes, this table would stand before the rows of t1 from "," < "0" on
//! ```

use std::cmp::Ordering;

use crate::KeyRef;

/// The order of the rows in a file.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Comparator {
    /// By their bytes: all tables but one.
    #[default]
    Bytes,
    /// The order of `hbase:meta`, whose rows are `table,start key,id`.
    Meta,
}

impl Comparator {
    /// The class that HBase writes for it.
    pub const fn class_name(self) -> &'static str {
        match self {
            Self::Bytes => "org.apache.hadoop.hbase.KeyValue$KVComparator",
            Self::Meta => "org.apache.hadoop.hbase.KeyValue$MetaComparator",
        }
    }

    /// The order that a class of any HBase stands for.
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
            // The first bytes mostly tell, without a call.
            Self::Bytes => match (left.first_chunk::<8>(), right.first_chunk::<8>()) {
                (Some(left), Some(right)) if left != right => {
                    u64::from_be_bytes(*left).cmp(&u64::from_be_bytes(*right))
                }
                _ => left.cmp(right),
            },
            Self::Meta => MetaRow::compare(left, right),
        }
    }

    /// Compares two keys: by row, and within a row as everywhere.
    #[inline]
    pub fn compare(self, left: &KeyRef<'_>, right: &KeyRef<'_>) -> Ordering {
        self.compare_rows(left.row, right.row).then_with(|| left.compare_in_row(right))
    }

    /// Whether `left` does not stand behind `right`; a key that is not there stands before all.
    pub(crate) fn in_order(self, left: Option<KeyRef<'_>>, right: Option<KeyRef<'_>>) -> bool {
        let Some(left) = left else { return true };
        right.is_some_and(|right| self.compare(&left, &right).is_le())
    }
}

/// The parts of a row of `hbase:meta`, in the order in which they are compared. A part that is not
/// there comes before one that is, also before an empty one. HBase: `MetaCellComparator`.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct MetaRow<'a> {
    table: &'a [u8],
    /// Up to the last comma: a start key may hold commas too.
    start_key: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
}

impl<'a> MetaRow<'a> {
    /// Compares two rows. Apart, so that rows of other tables are compared without a call.
    #[inline(never)]
    fn compare(left: &[u8], right: &[u8]) -> Ordering {
        MetaRow::new(left).cmp(&MetaRow::new(right))
    }

    fn new(row: &'a [u8]) -> Self {
        let is_comma = |byte: &u8| *byte == b',';
        let split = |bytes: &'a [u8], at: Option<usize>| {
            let (front, back) = bytes.split_at_checked(at?)?;
            Some((front, back.get(1..)?))
        };
        let Some((table, rest)) = split(row, row.iter().position(is_comma)) else {
            return Self { table: row, start_key: None, id: None };
        };
        match split(rest, rest.iter().rposition(is_comma)) {
            Some((start_key, id)) => Self { table, start_key: Some(start_key), id: Some(id) },
            None => Self { table, start_key: Some(rest), id: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comparators_of_all_versions_are_known() {
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
    fn rows_of_meta_are_ordered_by_their_parts() {
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
        assert!(!sorted.is_sorted(), "by their bytes they are ordered otherwise");
    }
}
