//! The upkeep of a family map: what is done after failures, and how much memory maps take.

use sstable::BlockType;
use store::vfs::Vfs;
use store::{Age, CompactionKind, ImportOptions};
use support::disk::{Fault, Faults};
use support::mutants::Mutant;
use support::sound::Sound;

use super::*;

/// Writes an HFile with one cell in each of these rows.
fn write_load(disk: &Disk, path: &Path, rows: std::ops::Range<u64>, time: i64) {
    let keys: Vec<_> = rows.map(key).collect();
    let cells = keys.iter().map(|key| CellRef {
        row: key.as_bytes(),
        qualifier: b"q",
        timestamp: Timestamp::new(time),
        value: b"loaded",
        ..PUT
    });
    let bytes = hfile(path, WriterOptions::default(), cells);
    disk.create(path).unwrap().write_all(&bytes).unwrap();
}

/// A file whose rows cannot be read once is read again later, not only after the next open.
#[test]
fn a_file_that_could_not_be_read_once_is_covered_later() {
    let mut left_out = 0;
    for failing in 1.. {
        let disk = Disk::default();
        let store = Store::open("/store", options().vfs(Arc::new(disk.clone()))).unwrap();
        store.create_family("f", family()).unwrap();
        write(&store, 0..300, "flushed");
        store.flush().unwrap();
        let path = Path::new("/store/load");
        write_load(&disk, path, 200..400, 1);
        disk.set_faults(Faults::once(failing, Fault::Device));
        let loaded = store.import("f", &[path.to_path_buf()], Age::Newest);
        let calls = disk.calls();
        disk.set_faults(Faults::default());
        if loaded.is_ok() && covered(&store) == 1 {
            left_out += 1;
            assert_eq!(store.stats().map_failures, 1);
            assert!((0..400).all(|row| !store.get(&Get::row(key(row))).unwrap().is_empty()));
            std::thread::sleep(Duration::from_millis(150));
            store.flush().unwrap();
            assert_eq!(covered(&store), 2, "call {failing}: {:?}", store.stats());
        }
        if calls < failing {
            break;
        }
    }
    assert!(left_out > 0, "a read of the loaded file failed");
}

#[test]
fn rebuilds_are_counted_with_their_time() {
    let store = TestStore::with_family(options(), family());
    let counts = || {
        let stats = store.stats();
        assert_eq!(covered(&store), stats.families[0].files, "{stats:?}");
        ((stats.map_builds, stats.map_rebuilds), stats.map_build_time)
    };
    // The first flush makes a map, which has room for further rows.
    for rows in [0..300, 300..600] {
        write(&store, rows, "value");
        store.flush().unwrap();
    }
    assert_eq!(counts(), ((0, 0), Duration::ZERO));
    // No room for this flush: a larger map is built from the rows of all files.
    write(&store, 600..20_000, "value");
    store.flush().unwrap();
    let ((builds, rebuilds), built) = counts();
    assert_eq!((builds, rebuilds), (1, 1));
    assert!(built > Duration::ZERO);
    // Each flush takes one of 64 slots. Compactions leave dead ones, so the map is copied without them.
    for row in 0..120 {
        write(&store, row..=row, "value");
        store.flush().unwrap();
        if row % 20 == 19 {
            store.compact("f", CompactionKind::Major).unwrap();
        }
    }
    let ((builds, rebuilds), swept) = counts();
    assert_eq!((builds, rebuilds), (1, 3), "two copies");
    assert!(swept > built);
    assert_eq!(store.stats().map_failures, 0);
}

/// The snapshot keeps the old map in the budget, so that there is no room for its copy.
#[test]
fn a_map_that_did_not_fit_is_made_once_there_is_memory() {
    let store = TestStore::with_family(options().cache_bytes(220_000), family());
    write(&store, 0..10_000, "value");
    store.flush().unwrap();
    let snapshot = store.snapshot();
    let flush = |row| {
        write(&store, row..=row, "value");
        store.flush().unwrap();
    };
    for row in 10_000..10_080 {
        flush(row);
        if row % 10 == 9 {
            store.compact("f", CompactionKind::Major).unwrap();
        }
    }
    assert!(store.stats().map_failures > 0, "{:?}", store.stats());
    let old = snapshot.get(&Get::row(key(9_999))).unwrap();
    assert_eq!(old[0].value(), b"value");
    assert!((0..10_080).all(|row| !store.get(&Get::row(key(row))).unwrap().is_empty()));
    drop(snapshot);
    std::thread::sleep(Duration::from_millis(400));
    flush(10_080);
    assert_eq!(covered(&store), store.stats().families[0].files, "{:?}", store.stats());
    assert!(store.stats().cache.reserved_bytes <= 110_000);
    assert!((0..10_081).all(|row| !store.get(&Get::row(key(row))).unwrap().is_empty()));
}

/// The budget has room for the present rows, and not for a fifth more.
#[test]
fn a_map_without_room_for_growth_is_made_where_a_larger_one_does_not_fit() {
    for (mode, cache_bytes) in [(MapMode::Files, 125_000), (MapMode::Wide, 240_000)] {
        let store = TestStore::new(options().cache_bytes(cache_bytes));
        let family = FamilyOptions::default().family_map(mode);
        store.create_family("f", family.bloom_type(BloomType::None)).unwrap();
        write(&store, 0..20_000, "value");
        store.flush().unwrap();
        store.build_family_maps();
        assert_eq!(covered(&store), 1, "{mode:?}: {:?}", store.stats());
        assert_eq!(store.stats().map_failures, 0, "{mode:?}");
        assert!((0..20_000).all(|row| !store.get(&Get::row(key(row))).unwrap().is_empty()));
    }
}

