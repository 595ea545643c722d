//! Reads skip files by their filters, and the counters are exact.
//!
//! Sixteen files with overlapping key ranges, as between compactions. Each present row is in one of
//! them; absent rows lie between present ones.

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BlockSource, BloomType};
use store::FileFate::{Denied, OutOfRange, Read, TooNew, TooOld};
use store::{
    Durability, FamilyOptions, Get, MapMode, Put, ReadTrace, Scan, Store, StoreOptions, WriteBatch,
};
use support::test_store::TestStore;

const FILES: u64 = 16;
const ROWS_PER_FILE: u64 = 2_000;
const GETS: u64 = 2_000;

fn row(number: u64) -> String {
    format!("row{number:08}")
}

/// Even rows are present, and each file covers the whole range.
fn store_of_many_files(directory: &std::path::Path, options: FamilyOptions) -> Store {
    let store = Store::open(directory, StoreOptions::default().auto_compaction(false)).unwrap();
    store.create_family("f", options.block_size(4 << 10).family_map(MapMode::Off)).unwrap();
    for file in 0..FILES {
        let mut batch = WriteBatch::new();
        for number in 0..ROWS_PER_FILE {
            batch.put(Put::new(row((number * FILES + file) * 2)).column("f", "q", [1; 50]));
        }
        store.write(batch, Durability::Logged).unwrap();
        store.flush().unwrap();
    }
    store
}

/// Gets a sample of rows; returns the sum of the traces and the number of cells.
fn read(store: &Store, is_present: bool) -> (ReadTrace, usize) {
    let mut sum = ReadTrace::default();
    let mut found = 0;
    let before = store.stats().families[0].reads;
    for number in 0..GETS {
        // Not the first or last row of a file, so that the key range skips nothing.
        let number = FILES + number * (FILES * (ROWS_PER_FILE - 2) / GETS);
        let get = Get::row(row(number * 2 + u64::from(!is_present)));
        let (cells, trace) = store.get_traced(&get).unwrap();
        sum.add(&trace);
        found += cells.len();
    }
    assert_eq!(
        store.stats().families[0].reads.since(&before),
        sum,
        "the counters equal the traces"
    );
    (sum, found)
}

fn per_get(count: u64) -> f64 {
    count as f64 / GETS as f64
}

fn check_filtered(options: FamilyOptions) {
    let directory = tempfile::tempdir().unwrap();
    let store = store_of_many_files(directory.path(), options);
    let (absent, found) = read(&store, false);
    assert_eq!(found, 0);
    assert_eq!(absent.files_considered, FILES * GETS);
    assert_eq!(absent.filter_checks, FILES * GETS);
    assert_eq!(absent.filters_unreadable, 0);
    assert_eq!(absent.files_skipped_by_filter + absent.filter_false_positives, FILES * GETS);
    assert!(per_get(absent.data_blocks()) <= 0.2, "{}", per_get(absent.data_blocks()));
    // A false positive reads at most one block; the index may rule it out.
    assert!(absent.data_blocks() <= absent.filter_false_positives);

    let (present, found) = read(&store, true);
    assert_eq!(found as u64, GETS, "every present row is found");
    assert_eq!(present.files_skipped_by_filter + present.filter_false_positives, 15 * GETS);
    let blocks = per_get(present.data_blocks());
    assert!((1.0..=1.2).contains(&blocks), "{blocks}");
}

#[test]
fn with_a_filter_of_one_percent_an_absent_row_touches_a_fifth_of_a_data_block() {
    let rate = Sizing::ErrorRate(ErrorRate::new(0.01).unwrap());
    let family = FamilyOptions::default().bloom_type(BloomType::None);
    check_filtered(family.filter(FilterKind::BlockedBloom, rate));
}

#[test]
fn with_an_hbase_bloom_an_absent_row_touches_a_fifth_of_a_data_block() {
    check_filtered(FamilyOptions::default());
}

#[test]
fn without_a_filter_every_file_is_searched() {
    let directory = tempfile::tempdir().unwrap();
    let store =
        store_of_many_files(directory.path(), FamilyOptions::default().bloom_type(BloomType::None));
    let (absent, found) = read(&store, false);
    assert_eq!((found, absent.filter_checks), (0, 0));
    let blocks = per_get(absent.data_blocks());
    assert!((15.0..=17.0).contains(&blocks), "{blocks}");
    let in_cache = absent.blocks_from(BlockSource::Cache);
    assert!(in_cache > absent.blocks_from(BlockSource::File), "most blocks come from the cache");
}

