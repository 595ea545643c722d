//! Root directories that HBase makes from a seed, read by `hfile` and by HBase.
//!
//! Each has tables with splits, merges, clones, bulk loads, compactions, deletions, MOB and tracker
//! files in random order, snapshots in between, and edits that are only in logs. HBase is halted,
//! and its answers are the reference, cell for cell.
//!
//! Run with `HBASE_JUDGE=1`; see `tests/hbase-judge/README.md`. `SNAPSHOT_SEED` is the first seed (0)
//! and `SNAPSHOT_ROOTS` the number of root directories (1). A failed one is kept if `SNAPSHOT_KEEP=1`.

use std::path::Path;
use std::{env, fs};

use serde_json::{Map, Value};
use support::{Random, judge, say};
use tempfile::TempDir;

use crate::command_line::{directory, field, hfile, objects, path, text};

/// A root directory and what HBase read from it.
struct Root {
    seed: u64,
    directory: TempDir,
    manifest: Value,
    random: Random,
    /// Answers compared so far.
    compared: usize,
    /// Tables that were restored from a snapshot.
    restored: usize,
    faults: Vec<String>,
}

impl Root {
    /// Has HBase make one from a seed, or from others if it gets stuck.
    fn make(first: u64) -> Self {
        const ATTEMPTS: u64 = 3;
        for attempt in 0..ATTEMPTS {
            let seed = first.wrapping_add(attempt << 32);
            if let Some(root) = Self::try_make(seed) {
                return root;
            }
            say(&format!(
                "snapshots: HBase got stuck with seed {seed}; another one is derived from it"
            ));
        }
        panic!("HBase got stuck {ATTEMPTS} times, with seeds derived from {first}");
    }

    /// `None` if HBase got stuck.
    fn try_make(seed: u64) -> Option<Self> {
        let directory = directory();
        let place = directory.path().to_str().expect("text");
        let verdict = judge::ask_alone(&["snapshot", place, "--seed", &seed.to_string()])?;
        assert_eq!(verdict["ok"], true, "seed {seed}: {verdict:#}");
        let manifest = fs::read_to_string(directory.path().join("manifest.json")).expect("written");
        let manifest = serde_json::from_str(&manifest).expect("JSON");
        let random = Random::new(seed);
        Some(Self {
            seed,
            directory,
            manifest,
            random,
            compared: 0,
            restored: 0,
            faults: Vec::new(),
        })
    }

    fn objects(&self, name: &str) -> Map<String, Value> {
        self.manifest[name].as_object().expect("an object").clone()
    }

    fn truth(&self, file: &str) -> Vec<Value> {
        objects(&support::gunzip(&self.directory.path().join(file)))
    }

    /// Compares the output of a command with what HBase read; `None` means that the output is not compared.
    fn compare(&mut self, args: &[&str], expected: Option<&[Value]>) {
        self.compared += 1;
        let output = hfile(args);
        let what = format!("seed {}: hfile {}", self.seed, args.join(" "));
        if !output.status.success() {
            self.faults.push(format!("{what}\n{}", text(&output.stderr)));
            return;
        }
        let Some(expected) = expected else { return };
        let out = text(&output.stdout);
        let ours: Vec<Value> = out.lines().map(|line| cell(line, expected)).collect();
        if ours == expected {
            return;
        }
        let none = Value::Null;
        let count = ours.len().max(expected.len());
        let at = (0..count).find(|&at| ours.get(at) != expected.get(at)).unwrap_or(count);
        let [ours, theirs] = [ours.get(at), expected.get(at)].map(|cell| cell.unwrap_or(&none));
        self.faults.push(format!("{what}\ncell {at}\nours  {ours}\nHBase {theirs}"));
    }

    /// Scans a table or snapshot whole and in part, shown and raw, and gets some of its rows.
    fn scans(&mut self, noun: &str, options: &[&str], name: &str, shown: &str, raw: &str) {
        let root = path(&self.directory, "rootdir");
        let now = self.manifest["now"].to_string();
        let common = ["--root", &root[..], "--format", "cells", "--versions", "all", "--now", &now];
        let common = [&common[..], options].concat();
        for (file, raw) in [(shown, &[][..]), (raw, &["--raw"])] {
            let cells = self.truth(file);
            let scan = [&[noun, "scan"], &common[..], raw, &[name]].concat();
            self.compare(&scan, Some(&cells));
            let Some((first, last)) = self.row_range(&cells) else { continue };
            let range = ["--start", &first[..], "--stop", &last];
            // By place, because hbase:meta has an order of its own.
            let begin = |row: &str| cells.iter().position(|cell| cell["row"] == row[4..]);
            let inside = begin(&first).zip(begin(&last)).map(|(from, to)| &cells[from..to]);
            let inside = inside.expect("both rows are there");
            self.compare(&[&scan[..], &range].concat(), Some(inside));
            if raw.is_empty() {
                let row: Vec<Value> =
                    cells.iter().filter(|cell| cell["row"] == first[4..]).cloned().collect();
                let get = [&[noun, "get"], &common[..], &[name, &first]].concat();
                self.compare(&get, Some(&row));
            }
        }
    }

