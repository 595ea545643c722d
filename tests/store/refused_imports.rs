//! Damaged files are refused before any file of an import is added.

use std::fs;
use std::path::{Path, PathBuf};

use filter::{ErrorRate, FilterKind, Sizing};
use store::{
    Age, CompactionKind, Error, FamilyOptions, Get, ImportOptions, Put, Scan, Store, StoreOptions,
    Timestamp,
};
use support::say;
use support::test_store::quiet;

fn open(directory: &Path) -> Store {
    let store = Store::open(directory, quiet()).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    store
}

/// Makes HFiles of some blocks with an HBase Bloom filter and a row filter.
fn files(directory: &Path) -> Vec<PathBuf> {
    let store = Store::open(directory.join("source"), StoreOptions::default()).unwrap();
    let sizing = Sizing::ErrorRate(ErrorRate::new(0.01).unwrap());
    let options = FamilyOptions::default().block_size(256).filter(FilterKind::BlockedBloom, sizing);
    store.create_family("f", options).unwrap();
    for file in ["a", "b"] {
        for row in 0..12 {
            let row = format!("{file}{row:02}");
            store.put(Put::new(&row).column_at("f", "q", Timestamp::new(5), &row)).unwrap();
        }
    }
    store.export(directory.join("out"), &[b"b".to_vec()]).unwrap().files
}

const AGES: [Age; 2] = [Age::Carried, Age::Newest];

/// Returns the number of files of a directory.
fn file_count(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// The length of the trailer, which has no checksum.
const TRAILER_LEN: usize = 4096;

#[test]
fn a_file_with_a_flipped_byte_is_refused_with_its_offset_and_no_file_is_imported() {
    let directory = tempfile::tempdir().unwrap();
    let sound = files(directory.path());
    let bytes = fs::read(&sound[1]).unwrap();
    let damaged = directory.path().join("damaged");
    let place = directory.path().join("store");
    let store = open(&place);
    store.put(Put::new("unflushed").column("f", "q", "1")).unwrap();
    let (mut refused, mut with_block, mut in_trailer) = (0, 0, 0);
    for age in AGES {
        // After the trailer's fields there are some 4,000 zeros; a sample of them suffices.
        let fields_end = bytes.len() - TRAILER_LEN + 200;
        let version = bytes.len() - 4..bytes.len();
        let zeros = (fields_end..version.start).step_by(97);
        for at in (0..fields_end).chain(zeros).chain(version) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&damaged, flipped).unwrap();
            let before = store.stats();
            let sound_and_damaged = [sound[0].clone(), damaged.clone()];
            let Err(error) = store.import("f", &sound_and_damaged, age) else {
                // A file of another minor version is sound.
                assert!(at >= bytes.len() - 4, "{age:?}: byte {at:#x}");
                in_trailer += 1;
                // So that there are never many files.
                store.compact("f", CompactionKind::Major).unwrap();
                continue;
            };
            match &error {
                Error::StoreFile(sstable::Error::Corrupt { file, damage }) => {
                    assert_eq!(file.to_string(), damaged.display().to_string());
                    assert!(damage.at.get() <= bytes.len() as u64, "{error}");
                    with_block += usize::from(damage.block.is_some());
                }
                // An unknown version or codec.
                Error::StoreFile(sstable::Error::Unsupported { .. }) | Error::Invalid { .. } => {}
                other => panic!("byte {at:#x}: {other:?}"),
            }
            refused += 1;
            // A bulk load flushes first.
            let (files, after) = (before.families[0].files, store.stats());
            assert_eq!(after.families[0].files, files + after.flushes - before.flushes, "{age:?}");
            assert_eq!(file_count(&place.join("f")) as u64, after.families[0].files);
        }
    }
    say(&format!(
        "import: {refused} flipped bytes refused, {with_block} with a block; {in_trailer} in the \
         minor version are taken"
    ));
    // All blocks, and the meaningful part of the trailer.
    assert!(refused >= 2 * (bytes.len() - TRAILER_LEN) + 100, "{refused}");
    assert!(with_block > refused / 2);
}

#[test]
fn a_damaged_file_is_imported_without_verification() {
    for age in AGES {
        let directory = tempfile::tempdir().unwrap();
        let sound = files(directory.path());
        let mut bytes = fs::read(&sound[0]).unwrap();
        // In the second data block, which an import need not read.
        let mut blocks = bytes.windows(8).enumerate().filter(|(_, it)| *it == b"DATABLK*");
        let second = blocks.nth(1).unwrap().0;
        bytes[second + 60] ^= 1;
        let damaged = directory.path().join("damaged");
        fs::write(&damaged, bytes).unwrap();
        let store = open(&directory.path().join("store"));
        let files = [damaged, sound[1].clone()];
        assert!(store.import("f", &files, age).is_err(), "{age:?}");
        store.import("f", &files, ImportOptions::new(age).verify(false)).unwrap();
        assert_eq!(store.stats().families[0].files, 2);
        assert_eq!(store.get(&Get::row("b07")).unwrap().len(), 1);
        assert!(store.scan(Scan::family("f")).unwrap().any(|cell| cell.is_err()), "{age:?}");
    }
}

#[test]
fn the_rows_of_a_range_are_imported_from_sound_files() {
    for age in AGES {
        let directory = tempfile::tempdir().unwrap();
        let sound = files(directory.path());
        let store = open(&directory.path().join("store"));
        let options = ImportOptions::new(age).start("a10").stop("b02");
        store.import("f", &sound, options).unwrap();
        let cells = store.scan(Scan::family("f")).unwrap().map(Result::unwrap);
        let rows: Vec<_> = cells.map(|cell| cell.row().to_vec()).collect();
        assert_eq!(rows, [b"a10", b"a11", b"b00", b"b01"], "{age:?}");
    }
}
