//! Key-value families, whose timestamps are sequence ids.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::time::Duration;

use store::{
    Age, Append, CheckAndMutate, CompactionKind, CompareOperator, Delete, Durability, Error,
    FamilyOptions, Get, Increment, KeyValue, Pairs, Put, Result, Scan, Store, StoreOptions,
    Timestamp, WriteBatch,
};
use support::Random;

fn open(directory: &Path) -> Store {
    Store::open(directory, StoreOptions::default().background(false)).unwrap()
}

fn new_store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("cells", FamilyOptions::default()).unwrap();
    store.create_map("keys").unwrap();
    (directory, store)
}

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Err(Error::Invalid { what }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_delete_of_a_whole_row_does_not_hide_later_inserts() {
    let (directory, store) = new_store();
    store.map("keys").unwrap().insert("row", "1").unwrap();
    store.put(Put::new("row").column("cells", "q", "value")).unwrap();
    store.delete(Delete::row("row")).unwrap();
    assert!(store.get(&Get::row("row").family("cells")).unwrap().is_empty());
    let keys = store.map("keys").unwrap();
    assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"1"[..]));
    keys.insert("row", "2").unwrap();
    store.delete(Delete::row("row")).unwrap();
    drop((keys, store));
    let store = open(directory.path());
    let keys = store.map("keys").unwrap();
    assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"2"[..]));
    keys.remove("row").unwrap();
    keys.insert("row", "3").unwrap();
    store.flush().unwrap();
    store.compact("keys", CompactionKind::Major).unwrap();
    assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"3"[..]));
}

/// A read that changed the family would make it refuse the cells that it was created for.
#[test]
fn a_map_is_created_by_name_and_no_read_makes_a_family_of_cells_one() {
    let (directory, store) = new_store();
    let refused = message(store.map("cells"));
    assert!(refused.contains("create another with Store::create_map"), "{refused}");
    assert_eq!(message(store.snapshot().map("cells")), refused);
    assert!(message(store.create_map("cells")).contains("exists"));
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.family("keys"), Some(FamilyOptions::default().key_value(true)));
    assert_eq!(store.family("cells"), Some(FamilyOptions::default()));
    store.put(Put::new("row").column("cells", "q", "value")).unwrap();
}

#[test]
fn a_key_value_family_refuses_other_columns_timestamps_of_the_caller_and_a_ttl() {
    let (_directory, store) = new_store();
    let keys = store.map("keys").unwrap();
    keys.insert("row", "1").unwrap();
    let time = Timestamp::new(7);
    let mut batch = WriteBatch::from(Put::new("row").column("cells", "q", "value"));
    batch.put(Put::new("row").column("keys", "", "value").column("keys", "n", "value"));
    let check = CheckAndMutate::new("row").if_not_exists("cells", "q");
    let check = check.put(Put::new("row").column("keys", "n", "value"));
    let of_column = "row \"row\": the family \"keys\" holds keys and values: its only column is \"\", not \"n\"";
    let of_time = "the store sets its timestamps";
    for (refused, why) in [
        (message(store.put(Put::new("row").column("keys", "n", "2"))), of_column),
        (message(store.delete(Delete::row("row").column("keys", "n"))), of_column),
        (message(store.write(batch, Durability::Logged)), of_column),
        (message(store.increment(&Increment::new("row").column("keys", "n", 1))), of_column),
        (message(store.append(&Append::new("row").column("keys", "n", "2"))), of_column),
        (message(store.check_and_mutate(&check)), of_column),
        (message(store.put(Put::new("row").column_at("keys", "", time, "2"))), of_time),
        (message(store.delete(Delete::row("row").family_at("keys", time))), of_time),
        (
            message(store.delete(Delete::row("row").version("keys", "", Timestamp::LATEST))),
            "a key has no versions",
        ),
    ] {
        assert!(refused.contains(why), "{refused}");
    }
    assert!(store.get(&Get::row("row").family("cells")).unwrap().is_empty(), "nothing of a batch");
    assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"1"[..]));
    let ttl = store.family("keys").unwrap().ttl(Some(Duration::from_secs(60)));
    assert!(message(store.alter_family("keys", ttl.clone())).contains("TTL"));
    assert!(message(store.create_family("new", ttl.clone())).contains("TTL"));
    store.create_family("expiring", ttl.key_value(false)).unwrap();
    let expiring = store.family("expiring").unwrap().key_value(true);
    assert!(message(store.alter_family("expiring", expiring)).contains("TTL"));
}

