use std::sync::Arc;

use super::*;
use crate::block::bloom::BloomBits;
use crate::block::cached::CachedBlock;
use crate::cache::BlockKey;
use crate::reader::tests::{ROWS, SEED, cached, open, row, with_filter, write};
use crate::scan::scanner::Place;
use crate::{
    BlockCache, BlockKind, BlockSource, DataBlockEncoding, FilterUse, ReadTrace, Reader,
    ReaderOptions, RowProbe, Scanner, WriterOptions,
};

/// Numbers of rows in no order, those that are there and those between them.
fn numbers() -> impl Iterator<Item = u32> {
    (0..2 * ROWS).map(|number| number * 2477 % (2 * ROWS))
}

/// What one lookup after the other finds, as [`together`] has it.
fn one_by_one(reader: &Reader, probes: &[RowProbe<'_>]) -> (Vec<(usize, Vec<u8>)>, ReadTrace) {
    let (mut found, mut trace) = (Vec::new(), ReadTrace::default());
    for (number, probe) in probes.iter().enumerate() {
        if let Some(scanner) = reader.get_row(probe, &mut trace).unwrap() {
            found.push((number, first_cell(&scanner)));
        }
    }
    (found, trace)
}

fn together(reader: &Reader, probes: &[RowProbe<'_>]) -> (Vec<(usize, Vec<u8>)>, ReadTrace) {
    let files = LookupFiles::new(vec![reader.lookup_file()]);
    let mut lookup = Lookup::rows(&files, probes);
    let found = lookup.by_ref().map(|found| {
        let found = found.unwrap();
        (found.row, first_cell(&found.scanner))
    });
    (found.collect(), *lookup.trace())
}

fn first_cell(scanner: &Scanner) -> Vec<u8> {
    let cell = scanner.cell().unwrap();
    [cell.row, cell.qualifier].concat()
}

#[test]
fn rows_are_found_and_counted_together_as_one_by_one() {
    let rows: Vec<_> = numbers().map(row).collect();
    let probes: Vec<_> = rows.iter().map(|row| RowProbe::new(row, SEED)).collect();
    for encoding in DataBlockEncoding::ALL {
        // The second has an index of three levels.
        for (block_size, index_block_size) in [(4000, 1 << 20), (300, 600)] {
            let options = with_filter()
                .data_block_encoding(encoding)
                .block_size(block_size)
                .index_block_size(index_block_size)
                .index_min_entries(4);
            let bytes = write(options);
            let small = || ReaderOptions::default().cache(Arc::new(BlockCache::new(20_000)));
            for (cache, options) in [("none", ReaderOptions::default()), ("large", cached())] {
                for filter_use in [FilterUse::Best, FilterUse::HBaseBloom, FilterUse::None] {
                    let reader = open(&bytes, options.clone().filter_use(filter_use));
                    // Then a cache with room for all has all.
                    one_by_one(&reader, &probes);
                    let (expected, expected_trace) = one_by_one(&reader, &probes);
                    let (found, trace) = together(&reader, &probes);
                    assert_eq!(found.len(), ROWS as usize);
                    assert_eq!(found, expected, "{encoding} {block_size} {cache} {filter_use:?}");
                    assert_eq!(trace, expected_trace, "{encoding} {cache} {filter_use:?}");
                }
            }
            let (found, _) = together(&open(&bytes, small()), &probes);
            assert_eq!(found.len(), ROWS as usize, "{encoding} {block_size}");
        }
    }
}

#[test]
fn columns_that_are_not_there_are_counted_together_as_one_by_one() {
    let bytes = write(WriterOptions::default().bloom_type(crate::BloomType::RowCol));
    let rows: Vec<_> = numbers().map(row).collect();
    let qualifiers = [&b"a"[..], b"b", b"c"].into_iter().cycle();
    let probes = rows.iter().zip(qualifiers);
    let probes: Vec<_> =
        probes.map(|(row, column)| RowProbe::new(row, SEED).with_column(column)).collect();
    let reader = open(&bytes, ReaderOptions::default());
    let (expected, expected_trace) = one_by_one(&reader, &probes);
    assert_eq!(together(&reader, &probes), (expected, expected_trace));
    assert!(expected_trace.filter_false_positives > 0);
}

#[test]
fn a_block_that_cannot_be_read_fails_the_rows_in_it_and_no_other() {
    let mut bytes = write(WriterOptions::default().block_size(4000));
    let damaged = bytes.windows(9).position(|window| window == b"row000500").unwrap();
    bytes[damaged] ^= 1;
    let rows: Vec<_> = (0..ROWS).map(|number| row(number * 2)).collect();
    let probes: Vec<_> = rows.iter().map(|row| RowProbe::new(row, SEED)).collect();
    let reader = open(&bytes, ReaderOptions::default());
    let expected: Vec<_> = probes
        .iter()
        .map(|probe| reader.get_row(probe, &mut ReadTrace::default()).is_ok())
        .collect();
    let files = LookupFiles::new(vec![reader.lookup_file()]);
    let is_found: Vec<_> = Lookup::rows(&files, &probes).map(|found| found.is_ok()).collect();
    assert_eq!(is_found, expected);
    let failed = is_found.iter().filter(|is_found| !**is_found).count();
    assert!(failed > 16 && failed < 100, "{failed}");
}

#[test]
fn a_block_is_found_without_the_cache_as_long_as_there_is_room_and_the_block() {
    let row = row(4000);
    let probe = RowProbe::new(&row, SEED);
    let bytes = write(WriterOptions::default());
    for has_room in [true, false] {
        let cache = Arc::new(BlockCache::new(8 << 20));
        let reader = open(&bytes, ReaderOptions::default().cache(Arc::clone(&cache)));
        let seek = || {
            let mut trace = ReadTrace::default();
            let scanner = reader.get_row(&probe, &mut trace).unwrap().unwrap();
            (scanner, BlockSource::ALL.map(|source| trace.blocks(BlockKind::Data, source)))
        };
        let (held, sources) = seek();
        assert_eq!(sources, [0, 1]);
        let Some(Place::Decoded { block, .. }) = held.place() else { panic!("not decoded") };
        let place = block.origin().place;
        if !has_room {
            for offset in 0..500 {
                let chunk = CachedBlock::Bloom(Arc::new(BloomBits::new(&[0; 10_000])));
                let key = BlockKey { file: u64::MAX, offset, is_preferred: false };
                cache.insert(key, chunk);
            }
        }
        assert_eq!(seek().1, [1, 0]);
        cache.forget(reader.file().blocks.key(place));
        // The scanner still holds it; but a cache without room wants to know what is used.
        assert_eq!(seek().1, if has_room { [1, 0] } else { [0, 1] });
        drop(held);
        assert_eq!(seek().1, if has_room { [0, 1] } else { [1, 0] });
        assert_eq!(seek().1, [1, 0]);

        // A slot keeps some bytes, which add up in a file whose blocks come and go.
        let reader = open(&bytes, ReaderOptions::default().cache(cache));
        let _held = reader.get_row(&probe, &mut ReadTrace::default()).unwrap();
        let root = &reader.file().index.as_ref().unwrap().root;
        let remembered = (0..root.len()).filter(|entry| root.slot(*entry).block().is_some());
        assert_eq!(remembered.count(), usize::from(has_room));
    }
}
