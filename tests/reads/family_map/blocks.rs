//! Maps that name data blocks, and the choice of a map by the store.

use sstable::{Caching, Reader, ReaderOptions};

use super::*;

fn trace_of(store: &Store, row: u64) -> ReadTrace {
    let (cells, trace) = store.get_traced(&Get::row(key(row)).column("f", "q")).unwrap();
    assert_eq!(cells.len(), 1, "{row}");
    trace
}

/// Returns the number of the data block of each row of a file with one cell a row.
fn block_numbers(file: &Path) -> Vec<u16> {
    let reader = Reader::open_file(file, ReaderOptions::default()).unwrap();
    let mut cells = reader.scanner(Caching::Bypass);
    cells.seek_to_first().unwrap();
    let mut blocks = Vec::new();
    while cells.cell().is_some() {
        blocks.push(cells.block_offset().unwrap());
        cells.advance().unwrap();
    }
    let mut offsets = blocks.clone();
    offsets.dedup();
    let number = |block| offsets.iter().position(|offset| offset == block).unwrap();
    blocks.iter().map(|block| u16::try_from(number(block)).unwrap()).collect()
}

#[test]
fn explain_shows_the_block_that_the_map_named() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", of_blocks()).unwrap();
    for file in 0..2 {
        write(&store, (file..600).step_by(2), "value");
        store.flush().unwrap();
    }
    let explain = |row| store.explain(&Get::row(key(row))).unwrap().families.remove(0).files;
    // The newer file has the odd rows, and comes first.
    let files = explain(0);
    let numbers = [1, 0].map(|file| {
        let file: &store::FileExplanation = &files[file];
        block_numbers(&directory.path().join("f").join(&file.name))
    });
    assert!(numbers.iter().all(|numbers| *numbers.last().unwrap() > 5), "files of many blocks");
    let (mut denied, mut unknown) = (0, 0);
    for row in 0..600 {
        let files = explain(row);
        let found = usize::from(row % 2 == 0);
        let (wanted, other) = (numbers[row as usize % 2][row as usize / 2], &files[1 - found]);
        match files[found].block_named_by_map {
            Some(number) => assert_eq!(number, wanted, "{row}"),
            // Two rows of a file share an entry.
            None => unknown += 1,
        }
        if other.fate == FileFate::DeniedByMap {
            denied += 1;
            assert_eq!(other.block_named_by_map, None, "{row}");
        }
    }
    assert!(denied > 200 && unknown < 10, "{denied} {unknown}");
    let of_filters = FamilyOptions::default().family_map(MapMode::Off);
    store.alter_family("f", of_filters).unwrap();
    assert!(explain(0).iter().all(|file| file.block_named_by_map.is_none()));
}

/// The output of a compaction has other blocks than the files whose slots it has got.
#[test]
fn the_block_numbers_of_replaced_files_are_ignored() {
    // Half of the cache has room for one map, so none with the blocks of the output is made.
    let store = TestStore::with_family(
        options().cache_bytes(180_000),
        of_blocks().bloom_type(BloomType::None),
    );
    for file in 0..4 {
        write(&store, (file * 3_000..).take(3_000), "value");
        store.flush().unwrap();
    }
    assert_eq!(map_stats(&store).files_with_blocks, 4);
    store.compact("f", true).unwrap();
    let stats = map_stats(&store);
    assert_eq!((stats.covered_files, stats.files_with_blocks), (1, 0));
    for row in 0..12_000 {
        let trace = trace_of(&store, row);
        assert_eq!((trace.map_candidates, trace.map_blocks), (1, 0), "{row}");
    }
}

#[test]
fn a_compaction_inserts_the_blocks_of_its_output() {
    let store = TestStore::with_family(options(), of_blocks());
    for file in 0..5 {
        write(&store, file * 100..file * 100 + 300, "value");
        store.flush().unwrap();
    }
    let before = map_stats(&store);
    let snapshot = store.snapshot();
    store.compact("f", true).unwrap();
    let after = map_stats(&store);
    assert_eq!((before.files_with_blocks, after.files_with_blocks), (5, 1));
    assert!(after.free_entries < before.free_entries);
    assert_eq!(store.stats().map_builds, 0);
    for row in 0..700 {
        assert!(trace_of(&store, row).map_blocks <= 1);
        assert!(!snapshot.get(&Get::row(key(row))).unwrap().is_empty(), "{row}");
    }
    // A copy with another filter has the same rows, and its blocks are read.
    store.rebuild_filters("f").unwrap();
    store.flush().unwrap();
    assert!((0..700).all(|row| !store.get(&Get::row(key(row))).unwrap().is_empty()));
}

