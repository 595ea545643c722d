//! Every pair of kinds of files, through compaction, filters, copies and exports: no answer changes.

use std::path::{Path, PathBuf};

use sstable::{
    Cell, CellRef, CellType, Compression, DataBlockEncoding, Reader, ReaderOptions, SequenceId,
    WriterOptions,
};
use store::{
    Age, Append, CheckAndMutate, Clock, CompactionKind, CompactionOptions, CompareOperator, Delete,
    Durability, FamilyOptions, Get, Increment, Put, Scan, Store, Timestamp, WriteBatch,
};
use support::cells::{PUT, hfile, read_all};
use support::test_store::quiet;

const NOW: i64 = 1_700_000_000_000;
const TAGS: &[u8] = b"\0\x05\x41abcd\0\x02\x42x";

fn open(directory: &Path) -> Store {
    let pairs = CompactionOptions::default().files_min(2);
    let clock = Clock::fixed(Timestamp::new(NOW));
    Store::open(directory, quiet().compaction(pairs).clock(clock)).unwrap()
}

fn create(directory: &Path) -> Store {
    let store = open(directory);
    store.create_family("f", FamilyOptions::default().versions(3)).unwrap();
    store
}

/// Writes an HFile of puts of the rows 0, 2, 4, …
fn write_file(path: &Path, tags: &[u8], sequence_id: u64, value: &str) {
    write_file_with(WriterOptions::default(), path, tags, sequence_id, value);
}

fn write_file_with(
    options: WriterOptions,
    path: &Path,
    tags: &[u8],
    sequence_id: u64,
    value: &str,
) {
    let rows: Vec<_> = (0..20).map(|number| format!("row{:02}", number * 2)).collect();
    let put = |row| CellRef {
        row,
        timestamp: Timestamp::new(7),
        value: value.as_bytes(),
        tags,
        sequence_id: SequenceId::new(sequence_id),
        ..PUT
    };
    let mut options = options.includes_tags(!tags.is_empty());
    if sequence_id == 0 {
        options = options.includes_mvcc(false).bulk_load(Timestamp::new(NOW));
    }
    std::fs::write(path, hfile(path, options, rows.iter().map(|row| put(row.as_bytes())))).unwrap();
}

/// Returns the options of files of many blocks.
fn encoded(encoding: DataBlockEncoding, compression: Compression) -> WriterOptions {
    WriterOptions::default().data_block_encoding(encoding).compression(compression).block_size(200)
}

/// Writes each kind of delete marker at the same times whenever it is called.
fn write_markers(store: &Store) {
    let time = Timestamp::new(7);
    for number in (0..40).step_by(4) {
        let delete = Delete::row(format!("row{number:02}"));
        let delete = match number / 4 % 4 {
            0 => delete.family_at("f", time),
            1 => delete.family_version("f", time),
            2 => delete.column_at("f", "q", time),
            _ => delete.version("f", "q", time),
        };
        store.delete(delete).unwrap();
    }
}

fn write_puts(store: &Store, value: &str) {
    for number in (0..40).step_by(3) {
        let put = Put::new(format!("row{number:02}"));
        store.put(put.column_at("f", "q", Timestamp::new(7 + number % 2), value)).unwrap();
    }
}

/// Flushes, which changes no answer.
fn flush(store: &Store) {
    let before = cells(store);
    store.flush().unwrap();
    assert!(cells(store) == before, "a flush changes what a scan shows");
}

/// Adds a source of cells to a store; the path and the text are new in each call.
type Add = fn(&Store, &Path, &str);

