//! The filters of covered files leave memory, and serve again when the files are not covered.

use super::*;

const FILES: u64 = 16;
const ROWS: u64 = 16_000;

/// Families with HBase's filter and with ours.
fn filters() -> [FamilyOptions; 2] {
    let ours = |family: FamilyOptions| {
        let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
        family.bloom_type(BloomType::None).filter(FilterKind::BlockedBloom, sizing)
    };
    let off = FamilyOptions::default().family_map(MapMode::Off);
    let bloom = off.clone().bloom_type(BloomType::Row);
    [bloom, ours(off)]
}

/// Returns a store with 16 files, of which no map covers any.
fn store_with_files(directory: &Path, family: FamilyOptions, options: StoreOptions) -> Store {
    let store = Store::open(directory, options).unwrap();
    store.create_family("f", family).unwrap();
    for file in 0..FILES {
        write(&store, (file..ROWS).step_by(FILES as usize), "value");
        store.flush().unwrap();
    }
    store
}

/// Gets all rows and as many absent ones. Returns the number of filters that were asked.
fn get_all(get: impl Fn(&Get) -> (Vec<store::Cell>, ReadTrace)) -> u64 {
    let mut checks = 0;
    for row in 0..ROWS {
        let (cells, trace) = get(&Get::row(key(row)).column("f", "q"));
        assert_eq!(cells.len(), 1, "{row}");
        let (absent, also) = get(&Get::row(format!("{}x", key(row))).column("f", "q"));
        assert!(absent.is_empty(), "{row}");
        assert_eq!(trace.filters_unreadable + also.filters_unreadable, 0);
        checks += trace.filter_checks + also.filter_checks;
    }
    checks
}

fn traced(store: &Store) -> impl Fn(&Get) -> (Vec<store::Cell>, ReadTrace) {
    |get| store.get_traced(get).unwrap()
}

fn alter(store: &Store, family: &FamilyOptions, map: MapMode) {
    store.alter_family("f", family.clone().family_map(map)).unwrap();
    store.flush().unwrap();
}

/// Returns the bytes that are reserved for filters: all that are not the map's.
fn filter_bytes(store: &Store) -> u64 {
    store.stats().cache.reserved_bytes - map_stats(store).bytes
}

#[test]
fn filters_of_covered_files_leave_memory_and_come_back() {
    for family in filters() {
        for pins in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let options = options().pin_filters(pins);
            let store = store_with_files(directory.path(), family.clone(), options);
            let what = format!("{family:?}, pinned: {pins}");
            let pinned = filter_bytes(&store);
            assert_eq!(pinned > ROWS, pins, "{what}: {pinned}");
            let checks = get_all(traced(&store));
            let loaded = filter_bytes(&store);
            assert!(loaded > ROWS && (!pins || loaded == pinned), "{what}: {loaded}, {pinned}");

            alter(&store, &family, MapMode::Files);
            assert_eq!(covered(&store), FILES, "{what}");
            assert_eq!(filter_bytes(&store), 0, "{what}");
            assert_eq!(get_all(traced(&store)), 0);
            assert_eq!(filter_bytes(&store), 0, "{what}: gets ask the map");

            alter(&store, &family, MapMode::Off);
            let back = filter_bytes(&store);
            assert_eq!(back, if pins { pinned } else { 0 }, "{what}");
            assert_eq!(get_all(traced(&store)), checks, "{what}: the same filters");
            assert_eq!(filter_bytes(&store), loaded, "{what}");
        }
    }
}

#[test]
fn a_flush_and_a_compaction_into_a_map_leave_no_filter_in_memory() {
    for family in filters() {
        for (pins, map) in [(false, MapMode::Files), (true, MapMode::Files), (true, MapMode::Wide)]
        {
            let directory = tempfile::tempdir().unwrap();
            let options = options().pin_filters(pins);
            let family = family.clone().family_map(map);
            let store = store_with_files(directory.path(), family, options);
            assert_eq!((covered(&store), filter_bytes(&store)), (FILES, 0));
            store.compact("f", CompactionKind::Major).unwrap();
            assert_eq!((covered(&store), filter_bytes(&store)), (1, 0));
            assert_eq!(get_all(traced(&store)), 0);
            assert_eq!(filter_bytes(&store), 0);
            drop(store);
        }
    }
}

