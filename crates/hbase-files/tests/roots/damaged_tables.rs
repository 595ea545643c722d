//! Damaged tables with logs, and damaged snapshots: an error, a warning, or the right cells.
//!
//! Descriptions are damaged in every way, logs so that their entries no longer fit: a log has no
//! checksums, so a bit of a value that differs cannot be noticed, neither by HBase.
//!
//! `MUTANTS=10000` tries as many.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cells::ndjson;
use hbase_files::{LocalTree, MobValues, Result, RootDirectory, StoreFileName, TableScan, wal};
use sstable::FileName;
use support::root_directory::RootCopy;

use support::Random;

use crate::damage::mutant;

/// A table or a snapshot, and the files of its root that are damaged.
struct Case {
    root: RootCopy,
    name: &'static str,
    is_snapshot: bool,
    descriptions: &'static [&'static str],
    logs: &'static [&'static str],
}

/// Returns tables with logs.
fn tables() -> [Case; 2] {
    let walt = Case {
        root: RootCopy::walt(),
        name: "walt",
        is_snapshot: false,
        descriptions: &[
            "data/default/walt/.tabledesc/.tableinfo.0000000001.686",
            "data/default/walt/7376d67c7d538f14a61907ae3ff3e36e/.regioninfo",
            "data/default/walt/83a2af9efa70f232938815b9cf317a11/.regioninfo",
            "WALs/localhost,41253,1795621469921/localhost%2C41253%2C1795621469921.meta.1795621475038.meta",
        ],
        logs: &[
            "WALs/localhost,41253,1795621469921/localhost%2C41253%2C1795621469921.1795621474690",
        ],
    };
    let t1 = Case {
        root: RootCopy::new(),
        name: "t1",
        is_snapshot: false,
        descriptions: &[
            "data/default/t1/77a347dcd3a699aadaaa702b08393620/.regioninfo",
            "data/default/t1/cfe27cad50f93b8520a92fe3492bd824/.regioninfo",
            "data/default/t1/77a347dcd3a699aadaaa702b08393620/f1/81b5fc619b754e26b0314f0daa183a00.c65bc83cc9888373de3595d40b882f08",
            "WALs/localhost,36349,1795412714489/localhost%2C36349%2C1795412714489.meta.1795412717714.meta",
        ],
        logs: &[
            "WALs/localhost,36349,1795412714489/localhost%2C36349%2C1795412714489.1795412717342",
            "WALs/localhost,36349,1795412714489/localhost%2C36349%2C1795412714489.1795412744013",
        ],
    };
    [walt, t1]
}

/// Returns snapshots and tables whose logs are not damaged.
fn others() -> [Case; 7] {
    let case = |name, is_snapshot, descriptions| {
        let root = RootCopy::new();
        Case { root, name, is_snapshot, descriptions, logs: &[] }
    };
    [
        case("s2", true, &[".hbase-snapshot/s2/data.manifest"]),
        case("s5", true, &[".hbase-snapshot/s5/data.manifest"]),
        case("s9", true, &[".hbase-snapshot/s9/data.manifest", ".hbase-snapshot/s9/.snapshotinfo"]),
        case(
            "s12",
            true,
            &[
                ".hbase-snapshot/s12/5945bde6175a9acfce0280d65ebbf2a1/.regioninfo",
                ".hbase-snapshot/s12/.tabledesc/.tableinfo.0000000001.651",
            ],
        ),
        case("s14", true, &[".hbase-snapshot/s14/data.manifest"]),
        case("t5", false, &["data/default/t5/1bc192e1c1ff9049e743103c3534b32c/g/.filelist/f2"]),
        case(
            "t6",
            false,
            &[
                "data/default/t6/475ea0cde6a4298710607723607cb381/g/4844017402a04d9587a063dc65b1fcc9.54831f426c01e05355f378f3c645ed76",
                "data/default/t6/475ea0cde6a4298710607723607cb381/.regioninfo",
                "data/default/t6/54831f426c01e05355f378f3c645ed76/.regioninfo",
                "WALs/localhost,36349,1795412714489/localhost%2C36349%2C1795412714489.meta.1795412717714.meta",
            ],
        ),
    ]
}

/// All cells that are stored or logged, and whether the scan said something.
#[derive(PartialEq)]
struct Answer {
    lines: Vec<u8>,
    is_silent: bool,
}

