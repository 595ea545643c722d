//! Verbs for several or all tables or snapshots of a root directory: one line each, the worst status.

use std::fs;
use std::path::{Path, PathBuf};

use sstable::{Reader, ReaderOptions, escape};
use support::contents;
use support::root_directory::RootCopy;
use tempfile::tempdir;

use crate::command_line::{objects, run, shows, tells};

/// Returns an HFile below a directory.
pub(crate) fn some_hfile(directory: &Path) -> PathBuf {
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).expect("readable") {
            let path = entry.expect("readable").path();
            let name = path.file_name().expect("a name").to_str().expect("text").to_owned();
            if path.is_dir() {
                pending.push(path);
            } else if name.len() == 32 && fs::metadata(&path).expect("there").len() > 1000 {
                return path;
            }
        }
    }
    panic!("no HFile")
}

#[test]
fn verify_without_a_name_checks_all_tables_in_one_line_each() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let (out, told) = run(0, &["table", "verify", "--root", root]);
    assert_eq!(out.lines().count(), 9, "{out}");
    assert!(out.lines().all(|line| line.contains(": sound, ")), "{out}");
    // All tables have the same logs.
    assert_eq!(
        told,
        "hfile: not verified: ns1:t4: gone, only archived files are left; hfile snapshot reads them if a snapshot has \
         them\nhfile: 2 write-ahead logs not checked; see hfile wal verify\n"
    );
    let (out, _) = run(0, &["snapshot", "verify", "--root", root]);
    assert_eq!(out.lines().count(), 14, "{out}");

    let broken = some_hfile(&copy.path().join("data/default/t3"));
    let mut bytes = fs::read(&broken).expect("readable");
    bytes[40] ^= 1;
    fs::write(&broken, bytes).expect("ours");
    let (out, _) = run(1, &["table", "verify", "--root", root, "t3", "t2"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2, "{out}");
    assert!(lines[0].starts_with("table t3: DAMAGED, 2 regions, 12 HFiles, 1 problem; "), "{out}");
    assert!(lines[1].starts_with(
        "table t2: sound, 4 regions, 12 HFiles and the 20 that 12 links and 16 references name"
    ));
    // Alone, the table has its damage listed.
    shows(1, &["table", "verify", "--root", root, "t3"]).has(" may be missing or incomplete\n");
    let (out, _) = run(1, &["table", "verify", "--root", root, "--json"]);
    let objects = objects(&out);
    assert_eq!(objects.iter().filter(|object| object["ok"] == false).count(), 1);
    assert!(objects.iter().any(|object| object["errors"][0]["file"].is_string()));
}

#[test]
fn a_name_that_is_not_there_does_not_stop_the_others_and_decides_the_status() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let (out, told) = run(3, &["table", "verify", "--root", root, "t99", "t2"]);
    assert!(out.starts_with("table t2: sound, "), "{out}");
    assert!(
        told.contains("has no table t99; ") && told.contains("1 of 2 tables could not be read")
    );
    let (out, _) = run(3, &["snapshot", "info", "--root", root, "s99", "s1"]);
    assert!(out.contains("\ns1        t1     f1,f2           3     18  "), "{out}");
}

#[test]
fn info_ls_and_verify_count_the_same_files() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let (listed, _) = run(0, &["table", "ls", "--root", root, "--json"]);
    let (checked, _) = run(0, &["table", "verify", "--root", root, "--json"]);
    let (lines, _) = run(0, &["table", "info", "--root", root]);
    let checked = objects(&checked);
    let mut compared = 0;
    for table in objects(&listed).iter().filter(|table| table["only_in"].is_null()) {
        let sum = |fields: [&str; 3]| -> u64 {
            fields.iter().map(|field| table[field].as_u64().expect("a number")).sum()
        };
        let files = sum(["hfiles", "links", "references"]);
        let same = checked.iter().find(|other| other["table"] == table["table"]);
        assert_eq!(same.expect("checked")["store_files"], files, "{table}");
        let name = table["table"].as_str().expect("text");
        let line = lines.lines().find(|line| line.starts_with(&format!("{name} ")));
        let line = line.unwrap_or_else(|| panic!("{name} in {lines}"));
        assert_eq!(line.split_whitespace().nth(3), Some(&*files.to_string()), "{line}");
        compared += 1;
    }
    assert_eq!(compared, 9);
}

