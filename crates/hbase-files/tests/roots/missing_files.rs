//! Store files that are gone, though only logs and back references name them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hbase_files::{LocalTree, Region, RootDirectory, StoreFile, StoreFileName, Table, TableScan};
use sstable::{CellRef, FileInfo, Timestamp, WriterOptions};
use support::plain_log::{EntryKey, PlainLog};
use support::protobuf::field;
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

/// Returns what a scan with logs misses, as [`found`] returns it.
fn missed(root: &Path, name: &str) -> Vec<String> {
    let mut cells = table(root, name).scan(&TableScan::default().with_logs(true)).expect("sound");
    assert!(cells.by_ref().all(|cell| cell.is_ok()));
    let missing = cells.missing();
    missing.iter().map(|missing| format!("{}: {}", missing.file, missing.what)).collect()
}

/// Returns the HFiles, or else the references and links, in the directory of a table, as `REGION/FAMILY/NAME`.
fn files(root: &Path, name: &str, hfiles: bool) -> Vec<String> {
    let table = table(root, name);
    let files = table.regions.iter().flat_map(Region::files);
    let files = files.filter(|file| matches!(file.name, StoreFileName::HFile(_)) == hfiles);
    files.map(StoreFile::short_path).collect()
}

#[test]
fn a_sound_table_has_no_missing_files() {
    for copy in [RootCopy::new(), RootCopy::walt(), RootCopy::recovered_hfiles()] {
        let root = copy.open();
        for name in root.tables().expect("listed") {
            let name = name.to_string();
            assert_eq!(found(&copy.path(), &name), Vec::<String>::new(), "{name}");
            assert_eq!(missed(&copy.path(), &name), Vec::<String>::new(), "{name}");
        }
    }
}

/// Removes each HFile of a table in turn; returns the lines of the checks. Scans with logs must miss the same files.
fn remove_each(root: &Path, name: &str) -> Vec<(String, Vec<String>)> {
    remove(root, name, files(root, name, true))
}

