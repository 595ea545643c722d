use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use cells::Clock;
use sstable::{BlockKind, BlockSource};

use crate::error::Error;
use crate::files::names::identity::new_file_name;
use crate::maintenance::import::Age;
use crate::options::{Durability, FamilyOptions, StoreOptions};
use crate::read::query::{Get, Scan};
use crate::read::scan::ScanCells;
use crate::store::{CompactionKind, Store};
use crate::write::mutation::{Delete, Put};
use crate::write::read_modify_write::{Append, Increment};
use crate::{Cell, ReadTrace, Timestamp};

fn open(directory: &Path) -> Store {
    Store::open(directory, StoreOptions::default().clock(Clock::fixed(Timestamp::new(1000))))
        .unwrap()
}

fn values(cells: &[Cell]) -> Vec<&str> {
    cells.iter().map(|cell| str::from_utf8(cell.value()).unwrap()).collect()
}

#[test]
fn a_column_that_is_named_twice_gets_both_suffixes_and_both_amounts() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    store.put(Put::new("a").column("f", "text", "1")).unwrap();
    let append = Append::new("a").column("f", "text", "2").column("f", "other", "x");
    store.append(&append.column("f", "text", "3")).unwrap();
    assert_eq!(values(&store.get(&Get::row("a")).unwrap()), ["x", "123"]);
    store.increment(&Increment::new("b").column("f", "n", 5).column("f", "n", -2)).unwrap();
    assert_eq!(store.get(&Get::row("b")).unwrap()[0].value(), 3_i64.to_be_bytes());
}

/// Such an id has no cell any more, and none in the log: only the manifest can know it.
#[test]
fn no_write_gets_the_id_of_a_bulk_load_whose_cells_a_compaction_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let options = || FamilyOptions::default();
    let maker = Store::open(directory.path().join("maker"), StoreOptions::default()).unwrap();
    maker.create_family("f", options()).unwrap();
    maker.delete(Delete::row("a")).unwrap();
    maker.export(directory.path().join("files"), &[]).unwrap();
    let mut files = std::fs::read_dir(directory.path().join("files/f")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    let place = directory.path().join("store");
    let store = without_compaction(&place);
    store.create_family("f", options()).unwrap();
    store.put(Put::new("a").column("f", "q", "1")).unwrap();
    store.flush().unwrap();
    store.import("f", &[file], Age::Newest).unwrap();
    let raw = Scan::family("f").raw(true).versions(9);
    let newest = |store: &Store| {
        store.scan(raw.clone()).unwrap().map(|cell| cell.unwrap().sequence_id()).max()
    };
    let loaded = newest(&store).expect("a marker and a put");
    store.compact("f", CompactionKind::Major).unwrap();
    assert_eq!(newest(&store), None);
    drop(store);
    let store = without_compaction(&place);
    store.put(Put::new("b").column("f", "q", "1")).unwrap();
    assert!(newest(&store) > Some(loaded), "{loaded:?}");
}

#[test]
fn a_batch_of_a_scan_ends_at_the_row_and_loses_no_cell() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    for (row, columns) in [("a", 3), ("b", 1), ("c", 2)] {
        for column in 0..columns {
            let value = format!("{row}{column}");
            store.put(Put::new(row).column("f", column.to_string(), value)).unwrap();
        }
        store.flush().unwrap();
    }
    for reverse in [false, true] {
        let mut cells = store.scan(Scan::family("f").reverse(reverse)).unwrap();
        let [first, last] = if reverse { ["c", "a"] } else { ["a", "c"] };
        assert!(cells.next_batch(0).unwrap().is_empty());
        let whole = cells.next_batch(9).unwrap();
        assert!(whole.len() > 1 && whole.iter().all(|cell| cell.row() == first.as_bytes()));
        // The scan has judged the first cell of the next row already, and must not lose it.
        assert_eq!(cells.next_ref().unwrap().unwrap().value, b"b0");
        let part = cells.next_batch(1).unwrap();
        assert_eq!(values(&part), [format!("{last}0")]);
        assert_eq!(cells.next().unwrap().unwrap().value(), format!("{last}1").as_bytes());
        let rest = cells.next_batch(9).unwrap();
        assert_eq!(rest.len(), usize::from(reverse));
        assert!(cells.next_ref().unwrap().is_none() && cells.next().is_none());
    }
}

