//! Half files: references to files of the parent region, between a split and the next compaction.
//!
//! After a split, a daughter region has no data files, only references to one half of each file of
//! the parent. The layout of a reference:
//!
//! | bytes | field     | meaning                                                                |
//! |------:|-----------|------------------------------------------------------------------------|
//! |     4 | magic     | `PBUF`                                                                 |
//! |       | message   | `Reference`: split key (1) and range (2; 0 top, 1 bottom), to the end  |
//!
//! The legacy layout is a boolean byte (top or not), the length of the split key as an hvlong, and
//! the split key. The bottom half has the cells before the split key, the top half all others.
//! HBase: `Reference`, `HalfStoreFileReader`.

use prost::Message;

use crate::input::Input;
use crate::{
    BlockOffset, Caching, CellRef, Damage, FileName, KeyRef, ReadTrace, Reader, Result, RowProbe,
    Scanner,
};

/// A half of a file.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Half {
    /// The cells from the split key on.
    Top,
    /// The cells before the split key.
    Bottom,
}

/// A reference to one half of a file: the split key and the half.
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

/// The message `Reference` of HBase's `HBase.proto`.
#[derive(Clone, PartialEq, Message)]
struct ReferenceMessage {
    #[prost(bytes = "vec", optional, tag = "1")]
    split_key: Option<Vec<u8>>,
    #[prost(int32, optional, tag = "2")]
    range: Option<i32>,
}

impl Reference {
    const MAGIC: &'static [u8] = b"PBUF";

    /// Returns a reference to a half of a file that is split before `row`.
    ///
    /// # Panics
    ///
    /// If the row exceeds the maximum length.
    pub fn new(row: &[u8], half: Half) -> Self {
        let mut split_key = Vec::new();
        KeyRef::before_row(row).write_flat(&mut split_key);
        Self { split_key, half }
    }

    /// Parses a reference; `name` is used in error messages.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the bytes are not a reference.
    pub fn parse(bytes: &[u8], name: &FileName) -> Result<Self> {
        let damaged = || {
            let what = "no reference to a half of a file".into();
            Damage { at: BlockOffset::default(), block: None, what }.in_file(name)
        };
        let parsed = match bytes.strip_prefix(Self::MAGIC) {
            Some(message) => Self::parse_message(message),
            None => Self::parse_legacy(bytes),
        };
        parsed.filter(|reference| KeyRef::parse(&reference.split_key).is_some()).ok_or_else(damaged)
    }

    fn parse_message(message: &[u8]) -> Option<Self> {
        let ReferenceMessage { split_key, range } = ReferenceMessage::decode(message).ok()?;
        let half = match range? {
            0 => Half::Top,
            1 => Half::Bottom,
            _ => return None,
        };
        Some(Self { split_key: split_key?, half })
    }

    fn parse_legacy(bytes: &[u8]) -> Option<Self> {
        let mut input = Input::new(bytes);
        let half = if input.u8()? == 0 { Half::Bottom } else { Half::Top };
        let len = usize::try_from(input.hvlong()?).ok()?;
        let split_key = input.take(len)?.to_vec();
        input.is_empty().then_some(Self { split_key, half })
    }

    /// Encodes the reference.
    pub fn to_bytes(&self) -> Vec<u8> {
        let range = match self.half {
            Half::Top => 0,
            Half::Bottom => 1,
        };
        let message =
            ReferenceMessage { split_key: Some(self.split_key.clone()), range: Some(range) };
        [Self::MAGIC, &message.encode_to_vec()].concat()
    }

    /// The half that is referred to.
    pub const fn half(&self) -> Half {
        self.half
    }

    /// The row of the split key: the smallest row that the top half can have.
    pub fn split_row(&self) -> &[u8] {
        KeyRef::parse(&self.split_key).map_or(&[], |key| key.row)
    }

    /// Whether a key belongs to this half. Compares bytewise: `hbase:meta` is never split.
    pub fn holds(&self, key: &KeyRef<'_>) -> bool {
        let is_top = KeyRef::parse(&self.split_key).is_none_or(|split| *key >= split);
        is_top == (self.half == Half::Top)
    }
}

