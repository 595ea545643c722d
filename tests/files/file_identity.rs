//! Sound store files that are not those of the manifest: swapped, from an older copy, from another
//! store, truncated or extended. The store refuses to open, and names the file.

use std::fs;
use std::path::{Path, PathBuf};

use sstable::{CellRef, FileInfo, Reader, ReaderOptions, SequenceId, WriterOptions};
use store::{Age, CompactionKind, Error, FamilyOptions, Get, Put, Store, Timestamp};
use support::test_store::open;
use support::{cells, files_below, hex};

/// Makes a store of two files of equal cell count and length, with the given row in each.
fn filled(directory: &Path, rows: [&str; 2]) -> Vec<PathBuf> {
    let store = open(directory).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    for (row, value) in rows.into_iter().zip(["1", "2"]) {
        store.put(Put::new(row).column_at("f", "q", Timestamp::new(5), value)).unwrap();
        store.flush().unwrap();
    }
    drop(store);
    files_below(&directory.join("f"))
}

/// Returns the refused file and the reason.
fn refused(directory: &Path) -> (PathBuf, String) {
    match open(directory) {
        Err(Error::Corrupt { path, what, .. }) => (path, what.into_owned()),
        other => panic!("not refused: {other:?}"),
    }
}

/// Returns the reason why a file is refused.
fn refusal(directory: &Path, file: &Path) -> String {
    let (path, what) = refused(directory);
    assert_eq!(path, file);
    what
}

#[test]
fn swapped_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    // The files have the same keys too.
    let files = filled(directory.path(), ["a", "a"]);
    let contents = [&files[0], &files[1]].map(|file| fs::read(file).unwrap());
    assert_eq!(contents[0].len(), contents[1].len());
    fs::write(&files[0], &contents[1]).unwrap();
    fs::write(&files[1], &contents[0]).unwrap();
    // The older file is opened first; names do not tell which it is.
    let (first, what) = refused(directory.path());
    let second = files.iter().find(|file| **file != first).unwrap();
    let names = [second, &first].map(|path| path.file_name().unwrap().to_str().unwrap());
    assert!(what.ends_with(&format!("its id is {}, not {}", names[0], names[1])), "{what}");
    for (file, content) in files.iter().zip(contents) {
        fs::write(file, content).unwrap();
    }
    let found = open(directory.path()).unwrap().get(&Get::row("a")).unwrap();
    assert_eq!(found[0].value(), b"2");
}

#[test]
fn a_file_of_another_store_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (here, there) = (directory.path().join("here"), directory.path().join("there"));
    let ours = filled(&here, ["a", "b"]);
    let theirs = filled(&there, ["a", "b"]);
    // The same cells and the same length.
    for file in &theirs {
        fs::copy(file, &ours[0]).unwrap();
        assert!(refusal(&here, &ours[0]).contains("its id is"));
    }
}

#[test]
fn a_truncated_or_extended_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let files = filled(directory.path(), ["a", "b"]);
    let whole = fs::read(&files[1]).unwrap();
    for len in [0, 1, whole.len() - 1] {
        fs::write(&files[1], &whole[..len]).unwrap();
        let expected = format!("its length is {len}, not {}", whole.len());
        assert!(refusal(directory.path(), &files[1]).ends_with(&expected));
    }
    fs::write(&files[1], [&whole[..], &[0]].concat()).unwrap();
    assert!(refusal(directory.path(), &files[1]).contains("its length is"));
    fs::remove_file(&files[1]).unwrap();
    assert!(matches!(open(directory.path()), Err(Error::Io { path, .. }) if path == files[1]));
}

