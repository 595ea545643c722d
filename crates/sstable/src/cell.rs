//! A cell, its key, and the order of cells.
//!
//! A cell's key, as it stands in blocks and indexes ("flat key"):
//!
//! | bytes | field              | meaning                                                     |
//! |------:|--------------------|-------------------------------------------------------------|
//! |     2 | row length `r`     | i16 BE, 0 ..= 32,767                                        |
//! |   `r` | row                |                                                             |
//! |     1 | family length `f`  | i8, 0 ..= 127; 0 only in keys made for seeking              |
//! |   `f` | family             | the same in all cells of a file                             |
//! |   `q` | qualifier          | what the other fields leave of the key's length             |
//! |     8 | timestamp          | i64 BE; not negative in stored cells                        |
//! |     1 | type               | [`CellType`], or 0 and 255 in keys made for seeking         |
//!
//! Order (HBase's `CellComparatorImpl`): row, family and qualifier ascend as unsigned bytes;
//! timestamp, type and sequence id descend, so that what is newer or hides more comes first. The rows
//! of `hbase:meta` have an order of [their own](crate::Comparator).

use std::cmp::Ordering;
use std::fmt;

use crate::text::escape;
use crate::units::{SequenceId, Timestamp};

/// What a cell says about its column: a value, or one of four ways to delete.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum CellType {
    /// A value.
    Put = 4,
    /// Deletes the one version of its column with exactly its timestamp.
    Delete = 8,
    /// Deletes all columns' versions of its family with exactly its timestamp.
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

    /// The type that a stored cell's code stands for.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            4 => Some(Self::Put),
            8 => Some(Self::Delete),
            10 => Some(Self::DeleteFamilyVersion),
            12 => Some(Self::DeleteColumn),
            14 => Some(Self::DeleteFamily),
            _ => None,
        }
    }

    /// The code in the key.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// HBase's name for it, as in `DeleteColumn`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Put => "Put",
            Self::Delete => "Delete",
            Self::DeleteFamilyVersion => "DeleteFamilyVersion",
            Self::DeleteColumn => "DeleteColumn",
            Self::DeleteFamily => "DeleteFamily",
        }
    }

    /// Whether it deletes.
    pub const fn is_delete(self) -> bool {
        !matches!(self, Self::Put)
    }

    /// Whether it deletes in a whole family, and so has no qualifier.
    pub const fn deletes_family(self) -> bool {
        matches!(self, Self::DeleteFamily | Self::DeleteFamilyVersion)
    }
}

/// The key of a cell, or a place between cells to seek to. Borrowed; see the module for its bytes.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct KeyRef<'a> {
    /// The row.
    pub row: &'a [u8],
    /// The column family.
    pub family: &'a [u8],
    /// The qualifier, which with the family names the column.
    pub qualifier: &'a [u8],
    /// The time of the version.
    pub timestamp: Timestamp,
    /// A [`CellType`]'s code; 255 sorts before and 0 after all of them.
    pub type_code: u8,
}

impl<'a> KeyRef<'a> {
    /// Sorts before every cell of the same column and time.
    pub const MAXIMUM: u8 = 255;
    /// Sorts after every cell of the same column and time.
    pub const MINIMUM: u8 = 0;
    /// The bytes of a flat key beside row, family and qualifier.
    pub const FIXED_LEN: usize = 12;
    /// The longest row that a key can hold.
    pub const ROW_LEN_MAX: usize = i16::MAX as usize;
    /// The longest family name that a key can hold.
    pub const FAMILY_LEN_MAX: usize = i8::MAX as usize;

    /// The place before the first cell of `row`.
    pub const fn before_row(row: &'a [u8]) -> Self {
        Self {
            row,
            family: b"",
            qualifier: b"",
            timestamp: Timestamp::LATEST,
            type_code: Self::MAXIMUM,
        }
    }

    /// The place after the last cell of `row`.
    pub const fn after_row(row: &'a [u8]) -> Self {
        Self {
            row,
            family: b"",
            qualifier: b"",
            timestamp: Timestamp::OLDEST,
            type_code: Self::MINIMUM,
        }
    }

    /// The place before the first cell of a column.
    pub const fn before_column(row: &'a [u8], family: &'a [u8], qualifier: &'a [u8]) -> Self {
        Self { row, family, qualifier, timestamp: Timestamp::LATEST, type_code: Self::MAXIMUM }
    }

    /// The place after the last cell of a column.
    pub const fn after_column(row: &'a [u8], family: &'a [u8], qualifier: &'a [u8]) -> Self {
        Self { row, family, qualifier, timestamp: Timestamp::OLDEST, type_code: Self::MINIMUM }
    }