/// The budget has room for one map: the old one is dropped before the new one is built.
#[test]
fn a_map_is_replaced_where_two_do_not_fit() {
    let store = TestStore::with_family(options().cache_bytes(220_000), family());
    write(&store, 0..10_000, "value");
    store.flush().unwrap();
    assert!(map_stats(&store).bytes > 75_000);
    for row in 10_000..10_200 {
        write(&store, row..=row, "value");
        store.flush().unwrap();
        if row % 10 == 9 {
            store.compact("f", CompactionKind::Major).unwrap();
        }
        assert_eq!(covered(&store), store.stats().families[0].files, "{row}: {:?}", store.stats());
    }
    assert_eq!(store.stats().map_failures, 0);
    assert!((0..10_200).all(|row| !store.get(&Get::row(key(row))).unwrap().is_empty()));
}

#[test]
fn the_first_map_is_sized_by_rows() {
    let store = TestStore::with_family(options(), family());
    let mut batch = WriteBatch::new();
    for (row, column) in (0..100).flat_map(|row| (0..200).map(move |column| (row, column))) {
        batch.put(Put::new(key(row)).column("f", format!("{column}"), "value"));
    }
    store.write(batch, Durability::Skip).unwrap();
    store.flush().unwrap();
    let map = map_stats(&store);
    assert_eq!(map.covered_files, 1);
    assert!(map.bytes < 20_000, "{map:?}");
    // 20,000 cells have more entries than the map has room for, and 100 rows do not.
    let row = |row: u64| Put::new(key(row)).column("f", "q", "value");
    for number in 0..6_000 {
        store.put(row(number % 100).column("f", format!("{number}"), "value")).unwrap();
    }
    store.flush().unwrap();
    assert_eq!((covered(&store), store.stats().map_builds), (2, 0));
}

/// The flush of the other family has more rows than its map has room for.
#[test]
fn dropping_a_family_leaves_the_others_covered() {
    let store = TestStore::new(options());
    for name in ["f", "g"] {
        store.create_family(name, family()).unwrap();
    }
    write(&store, 0..100, "value");
    store.flush().unwrap();
    write(&store, 0..10_000, "value");
    store.drop_family("g").unwrap();
    assert_eq!((covered(&store), store.stats().families[0].files), (2, 2));
}

/// The newest write was loaded, has expired, and no file of it is left.
#[test]
fn the_last_sequence_id_survives_a_compaction_that_leaves_no_file() {
    let clock = TestClock::at(1_000);
    let disk = Disk::default();
    let open = || {
        Store::open("/store", options().vfs(Arc::new(disk.clone())).clock(clock.clock())).unwrap()
    };
    let store = open();
    let family = family().ttl(Some(Duration::from_millis(100)));
    store.create_family("f", family).unwrap();
    for (load, first) in [(0, 0), (1, 50)] {
        let path = PathBuf::from(format!("/store/load{load}"));
        write_load(&disk, &path, first..first + 100, 1_000);
        store.import("f", std::slice::from_ref(&path), Age::Newest).unwrap();
        disk.unlink(&path).unwrap();
    }
    let before = store.stats().sequence_id;
    assert!(before > 0);
    clock.set(2_000);
    store.compact("f", CompactionKind::Major).unwrap();
    assert_eq!(store.stats().families[0].files, 0);
    drop(store);
    let store = open();
    assert_eq!(store.stats().sequence_id, before, "no later write gets the id of an earlier one");
}

/// HBase's Bloom filter of a file claims ten rows. The file has 20,000, more than the map has room
/// for. It was imported without verification, which would refuse it.
#[test]
fn a_file_with_more_rows_than_its_filter_counts_is_covered() {
    /// Where the number of keys is in the block of a Bloom filter's description.
    const KEY_COUNT_AT: usize = 33 + 4 + 8 + 4 + 4;
    let keys: Vec<_> = (0..20_000).map(key).collect();
    let cells = keys.iter().map(|key| CellRef { row: key.as_bytes(), qualifier: b"q", ..PUT });
    let cells: Vec<_> = cells.map(|cell| cell.to_cell()).collect();
    let sound = Sound::written_with("load", WriterOptions::default(), &cells);
    let mut types = sound.blocks.iter().map(|(_, header)| header.block_type);
    let block = types.position(|block| block == BlockType::GeneralBloomMeta);
    let block = block.expect("a file with a Bloom filter");
    let claim = 10_u64.to_be_bytes();
    let mutant = Mutant::overwritten(&sound, block, KEY_COUNT_AT, &claim).expect("in the block");
    for family in [family(), wide()] {
        let disk = Disk::default();
        let store = Store::open("/store", options().vfs(Arc::new(disk.clone()))).unwrap();
        store.create_family("f", family).unwrap();
        write(&store, 0..300, "flushed");
        store.flush().unwrap();
        let path = Path::new("/store/load");
        disk.create(path).unwrap().write_all(&mutant.bytes).unwrap();
        let unverified = ImportOptions::new(Age::Newest).verify(false);
        store.import("f", &[path.to_path_buf()], unverified).unwrap();
        for _ in 0..20 {
            if covered(&store) == 2 {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            store.flush().unwrap();
        }
        assert_eq!(covered(&store), 2, "{:?}", store.stats());
        for row in (0..20_000).step_by(7) {
            assert_eq!(store.get(&Get::row(key(row))).unwrap().len(), 1, "row {row}");
        }
    }
}