/// A time of the clock would hide all later inserts.
#[test]
fn every_write_of_a_store_reaches_keys_and_leaves_their_timestamps_alone() {
    let (directory, store) = new_store();
    let keys = store.map("keys").unwrap();
    let text = |key: &str| keys.get(key).unwrap().map(|value| String::from_utf8(value).unwrap());
    let put = |value: &str| Put::new("a").column("keys", "", value);
    store.put(put("put")).unwrap();
    keys.insert("a", "inserted").unwrap();
    assert_eq!(text("a").as_deref(), Some("inserted"));
    store.append(&Append::new("a").column("keys", "", "+")).unwrap();
    keys.compare_and_set("a", Some(b"inserted+"), Some(b"set")).unwrap();
    assert_eq!(text("a").as_deref(), Some("set"));
    let check = CheckAndMutate::new("a").if_matches("keys", "", CompareOperator::Equal, "set");
    let check = check.put(put("mutated").column("cells", "q", "value"));
    assert!(store.check_and_mutate(&check).unwrap());
    keys.insert("a", "last").unwrap();
    for delete in [Delete::row("a").column("keys", ""), Delete::row("a").family("keys")] {
        store.delete(delete).unwrap();
        assert_eq!(text("a"), None);
        keys.insert("a", "again").unwrap();
        assert_eq!(text("a").as_deref(), Some("again"));
    }
    let sum = store.increment(&Increment::new("n").column("keys", "", 5)).unwrap();
    assert_eq!(sum[0].timestamp().get().cast_unsigned(), sum[0].sequence_id().get());
    assert_eq!(keys.increment("n", -7).unwrap(), -2);
    assert!(message(keys.increment("a", 1)).contains("row \"a\""));
    let of_cells = store.get(&Get::row("a").family("cells")).unwrap();
    assert!(of_cells[0].timestamp() > Timestamp::new(1 << 40), "the time of the clock");
    drop(store);
    drop(keys);
    let keys = open(directory.path()).map("keys").unwrap();
    assert_eq!(keys.multi_get(["a", "b"]).unwrap(), [Some(b"again".to_vec()), None]);
    assert_eq!(keys.increment("n", 0).unwrap(), -2);
}

/// All cells of a batch have one sequence id, at which a delete would hide a put.
#[test]
fn the_last_write_of_a_key_in_a_batch_wins() {
    let (directory, store) = new_store();
    let mut batch = WriteBatch::new();
    batch.remove("keys", "a");
    batch.insert("keys", "a", "1");
    batch.insert("cells", "a", "cell");
    batch.insert("keys", "b", "1");
    batch.remove("keys", "b");
    batch.insert("keys", "c", "2");
    batch.insert("keys", "c", "1");
    batch.delete(Delete::row("d").family("keys"));
    batch.insert("keys", "d", "1");
    store.write(batch, Durability::Synced).unwrap();
    let shown = |store: &Store| {
        let keys = store.map("keys").unwrap();
        assert_eq!(store.get(&Get::row("a").family("cells")).unwrap().len(), 1);
        keys.multi_get(["a", "b", "c", "d"]).unwrap()
    };
    let one = Some(b"1".to_vec());
    let expected = [one.clone(), None, one.clone(), one];
    assert_eq!(shown(&store), expected);
    drop(store);
    let store = open(directory.path());
    assert_eq!(shown(&store), expected);
    store.flush().unwrap();
    store.compact("keys", CompactionKind::Major).unwrap();
    assert_eq!(shown(&store), expected);
}