#[test]
fn no_two_families_share_an_id() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    store.inner.catalog.lock_manifest().families[0].id = u16::MAX;
    let refused = store.create_family("g", FamilyOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("65,536 family ids"), "{refused}");
}

fn without_compaction(directory: &Path) -> Store {
    let options = StoreOptions::default().clock(Clock::fixed(Timestamp::new(1000)));
    Store::open(directory, options.auto_compaction(false)).unwrap()
}

fn file_names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn other_families_do_not_evict_the_blocks_of_an_in_memory_family() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().auto_compaction(false).cache_bytes(400_000);
    let store = Store::open(directory.path(), options).unwrap();
    for (name, in_memory, rows) in [("in", true, 50), ("out", false, 50), ("many", false, 1000)] {
        let options = FamilyOptions::default().in_memory(in_memory).block_size(4000);
        store.create_family(name, options).unwrap();
        for row in 0..rows {
            store.put(Put::new(format!("{row:04}")).column(name, "q", [7; 1000])).unwrap();
        }
    }
    store.flush().unwrap();
    let from_file = |family: &str, rows| {
        let read = |row| store.get_traced(&Get::row(format!("{row:04}")).family(family)).unwrap();
        let traces = (0..rows).map(|row| read(row).1);
        let blocks = |trace: ReadTrace| trace.blocks(BlockKind::Data, BlockSource::File);
        traces.map(blocks).sum::<u64>()
    };
    assert!(from_file("in", 50) > 0 && from_file("out", 50) > 0);
    for _ in 0..3 {
        assert!(from_file("many", 1000) > 0, "more than the cache can hold");
    }
    assert_eq!(from_file("in", 50), 0);
    assert!(from_file("out", 50) > 0);
}

#[test]
fn snapshots_and_scans_do_not_see_later_writes() {
    let directory = tempfile::tempdir().unwrap();
    let store = without_compaction(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    for row in ["a", "b", "c"] {
        store.put(Put::new(row).column("f", "q", "old")).unwrap();
        store.flush().unwrap();
    }
    let snapshot = store.snapshot();
    let mut scan = store.scan(Scan::family("f")).unwrap();
    assert_eq!(scan.next().unwrap().unwrap().row(), b"a");
    for row in ["a", "b", "c"] {
        store.put(Put::new(row).column("f", "q", "new")).unwrap();
    }
    store.delete(Delete::row("b")).unwrap();
    store.flush().unwrap();
    store.compact("f", CompactionKind::Major).unwrap();
    assert_eq!(file_names(&directory.path().join("f")).len(), 4, "three are still being read");
    assert_eq!(values(&scan.map(Result::unwrap).collect::<Vec<_>>()), ["old", "old"]);
    assert_eq!(values(&snapshot.get(&Get::row("b")).unwrap()), ["old"]);
    drop(snapshot);
    assert_eq!(file_names(&directory.path().join("f")).len(), 1);
    assert!(store.get(&Get::row("b")).unwrap().is_empty());
    assert_eq!(values(&store.get(&Get::row("c")).unwrap()), ["new"]);
}

fn shown_rows(cells: ScanCells) -> Vec<String> {
    cells.map(|cell| String::from_utf8(cell.unwrap().row().to_vec()).unwrap()).collect()
}

/// With the newer rows in the memstore or in a file.
#[test]
fn a_reverse_scan_of_a_snapshot_skips_newer_rows() {
    for flushes in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let store = without_compaction(directory.path());
        store.create_family("f", FamilyOptions::default()).unwrap();
        let put = |rows: &[&str], value: &str| {
            for row in rows {
                store.put(Put::new(*row).column("f", "q", value)).unwrap();
            }
        };
        put(&["b", "d", "f"], "old");
        let snapshot = store.snapshot();
        put(&["a", "c", "d", "e", "g", "h"], "new");
        // More than are passed under one hold of the memstore's lock.
        let many: Vec<_> = (0..600).map(|number| format!("d{number:03}")).collect();
        put(&many.iter().map(String::as_str).collect::<Vec<_>>(), "new");
        if flushes {
            store.flush().unwrap();
            put(&["aa", "cc", "ff", "z"], "newer");
        }
        let scan = |reverse| snapshot.scan(Scan::family("f").reverse(reverse)).unwrap();
        assert_eq!(shown_rows(scan(true)), ["f", "d", "b"], "{flushes}");
        assert_eq!(shown_rows(scan(false)), ["b", "d", "f"], "{flushes}");
        let cells: Vec<_> = scan(true).map(Result::unwrap).collect();
        assert_eq!(values(&cells), ["old"; 3], "{flushes}");
        let from = Scan::family("f").reverse(true).start("e").stop("b");
        assert_eq!(shown_rows(snapshot.scan(from).unwrap()), ["d"], "{flushes}");
    }
}

