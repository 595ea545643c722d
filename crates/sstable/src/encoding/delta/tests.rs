//! The decoders against a simple reference decoder, also for damaged blocks.

use cells::{Cell, CellRef, CellType, Comparator, KeyRef, SequenceId, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

use super::cells::{DELTA_HEADER_LEN, DeltaCells};
use super::cursor::DeltaCursor;
use crate::buffers::Body;
use crate::encoding::plain::{cell_len, check_tags};
use crate::encoding::{
    BlockEncoder, CellLayout, Cells, CursorMove, DataBlockEncoding, tag_dictionary,
};
use crate::input::Input;

const ENCODINGS: [DataBlockEncoding; 3] =
    [DataBlockEncoding::Prefix, DataBlockEncoding::Diff, DataBlockEncoding::FastDiff];

fn layouts() -> impl Strategy<Value = CellLayout> {
    any::<[bool; 3]>().prop_map(|[tags, compressed_tags, mvcc]| CellLayout {
        tags,
        mvcc,
        compressed_tags,
        ..CellLayout::default()
    })
}

/// Cells that share varying fields with each other, in row order.
fn cells() -> impl Strategy<Value = Vec<Cell>> {
    let rows = prop_oneof![2 => vec(b'a'..b'c', 2), 1 => vec(b'a'..b'c', 0..4), 1 => vec(any::<u8>(), 30..50)];
    let qualifiers = prop_oneof![4 => vec(b'a'..b'c', 0..3), 1 => vec(any::<u8>(), 20..50)];
    let times = prop_oneof![0..3_i64, 0..0x1_0000_i64, 0..i64::MAX];
    let types = (0..5_usize).prop_map(|which| {
        [4, 8, 10, 12, 14].into_iter().filter_map(CellType::from_code).nth(which).expect("a type")
    });
    let values = prop_oneof![4 => vec(Just(b'v'), 0..4), 1 => vec(any::<u8>(), 100..200)];
    let tags = prop_oneof![Just(vec![]), Just(vec![0, 2, 7, 9]), Just(vec![0, 1, 1, 0, 2, 7, 9])];
    let numbers = prop_oneof![0..0x80_u64, any::<u64>().prop_map(|number| number >> 1)];
    let cell = (rows, qualifiers, times, types, values, tags, numbers).prop_map(
        |(row, qualifier, time, cell_type, value, tags, number)| {
            let put = CellRef::put(&row, b"family", &qualifier, Timestamp::new(time), &value);
            let sequence_id = SequenceId::new(number);
            CellRef { cell_type, tags: &tags, sequence_id, ..put }.to_cell()
        },
    );
    vec(cell, 1..8).prop_map(|mut cells| {
        cells.sort_by(|a, b| a.as_ref().row.cmp(b.as_ref().row));
        cells
    })
}

/// A change of one byte.
#[derive(Clone, Copy, Debug)]
struct Change {
    added: u8,
    flipped: u8,
}

/// Small changes of lengths, flipped flags, and arbitrary changes.
fn changes() -> impl Strategy<Value = Change> {
    let added = prop_oneof![1..4_u8, 250..=255_u8, any::<u8>()];
    let added = added.prop_map(|added| Change { added, flipped: 0 });
    let flipped = (0..8_u32).prop_map(|bit| Change { added: 0, flipped: 1_u8 << bit });
    prop_oneof![added, flipped]
}

fn encoded(encoding: DataBlockEncoding, layout: CellLayout, cells: &[Cell]) -> Vec<u8> {
    let mut encoder = BlockEncoder::new(encoding, layout);
    for cell in cells {
        encoder.append(&cell.as_ref());
    }
    encoder.finish().to_vec()
}

fn deltas(encoding: DataBlockEncoding, body: Vec<u8>) -> Option<DeltaCells> {
    match Cells::open(encoding, Body::from(body), 1 << 30) {
        Ok(Cells::Delta(deltas)) => Some(deltas),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30_000))]

    /// Also with a changed byte, and in the order of `hbase:meta`.
    #[test]
    fn decoders_agree_with_the_reference(
        layout in layouts(),
        encoding in prop::sample::select(&ENCODINGS[..]),
        cells in cells(),
        change in proptest::option::of((any::<prop::sample::Index>(), changes())),
        is_meta in prop::bool::weighted(0.1),
    ) {
        let order = if is_meta { Comparator::Meta } else { Comparator::Bytes };
        let layout = CellLayout { order, ..layout };
        let mut cells = cells;
        cells.sort_by(|a, b| order.compare_rows(a.row(), b.row()));
        let mut body = encoded(encoding, layout, &cells);
        if let Some((place, Change { added, flipped })) = &change {
            let at = place.index(body.len());
            body[at] = body[at].wrapping_add(*added) ^ flipped;
        }
        let expected = Reference::read_all(encoding, layout, &body);
        let Some(delta) = deltas(encoding, body) else { return Ok(()) };
        let (found, is_sound) = decoded(&delta, layout);
        prop_assert_eq!((&found, is_sound), (&expected.0, expected.1));
        if change.is_none() {
            let cells: Vec<_> = cells.iter().map(|cell| read_back(cell, layout)).collect();
            prop_assert_eq!((found, is_sound), (cells, true));
        }
    }
}