const KINDS: [(&str, Add); 12] = [
    ("flushed puts and markers later than the clock", |store, _, text| {
        for number in (0..40).step_by(2) {
            let (row, later) = (format!("row{number:02}"), Timestamp::new(NOW + 5 + number % 3));
            store.put(Put::new(&row).column_at("f", "q", later, text)).unwrap();
            let marker = Delete::row(&row);
            match number % 8 {
                0 => store.delete(marker.column_at("f", "q", Timestamp::new(NOW + 6))).unwrap(),
                2 => store.delete(marker.version("f", "q", later)).unwrap(),
                4 => store.delete(marker.family_at("f", Timestamp::new(NOW + 5))).unwrap(),
                _ => {}
            }
        }
        flush(store);
    }),
    ("bulk-loaded, encoded and compressed", |store, path, text| {
        write_file_with(encoded(DataBlockEncoding::Diff, Compression::Gz), path, b"", 0, text);
        store.import("f", &[path.to_owned()], Age::Newest).unwrap();
    }),
    ("imported with tags, encoded and compressed", |store, path, text| {
        let options = encoded(DataBlockEncoding::RowIndexV1, Compression::Snappy);
        write_file_with(options, path, TAGS, 5, text);
        store.import("f", &[path.to_owned()], Age::Carried).unwrap();
    }),
    ("flushed puts", |store, _, text| {
        write_puts(store, text);
        flush(store);
    }),
    ("flushed markers", |store, _, _| {
        write_markers(store);
        flush(store);
    }),
    ("a memstore", |store, _, text| {
        write_markers(store);
        write_puts(store, text);
    }),
    ("a memstore of markers", |store, _, _| write_markers(store)),
    ("a memstore with tags", |store, _, text| {
        let mut batch = WriteBatch::new();
        for row in (0..40).step_by(8).map(|number| format!("row{number:02}")) {
            let (row, timestamp) = (row.as_bytes(), Timestamp::new(9));
            batch.cell(&CellRef { row, timestamp, value: text.as_bytes(), tags: TAGS, ..PUT });
        }
        store.write(batch, Durability::Logged).unwrap();
    }),
    ("bulk-loaded", |store, path, text| {
        write_file(path, b"", 0, text);
        store.import("f", &[path.to_owned()], Age::Newest).unwrap();
    }),
    ("bulk-loaded with tags", |store, path, text| {
        write_file(path, TAGS, 0, text);
        store.import("f", &[path.to_owned()], Age::Newest).unwrap();
    }),
    ("imported with ids", |store, path, text| {
        write_file(path, b"", 5, text);
        store.import("f", &[path.to_owned()], Age::Carried).unwrap();
    }),
    ("imported with ids and tags", |store, path, text| {
        write_file(path, TAGS, 5, text);
        store.import("f", &[path.to_owned()], Age::Carried).unwrap();
    }),
];

/// Returns the cells that a scan shows, with tags and without sequence ids.
fn cells(store: &Store) -> Vec<Cell> {
    let cells = store.scan(Scan::family("f").versions(3)).unwrap().map(Result::unwrap);
    let without_id =
        |cell: Cell| CellRef { sequence_id: SequenceId::default(), ..cell.as_ref() }.to_cell();
    cells.map(without_id).collect()
}

/// Exports the store, checks the file, and returns what another store shows that loads it.
fn exported(store: &Store, directory: &Path, what: &str) -> Vec<Cell> {
    let export = store.export(directory.join("export"), &[]).unwrap();
    let mut count = 0;
    for file in &export.files {
        let cells = read_all(&Reader::open_file(file, ReaderOptions::default()).unwrap());
        count += cells.len() as u64;
        let is_after = |one: &Cell, two: &Cell| one.as_ref().compare(&two.as_ref()).is_lt();
        assert!(cells.is_sorted_by(is_after), "{what}: a key is in the export twice");
    }
    assert_eq!(export.cells, count, "{what}");
    let other = create(&directory.join("other"));
    other.import("f", &export.files, Age::Newest).unwrap();
    cells(&other)
}

/// What changes files, and no answer.
type Upkeep = fn(&Store);

const UPKEEP: [(&str, Upkeep); 4] = [
    ("a flush", |store| store.flush().unwrap()),
    ("filters", |store| store.rebuild_filters("f").unwrap()),
    ("a minor compaction", |store| store.compact("f", CompactionKind::Minor).unwrap()),
    ("a major compaction", |store| store.compact("f", CompactionKind::Major).unwrap()),
];

#[test]
fn files_of_any_two_kinds_show_the_same_cells_after_each_kind_of_upkeep_and_in_each_copy() {
    for (first_name, first) in KINDS {
        for (second_name, second) in KINDS {
            let directory = tempfile::tempdir().unwrap();
            let path = |name: &str| -> PathBuf { directory.path().join(name) };
            let mut store = create(&path("store"));
            first(&store, &path("first"), "1");
            second(&store, &path("second"), "2");
            let before = cells(&store);
            let what = |done: &str| format!("{first_name}, then {second_name}: {done}");
            assert_eq!(exported(&store, directory.path(), &what("export")), before);
            for (name, upkeep) in UPKEEP {
                upkeep(&store);
                assert_eq!(cells(&store), before, "{}", what(name));
                drop(store);
                store = open(&path("store"));
                assert_eq!(cells(&store), before, "{}", what("reopened"));
            }
            store.checkpoint(path("checkpoint")).unwrap();
            assert_eq!(cells(&open(&path("checkpoint"))), before, "{}", what("checkpoint"));
        }
    }
}

/// Writes the column `f:q` of the row, depending on its cell.
type Change = fn(&Store);

const CHANGES: [(&str, Change); 2] = [
    ("increment", |store| {
        store.increment(&Increment::new("row").column("f", "q", 1)).unwrap();
    }),
    ("append", |store| {
        store.append(&Append::new("row").column("f", "q", "x")).unwrap();
    }),
];