/// Three files, of times 100, 200 and 300, each with the row `m`; the last one starts after it.
#[test]
fn an_explanation_states_the_outcome_of_each_file() {
    let store = TestStore::new(StoreOptions::default().auto_compaction(false));
    // The lookup in a map is counted once for all files.
    let options = FamilyOptions::default()
        .family_map(MapMode::Off)
        .filter(FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::new(1e-6).unwrap()));
    store.create_family("f", options).unwrap();
    for (time, rows) in [(100, ["a", "m", "z"]), (200, ["b", "m", "y"]), (300, ["n", "o", "p"])] {
        for row in rows {
            let time = store::Timestamp::new(time);
            store.put(Put::new(row).column_at("f", "q", time, "value")).unwrap();
        }
        store.flush().unwrap();
    }
    let fates = |get: Get| {
        let way = store.explain(&get).unwrap();
        assert_eq!(way.cells, store.get(&get).unwrap());
        let files = &way.families[0].files;
        let mut sum = ReadTrace::default();
        sum.files_considered = 3;
        for file in files {
            sum.add(&file.trace);
        }
        assert_eq!(sum, way.trace, "the files add up to the trace");
        files.iter().map(|file| file.fate).collect::<Vec<_>>()
    };
    let time = store::Timestamp::new;
    assert_eq!(fates(Get::row("m")), [OutOfRange, Read, Read]);
    assert_eq!(fates(Get::row("m").column("f", "q")), [OutOfRange, Read, TooOld]);
    assert_eq!(fates(Get::row("nn")), [Denied, Denied, Denied]);
    assert_eq!(fates(Get::row("m").time_range(time(0), time(150))), [TooNew, TooNew, Read]);
    assert_eq!(fates(Get::row("m").time_range(time(250), time(900))), [OutOfRange, TooOld, TooOld]);
}

/// A scan of one prefix uses the prefix Bloom filters, and no others.
#[test]
fn a_prefix_scan_skips_files_without_such_rows() {
    for (bloom_type, skipped) in [(BloomType::RowPrefixFixedLength(3), 3), (BloomType::Row, 0)] {
        let store = TestStore::with_family(
            StoreOptions::default().auto_compaction(false),
            FamilyOptions::default().bloom_type(bloom_type),
        );
        for file in 0..4 {
            for number in 0..50 {
                let put = Put::new(format!("{:03}-{file}", number * 4 + file));
                store.put(put.column("f", "q", "value")).unwrap();
            }
            store.flush().unwrap();
        }
        let before = store.stats().families[0].reads;
        for reverse in [false, true] {
            let scan = Scan::family("f").prefix("101-").reverse(reverse);
            let rows: Vec<_> = store.scan(scan).unwrap().map(|cell| cell.unwrap()).collect();
            assert_eq!(rows.iter().map(sstable::Cell::row).collect::<Vec<_>>(), [b"101-1"]);
        }
        let reads = store.stats().families[0].reads.since(&before);
        assert_eq!(reads.files_considered, 2 * 4);
        assert_eq!(reads.files_skipped_by_filter, 2 * skipped, "{bloom_type:?}");
        let long = Scan::family("f").prefix("1").cells_per_row_max(1);
        assert_eq!(
            store.scan(long).unwrap().count(),
            100,
            "the prefix is too short for the filter"
        );
    }
}

#[test]
fn a_scan_counts_each_file_once_with_the_reason_why_it_is_skipped() {
    let store = TestStore::with_family(
        StoreOptions::default().auto_compaction(false),
        FamilyOptions::default().bloom_type(BloomType::RowPrefixFixedLength(2)),
    );
    for (rows, time) in [(["a1", "a5"], 100), (["b1", "b5"], 200), (["a2", "c5"], 300)] {
        for row in rows {
            let time = store::Timestamp::new(time);
            store.put(Put::new(row).column_at("f", "q", time, "value")).unwrap();
        }
        store.flush().unwrap();
    }
    let time = store::Timestamp::new;
    for (scan, by_range, by_time, by_filter) in [
        (Scan::family("f"), 0, 0, 0),
        (Scan::family("f").start("b"), 1, 0, 0),
        (Scan::family("f").start("a5").stop("b1"), 1, 0, 0),
        (Scan::family("f").start("b5").stop("a5").reverse(true), 1, 0, 0),
        (Scan::family("f").time_range(time(150), time(250)), 0, 2, 0),
        (Scan::family("f").stop("a2").time_range(time(0), time(200)), 2, 0, 0),
        (Scan::family("f").prefix("a1"), 2, 0, 0),
        (Scan::family("f").prefix("b1"), 1, 0, 1),
    ] {
        let before = store.stats().families[0].reads;
        let rows: Vec<_> = store.scan(scan.clone()).unwrap().map(Result::unwrap).collect();
        assert!(!rows.is_empty(), "{scan:?}");
        let reads = store.stats().families[0].reads.since(&before);
        assert_eq!(reads.files_considered, 3, "{scan:?}");
        let skipped = (reads.files_skipped_by_range, reads.files_skipped_by_time);
        let skipped = (skipped.0, skipped.1, reads.files_skipped_by_filter);
        assert_eq!(skipped, (by_range, by_time, by_filter), "{scan:?}");
    }
}