/// The ends of ranges are the rows at which files begin and end, and those beside them.
#[test]
fn a_scan_in_either_direction_has_the_rows_of_its_range() {
    let directory = tempfile::tempdir().unwrap();
    let store = without_compaction(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    let files: [&[&str]; 4] = [&["b", "d"], &["d\0", "f"], &["f"], &["c", "e", "g"]];
    for (number, file) in files.iter().enumerate() {
        for row in *file {
            store.put(Put::new(*row).column("f", number.to_string(), "1")).unwrap();
        }
        store.flush().unwrap();
    }
    let mut rows: Vec<&str> = files.concat();
    rows.sort_unstable();
    let ends = ["", "a", "b", "b\0", "c", "d", "d\0", "e", "f", "f\0", "g", "h"];
    let ends: Vec<_> = ends.map(Some).into_iter().chain([None]).collect();
    for (start, stop) in ends.iter().flat_map(|start| ends.iter().map(move |stop| (*start, *stop)))
    {
        for reverse in [false, true] {
            let is_within = |row: &&&str| {
                let [low, high] = if reverse { [stop, start] } else { [start, stop] };
                let is_low = low.is_none_or(|low| if reverse { low < **row } else { low <= **row });
                let is_high =
                    high.is_none_or(|high| if reverse { **row <= high } else { **row < high });
                is_low && is_high
            };
            let mut expected: Vec<&str> = rows.iter().filter(is_within).copied().collect();
            if reverse {
                expected.reverse();
            }
            let scan = Scan::family("f").reverse(reverse);
            let scan = start.into_iter().fold(scan, Scan::start);
            let scan = stop.into_iter().fold(scan, Scan::stop);
            let found = shown_rows(store.scan(scan).unwrap());
            assert_eq!(found, expected, "{start:?} {stop:?} {reverse}");
        }
    }
}

/// The Bloom filter has prefixes of four bytes, and cannot answer for shorter ones.
#[test]
fn a_prefix_scan_shows_all_rows_with_a_prefix_of_any_length() {
    let directory = tempfile::tempdir().unwrap();
    let store = without_compaction(directory.path());
    let bloom = sstable::BloomType::RowPrefixFixedLength(4);
    store.create_family("f", FamilyOptions::default().bloom_type(bloom)).unwrap();
    let rows: Vec<String> = (0..60).map(|row| format!("{:03}-{row}", row * 13 % 60)).collect();
    for (number, row) in rows.iter().enumerate() {
        store.put(Put::new(row).column("f", "q", "1")).unwrap();
        if number % 20 == 19 {
            store.flush().unwrap();
        }
    }
    for row in &rows {
        for len in 0..=row.len() {
            let prefix = &row[..len];
            let mut expected: Vec<_> =
                rows.iter().filter(|row| row.starts_with(prefix)).cloned().collect();
            expected.sort();
            let from_before = Scan::family("f").prefix(prefix).start("0");
            assert_eq!(shown_rows(store.scan(from_before).unwrap()), expected, "{prefix}");
            for reverse in [false, true] {
                let scan = Scan::family("f").prefix(prefix).reverse(reverse);
                assert_eq!(shown_rows(store.scan(scan).unwrap()), expected, "{prefix}");
                expected.reverse();
            }
        }
    }
    // For an absent prefix the filter skips the files.
    let before = store.stats().families[0].reads.files_skipped_by_filter;
    for prefix in ["007x", "01x-", "0x0-1"] {
        let scan = Scan::family("f").prefix(prefix);
        assert_eq!(shown_rows(store.scan(scan).unwrap()), [""; 0]);
    }
    assert!(store.stats().families[0].reads.files_skipped_by_filter > before);
}

#[test]
fn opening_removes_leftovers_of_a_crash_and_no_other_file() {
    let directory = tempfile::tempdir().unwrap();
    let store = without_compaction(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    store.put(Put::new("a").column("f", "q", "v")).unwrap();
    store.flush().unwrap();
    let orphan = new_file_name(store.inner.catalog.store_id).unwrap();
    drop(store);
    let family = directory.path().join("f");
    let kept = file_names(&family);
    std::fs::write(family.join(&orphan), "half a file").unwrap();
    std::fs::write(family.join(format!("{orphan}.new")), "half a file").unwrap();
    std::fs::write(family.join("notes.txt"), "not ours").unwrap();
    let store = without_compaction(directory.path());
    assert_eq!(values(&store.get(&Get::row("a")).unwrap()), ["v"]);
    assert_eq!(file_names(&family), [kept, vec!["notes.txt".to_owned()]].concat());
}

#[test]
fn a_full_memstore_is_flushed_in_the_background_and_its_log_segments_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().memstore_flush_bytes(64 << 10);
    let store = Store::open(directory.path(), options).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    for row in 0..20_000 {
        let put = Put::new(format!("row{row:08}")).column("f", "q", [7; 20]);
        store.write(put, Durability::Async).unwrap();
    }
    store.flush().unwrap();
    let stats = store.stats();
    assert!(stats.flushes > 3, "{stats:?}");
    assert!(stats.families[0].files <= stats.flushes, "{stats:?}");
    assert_eq!(file_names(&directory.path().join("wal")), [""; 0]);
    assert_eq!(store.scan(Scan::family("f")).unwrap().count(), 20_000);
}

#[test]
fn concurrent_writes_are_all_kept() {
    let directory = tempfile::tempdir().unwrap();
    let store = without_compaction(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let store = &store;
            threads.spawn(move || {
                for row in 0..500 {
                    let row = format!("{thread}-{row:03}");
                    let durability =
                        if row.ends_with('7') { Durability::Synced } else { Durability::Logged };
                    store.write(Put::new(&row).column("f", "q", &row), durability).unwrap();
                    assert_eq!(values(&store.get(&Get::row(&row)).unwrap()), [row]);
                }
            });
        }
    });
    drop(store);
    let store = without_compaction(directory.path());
    assert_eq!(store.scan(Scan::family("f")).unwrap().count(), 2000);
    assert_eq!(store.stats().sequence_id, 2000);
}

