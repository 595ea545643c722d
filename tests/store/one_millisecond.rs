//! Writes of one row within a millisecond of the clock: the last one wins, as if the clock had ticked.

use std::path::Path;

use store::{
    Append, CheckAndMutate, CompareOperator, Delete, Durability, FamilyOptions, Get, Increment,
    Put, Store, StoreOptions, Timestamp, WriteBatch,
};
use support::test_store::{TestClock, quiet};

const NOW: i64 = 1_700_000_000_000;

fn open(directory: &Path, clock: &TestClock) -> Store {
    Store::open(directory, quiet().clock(clock.clock())).unwrap()
}

fn put(row: &str, value: &str) -> Put {
    Put::new(row).column("f", "q", value)
}

fn value(store: &Store, row: &str) -> Option<String> {
    let cells = store.get(&Get::row(row).column("f", "q")).unwrap();
    cells.first().map(|cell| String::from_utf8(cell.value().to_vec()).unwrap())
}

fn new_store(clock: &TestClock) -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path(), clock);
    for family in ["f", "g"] {
        store.create_family(family, FamilyOptions::default().versions(3)).unwrap();
    }
    (directory, store)
}

/// All deletes whose timestamp is the time of the commit.
fn deletes(row: &str) -> [Delete; 4] {
    [
        Delete::row(row),
        Delete::row(row).family("f"),
        Delete::row(row).column("f", "q"),
        Delete::row(row).version("f", "q", Timestamp::LATEST),
    ]
}

#[test]
fn a_put_after_a_delete_in_one_millisecond_is_visible_and_a_delete_after_it_hides_it() {
    let (_directory, store) = new_store(&TestClock::at(NOW));
    for (kind, delete) in deletes("row").into_iter().enumerate() {
        for round in 0..50 {
            let text = format!("{kind}.{round}");
            store.put(put("row", &text)).unwrap();
            assert_eq!(value(&store, "row"), Some(text.clone()));
            store.put(put("row", &format!("{text}!"))).unwrap();
            assert_eq!(value(&store, "row"), Some(format!("{text}!")));
            store.delete(delete.clone()).unwrap();
            if kind < 3 {
                assert_eq!(value(&store, "row"), None, "{text}");
            }
        }
        store.delete(Delete::row("row")).unwrap();
        assert_eq!(value(&store, "row"), None);
    }
}

#[test]
fn the_order_within_a_batch_is_the_order_of_its_writes() {
    let (_directory, store) = new_store(&TestClock::at(NOW));
    for delete in deletes("row") {
        let mut batch = WriteBatch::new();
        batch.put(put("row", "before"));
        batch.delete(delete);
        batch.put(put("row", "after").column("g", "q", "too"));
        batch.put(put("other", "value"));
        batch.delete(Delete::row("other"));
        store.write(batch, Durability::Logged).unwrap();
        assert_eq!(value(&store, "row").as_deref(), Some("after"));
        assert_eq!(store.get(&Get::row("row")).unwrap().len(), 2);
        assert_eq!(value(&store, "other"), None);
    }
}

#[test]
fn increments_appends_and_conditional_writes_follow_deletes_and_are_deleted() {
    let (_directory, store) = new_store(&TestClock::at(NOW));
    for _ in 0..5 {
        for sum in 1_i64..4 {
            let cells = store.increment(&Increment::new("row").column("f", "n", 1)).unwrap();
            assert_eq!(cells[0].value(), sum.to_be_bytes());
            assert_eq!(store.get(&Get::row("row")).unwrap()[0].value(), sum.to_be_bytes());
        }
        store.delete(Delete::row("row")).unwrap();
        assert!(store.get(&Get::row("row")).unwrap().is_empty(), "also the last increment");
        for text in ["a", "aa", "aaa"] {
            store.append(&Append::new("row").column("f", "q", "a")).unwrap();
            assert_eq!(value(&store, "row").as_deref(), Some(text));
        }
        store.delete(Delete::row("row").column("f", "q")).unwrap();
        assert_eq!(value(&store, "row"), None);
        let first = CheckAndMutate::new("row").if_not_exists("f", "q").put(put("row", "first"));
        assert!(store.check_and_mutate(&first).unwrap());
        assert_eq!(value(&store, "row").as_deref(), Some("first"));
        let swap = CheckAndMutate::new("row")
            .if_matches("f", "q", CompareOperator::Equal, "first")
            .delete(Delete::row("row"))
            .put(put("row", "second"));
        assert!(store.check_and_mutate(&swap).unwrap());
        assert_eq!(value(&store, "row").as_deref(), Some("second"));
        store.delete(Delete::row("row")).unwrap();
    }
}

