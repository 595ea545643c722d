//! Half files: what a region reads of its parent's files between a split and the next compaction.
//!
//! After a split a daughter region holds no data of its own, but small files that refer to a file of
//! the parent and say which half of it counts. Such a reference is
//!
//! | bytes | field     | meaning                                                                |
//! |------:|-----------|------------------------------------------------------------------------|
//! |     4 | magic     | `PBUF`                                                                 |
//! |       | message   | `Reference`: split key (1) and range (2; 0 top, 1 bottom), to the end  |
//!
//! and in files of old a truth (top or not) and the split key behind an hvlong of its length. The
//! bottom half are the cells before the split key, the top half all others. HBase: `Reference`,
//! `HalfStoreFileReader`.

use prost::Message;

use crate::input::Input;
use crate::{
    BlockOffset, Caching, CellRef, Damage, FileName, KeyRef, ReadTrace, Reader, Result, RowProbe,
    Scanner,
};

/// Which half of a file.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Half {
    /// The cells from the split key on.
    Top,
    /// The cells before the split key.
    Bottom,
}

/// What a reference says: where the file is split, and which half of it counts.
///
/// ```
/// use sstable::{FileName, Half, Reference};
///
/// let reference = Reference::new(b"row5", Half::Top);
/// assert_eq!(Reference::parse(&reference.to_bytes(), &FileName::new("4f1c.9a"))?, reference);
/// assert_eq!(reference.split_row(), b"row5");
/// # Ok::<(), sstable::Error>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reference {
    split_key: Vec<u8>,
    half: Half,
}

/// `Reference` of HBase's `HBase.proto`.
#[derive(Clone, PartialEq, Message)]
struct Proto {
    #[prost(bytes = "vec", optional, tag = "1")]
    split_key: Option<Vec<u8>>,
    #[prost(int32, optional, tag = "2")]
    range: Option<i32>,
}

impl Reference {
    const MAGIC: &'static [u8] = b"PBUF";

    /// Refers to a half of a file split before `row`.
    ///
    /// # Panics
    ///
    /// If the row is longer than a key can hold.
    pub fn new(row: &[u8], half: Half) -> Self {
        let mut split_key = Vec::new();
        KeyRef::before_row(row).write_flat(&mut split_key);
        Self { split_key, half }
    }

    /// Reads the bytes of a reference; errors call the file `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if they are none.
    pub fn parse(bytes: &[u8], name: &FileName) -> Result<Self> {
        let damaged = || {
            let what = "no reference to a half of a file".into();
            Damage { at: BlockOffset::default(), block: None, what }.in_file(name)
        };
        let parsed = match bytes.strip_prefix(Self::MAGIC) {
            Some(message) => Self::parse_message(message),
            None => Self::parse_old(bytes),
        };
        parsed.filter(|it| KeyRef::parse(&it.split_key).is_some()).ok_or_else(damaged)
    }

    fn parse_message(message: &[u8]) -> Option<Self> {
        let Proto { split_key, range } = Proto::decode(message).ok()?;
        let half = match range? {
            0 => Half::Top,
            1 => Half::Bottom,
            _ => return None,
        };
        Some(Self { split_key: split_key?, half })
    }

    fn parse_old(bytes: &[u8]) -> Option<Self> {
        let mut input = Input::new(bytes);
        let half = if input.u8()? == 0 { Half::Bottom } else { Half::Top };
        let len = usize::try_from(input.hvlong()?).ok()?;
        let split_key = input.take(len)?.to_vec();
        input.is_empty().then_some(Self { split_key, half })
    }

    /// The bytes of the reference.
    pub fn to_bytes(&self) -> Vec<u8> {
        let range = match self.half {
            Half::Top => 0,
            Half::Bottom => 1,
        };
        let message = Proto { split_key: Some(self.split_key.clone()), range: Some(range) };
        [Self::MAGIC, &message.encode_to_vec()].concat()
    }

    /// Which half.
    pub const fn half(&self) -> Half {
        self.half
    }

    /// The first row of the top half, there or not.
    pub fn split_row(&self) -> &[u8] {
        KeyRef::parse(&self.split_key).map_or(&[], |key| key.row)
    }