/// Without the lock, two threads would swap the same value.
#[test]
fn of_threads_that_compare_and_set_one_wins_each_round() {
    let (_directory, store) = new_store();
    let keys = store.map("keys").unwrap();
    let swaps: usize = std::thread::scope(|scope| {
        let swap = |_| {
            scope.spawn(|| {
                let rounds = 0_u32..400;
                let swap = |round: u32| {
                    let before = round.checked_sub(1).map(u32::to_be_bytes);
                    let before = before.as_ref().map(<[u8; 4]>::as_slice);
                    keys.compare_and_set("turn", before, Some(&round.to_be_bytes())).unwrap()
                };
                rounds.filter(|round| swap(*round)).count()
            })
        };
        let threads: Vec<_> = (0..4).map(swap).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let last = keys.get("turn").unwrap().unwrap();
    assert_eq!(swaps as u32, u32::from_be_bytes(last.try_into().unwrap()) + 1);
}

#[test]
fn a_cleared_family_is_empty_for_good_and_can_become_one_of_keys() {
    let (directory, store) = new_store();
    store.create_family("cleared", FamilyOptions::default()).unwrap();
    for family in ["cells", "cleared"] {
        store.put(Put::new("a").column(family, "", "file")).unwrap();
        store.flush().unwrap();
        store.put(Put::new("b").column(family, "", "memstore")).unwrap();
    }
    let snapshot = store.snapshot();
    let scan = store.scan(Scan::family("cleared")).unwrap();
    assert!(message(store.clear_family("nix")).contains("nix"));
    store.clear_family("cleared").unwrap();
    let rows = |store: &Store, family: &str| store.scan(Scan::family(family)).unwrap().count();
    assert_eq!((rows(&store, "cleared"), rows(&store, "cells")), (0, 2));
    let before = snapshot.scan(Scan::family("cleared")).unwrap().count();
    assert_eq!((before, scan.count()), (2, 2));
    store.alter_family("cleared", FamilyOptions::default().key_value(true)).unwrap();
    let map = store.map("cleared").unwrap();
    map.insert("c", "1").unwrap();
    drop((snapshot, map, store));
    let store = open(directory.path());
    assert_eq!((rows(&store, "cleared"), rows(&store, "cells")), (1, 2));
    store.map("cleared").unwrap().clear().unwrap();
    assert_eq!(rows(&store, "cleared"), 0);
    let files = std::fs::read_dir(directory.path().join("cleared")).unwrap().count();
    assert_eq!(files, 0, "the files are removed");
    store.flush().unwrap();
    drop(store);
    let store = open(directory.path());
    assert_eq!((rows(&store, "cleared"), rows(&store, "cells")), (0, 2));
}

#[test]
fn a_family_with_cells_of_the_clock_does_not_become_one_of_keys() {
    for flushes in [false, true] {
        let (directory, store) = new_store();
        let keys = store.map("keys").unwrap();
        keys.insert("row", "1").unwrap();
        let options = store.family("keys").unwrap();
        store.put(Put::new("row").column("cells", "", "old")).unwrap();
        if flushes {
            store.flush().unwrap();
        }
        // A time of the clock would hide all later inserts, and in a family of cells hide nothing.
        let cells = store.family("cells").unwrap();
        let refused = message(store.alter_family("cells", cells.clone().key_value(true)));
        assert!(refused.contains("would hide the values of keys"), "{refused}");
        // As after a salvage that lost the settings.
        store.alter_family("keys", options.clone().key_value(false)).unwrap();
        let refused = message(store.map("keys"));
        assert!(refused.contains("hfile store alter"), "{refused}");
        store.alter_family("keys", options.clone()).unwrap();
        keys.insert("row", "2").unwrap();
        assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"2"[..]));
        let reader = Store::open_read_only(directory.path(), StoreOptions::default()).unwrap();
        assert!(reader.map("keys").unwrap().contains("row").unwrap());
        for refused in [
            message(store.map("cells")),
            message(reader.map("cells")),
            message(store.snapshot().map("cells")),
        ] {
            assert!(refused.contains("is no key-value family"), "{refused}");
        }
        // Another family of the name, which holds cells, is not cleared through the old handle.
        store.clear_family("keys").unwrap();
        store.alter_family("keys", options.clone().key_value(false)).unwrap();
        store.put(Put::new("row").column("keys", "q", "a cell")).unwrap();
        for refused in [message(keys.insert("row", "2")), message(keys.clear())] {
            assert!(refused.contains("is no key-value family"), "{refused}");
        }
        assert_eq!(store.get(&Get::row("row").family("keys")).unwrap().len(), 1);
        assert!(message(store.alter_family("keys", options)).contains("would hide"));
        store.clear_family("cells").unwrap();
        store.alter_family("cells", cells.key_value(true)).unwrap();
        store.map("cells").unwrap().insert("row", "new").unwrap();
    }
}

