//! What the command line says when something is missing, and what to do next.

use std::fs;

use support::root_directory::RootCopy;

use crate::command_line::{directory, path, run, shows, tells};
use crate::several::some_hfile;

/// Adds a key to the trailer, as HBase does to an encrypted file.
fn add_encryption_key(bytes: &mut [u8]) {
    let start = bytes.len() - 4096;
    // The trailer's message gets a field 13 of three bytes.
    let end = start + 9 + usize::from(bytes[start + 8]);
    bytes[end..end + 5].copy_from_slice(&[13 << 3 | 2, 3, b'k', b'e', b'y']);
    bytes[start + 8] += 5;
}

/// Checks that a message has short lines, and one path at most in its first line.
#[track_caller]
fn is_readable(told: &str) {
    for line in told.lines() {
        assert!(line.chars().count() <= 200, "{} characters: {line}", line.chars().count());
    }
    let first = told.lines().next().expect("a message");
    assert!(first.matches('/').count() < 20 && first.matches("/data/").count() <= 1, "{first}");
}

#[test]
fn a_missing_file_is_told_in_short_lines_with_the_lost_rows_first() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let region = "7f171e32ad45704c61c9e21f8c24636c";
    let file = format!("data/default/t2/{region}/f1/a15244e827ad4a89b3a993325af42f3a");
    fs::remove_file(copy.path().join(file)).expect("ours");
    let (out, _) = run(1, &["snapshot", "verify", "--root", root, "s3"]);
    is_readable(&out);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[1], "  rows from the start to row-01000 may be missing or incomplete");
    assert!(lines[2].starts_with(&format!("    {region}/f1/a15244e8")), "{out}");
    assert!(out.contains(" is missing;\n      looked for /"), "{out}");
    assert!(out.contains(", and in 3 more places\n"), "{out}");

    let args = ["snapshot", "scan", "--root", root, "s3", "--count"];
    let (_, told) = run(1, &[&args[..], &["--skip-damaged"]].concat());
    is_readable(&told);
    let start = "hfile: missing: rows from the start to row-01000 may be missing or incomplete: ";
    assert!(told.starts_with(start), "{told}");
    let (_, told) = run(3, &args);
    is_readable(&told);
    assert!(told.contains("hfile snapshot verify lists all that is missing"), "{told}");
    let (_, told) = run(3, &["table", "scan", "--root", root, "t2", "--count"]);
    assert!(told.contains("hfile table verify lists all that is missing"), "{told}");
}

#[test]
fn damage_that_no_read_needs_costs_no_rows() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let file = some_hfile(&copy.path().join("data/default/t5"));
    let mut bytes = fs::read(&file).expect("there");
    let padding = bytes.len() - 10;
    bytes[padding] ^= 1;
    fs::write(&file, bytes).expect("ours");
    let no_rows =
        "no rows are lost: reads do not need what is damaged; hfile salvage writes the file anew";
    let (out, _) = run(1, &["table", "verify", "--root", root, "t5"]);
    assert!(out.contains(&format!("\n  {no_rows}\n")) && !out.contains("may be missing"), "{out}");
    assert!(
        out.contains("TRAILER block at 0x") && out.contains(": the padding is damaged: its byte "),
        "{out}"
    );
    let (out, _) = run(1, &["table", "verify", "--root", root, "t5", "--json"]);
    assert!(out.contains("\"no_rows_lost\":true") && !out.contains("first_row"), "{out}");
    shows(1, &["verify", file.to_str().expect("text")]).has(&format!("\n    {no_rows}\n"));
    run(0, &["table", "scan", "--root", root, "t5", "--count"]);
}

#[test]
fn a_table_that_is_only_in_the_archive_leads_to_its_snapshots() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    for args in [&["scan"][..], &["verify"], &["info"], &["export", "--to", "csv", "--output", "x"]]
    {
        let args = [&["table", args[0], "--root", root, "ns1:t4"], &args[1..]].concat();
        let told = tells(3, &args);
        told.has_all(&[
            "the table ns1:t4 is gone: it has files only in archive, and 1 snapshot: s6\n",
            "next: read a snapshot of it: hfile snapshot scan --root ",
        ]);
    }
    let (_, told) = run(0, &["table", "info", "--root", root]);
    assert!(told.contains("hfile: not shown: ns1:t4: gone, "), "{told}");
    let (out, _) = run(0, &["table", "info", "--root", root, "t1"]);
    assert!(out.contains("an HFile that several regions share counts once\n"), "{out}");
    fs::remove_dir_all(copy.path().join("archive/data/ns1")).expect("ours");
    tells(3, &["table", "scan", "--root", root, "ns1:t4"]).has("has no table ns1:t4; tables: ");
}