/// The snapshot's version does not cover its files: it keeps and asks the filters, also such that
/// it loads after the files were covered.
#[test]
fn a_snapshot_keeps_the_filters_that_it_asks() {
    for family in filters() {
        for loads_before in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let store = store_with_files(directory.path(), family.clone(), options());
            let snapshot = store.snapshot();
            let of_snapshot = |get: &Get| snapshot.get_traced(get).unwrap();
            let mut checks = 0;
            if loads_before {
                checks = get_all(of_snapshot);
                assert!(filter_bytes(&store) > ROWS);
            }
            alter(&store, &family, MapMode::Files);
            write(&store, 0..ROWS, "newer");
            store.flush().unwrap();
            assert_eq!(covered(&store), FILES + 1);
            assert_eq!(filter_bytes(&store) > ROWS, loads_before);
            let after = get_all(of_snapshot);
            assert!(after > ROWS && (!loads_before || after == checks));
            let held = filter_bytes(&store);
            assert_eq!(get_all(traced(&store)), 0, "the store asks its map");
            assert_eq!(filter_bytes(&store), held);
            drop(snapshot);
            assert_eq!(filter_bytes(&store), 0, "{family:?}, {loads_before}");
        }
    }
}

/// Only 64 files can be covered: the filters of the others stay.
#[test]
fn filters_of_uncovered_files_stay_in_memory() {
    let store = TestStore::with_family(options().pin_filters(true), family());
    let mut of_a_file = Vec::new();
    for file in 0..70 {
        write(&store, (file..7_000).step_by(70), "value");
        store.flush().unwrap();
        if file >= 64 {
            of_a_file.push(filter_bytes(&store) / (file - 63));
        }
    }
    assert_eq!(covered(&store), 64);
    assert!(of_a_file[0] > 50 && of_a_file.iter().all(|bytes| *bytes == of_a_file[0]));
    for row in 0..7_000 {
        assert_eq!(store.get(&Get::row(key(row))).unwrap().len(), 1, "{row}");
    }
}

/// A map has no columns and no prefixes: gets and scans still ask these filters.
#[test]
fn filters_over_columns_stay_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let family = filters()[0].clone().bloom_type(BloomType::RowCol);
    let store = store_with_files(directory.path(), family.clone(), options());
    get_all(traced(&store));
    let loaded = filter_bytes(&store);
    assert!(loaded > ROWS);
    alter(&store, &family, MapMode::Files);
    assert_eq!((covered(&store), filter_bytes(&store)), (FILES, loaded));
    assert!(get_all(traced(&store)) >= ROWS);
    assert_eq!(filter_bytes(&store), loaded);
}

/// Filters in partitions, which have an index that is in memory too.
#[test]
fn partitions_and_their_index_leave_memory() {
    let directory = tempfile::tempdir().unwrap();
    let (place, load) = (directory.path().join("store"), directory.path().join("load"));
    let off = filters()[0].clone().bloom_type(BloomType::None);
    let store = Store::open(&place, options()).unwrap();
    store.create_family("f", off.clone()).unwrap();
    let keys: Vec<_> = (0..ROWS).map(key).collect();
    let cells = keys.iter().map(|key| CellRef { row: key.as_bytes(), qualifier: b"q", ..PUT });
    let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
    let filter = sstable::FilterOptions::new(FilterKind::BlockedBloom, sizing);
    let partitions = WriterOptions::default().bloom_type(BloomType::None);
    let partitions = partitions.filter(filter).filter_block_size(1024);
    std::fs::write(&load, hfile(&load, partitions, cells)).unwrap();
    store.import("f", &[load], Age::Newest).unwrap();
    let checks = get_all(traced(&store));
    let loaded = filter_bytes(&store);
    assert!(checks > ROWS && loaded > ROWS, "{checks} {loaded}");
    alter(&store, &off, MapMode::Files);
    assert_eq!((covered(&store), filter_bytes(&store)), (1, 0));
    assert_eq!(get_all(traced(&store)), 0);
    assert_eq!(filter_bytes(&store), 0);
    alter(&store, &off, MapMode::Off);
    assert_eq!((get_all(traced(&store)), filter_bytes(&store)), (checks, loaded));
}