#[test]
fn ls_says_what_is_only_in_logs_or_in_the_archive() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let has = |out: &str, name: &str, end: &str| {
        let line = out.lines().find(|line| line.starts_with(name)).expect("listed");
        assert!(line.ends_with(end), "{line}");
    };
    let (counted, told) = run(0, &["table", "ls", "--root", root]);
    assert_eq!(told, "");
    has(&counted, "hbase:meta", "  351  only in logs");
    has(&counted, "ns1:t4", "  8    51 KiB                -  only in archive");
    has(&counted, "t1 ", "  468");
    has(&counted, "t2 ", "  0");
    assert_eq!(run(0, &["table", "ls", "--root", root, "--with-wal"]), (counted, String::new()));
    let (out, _) = run(0, &["table", "ls", "--root", root, "--json"]);
    let t1 = objects(&out).into_iter().find(|table| table["table"] == "t1").expect("listed");
    assert_eq!(t1["unflushed_cells"], 468);
    let (raw, _) = run(0, &["table", "scan", "--root", root, "t1", "--raw", "--count"]);
    let (with, _) =
        run(0, &["table", "scan", "--root", root, "t1", "--raw", "--count", "--with-wal"]);
    let cells = |text: &str| -> u64 {
        let count = text.split(", ").nth(1).expect("cells").trim_end_matches(" cells\n");
        count.replace(',', "").parse().expect("a number")
    };
    // A scan merges cells with the same key, of which the log has some.
    let added = cells(&with) - cells(&raw);
    assert!((400..=468).contains(&added), "{added}");
}

#[test]
fn ls_reads_large_logs_only_if_asked() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let server = copy.path().join("WALs/large,16020,1");
    fs::create_dir(&server).expect("ours");
    // Nine tables read the logs, each for itself: together more than 64 MiB.
    let log = fs::File::create(server.join("large%2C16020%2C1.1795412744013")).expect("ours");
    log.set_len(8 << 20).expect("sparse");
    let (out, told) = run(0, &["table", "ls", "--root", root]);
    let hint = "hfile: 3 write-ahead logs may have cells that are in no store file; --with-wal counts them\n";
    assert_eq!(told, hint);
    assert!(!out.contains("unflushed cells"), "{out}");
    let meta = out.lines().find(|line| line.starts_with("hbase:meta")).expect("listed");
    assert!(meta.ends_with("  0 B  no files; may be in 2 write-ahead logs"), "{meta}");
    // The log is no log, which a count notices.
    let (out, _) = run(1, &["table", "ls", "--root", root, "--with-wal"]);
    let t1 = out.lines().find(|line| line.starts_with("t1 ")).expect("listed");
    assert!(t1.ends_with("  468  incomplete"), "{t1}");
    log.set_len(1 << 20).expect("sparse");
    assert_eq!(run(1, &["table", "ls", "--root", root]).0, out);
}

#[test]
fn ls_lists_a_table_without_directory_of_logs() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    fs::remove_dir_all(copy.path().join("WALs")).expect("ours");
    let (out, told) = run(0, &["table", "ls", "--root", root, "--json"]);
    assert_eq!(told, "");
    let tables = objects(&out);
    assert!(tables.len() > 9 && tables.iter().all(|table| table["unflushed_cells"].is_null()));
    let (out, told) = run(3, &["table", "ls", "--root", root, "--with-wal"]);
    assert!(told.contains("WALs"), "{told}");
    assert!(out.lines().any(|line| line.starts_with("t1 ")), "{out}");
}