#[test]
fn a_table_of_which_only_recovered_edits_are_left_leads_to_them() {
    let copy = RootCopy::walt();
    let root = &*copy.argument();
    let gone = copy.path().join("data/default/gone");
    let edits = gone.join("0123456789abcdef0123456789abcdef/recovered.edits");
    fs::create_dir_all(&edits).expect("ours");
    let log = "WALs/localhost,41253,1795621469921/localhost%2C41253%2C1795621469921.1795621474690";
    let log = copy.path().join(log);
    fs::copy(&log, edits.join("0000000000000000042")).expect("ours");
    for verb in ["scan", "verify", "info"] {
        let told = tells(3, &["table", verb, "--root", root, "gone"]);
        told.has_all(&[
            "the table gone is gone: it has files only in recovered.edits, and no snapshot\n",
            &format!("next: hfile wal cat {} reads its files one by one\n", gone.display()),
        ]);
    }
    let (out, _) = run(0, &["wal", "cat", gone.to_str().expect("UTF-8")]);
    assert!(out.contains("region") || out.contains("walt"), "{out}");
    let (out, _) = run(0, &["table", "ls", "--root", root]);
    let line = out.lines().find(|line| line.starts_with("gone ")).expect("listed");
    assert!(line.ends_with("  0  367 KiB                -  only in recovered.edits"), "{line}");
    let (_, told) = run(0, &["table", "info", "--root", root]);
    assert!(told.contains("hfile: not shown: gone: gone, only recovered edits are left"), "{told}");
}

#[test]
fn an_export_of_a_range_counts_the_regions_that_have_rows() {
    let (copy, place) = (RootCopy::new(), directory());
    let output = path(&place, "out");
    let range = ["--start", "row-00100", "--stop", "row-01100", "--to", "csv", "--output", &output];
    let root = &*copy.argument();
    let args = [&["snapshot", "export", "--root", root, "s1"], &range[..]].concat();
    let (out, _) = run(0, &args);
    assert!(out.contains(" rows and 2 of 3 regions in 2 files ("), "{out}");
}

#[test]
fn columns_of_which_no_cell_is_found_are_named() {
    let (copy, place) = (RootCopy::new(), directory());
    let root = &*copy.argument();
    let warning = "hfile: warning: no cell of the column f1:nope was found: hfile stats lists the columns of files\n";
    let scan = ["snapshot", "scan", "--root", root, "s1", "--columns", "f1:bb,f1:nope,f2"];
    for more in [&["--count"][..], &["--format", "csv"]] {
        let (_, told) = run(0, &[&scan[..], more].concat());
        assert!(told.ends_with(warning), "{told}");
    }
    let (_, told) = run(0, &[&scan[..], &["--limit", "1"]].concat());
    assert!(!told.contains("no cell"), "{told}");
    let output = path(&place, "out");
    let export =
        ["snapshot", "export", "--root", root, "s1", "--columns", "f1:bb,f1:nope", "--to", "csv"];
    let export = [&export[..], &["--output", &output]].concat();
    let (_, told) = run(0, &export);
    assert_eq!(told, warning);
    // A second run reads nothing, and knows nothing of the columns.
    let (_, told) = run(0, &export);
    assert_eq!(told, "");
    let file = some_hfile(&copy.path().join("data/default/t6"));
    let (file, output) = (file.to_str().expect("text"), path(&place, "files"));
    let export = ["export", file, "--columns", "g:nope,g:no", "--to", "csv", "--output", &output];
    let (_, told) = run(0, &export);
    assert!(told.contains("no cell of the columns g:nope, g:no was found"), "{told}");
}

#[test]
fn a_get_without_a_row_asks_for_it_and_an_absent_row_is_told_alike() {
    for verb in ["get", "find"] {
        let what = format!("give a PATH before the row: hfile {verb} PATH row1");
        tells(2, &[verb, "row1"]).has(&what);
        tells(2, &[verb, "s01-default.hfile"]).has("the last argument must be the row, but s01-");
    }
    let message = "hfile: row not found: nobody\n";
    assert_eq!(run(1, &["get", "s01-default.hfile", "nobody"]).1, message);
    let directory = directory();
    let store = &*path(&directory, "store");
    run(0, &["store", "create", store, "f"]);
    assert_eq!(run(1, &["store", "get", store, "nobody"]).1, message);
    let copy = RootCopy::new();
    let (_, told) = run(1, &["snapshot", "get", "--root", &copy.argument(), "s1", "nobody"]);
    assert_eq!(told, message);
}

