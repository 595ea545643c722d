//! Each place where HBase keeps unflushed cells is read, or named: recovered HFiles, recovered edits
//! of three places, logs of another root, and logs that HBase leaves out.
//!
//! HBase opened the regions of these directories; its cells are the right ones.

use std::fs;
use std::path::{Path, PathBuf};

use hbase_files::{Error, Region, RootDirectory, Table, TableScan};
use sstable::{Cell, CellRef, SequenceId, Timestamp};
use support::fixtures::read_cells;
use support::root_directory::{RootCopy, reports};

/// The region of `walt` with the most rows.
const REGION: &str = "83a2af9efa70f232938815b9cf317a11";

fn walt(root: &RootDirectory) -> Table {
    root.table(&"walt".parse().expect("a name")).expect("sound")
}

/// Returns the cells without their sequence ids.
fn cells(table: &Table, with_logs: bool) -> Vec<Cell> {
    let cells = table.scan(&scan().with_logs(with_logs)).expect("sound");
    cells.map(|cell| unnumbered(&cell.expect("sound"))).collect()
}

/// The time at which HBase read the cells.
fn scan() -> TableScan {
    TableScan::default().now(Timestamp::new(1_795_622_000_000))
}

fn unnumbered(cell: &Cell) -> Cell {
    let mut view = cell.as_ref();
    view.sequence_id = SequenceId::new(0);
    view.to_cell()
}

/// Returns what HBase answered.
fn truth(name: &str) -> Vec<Cell> {
    read_cells(&reports().join(name)).iter().map(unnumbered).collect()
}

fn walt_truth() -> Vec<Cell> {
    truth("walt.cells.ndjson.gz")
}

fn warnings(table: &Table) -> Vec<String> {
    let cells = table.scan(&scan().with_logs(true)).expect("sound");
    cells.warnings().iter().map(ToString::to_string).collect()
}

/// Returns the only log that is not of `hbase:meta`.
fn log(copy: &RootCopy) -> PathBuf {
    let table = copy.table("walt");
    let [log] = &table.logs[..] else { panic!("{:?}", table.logs) };
    log.clone()
}

/// Moves a file to a directory, which it makes.
fn move_to(file: &Path, directory: &Path, name: &str) {
    fs::create_dir_all(directory).expect("disk takes it");
    fs::rename(file, directory.join(name)).expect("disk takes it");
}

#[test]
fn hfiles_to_which_hbase_split_a_log_are_read_with_logs() {
    let copy = RootCopy::recovered_hfiles();
    let table = copy.table("walt");
    assert_eq!(table.regions.iter().flat_map(Region::recovered_hfiles).count(), 4);
    assert_eq!(cells(&table, true), truth("recovered-hfiles.cells.ndjson.gz"));
    assert_eq!(warnings(&table).len(), 1, "this root has no hbase:meta");
    assert_eq!(cells(&table, false).len(), 66);
    let row = b"app";
    let get = table.get(row, &scan().with_logs(true)).expect("sound");
    assert!(!get.is_empty(), "a get reads them too");
}

#[test]
fn a_damaged_recovered_hfile_is_an_error_and_an_empty_one_a_warning() {
    let copy = RootCopy::recovered_hfiles();
    let directory = copy.path().join("data/default/walt").join(REGION).join("g/recovered.hfiles");
    let file = directory.join("6452591f418840c58901cfb7bacbdf6f");
    let whole = fs::read(&file).expect("there");

    fs::write(&file, &whole[..whole.len() / 2]).expect("disk takes it");
    let table = copy.table("walt");
    let mut cells = table.scan(&scan().with_logs(true)).expect("it is not opened yet");
    assert!(cells.any(|cell| cell.is_err()));
    assert!(table.check().files.len() > 4, "verify has it as well");

    fs::write(&file, b"").expect("disk takes it");
    let table = copy.table("walt");
    let found = warnings(&table);
    assert!(
        found[1].contains("6452591f418840c58901cfb7bacbdf6f: the recovered HFile has no bytes")
    );
    assert_eq!(self::cells(&table, true).len(), 72);

    fs::write(&file, &whole).expect("disk takes it");
    fs::rename(&file, directory.join("notes.txt")).expect("disk takes it");
    let table = copy.table("walt");
    let with_logs = scan().with_logs(true);
    assert!(matches!(table.scan(&with_logs), Err(Error::Incomplete { .. })));
    assert_eq!(self::cells(&table, false).len(), 66, "they do not need recovered HFiles");
    let mut found = table.warnings.iter();
    assert!(found.any(|warning| warning.what.contains("is no HFile by its name")));
}

/// The log stands for the recovered edits of both regions: HBase skips the entries of other regions.
#[test]
fn recovered_edits_are_read_from_each_of_their_three_places() {
    for place in ["data/default/walt", "default/walt"] {
        let copy = RootCopy::walt();
        let log = log(&copy);
        for region in copy.table("walt").regions {
            let directory = copy.path().join(place).join(region.name().as_str());
            let edits = directory.join("recovered.edits");
            fs::create_dir_all(&edits).expect("disk takes it");
            fs::copy(&log, edits.join("0000000000000000099")).expect("disk takes it");
        }
        fs::remove_file(log).expect("there");
        assert_eq!(cells(&copy.table("walt"), true), walt_truth(), "{place}");
    }
    let (copy, logs) = (RootCopy::walt(), tempfile::tempdir().expect("a directory"));
    let log = log(&copy);
    fs::create_dir(logs.path().join("WALs")).expect("disk takes it");
    let places = ["default/walt", "data/default/walt"];
    for (region, place) in copy.table("walt").regions.iter().zip(places) {
        let directory = logs.path().join(place).join(region.name().as_str());
        fs::create_dir_all(directory.join("recovered.edits")).expect("disk takes it");
        fs::copy(&log, directory.join("recovered.edits/99")).expect("disk takes it");
    }
    let root = copy.open().with_wal_root(logs.path()).expect("it has WALs");
    assert_eq!(cells(&walt(&root), true), walt_truth());
}

