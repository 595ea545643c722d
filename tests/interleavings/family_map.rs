//! All interleavings of readers with the changes of a family map: a row that is there is found in
//! the old version and in the new one.

use store::{CompactionKind, MapMode, WriteBatch};

use super::every_order::{has, in_every_order, spawn};
use super::*;

fn family(map: MapMode) -> FamilyOptions {
    FamilyOptions::default().family_map(map)
}

/// Creates a store that has a family with a map of files.
fn new_store() -> Store {
    let store = Store::open(STORE, options(&Disk::default())).unwrap();
    store.create_family("f", family(MapMode::Files)).unwrap();
    store
}

/// Writes one value to rows, and makes a file of them.
fn flush(store: &Store, rows: std::ops::Range<u32>) {
    write(store, rows);
    store.flush().unwrap();
}

fn write(store: &Store, rows: std::ops::Range<u32>) {
    let mut batch = WriteBatch::new();
    rows.for_each(|row| batch.put(Put::new(format!("row{row}")).column("f", "q", "value")));
    store.write(batch, Durability::Skip).unwrap();
}

fn covered(store: &Store) -> (u64, u64) {
    let family = &store.stats().families[0];
    (family.map.map_or(0, |map| map.covered_files), family.files)
}

/// A flush inserts words into the lines that a reader reads, and then publishes its version.
#[test]
fn rows_of_a_flush_are_found_once_they_were_seen() {
    in_every_order("family map and flush", Some(3), || {
        let store = new_store();
        flush(&store, 0..2);
        let old = store.snapshot();
        write(&store, 2..4);
        let flushing = store.clone();
        let flusher = spawn(move || flushing.flush().unwrap());
        assert!(has(&store, "row0") && has(&store, "row3"));
        assert!(!old.get(&Get::row("row1")).unwrap().is_empty());
        assert!(old.get(&Get::row("row2")).unwrap().is_empty());
        flusher.join().unwrap();
        assert_eq!(covered(&store), (2, 2));
        assert!((0..4).all(|row| has(&store, &format!("row{row}"))));
    });
}

/// The map has no room for the flush: it is swept, and covers the flushed file then.
///
/// In a model, a map of few rows has one line, with room for 28 rows.
#[test]
fn rows_are_found_while_the_map_is_swept() {
    in_every_order("family map and sweep", Some(2), || {
        let store = new_store();
        flush(&store, 0..12);
        flush(&store, 0..12);
        store.compact("f", CompactionKind::Major).unwrap();
        let old = store.snapshot();
        write(&store, 12..18);
        let flushing = store.clone();
        let flusher = spawn(move || flushing.flush().unwrap());
        assert!(has(&store, "row11") && has(&store, "row17"));
        assert!(!old.get(&Get::row("row0")).unwrap().is_empty());
        flusher.join().unwrap();
        assert_eq!((covered(&store), store.stats().map_builds), ((2, 2), 0));
        assert!(!old.get(&Get::row("row11")).unwrap().is_empty());
        assert!((0..18).all(|row| has(&store, &format!("row{row}"))));
    });
}

/// The map is dropped and built again beside a flush.
#[test]
fn rows_are_found_while_the_map_is_dropped_and_built() {
    in_every_order("family map, dropped and built", Some(2), || {
        let store = new_store();
        flush(&store, 0..2);
        let old = store.snapshot();
        write(&store, 2..3);
        let flushing = store.clone();
        let flusher = spawn(move || flushing.flush().unwrap());
        store.alter_family("f", family(MapMode::Off)).unwrap();
        assert!(has(&store, "row1") && has(&store, "row2"));
        store.alter_family("f", family(MapMode::Files)).unwrap();
        assert!(has(&store, "row1") && has(&store, "row2"));
        assert!(!old.get(&Get::row("row1")).unwrap().is_empty());
        flusher.join().unwrap();
        assert_eq!(covered(&store), (2, 2));
        assert!((0..3).all(|row| has(&store, &format!("row{row}"))));
    });
}
