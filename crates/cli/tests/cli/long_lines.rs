//! A line without end is refused: it must not fill the memory.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Output, Stdio};

use crate::command_line::{directory, hfile, path, stdout, tells, text};

/// Runs `hfile` with a limit of its memory, and a line of 4 GiB of zeros as input.
fn endless(arguments: &str) -> Output {
    let zeros = "head -c 4294967296 /dev/zero";
    let script = format!("ulimit -v 1500000; {zeros} | \"$0\" {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_hfile")]).stdin(Stdio::null());
    command.output().expect("there is a shell")
}

#[test]
fn a_line_without_end_is_refused_by_its_number_and_limit() {
    let directory = directory();
    let (out, store) = (path(&directory, "out.hfile"), path(&directory, "store"));
    stdout(&["store", "create", &store, "f"]);
    let row = ["store", "put", &store, "a", "f:q=1"];
    stdout(&row);
    for (arguments, line, what) in [
        (
            format!("build --from cells - --output {out}"),
            "stdin: cannot read line 1: ",
            "it has more than 134,217,728 bytes; raise --field-size-max",
        ),
        (
            format!("build --from cells - --output {out} --field-size-max 1MiB"),
            "stdin: cannot read line 1: ",
            "it has more than 8,388,608 bytes; raise --field-size-max",
        ),
        (
            format!("store put {store} f --from cells -"),
            "stdin: cannot read line 1: ",
            "it has more than 134,217,728 bytes; raise --field-size-max",
        ),
        (
            format!("build --from csv - --row a --family f --output {out}"),
            "line 1: ",
            "a field of more than 16777216 bytes; raise --field-size-max",
        ),
        (
            format!("store get {store} --from -"),
            "stdin: cannot read line 1: ",
            "it has more than 1,048,576 bytes; a list of keys has one key per line",
        ),
        (
            "filter measure --kind classic-bloom --input -".to_owned(),
            "stdin: cannot read line 1 of the keys: ",
            "it has more than 1,048,576 bytes; a list of keys has one key per line",
        ),
        (
            format!("build --options /dev/zero --from cells - --output {out}"),
            "/dev/zero: ",
            "more than 1048576 bytes are no settings of an HFile",
        ),
    ] {
        let output = endless(&arguments);
        let told = text(&output.stderr);
        assert!(told.contains(line) && told.contains(what), "{arguments}: {told}");
        assert!(matches!(output.status.code(), Some(1..=3)), "{arguments}: {told}");
        assert!(!fs::exists(&out).expect("readable"), "{arguments}");
    }
}

/// Input that has no end is shown by its start, whatever message quotes it.
#[test]
fn no_message_quotes_a_long_input_as_a_whole() {
    let long = "x".repeat(9000);
    let directory = directory();
    let build = |input: &str, from: &str| {
        let file = path(&directory, "input");
        fs::write(&file, input).expect("disk takes it");
        let output = path(&directory, "out.hfile");
        let output = hfile(&["build", "--from", from, &file, "--output", &output]);
        text(&output.stderr)
    };
    let cell = r#"{"row":"61","family":"66","qualifier":"","ts":1,"type":"Put","value":""}"#;
    let told = [
        tells(1, &["get", "s01-default.hfile", &long]).has("row not found: xxx"),
        tells(2, &["cat", "s01-default.hfile", "--start", &long, "--stop", "a"]).has("--start xxx"),
        build(&format!("{{\"{long}\":1}}"), "cells"),
        build(&cell.replace("Put", &long), "cells"),
        build(&cell.replace(":1,", &format!(":\"{long}\",")), "cells"),
        build(&format!("row,family,qualifier,ts,value\na,f,q,{long},v\n"), "csv"),
        build(&format!("row,family,qualifier,ts,type,value\na,f,q,1,{long},v\n"), "csv"),
        build(&format!("row,family,qualifier,ts,{long}\n"), "csv"),
    ];
    for told in told {
        let longest = told.lines().map(|line| line.chars().count()).max();
        assert!(told.contains("xxx") && longest < Some(1200), "{told}");
    }
}