#[test]
fn a_sequence_id_beside_recovered_edits_counts_in_each_place() {
    let copy = RootCopy::walt();
    let directory = copy.path().join("default/walt").join(REGION).join("recovered.edits");
    fs::create_dir_all(&directory).expect("disk takes it");
    fs::write(directory.join("1000.seqid"), b"").expect("disk takes it");
    let table = copy.table("walt");
    let region =
        table.regions.iter().find(|region| region.name().as_str() == REGION).expect("there");
    assert_eq!(region.last_opened, Some(SequenceId::new(1000)));
}

#[test]
fn logs_are_read_from_a_root_of_their_own() {
    let (copy, logs) = (RootCopy::walt(), tempfile::tempdir().expect("a directory"));
    fs::rename(copy.path().join("WALs"), logs.path().join("WALs")).expect("disk takes it");
    let with_logs = copy.open().with_wal_root(logs.path()).expect("it has WALs");
    assert_eq!(cells(&walt(&with_logs), true), walt_truth());

    let without = copy.table("walt");
    let error = without.scan(&scan().with_logs(true)).expect_err("no logs").to_string();
    assert!(error.contains("hbase.wal.dir"), "{error}");
    assert!(without.read_logs(&scan()).is_err());
    let no_root = copy.open().with_wal_root(&copy.path()).expect_err("no logs").to_string();
    assert!(no_root.contains("it has no WALs"), "{no_root}");

    // Logs from before the change of the setting.
    fs::create_dir_all(copy.path().join("WALs/old")).expect("disk takes it");
    assert!(warnings(&walt(&with_logs))[0].contains("the other WAL root count"));
}

/// HDFS shows the length 0 for a file that is still open.
#[test]
fn logs_without_bytes_are_named() {
    let copy = RootCopy::walt();
    let log = log(&copy);
    let region = copy.path().join("data/default/walt").join(REGION);
    move_to(&log, &region.join("recovered.edits"), "99");
    fs::write(&log, b"").expect("disk takes it");
    fs::write(region.join("recovered.edits/98"), b"").expect("disk takes it");
    let found = warnings(&copy.table("walt"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with(&format!("{}: the log has no bytes", log.display())));
    assert!(found[1].contains("recovered.edits/98: the log has no bytes"), "{found:?}");
    let without = copy.table("walt");
    assert!(without.scan(&scan()).expect("sound").warnings().is_empty());
}

#[test]
fn logs_that_hbase_does_not_read_are_named() {
    let copy = RootCopy::walt();
    let log = log(&copy);
    let edits = copy.path().join("data/default/walt").join(REGION).join("recovered.edits");
    for (place, name) in [
        (edits.clone(), "98.1795621475038"),
        (copy.path().join("corrupt"), "a.log"),
        (copy.path().join("WALs"), "stray"),
    ] {
        fs::create_dir_all(&place).expect("disk takes it");
        fs::copy(&log, place.join(name)).expect("disk takes it");
    }
    let table = copy.table("walt");
    let found = warnings(&table);
    let has = |text: &str| found.iter().any(|found| found.contains(text));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(has("98.1795621475038: HBase could not replay the log"), "{found:?}");
    assert!(has("corrupt: has logs that HBase could not read"), "{found:?}");
    assert!(has("stray: is in no directory of a server"), "{found:?}");
    assert_eq!(cells(&table, true), walt_truth());
}

/// HBase renames the directory of a dead server before it splits the logs.
#[test]
fn the_logs_of_a_server_that_are_being_split_are_read() {
    let copy = RootCopy::walt();
    let server = log(&copy).parent().expect("a directory").to_owned();
    let mut splitting = server.clone().into_os_string();
    splitting.push("-splitting");
    fs::rename(server, splitting).expect("disk takes it");
    assert_eq!(cells(&copy.table("walt"), true), walt_truth());
}

/// HBase 2.1 does not write into the output of a compaction which files it replaced: only the log says so.
#[test]
fn a_table_of_hbase_2_1_has_the_cells_that_hbase_read_before_it_was_killed() {
    let copy = RootCopy::merged_2_1();
    let table = copy.table("m");
    let scan = TableScan::default().now(Timestamp::new(1_795_843_160_000));
    for (raw, file) in [(true, "m.raw.ndjson"), (false, "m.shown.ndjson")] {
        let scan = scan.clone().raw(raw);
        let truth = read_cells(&copy.path().with_file_name("truth").join(file));
        // The answers of HBase are without tags.
        let untagged = |cell: &Cell| CellRef { tags: b"", ..unnumbered(cell).as_ref() }.to_cell();
        let read = |with_logs| -> Vec<Cell> {
            let cells = table.scan(&scan.clone().with_logs(with_logs)).expect("sound");
            cells.map(|cell| untagged(&cell.expect("sound"))).collect()
        };
        assert_eq!(read(true), truth);
        let flushed = read(false);
        assert!(flushed.len() > 90);
        if raw {
            assert!(flushed.iter().all(|cell| truth.contains(cell)), "none of a replaced file");
        }
    }
}