    /// Whether a key is of this half, by the order of bytes: `hbase:meta` is never split.
    pub fn holds(&self, key: &KeyRef<'_>) -> bool {
        let is_top = KeyRef::parse(&self.split_key).is_none_or(|split| *key >= split);
        is_top == (self.half == Half::Top)
    }
}

/// Half of a file. The index and the filters are those of the whole; a filter that denies a row of
/// the whole denies it of each half.
#[derive(Clone, Debug)]
pub struct HalfReader {
    reader: Reader,
    reference: Reference,
}

impl HalfReader {
    /// Reads of a file what a reference counts.
    pub const fn new(reader: Reader, reference: Reference) -> Self {
        Self { reader, reference }
    }

    /// The whole file.
    pub const fn whole(&self) -> &Reader {
        &self.reader
    }

    /// Looks a row up, as [`Reader::get_row`] does; a row of the other half is out of range.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn get_row(
        &self,
        probe: &RowProbe<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<HalfScanner>> {
        if !self.reference.holds(&KeyRef::before_row(probe.row())) {
            trace.files_considered = trace.files_considered.saturating_add(1);
            trace.files_skipped_by_range = trace.files_skipped_by_range.saturating_add(1);
            return Ok(None);
        }
        let found = self.reader.get_row(probe, trace)?;
        Ok(found.map(|scanner| HalfScanner { scanner, reference: self.reference.clone() }))
    }

    /// A scanner that stands nowhere yet.
    pub fn scanner(&self, caching: Caching) -> HalfScanner {
        HalfScanner { scanner: self.reader.scanner(caching), reference: self.reference.clone() }
    }
}

/// A [`Scanner`] that sees half of its file.
#[derive(Debug)]
pub struct HalfScanner {
    scanner: Scanner,
    reference: Reference,
}