/// A reader for one half of a file.
///
/// Uses the index and the filters of the whole file: a row that is not in the file is in neither
/// half.
#[derive(Clone, Debug)]
pub struct HalfReader {
    reader: Reader,
    reference: Reference,
}

impl HalfReader {
    /// Restricts `reader` to the half of a reference.
    pub const fn new(reader: Reader, reference: Reference) -> Self {
        Self { reader, reference }
    }

    /// The reader of the whole file.
    pub const fn whole(&self) -> &Reader {
        &self.reader
    }

    /// The split key and the half.
    pub const fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Looks up a row, as [`Reader::get_row`]; a row of the other half is out of range.
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

    /// Returns a scanner that is not yet positioned.
    pub fn scanner(&self, caching: Caching) -> HalfScanner {
        HalfScanner { scanner: self.reader.scanner(caching), reference: self.reference.clone() }
    }

    /// Returns a scanner for long scans, which reads ahead, as [`Reader::bulk_scanner`].
    pub fn bulk_scanner(&self) -> HalfScanner {
        HalfScanner { scanner: self.reader.bulk_scanner(), reference: self.reference.clone() }
    }
}

/// A [`Scanner`] over one half of a file.
#[derive(Debug)]
pub struct HalfScanner {
    scanner: Scanner,
    reference: Reference,
}

