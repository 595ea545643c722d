//! Usual cells against the same cells read in all steps.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::Cell;
use crate::buffers::Body;
use crate::encoding::{BlockEncoder, Cells};

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

/// Cells that share much with one another, now this and now that, in the order of their rows.
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

/// What is done to a byte.
#[derive(Clone, Copy, Debug)]
struct Change {
    added: u8,
    flipped: u8,
}

/// Lengths become a little longer or shorter, flags are set and cleared, and anything else.
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

    /// Also where a byte is not what it was.
    #[test]
    fn usual_cells_are_read_as_in_all_steps(
        layout in layouts(),
        encoding in prop::sample::select(&ENCODINGS[..]),
        cells in cells(),
        change in proptest::option::of((any::<prop::sample::Index>(), changes())),
    ) {
        let mut body = encoded(encoding, layout, &cells);
        if let Some((place, Change { added, flipped })) = &change {
            let at = place.index(body.len());
            body[at] = body[at].wrapping_add(*added) ^ flipped;
        }
        let Some(deltas) = deltas(encoding, body) else { return Ok(()) };
        let Ok(mut walk) = DeltaCursor::begin(&deltas, layout) else { return Ok(()) };
        let mut other = walk.clone();
        let mut expected = cells.iter();
        loop {
            let cell = walk.cell(&deltas);
            prop_assert_eq!(cell, other.cell(&deltas));
            prop_assert_eq!(walk.key(), other.key());
            prop_assert_eq!(walk.position()..walk.cell_len(), other.position()..other.cell_len());
            if change.is_none() {
                let expected = expected.next().map(|cell| read_back(cell, layout));
                prop_assert_eq!(Some(cell.to_cell()), expected);
            }
            let step = walk.step(&deltas);
            prop_assert_eq!(&step, &other.step_in_all_steps(&deltas));
            match step {
                Ok(Step::End) => break,
                Err(_) => {
                    prop_assert!(change.is_some());
                    return Ok(());
                }
                Ok(_) => {}
            }
        }
        prop_assert!(change.is_some() || expected.next().is_none());
    }
}

/// What a file of this layout has of a cell.
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

/// Otherwise a scan would be slow, and the test above hold two equal ways against each other.
#[test]
fn rows_of_one_length_and_their_columns_and_versions_are_usual() {
    let mut cells = Vec::new();
    for row in ["row10", "row11", "row20"] {
        for (qualifier, time) in [("a", 9), ("a", 8), ("b", 700), ("long qualifier", 9)] {
            let value = if time == 8 { "a value" } else { "" };
            let time = Timestamp::new(time);
            let cell =
                CellRef::put(row.as_bytes(), b"f", qualifier.as_bytes(), time, value.as_bytes());
            cells.push(CellRef { sequence_id: SequenceId::new(700), ..cell }.to_cell());
        }
    }
    for (tags, mvcc) in [(false, false), (false, true), (true, true)] {
        let layout = CellLayout { tags, mvcc, ..CellLayout::default() };
        for encoding in ENCODINGS {
            let deltas = deltas(encoding, encoded(encoding, layout, &cells)).expect("differences");
            let mut walk = DeltaCursor::begin(&deltas, layout).expect("sound");
            for cell in &cells[1..] {
                let mut usual = walk.clone();
                let step = match encoding {
                    DataBlockEncoding::Prefix => prefix::decode_usual(&mut usual, &deltas),
                    DataBlockEncoding::Diff => diff::decode_usual(&mut usual, &deltas),
                    _ => fast_diff::decode_usual(&mut usual, &deltas),
                };
                assert!(step.is_some(), "{encoding} {layout:?} {cell:?}");
                assert_eq!(walk.step_in_all_steps(&deltas).ok(), step);
            }
        }
    }
}
