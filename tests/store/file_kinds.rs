//! Files of every two kinds in each operation on whole files: none changes what a read shows, tags included.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{
    BloomType, Caching, Cell, CellRef, CellType, Compression, DataBlockEncoding, Reader,
    ReaderOptions, SequenceId, WriterOptions,
};
use store::vfs::Vfs;
use store::{
    Append, Clock, CompactionKind, CompactionOptions, Delete, FamilyOptions, Put, SalvageOutcome,
    Scan, Store, StoreOptions, Timestamp, VerifyOutcome,
};
use support::cells::{PUT, hfile, read_all};
use support::disk::Disk;

const TAGS: &[u8] = b"\0\x03Aab";
const NOW: i64 = 1_000;

/// How a file comes into a store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Flushed,
    FlushedMarkers,
    /// With our filter, encoded and compressed.
    FlushedOtherwise,
    /// Appended values have the tags of the cells before, if these have some.
    Appended,
    Loaded,
    LoadedMarkers,
    LoadedTagged,
    LoadedEmpty,
    /// With sequence ids from this one on: less than those of the store, equal, and greater.
    Imported(u64),
    ImportedTagged,
}

const KINDS: [Kind; 12] = [
    Kind::Flushed,
    Kind::FlushedMarkers,
    Kind::FlushedOtherwise,
    Kind::Appended,
    Kind::Loaded,
    Kind::LoadedMarkers,
    Kind::LoadedTagged,
    Kind::LoadedEmpty,
    Kind::Imported(1),
    Kind::Imported(3),
    Kind::Imported(500),
    Kind::ImportedTagged,
];

fn options(disk: &Disk) -> StoreOptions {
    StoreOptions::default()
        .vfs(Arc::new(disk.clone()))
        .clock(Clock::fixed(Timestamp::new(NOW)))
        .compaction(CompactionOptions::default().files_min(2))
        .auto_compaction(false)
        .background(false)
}

fn open(disk: &Disk, place: &str) -> Store {
    Store::open(place, options(disk)).unwrap()
}

fn family() -> FamilyOptions {
    FamilyOptions::default().versions(100)
}

/// Adds the file of a kind. Two of one kind have some equal keys, with other values.
fn add(store: &Store, disk: &Disk, kind: Kind, round: usize) {
    let rows = (round..round + 6).map(|row| (row, format!("row{row}")));
    let time = |row: usize| Timestamp::new((10 + row % 3) as i64);
    match kind {
        Kind::Flushed | Kind::FlushedOtherwise => {
            if kind == Kind::FlushedOtherwise {
                let filter = (FilterKind::Ribbon, Sizing::ErrorRate(ErrorRate::HBASE));
                let otherwise = family().filter(Some(filter)).bloom_type(BloomType::RowCol);
                let otherwise = otherwise.data_block_encoding(DataBlockEncoding::FastDiff);
                store.alter_family("f", otherwise.compression(Compression::Lz4)).unwrap();
            }
            for (number, row) in rows {
                let value = format!("{kind:?} {round}");
                let put = Put::new(&row).column_at("f", "q", time(number), &value);
                store.put(put.column_at("f", "r", time(number), value)).unwrap();
            }
        }
        Kind::FlushedMarkers => {
            for (number, row) in rows {
                let (delete, time) = (Delete::row(row), time(number));
                let delete = match number {
                    0 => delete.family_at("f", time),
                    1 => delete.family_version("f", time),
                    2 => delete.version("f", "q", time),
                    _ => delete.column_at("f", "q", time),
                };
                store.delete(delete).unwrap();
            }
        }
        Kind::Appended => {
            for (_, row) in rows {
                store.append(&Append::new(row).column("f", "q", format!("+{round}"))).unwrap();
            }
        }
        _ => return add_file(store, disk, kind, round),
    }
    store.flush().unwrap();
}

