//! Key-value families, whose timestamps are sequence ids.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::time::Duration;

use store::{
    Append, CheckAndMutate, CompactionKind, Delete, Durability, Error, FamilyOptions, Get,
    Increment, Put, Result, Store, StoreOptions, WriteBatch,
};
use workload::Random;

fn open(directory: &Path) -> Store {
    Store::open(directory, StoreOptions::default().background(false)).unwrap()
}

fn new_store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for family in ["cells", "keys"] {
        store.create_family(family, FamilyOptions::default()).unwrap();
    }
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
    store.keys("keys").unwrap().insert("row", "1").unwrap();
    store.put(Put::new("row").column("cells", "q", "value")).unwrap();
    store.delete(Delete::row("row")).unwrap();
    assert!(store.get(&Get::row("row").family("cells")).unwrap().is_empty());
    let keys = store.keys("keys").unwrap();
    assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"1"[..]));
    keys.insert("row", "2").unwrap();
    store.delete(Delete::row("row")).unwrap();
    drop((keys, store));
    let store = open(directory.path());
    let keys = store.keys("keys").unwrap();
    assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"2"[..]));
    keys.remove("row").unwrap();
    keys.insert("row", "3").unwrap();
    store.flush().unwrap();
    store.compact("keys", CompactionKind::Major).unwrap();
    assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"3"[..]));
}

#[test]
fn keys_marks_an_empty_family_for_good() {
    let (directory, store) = new_store();
    store.keys("keys").unwrap();
    assert!(store.family("keys").unwrap().key_value);
    drop(store);
    let store = open(directory.path());
    assert!(store.family("keys").unwrap().key_value && !store.family("cells").unwrap().key_value);
    let options = FamilyOptions::default().key_value(true);
    store.create_family("created", options.clone()).unwrap();
    assert_eq!(store.family("created"), Some(options));
}

#[test]
fn a_key_value_family_refuses_writes_with_the_time_of_the_clock_and_a_ttl() {
    let (_directory, store) = new_store();
    let keys = store.keys("keys").unwrap();
    keys.insert("row", "1").unwrap();
    let mut batch = WriteBatch::from(Put::new("row").column("cells", "q", "value"));
    batch.put(Put::new("row").column("keys", "", "value"));
    let check = CheckAndMutate::new("row").if_not_exists("cells", "q");
    let check = check.put(Put::new("row").column("keys", "", "value"));
    for refused in [
        message(store.put(Put::new("row").column("keys", "", "2"))),
        message(store.delete(Delete::row("row").family("keys"))),
        message(store.delete(Delete::row("row").column("keys", ""))),
        message(store.write(batch, Durability::SyncWal)),
        message(store.increment(&Increment::new("row").column("keys", "n", 1))),
        message(store.append(&Append::new("row").column("keys", "", "2"))),
        message(store.check_and_mutate(&check)),
    ] {
        assert!(refused.contains("\"keys\" holds keys and values"), "{refused}");
    }
    assert!(store.get(&Get::row("row").family("cells")).unwrap().is_empty(), "nothing of a batch");
    assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"1"[..]));
    let ttl = store.family("keys").unwrap().ttl(Some(Duration::from_secs(60)));
    assert!(message(store.alter_family("keys", ttl.clone())).contains("TTL"));
    assert!(message(store.create_family("new", ttl.clone())).contains("TTL"));
    store.create_family("expiring", ttl.key_value(false)).unwrap();
    assert!(message(store.keys("expiring")).contains("TTL"));
}

#[test]
fn keys_of_a_family_with_cells_is_an_error_until_the_family_is_altered() {
    for flushes in [false, true] {
        let (directory, store) = new_store();
        // As a family is that an older version wrote through `keys`.
        let keys = store.keys("keys").unwrap();
        keys.insert("row", "1").unwrap();
        let options = store.family("keys").unwrap();
        store.alter_family("keys", options.clone().key_value(false)).unwrap();
        if flushes {
            store.flush().unwrap();
        }
        for refused in [message(store.keys("keys")), message(keys.insert("row", "2"))] {
            assert!(
                refused.contains("Store::alter_family") && refused.contains("hfile store alter")
            );
        }
        assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"1"[..]), "it can be read");
        let reader = Store::open_read_only(directory.path(), StoreOptions::default()).unwrap();
        assert!(reader.keys("keys").unwrap().contains("row").unwrap());
        store.alter_family("keys", options).unwrap();
        store.keys("keys").unwrap().insert("row", "2").unwrap();
        assert_eq!(keys.get("row").unwrap().as_deref(), Some(&b"2"[..]));
    }
}

/// An operation that imports files.
type Import = fn(&Store, &str, &[PathBuf]) -> Result<()>;

#[test]
fn a_file_whose_cells_would_hide_later_inserts_is_not_imported() {
    let (other_directory, other) = new_store();
    other.put(Put::new("row").column("keys", "", "of a clock")).unwrap();
    let of_clock = other.export(other_directory.path().join("out"), &[]).unwrap().files;
    let (directory, store) = new_store();
    store.keys("keys").unwrap().insert("row", "value").unwrap();
    let own = store.export(directory.path().join("out"), &[]).unwrap().files;
    let imports: [Import; 2] = [Store::import, Store::bulk_load];
    for import in imports {
        let told = message(import(&store, "keys", &of_clock));
        assert!(told.contains("would hide later inserts"), "{told}");
        import(&store, "keys", &own).unwrap();
        store.keys("keys").unwrap().insert("row", "new").unwrap();
        assert_eq!(store.keys("keys").unwrap().get("row").unwrap().as_deref(), Some(&b"new"[..]));
    }
}

/// With every kind of bound at keys, and before and behind them.
#[test]
fn keys_and_ranges_are_those_of_a_sorted_map() {
    let (_directory, store) = new_store();
    let keys = store.keys("keys").unwrap();
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
            if from == Bound::Excluded(low) && to == Bound::Excluded(low) {
                continue; // A map refuses this range.
            }
            let found = keys.range::<&str>((from, to)).map(|pair| {
                let (key, value) = pair.unwrap();
                [key, value].map(|bytes| String::from_utf8(bytes).unwrap())
            });
            let expected =
                map.range::<&str, _>((from, to)).map(|(key, value)| [(*key).into(), value.clone()]);
            assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{from:?} {to:?}");
        }
        for name in names {
            let value = keys.get(name).unwrap();
            assert_eq!(value.as_deref(), map.get(name).map(String::as_bytes), "{name}");
            assert_eq!(keys.contains(name).unwrap(), map.contains_key(name));
        }
    }
}