#[test]
fn an_invalid_batch_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = without_compaction(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    let refused = [
        Put::new("").column("f", "q", "v"),
        Put::new(vec![b'r'; 40_000]).column("f", "q", "v"),
        Put::new("a").column("f", "q", "v").column("g", "q", "v"),
        Put::new("a").column_at("f", "q", Timestamp::new(-1), "v"),
    ];
    for put in refused {
        assert!(matches!(store.put(put), Err(Error::Invalid { .. })));
    }
    assert_eq!(store.scan(Scan::family("f")).unwrap().count(), 0);
    assert_eq!(store.stats().sequence_id, 0);
    assert!(matches!(store.get(&Get::row("a").family("g")), Err(Error::Invalid { .. })));
    for name in ["f", "", ".hidden", "a/b", "wal", "LOCK", "MANIFEST", "MANIFEST.new", "a\0"] {
        assert!(store.create_family(name, FamilyOptions::default()).is_err(), "{name:?}");
    }
}

#[test]
fn cache_on_write_keeps_the_blocks_of_a_flush_in_the_cache() {
    for cache_on_write in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let options = StoreOptions::default().cache_on_write(cache_on_write);
        let store = Store::open(directory.path(), options).unwrap();
        store.create_family("f", FamilyOptions::default().block_size(256)).unwrap();
        for row in 0..100 {
            store.put(Put::new(format!("row{row:02}")).column("f", "q", "value")).unwrap();
        }
        store.flush().unwrap();
        let mut from_file = 0;
        for row in 0..100 {
            let (cells, trace) = store.get_traced(&Get::row(format!("row{row:02}"))).unwrap();
            assert_eq!(cells.len(), 1);
            from_file += trace.blocks(BlockKind::Data, BlockSource::File);
        }
        assert_eq!(from_file == 0, cache_on_write, "{from_file} blocks");
    }
}

