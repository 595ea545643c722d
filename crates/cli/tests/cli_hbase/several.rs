//! Verbs for several or all tables or snapshots of a root directory: one line each, the worst status.

use std::fs;

use cells::escape;
use sstable::{Reader, ReaderOptions};
use support::contents;
use support::root_directory::RootCopy;
use tempfile::tempdir;

use crate::command_line::{objects, run};

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