#[test]
fn an_export_of_all_has_a_directory_for_each() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let directory = tempdir().expect("a directory");
    let output = directory.path().join("out");
    let out = output.to_str().expect("text");
    let args = ["table", "export", "--root", root, "--to", "csv", "--output", out];
    let (printed, told) = run(0, &args);
    assert_eq!(printed.lines().count(), 7, "{printed}");
    assert!(told.contains("not exported: hbase:meta, hbase:namespace: "), "{told}");
    assert!(output.join("t1/manifest.json").exists());
    // A second run goes on after the last region.
    let (again, _) = run(0, &args);
    assert_eq!(again.matches(" had been exported before").count(), 7, "{again}");
    tells(3, &["table", "export", "--root", root, "t2", "t99", "--to", "csv", "--output", out])
        .has("has no table t99; ");
    let named = directory.path().join("named");
    let out = named.to_str().expect("text");
    run(
        0,
        &[
            "table",
            "export",
            "--root",
            root,
            "hbase:namespace",
            "t2",
            "--to",
            "csv",
            "--output",
            out,
        ],
    );
    assert!(named.join("hbase=namespace").exists() && named.join("t2").exists());
}

/// The soft limit of a shell is usually 1,024 files or less. The hard limit is usually much more, but can be the same.
#[cfg(unix)]
#[test]
fn more_files_than_the_process_may_have_open_are_read() {
    const LIMIT: usize = 64;
    let root = RootCopy::walt();
    let region = &root.table("walt").regions[0];
    let path = root.path().join("data/default/walt").join(region.info.encoded_name.as_str());
    let family = path.join("f");
    let file = family.join(region.family(b"f").expect("it has files").files[0].name.to_string());
    let copies = (0..2 * LIMIT).map(|number| family.join(format!("{number:032x}")));
    let copies: Vec<String> = copies
        .map(|copy| {
            fs::copy(&file, &copy).expect("the disk has room");
            copy.display().to_string()
        })
        .collect();
    let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
    let (argument, out) = (root.argument(), tempdir().expect("a temporary directory"));
    let row = Reader::open_file(&file, ReaderOptions::default()).expect("an HFile");
    let row = escape(row.first_row().expect("it has rows")).to_string();
    let directory = family.display().to_string();
    let run_with = |limit: &str, args: &[&str]| {
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("{limit} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_hfile")])
            .args(args)
            .output()
            .expect("there is a shell");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{limit} {args:?}: {error}");
        output.stdout
    };
    let limits = [format!("ulimit -Sn {LIMIT};"), format!("ulimit -n {LIMIT};")];
    for args in [
        &["table", "scan", "--root", &argument, "walt", "--format", "cells"][..],
        &["table", "get", "--root", &argument, "walt", &row],
        &["table", "verify", "--root", &argument, "walt"],
        &["diff", &directory, &directory],
        &[&["cat", "--format", "cells"], &copies[..]].concat(),
        &[&["get"], &copies[..], &[&row]].concat(),
        &[&["stats"], &copies[..]].concat(),
    ] {
        let without = run_with("", args);
        for limit in &limits {
            assert!(run_with(limit, args) == without, "{limit} {args:?}");
        }
    }
    let exported = |name: &str, limit: &str| {
        let to = out.path().join(name).display().to_string();
        let args = ["table", "export", "--root", &argument, "walt", "--to", "cells", "--output"];
        run_with(limit, &[&args[..], &[&to]].concat());
        // The manifest has the time of the export.
        let files = contents(to.as_ref()).into_iter();
        let names =
            files.map(|(path, bytes)| (path.file_name().expect("a file").to_owned(), bytes));
        names.filter(|(name, _)| name != "manifest.json").collect::<Vec<_>>()
    };
    let without = exported("without", "");
    for (number, limit) in limits.iter().enumerate() {
        assert!(exported(&number.to_string(), limit) == without, "{limit}");
    }
}