/// Files without an id are identified by length, cell count and keys; their whole-file checksum is
/// compared before they are merged.
#[test]
fn files_without_an_id_are_identified_by_their_keys_and_by_checksum_before_a_merge() {
    let directory = tempfile::tempdir().unwrap();
    let (here, there) = (directory.path().join("here"), directory.path().join("there"));
    filled(&there, ["a", "b"]);
    let source = open(&there).unwrap();
    let out = directory.path().join("out");
    let exported = source.export(&out, &[b"b".to_vec()]).unwrap().files;
    assert_eq!(exported.len(), 2);

    let store = open(&here).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    store.import("f", &exported, Age::Newest).unwrap();
    drop(store);
    let ours = files_below(&here.join("f"));
    let contents = [&ours[0], &ours[1]].map(|file| fs::read(file).unwrap());
    assert!(exported.iter().all(|file| contents.contains(&fs::read(file).unwrap())));
    fs::write(&ours[0], &contents[1]).unwrap();
    assert!(refusal(&here, &ours[0]).contains("its first key is"));

    // With the same keys only the checksum differs, which is not compared at open.
    let mut flipped = contents[0].clone();
    flipped[40] ^= 1;
    fs::write(&ours[0], flipped).unwrap();
    let store = open(&here).unwrap();
    let files = store.check_files("f").unwrap();
    let damages: Vec<_> = files.iter().filter_map(|file| file.damage.as_deref()).collect();
    assert_eq!(damages.len(), 1, "{damages:?}");
    assert!(matches!(store.compact("f", CompactionKind::Major), Err(Error::Corrupt { .. })));
}

/// Writes a file without an id; the value of its last row has `value_len` bytes.
fn write_file(path: &Path, rows: &[&str], value_len: usize) -> usize {
    let options = WriterOptions::default().create_time(Timestamp::new(1));
    let value = vec![7; value_len];
    let cells = rows.iter().map(|row| {
        let value = if Some(row) == rows.last() { &value } else { &[7][..] };
        CellRef { row: row.as_bytes(), value, ..cells::PUT }
    });
    let bytes = cells::hfile(path, options, cells);
    fs::write(path, &bytes).unwrap();
    bytes.len()
}

#[test]
fn files_of_equal_length_and_keys_are_distinguished_by_their_cell_count() {
    let directory = tempfile::tempdir().unwrap();
    let (here, loaded) = (directory.path().join("here"), directory.path().join("loaded"));
    let len = write_file(&loaded, &["a", "b", "c"], 1);
    let store = open(&here).unwrap();
    store.create_family("f", FamilyOptions::default()).unwrap();
    store.import("f", std::slice::from_ref(&loaded), Age::Newest).unwrap();
    drop(store);
    let ours = files_below(&here.join("f")).remove(0);
    let shorter = write_file(&ours, &["a", "c"], 1);
    assert_eq!(write_file(&ours, &["a", "c"], 1 + len - shorter), len);
    assert!(refusal(&here, &ours).ends_with("its cells are 2, not 3"));
}

/// A file stores the name under which it was written. In a checkpoint, the first half of the name is another.
#[test]
fn a_file_stores_the_name_under_which_it_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let (here, backup) = (directory.path().join("here"), directory.path().join("backup"));
    filled(&here, ["a", "b"]);
    open(&here).unwrap().checkpoint(&backup).unwrap();
    for (place, kept) in [(&here, 0..), (&backup, 16..)] {
        for file in files_below(&place.join("f")) {
            let reader = Reader::open_file(&file, ReaderOptions::default()).unwrap();
            let id = reader.file_info().value(store::tools::FILE_ID_KEY).unwrap();
            let name = file.file_name().unwrap().to_str().unwrap();
            assert_eq!(name[kept.clone()], hex(id)[kept.clone()]);
            assert_eq!(name == hex(id), *place == here);
            assert!(reader.file_info().value(FileInfo::LAST_KEY) == reader.index().last_key());
        }
        assert_eq!(open(place).unwrap().get(&Get::row("b")).unwrap()[0].value(), b"2");
    }
}

