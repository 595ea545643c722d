//! The key of a cell, and the order of keys.
//!
//! Blocks and indexes store a key as contiguous bytes, the "flat key":
//!
//! | bytes | field              | meaning                                                     |
//! |------:|--------------------|-------------------------------------------------------------|
//! |     2 | row length `r`     | i16 BE, 0 ..= 32,767                                        |
//! |   `r` | row                |                                                             |
//! |     1 | family length `f`  | i8, 0 ..= 127; 0 only in seek keys                          |
//! |   `f` | family             | the same in all cells of a file                             |
//! |   `q` | qualifier          | the rest of the key's length                                |
//! |     8 | timestamp          | i64 BE; not negative in stored cells                        |
//! |     1 | type               | [`CellType`]; seek keys may also have 0 or 255              |
//!
//! Order (HBase's `CellComparatorImpl`): row, family and qualifier ascend as unsigned bytes;
//! timestamp and type descend, so that newer versions, and deletes of wider scope, sort first.
//! Cells with equal keys are ordered by [sequence id](crate::CellRef::compare). The rows of
//! `hbase:meta` have a [different order](crate::Comparator).

use std::cmp::Ordering;
use std::fmt;

use crate::text::escape;
use crate::units::Timestamp;

/// The type of a cell: a put, or one of four kinds of delete.
//
// Eight bytes: a [`CellRef`](crate::CellRef) is copied in words of eight bytes. After one byte of a word was
// stored, a load of the word waits until the store has reached the cache.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u64)]
pub enum CellType {
    /// A value.
    Put = 4,
    /// Deletes the version of its column with exactly its timestamp.
    Delete = 8,
    /// Deletes, in all columns of its family, the version with exactly its timestamp.
    DeleteFamilyVersion = 10,
    /// Deletes all versions of its column up to its timestamp.
    DeleteColumn = 12,
    /// Deletes all columns of its family up to its timestamp.
    DeleteFamily = 14,
}

impl CellType {
    /// Every type, by code.
    pub const ALL: [Self; 5] = [
        Self::Put,
        Self::Delete,
        Self::DeleteFamilyVersion,
        Self::DeleteColumn,
        Self::DeleteFamily,
    ];

    /// Returns the type with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|cell_type| cell_type.code() == code)
    }

    /// Returns the type's code in a key.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns HBase's name of the type, such as `DeleteColumn`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Put => "Put",
            Self::Delete => "Delete",
            Self::DeleteFamilyVersion => "DeleteFamilyVersion",
            Self::DeleteColumn => "DeleteColumn",
            Self::DeleteFamily => "DeleteFamily",
        }
    }

    /// Returns whether the type is a delete.
    pub const fn is_delete(self) -> bool {
        !matches!(self, Self::Put)
    }

    /// Returns whether the type deletes in all columns of a family. Its cells have no qualifier.
    pub const fn deletes_family(self) -> bool {
        matches!(self, Self::DeleteFamily | Self::DeleteFamilyVersion)
    }
}

/// The borrowed key of a cell, or a seek key.
///
/// A seek key sorts before or after all cells of a row or column, and is never stored as a cell.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct KeyRef<'a> {
    /// The row.
    pub row: &'a [u8],
    /// The column family.
    pub family: &'a [u8],
    /// The qualifier. Family and qualifier together name the column.
    pub qualifier: &'a [u8],
    /// The timestamp of the version.
    pub timestamp: Timestamp,
    /// The code of a [`CellType`], or in a seek key 255 (before all types) or 0 (after all types).
    pub type_code: u8,
}

impl<'a> KeyRef<'a> {
    /// The type code that sorts before every cell of the same column and timestamp.
    pub const MAXIMUM: u8 = 255;
    /// The type code that sorts after every cell of the same column and timestamp.
    pub const MINIMUM: u8 = 0;
    /// The length of a flat key whose row, family and qualifier are empty.
    pub const FIXED_LEN: usize = 12;
    /// The maximum length of a row.
    pub const ROW_LEN_MAX: usize = i16::MAX as usize;
    /// The maximum length of a family name.
    pub const FAMILY_LEN_MAX: usize = i8::MAX as usize;

    /// Returns the seek key before the first cell of `row`.
    pub const fn before_row(row: &'a [u8]) -> Self {
        Self::before_column(row, b"", b"")
    }

    /// Returns the seek key after the last cell of `row`.
    pub const fn after_row(row: &'a [u8]) -> Self {
        Self::after_column(row, b"", b"")
    }

    /// Returns the seek key before the first cell of a column.
    pub const fn before_column(row: &'a [u8], family: &'a [u8], qualifier: &'a [u8]) -> Self {
        Self { row, family, qualifier, timestamp: Timestamp::LATEST, type_code: Self::MAXIMUM }
    }

    /// Returns the seek key after the last cell of a column.
    pub const fn after_column(row: &'a [u8], family: &'a [u8], qualifier: &'a [u8]) -> Self {
        Self { row, family, qualifier, timestamp: Timestamp::OLDEST, type_code: Self::MINIMUM }
    }

    /// Parses a flat key. Returns `None` if its lengths are inconsistent.
    ///
    /// Does not check the type code, because index keys may have the type codes of seek keys.
    #[inline]
    pub fn parse(flat: &'a [u8]) -> Option<Self> {
        let (row_len_bytes, after_row_len) = flat.split_first_chunk::<2>()?;
        let row_len = usize::try_from(i16::from_be_bytes(*row_len_bytes)).ok()?;
        let (row, after_row) = after_row_len.split_at_checked(row_len)?;
        let (family_len_byte, after_family_len) = after_row.split_first()?;
        let family_len = usize::try_from(family_len_byte.cast_signed()).ok()?;
        let (family, after_family) = after_family_len.split_at_checked(family_len)?;
        let (before_type, type_code) = after_family.split_last_chunk::<1>()?;
        let (qualifier, timestamp) = before_type.split_last_chunk::<8>()?;
        Some(Self {
            row,
            family,
            qualifier,
            timestamp: Timestamp::new(i64::from_be_bytes(*timestamp)),
            type_code: type_code[0],
        })
    }

