//! A log segment that claims more than it holds.

use std::fs;

use store::{FamilyOptions, Get, Put, Store, StoreOptions};
use support::say;

use crate::{HEAP, measured_alone};

/// A valid header and then as many zeros as the limit allows, which are read but not kept in
/// memory.
#[test]
fn a_sparse_log_segment_below_the_limit_takes_no_memory() {
    let _alone = measured_alone();
    let directory = tempfile::tempdir().unwrap();
    let open = || Store::open(directory.path(), StoreOptions::default().auto_compaction(false));
    let store = open().unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    store.put(Put::new("b").column("f", "q", "2")).unwrap();
    drop(store);
    let segments = fs::read_dir(directory.path().join("wal")).unwrap();
    let segment = segments.map(|entry| entry.unwrap().path()).max().unwrap();
    let file = fs::OpenOptions::new().write(true).open(&segment).unwrap();
    if file.set_len(1 << 30).is_err() {
        return say("sparse segment: SKIPPED: this file system has no sparse files");
    }
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    assert_eq!(open().unwrap().get(&Get::row("b")).unwrap().len(), 1);
    let taken = HEAP.peak_usage() - before;
    assert!(taken < 100 << 20, "{} MiB more", taken >> 20);
}