/// What was written before the last clear never returns, and what was written after it stays.
#[test]
fn a_family_is_cleared_while_others_write_flush_and_compact() {
    let directory = tempfile::tempdir().unwrap();
    let options = || StoreOptions::default().memstore_flush_bytes(20 << 10);
    let store = Store::open(directory.path(), options()).unwrap();
    store.create_map("others").unwrap();
    let keys = store.create_map("keys").unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0_u32..6000 {
                let mut batch = WriteBatch::new();
                for family in ["keys", "others"] {
                    batch.insert(family, number.to_be_bytes(), [7; 20]);
                }
                store.write(batch, Durability::Async).unwrap();
            }
        });
        let mut rounds = 0;
        while !writer.is_finished() || rounds < 10 {
            rounds += 1;
            let before = keys.last().unwrap().map(|(key, _)| key);
            keys.clear().unwrap();
            let first = keys.first().unwrap().map(|(key, _)| key);
            assert!(first.is_none() || first > before, "{first:?} after {before:?}");
            store.flush().unwrap();
            store.compact("keys", CompactionKind::Major).unwrap();
            assert!(keys.first().unwrap().is_none_or(|(key, _)| Some(key) > before));
        }
    });
    let shown =
        |store: &Store| ["keys", "others"].map(|name| store.map(name).unwrap().prefix("").count());
    let [left, others] = shown(&store);
    assert!(left < 6000 && others == 6000, "{left} and {others}");
    drop((keys, store));
    let store = Store::open(directory.path(), options()).unwrap();
    assert_eq!(shown(&store), [left, others]);
    store.clear_family("keys").unwrap();
    assert_eq!(shown(&store), [0, 6000]);
}

#[test]
fn a_file_whose_cells_would_hide_later_inserts_is_not_imported() {
    let other_directory = tempfile::tempdir().unwrap();
    let other = open(other_directory.path());
    other.create_family("keys", FamilyOptions::default()).unwrap();
    other.put(Put::new("row").column("keys", "", "of a clock")).unwrap();
    let of_clock = other.export(other_directory.path().join("out"), &[]).unwrap().files;
    let (directory, store) = new_store();
    store.map("keys").unwrap().insert("row", "value").unwrap();
    let own = store.export(directory.path().join("out"), &[]).unwrap().files;
    for age in [Age::Carried, Age::Newest] {
        let told = message(store.import("keys", &of_clock, age));
        assert!(told.contains("would hide later inserts"), "{told}");
        store.import("keys", &own, age).unwrap();
        store.map("keys").unwrap().insert("row", "new").unwrap();
        assert_eq!(store.map("keys").unwrap().get("row").unwrap().as_deref(), Some(&b"new"[..]));
    }
}