    /// Two rows in HBase's order, or the same row twice, as the command line takes them.
    fn row_range(&mut self, cells: &[Value]) -> Option<(String, String)> {
        if cells.is_empty() {
            return None;
        }
        let mut at = [(); 2].map(|()| self.random.below(cells.len()));
        at.sort_unstable();
        let [first, last] = at.map(|at| format!("hex:{}", field(&cells[at], "row")));
        Some((first, last))
    }

    fn snapshots(&mut self) {
        for (name, snapshot) in self.objects("snapshots") {
            let [shown, raw] = ["cellsFile", "rawFile"].map(|file| field(&snapshot, file));
            self.scans("snapshot", &[], &name, shown, raw);
            let root = path(&self.directory, "rootdir");
            self.compare(&["snapshot", "verify", "--root", &root, &name], None);
        }
    }

    fn tables(&mut self) {
        for (name, table) in self.objects("liveTables") {
            let [shown, raw] = ["liveFile", "liveRawFile"].map(|file| field(&table, file));
            self.scans("table", &["--with-wal"], &name, shown, raw);
            self.restored += usize::from(table["restored"] == true);
            let root = path(&self.directory, "rootdir");
            self.compare(&["table", "verify", "--root", &root, &name], None);
        }
    }

    /// Reads restored tables again, as if their regions had got new directories.
    ///
    /// HBase then has no file with the sequence id at which it opened a region; the logs tell.
    fn restored_tables_without_sequence_files(&mut self) {
        let root = path(&self.directory, "rootdir");
        remove_sequence_files(Path::new(&root).join("data").as_path());
        for (name, table) in self.objects("liveTables") {
            if table["restored"] == true {
                let [shown, raw] = ["liveFile", "liveRawFile"].map(|file| field(&table, file));
                self.scans("table", &["--with-wal"], &name, shown, raw);
            }
        }
    }

    fn logs(&mut self) {
        for (name, log) in self.objects("wals") {
            let entries = self.truth(field(&log, "dump"));
            let file = path(&self.directory, &format!("rootdir/{name}"));
            self.compare(&["wal", "cat", "--format", "entries", &file], Some(&entries));
        }
    }
}

/// Parses a printed cell or entry; HBase's answers have no sequence ids of cells.
fn cell(line: &str, expected: &[Value]) -> Value {
    let mut cell: Value = serde_json::from_str(line).expect("JSON");
    if expected.first().is_some_and(|expected| expected["seq"].is_null()) {
        cell.as_object_mut().expect("an object").remove("seq");
    }
    cell
}

/// Removes all `recovered.edits/N.seqid` below a directory.
fn remove_sequence_files(directory: &Path) {
    for entry in fs::read_dir(directory).expect("listed") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            remove_sequence_files(&path);
        } else if path.extension().is_some_and(|extension| extension == "seqid") {
            fs::remove_file(&path).expect("there");
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn root_directories_of_a_seed_are_read_as_hbase_reads_them() {
    if !judge::is_enabled("snapshots: root directories of a seed") {
        return;
    }
    let (first, count) = (number("SNAPSHOT_SEED", 0), number("SNAPSHOT_ROOTS", 1));
    let (mut faults, mut compared, mut sound, mut restored) = (Vec::new(), 0, 0, 0);
    for seed in first..first + count {
        let mut root = Root::make(seed);
        root.snapshots();
        root.tables();
        root.logs();
        root.restored_tables_without_sequence_files();
        compared += root.compared;
        restored += root.restored;
        sound += usize::from(root.faults.is_empty());
        if !root.faults.is_empty() && env::var_os("SNAPSHOT_KEEP").is_some() {
            root.faults.push(format!("kept: {}", root.directory.keep().display()));
        }
        faults.append(&mut root.faults);
    }
    say(&format!(
        "snapshots: {sound} of {count} root directories of HBase, from seed {first} on, are read as by \
         HBase: {compared} answers, {restored} restored tables"
    ));
    faults.truncate(12);
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