/// Of each row that HBase shows only to a raw scan, also of a table with MOB values and of one with logs.
#[test]
fn a_get_says_that_cells_of_a_row_are_deleted_and_raw_shows_them() {
    let copy = RootCopy::new();
    let root = copy.argument();
    for (noun, name, more, row, absent) in [
        ("snapshot", "s1", None, "row-00014", "f2:none"),
        ("snapshot", "s5", None, "row-00022", "m:none"),
        ("snapshot", "s7", None, "row-00093", "g:none"),
        ("table", "t1", Some("--with-wal"), "row-00014", "f2:none"),
    ] {
        let get: Vec<_> =
            [noun, "get", "--root", &root, name, row].into_iter().chain(more).collect();
        let (_, told) = run(1, &get);
        let hidden = format!(
            "row not found: {row}; deleted or expired cells of it are stored: see them with --raw"
        );
        assert!(told.contains(&hidden), "{name}: {told}");
        let (shown, told) = run(0, &[&get[..], &["--raw"]].concat());
        assert!(shown.lines().count() >= 2 && !told.contains("not found"), "{name}: {told}");
        // Of another column nothing is stored.
        let (_, told) = run(1, &[&get[..], &["--columns", absent]].concat());
        assert!(!told.contains("--raw"), "{name}: {told}");
    }
}

#[test]
fn wrong_usage_leads_to_the_help_of_the_verb() {
    tells(2, &["table", "info", "--root", "hdfs://namenode/hbase"])
        .has("\nnext: see hfile table info --help\n");
    tells(2, &["get", "row1"]).has("\nnext: see hfile get --help\n");
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf_8_is_shown() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let mut command = crate::command_line::command(&["store", "scan", "store", "--prefix"]);
    let output = command.arg(OsStr::from_bytes(b"a\xff")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let told = crate::command_line::text(&output.stderr);
    assert!(
        told.starts_with("hfile: an argument is not UTF-8: a\\xFF\nnext: write such bytes"),
        "{told}"
    );
}

#[test]
fn an_encrypted_file_is_refused_and_not_called_damaged() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let file = some_hfile(&copy.path().join("data/default/t6"));
    let mut bytes = fs::read(&file).expect("readable");
    add_encryption_key(&mut bytes);
    fs::write(&file, bytes).expect("ours");
    let (out, told) = run(3, &["table", "verify", "--root", root, "t6"]);
    assert!(
        out.starts_with(
            "table t6: refused, 2 regions, 3 HFiles and the 2 that 2 references name\n"
        ),
        "{out}"
    );
    assert!(out.contains(": refused: unsupported encryption: yes\n"), "{out}");
    assert!(!out.contains("DAMAGED") && told.contains("1 of 5 files could not be read"), "{told}");
}

#[test]
fn a_table_of_another_release_is_described_and_its_files_are_refused() {
    let copy = RootCopy::release_1_7();
    let root = &*copy.argument();
    let described = "DATA_BLOCK_ENCODING => 'PREFIX_TREE'";
    shows(0, &["table", "describe", "--root", root, "e-prefix-tree"]).has(described);
    shows(0, &["snapshot", "describe", "--root", root, "se-prefix-tree"]).has(described);
    shows(0, &["table", "ls", "--root", root]).has_all(&["emp ", "e-prefix-tree "]);
    let refused = "unsupported data block encoding: PREFIX_TREE\n";
    for (noun, name) in [("table", "e-prefix-tree"), ("snapshot", "se-prefix-tree")] {
        let (out, told) = run(3, &[noun, "verify", "--root", root, name]);
        assert!(out.contains(": refused, 1 region") && out.contains(refused), "{out}");
        assert!(told.contains("next: let HBase rewrite the file"), "{told}");
        for verb in [&["scan", "--count"][..], &["get"]] {
            let row = if verb[0] == "get" { &["r"][..] } else { &[] };
            let args = [&[noun], verb, &["--root", root, name], row].concat();
            let told = tells(3, &args).has(refused);
            assert!(!told.contains("restore"), "{told}");
        }
        tells(1, &[noun, "scan", "--root", root, name, "--skip-damaged"]).has("hfile: missing: ");
    }
}

#[test]
fn a_table_whose_last_compaction_dropped_all_cells_is_empty() {
    let copy = RootCopy::release_1_7();
    let root = &*copy.argument();
    for (noun, name) in [("table", "emp"), ("snapshot", "semp")] {
        for raw in [&[][..], &["--raw"]] {
            let args = [&[noun, "scan", "--root", root, name, "--format", "cells"], raw].concat();
            assert_eq!(run(0, &args).0, "");
        }
        shows(0, &[noun, "verify", "--root", root, name]).has(": sound, ");
    }
}
