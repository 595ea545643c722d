//! A snapshot has every read of its store, as of its moment.

use store::{Cell, FamilyOptions, Get, Put, Scan};
use support::test_store::{TestStore, quiet};

/// Calls each read of a store or a snapshot that returns cells, and returns the cells of each.
macro_rules! answers {
    ($reads:expr) => {{
        let get = Get::row("a");
        let mut visited: Vec<Cell> = Vec::new();
        $reads.get_with(&get, |cell| visited.push(cell.to_cell())).unwrap();
        let scan = Scan::family("cells");
        [
            visited,
            $reads.get(&get).unwrap(),
            $reads.get_traced(&get).unwrap().0,
            $reads.multi_get(&[Get::row("absent"), get.clone()]).unwrap().concat(),
            $reads.explain(&get).unwrap().cells,
            $reads.scan(scan).unwrap().map(Result::unwrap).collect(),
        ]
    }};
}

#[test]
fn a_snapshot_has_every_read_of_its_store_as_of_its_moment() {
    let store = TestStore::new(quiet());
    store.create_family("cells", FamilyOptions::default()).unwrap();
    let map = store.create_map("map").unwrap();
    for flushes in [true, false] {
        let value = format!("before, {flushes}");
        store.put(Put::new("a").column("cells", "q", &value)).unwrap();
        map.insert("key", &value).unwrap();
        if flushes {
            store.flush().unwrap();
        }
        let snapshot = store.snapshot();
        let before = answers!(store);
        assert!(before.iter().all(|cells| cells.len() == before[0].len()), "{before:?}");
        store.put(Put::new("a").column("cells", "q", "after")).unwrap();
        map.remove("key").unwrap();
        assert_eq!(answers!(snapshot), before);
        assert!(answers!(store).iter().zip(&before).all(|(now, then)| now != then));
        assert_eq!(snapshot.map("map").unwrap().get("key").unwrap(), Some(value.into_bytes()));
    }
}