/// Returns a store with the cell `row/f:q` of this time, which has tags.
fn with_tagged_cell(directory: &Path, time: i64) -> Store {
    let store = create(&directory.join("store"));
    let path = directory.join("file");
    let cell = CellRef {
        row: b"row",
        timestamp: Timestamp::new(time),
        value: &5_i64.to_be_bytes(),
        tags: TAGS,
        cell_type: CellType::Put,
        ..PUT
    };
    let options = WriterOptions::default().includes_tags(true).includes_mvcc(false);
    std::fs::write(&path, hfile(&path, options, [cell])).unwrap();
    store.import("f", &[path], Age::Newest).unwrap();
    store
}

/// The tag of a cell's own TTL, of a thousand milliseconds, as HBase writes it.
const TTL_TAG: &[u8] = b"\0\x09\x08\0\0\0\0\0\0\x03\xe8";

#[test]
fn a_family_marker_whose_own_ttl_is_over_deletes_nothing_in_any_way_of_reading() {
    for (age, is_deleted) in [(500, true), (5_000, false)] {
        let directory = tempfile::tempdir().unwrap();
        let store = create(&directory.path().join("store"));
        let put = Put::new("row").column_at("f", "a", Timestamp::new(7), "1");
        store.put(put.column_at("f", "q", Timestamp::new(7), "2")).unwrap();
        store.flush().unwrap();
        let path = directory.path().join("file");
        let marker = CellRef {
            row: b"row",
            qualifier: b"",
            timestamp: Timestamp::new(NOW - age),
            value: b"",
            tags: TTL_TAG,
            cell_type: CellType::DeleteFamily,
            ..PUT
        };
        let options = WriterOptions::default().includes_tags(true).includes_mvcc(false);
        std::fs::write(&path, hfile(&path, options, [marker])).unwrap();
        store.import("f", &[path], Age::Newest).unwrap();
        let expected = |count| if is_deleted { 0 } else { count };
        let get = |get: Get| store.get(&get).unwrap().len();
        assert_eq!(get(Get::row("row")), expected(2), "{age}");
        assert_eq!(get(Get::row("row").column("f", "q")), expected(1), "{age}");
        assert_eq!(get(Get::row("row").column("f", "a").column("f", "q")), expected(2), "{age}");
        for reverse in [false, true] {
            let scan = store.scan(Scan::family("f").reverse(reverse)).unwrap();
            assert_eq!(scan.count(), expected(2), "{age}");
        }
    }
}

/// Before, at and after the time of the clock.
const TIMES: [i64; 5] = [7, NOW - 1, NOW, NOW + 1, NOW + 5_000];

#[test]
fn an_increment_and_an_append_keep_the_tags_of_the_cell_wherever_the_cell_is() {
    for time in TIMES {
        for (name, change) in CHANGES {
            let directory = tempfile::tempdir().unwrap();
            let mut store = with_tagged_cell(directory.path(), time);
            // The cell is in the loaded file, in the memstore, in a flushed file, and in a new store.
            for round in 0..4 {
                let value =
                    |store: &Store| store.get(&Get::row("row")).unwrap()[0].value().to_vec();
                let before = value(&store);
                change(&store);
                assert_ne!(value(&store), before, "{name} at {time}: the new cell is the newest");
                for flushes in [false, true] {
                    if flushes && round == 1 {
                        store.flush().unwrap();
                    }
                    let found = store.get(&Get::row("row")).unwrap();
                    assert_eq!(found[0].as_ref().tags, TAGS, "{name} at {time}, round {round}");
                }
                if round == 2 {
                    drop(store);
                    store = open(&directory.path().join("store"));
                }
            }
        }
    }
}

#[test]
fn a_conditional_write_is_newer_than_the_cell_that_it_checked() {
    let number = 5_i64.to_be_bytes();
    for time in TIMES {
        for is_delete in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let store = with_tagged_cell(directory.path(), time);
            let check =
                CheckAndMutate::new("row").if_matches("f", "q", CompareOperator::Equal, number);
            let check = if is_delete {
                check.delete(Delete::row("row").column("f", "q"))
            } else {
                check.put(Put::new("row").column("f", "q", "new"))
            };
            assert!(store.check_and_mutate(&check).unwrap());
            for flushes in [false, true] {
                if flushes {
                    store.flush().unwrap();
                }
                let found = store.get(&Get::row("row").column("f", "q")).unwrap();
                let value = found.first().map(Cell::value);
                // As in HBase, only a put without a time takes the time of the checked cell.
                let is_out_of_reach = is_delete && time > NOW;
                let expected = if is_delete { None } else { Some(&b"new"[..]) };
                let expected = if is_out_of_reach { Some(&number[..]) } else { expected };
                assert_eq!(value, expected, "a cell at {time}, deleted: {is_delete}");
            }
            // The condition held once.
            let again = store.check_and_mutate(&check).unwrap();
            assert_eq!(again, is_delete && time > NOW, "a cell at {time}");
        }
    }
}
