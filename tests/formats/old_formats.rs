//! Files and a store that are kept (`tests/data/older`): later code reads them, and leaves filters alone of kinds
//! that files do not have.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use filter::Seed;
use sstable::{FileInfo, FileName, Limits, ReadTrace, Reader, ReaderOptions, RowProbe, verify};
use store::{Scan, Store, StoreOptions};
use support::copy_directory;

fn read(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/older").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn open(bytes: &[u8]) -> Reader {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    Reader::open(source, FileName::new("older"), ReaderOptions::default()).expect("a readable file")
}

/// Gets every row and as many absent rows; returns the trace.
fn look_up_all(reader: &Reader) -> ReadTrace {
    let mut trace = ReadTrace::default();
    for number in 0..800 {
        for (row, is_there) in
            [(format!("row{number:04}"), true), (format!("row{number:04}x"), false)]
        {
            let probe = RowProbe::new(row.as_bytes(), Seed::default());
            let found = reader.get_row(&probe, &mut trace).expect("sound data");
            assert_eq!(found.is_some(), is_there, "{row}");
        }
    }
    trace
}

fn problems(bytes: &[u8]) -> Vec<String> {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    let found = verify(source, FileName::new("older"), Limits::default(), |_| {});
    found.expect("memory can be read").problems.iter().map(ToString::to_string).collect()
}

#[test]
fn a_filter_without_an_id_is_used() {
    let bytes = read("filter-whole-without-id.hfile");
    let reader = open(&bytes);
    assert_eq!(reader.file_info().value(FileInfo::ROW_FILTER_ID), None);
    let trace = look_up_all(&reader);
    assert!(trace.files_skipped_by_filter > 780, "{trace:?}");
    assert_eq!(trace.filters_unreadable, 0);
    assert_eq!(problems(&bytes), [""; 0]);
}

/// Files do not have these kinds: such a filter is not used, which is no damage.
#[test]
fn filters_with_counters_are_not_used() {
    for (kind, has_bloom) in [("counting-bloom", true), ("d-left", false)] {
        let bytes = read(&format!("filter-{kind}.hfile"));
        let reader = open(&bytes);
        let trace = look_up_all(&reader);
        assert_eq!(trace.files_skipped_by_filter > 780, has_bloom, "{kind}: {trace:?}");
        assert!(trace.filters_unreadable >= 1_598, "{kind}: {trace:?}");
        let why = format!("files have no {kind} filters; the kinds are classic-bloom, ");
        let filters = reader.filters();
        assert_eq!(filters.row_filter().expect("no damage"), None, "{kind}");
        assert!(filters.unused_row_filter().expect("readable").expect("named").starts_with(&why));
        let problem = filters.row_filter_problem().expect("a read has found it").to_string();
        assert!(problem.contains(&why), "{problem}");
        let source = Arc::new(Bytes::from(bytes));
        let found = verify(source, FileName::new("older"), Limits::default(), |_| {});
        let found = found.expect("memory can be read");
        assert!(found.is_sound() && found.cells == 800, "{kind}: {found:?}");
        assert!(found.unused_filter.expect("named").starts_with(&why), "{kind}");
    }
}

/// Damage to such a filter is still found.
#[test]
fn a_damaged_filter_with_counters_is_a_problem() {
    for name in ["filter-counting-bloom.hfile", "filter-d-left.hfile"] {
        let mut bytes = read(name);
        let meta = bytes.windows(8).position(|window| window == b"METABLKc").expect("a filter");
        bytes[meta + 100] ^= 1;
        assert_eq!(problems(&bytes).len(), 1, "{name}");
        look_up_all(&open(&bytes));
    }
}

/// Copies a kept store, and opens the copy.
fn open_store(name: &str) -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/older").join(name);
    copy_directory(&from, directory.path());
    // Git keeps no empty directory of a family.
    std::fs::create_dir_all(directory.path().join("keys")).expect("ours");
    let options = StoreOptions::default().background(false);
    let store = Store::open(directory.path(), options).expect("a store that is kept");
    (directory, store)
}

/// Returns the values of the cells of family `f`, all versions if `raw`.
fn values(store: &Store, raw: bool) -> Vec<Vec<u8>> {
    let scan = Scan::family("f").versions(u32::MAX).raw(raw);
    let cells = store.scan(scan).expect("readable");
    cells.map(|cell| cell.expect("sound").value().to_vec()).collect()
}

const FLUSHED: &[u8] = b"flushed";
const UNFLUSHED: &[u8] = b"unflushed";

/// The increments of this store replaced each other, and it has a family of keys and values.
#[test]
fn a_log_with_replacing_records_is_replayed_and_salvaged() {
    let (directory, store) = open_store("store-2");
    let check = |store: &Store| {
        let sum = 15_u64.to_be_bytes();
        for raw in [false, true] {
            assert_eq!(values(store, raw), [FLUSHED, &sum, UNFLUSHED]);
        }
        assert!(store.family("keys").expect("there").key_value);
    };
    check(&store);
    drop(store);
    let saved = tempfile::tempdir().expect("a temporary directory");
    let options = StoreOptions::default().background(false);
    let from = directory.path();
    let outcome = store::salvage(from, saved.path(), &options, &[], |_| {}).expect("sound");
    assert_eq!(outcome, store::SalvageOutcome::Whole);
    check(&Store::open(saved.path(), options).expect("sound"));
}