impl HalfScanner {
    /// The cell at the scanner; `None` outside the half.
    pub fn cell(&self) -> Option<CellRef<'_>> {
        self.scanner.cell().filter(|cell| self.reference.holds(&cell.key()))
    }

    /// Moves to the first cell of the half.
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

    /// Moves to the last cell of the half.
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

    /// Moves to the first cell of the half whose key is at least `key`.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek(&mut self, key: KeyRef<'_>) -> Result<()> {
        let is_before = self.reference.half == Half::Top && !self.reference.holds(&key);
        if is_before { self.seek_to_first() } else { self.scanner.seek(key) }
    }

    /// Moves to the last cell of the half whose key is less than `key`.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn seek_before(&mut self, key: KeyRef<'_>) -> Result<()> {
        let is_after = self.reference.half == Half::Bottom && !self.reference.holds(&key);
        if is_after { self.seek_to_last() } else { self.scanner.seek_before(key) }
    }

    /// Moves to the next cell; does nothing outside the half.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn advance(&mut self) -> Result<()> {
        if self.cell().is_none() {
            return Ok(());
        }
        self.scanner.advance()?;
        // The half ends within a block, so the rest of the block is not read: check the last
        // position.
        if self.cell().is_none() { self.scanner.check_place() } else { Ok(()) }
    }

    /// Moves to the previous cell; does nothing outside the half.
    ///
    /// # Errors
    ///
    /// If a block cannot be read.
    pub fn retreat(&mut self) -> Result<()> {
        if self.cell().is_some() { self.scanner.retreat() } else { Ok(()) }
    }

    /// Checks the rest of the current block, as [`Scanner::check_place`].
    ///
    /// # Errors
    ///
    /// If the block is damaged.
    pub fn check_place(&mut self) -> Result<()> {
        self.scanner.check_place()
    }

    /// The trace of the reads, as [`Scanner::trace`].
    pub fn trace(&self) -> &ReadTrace {
        self.scanner.trace()
    }

    /// Returns the trace of the reads and resets it, as [`Scanner::take_trace`].
    pub fn take_trace(&mut self) -> ReadTrace {
        self.scanner.take_trace()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use filter::Seed;

    use super::*;
    use crate::{Cell, ReaderOptions};

    const FILE: &[u8] = include_bytes!("../testdata/p11-prefix-none-row.hfile");

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
    fn two_halves_make_the_whole_for_every_split_row() {
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
    fn a_row_is_found_only_in_its_half() {
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
    fn every_seek_finds_the_next_cell_of_the_half() {
        let (reader, cells) = whole();
        let at = [0, 1, cells.len() / 2, cells.len() - 1];
        let splits = at.map(|index| cells[index].row().to_vec());
        for split in splits.into_iter().chain([b"".to_vec(), b"zzz".to_vec()]) {
            for half in [Half::Top, Half::Bottom] {
                let is_in_half = |cell: &&Cell| (cell.row() >= &split[..]) == (half == Half::Top);
                let of_half: Vec<&Cell> = cells.iter().filter(is_in_half).collect();
                let reader = HalfReader::new(reader.clone(), Reference::new(&split, half));
                let mut scanner = reader.scanner(Caching::Use);
                let near = cells.iter().filter(|cell| cell.row() == split).chain(&cells[..2]);
                let near = near.chain(cells.iter().rev().take(2)).chain(cells.iter().step_by(97));
                let own = near.map(|cell| cell.as_ref().key());
                for key in own
                    .flat_map(|key| [key, KeyRef::before_row(key.row), KeyRef::after_row(key.row)])
                {
                    let next = of_half.partition_point(|cell| cell.as_ref().key() < key);
                    let cell = |index: Option<usize>| {
                        of_half.get(index.unwrap_or(usize::MAX)).map(|cell| cell.as_ref())
                    };
                    scanner.seek(key).unwrap();
                    assert_eq!(scanner.cell(), cell(Some(next)), "{split:?} {half:?} {key}");
                    scanner.seek_before(key).unwrap();
                    assert_eq!(
                        scanner.cell(),
                        cell(next.checked_sub(1)),
                        "{split:?} {half:?} {key}"
                    );
                }
                // Beyond its ends, a half has no cells in either direction.
                scanner.seek_to_last().unwrap();
                scanner.advance().unwrap();
                assert_eq!(scanner.cell(), None);
                scanner.advance().unwrap();
                assert_eq!(scanner.cell(), None);
                scanner.seek_to_first().unwrap();
                scanner.retreat().unwrap();
                assert_eq!(scanner.cell(), None);
                scanner.retreat().unwrap();
                assert_eq!(scanner.cell(), None);
            }
        }
    }

    #[test]
    fn a_bulk_scanner_has_the_cells_of_the_half_and_counts_its_reads() {
        let (reader, cells) = whole();
        let split = cells[cells.len() / 2].row();
        let reader = HalfReader::new(reader, Reference::new(split, Half::Top));
        let mut scanner = reader.bulk_scanner();
        scanner.seek_to_first().unwrap();
        let mut count = 0;
        while let Some(cell) = scanner.cell() {
            assert!(cell.row >= split);
            count += 1;
            scanner.advance().unwrap();
        }
        assert_eq!(count, cells.iter().filter(|cell| cell.row() >= split).count());
        let blocks = scanner.trace().data_blocks();
        assert!(blocks > 0);
        assert_eq!(scanner.take_trace().data_blocks(), blocks);
        assert_eq!(scanner.trace().data_blocks(), 0);
        let (mut trace, other) = (ReadTrace::default(), cells[0].row());
        let found = reader.get_row(&RowProbe::new(other, Seed::default()), &mut trace).unwrap();
        assert!(found.is_none());
        assert_eq!((trace.files_considered, trace.files_skipped_by_range), (1, 1));
    }

    #[test]
    fn both_layouts_of_references_are_parsed_and_other_bytes_are_rejected() {
        let name = FileName::new("reference");
        let reference = Reference::new(b"row", Half::Bottom);
        let mut old = vec![0, reference.split_key.len() as u8];
        old.extend_from_slice(&reference.split_key);
        assert_eq!(Reference::parse(&old, &name).unwrap(), reference);
        old[0] = 1;
        assert_eq!(Reference::parse(&old, &name).unwrap(), Reference::new(b"row", Half::Top));
        old.push(0);
        assert!(Reference::parse(&old, &name).is_err());
        let top = Reference::new(b"row", Half::Top);
        assert_eq!(Reference::parse(&top.to_bytes(), &name).unwrap(), top);
        let unknown = [&top.to_bytes()[..top.to_bytes().len() - 1], &[2]].concat();
        assert!(Reference::parse(&unknown, &name).is_err());
        let bytes = reference.to_bytes();
        assert_eq!(&bytes[..6], b"PBUF\x0a\x0f");
        assert_eq!(&bytes[bytes.len() - 2..], b"\x10\x01");
        for len in 0..bytes.len() {
            assert!(Reference::parse(&bytes[..len], &name).is_err(), "{len}");
        }
        assert!(Reference::parse(FILE, &name).is_err());
    }
}
