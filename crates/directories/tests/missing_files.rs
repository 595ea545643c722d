//! Store files that are gone, though only logs and back references name them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use directories::{LocalTree, Region, RootDirectory, StoreFile, StoreFileName, Table};
use support::root_directory::RootCopy;

fn table(root: &Path, name: &str) -> Table {
    let root = RootDirectory::open(Arc::new(LocalTree), root).expect("a root directory");
    root.table(&name.parse().expect("a name")).expect("it has a schema")
}

/// Returns what a check finds before it reads store files.
fn found(root: &Path, name: &str) -> Vec<String> {
    let damages = table(root, name).check().damages;
    damages.iter().map(|damage| format!("{}: {}", damage.place(), damage.what)).collect()
}

/// Returns the HFiles in the directory of a table, as `REGION/FAMILY/NAME`.
fn hfiles(root: &Path, name: &str) -> Vec<String> {
    let table = table(root, name);
    let files = table.regions.iter().flat_map(Region::files);
    let files = files.filter(|file| matches!(file.name, StoreFileName::HFile(_)));
    files.map(StoreFile::short_path).collect()
}

#[test]
fn a_sound_table_has_no_missing_files() {
    for copy in [RootCopy::new(), RootCopy::walt(), RootCopy::recovered_hfiles()] {
        let root = RootDirectory::open(Arc::new(LocalTree), &copy.path()).expect("a root");
        for name in root.tables().expect("listed") {
            assert_eq!(found(&copy.path(), &name.to_string()), Vec::<String>::new(), "{name}");
        }
    }
}

/// Removes each HFile of a table in turn; returns the lines of the checks.
fn remove_each(root: &Path, name: &str) -> Vec<(String, Vec<String>)> {
    let directory = root.join("data/default").join(name);
    let mut lines = Vec::new();
    for file in hfiles(root, name) {
        let path = directory.join(&file);
        let bytes = fs::read(&path).expect("there");
        fs::remove_file(&path).expect("ours");
        lines.push((file, found(root, name)));
        fs::write(&path, bytes).expect("ours");
    }
    lines
}

fn check_each_is_found(removed: &[(String, Vec<String>)], how: &str) {
    for (file, lines) in removed {
        let [line] = &lines[..] else { panic!("{file}: {lines:?}") };
        assert!(line.starts_with(&format!("{file}: the store file is missing: ")), "{line}");
        let is_loaded = file.contains("_SeqId_");
        let how = if is_loaded && how.contains("flush") { "a bulk load added it" } else { how };
        assert!(line.contains(how), "{line}");
    }
}

#[test]
fn a_file_that_a_flush_or_a_bulk_load_wrote_is_missed() {
    let walt = RootCopy::walt();
    let removed = remove_each(&walt.path(), "walt");
    assert_eq!(removed.len(), 6);
    check_each_is_found(&removed, "a flush wrote it");
    let copy = RootCopy::new();
    let removed = remove_each(&copy.path(), "t1");
    assert!(removed.iter().any(|(file, _)| file.contains("_SeqId_")));
    check_each_is_found(&removed, "a flush wrote it");
}

#[test]
fn a_file_to_which_a_cloned_table_has_a_link_is_missed() {
    let copy = RootCopy::new();
    fs::remove_dir_all(copy.path().join("WALs")).expect("ours");
    let archive = copy.path().join("archive/data/default/t1");
    let has_link = |file: &str| {
        let (family, name) = file.rsplit_once('/').expect("a path");
        archive.join(family).join(format!(".links-{name}")).exists()
    };
    let removed = remove_each(&copy.path(), "t1");
    let (linked, others): (Vec<_>, Vec<_>) =
        removed.into_iter().partition(|(file, _)| has_link(file));
    assert!(linked.len() > 20, "{}", linked.len());
    check_each_is_found(&linked, "a cloned table has a link to it");
    assert!(others.iter().all(|(_, lines)| lines.is_empty()), "nothing names them");
}

#[test]
fn an_archived_file_is_not_missed() {
    let walt = RootCopy::walt();
    for file in hfiles(&walt.path(), "walt") {
        let archived = walt.path().join("archive/data/default/walt").join(&file);
        fs::create_dir_all(archived.parent().expect("a family")).expect("ours");
        fs::rename(walt.path().join("data/default/walt").join(&file), archived).expect("moved");
    }
    assert_eq!(found(&walt.path(), "walt"), Vec::<String>::new());
}

/// Returns the path of the log that has the entries of a table.
fn log_of(root: &Path, name: &str) -> PathBuf {
    let logs = table(root, name).logs;
    let has_it = |path: &&PathBuf| {
        let bytes = fs::read(path).expect("there");
        bytes.windows(name.len()).any(|window| window == name.as_bytes())
    };
    logs.iter().find(has_it).expect("a log has the table").clone()
}

#[test]
fn the_inputs_of_a_compaction_are_not_missed_when_the_archive_is_cleaned() {
    let copy = RootCopy::new();
    fs::remove_dir_all(copy.path().join("archive/data/default/t5")).expect("ours");
    assert_eq!(found(&copy.path(), "t5"), Vec::<String>::new());
    // Without the markers of the compactions, the files that they wrote name the inputs.
    let log = log_of(&copy.path(), "t5");
    let mut bytes = fs::read(&log).expect("there");
    let marker = b"HBASE::COMPACTION";
    let at: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(marker)).collect();
    assert!(!at.is_empty());
    for at in at {
        bytes[at + 7] = b'X';
    }
    fs::write(&log, bytes).expect("ours");
    assert_eq!(found(&copy.path(), "t5"), Vec::<String>::new());
}

#[test]
fn logs_among_the_old_ones_and_recovered_edits_are_read() {
    let walt = RootCopy::walt();
    let file = hfiles(&walt.path(), "walt").swap_remove(0);
    fs::remove_file(walt.path().join("data/default/walt").join(&file)).expect("ours");
    let log = log_of(&walt.path(), "walt");
    let region = file.split('/').next().expect("a region");
    let edits = walt
        .path()
        .join("data/default/walt")
        .join(region)
        .join("recovered.edits/0000000000000000042");
    fs::rename(&log, &edits).expect("moved");
    assert_eq!(found(&walt.path(), "walt").len(), 1);
    let old = walt.path().join("oldWALs");
    fs::create_dir_all(&old).expect("ours");
    fs::rename(&edits, old.join("log.1")).expect("moved");
    assert_eq!(found(&walt.path(), "walt").len(), 1);
    fs::remove_dir_all(&old).expect("ours");
    assert_eq!(found(&walt.path(), "walt"), Vec::<String>::new(), "nothing names it");
}
