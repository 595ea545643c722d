//! A scanner that is moved at random stands where a list of the cells says, and cells of any length are found.

use std::sync::Arc;

use bytes::Bytes;
use filter::Seed;
use sstable::{
    BlockCache, Caching, Cell, CellRef, DataBlockEncoding, FileName, KeyRef, ReadTrace, Reader,
    ReaderOptions, RowProbe, Scanner, Timestamp, WriterOptions,
};
use support::cells::{PUT, Shape, cells, hfile};
use workload::Random;

const MOVES: usize = 600;

/// Moves a scanner and its place in the list; `None` is no position.
fn step(scanner: &mut Scanner, place: &mut Option<usize>, all: &[Cell], random: &mut Random) {
    let in_list = |place: usize| (place < all.len()).then_some(place);
    let cell = all[random.below(all.len())].as_ref();
    let key = match random.below(5) {
        0 => KeyRef::before_row(cell.row),
        1 => KeyRef::after_row(cell.row),
        2 => KeyRef { timestamp: Timestamp::new(cell.timestamp.get() - 1), ..cell.key() },
        _ => cell.key(),
    };
    let before_key = all.partition_point(|cell| cell.as_ref().key() < key);
    match random.below(16) {
        0 => {
            scanner.seek_to_first().unwrap();
            *place = Some(0);
        }
        1 => {
            scanner.seek_to_last().unwrap();
            *place = all.len().checked_sub(1);
        }
        2 => {
            scanner.seek(key).unwrap();
            *place = in_list(before_key);
        }
        3 => {
            scanner.seek_before(key).unwrap();
            *place = before_key.checked_sub(1);
        }
        4..10 => {
            scanner.advance().unwrap();
            *place = place.and_then(|place| in_list(place + 1));
        }
        _ => {
            scanner.retreat().unwrap();
            *place = place.and_then(|place| place.checked_sub(1));
        }
    }
}

/// In every encoding, with blocks of one cell up to the whole file, rows of one cell and of many, and
/// each way to read the blocks.
#[test]
fn a_scanner_moved_at_random_is_where_the_list_of_cells_says() {
    for (number, encoding) in DataBlockEncoding::ALL.into_iter().enumerate() {
        for (block_size, columns) in [(1, 4), (700, 40), (1 << 20, 40)] {
            let seed = (number * 10 + columns) as u64;
            let shape = Shape { rows: 30, columns, deletes: 15, tags: 15, ..Shape::default() };
            let all = cells(seed, shape);
            let options = WriterOptions::default().block_size(block_size).includes_tags(true);
            let options = options.data_block_encoding(encoding);
            let written = all.iter().map(Cell::as_ref);
            let bytes = Bytes::from(hfile("moves".as_ref(), options, written));
            let cached = ReaderOptions::default().cache(Arc::new(BlockCache::new(1 << 20)));
            let open = |options| {
                Reader::open(Arc::new(bytes.clone()), FileName::new("moves"), options).unwrap()
            };
            let (plain, cached) = (open(ReaderOptions::default()), open(cached));
            for mut scanner in
                [plain.scanner(Caching::Bypass), plain.bulk_scanner(), cached.scanner(Caching::Use)]
            {
                let (mut random, mut place) = (Random::new(seed), None);
                for number in 0..MOVES {
                    step(&mut scanner, &mut place, &all, &mut random);
                    let expected = place.map(|place| all[place].as_ref());
                    assert_eq!(
                        scanner.cell(),
                        expected,
                        "{encoding:?} {block_size}: move {number}"
                    );
                }
            }
        }
    }
}

/// Cells whose parts have each of some lengths, of which encodings treat short, long and equal ones apart.
fn of_lengths() -> Vec<Cell> {
    let lens = (1..=70).chain(126..=130).chain(254..=258).chain([16_383, 16_384, 32_766, 32_767]);
    let lens: Vec<usize> = lens.collect();
    let mut made = Vec::new();
    for (number, row_len) in lens.iter().enumerate() {
        let len_after = |offset: usize| lens[(number + offset) % lens.len()];
        let row = vec![b'r'; *row_len];
        // More different tags than a dictionary takes, and each of them again later.
        for offset in [0, 1, 37] {
            let (qualifier, value) =
                (vec![b'q'; len_after(offset) - 1], vec![7; len_after(offset + 50)]);
            let label = vec![number as u8; len_after(offset + 70).min(300)];
            let len = u16::try_from(label.len() + 1).unwrap();
            let tags = [&len.to_be_bytes()[..], b"A", &label[..]].concat();
            made.push(
                CellRef { row: &row, qualifier: &qualifier, value: &value, tags: &tags, ..PUT }
                    .to_cell(),
            );
        }
    }
    made.sort_by(|one, other| one.as_ref().compare(&other.as_ref()));
    made
}