/// The entries of all leaves of an index stay in memory, so a get reads one block and nothing else.
#[test]
fn a_get_of_a_large_index_with_a_full_cache_reads_one_block() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("store");
    let small = options().index_block_size(512).cache_bytes(600_000);
    let family = of_blocks().bloom_type(BloomType::None);
    let store = Store::open(&place, small.clone()).unwrap();
    store.create_family("f", family).unwrap();
    let value = "value".repeat(20);
    for file in 0..4 {
        write(&store, (file..8_000).step_by(4), &value);
        store.flush().unwrap();
    }
    drop(store);
    let store = Store::open(&place, small).unwrap();
    let stats = map_stats(&store);
    assert_eq!((stats.mode, stats.files_with_blocks), (MapMode::Blocks, 4));
    let mut random = Random::new(1);
    let mut sum = ReadTrace::default();
    for _ in 0..8_000 {
        sum.add(&trace_of(&store, random.below(8_000) as u64));
    }
    assert_eq!(sum.blocks(BlockKind::Index, BlockSource::File), 0);
    assert_eq!(sum.blocks(BlockKind::Index, BlockSource::Cache), 0);
    assert!(sum.blocks(BlockKind::Data, BlockSource::File) > 4_000, "the cache is small: {sum:?}");
    assert!(sum.data_blocks() < 8_200 && sum.map_blocks > 7_800, "{sum:?}");
    let absent = |row: u64| store.get(&Get::row(format!("{}x", key(row)))).unwrap();
    assert!((0..8_000).all(|row| absent(row).is_empty()));
}

#[test]
fn the_store_makes_a_map_for_two_files_and_drops_it_for_one() {
    let store = TestStore::with_family(options(), FamilyOptions::default());
    for file in 0..8_u64 {
        let map = store.stats().families[0].map;
        assert_eq!(map.map(|map| map.covered_files), (file > 1).then_some(file));
        write(&store, (file..800).step_by(8), "value");
        store.flush().unwrap();
    }
    let stats = map_stats(&store);
    assert_eq!((stats.mode, stats.covered_files), (MapMode::Blocks, 8));
    assert_eq!(trace_of(&store, 5).filter_checks, 0);
    store.compact("f", true).unwrap();
    assert_eq!(store.stats().families[0].map, None);
    assert_eq!(trace_of(&store, 5).filter_checks, 1);
}

/// Reading all rows of a store that was opened for a few gets would take longer than the gets.
#[test]
fn the_files_of_a_reopened_store_are_read_once_gets_have_asked_as_many_filters() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("store");
    let store = open(&place);
    store.create_family("f", FamilyOptions::default()).unwrap();
    for file in 0..9_u64 {
        write(&store, (file..900).step_by(9), "value");
        store.flush().unwrap();
    }
    drop(store);
    let store = open(&place);
    assert_eq!(store.stats().families[0].map, None);
    let checks = || store.stats().families[0].reads.filter_checks;
    while checks() < 880 {
        trace_of(&store, checks() % 900);
    }
    write(&store, 0..1, "value");
    store.flush().unwrap();
    assert_eq!(store.stats().families[0].map, None);
    while checks() < 900 {
        trace_of(&store, checks() % 900);
    }
    write(&store, 0..1, "value");
    store.flush().unwrap();
    assert_eq!(covered(&store), 11);

    let store = {
        drop(store);
        Store::open(&place, options().background(true)).unwrap()
    };
    for row in (0..900).cycle().take(4_000) {
        trace_of(&store, row);
    }
    for _ in 0..3_000 {
        if covered(&store) == 11 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not covered after 30 s: {:?}", store.stats());
}

#[test]
fn an_altered_mode_is_followed() {
    let store = TestStore::with_family(options(), family());
    for file in 0..3 {
        write(&store, file * 100..file * 100 + 300, "value");
        store.flush().unwrap();
    }
    let alter = |mode| {
        store.alter_family("f", store.family("f").unwrap().family_map(mode)).unwrap();
        assert!((0..500).all(|row| !store.get(&Get::row(key(row))).unwrap().is_empty()));
        store.stats().families[0].map
    };
    let blocks = alter(MapMode::Blocks).unwrap();
    assert_eq!((blocks.mode, blocks.files_with_blocks), (MapMode::Blocks, 3));
    let files = alter(MapMode::Files).unwrap();
    assert_eq!((files.mode, files.covered_files, files.files_with_blocks), (MapMode::Files, 3, 0));
    assert!(files.bytes < blocks.bytes);
    assert_eq!(alter(MapMode::Off), None);
    assert!(store.stats().cache.reserved_bytes < 10_000);
    let chosen = alter(MapMode::Auto).unwrap();
    assert_eq!((chosen.mode, chosen.covered_files), (MapMode::Blocks, 3));
    store.compact("f", true).unwrap();
    assert_eq!(store.stats().families[0].map, None, "a single file needs no map");
}