#[test]
fn the_order_holds_after_a_reopen_within_the_millisecond() {
    for flushes in [false, true] {
        let clock = TestClock::at(NOW);
        let (directory, mut store) = new_store(&clock);
        for round in 0..10 {
            store.put(put("row", &round.to_string())).unwrap();
            assert_eq!(value(&store, "row"), Some(round.to_string()));
            if round % 2 == 1 {
                store.delete(Delete::row("row")).unwrap();
            }
            if flushes {
                store.flush().unwrap();
            }
            drop(store);
            store = open(directory.path(), &clock);
            if round % 2 == 0 {
                store.delete(Delete::row("row")).unwrap();
            }
            assert_eq!(value(&store, "row"), None, "{round}");
        }
    }
}

#[test]
fn a_write_is_visible_after_the_clock_went_back() {
    let clock = TestClock::at(NOW);
    let (_directory, store) = new_store(&clock);
    for row in ["a", "b"] {
        store.put(put(row, "old")).unwrap();
        store.delete(Delete::row(row)).unwrap();
        clock.set(NOW + 5);
    }
    clock.set(NOW - 30_000);
    for row in ["a", "b"] {
        store.put(put(row, "new")).unwrap();
        assert_eq!(value(&store, row).as_deref(), Some("new"), "{row}");
        store.delete(Delete::row(row)).unwrap();
        assert_eq!(value(&store, row), None, "{row}");
    }
}

#[test]
fn writes_have_the_time_of_the_clock_again_once_it_has_caught_up() {
    let clock = TestClock::at(NOW);
    let (_directory, store) = new_store(&clock);
    let time = || store.get(&Get::row("row")).unwrap()[0].timestamp().get();
    for _ in 0..3 {
        store.delete(Delete::row("row")).unwrap();
        store.put(put("row", "value")).unwrap();
    }
    assert_eq!(time(), NOW + 3);
    clock.set(NOW + 4);
    store.put(put("row", "value")).unwrap();
    assert_eq!(time(), NOW + 4);
    // Other rows were never moved, and neither are times that the caller sets.
    let cells = |row: &str| store.get(&Get::row(row)).unwrap();
    clock.set(NOW + 5);
    store.delete(Delete::row("row")).unwrap();
    store.put(put("other", "value")).unwrap();
    assert_eq!(cells("other")[0].timestamp().get(), NOW + 5);
    let explicit = Put::new("row").column_at("f", "q", Timestamp::new(NOW + 5), "hidden");
    store.put(explicit).unwrap();
    assert!(cells("row").is_empty(), "as in HBase, the marker hides this timestamp");
    let future = Put::new("row").column_at("f", "q", Timestamp::new(NOW + 5000), "value");
    store.put(future).unwrap();
    store.delete(Delete::row("row")).unwrap();
    assert_eq!(cells("row").len(), 1, "a delete of now does not reach the future");
}

/// The time after the last one stands for no time.
#[test]
fn an_increment_of_a_cell_at_the_last_time_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Store::open(directory.path(), StoreOptions::default().background(false)).unwrap();
    let store = open();
    store.create_family("f", FamilyOptions::default()).unwrap();
    let last = Timestamp::new(Timestamp::LATEST.get() - 1);
    store.put(Put::new("row").column_at("f", "n", last, 5_u64.to_be_bytes())).unwrap();
    for sum in 6..9 {
        store.increment(&Increment::new("row").column("f", "n", 1)).unwrap();
        let found = store.get(&Get::row("row").column("f", "n")).unwrap();
        assert_eq!(found.first().map(store::Cell::value), Some(&u64::to_be_bytes(sum)[..]));
    }
    drop(store);
    let store = open();
    store.flush().unwrap();
    let found = store.get(&Get::row("row").column("f", "n")).unwrap();
    assert_eq!(found.first().map(store::Cell::value), Some(&8_u64.to_be_bytes()[..]));
}