/// The cells up to the first damage, and whether the block is sound.
fn decoded(delta: &DeltaCells, layout: CellLayout) -> (Vec<Cell>, bool) {
    let mut cells: Vec<Cell> = Vec::new();
    let Ok(mut cursor) = DeltaCursor::begin(delta, layout) else { return (cells, false) };
    let mut is_new_row = true;
    loop {
        let cell = cursor.cell(delta);
        let mut key = Vec::new();
        cell.key().write_flat(&mut key);
        assert_eq!(cursor.flat_key(), key);
        assert_eq!(cursor.cell_len(), cell_len(&cell, layout));
        assert_eq!(is_new_row, cells.last().is_none_or(|before| before.row() != cell.row));
        cells.push(cell.to_cell());
        match cursor.step(delta) {
            Ok(CursorMove::End) => return (cells, true),
            Ok(step) => is_new_row = step == CursorMove::NextRow,
            Err(_) => return (cells, false),
        }
    }
}

/// A simple decoder, which follows the tables in [`prefix`](super::prefix), [`diff`](super::diff)
/// and [`fast_diff`](super::fast_diff) literally and copies whole keys.
struct Reference<'a> {
    input: Input<'a>,
    encoding: DataBlockEncoding,
    layout: CellLayout,
    family: Vec<u8>,
    key: Vec<u8>,
    value: &'a [u8],
    dictionary: tag_dictionary::Decoder,
    /// All decoded tags, to which the dictionary refers.
    tags: Vec<u8>,
}

impl<'a> Reference<'a> {
    fn read_all(
        encoding: DataBlockEncoding,
        layout: CellLayout,
        body: &'a [u8],
    ) -> (Vec<Cell>, bool) {
        let mut cells = Vec::new();
        let Some((header, payload)) = body.split_at_checked(DELTA_HEADER_LEN) else {
            return (cells, false);
        };
        let stated = i32::from_be_bytes(header[2..].try_into().expect("four bytes")) as usize;
        let mut reference = Self {
            input: Input::new(payload),
            encoding,
            layout,
            family: Vec::new(),
            key: Vec::new(),
            value: &[],
            dictionary: tag_dictionary::Decoder::default(),
            tags: Vec::new(),
        };
        let mut len = 0;
        let is_sound = (|| {
            if encoding == DataBlockEncoding::Diff {
                let len = i8::try_from(reference.input.u8()?).ok()? as usize;
                reference.family = reference.input.take(len)?.to_vec();
            }
            while !reference.input.is_empty() || cells.is_empty() {
                let before = cells.last().map(Cell::row).unwrap_or_default().to_vec();
                let cell = reference.read(cells.is_empty())?;
                len += cell_len(&cell.as_ref(), layout);
                if len > stated || layout.order.compare_rows(&before, cell.row()).is_gt() {
                    return None;
                }
                cells.push(cell);
            }
            (len == stated).then_some(())
        })();
        (cells, is_sound.is_some())
    }

