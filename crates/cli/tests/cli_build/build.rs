//! `hfile build` and `hfile filter rebuild`: output files and failures.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::command_line::{
    command, data, directory, entries, failure, field, golden_cells, interrupt, json, manifest,
    path, stdout, tells,
};

/// From the same spec and cells as HBase, uncompressed and unencoded.
#[test]
fn build_writes_the_same_bytes_as_hbase() {
    let directory = directory();
    let mut equal = 0;
    for file in manifest() {
        let spec = &file["spec"];
        let plain = |name: &str| spec[name].as_str().is_none_or(|value| value == "NONE");
        if !plain("encoding") || !plain("compression") {
            continue;
        }
        let (options, output) = (path(&directory, "spec.json"), path(&directory, "out.hfile"));
        fs::write(&options, spec.to_string()).expect("disk takes it");
        let cells = field(&file, "cellsFile");
        stdout(&[
            "build",
            "--from",
            "cells",
            cells,
            "--output",
            &output,
            "--options",
            &options,
            "--force",
        ]);
        let theirs = fs::read(data().join(field(&file, "file"))).expect("committed");
        let ours = fs::read(&output).expect("built");
        let differs = ours.iter().zip(&theirs).position(|(one, other)| one != other);
        assert!(ours == theirs, "{} differs at {differs:?}", file["name"]);
        equal += 1;
    }
    assert!(equal >= 10, "only {equal} files to compare");
}

#[test]
fn cat_prints_the_cells_that_build_wrote() {
    let directory = directory();
    let output = path(&directory, "out.hfile");
    let cells = "p13-fastdiff-none-rowcol.cells.ndjson.gz";
    for flags in [
        &["--compression", "LZ4", "--bloom-type", "ROWCOL"][..],
        &["--block-size", "4KiB", "--checksum", "CRC32", "--filter", "blocked-bloom"],
    ] {
        let build = ["build", "--from", "cells", cells, "--output", &output, "--force"];
        stdout(&[&build[..], &["--includes-tags", "true"], flags].concat());
        let file = manifest().into_iter().find(|file| file["cellsFile"] == cells).expect("it");
        assert_eq!(stdout(&["cat", "--format", "cells", &output]).as_bytes(), golden_cells(&file));
    }
    let info = json(&["info", "--json", &output]);
    assert_eq!(info["filter"]["kind"], "blocked-bloom");
    assert!(info["filter"]["bits_per_key"].as_f64().expect("a number") > 7.0);
}

#[test]
fn rebuild_adds_a_filter_to_a_file_of_hbase_and_removes_it() {
    let directory = directory();
    let (with, without) = (path(&directory, "with.hfile"), path(&directory, "without.hfile"));
    let theirs = "s01-default.hfile";
    let rebuild = ["filter", "rebuild", theirs, "--output", &with, "--kind", "cuckoo"];
    let report = json(&[&rebuild[..], &["--bits-per-key", "18", "--json"]].concat());
    assert_eq!(report["filter"]["kind"], "cuckoo");
    let info = json(&["info", "--json", &with]);
    assert_eq!(info["filter"]["kind"], "cuckoo");
    assert_eq!(info["size"], report["size"]);
    stdout(&["verify", &with]);
    let cells = |file: &str| stdout(&["cat", "--format", "cells", file]);
    assert_eq!(cells(&with), cells(theirs));

    tells(3, &rebuild).has("exists");
    let (status, _) =
        failure(&[&rebuild[..], &["--force", "--budget", "1k", "--error-rate", "0.1"]].concat());
    assert_eq!(status, 2, "one sizing only");
    stdout(&["filter", "rebuild", &with, "--output", &without, "--kind", "none"]);
    assert_eq!(
        fs::read(without).expect("it was written"),
        fs::read(data().join(theirs)).expect("committed")
    );
}

#[test]
fn csv_round_trips() {
    let directory = directory();
    let (csv, output) = (path(&directory, "cells.csv"), path(&directory, "out.hfile"));
    let cells = stdout(&["cat", "--format", "csv", "s01-default.hfile"]);
    fs::write(&csv, &cells).expect("disk takes it");
    stdout(&["build", "--from", "csv", &csv, "--output", &output]);
    assert_eq!(stdout(&["cat", "--format", "csv", &output]), cells);
}

#[test]
fn cells_out_of_order_are_refused_or_sorted() {
    let directory = directory();
    let (input, output) = (path(&directory, "cells"), path(&directory, "out.hfile"));
    let sorted = fs::read_to_string(data().join("s15-extra-file-info.cells.ndjson")).expect("it");
    let backwards: Vec<&str> = sorted.lines().rev().collect();
    fs::write(&input, backwards.join("\n")).expect("disk takes it");

    let build = ["build", "--from", "cells", &input, "--output", &output];
    tells(3, &build).has("--sort");
    assert_eq!(entries(&directory), 1, "nothing half-made is left");

    stdout(&[&build[..], &["--sort"]].concat());
    assert_eq!(stdout(&["cat", "--format", "cells", &output]), sorted);
}