impl HalfScanner {
    /// The cell it stands on; `None` outside the half.
    pub fn cell(&self) -> Option<CellRef<'_>> {
        self.scanner.cell().filter(|cell| self.reference.holds(&cell.key()))
    }

    /// Goes to the first cell of the half.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_to_first(&mut self) -> Result<()> {
        match (self.reference.half, KeyRef::parse(&self.reference.split_key)) {
            (Half::Top, Some(split)) => self.scanner.seek(split),
            _ => self.scanner.seek_to_first(),
        }
    }

    /// Goes to the last cell of the half.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_to_last(&mut self) -> Result<()> {
        match (self.reference.half, KeyRef::parse(&self.reference.split_key)) {
            (Half::Bottom, Some(split)) => self.scanner.seek_before(split),
            _ => self.scanner.seek_to_last(),
        }
    }

    /// Goes to the first cell of the half that is not before `key`.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        let is_before = self.reference.half == Half::Top && !self.reference.holds(&key);
        if is_before { self.seek_to_first() } else { self.scanner.seek(key) }
    }

    /// Goes to the last cell of the half that is before `key`.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_before(&mut self, key: KeyRef<'_>) -> Result<()> {
        let is_behind = self.reference.half == Half::Bottom && !self.reference.holds(&key);
        if is_behind { self.seek_to_last() } else { self.scanner.seek_before(key) }
    }

    /// Goes to the next cell; outside the half it stays where it is.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn advance(&mut self) -> Result<()> {
        if self.cell().is_none() {
            return Ok(());
        }
        self.scanner.advance()?;
        // Here the half ends, and with it what is read of the block.
        if self.cell().is_none() { self.scanner.check_place() } else { Ok(()) }
    }

    /// Goes to the cell before; outside the half it stays where it is.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn retreat(&mut self) -> Result<()> {
        if self.cell().is_some() { self.scanner.retreat() } else { Ok(()) }
    }

    /// What it has read, as [`Scanner::trace`].
    pub fn trace(&self) -> &ReadTrace {
        self.scanner.trace()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use filter::Seed;

    use super::*;
    use crate::{Cell, ReaderOptions};

    const FILE: &[u8] = include_bytes!("../../../tests/data/hfile/p11-prefix-none-row.hfile");

    fn whole() -> (Reader, Vec<Cell>) {
        let source = Arc::new(Bytes::from_static(FILE));
        let reader =
            Reader::open(source, FileName::new("whole"), ReaderOptions::default()).unwrap();
        let mut scanner = reader.scanner(Caching::Use);
        scanner.seek_to_first().unwrap();
        let mut cells = Vec::new();
        while let Some(cell) = scanner.cell() {
            cells.push(cell.to_cell());
            scanner.advance().unwrap();
        }
        (reader, cells)
    }

    #[test]
    fn two_halves_make_the_whole_wherever_it_is_split() {
        let (reader, cells) = whole();
        let rows = cells.iter().step_by(37).map(|cell| cell.row().to_vec());
        for split in rows.chain([b"".to_vec(), b"zzz".to_vec()]) {
            let (mut found, mut backwards) = (Vec::new(), Vec::new());
            for half in [Half::Bottom, Half::Top] {
                let reader = HalfReader::new(reader.clone(), Reference::new(&split, half));
                let mut scanner = reader.scanner(Caching::Use);
                scanner.seek_to_first().unwrap();
                while let Some(cell) = scanner.cell() {
                    found.push(cell.to_cell());
                    scanner.advance().unwrap();
                }
                let mut reversed = Vec::new();
                scanner.seek_to_last().unwrap();
                while let Some(cell) = scanner.cell() {
                    reversed.push(cell.to_cell());
                    scanner.retreat().unwrap();
                }
                backwards.extend(reversed.into_iter().rev());
            }
            assert!(found == cells, "split at {split:?}");
            assert!(backwards == cells, "split at {split:?}, backwards");
        }
    }

    #[test]
    fn a_row_is_found_in_its_half_only() {
        let (reader, cells) = whole();
        let split = cells[cells.len() / 2].row();
        for cell in cells.iter().step_by(11) {
            for half in [Half::Top, Half::Bottom] {
                let reader = HalfReader::new(reader.clone(), Reference::new(split, half));
                let probe = RowProbe::new(cell.row(), Seed::default());
                let found = reader.get_row(&probe, &mut ReadTrace::default()).unwrap();
                assert_eq!(found.is_some(), (cell.row() >= split) == (half == Half::Top));
            }
        }
    }

    #[test]
    fn seeks_stay_in_their_half() {
        let (reader, cells) = whole();
        let split = cells[cells.len() / 2].row().to_vec();
        let start = cells.partition_point(|cell| cell.row() < &split[..]);
        let mut top = HalfReader::new(reader.clone(), Reference::new(&split, Half::Top))
            .scanner(Caching::Use);
        top.seek(cells[0].as_ref().key()).unwrap();
        assert_eq!(top.cell(), Some(cells[start].as_ref()));
        top.seek_before(cells[start].as_ref().key()).unwrap();
        assert_eq!(top.cell(), None);
        let mut bottom =
            HalfReader::new(reader, Reference::new(&split, Half::Bottom)).scanner(Caching::Use);
        bottom.seek_before(cells[cells.len() - 1].as_ref().key()).unwrap();
        assert_eq!(bottom.cell(), Some(cells[start - 1].as_ref()));
        bottom.seek(cells[start].as_ref().key()).unwrap();
        assert_eq!(bottom.cell(), None);
    }

    #[test]
    fn references_come_in_two_forms_and_nothing_else_is_one() {
        let name = FileName::new("reference");
        let reference = Reference::new(b"row", Half::Bottom);
        let mut old = vec![0, reference.split_key.len() as u8];
        old.extend_from_slice(&reference.split_key);
        assert_eq!(Reference::parse(&old, &name).unwrap(), reference);
        let bytes = reference.to_bytes();
        assert_eq!(&bytes[..6], b"PBUF\x0a\x0f");
        assert_eq!(&bytes[bytes.len() - 2..], b"\x10\x01");
        for len in 0..bytes.len() {
            assert!(Reference::parse(&bytes[..len], &name).is_err(), "{len}");
        }
        assert!(Reference::parse(FILE, &name).is_err());
    }
}