    fn read(&mut self, is_first: bool) -> Option<Cell> {
        let before = KeyRef::parse(&self.key);
        let (time_before, type_before) =
            before.map_or((0, 0), |key| (key.timestamp.get(), key.type_code));
        let (row_end, qualifier_at) =
            before.map_or((0, 0), |key| (2 + key.row.len(), 3 + key.row.len() + key.family.len()));
        let (key, value_len, same_value);
        if self.encoding == DataBlockEncoding::Prefix {
            let own_len = self.input.vint()?;
            value_len = self.input.vint()?;
            let common = self.input.vint()?;
            key = [self.key.get(..common)?, self.input.take(own_len)?].concat();
            same_value = false;
        } else {
            let is_diff = self.encoding == DataBlockEncoding::Diff;
            let flags = self.input.u8()?;
            let has = |diff: u8, fast_diff: u8| flags & if is_diff { diff } else { fast_diff } != 0;
            if has(0, 0x80) || is_first && has(0x0f, 0xff) {
                return None;
            }
            let key_len = if has(1, 8) { self.key.len() } else { self.input.vint()? };
            value_len = if has(2, 0x10) { self.value.len() } else { self.input.vint()? };
            let common = self.input.vint()?;
            let shared = self.key.get(..common)?;
            same_value = has(0, 0x40);
            if is_first && !is_diff {
                key = self.input.take(key_len)?.to_vec();
                self.family = KeyRef::parse(&key)?.family.to_vec();
            } else {
                let time_at = key_len.checked_sub(9)?;
                let mut columns;
                if !is_first && common >= row_end {
                    if common < qualifier_at || common > self.key.len() - 9 {
                        return None;
                    }
                    columns = [shared, self.input.take(time_at.checked_sub(common)?)?].concat();
                } else {
                    columns = shared.to_vec();
                    while columns.len() < 2 {
                        columns.push(self.input.u8()?);
                    }
                    let row_len = u16::from_be_bytes([columns[0], columns[1]]);
                    let row_end = 2 + usize::from(row_len);
                    let row = self.input.take(row_end.checked_sub(columns.len())?)?;
                    columns.extend_from_slice(row);
                    columns.push(self.family.len() as u8);
                    columns.extend_from_slice(&self.family);
                    let qualifier = self.input.take(time_at.checked_sub(columns.len())?)?;
                    columns.extend_from_slice(qualifier);
                }
                let time = if is_diff {
                    self.diff_time(flags, time_before)?
                } else {
                    let mut time = time_before.to_be_bytes();
                    let shared = usize::from(flags & 7);
                    let own = self.input.take(8 - shared)?;
                    time[shared..].copy_from_slice(own);
                    i64::from_be_bytes(time)
                };
                let type_code = if has(4, 0x20) { type_before } else { self.input.u8()? };
                columns.extend_from_slice(&time.to_be_bytes());
                columns.push(type_code);
                key = columns;
            }
        }
        if same_value && value_len != self.value.len() {
            return None;
        }
        if !same_value {
            self.value = self.input.take(value_len)?;
        }
        self.key = key;
        self.cell()
    }

    fn diff_time(&mut self, flags: u8, before: i64) -> Option<i64> {
        let mut time = [0; 8];
        let own = self.input.take(usize::from(flags >> 4 & 7) + 1)?;
        time[..own.len()].copy_from_slice(own);
        let mut time = i64::from_le_bytes(time);
        if flags & 0x80 != 0 {
            time = time.wrapping_neg();
        }
        Some(if flags & 8 != 0 { before.wrapping_sub(time) } else { time })
    }

    /// Reads tags and sequence id, and returns the cell.
    fn cell(&mut self) -> Option<Cell> {
        let mut tags = &[][..];
        if self.layout.tags {
            let len = self.input.vint().filter(|len| *len <= 0x7fff)?;
            if self.layout.compressed_tags {
                let start = self.tags.len();
                self.dictionary.read(&mut self.input, len, &mut self.tags).ok()?;
                tags = &self.tags[start..];
            } else {
                tags = self.input.take(len)?;
                check_tags(tags).ok()?;
            }
        }
        let mut number = 0;
        if self.layout.mvcc {
            number = u64::try_from(self.input.hvlong()?).ok()?;
        }
        let key = KeyRef::parse(&self.key)?;
        let put = CellRef::put(key.row, key.family, key.qualifier, key.timestamp, self.value);
        let cell_type = CellType::from_code(key.type_code)?;
        let sequence_id = SequenceId::new(number);
        (key.timestamp.get() >= 0)
            .then(|| CellRef { cell_type, tags, sequence_id, ..put }.to_cell())
    }
}

/// The cell without the fields that this layout lacks.
fn read_back(cell: &Cell, layout: CellLayout) -> Cell {
    let mut cell = cell.as_ref();
    if !layout.tags {
        cell.tags = &[];
    }
    if !layout.mvcc {
        cell.sequence_id = SequenceId::default();
    }
    cell.to_cell()
}