#[test]
fn an_index_of_one_block_is_not_in_the_cache() {
    for (index_block_size, is_cut) in [(0, true), (u32::MAX, false)] {
        let directory = tempfile::tempdir().unwrap();
        let options = StoreOptions::default().index_block_size(index_block_size);
        let store = Store::open(directory.path(), options).unwrap();
        store.create_family("f", FamilyOptions::default().block_size(256)).unwrap();
        for row in 0..1000 {
            store.put(Put::new(format!("row{row:03}")).column("f", "q", "value")).unwrap();
        }
        store.flush().unwrap();
        let (cells, trace) = store.get_traced(&Get::row("row500")).unwrap();
        assert_eq!(cells.len(), 1);
        assert_eq!(trace.blocks(BlockKind::Index, BlockSource::File) > 0, is_cut);
        assert_eq!(trace.data_blocks(), 1);
    }
}

#[test]
fn memstores_that_fill_up_during_a_flush_are_written_together_by_the_next_flush() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let directory = tempfile::tempdir().unwrap();
    let is_held = Arc::new(AtomicBool::new(true));
    let held = Arc::clone(&is_held);
    // A flush reads the clock before it writes, so this clock blocks it.
    let clock = Clock::new(move || {
        while std::thread::current().name() == Some("store-flush") && held.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Timestamp::new(1000)
    });
    let options = StoreOptions::default().clock(clock).memstore_flush_bytes(10_000);
    let store = Store::open(directory.path(), options.auto_compaction(false)).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    let waiting = || store.inner.catalog.version().families[0].flushing.len();
    let all_rows_exist = |store: &Store, rows: u32| {
        (0..rows).all(|row| store.get(&Get::row(format!("{row}"))).unwrap().len() == 1)
    };
    let mut rows = 0;
    while waiting() < 3 {
        store.put(Put::new(format!("{rows}")).column("f", "q", [7; 1000])).unwrap();
        rows += 1;
        // Wait until the flush thread has begun the first flush.
        while rows == 12 && waiting() == 0 {
            std::thread::yield_now();
        }
    }
    let (rows_exist, files) = (all_rows_exist(&store, rows), store.stats().families[0].files);
    is_held.store(false, Ordering::Relaxed);
    assert!(rows_exist);
    assert_eq!(files, 0);
    store.flush().unwrap();
    assert_eq!(waiting(), 0);
    assert!(all_rows_exist(&store, rows));
    // All waiting memstores went into one file.
    assert!(store.stats().families[0].files <= 3, "{:?}", store.stats());
    drop(store);
    let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
    assert!(all_rows_exist(&store, rows));
}