#[test]
fn cells_with_parts_of_every_length_are_found_and_read_as_written() {
    let all = of_lengths();
    for encoding in DataBlockEncoding::ALL {
        for block_size in [1, 2_000, 64 << 10, 8 << 20] {
            let options = WriterOptions::default().block_size(block_size).includes_tags(true);
            let options = options.data_block_encoding(encoding).includes_mvcc(false);
            let bytes =
                Bytes::from(hfile("lengths".as_ref(), options, all.iter().map(Cell::as_ref)));
            let cached = ReaderOptions::default().cache(Arc::new(BlockCache::new(64 << 20)));
            let reader = Reader::open(Arc::new(bytes), FileName::new("lengths"), cached).unwrap();
            let place = format!("{encoding:?} {block_size}");
            for mut scanner in [reader.bulk_scanner(), reader.scanner(Caching::Use)] {
                scanner.seek_to_first().unwrap();
                for cell in &all {
                    assert!(scanner.cell() == Some(cell.as_ref()), "{place}: {:?}", scanner.cell());
                    scanner.advance().unwrap();
                }
                assert!(scanner.cell().is_none(), "{place}");
            }
            for row in all.chunk_by(|one, other| one.row() == other.row()) {
                let probe = RowProbe::new(row[0].row(), Seed::default());
                let found = reader.get_row(&probe, &mut ReadTrace::default()).unwrap().unwrap();
                assert!(found.cell() == Some(row[0].as_ref()), "{place}: {:?}", found.cell());
                let absent = [row[0].row(), b"\0"].concat();
                let probe = RowProbe::new(&absent, Seed::default());
                assert!(reader.get_row(&probe, &mut ReadTrace::default()).unwrap().is_none());
            }
        }
    }
}

/// A block of as many bytes as the table of its rows can number, one fewer and one more.
#[test]
fn every_row_of_a_block_of_about_a_mebibyte_is_found() {
    const ROWS: usize = 1_500;
    for len in (1 << 20) - 2..=(1 << 20) + 1 {
        // Each cell takes 30 bytes beside its value.
        let rows: Vec<_> = (0..ROWS).map(|row| format!("row{row:05}")).collect();
        let value_len =
            |row: usize| (len - 30 * ROWS) / ROWS + usize::from(row < (len - 30 * ROWS) % ROWS);
        let values: Vec<_> = (0..ROWS).map(|row| vec![row as u8; value_len(row)]).collect();
        let cells = rows.iter().zip(&values);
        let cells = cells.map(|(row, value)| CellRef { row: row.as_bytes(), value, ..PUT });
        let options = WriterOptions::default().block_size(2 << 20).includes_mvcc(false);
        let bytes = Bytes::from(hfile("long".as_ref(), options, cells));
        let cached = ReaderOptions::default().cache(Arc::new(BlockCache::new(64 << 20)));
        let reader = Reader::open(Arc::new(bytes), FileName::new("long"), cached).unwrap();
        let (_, header) = reader.blocks().headers().next().unwrap().unwrap();
        assert_eq!(header.uncompressed_size as usize, len);
        for row in rows.iter().rev().chain(&rows) {
            let probe = RowProbe::new(row.as_bytes(), Seed::default());
            let found = reader.get_row(&probe, &mut ReadTrace::default()).unwrap().unwrap();
            assert_eq!(found.cell().unwrap().row, row.as_bytes());
        }
        for row in rows.iter().map(|row| format!("{row}x")) {
            let probe = RowProbe::new(row.as_bytes(), Seed::default());
            assert!(reader.get_row(&probe, &mut ReadTrace::default()).unwrap().is_none());
        }
    }
}
