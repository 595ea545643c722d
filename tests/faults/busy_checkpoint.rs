//! Checkpoints while another thread writes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use store::{FamilyOptions, Store, StoreOptions};
use support::disk::Disk;
use support::test_store::{disk_with_data, has, put};

fn open(disk: &Disk, directory: &str) -> Store {
    let options = StoreOptions::default().vfs(Arc::new(disk.clone())).background(false);
    Store::open(directory, options).unwrap()
}

/// Makes a checkpoint while a thread writes, which begins before the change `number` of the disk.
///
/// Returns whether there was such a change.
fn is_written_during(number: u64) -> bool {
    let disk = disk_with_data();
    let store = open(&disk, "/data/store");
    store.create_family("f", FamilyOptions::default()).unwrap();
    put(&store, "before");
    let changes = Arc::new(AtomicU64::new(0));
    let writer = Arc::new(Mutex::new(None));
    {
        let (store, writer) = (store.clone(), Arc::clone(&writer));
        disk.watch(move |_| {
            if changes.fetch_add(1, Ordering::Relaxed) + 1 != number {
                return;
            }
            let (store, (done, is_done)) = (store.clone(), mpsc::channel());
            let thread = thread::spawn(move || {
                put(&store, "meanwhile");
                let _ = done.send(());
            });
            *writer.lock().unwrap() = Some(thread);
            // The checkpoint may hold a lock that the write needs.
            let _ = is_done.recv_timeout(Duration::from_millis(100));
        });
    }
    store.checkpoint("/data/copy").unwrap();
    disk.unwatch();
    let Some(thread) = writer.lock().unwrap().take() else { return false };
    thread.join().unwrap();
    put(&store, "after");
    // The copy has all that was written before, and does not need the log of the original.
    let copy = open(&disk, "/data/copy");
    assert!(has(&copy, "before") && !has(&copy, "after"), "change {number}");
    put(&copy, "of the copy");
    drop(copy);
    let copy = open(&disk.after_kill(), "/data/copy");
    assert!(has(&copy, "before") && has(&copy, "of the copy"), "change {number}");
    for row in ["before", "meanwhile", "after"] {
        assert!(has(&store, row), "change {number}: {row}");
    }
    true
}

#[test]
fn a_write_at_any_moment_of_a_checkpoint_leaves_two_whole_stores() {
    let mut number = 1;
    while is_written_during(number) {
        number += 1;
    }
    assert!(number > 8, "{number} changes");
}