/// As after a flush that ran while the memstore filled up: the next flush has not begun.
#[test]
fn an_unlogged_memstore_that_waits_for_its_flush_survives_the_close() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().background(false).memstore_flush_bytes(usize::MAX);
    let store = Store::open(directory.path(), options.clone()).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    store.write(Put::new("row").column("f", "q", "value"), Durability::Skip).unwrap();
    let super::StoreInner { catalog, log, .. } = &*store.inner;
    crate::maintenance::flush::rotate_memstores(catalog, &mut log.writer(), 0).unwrap();
    drop(store);
    let store = Store::open(directory.path(), options).unwrap();
    assert_eq!(store.get(&Get::row("row")).unwrap().len(), 1);
}

/// HBase: `ConnectionUtils.validatePut`, "No columns to insert".
#[test]
fn a_put_without_columns_is_refused_with_its_whole_batch() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    let refused = |result: crate::error::Result<()>| {
        let error = result.expect_err("a put without columns").to_string();
        assert!(error.contains("row \"b\": a put has no columns"), "{error}");
    };
    refused(store.put(Put::new("b")));
    let mut batch = crate::write::mutation::WriteBatch::new();
    batch.put(Put::new("a").column("f", "q", "1"));
    batch.put(Put::new("b"));
    refused(store.write(batch, Durability::Logged));
    assert!(store.get(&Get::row("a")).unwrap().is_empty());
    // A batch of nothing is no put.
    store.write(crate::write::mutation::WriteBatch::new(), Durability::Logged).unwrap();
}

#[test]
fn gets_and_written_bytes_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    for row in ["a", "b"] {
        store.put(Put::new(row).column("f", "q", "1")).unwrap();
        store.flush().unwrap();
    }
    assert!(store.stats().log_bytes > 0);
    assert_eq!(store.stats().compaction_read_bytes, 0);
    let before = store.stats().families[0].file_bytes;
    store.compact("f", CompactionKind::Major).unwrap();
    let stats = store.stats();
    assert_eq!(stats.compaction_read_bytes, before);
    assert_eq!(stats.compaction_written_bytes, stats.families[0].file_bytes);
    store.get(&Get::row("a")).unwrap();
    store.multi_get(&[Get::row("a"), Get::row("absent")]).unwrap();
    assert_eq!(store.stats().families[0].gets, 3);
}

/// Else a write could follow the old options in part.
#[test]
fn alter_family_waits_for_the_write_that_has_begun() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    let versions = || store.family("f").unwrap().retention().versions;
    let (sender, altered) = mpsc::channel();
    thread::scope(|scope| {
        let writing = store.inner.log.writer();
        scope.spawn(|| {
            sender.send(store.alter_family("f", FamilyOptions::default().versions(3))).unwrap();
        });
        let early = altered.recv_timeout(Duration::from_millis(100));
        assert!(early.is_err(), "altered beside a write");
        assert_eq!(versions(), 1);
        drop(writing);
        altered.recv().unwrap().unwrap();
    });
    assert_eq!(versions(), 3);
}

#[test]
fn a_close_that_cannot_know_what_is_unwritten_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.create_family("f", FamilyOptions::default()).unwrap();
    let put = Put::new("row").column("f", "q", "value");
    store.write(put, Durability::Skip).unwrap();
    let catalog = &store.inner.catalog;
    let change = || catalog.publish_version(|_| panic!("a change of the version fails"));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(change)).unwrap_err();
    let error = store.close().unwrap_err();
    assert!(matches!(error, Error::Poisoned { .. }), "{error}");
}