impl Case {
    fn read(&self) -> Result<Answer> {
        let root = RootDirectory::open(Arc::new(LocalTree), &self.root.path())?;
        let table = if self.is_snapshot {
            root.snapshot(self.name)?.table
        } else {
            root.table(&self.name.parse().expect("a name"))?
        };
        // Attributes of families have no checksum and no second copy. Which versions are shown, and
        // whether values are in MOB files, depends on them; which cells are stored does not.
        let scan = TableScan::default().raw(true).mob(MobValues::Reference);
        let scan = scan.with_logs(!self.is_snapshot);
        let (mut cells, mut lines) = (table.scan(&scan)?, Vec::new());
        while let Some(cell) = cells.next_ref()? {
            ndjson::write_cell(&mut lines, &cell).expect("memory takes it");
        }
        let is_silent = cells.warnings().is_empty()
            && cells.torn_logs().is_empty()
            && cells.old_log_cells().is_empty();
        Ok(Answer { lines, is_silent })
    }

    /// Damages a file of the table so often, and returns how many mutants were refused.
    fn damage(&self, path: &str, each: usize, random: &mut Random) -> usize {
        let file = self.root.path().join(path);
        let sound = fs::read(&file).expect("there");
        let expected = self.read().expect("sound");
        assert!(expected.is_silent, "{path}");
        let is_log = self.logs.contains(&path);
        let ends = if is_log { ends_of_entries(&sound) } else { Vec::new() };
        let mut refused = 0;
        for number in 0..each {
            let (mutant, how) =
                if is_log { damaged_log(&sound, &ends, random) } else { mutant(random, &sound) };
            fs::write(&file, mutant).expect("ours");
            match self.read() {
                Ok(Answer { lines, is_silent }) => {
                    let lens = (lines.len(), expected.lines.len());
                    let is_right = !is_silent || lines == expected.lines;
                    assert!(is_right, "{path}: {number}, {how}: {lens:?}");
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
            }
        }
        fs::write(&file, sound).expect("ours");
        refused
    }
}

/// Returns where a log without its end looks like one that the server still writes.
fn ends_of_entries(log: &[u8]) -> Vec<usize> {
    let source = Arc::new(bytes_of(log));
    let mut reader = wal::Reader::open(source, FileName::new("log")).expect("sound");
    let mut ends = Vec::new();
    for entry in reader.by_ref() {
        let entry = entry.expect("sound");
        let [begin, end] = [entry.offset, entry.offset + entry.len]
            .map(|at| usize::try_from(at).expect("within the log"));
        ends.extend([begin, end]);
    }
    ends
}

fn bytes_of(log: &[u8]) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(log)
}

/// Returns a log of another length, which does not end where an entry does.
fn damaged_log(sound: &[u8], ends: &[usize], random: &mut Random) -> (Vec<u8>, String) {
    loop {
        let (mutant, how) = mutant(random, sound);
        if mutant.len() != sound.len() && !ends.contains(&mutant.len()) && !mutant.is_empty() {
            return (mutant, how);
        }
    }
}

#[test]
fn a_damaged_table_or_snapshot_is_an_error_a_warning_or_the_same_cells() {
    let count: usize =
        std::env::var("MUTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(660);
    let cases: Vec<Case> = tables().into_iter().chain(others()).collect();
    let files: usize = cases.iter().map(|case| case.descriptions.len() + case.logs.len()).sum();
    let (mut random, each) = (Random::new(39), count.div_ceil(files));
    for case in &cases {
        for path in case.descriptions.iter().chain(case.logs) {
            let refused = case.damage(path, each, &mut random);
            support::say(&format!("{path}: {refused} of {each} refused"));
        }
    }
}

/// Takes away or empties each part of a root.
#[test]
fn a_table_with_logs_and_without_a_part_is_an_error_a_warning_or_the_same_cells() {
    for case in tables() {
        let expected = case.read().expect("sound");
        let parts = case.descriptions.iter().chain(case.logs).map(|path| Path::new(*path));
        for part in parts {
            let path = case.root.path().join(part);
            let sound = fs::read(&path).expect("there");
            for is_there in [true, false] {
                if is_there {
                    fs::write(&path, "").expect("ours");
                } else {
                    fs::remove_file(&path).expect("ours");
                }
                if let Ok(answer) = case.read() {
                    let is_log = case.logs.iter().any(|log| Path::new(log) == part);
                    let name = part.file_name().and_then(|name| name.to_str());
                    let is_store_file =
                        name.is_some_and(|name| name.parse::<StoreFileName>().is_ok());
                    // Nothing says that there was another log, or another file without a tracker.
                    let is_unlisted = !is_there && (is_log || is_store_file);
                    let is_right =
                        !answer.is_silent || answer.lines == expected.lines || is_unlisted;
                    assert!(is_right, "{}: is there: {is_there}", part.display());
                }
            }
            fs::write(&path, sound).expect("ours");
        }
    }
}