    /// Returns whether a flat key has this row, without parsing the rest of the key.
    pub fn is_of_row(flat: &[u8], row: &[u8]) -> bool {
        flat.split_first_chunk::<2>().is_some_and(|(len, rest)| {
            usize::from(u16::from_be_bytes(*len)) == row.len() && rest.starts_with(row)
        })
    }

    /// Returns the length of the flat key.
    pub const fn flat_len(&self) -> usize {
        Self::FIXED_LEN + self.row.len() + self.family.len() + self.qualifier.len()
    }

    /// Appends the flat key to `out`.
    ///
    /// # Panics
    ///
    /// If the row or the family exceeds its maximum length. The writer checks both beforehand.
    pub fn write_flat(&self, out: &mut Vec<u8>) {
        let row_len = i16::try_from(self.row.len()).expect("a row has at most 32,767 bytes");
        let family_len = i8::try_from(self.family.len()).expect("a family has at most 127 bytes");
        out.reserve(self.flat_len());
        out.extend_from_slice(&row_len.to_be_bytes());
        out.extend_from_slice(self.row);
        out.extend_from_slice(&family_len.to_be_bytes());
        out.extend_from_slice(self.family);
        out.extend_from_slice(self.qualifier);
        out.extend_from_slice(&self.timestamp.get().to_be_bytes());
        out.push(self.type_code);
    }
}

impl Ord for KeyRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.row.cmp(other.row).then_with(|| self.compare_in_row(other))
    }
}

impl PartialOrd for KeyRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl KeyRef<'_> {
    /// Compares two keys whose rows are equal.
    #[inline]
    pub fn compare_in_row(&self, other: &KeyRef<'_>) -> Ordering {
        // `after_row` makes a key with type 0 and no column. Its empty family would sort first, but
        // the key must sort after all cells of the row.
        match (self.ends_row(), other.ends_row()) {
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => self
                .family
                .cmp(other.family)
                .then_with(|| self.qualifier.cmp(other.qualifier))
                .then_with(|| other.timestamp.cmp(&self.timestamp))
                .then_with(|| other.type_code.cmp(&self.type_code)),
        }
    }

    /// Returns whether this is the seek key after the last cell of its row.
    fn ends_row(&self) -> bool {
        self.type_code == Self::MINIMUM && self.family.is_empty() && self.qualifier.is_empty()
    }
}

impl fmt::Display for KeyRef<'_> {
    /// Writes `row/family:qualifier/timestamp/Type`, as HBase prints keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (row, family, qualifier) =
            (escape(self.row), escape(self.family), escape(self.qualifier));
        write!(f, "{row}/{family}:{qualifier}/{}/", self.timestamp)?;
        match (CellType::from_code(self.type_code), self.type_code) {
            (Some(known), _) => f.write_str(known.name()),
            (None, Self::MAXIMUM) => f.write_str("Maximum"),
            (None, Self::MINIMUM) => f.write_str("Minimum"),
            (None, other) => write!(f, "type {other}"),
        }
    }
}

impl fmt::Debug for KeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key<'a>(row: &'a [u8], qualifier: &'a [u8], millis: i64, type_code: u8) -> KeyRef<'a> {
        KeyRef { row, family: b"f", qualifier, timestamp: Timestamp::new(millis), type_code }
    }

    #[test]
    fn codes_of_types_round_trip() {
        let known: Vec<_> = (0..=u8::MAX).filter_map(CellType::from_code).collect();
        assert_eq!(known, CellType::ALL);
        assert!(
            CellType::ALL.iter().all(|known| CellType::from_code(known.code()) == Some(*known))
        );
    }

    #[test]
    fn newer_cells_and_wider_deletes_sort_first() {
        let sorted = [
            KeyRef::before_row(b"a"),
            key(b"a", b"", 9, CellType::DeleteFamily.code()),
            KeyRef::before_column(b"a", b"f", b"q"),
            key(b"a", b"q", 9, CellType::Put.code()),
            key(b"a", b"q", 5, CellType::DeleteColumn.code()),
            key(b"a", b"q", 5, CellType::Put.code()),
            KeyRef::after_column(b"a", b"f", b"q"),
            key(b"a", b"q\x00", 9, CellType::Put.code()),
            KeyRef::after_row(b"a"),
            KeyRef::before_row(b"a\x00"),
        ];
        for pair in sorted.windows(2) {
            assert!(pair[0] < pair[1], "{:?} before {:?}", pair[0], pair[1]);
        }
    }

    #[test]
    fn a_flat_key_round_trips() {
        let original = key(b"row1", b"a", 1000, 4);
        let mut flat = Vec::new();
        original.write_flat(&mut flat);
        assert_eq!(flat, b"\x00\x04row1\x01fa\x00\x00\x00\x00\x00\x00\x03\xe8\x04");
        assert_eq!(KeyRef::parse(&flat), Some(original));
        for cut in 0..flat.len() {
            // A truncated key may still parse, as another key. Only a panic would be a bug.
            let _ = KeyRef::parse(&flat[..cut]);
        }
        assert_eq!(KeyRef::parse(&flat[..12]), None);
    }
}
