//! A budget of filters for files of many sizes: what gets cost.

use std::fs;
use std::path::Path;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, ReadTrace, Reader, ReaderOptions};
use store::{
    CompactionKind, Durability, FamilyOptions, Get, MapMode, Put, Store, StoreOptions, WriteBatch,
};

fn quiet() -> StoreOptions {
    support::test_store::quiet().memstore_flush_bytes(usize::MAX / 8)
}

/// The row counts of the four sizes of files, with four files of each.
///
/// They just fill the chunks of an HBase Bloom filter of about seven bits per row, whose sizes are
/// powers of two; the smallest two sizes have equal chunks.
const SIZES: [u64; 4] = [17_984, 4_496, 1_124, 281];

/// Makes a store with four files of each size, with shuffled rows.
fn uneven(directory: &Path, options: StoreOptions, family: FamilyOptions) -> Store {
    let store = Store::open(directory, options).expect("the directory is empty");
    // With a map, no get would ask the filters that are measured here.
    store.create_family("f", family.family_map(MapMode::Off)).expect("a new name");
    let mut index = 0;
    for rows in SIZES.into_iter().flat_map(|rows| [rows; 4]) {
        let mut batch = WriteBatch::new();
        for _ in 0..rows {
            batch.put(Put::new(support::random::key(1, index)).column("f", "q", "v"));
            index += 1;
        }
        store.write(batch, Durability::Skip).expect("sound");
        store.flush().expect("the disk has room");
    }
    store
}

/// Returns the bytes of all filters of a store, and the number of their rows.
fn filter_bytes(directory: &Path) -> (u64, u64) {
    let (mut bytes, mut rows) = (0, 0);
    for entry in fs::read_dir(directory.join("f")).expect("the family exists") {
        let path = entry.expect("readable").path();
        let reader = Reader::open_file(path, ReaderOptions::default()).expect("sound");
        rows += reader.trailer().entry_count;
        bytes += reader.filters().bloom().map_or(0, |bloom| bloom.byte_size);
        bytes += reader.filters().row_filter().expect("sound").map_or(0, |filter| filter.byte_size);
    }
    (bytes, rows)
}

/// Returns the false positives of absent gets, and the data blocks that they read.
fn false_positives(store: &Store) -> (u64, u64) {
    let mut sum = ReadTrace::default();
    for index in 0..20_000 {
        let get = Get::row(support::random::key(2, index)).column("f", "q");
        let (cells, trace) = store.get_traced(&get).expect("sound");
        assert!(cells.is_empty());
        sum.add(&trace);
    }
    (sum.filter_false_positives, sum.data_blocks())
}

/// Budget allocation and ribbon filters together: with seven bits per row, less than HBase's
/// filters have here, a quarter of the wasted block reads.
#[test]
fn a_budget_allocated_to_uneven_files_avoids_three_of_four_wasted_reads() {
    let rate = ErrorRate::new(filter::theory::bloom_best_error_rate(7.0)).expect("a rate");
    let theirs = tempfile::tempdir().expect("a temporary directory");
    let options = quiet().bloom_error_rate(rate);
    let uniform = uneven(theirs.path(), options, FamilyOptions::default());
    let (bytes, rows) = filter_bytes(theirs.path());
    let bits_per_key = bytes as f64 * 8.0 / rows as f64;
    assert!((7.0..7.7).contains(&bits_per_key), "{bits_per_key}");
    let budget = rows * 7 / 8;

    let ours = tempfile::tempdir().expect("a temporary directory");
    let family = FamilyOptions::default().bloom_type(BloomType::None);
    let family = family.filter(FilterKind::Ribbon, Sizing::Bytes(budget));
    let shared = uneven(ours.path(), quiet(), family);
    let before = filter_bytes(ours.path()).0;
    shared.rebuild_filters("f").expect("the disk has room");
    let (bytes, same_rows) = filter_bytes(ours.path());
    assert_eq!(same_rows, rows);
    assert!(bytes <= budget && bytes > budget / 100 * 97, "{bytes} of {budget}, first {before}");

    let ((uniform_maybes, uniform_blocks), (maybes, blocks)) =
        (false_positives(&uniform), false_positives(&shared));
    eprintln!(
        "{bits_per_key:.2} bits a row: {uniform_maybes} false maybes and {uniform_blocks} blocks \
         in 20,000 gets; shared out: {maybes} and {blocks}, in {bytes} of {budget} bytes"
    );
    assert_eq!((uniform_maybes, maybes), (uniform_blocks, blocks), "one block per false positive");
    assert!(blocks * 4 <= uniform_blocks, "{blocks}, uniform {uniform_blocks}");
    assert!(blocks > 0, "nothing to compare");

    // The remaining file gets the whole budget.
    shared.compact("f", CompactionKind::Major).expect("the disk has room");
    let (bytes, _) = filter_bytes(ours.path());
    assert!(bytes <= budget && bytes > budget / 100 * 97, "{bytes} of {budget}");
}