#[test]
fn cells_of_families_that_hbase_refuses_are_refused_with_their_line() {
    let directory = directory();
    let (input, output) = (path(&directory, "cells"), path(&directory, "out"));
    let store = path(&directory, "store");
    stdout(&["store", "create", &store, "f"]);
    let cell = |row: u8, family: &[u8]| {
        format!(
            "{{\"row\":\"{row:02x}\",\"family\":\"{}\",\"qualifier\":\"71\",\"ts\":5,\"type\":\"Put\",\"value\":\"76\",\"seq\":0}}\n",
            support::hex(family)
        )
    };
    let build = ["build", "--from", "cells", &input, "--output", &output];
    for (family, what) in [
        (&b""[..], "the family is empty"),
        (b".f", "\".f\" cannot name a family: it begins with '.'"),
        (b"../../f", "\"../../f\" cannot name a family: it begins with '.'"),
        (b"a:b", "\"a:b\" cannot name a family: it has a control character, ':'"),
        (b"a/b", "\"a/b\" cannot name a family"),
        (b"a\nb", "\"a\\x0Ab\" cannot name a family"),
        (b"recovered.edits", "is reserved by HBase"),
        (&vec![b'f'; 70_000], "it has more than 127 bytes"),
    ] {
        // After a valid cell and an empty line, sorted or not.
        fs::write(&input, format!("{}\n{}", cell(1, family), cell(2, family))).expect("writable");
        let all = [
            (&build[..], "line 1"),
            (&["build", "--from", "cells", &input, "--output", &output, "--sort"], "line 1"),
            (&["build", "--from", "cells", &input, "--output", &output, "--bulk-load"], "line 1"),
            (&["store", "put", &store, "f", "--from", "cells", &input], "line 3"),
        ];
        for (args, line) in all {
            if line == "line 3" {
                let cells = format!("{}\n{}", cell(1, b"f"), cell(2, family));
                fs::write(&input, cells).expect("writable");
            }
            let said = tells(3, args).has_all(&[what, &format!("cells: {line}:")]);
            assert_eq!(entries(&directory), 2, "{said}: something is left");
        }
    }
    // HBase accepts more names than this tool uses for directories.
    for family in [&b"my family"[..], b"\xc3\xa9", b"a.b"] {
        let cells = cell(1, family);
        fs::write(&input, &cells).expect("writable");
        stdout(&[&build[..], &["--force"]].concat());
        assert_eq!(stdout(&["cat", "--format", "cells", &output]), cells);
        let csv = stdout(&["cat", "--format", "csv", &output]);
        fs::write(&input, &csv).expect("writable");
        stdout(&["build", "--from", "csv", &input, "--output", &output, "--force"]);
        assert_eq!(stdout(&["cat", "--format", "csv", &output]), csv);
    }
}

#[test]
fn nothing_is_overwritten_without_force() {
    let directory = directory();
    let output = path(&directory, "precious");
    fs::write(&output, "precious").expect("disk takes it");
    let build = ["build", "--from", "cells", "s03-one-cell.cells.ndjson", "--output", &output];
    tells(3, &build).has_all(&["precious already exists", "--force"]);
    assert_eq!(fs::read(&output).expect("still there"), b"precious");
    stdout(&[&build[..], &["--force"]].concat());
    stdout(&["info", &output]);
}

#[test]
fn an_unknown_option_is_refused_by_name() {
    let directory = directory();
    let (options, output) = (path(&directory, "spec.json"), path(&directory, "out.hfile"));
    fs::write(&options, r#"{"blockSize":2048,"blokSize":1,"seed":7}"#).expect("disk takes it");
    let input = "s03-one-cell.cells.ndjson";
    tells(2, &["build", "--from", "cells", input, "--output", &output, "--options", &options])
        .has("unknown field `blokSize`");
}

/// A pipe can be read only once.
#[cfg(unix)]
#[test]
fn the_settings_of_a_bulk_load_can_come_from_a_pipe() {
    let directory = directory();
    let output = path(&directory, "out");
    let cells = "s03-one-cell.cells.ndjson";
    let mut child = command(&["build", "--from", "cells", cells, "--output", &output])
        .args(["--bulk-load", "--options", "/dev/stdin"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(br#"{"blockSize":1234}"#).expect("it reads");
    drop(stdin);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(entries(&directory), 1);
}

/// The output of a table is a directory, which has begun when something is in it.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_temporary_output() {
    for (cells, more) in [("s03-one-cell", &[][..]), ("s15-extra-file-info", &["--bulk-load"])] {
        let directory = directory();
        let output = path(&directory, "out");
        let build = ["build", "--from", "cells", "-", "--output", &output];
        let mut child = command(&[&build[..], more].concat())
            .stdin(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let cells = fs::read(data().join(format!("{cells}.cells.ndjson"))).expect("committed");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(&cells).expect("it reads");
        let is_begun = || {
            let mut inside = fs::read_dir(directory.path()).expect("readable").flatten();
            let begun = inside.next().map(|half| half.path());
            begun.is_some_and(|half| {
                fs::read_dir(half).map_or(more.is_empty(), |mut entries| entries.next().is_some())
            })
        };
        let mut waits = 0..1000;
        while !is_begun() {
            waits.next().unwrap_or_else(|| panic!("{more:?}: waited for ten seconds"));
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        interrupt(&child);
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{more:?}");
        assert_eq!(entries(&directory), 0, "{more:?}");
    }
}

/// Cells are read before the end of a pipe.
#[test]
fn stdin_is_read_incrementally() {
    let directory = directory();
    let output = path(&directory, "out");
    let args =
        ["build", "--from", "csv", "-", "--output", &output, "--row", "k", "--timestamp", "5"];
    let mut child = command(&args)
        .stdout(Stdio::null())
        .stdin(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("piped");
    for piece in ["k,f", ":v\nr1,\"a", "\"\"\n", "b\"\nr2", ",c"] {
        stdin.write_all(piece.as_bytes()).expect("it reads");
        stdin.flush().expect("it reads");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
    let cells = stdout(&["cat", "--format", "csv", &output]);
    assert!(cells.contains("\nr1,f,v,5,Put,\"a\"\"\\x0Ab\",0\nr2,f,v,5,Put,c,0\n"), "{cells}");
}
