//! `hfile build` and `hfile filter rebuild`: output files and failures.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::command_line::{
    command, data, directory, entries, field, golden_cells, interrupt, json, manifest, path, stdout,
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