    /// Reads a flat key; `None` if its lengths do not fit together.
    ///
    /// The type code is not looked at: index keys carry codes that cells do not.
    pub fn parse(flat: &'a [u8]) -> Option<Self> {
        let (row_len, rest) = flat.split_first_chunk::<2>()?;
        let row_len = usize::try_from(i16::from_be_bytes(*row_len)).ok()?;
        let (row, rest) = rest.split_at_checked(row_len)?;
        let (family_len, rest) = rest.split_first()?;
        let family_len = usize::try_from(family_len.cast_signed()).ok()?;
        let (family, rest) = rest.split_at_checked(family_len)?;
        let (rest, type_code) = rest.split_last_chunk::<1>()?;
        let (qualifier, timestamp) = rest.split_last_chunk::<8>()?;
        Some(Self {
            row,
            family,
            qualifier,
            timestamp: Timestamp::new(i64::from_be_bytes(*timestamp)),
            type_code: type_code[0],
        })
    }

    /// The bytes of the flat key.
    pub const fn flat_len(&self) -> usize {
        Self::FIXED_LEN + self.row.len() + self.family.len() + self.qualifier.len()
    }

    /// Appends the flat key to `out`.
    ///
    /// # Panics
    ///
    /// If row or family are longer than a key can hold; [`CellRef`]s are checked before they are
    /// written.
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
    pub(crate) fn compare_in_row(&self, other: &KeyRef<'_>) -> Ordering {
        // A key with neither family nor qualifier and type 0 stands behind its whole row.
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

    fn ends_row(&self) -> bool {
        self.type_code == Self::MINIMUM && self.family.is_empty() && self.qualifier.is_empty()
    }
}

impl fmt::Display for KeyRef<'_> {
    /// `row/family:qualifier/timestamp/Type`, as HBase prints keys.
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

/// A cell whose bytes stand somewhere else: in a block, in a memstore, in a [`Cell`].
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct CellRef<'a> {
    /// The row.
    pub row: &'a [u8],
    /// The column family.
    pub family: &'a [u8],
    /// The qualifier, which with the family names the column.
    pub qualifier: &'a [u8],
    /// The time of this version.
    pub timestamp: Timestamp,
    /// Put, or a kind of delete.
    pub cell_type: CellType,
    /// The value.
    pub value: &'a [u8],
    /// The tags: each `u16 BE length || u8 type || data`, where the length counts type and data.
    pub tags: &'a [u8],
    /// The write that brought it (mvcc); 0 where the file does not say.
    pub sequence_id: SequenceId,
}

impl<'a> CellRef<'a> {
    /// A value without tags, and as yet without a sequence id.
    pub const fn put(
        row: &'a [u8],
        family: &'a [u8],
        qualifier: &'a [u8],
        timestamp: Timestamp,
        value: &'a [u8],
    ) -> Self {
        Self {
            row,
            family,
            qualifier,
            timestamp,
            cell_type: CellType::Put,
            value,
            tags: b"",
            sequence_id: SequenceId::new(0),
        }
    }

    /// Its key.
    pub const fn key(&self) -> KeyRef<'a> {
        KeyRef {
            row: self.row,
            family: self.family,
            qualifier: self.qualifier,
            timestamp: self.timestamp,
            type_code: self.cell_type.code(),
        }
    }

    /// HBase's order of cells: by key, and of equal keys the one written last first.
    pub fn compare(&self, other: &CellRef<'_>) -> Ordering {
        self.key().cmp(&other.key()).then_with(|| other.sequence_id.cmp(&self.sequence_id))
    }

    /// Whether both are versions of one column.
    pub fn same_column(&self, other: &CellRef<'_>) -> bool {
        self.row == other.row && self.family == other.family && self.qualifier == other.qualifier
    }

    /// A copy that owns its bytes, in one allocation.
    pub fn to_cell(&self) -> Cell {
        Cell::from(*self)
    }

    /// The tags one by one as type and data; ends early where the bytes do not tile.
    pub fn tags(&self) -> impl Iterator<Item = (u8, &'a [u8])> {
        let mut rest = self.tags;
        std::iter::from_fn(move || {
            let (len, tail) = rest.split_first_chunk::<2>()?;
            let (tag, tail) = tail.split_at_checked(u16::from_be_bytes(*len).into())?;
            rest = tail;
            tag.split_first().map(|(tag_type, data)| (*tag_type, data))
        })
    }
}

impl fmt::Debug for CellRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/vlen={}/seqid={}", self.key(), self.value.len(), self.sequence_id)
    }
}

/// A cell that owns its bytes.
#[derive(Clone, Eq, PartialEq)]
pub struct Cell {
    /// Row, family, qualifier, value and tags, one behind the other.
    bytes: Box<[u8]>,
    row_end: u32,
    family_end: u32,
    qualifier_end: u32,
    value_end: u32,
    timestamp: Timestamp,
    sequence_id: SequenceId,
    cell_type: CellType,
}

