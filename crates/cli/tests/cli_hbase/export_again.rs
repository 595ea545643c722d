//! Exports that say "complete", and exports that are run again: what they keep, remove and refuse.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};
use support::contents;
use support::root_directory::RootCopy;
use tempfile::TempDir;

use crate::command_line::{directory, hfile, path, stdout, tells, text};
use crate::exports::{Exports, concatenated};

/// Table `walt`, which has logs and hbase:meta, and a place for exports.
struct Walt {
    root: RootCopy,
    directory: TempDir,
}

impl Walt {
    fn new() -> Self {
        Self { root: RootCopy::walt(), directory: directory() }
    }

    fn root(&self) -> String {
        self.root.path().to_str().expect("UTF-8").to_owned()
    }

    fn out(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn run(&self, verb: &str, more: &[&str]) -> Output {
        hfile(&[&["table", verb, "--root", &self.root(), "walt"], more].concat())
    }

    /// Exports the table with a command that must exit with this status; returns stderr.
    fn export(&self, status: i32, out: &str, more: &[&str]) -> String {
        let out = path(&self.directory, out);
        let output = self.run("export", &[&["--to", "cells", "--output", &out], more].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{told}");
        told
    }

    /// Returns the directories of the table's regions.
    fn regions(&self) -> Vec<PathBuf> {
        let table = self.root.path().join("data/default/walt");
        let items = fs::read_dir(table).expect("readable").map(|item| item.expect("it").path());
        items.filter(|path| path.join(".regioninfo").exists()).collect()
    }

    /// Returns the longest log.
    fn log(&self) -> PathBuf {
        let servers = fs::read_dir(self.root.path().join("WALs")).expect("readable");
        let logs = servers.flat_map(|server| {
            fs::read_dir(server.expect("it").path()).expect("readable").collect::<Vec<_>>()
        });
        let logs = logs.map(|log| log.expect("it").path());
        let logs = logs.filter(|log| log.extension().is_none_or(|extension| extension != "meta"));
        logs.max_by_key(|log| fs::metadata(log).expect("it").len()).expect("a log")
    }
}

fn manifest_of(out: &Path) -> Value {
    serde_json::from_slice(&fs::read(out.join("manifest.json")).expect("written")).expect("JSON")
}

fn write_manifest(out: &Path, manifest: &Value) {
    fs::write(out.join("manifest.json"), manifest.to_string()).expect("disk takes it");
}

/// Makes a complete export one that was stopped before its last region.
fn forget_last_region(out: &Path) {
    let mut manifest = manifest_of(out);
    manifest["complete"] = json!(false);
    let region = manifest["regions"].as_array_mut().expect("regions").pop().expect("a region");
    for file in region["files"].as_array().expect("files") {
        fs::remove_file(out.join(file["file"].as_str().expect("a name"))).expect("ours");
    }
    write_manifest(out, &manifest);
}

#[test]
fn a_table_without_a_readable_region_is_not_complete() {
    let walt = Walt::new();
    for region in walt.regions() {
        fs::remove_dir_all(region).expect("ours");
    }
    let scanned = walt.run("scan", &[]);
    let status = scanned.status.code().expect("a status");
    assert_ne!(status, 0);
    let told = walt.export(status, "out", &[]);
    assert_eq!(told, text(&scanned.stderr));
    assert!(!walt.out("out").exists());

    let scanned = walt.run("scan", &["--skip-damaged"]);
    assert_eq!(scanned.status.code(), Some(1));
    for run in ["first", "second, which has nothing to do"] {
        let told = walt.export(1, "skipped", &["--skip-damaged"]);
        assert_eq!(told, text(&scanned.stderr), "{run}");
        let manifest = manifest_of(&walt.out("skipped"));
        let missing = manifest["missing"].as_array().expect("a list");
        assert_eq!(missing.len(), told.matches("hfile: missing: ").count(), "{manifest}");
        for one in missing {
            assert!(told.contains(one["what"].as_str().expect("text")), "{one}: {told}");
        }
    }
}

#[test]
fn a_row_of_a_lost_region_is_not_absent() {
    let walt = Walt::new();
    let lost = walt.regions()[0].clone();
    fs::remove_dir_all(&lost).expect("ours");
    // The regions of the rows before and from k on.
    let is_first = lost.ends_with("83a2af9efa70f232938815b9cf317a11");
    for row in ["a", "k", "zz"].into_iter().filter(|row| (*row >= "k") == is_first) {
        let told = text(&walt.run("get", &[row]).stderr);
        assert!(told.contains(&format!("row not found: {row}\n")), "{told}");
    }
    for row in ["a", "k", "zz"].into_iter().filter(|row| (*row < "k") == is_first) {
        let got = walt.run("get", &[row]);
        let told = text(&got.stderr);
        assert!(got.status.code() == Some(1) && got.stdout.is_empty(), "{row}: {told}");
        assert!(told.contains("a part of the table cannot be read"), "{row}: {told}");
        assert!(!told.contains("row not found"), "{row}: {told}");
        let got = walt.run("get", &[row, "--skip-damaged"]);
        let told = text(&got.stderr);
        assert!(got.status.code() == Some(1) && told.contains("hfile: missing: "), "{told}");
        assert!(!told.contains(&format!("row not found: {row}\n")), "{row}: {told}");
    }
}

#[test]
fn a_snapshot_without_a_readable_region_is_not_complete() {
    let exports = Exports::new();
    // The old layout: a directory for each region.
    let snapshot = exports.root().join(".hbase-snapshot/s12");
    for entry in fs::read_dir(snapshot).expect("readable") {
        let path = entry.expect("readable").path();
        if path.join(".regioninfo").exists() {
            fs::remove_dir_all(path).expect("ours");
        }
    }
    exports.tells(1, "s12", "out", &["--to", "cells"]).has("no region has these rows");
    assert!(!exports.out("out").exists());
    let more = ["--to", "cells", "--skip-damaged"];
    exports.tells(1, "s12", "skipped", &more).has_all(&["hfile: missing: ", "all rows"]);
    assert_eq!(exports.manifest("skipped")["missing"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_log_that_has_grown_is_another_source() {
    let walt = Walt::new();
    walt.export(0, "whole", &["--with-wal"]);
    walt.export(0, "stopped", &["--with-wal"]);
    forget_last_region(&walt.out("stopped"));
    walt.export(0, "without", &[]);
    let sources = manifest_of(&walt.out("whole"))["source"]["sources"].clone();
    let log = walt.log();
    let before = fs::metadata(&log).expect("it").len();
    let name = log.file_name().expect("a name").to_str().expect("UTF-8");
    let is_named = |source: &Value| {
        source["file"].as_str().is_some_and(|file| file.ends_with(name))
            && source["bytes"] == json!(before)
    };
    assert!(sources.as_array().expect("a list").iter().any(is_named), "{sources}");

    let mut file = fs::OpenOptions::new().append(true).open(&log).expect("ours");
    file.write_all(b"\x20cut").expect("disk takes it");
    for out in ["whole", "stopped"] {
        let kept = contents(&walt.out(out));
        let told = walt.export(2, out, &["--with-wal"]);
        let has_changed =
            told.contains(&format!("{name} had ")) && told.contains(" bytes and has ");
        assert!(has_changed && told.contains("give another directory"), "{told}");
        assert!(contents(&walt.out(out)) == kept);
    }
    // An export that reads no logs does not depend on them.
    let told = walt.export(0, "without", &[]);
    assert!(!told.contains("changed"), "{told}");
}

/// The files of a table that a read with logs opens: store files, recovered HFiles and recovered edits.
fn files_of(root: &Path, table: &str) -> Vec<PathBuf> {
    let listed = |directory: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).into_iter().flatten();
        entries.map(|entry| entry.expect("readable").path()).collect()
    };
    let is_data = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        !name.starts_with('.') && path.extension().is_none_or(|extension| extension != "seqid")
    };
    let regions = listed(&root.join("data/default").join(table));
    let regions = regions.into_iter().filter(|path| path.join(".regioninfo").exists());
    let families = regions.flat_map(|region| listed(&region)).filter(is_data);
    let files = families.flat_map(|family| {
        let recovered = listed(&family.join("recovered.hfiles"));
        listed(&family).into_iter().chain(recovered).filter(|path| path.is_file())
    });
    files.filter(is_data).collect()
}

/// Of each kind: store file, bulk-loaded, with tags, empty, link, reference, recovered HFile and edits.
#[test]
fn every_file_that_an_export_reads_belongs_to_its_state() {
    let place = directory();
    let cases = [
        (RootCopy::recovered_hfiles(), "walt"),
        (RootCopy::walt(), "walt"),
        (RootCopy::new(), "t1"),
    ];
    let mut kinds = BTreeSet::new();
    for (number, (root, table)) in cases.iter().enumerate() {
        let out = path(&place, &format!("out-{number}"));
        let export = ["table", "export", "--root", &root.argument(), table, "--with-wal"];
        let export = [&export[..], &["--to", "cells", "--output", &out]].concat();
        let first = hfile(&export);
        assert!(first.status.success(), "{}", text(&first.stderr));
        let manifest = manifest_of(Path::new(&out));
        let sources = manifest["source"]["sources"].as_array().expect("a list");
        // Of a parent that was split, only its halves are read.
        let is_read = |file: &PathBuf| {
            let regions = manifest["regions"].as_array().expect("a list").iter();
            regions.filter_map(|region| region["region"].as_str()).any(|region| {
                file.components().any(|part| part.as_os_str().to_str() == Some(region))
            })
        };
        for file in files_of(&root.path(), table).into_iter().filter(is_read) {
            let name = file.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
            let is_source = |source: &Value| {
                source["file"].as_str().is_some_and(|source| source.ends_with(&name))
            };
            assert!(sources.iter().any(is_source), "{}: {manifest}", file.display());
            let is_recovered = file.parent().is_some_and(|parent| {
                parent.ends_with("recovered.hfiles") || parent.ends_with("recovered.edits")
            });
            kinds.insert(match &*name {
                _ if is_recovered => "recovered",
                name if name.contains("_SeqId_") => "bulk-loaded",
                name if name.contains(['.', '=']) => "elsewhere",
                _ => "store file",
            });
            // A link or a reference has the bytes of another file.
            if name.contains(['.', '=']) {
                continue;
            }
            let kept = fs::read(&file).expect("readable");
            fs::write(&file, [&kept[..], b"\0"].concat()).expect("ours");
            tells(2, &export).has_all(&["the source has changed since", &name]);
            fs::write(&file, kept).expect("ours");
        }
        assert!(stdout(&export).contains("had been exported before"));
    }
    assert_eq!(Vec::from_iter(kinds), ["bulk-loaded", "elsewhere", "recovered", "store file"]);
}

#[test]
fn a_changed_description_is_another_source() {
    let walt = Walt::new();
    walt.export(0, "out", &[]);
    let table = walt.root.path().join("data/default/walt/.tabledesc");
    let path = fs::read_dir(table).expect("readable").next().expect("a file").expect("it").path();
    let mut bytes = fs::read(&path).expect("readable");
    let name = b"\x0a\x08VERSIONS\x12\x01";
    let at = bytes.windows(name.len()).position(|found| found == name).expect("an attribute");
    let digit = &mut bytes[at + name.len()];
    *digit = if *digit == b'1' { b'2' } else { b'1' };
    fs::write(path, bytes).expect("ours");
    let told = walt.export(2, "out", &[]);
    assert!(told.contains("the source has changed since"), "{told}");
}

#[test]
fn a_store_with_the_same_sequence_ids_is_another_source() {
    let directory = directory();
    let (store, out) = (path(&directory, "store"), path(&directory, "out"));
    let create = ["store", "create", &store, "f", "--versions", "3"];
    let export = ["store", "export", &store, &out, "--to", "cells"];
    for value in ["f:q=1", "f:q=2"] {
        let _ = fs::remove_dir_all(&store);
        stdout(&create);
        stdout(&["store", "put", &store, "row", value, "--ts", "1"]);
        if value == "f:q=1" {
            stdout(&export);
        }
    }
    tells(2, &export).has("the source has changed since");

    fs::remove_dir_all(&out).expect("ours");
    stdout(&export);
    stdout(&["store", "alter", &store, "f", "--versions", "1"]);
    tells(2, &export).has("the source has changed since");
}

#[test]
fn files_are_told_apart_by_their_paths() {
    let directory = directory();
    let out = path(&directory, "out");
    let export = |file: &str| hfile(&["export", "--to", "cells", "--output", &out, file]);
    assert!(export("s01-default.hfile").status.success());
    let kept = contents(Path::new(&out));
    let again = export("./s01-default.hfile");
    let told = text(&again.stderr);
    assert!(again.status.code() == Some(2) && told.contains("s01-default.hfile"), "{told}");
    assert!(contents(Path::new(&out)) == kept);
}

#[test]
fn only_files_of_the_export_are_removed() {
    let exports = Exports::new();
    let hex = "0123456789abcdef0123456789abcdef";
    for (format, file) in [
        ("cells", "00000-notes.txt".to_owned()),
        ("cells", format!("00000-{hex}-000000.ndjson")),
        ("hfiles", format!("f1/{hex}")),
        ("cells", ".hfile-of-mine".to_owned()),
    ] {
        let out = format!("{format}-{}", file.len());
        exports.run(0, "s6", &out, &["--to", format]);
        let theirs = exports.out(&out).join(&file);
        fs::create_dir_all(theirs.parent().expect("a directory")).expect("disk takes it");
        fs::write(&theirs, b"mine").expect("disk takes it");
        let kept = contents(&exports.out(&out));
        for is_stopped in [false, true] {
            if is_stopped {
                let mut manifest = exports.manifest(&out);
                manifest["complete"] = json!(false);
                write_manifest(&exports.out(&out), &manifest);
            }
            exports.tells(2, "s6", &out, &["--to", format]).has("not a file of this export");
            assert_eq!(fs::read(&theirs).expect("it stays"), b"mine");
        }
        fs::remove_file(theirs).expect("ours");
        exports.run(0, "s6", &out, &["--to", format]);
        assert_eq!(contents(&exports.out(&out)).len() + 1, kept.len());
    }
}

#[test]
fn a_manifest_is_not_complete_while_a_region_is_exported_again() {
    let exports = Exports::new();
    exports.run(0, "s13", "out", &["--to", "cells"]);
    fs::remove_file(exports.files("out").last().expect("a file")).expect("ours");
    // The region cannot be read any more.
    fs::remove_dir_all(exports.root().join("data/default/t1")).expect("ours");
    fs::remove_dir_all(exports.root().join("archive/data/default/t1")).expect("ours");
    let (_, told) = exports.run(3, "s13", "out", &["--to", "cells"]);
    assert_eq!(exports.manifest("out")["complete"], json!(false), "{told}");
}

/// A limit on file sizes is below the size of the exported files, or of the manifest.
#[cfg(unix)]
#[test]
fn an_export_without_disk_space_is_not_complete() {
    let exports = Exports::new();
    for limit in [1, 2, 4, 8, 64] {
        let out = format!("out-{limit}");
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" \"$@\"");
        let failed = std::process::Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_hfile")])
            .args(exports.arguments("s2", &out, &["--to", "cells"]))
            .output()
            .expect("there is a shell");
        let told = text(&failed.stderr);
        assert_eq!(failed.status.code(), Some(3), "{told}");
        assert!(told.contains("cannot write"), "{told}");
        if exports.out(&out).join("manifest.json").exists() {
            assert_eq!(exports.manifest(&out)["complete"], json!(false));
        }
        exports.run(0, "s2", &out, &["--to", "cells"]);
    }
}

#[test]
fn a_resumed_export_expires_cells_by_the_time_of_the_first_run() {
    // Cells of s4 have a TTL of 100 years in a tag: by the year 2200 they have expired.
    let exports = Exports::new();
    exports.run(0, "s4", "today", &["--to", "cells"]);
    let later = ["--to", "cells", "--now", "7258118400000"];
    exports.run(0, "s4", "later", &later);
    let whole = concatenated(&exports.files("later"));
    let today = concatenated(&exports.files("today"));
    assert!(whole.len() < today.len());
    // Some cells of the region that is exported again have expired.
    let lens = |out: &str| -> Vec<u64> {
        let files = exports.files(out).into_iter();
        files.map(|file| fs::metadata(file).expect("it").len()).collect()
    };
    assert!(lens("later").last() < lens("today").last());
    forget_last_region(&exports.out("later"));
    exports.run(0, "s4", "later", &["--to", "cells"]);
    assert!(concatenated(&exports.files("later")) == whole);

    // The same of a store.
    let directory = directory();
    let (store, out) = (path(&directory, "store"), path(&directory, "out"));
    stdout(&["store", "create", &store, "f", "--ttl", "100"]);
    for row in ["a", "b"] {
        stdout(&["store", "put", &store, row, "f:q=1", "--ts", "1000"]);
    }
    let export = ["store", "export", &store, &out, "--to", "cells", "--splits", "b"];
    stdout(&[&export[..], &["--now", "2000"]].concat());
    let whole = manifest_of(Path::new(&out));
    assert_eq!(whole["cells"], json!(2));
    forget_last_region(Path::new(&out));
    stdout(&export);
    assert_eq!(manifest_of(Path::new(&out))["cells"], json!(2));
}

/// Whichever of two processes comes first, the other removes nothing of it.
#[test]
fn two_exports_into_one_directory_leave_a_whole_one() {
    let exports = Exports::new();
    exports.run(0, "s6", "whole", &["--to", "cells"]);
    let whole = concatenated(&exports.files("whole"));
    for attempt in 0..8_u32 {
        let name = format!("both-{attempt}");
        let begun = Instant::now();
        let first = exports.spawn("s6", &name);
        while begun.elapsed() < Duration::from_millis(3) * attempt {
            thread::sleep(Duration::from_millis(1));
        }
        let second = exports.spawn("s6", &name);
        let ended = [first, second].map(|child| child.wait_with_output().expect("it ends"));
        let is_done = ended.iter().any(|output| output.status.success());
        for output in &ended {
            let told = text(&output.stderr);
            let is_refused = told.contains("another export is writing to it");
            assert!(output.status.success() || is_refused, "{told}");
        }
        assert!(is_done && exports.manifest(&name)["complete"] == json!(true), "{attempt}");
        assert!(concatenated(&exports.files(&name)) == whole, "{attempt}");
        assert!(!exports.out(&name).join(".export.lock").exists());
    }
}

/// The lock of the second export is a pipe, which it can open only when the first is complete.
#[cfg(unix)]
#[test]
fn an_export_that_waits_for_the_lock_knows_what_another_completed() {
    let exports = Exports::new();
    fs::create_dir(exports.out("out")).expect("disk takes it");
    let lock = exports.out("out").join(".export.lock");
    let made = std::process::Command::new("mkfifo").arg(&lock).status().expect("coreutils");
    assert!(made.success());
    let pipe = exports.out("pipe");
    fs::hard_link(&lock, &pipe).expect("the same file system");
    let second = exports.spawn("s6", "out");
    thread::sleep(Duration::from_millis(500));
    fs::remove_file(&lock).expect("ours");
    exports.run(0, "s6", "out", &["--to", "cells"]);
    let kept = contents(&exports.out("out"));
    let written =
        |path: &PathBuf| fs::metadata(path).and_then(|metadata| metadata.modified()).expect("it");
    let before: Vec<_> = exports.files("out").iter().map(written).collect();
    // For writing as well: then opening the pipe does not wait for another process.
    let pipe = fs::OpenOptions::new().read(true).write(true).open(pipe).expect("ours");
    let ended = second.wait_with_output().expect("it ends");
    drop(pipe);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    let told = text(&ended.stdout);
    assert!(told.contains("had been exported before"), "{told}");
    assert!(contents(&exports.out("out")) == kept);
    let after: Vec<_> = exports.files("out").iter().map(written).collect();
    assert_eq!(after, before, "no file was written again");
}