/// With every kind of bound at keys, and before and behind them.
#[test]
fn keys_and_ranges_are_those_of_a_sorted_map() {
    let (_directory, store) = new_store();
    let keys = store.map("keys").unwrap();
    let names = ["a", "a\0", "ab", "b", "c"];
    let mut map = BTreeMap::new();
    let mut random = Random::new(1);
    for step in 0..60 {
        let name = names[random.below(names.len())];
        if random.below(3) == 0 {
            keys.remove(name).unwrap();
            map.remove(name);
        } else {
            keys.insert(name, step.to_string()).unwrap();
            map.insert(name, step.to_string());
        }
        if random.below(9) == 0 {
            store.flush().unwrap();
        }
        let places = ["0", "a", "a\0", "ab", "b", "d"];
        let [low, high] = [0, 1].map(|_| random.below(places.len()));
        let (low, high) = (places[low.min(high)], places[low.max(high)]);
        let bounds = |place| [Bound::Included(place), Bound::Excluded(place), Bound::Unbounded];
        for (from, to) in
            bounds(low).into_iter().flat_map(|from| bounds(high).map(move |to| (from, to)))
        {
            let texts = |pairs: Pairs| -> Vec<_> {
                let text = |bytes| String::from_utf8(bytes).unwrap();
                let pairs = pairs.map(Result::unwrap);
                pairs.map(|(key, value)| (text(key), text(value))).collect()
            };
            let inverted = (low < high && from != Bound::Unbounded && to != Bound::Unbounded)
                .then_some((to, from));
            if let Some(range) = inverted {
                assert!(texts(keys.range::<&str>(range)).is_empty(), "{range:?}");
                assert!(texts(keys.range_backwards::<&str>(range)).is_empty(), "{range:?}");
            }
            // A map refuses a range between a key and itself.
            let is_refused = from == Bound::Excluded(low) && to == Bound::Excluded(low);
            let of_map = (!is_refused).then(|| map.range::<&str, _>((from, to)));
            let of_map = of_map.into_iter().flatten();
            let mut expected: Vec<_> =
                of_map.map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
            assert_eq!(texts(keys.range::<&str>((from, to))), expected, "{from:?} {to:?}");
            expected.reverse();
            let backwards = texts(keys.range_backwards::<&str>((from, to)));
            assert_eq!(backwards, expected, "{from:?} {to:?} backwards");
        }
        for name in names {
            let value = keys.get(name).unwrap();
            assert_eq!(value.as_deref(), map.get(name).map(String::as_bytes), "{name}");
            assert_eq!(keys.contains(name).unwrap(), map.contains_key(name));
        }
    }
}

/// The end of the keys with a prefix is not the prefix with a greater last byte.
#[test]
fn a_prefix_may_end_with_the_greatest_bytes() {
    let (_directory, store) = new_store();
    let keys = store.map("keys").unwrap();
    assert_eq!((keys.first().unwrap(), keys.last().unwrap()), (None, None));
    let names: [&[u8]; 7] = [b"\0", b"a", b"a\xfe", b"a\xff", b"a\xff\xff\xff", b"b", b"\xff\xff"];
    for (number, name) in names.iter().enumerate() {
        keys.insert(name, "").unwrap();
        if number == 3 {
            store.flush().unwrap();
        }
    }
    let prefixes = [&b""[..], b"a\xff", b"a\xff\xff", b"\xff", b"\xff\xff", b"\0", b"c"];
    let snapshot = store.snapshot().map("keys").unwrap();
    keys.clear().unwrap();
    for prefix in prefixes {
        let all = |pairs: Pairs| pairs.map(|pair| pair.unwrap().0).collect::<Vec<_>>();
        let mut expected: Vec<_> = names
            .iter()
            .filter(|name| name.starts_with(prefix))
            .map(|name| name.to_vec())
            .collect();
        assert_eq!(all(snapshot.prefix(prefix)), expected, "{prefix:?}");
        expected.reverse();
        assert_eq!(all(snapshot.prefix_backwards(prefix)), expected, "{prefix:?}");
        assert_eq!(keys.prefix(prefix).count(), 0);
    }
    let key = |pair: Option<KeyValue>| pair.unwrap().0;
    assert_eq!(key(snapshot.first().unwrap()), b"\0");
    assert_eq!(key(snapshot.last().unwrap()), b"\xff\xff");
}