impl Cell {
    /// The cell as a borrowed view, which has all the fields.
    pub fn as_ref(&self) -> CellRef<'_> {
        let at = |start: u32, end: u32| &self.bytes[start as usize..end as usize];
        CellRef {
            row: at(0, self.row_end),
            family: at(self.row_end, self.family_end),
            qualifier: at(self.family_end, self.qualifier_end),
            timestamp: self.timestamp,
            cell_type: self.cell_type,
            value: at(self.qualifier_end, self.value_end),
            tags: &self.bytes[self.value_end as usize..],
            sequence_id: self.sequence_id,
        }
    }

    /// The row.
    pub fn row(&self) -> &[u8] {
        self.as_ref().row
    }

    /// The column family.
    pub fn family(&self) -> &[u8] {
        self.as_ref().family
    }

    /// The qualifier.
    pub fn qualifier(&self) -> &[u8] {
        self.as_ref().qualifier
    }

    /// The value.
    pub fn value(&self) -> &[u8] {
        self.as_ref().value
    }

    /// The value alone, in the memory that the cell was in.
    pub fn into_value(self) -> Vec<u8> {
        let mut bytes = self.bytes.into_vec();
        bytes.truncate(self.value_end as usize);
        bytes.drain(..self.qualifier_end as usize);
        bytes
    }

    /// The time of this version.
    pub const fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    /// The write that brought it.
    pub const fn sequence_id(&self) -> SequenceId {
        self.sequence_id
    }

    /// Put, or a kind of delete.
    pub const fn cell_type(&self) -> CellType {
        self.cell_type
    }

    /// Says when this version is of.
    pub const fn set_timestamp(&mut self, timestamp: Timestamp) {
        self.timestamp = timestamp;
    }

    /// Says which write brought it.
    pub const fn set_sequence_id(&mut self, sequence_id: SequenceId) {
        self.sequence_id = sequence_id;
    }
}

impl From<CellRef<'_>> for Cell {
    /// # Panics
    ///
    /// If the parts together are longer than 4 GiB, which no block can hold.
    fn from(cell: CellRef<'_>) -> Self {
        let parts = [cell.row, cell.family, cell.qualifier, cell.value, cell.tags];
        let bytes = parts.concat().into_boxed_slice();
        assert!(u32::try_from(bytes.len()).is_ok(), "a cell is shorter than 4 GiB");
        let row_end = cell.row.len() as u32;
        let family_end = row_end + cell.family.len() as u32;
        let qualifier_end = family_end + cell.qualifier.len() as u32;
        let value_end = qualifier_end + cell.value.len() as u32;
        Self {
            bytes,
            row_end,
            family_end,
            qualifier_end,
            value_end,
            timestamp: cell.timestamp,
            sequence_id: cell.sequence_id,
            cell_type: cell.cell_type,
        }
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.as_ref(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key<'a>(row: &'a [u8], qualifier: &'a [u8], millis: i64, type_code: u8) -> KeyRef<'a> {
        KeyRef { row, family: b"f", qualifier, timestamp: Timestamp::new(millis), type_code }
    }

    #[test]
    fn every_type_is_known_by_its_code() {
        let known: Vec<_> = (0..=u8::MAX).filter_map(CellType::from_code).collect();
        assert_eq!(known, CellType::ALL);
        assert!(CellType::ALL.iter().all(|it| CellType::from_code(it.code()) == Some(*it)));
    }

    #[test]
    fn newer_and_more_hiding_cells_come_first() {
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
    fn a_flat_key_reads_back() {
        let original = key(b"row1", b"a", 1000, 4);
        let mut flat = Vec::new();
        original.write_flat(&mut flat);
        assert_eq!(flat, b"\x00\x04row1\x01fa\x00\x00\x00\x00\x00\x00\x03\xe8\x04");
        assert_eq!(KeyRef::parse(&flat), Some(original));
        for cut in 0..flat.len() {
            // Without its last bytes the key is another one, or none: never out of bounds.
            let _ = KeyRef::parse(&flat[..cut]);
        }
        assert_eq!(KeyRef::parse(&flat[..12]), None);
    }

    #[test]
    fn an_owned_cell_shows_what_it_was_made_from() {
        let borrowed = CellRef {
            row: b"row",
            family: b"f",
            qualifier: b"q",
            timestamp: Timestamp::new(7),
            cell_type: CellType::Put,
            value: b"value",
            tags: b"\x00\x03\x40tg\x00\x01\x41",
            sequence_id: SequenceId::new(3),
        };
        let owned = borrowed.to_cell();
        assert_eq!(owned.as_ref(), borrowed);
        assert_eq!(borrowed.tags().collect::<Vec<_>>(), [(0x40, &b"tg"[..]), (0x41, &b""[..])]);
    }
}
