//! Reads skip files: what the filters spare is counted, and the counters are exact.
//!
//! Sixteen files with overlapping key ranges, as a store has them between compactions. Every row is
//! in one of them; rows that are asked for and absent lie between the others.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BlockSource, BloomType};
use store::{Durability, FamilyOptions, Get, Put, ReadTrace, Store, StoreOptions, WriteBatch};

const FILES: u64 = 16;
const ROWS_PER_FILE: u64 = 2_000;
const GETS: u64 = 2_000;

fn row(number: u64) -> String {
    format!("row{number:08}")
}

/// Even rows are there, in an order that spreads each file over the whole range.
fn store_of_many_files(directory: &std::path::Path, options: FamilyOptions) -> Store {
    let store = Store::open(directory, StoreOptions::default().auto_compaction(false)).unwrap();
    store.create_family("f", options.block_size(4 << 10)).unwrap();
    for file in 0..FILES {
        let mut batch = WriteBatch::new();
        for number in 0..ROWS_PER_FILE {
            batch.put(Put::new(row((number * FILES + file) * 2)).column("f", "q", [1; 50]));
        }
        store.write(batch, Durability::SyncWal).unwrap();
        store.flush().unwrap();
    }
    store
}

/// What gets of every so manieth row did together, and how many cells they found.
fn read(store: &Store, is_present: bool) -> (ReadTrace, usize) {
    let mut sum = ReadTrace::default();
    let mut found = 0;
    let before = store.stats().families[0].reads;
    for number in 0..GETS {
        // Never the first or the last row of a file, so that the range spares nothing.
        let number = FILES + number * (FILES * (ROWS_PER_FILE - 2) / GETS);
        let get = Get::row(row(number * 2 + u64::from(!is_present)));
        let (cells, trace) = store.get_traced(&get).unwrap();
        sum.add(&trace);
        found += cells.len();
    }
    assert_eq!(store.stats().families[0].reads.since(&before), sum, "counted once, and exactly");
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
    // A false positive costs one block, or none if the index alone can tell.
    assert!(absent.data_blocks() <= absent.filter_false_positives);

    let (present, found) = read(&store, true);
    assert_eq!(found as u64, GETS, "no filter denies what is there");
    assert_eq!(present.files_skipped_by_filter + present.filter_false_positives, 15 * GETS);
    let blocks = per_get(present.data_blocks());
    assert!((1.0..=1.2).contains(&blocks), "{blocks}");
}

#[test]
fn with_a_filter_of_one_percent_an_absent_row_touches_a_fifth_of_a_data_block() {
    let rate = Sizing::ErrorRate(ErrorRate::new(0.01).unwrap());
    let filter = Some((FilterKind::BlockedBloom, rate));
    check_filtered(FamilyOptions::default().bloom_type(BloomType::None).filter(filter));
}

#[test]
fn the_same_goes_for_the_bloom_filter_of_hbase() {
    check_filtered(FamilyOptions::default());
}

#[test]
fn without_a_filter_every_file_is_looked_into() {
    let directory = tempfile::tempdir().unwrap();
    let store =
        store_of_many_files(directory.path(), FamilyOptions::default().bloom_type(BloomType::None));
    let (absent, found) = read(&store, false);
    assert_eq!((found, absent.filter_checks), (0, 0));
    let blocks = per_get(absent.data_blocks());
    assert!((15.0..=17.0).contains(&blocks), "{blocks}");
    let in_cache = absent.blocks_from(BlockSource::Cache);
    assert!(in_cache > absent.blocks_from(BlockSource::File), "most blocks are met again");
}
