//! A store that is kept as it is (`tests/data/older`): later code reads it.

use std::path::Path;

use store::{Scan, Store, StoreOptions};
use support::copy_directory;

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
        assert!(store.map("keys").is_ok());
    };
    check(&store);
    drop(store);
    let saved = tempfile::tempdir().expect("a temporary directory");
    let options = StoreOptions::default().background(false);
    let from = directory.path();
    let outcome = store::tools::salvage(from, saved.path(), &options, &[], |_| {}).expect("sound");
    assert_eq!(outcome, store::tools::SalvageOutcome::Whole);
    check(&Store::open(saved.path(), options).expect("sound"));
}
