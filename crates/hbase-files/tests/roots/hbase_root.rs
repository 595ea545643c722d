//! Directories that HBase wrote have the cells that HBase read from them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cells::ndjson;
use hbase_files::{
    DataFileName, DirectoryKind, EntryKind, Error, HFileLink, ListedFile, Listing, LocalTree,
    SkipReason, StoreFileName, StoreFileReader,
};
use sstable::{Caching, CellRef, FileName, ReaderOptions, SequenceId};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rootdir")
}

fn list(place: &str) -> Listing {
    let listing = Listing::read(&LocalTree, &data().join("root").join(place)).expect("readable");
    assert!(listing.problems.is_empty(), "{:?}", listing.problems);
    listing
}

fn open(entry: &ListedFile) -> StoreFileReader {
    let location = entry.locate(&LocalTree).expect("its target is there");
    let name = FileName::new(entry.path.display().to_string());
    StoreFileReader::open(&LocalTree, &location, name, ReaderOptions::default()).expect("sound")
}

/// Row, family, qualifier, timestamp and type, in HBase's order.
type Key = (Vec<u8>, Vec<u8>, Vec<u8>, Reverse<i64>, Reverse<u8>);

fn key(cell: &CellRef<'_>) -> Key {
    let part = <[u8]>::to_vec;
    let time = Reverse(cell.timestamp.get());
    let code = Reverse(cell.cell_type.code());
    (part(cell.row), part(cell.family), part(cell.qualifier), time, code)
}

/// Returns the cells of all entries as lines of JSON, in HBase's order, each key once.
///
/// Bulk-loaded files have their sequence id in the name, all others in the cells.
fn cells(listing: &Listing) -> String {
    let mut cells: BTreeMap<Key, (SequenceId, Vec<u8>)> = BTreeMap::new();
    for entry in &listing.entries {
        let name = entry.path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let loaded = match name.parse().expect("a name of HBase") {
            StoreFileName::HFile(name) => name.sequence_id(),
            StoreFileName::Link(HFileLink { file: DataFileName::HFile(name), .. }) => {
                name.sequence_id()
            }
            _ => None,
        };
        let mut scanner = open(entry).scanner(Caching::Use);
        scanner.seek_to_first().expect("sound");
        while let Some(cell) = scanner.cell() {
            let id = loaded.map_or(cell.sequence_id, SequenceId::new);
            let mut line = Vec::new();
            let bare = CellRef { sequence_id: SequenceId::default(), ..cell };
            ndjson::write_cell(&mut line, &bare).expect("memory takes it");
            let newest = cells.entry(key(&cell)).or_insert((id, line.clone()));
            if newest.0 < id {
                *newest = (id, line);
            }
            scanner.advance().expect("sound");
        }
    }
    let lines = cells.into_values().map(|(_, line)| String::from_utf8(line).expect("JSON"));
    lines.map(|line| line.replace(",\"seq\":0", "")).collect()
}

fn truth(name: &str) -> String {
    support::gunzip(&data().join(format!("{name}.cells.ndjson.gz")))
}

const LOWER: &str = "data/default/t1/40ab6300693e3f01d37da6c46414d9c8";
const UPPER: &str = "data/default/t1/77a347dcd3a699aadaaa702b08393620";
const CLONE: &str = "data/default/t8/a6117362735a719914cd4ec50dbf7d75";
const MERGED: &str = "data/default/t6/475ea0cde6a4298710607723607cb381";
const ARCHIVED: &str = "data/default/t7/5945bde6175a9acfce0280d65ebbf2a1";
const TRACKED: &str = "data/default/t5/1bc192e1c1ff9049e743103c3534b32c";

#[test]
fn each_region_has_the_cells_that_hbase_read() {
    for (region, expected, references, links) in [
        (LOWER, "t1-lower", 8, 0),
        (UPPER, "t1-upper", 8, 0),
        (CLONE, "t1-lower", 8, 6),
        (MERGED, "t6", 2, 0),
        (ARCHIVED, "t7", 0, 4),
        (TRACKED, "t5", 0, 0),
    ] {
        let listing = list(region);
        let count = |is_one: fn(&EntryKind) -> bool| {
            listing.entries.iter().filter(|entry| is_one(&entry.kind)).count()
        };
        assert_eq!(listing.directory_kind, DirectoryKind::Region, "{region}");
        assert_eq!(count(|kind| matches!(kind, EntryKind::Reference { .. })), references);
        assert_eq!(count(|kind| matches!(kind, EntryKind::Link(_))), links, "{region}");
        let (found, expected) = (cells(&listing), truth(expected));
        assert!(found == expected, "{region}: {} and {} bytes", found.len(), expected.len());
    }
}

#[test]
fn the_tracker_decides_which_files_of_a_family_count() {
    let listing = list(TRACKED);
    let skipped = |reason| {
        let files = listing.skipped.iter().filter(move |skipped| skipped.reason == reason);
        files.map(|skipped| skipped.path.clone()).collect::<Vec<_>>()
    };
    let stray = skipped(SkipReason::NotListed);
    assert_eq!(stray.len(), 1, "{stray:?}");
    assert!(stray[0].ends_with("g/26c13a46b2188ad7f01d83e2bfe25a77"));
    assert_eq!(skipped(SkipReason::Tracker).len(), 2);
}

#[test]
fn directories_of_all_levels_are_recognized() {
    for (path, place, files) in [
        ("", DirectoryKind::Root, 60),
        ("data/default", DirectoryKind::Namespace, 59),
        ("data/default/t1", DirectoryKind::Table, 28),
        (LOWER, DirectoryKind::Region, 14),
        ("data/default/t1/40ab6300693e3f01d37da6c46414d9c8/f1", DirectoryKind::Family, 7),
        ("archive/data/ns1", DirectoryKind::Namespace, 4),
        ("mobdir", DirectoryKind::Plain, 1),
    ] {
        let listing = list(path);
        assert_eq!(listing.directory_kind, place, "{path}");
        assert_eq!(listing.entries.len(), files, "{path}");
        assert!(listing.entries.is_sorted_by(|one, other| one.path < other.path));
        for entry in &listing.entries {
            open(entry);
        }
    }
    let mob = list("mobdir");
    assert_eq!(mob.entries[0].kind, EntryKind::Mob);
}

#[test]
fn a_link_without_its_root_says_what_is_missing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let link =
        list(ARCHIVED).entries.into_iter().find(|entry| matches!(entry.kind, EntryKind::Link(_)));
    let link = link.expect("the region has links");
    let name = link.path.file_name().expect("it has a name");
    for path in ["", "data/default/t7/5945bde6175a9acfce0280d65ebbf2a1/g"] {
        let family = directory.path().join(path);
        fs::create_dir_all(&family).expect("ours");
        fs::write(family.join(name), b"").expect("ours");
        let listing = Listing::read(&LocalTree, &family).expect("readable");
        let error = listing.entries[0].locate(&LocalTree).expect_err("the target is missing");
        match (path, &error) {
            ("", Error::NoRoot { .. }) => {}
            (_, Error::Missing { searched, .. }) => assert_eq!(searched.len(), 4),
            _ => panic!("{path}: {error}"),
        }
        assert!(error.to_string().contains("region ea869e80a7caba94c6902edc38fe97ad"), "{error}");
        fs::remove_file(family.join(name)).expect("ours");
    }
}
