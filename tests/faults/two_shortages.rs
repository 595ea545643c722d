//! A disk that is full twice: in the first write, which stays pending, and in the next write.

use std::sync::Arc;

use store::{Durability, FamilyOptions, Put, Store, StoreOptions};
use support::disk::{Disk, Fault, Faults};
use support::test_store::{disk_with_data, has};

fn open(disk: &Disk) -> Store {
    let options = StoreOptions::default().vfs(Arc::new(disk.clone())).background(false);
    Store::open("/data/store", options.wal_segment_bytes(4_000)).unwrap()
}

fn put(store: &Store, row: &str, len: usize, durability: Durability) -> bool {
    let put = Put::new(row).column("f", "q", vec![7; len]);
    store.write(put, durability).is_ok()
}

/// Writes "first" without a sync while the call `first` fails, then "second" while the call `second`
/// fails, then "third". Returns the calls of the two writes.
fn write_three(
    faults: [Option<u64>; 2],
    fault: Fault,
    lens: [usize; 2],
    how: Durability,
) -> [u64; 2] {
    let what = format!("{faults:?}, {fault:?}, {lens:?} bytes, {how:?}");
    let planned =
        faults.map(|call| call.map_or(Faults::default(), |call| Faults::once(call, fault)));
    let disk = disk_with_data();
    let store = open(&disk);
    store.create_family("f", FamilyOptions::default()).unwrap();
    assert!(put(&store, "opens the segment", 1, Durability::Logged));
    disk.set_faults(planned[0]);
    let first = put(&store, "first", lens[0], Durability::Async);
    let first_calls = disk.calls();
    disk.set_faults(planned[1]);
    let second = put(&store, "second", lens[1], how);
    let calls = [first_calls, disk.calls()];
    disk.set_faults(Faults::default());
    let third = put(&store, "third", 1, Durability::Synced);
    if !third {
        // A sync failed: the store takes no writes until it is opened again.
        assert!(store.put(Put::new("row").column("f", "q", "1")).is_err(), "{what}");
        assert!(put(&open(&disk.after_kill()), "third", 1, Durability::Synced), "{what}");
        return calls;
    }
    for (row, is_acknowledged) in [("first", first), ("second", second), ("third", third)] {
        assert_eq!(has(&store, row), is_acknowledged, "{what}: {row}");
        assert_eq!(has(&open(&disk.after_kill()), row), is_acknowledged, "{what}: {row}, reopened");
    }
    calls
}

/// A write without a sync that was acknowledged stays; a refused one never appears.
#[test]
fn a_second_shortage_refuses_its_write_alone_whatever_the_first_one_left_pending() {
    use Durability::{Async, Logged, Synced};
    for lens in [[10, 10], [5_000, 10], [5_000, 2_000], [5_000, 9_000], [10, 5_000]] {
        for how in [Async, Logged, Synced] {
            for fault in [Fault::NoSpace, Fault::ShortWrite] {
                let mut first = None;
                loop {
                    let calls = write_three([first, None], fault, lens, how);
                    for second in 1..=calls[1] {
                        write_three([first, Some(second)], fault, lens, how);
                    }
                    let next = first.map_or(1, |call| call + 1);
                    if next > calls[0] {
                        break;
                    }
                    first = Some(next);
                }
            }
        }
    }
}