fn add_file(store: &Store, disk: &Disk, kind: Kind, round: usize) {
    let first_id = match kind {
        Kind::Imported(first) => Some(first),
        Kind::ImportedTagged => Some(600),
        _ => None,
    };
    let tags = if matches!(kind, Kind::LoadedTagged | Kind::ImportedTagged) { TAGS } else { b"" };
    let types = match kind {
        Kind::LoadedEmpty => &[][..],
        Kind::LoadedMarkers => &[CellType::DeleteColumn, CellType::Delete][..],
        _ => &[CellType::Put],
    };
    let mut cells = Vec::new();
    let value = format!("{kind:?} {round}");
    for (row, cell_type) in
        (round..round + 6).flat_map(|row| types.iter().map(move |of| (row, *of)))
    {
        let (name, id) = (format!("row{row}"), first_id.unwrap_or(0) + row as u64 % 4);
        let cell = CellRef {
            row: name.as_bytes(),
            timestamp: Timestamp::new((10 + row % 3) as i64),
            cell_type,
            value: if cell_type.is_delete() { b"" } else { value.as_bytes() },
            tags,
            sequence_id: SequenceId::new(first_id.map_or(0, |_| id)),
            ..PUT
        };
        cells.push(cell.to_cell());
    }
    cells.sort_by(|one, other| one.as_ref().compare(&other.as_ref()));
    let path = Path::new("/file");
    let options = WriterOptions::default().includes_tags(!tags.is_empty());
    let options = options.includes_mvcc(first_id.is_some());
    let bytes = hfile(path, options, cells.iter().map(Cell::as_ref));
    disk.create(path).unwrap().write_all(&bytes).unwrap();
    let paths = [path.to_path_buf()];
    match first_id {
        Some(_) => store.import("f", &paths).unwrap(),
        None => store.bulk_load("f", &paths).unwrap(),
    }
    disk.unlink(path).unwrap();
}

/// Returns all versions with their tags, as no operation may change them.
fn shown(store: &Store) -> Vec<String> {
    let cells = store.scan(Scan::family("f").versions(100)).unwrap();
    let line = |cell: CellRef<'_>| {
        let [value, tags] = [cell.value, cell.tags].map(|bytes| sstable::escape(bytes).to_string());
        format!("{} = {value} {tags}", cell.key())
    };
    cells.map(|cell| line(cell.unwrap().as_ref())).collect()
}

/// Does something with the files, and returns the store that must show the same.
type Operation = fn(Store, &Disk) -> Store;

const OPERATIONS: [(&str, Operation); 7] = [
    ("reopened", |store, disk| {
        drop(store);
        open(disk, "/store")
    }),
    ("minor compaction", |store, _| {
        store.compact("f", CompactionKind::Minor).unwrap();
        store
    }),
    ("major compaction", |store, _| {
        store.compact("f", CompactionKind::Major).unwrap();
        store
    }),
    ("rebuilt filters", |store, _| {
        store.rebuild_filters("f").unwrap();
        store
    }),
    ("checkpoint", |store, disk| {
        store.checkpoint("/copy").unwrap();
        open(disk, "/copy")
    }),
    ("salvage", |store, disk| {
        drop(store);
        let salvaged = store::salvage("/store", "/salvaged", &options(disk), &[], |_| {}).unwrap();
        assert_eq!(salvaged, SalvageOutcome::Whole);
        open(disk, "/salvaged")
    }),
    ("export and bulk load", |store, disk| {
        let export = store.export("/out", &[b"row3".to_vec()]).unwrap();
        for file in &export.files {
            check_exported(disk, file);
        }
        let other = open(disk, "/other");
        other.create_family("f", family()).unwrap();
        other.bulk_load("f", &export.files).unwrap();
        other
    }),
];

/// HBase gives all cells of a loaded file one sequence id, so that two of one key have no order.
fn check_exported(disk: &Disk, path: &PathBuf) {
    let name = sstable::FileName::new(path.display().to_string());
    let reader = Reader::open(disk.open(path).unwrap(), name, ReaderOptions::default()).unwrap();
    let cells = read_all(&reader);
    let is_sorted = cells.is_sorted_by(|one, other| one.as_ref().key() < other.as_ref().key());
    assert!(is_sorted, "{cells:?}");
    assert!(reader.scanner(Caching::Bypass).cell().is_none());
}

#[test]
fn no_operation_on_files_of_any_two_kinds_changes_an_answer() {
    for (one, other) in KINDS.iter().flat_map(|one| KINDS.iter().map(move |other| (*one, *other))) {
        for (name, operation) in OPERATIONS {
            let disk = Disk::default();
            let store = open(&disk, "/store");
            store.create_family("f", family()).unwrap();
            for (round, kind) in [one, other].into_iter().enumerate() {
                add(&store, &disk, kind, round);
            }
            let before = shown(&store);
            let store = operation(store, &disk);
            assert_eq!(shown(&store), before, "{name} of {one:?} and {other:?}");
            drop(store);
            let outcome = store::verify("/store", &options(&disk), |_| {}).unwrap();
            assert_eq!(outcome, VerifyOutcome::Sound, "{name} of {one:?} and {other:?}");
        }
    }
}