/// In both stores the first segment has the same number and no predecessor.
#[test]
fn a_checkpoint_refuses_the_log_of_its_origin() {
    let directory = tempfile::tempdir().unwrap();
    let (here, backup) = (directory.path().join("here"), directory.path().join("backup"));
    filled(&here, ["a", "b"]);
    let store = open(&here).unwrap();
    store.put(Put::new("c").column("f", "q", "3")).unwrap();
    store.checkpoint(&backup).unwrap();
    store.put(Put::new("d").column("f", "q", "4")).unwrap();
    drop(store);
    let ours = files_below(&here.join("wal")).remove(0);
    // The checkpoint first has no such segment, then one with its own records.
    for begins in [false, true] {
        let theirs = backup.join("wal").join(ours.file_name().unwrap());
        if begins {
            fs::remove_file(&theirs).unwrap();
            open(&backup).unwrap().put(Put::new("e").column("f", "q", "5")).unwrap();
            assert!(theirs.exists());
        }
        fs::copy(&ours, &theirs).unwrap();
        let what = refusal(&backup, &theirs);
        assert!(what.contains("belongs to another store"), "{what}");
    }
}

/// A file with another filter has other bytes, and therefore another id.
#[test]
fn a_file_gets_a_new_id_with_its_new_filter() {
    let directory = tempfile::tempdir().unwrap();
    let before = filled(directory.path(), ["a", "b"]);
    open(directory.path()).unwrap().rebuild_filters("f").unwrap();
    let after = files_below(&directory.path().join("f"));
    assert_eq!(after.len(), 2);
    for file in &after {
        assert!(!before.contains(file));
        let reader = Reader::open_file(file, ReaderOptions::default()).unwrap();
        let id = reader.file_info().value(store::tools::FILE_ID_KEY).unwrap();
        assert_eq!(file.file_name().unwrap().to_str().unwrap(), hex(id));
    }
    let store = open(directory.path()).unwrap();
    assert_eq!(store.get(&Get::row("b")).unwrap()[0].value(), b"2");
    assert!(store.check_files("f").unwrap().iter().all(|file| file.damage.is_none()));
}

/// Imports a file that claims `newest` as its newest sequence id.
fn import_of_age(store: &Store, place: &Path, newest: SequenceId) {
    let options = WriterOptions::default().max_sequence_id(newest);
    let cell = CellRef { row: b"a", value: b"imported", ..cells::PUT };
    fs::write(place, cells::hfile(place, options, [cell])).unwrap();
    store.import("f", &[place.to_path_buf()], Age::Carried).unwrap();
}

#[test]
fn a_file_may_leave_one_sequence_id_and_its_write_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("near the end");
    let home = directory.path().join("store");
    filled(&home, ["a", "b"]);
    let store = open(&home).unwrap();
    import_of_age(&store, &place, SequenceId::new(SequenceId::MAX.get() - 2));
    let put = |value: &str| Put::new("a").column_at("f", "q", Timestamp::new(5), value);
    store.put(put("last")).unwrap();
    let used_up = "ids are used up";
    assert!(store.put(put("one more")).unwrap_err().to_string().contains(used_up));
    drop(store);
    let store = open(&home).unwrap();
    assert_eq!(store.get(&Get::row("a")).unwrap()[0].value(), b"last");
    assert!(store.import("f", &[place], Age::Newest).unwrap_err().to_string().contains(used_up));
    assert!(store.put(put("one more")).unwrap_err().to_string().contains(used_up));
    drop(store);
    assert_eq!(open(&home).unwrap().get(&Get::row("a")).unwrap()[0].value(), b"last");
}

#[test]
fn a_file_with_an_impossible_sequence_id_is_treated_as_one_without() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("store");
    filled(&home, ["a", "b"]);
    let store = open(&home).unwrap();
    import_of_age(&store, &directory.path().join("claims"), SequenceId::MAX);
    assert_eq!(store.get(&Get::row("a")).unwrap()[0].value(), b"imported");
    store.put(Put::new("a").column_at("f", "q", Timestamp::new(5), "later")).unwrap();
    drop(store);
    assert_eq!(open(&home).unwrap().get(&Get::row("a")).unwrap()[0].value(), b"later");
}
