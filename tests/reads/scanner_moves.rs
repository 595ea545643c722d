//! A scanner that is moved at random stands where a list of the cells says.

use std::sync::Arc;

use bytes::Bytes;
use sstable::{
    BlockCache, Caching, Cell, DataBlockEncoding, FileName, KeyRef, Reader, ReaderOptions, Scanner,
    Timestamp, WriterOptions,
};
use support::cells::{Shape, cells, hfile};
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
