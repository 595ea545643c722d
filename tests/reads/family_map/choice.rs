//! The choice of a map by the store.

use super::*;

fn trace_of(store: &Store, row: u64) -> ReadTrace {
    let (cells, trace) = store.get_traced(&Get::row(key(row)).column("f", "q")).unwrap();
    assert_eq!(cells.len(), 1, "{row}");
    trace
}

#[test]
fn the_store_makes_a_map_for_two_files_and_drops_it_for_one() {
    let store = TestStore::with_family(options(), FamilyOptions::default());
    for file in 0..8_u64 {
        let map = store.stats().families[0].map;
        assert_eq!(map.map(|map| map.covered_files), (file > 1).then_some(file));
        write(&store, (file..800).step_by(8), "value");
        store.flush().unwrap();
    }
    let stats = map_stats(&store);
    assert_eq!((stats.mode, stats.covered_files), (MapMode::Wide, 8));
    assert_eq!(trace_of(&store, 5).filter_checks, 0);
    store.compact("f", CompactionKind::Major).unwrap();
    assert_eq!(store.stats().families[0].map, None);
    assert_eq!(trace_of(&store, 5).filter_checks, 1);
}

/// Reading all rows of a store that was opened for a few gets would take longer than the gets.
#[test]
fn the_files_of_a_reopened_store_are_read_once_gets_have_asked_as_many_filters() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("store");
    let store = open(&place);
    store.create_family("f", FamilyOptions::default()).unwrap();
    for file in 0..9_u64 {
        write(&store, (file..900).step_by(9), "value");
        store.flush().unwrap();
    }
    drop(store);
    let store = open(&place);
    assert_eq!(store.stats().families[0].map, None);
    let checks = || store.stats().families[0].reads.filter_checks;
    while checks() < 880 {
        trace_of(&store, checks() % 900);
    }
    write(&store, 0..1, "value");
    store.flush().unwrap();
    assert_eq!(store.stats().families[0].map, None);
    while checks() < 900 {
        trace_of(&store, checks() % 900);
    }
    write(&store, 0..1, "value");
    store.flush().unwrap();
    assert_eq!(covered(&store), 11);

    let store = {
        drop(store);
        Store::open(&place, options().background(true)).unwrap()
    };
    for row in (0..900).cycle().take(4_000) {
        trace_of(&store, row);
    }
    for _ in 0..3_000 {
        if covered(&store) == 11 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not covered after 30 s: {:?}", store.stats());
}

#[test]
fn an_altered_mode_is_followed() {
    let store = TestStore::with_family(options(), family());
    for file in 0..3 {
        write(&store, file * 100..file * 100 + 300, "value");
        store.flush().unwrap();
    }
    let alter = |mode| {
        store.alter_family("f", store.family("f").unwrap().family_map(mode)).unwrap();
        assert!((0..500).all(|row| !store.get(&Get::row(key(row))).unwrap().is_empty()));
        store.stats().families[0].map
    };
    let wide = alter(MapMode::Wide).unwrap();
    assert_eq!((wide.mode, wide.covered_files), (MapMode::Wide, 3));
    let files = alter(MapMode::Files).unwrap();
    assert_eq!((files.mode, files.covered_files), (MapMode::Files, 3));
    assert!(files.bytes < wide.bytes);
    assert_eq!(alter(MapMode::Off), None);
    assert!(store.stats().cache.reserved_bytes < 10_000);
    let chosen = alter(MapMode::Auto).unwrap();
    assert_eq!((chosen.mode, chosen.covered_files), (MapMode::Wide, 3));
    store.compact("f", CompactionKind::Major).unwrap();
    assert_eq!(store.stats().families[0].map, None, "a single file needs no map");
}