/// Removes files of a table, one at a time; returns the lines of the checks.
fn remove(root: &Path, name: &str, files: Vec<String>) -> Vec<(String, Vec<String>)> {
    let directory = root.join("data/default").join(name);
    let mut lines = Vec::new();
    for file in files {
        let path = directory.join(&file);
        let bytes = fs::read(&path).expect("there");
        fs::remove_file(&path).expect("ours");
        let found = found(root, name);
        if root.join("WALs").exists() {
            assert_eq!(missed(root, name), found, "{file}");
        }
        lines.push((file, found));
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

/// HBase reads such a family as if it had never had the file.
#[test]
fn a_reference_or_a_link_with_which_the_region_was_opened_is_missed() {
    let copy = RootCopy::new();
    for (name, expected) in [("t1", 16), ("t6", 2), ("t7", 8)] {
        let pointers = files(&copy.path(), name, false);
        assert_eq!(pointers.len(), expected, "{name}");
        check_each_is_found(&remove(&copy.path(), name, pointers), "the region was opened with it");
    }
}

#[test]
fn a_file_without_the_name_of_a_store_file_is_a_problem_as_for_hbase() {
    let copy = RootCopy::new();
    let file = &files(&copy.path(), "t6", true)[0];
    let family = copy.path().join("data/default/t6").join(file);
    let family = family.parent().expect("a family");
    for (name, is_problem) in [
        ("0123456789abcdef0123456789abcdef._COPYING_", true),
        ("0123456789ABCDEF0123456789ABCDEF", true),
        ("notes-of-an-operator", false),
        (".hidden", false),
    ] {
        fs::write(family.join(name), b"left there").expect("ours");
        let found = found(&copy.path(), "t6");
        let is_named = found.iter().any(|line| line.contains(name));
        assert_eq!((is_named, found.len()), (is_problem, usize::from(is_problem)), "{found:?}");
        fs::remove_file(family.join(name)).expect("ours");
    }
    // HBase opens no region there.
    let regions = copy.path().join("mobdir/data/default/t3");
    let region = fs::read_dir(regions).expect("MOB files").next().expect("a region");
    fs::write(region.expect("listed").path().join("m/copying"), b"left there").expect("ours");
    assert_eq!(found(&copy.path(), "t3"), Vec::<String>::new());
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
    // HBase leaves the directory when the last link to the file is gone.
    let (family, name) = linked[0].0.rsplit_once('/').expect("a path");
    fs::remove_file(copy.path().join("data/default/t1").join(&linked[0].0)).expect("there");
    let links = archive.join(family).join(format!(".links-{name}"));
    for link in fs::read_dir(&links).expect("there") {
        fs::remove_file(link.expect("listed").path()).expect("ours");
    }
    assert_eq!(found(&copy.path(), "t1"), Vec::<String>::new());
}

#[test]
fn an_archived_file_is_not_missed() {
    let walt = RootCopy::walt();
    for file in files(&walt.path(), "walt", true) {
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

/// Makes the markers of a kind in the log of a table unreadable.
fn hide_markers(root: &Path, name: &str, kind: &str) {
    let log = log_of(root, name);
    let mut bytes = fs::read(&log).expect("there");
    let marker = format!("HBASE::{kind}");
    let is_there = |at: &usize| bytes[*at..].starts_with(marker.as_bytes());
    let at: Vec<usize> = (0..bytes.len()).filter(is_there).collect();
    assert!(!at.is_empty());
    for at in at {
        bytes[at + 7] = b'-';
    }
    fs::write(&log, bytes).expect("ours");
}

/// A copy of table `t5` without its archive and the markers of its compactions.
fn compacted() -> RootCopy {
    let copy = RootCopy::new();
    fs::remove_dir_all(copy.path().join("archive/data/default/t5")).expect("ours");
    assert_eq!(found(&copy.path(), "t5"), Vec::<String>::new());
    hide_markers(&copy.path(), "t5", "COMPACTION");
    copy
}

#[test]
fn the_inputs_of_a_compaction_are_not_missed_when_the_archive_is_cleaned() {
    // Without the markers of the compactions, the files that they wrote name the inputs.
    assert_eq!(found(&compacted().path(), "t5"), Vec::<String>::new());
}

#[test]
fn the_inputs_of_a_compacted_file_that_cannot_be_read_are_not_missed() {
    let copy = compacted();
    for file in files(&copy.path(), "t5", true) {
        let path = copy.path().join("data/default/t5").join(file);
        let mut bytes = fs::read(&path).expect("there");
        bytes.iter_mut().rev().take(4).for_each(|byte| *byte = 0xff);
        fs::write(&path, bytes).expect("ours");
    }
    assert_eq!(found(&copy.path(), "t5"), Vec::<String>::new(), "their own checks report them");
}

/// Writes an HFile as a job does for a bulk load: it does not say what went into it.
fn write_bulk_loaded(path: &Path) {
    let options = WriterOptions::default().bulk_load(Timestamp::new(77));
    let options = options.file_info(FileInfo::COMPACTION_EVENT, "");
    fs::write(path, support::cells::hfile(path, options, [])).expect("ours");
}

#[test]
fn a_flushed_file_is_missed_beside_bulk_loaded_ones_that_no_log_names() {
    let copy = RootCopy::new();
    hide_markers(&copy.path(), "t1", "BULK_LOAD");
    fs::remove_dir_all(copy.path().join("archive/data/default/t1")).expect("ours");
    let is_loaded = |file: &str| file.contains("_SeqId_");
    let family = |file: &str| file.rsplit_once('/').expect("a path").0.to_owned();
    let files = files(&copy.path(), "t1", true);
    let loaded: Vec<&String> = files.iter().filter(|file| is_loaded(file)).collect();
    for file in &loaded {
        write_bulk_loaded(&copy.path().join("data/default/t1").join(file));
    }
    let families: BTreeSet<String> = loaded.iter().map(|file| family(file)).collect();
    let mut removed = remove_each(&copy.path(), "t1");
    removed.retain(|(file, _)| !is_loaded(file) && families.contains(&family(file)));
    assert!(removed.len() > 10, "{}", removed.len());
    check_each_is_found(&removed, "a flush wrote it");
}

#[test]
fn a_log_that_cannot_be_read_to_its_end_is_named_in_place_of_files() {
    let walt = RootCopy::walt();
    let file = files(&walt.path(), "walt", true).swap_remove(0);
    fs::remove_file(walt.path().join("data/default/walt").join(&file)).expect("ours");
    assert_eq!(found(&walt.path(), "walt").len(), 1);
    let log = log_of(&walt.path(), "walt");
    let sound = fs::read(&log).expect("there");
    let region = file.split('/').next().expect("a region").as_bytes();
    let entries = (1..sound.len())
        .filter(|at| sound[*at..].starts_with(region) && sound[at - 2..*at] == [0x0a, 32]);
    let entries: Vec<usize> = entries.collect();
    assert!(entries.len() > 2);
    for at in entries {
        let mut bytes = sound.clone();
        // The length of the entry's key.
        bytes[at - 3] = 0;
        fs::write(&log, bytes).expect("ours");
        let lines = found(&walt.path(), "walt");
        let [line] = &lines[..] else { panic!("{lines:?}") };
        let wanted = format!("{}: store files may be lost unnoticed: ", log.display());
        assert!(line.starts_with(&wanted), "{line}");
    }
}

#[test]
fn old_logs_of_another_root_are_read() {
    let walt = RootCopy::walt();
    let file = files(&walt.path(), "walt", true).swap_remove(0);
    fs::remove_file(walt.path().join("data/default/walt").join(&file)).expect("ours");
    let log = log_of(&walt.path(), "walt");
    let wal_root = walt.path().with_file_name("wal-root");
    fs::create_dir_all(wal_root.join("WALs")).expect("ours");
    fs::create_dir_all(wal_root.join("oldWALs")).expect("ours");
    fs::rename(&log, wal_root.join("oldWALs/log.1")).expect("moved");
    // HBase 2.2 and older move logs of another format there.
    let other = wal_root.join("oldWALs/pv2-00000000000000000001.log");
    fs::write(other, b"no log of cells").expect("ours");
    let root = walt.open().with_wal_root(&wal_root).expect("it has WALs");
    let table = root.table(&"walt".parse().expect("a name")).expect("it has a schema");
    let damages = table.check().damages;
    assert_eq!(damages.len(), 1, "{damages:?}");
    assert_eq!(damages[0].place(), file);
}

#[test]
fn logs_among_the_old_ones_and_recovered_edits_are_read() {
    let walt = RootCopy::walt();
    let file = files(&walt.path(), "walt", true).swap_remove(0);
    fs::remove_file(walt.path().join("data/default/walt").join(&file)).expect("ours");
    let log = log_of(&walt.path(), "walt");
    // Without its log, the other region lacks its unflushed cells as well.
    let count = || {
        let lines = found(&walt.path(), "walt");
        lines.iter().filter(|line| line.starts_with(&file)).count()
    };
    let region = file.split('/').next().expect("a region");
    let edits = walt
        .path()
        .join("data/default/walt")
        .join(region)
        .join("recovered.edits/0000000000000000042");
    fs::rename(&log, &edits).expect("moved");
    assert_eq!(count(), 1);
    let old = walt.path().join("oldWALs");
    fs::create_dir_all(&old).expect("ours");
    fs::rename(&edits, old.join("log.1")).expect("moved");
    assert_eq!(count(), 1);
    let server = old.join("host,16020,1795621400000");
    fs::create_dir(&server).expect("ours");
    fs::rename(old.join("log.1"), server.join("log.1")).expect("moved");
    assert_eq!(count(), 1);
    fs::remove_dir_all(&old).expect("ours");
    assert_eq!(count(), 0, "nothing names it");
}

/// A scan does not read the old logs, unless a file seems to be gone.
#[test]
fn a_compaction_in_an_old_log_explains_to_a_scan_that_a_file_is_gone() {
    let walt = RootCopy::walt();
    let file = files(&walt.path(), "walt", true).swap_remove(0);
    fs::remove_file(walt.path().join("data/default/walt").join(&file)).expect("ours");
    assert_eq!(missed(&walt.path(), "walt"), found(&walt.path(), "walt"));
    let [region, family, name] = &file.split('/').collect::<Vec<_>>()[..] else { panic!("{file}") };
    let fields = [(1, "walt"), (2, region), (3, family), (4, name), (6, family)];
    let message = fields.map(|(number, text)| field(number, text.as_bytes())).concat();
    let time = Timestamp::new(1);
    let marker = CellRef::put(b"", b"METAFAMILY", b"HBASE::COMPACTION", time, &message);
    let key = EntryKey { region, table: "walt", sequence: 1_000, write_time: 1, padding: 0 };
    let mut log = PlainLog::new();
    log.entry(key, &[marker]);
    let old = walt.path().join("oldWALs");
    fs::create_dir_all(&old).expect("ours");
    fs::write(old.join("log.1"), &log.bytes).expect("ours");
    assert_eq!(missed(&walt.path(), "walt"), Vec::<String>::new());
    assert_eq!(found(&walt.path(), "walt"), Vec::<String>::new());
    let damage = [&[2, 0xff, 0xff, 0, 0, 0, 0][..], &log.bytes].concat();
    fs::write(old.join("log.2"), [&log.bytes[..], &damage].concat()).expect("ours");
    fs::remove_file(old.join("log.1")).expect("ours");
    let lines = missed(&walt.path(), "walt");
    assert_eq!(lines, found(&walt.path(), "walt"));
    assert!(lines[0].contains("log.2: store files may be lost unnoticed: "), "{lines:?}");
}

#[test]
fn a_scan_misses_only_files_of_its_families_and_regions() {
    let copy = RootCopy::new();
    let table = copy.table("t1");
    let region = table.regions.iter().find(|region| !region.info.start_key.is_empty());
    let region = region.expect("several regions");
    let is_hfile = |file: &&StoreFile| matches!(file.name, StoreFileName::HFile(_));
    let file = region.family(b"f1").expect("a family").files.iter().find(is_hfile);
    let file = file.expect("a flushed file").short_path();
    fs::remove_file(copy.path().join("data/default/t1").join(&file)).expect("ours");
    let table = copy.table("t1");
    let row = &region.info.start_key[..];
    let all = TableScan::default().with_logs(true);
    let logs = table.read_logs(&all).expect("sound");
    assert_eq!(logs.missing().len(), 1);
    for (scan, expected) in [
        (all.clone(), 1),
        (all.clone().row(row), 1),
        (all.clone().stop(row), 0),
        (all.clone().family("f2"), 0),
        (all.clone().family("f1").start(row), 1),
        (TableScan::default(), 0),
    ] {
        for scan in [scan.clone(), scan.clone().unflushed(logs.clone())] {
            let missing = table.scan(&scan).expect("sound").missing();
            assert_eq!(missing.len(), expected, "{scan:?}");
            assert!(missing.iter().all(|missing| missing.file == file), "{missing:?}");
        }
    }
}
