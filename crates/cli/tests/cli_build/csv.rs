//! `hfile build --from csv`: cells from CSV, and errors with line and column.

#![expect(clippy::format_collect, reason = "test data is small, and this reads best")]

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::command_line::{
    command, directory, entries, failure, hfile, json, path, run, shows, stdout, tells, text,
};
use crate::csv_build::{AT_5, cells, refusal, shown, with_csv};

#[test]
fn header_names_and_options_map_columns_to_cells() {
    let csv = "id,name,info:age\n7,Ann,41\n8,\"Bob, \"\"B\"\"\",\n";
    assert_eq!(
        cells(csv, &[&["--row", "id", "--column", "name=info:n"], &AT_5[..]].concat()),
        ["7/info:age/5 41", "7/info:n/5 Ann", "8/info:age/5 ", "8/info:n/5 Bob, \"B\""]
    );
    assert_eq!(
        cells(csv, &[&["--row", "id", "--family", "info", "--null", ""], &AT_5[..]].concat()),
        ["7/info:age/5 41", "7/info:name/5 Ann", "8/info:name/5 Bob, \"B\""]
    );
    assert_eq!(
        cells(csv, &[&["--row", "id", "--ignore", "name"], &AT_5[..]].concat()),
        ["7/info:age/5 41", "8/info:age/5 "]
    );
    // Bytes are not unescaped: only CSV printed by `hfile cat` has escapes.
    assert_eq!(
        cells("k,f:a\n\\x00,\\x01\n", &[&["--row", "k"], &AT_5[..]].concat()),
        ["\\x5Cx00/f:a/5 \\x5Cx01"]
    );
}

#[test]
fn row_keys_are_made_of_several_columns() {
    let csv = "a,b,f:v\nx,1,v\nx,2,w\n";
    let options = [&["--row", "b,a", "--row-separator", "|"], &AT_5[..]].concat();
    assert_eq!(cells(csv, &options), ["1|x/f:v/5 v", "2|x/f:v/5 w"]);
    let options = [&["--row", "a", "--row", "b", "--row-separator", ""], &AT_5[..]].concat();
    assert_eq!(cells(csv, &options), ["x1/f:v/5 v", "x2/f:v/5 w"]);
    refusal(2, csv, &["--row", "a,b"]).has("need --row-separator");
}

#[test]
fn input_without_header_has_numbered_or_importtsv_columns() {
    let options = [&["--no-header", "--row", "1", "--column", "2=f:v"], &AT_5[..]].concat();
    assert_eq!(cells("x,v\n", &options), ["x/f:v/5 v"]);
    let tsv = "x\t\"v\t17\t0\ny\tw\t2023-11-14T22:13:20Z\t0\n";
    let options =
        ["--columns", "HBASE_ROW_KEY,f:v,HBASE_TS_KEY,", "--separator", "\\t", "--quote", "none"];
    assert_eq!(cells(tsv, &options), ["x/f:v/17 \"v", "y/f:v/1700000000000 w"]);
    let with_header = format!("row\tv\tts\tz\n{tsv}");
    assert_eq!(cells(&with_header, &[&options[..], &["--header"]].concat()).len(), 2);
    // Without --header the header is a record with an invalid timestamp.
    refusal(3, &with_header, &options).has("in.csv: line 1: column \"3\": \"ts\" is neither");
    for (columns, what) in [
        ("f:v", "HBASE_ROW_KEY must occur once"),
        ("HBASE_ROW_KEY,HBASE_ROW_KEY,f:v", "HBASE_ROW_KEY must occur once"),
        ("HBASE_ROW_KEY,HBASE_CELL_TTL,f:v", "HBASE_CELL_TTL is not supported"),
        ("HBASE_ROW_KEY", "no column becomes a cell"),
    ] {
        refusal(2, "a,b\n", &["--columns", columns]).has(what);
    }
}

#[test]
fn values_are_encoded_as_in_hbase() {
    let csv = "k,f:a,f:b,f:c,f:d,f:e,f:g,f:h\nr,-2,258,-1,1.5,-0.5,true,00fF\n";
    let mut options = vec!["--row", "k", "--timestamp", "5"];
    for typed in [
        "f:a=int16",
        "f:b=int32",
        "f:c=int64",
        "f:d=float32",
        "f:e=float64",
        "f:g=bool",
        "f:h=binary-hex",
    ] {
        options.extend(["--type", typed]);
    }
    assert_eq!(
        cells(csv, &options),
        [
            "r/f:a/5 \\xFF\\xFE",
            "r/f:b/5 \\x00\\x00\\x01\\x02",
            "r/f:c/5 \\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF",
            "r/f:d/5 ?\\xC0\\x00\\x00",
            "r/f:e/5 \\xBF\\xE0\\x00\\x00\\x00\\x00\\x00\\x00",
            "r/f:g/5 \\xFF",
            "r/f:h/5 \\x00\\xFF",
        ]
    );
}

#[test]
fn timestamps_come_from_a_column_the_clock_or_the_command_line() {
    let csv = "k,f:v,at\na,v,17\nb,v,2023-11-14 22:13:20.5+00:00\n";
    let options = ["--row", "k", "--timestamp", "at"];
    assert_eq!(cells(csv, &options), ["a/f:v/17 v", "b/f:v/1700000000500 v"]);
    // A number is a time, unless it starts with column:.
    let options = ["--no-header", "--row", "1", "--column", "2=f:v", "--timestamp", "column:3"];
    assert_eq!(cells("a,v,17\n", &options), ["a/f:v/17 v"]);

    let (directory, input) = with_csv("k,f:v\na,v\nb,v\n");
    let output = path(&directory, "out.hfile");
    for now in [&[][..], &["--timestamp", "NOW"]] {
        let build =
            ["build", "--from", "csv", &input, "--row", "k", "--output", &output, "--force"];
        let (_, told) = run(0, &[&build[..], now].concat());
        let said = told;
        let time = said.split_once("the timestamp ").expect("it is said").1.split(',').next();
        let time = time.expect("a number");
        assert!(time.parse::<u64>().is_ok_and(|time| time > 1_700_000_000_000), "{said}");
        assert_eq!(shown(&output), [format!("a/f:v/{time} v"), format!("b/f:v/{time} v")]);
    }
}

#[test]
fn compressed_input_is_read() {
    let csv = "k,f:v\na,v\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(csv.as_bytes()).expect("memory takes it");
    let options = ["--row", "k", "--timestamp", "5"];
    assert_eq!(cells(gzip.finish().expect("memory takes it"), &options), ["a/f:v/5 v"]);

    // As written by `zstd`: a frame with a checksum; a skippable frame; a frame of one uncompressed block.
    let raw = |text: &str| {
        let len = u8::try_from(text.len()).expect("short");
        [&b"\x28\xb5\x2f\xfd\x20"[..], &[len, len << 3 | 1, 0, 0], text.as_bytes()].concat()
    };
    let skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
    let frames = [&skippable[..], &raw("k,f:v\na,"), &skippable[..], &raw("v\n")].concat();
    assert_eq!(cells(&frames, &options), ["a/f:v/5 v"]);
    for cut in [1, 3, 12, 20, 25] {
        let _ = refusal(3, &frames[..frames.len() - cut], &options);
    }
    let checked = b"\x28\xb5\x2f\xfd\x24\x0a\x51\0\0k,f:v\na,v\n\xde\xad\xbe\xef";
    refusal(3, checked, &options).has("checksum mismatch");
}

#[test]
fn csv_printed_by_cat_needs_and_allows_no_column_options() {
    let own = "row,family,qualifier,ts,value\nr\\x00,f,q,5,v\\x01\n";
    assert_eq!(cells(own, &[]), ["r\\x00/f:q/5 v\\x01"]);
    for option in [["--null", ""], ["--type", "f:q=int32"], ["--timestamp", "5"]] {
        refusal(2, own, &option).has_all(&[option[0], "which hfile cat prints"]);
    }
    let as_other = ["--row", "row", "--family", "f", "--ignore", "family,ts", "--timestamp", "5"];
    assert_eq!(
        cells(own, &as_other),
        ["r\\x5Cx00/f:qualifier/5 q", "r\\x5Cx00/f:value/5 v\\x5Cx01"]
    );
    refusal(2, "row,family,value\nr,f,v\n", &[]).has("--row is needed");
    let (directory, input) = with_csv("");
    let output = path(&directory, "out");
    let args = ["build", "--from", "cells", &input, "--output", &output, "--row", "id"];
    assert!(failure(&args).1.contains("--row needs --from csv"));
}

#[test]
fn several_families_are_written_to_a_directory() {
    let (directory, input) = with_csv("k,f:a,g:b\nr2,x,y\nr1,v,w\n");
    let output = path(&directory, "out");
    let build = ["build", "--from", "csv", &input, "--row", "k", "--timestamp", "5", "--sort"];
    let build = [&build[..], &["--output", &output]].concat();
    shows(0, &build).has_all(&[
        "4 cells in 2 files\ncreate the table ",
        "exists:\n  create 'TABLE', {NAME => 'f', ",
        "}, {NAME => 'g', BLOCKSIZE => '65536', BLOOMFILTER => 'ROW', ",
        "}\nload them with\n  hbase completebulkload ",
    ]);
    for (family, expected) in
        [("f", ["r1/f:a/5 v", "r2/f:a/5 x"]), ("g", ["r1/g:b/5 w", "r2/g:b/5 y"])]
    {
        let mut files = fs::read_dir(Path::new(&output).join(family)).expect("a family");
        let file = files.next().expect("a file").expect("readable").path();
        assert!(files.next().is_none());
        assert_eq!(shown(file.to_str().expect("text")), expected);
    }
    tells(2, &[&build[..9], &["--output", "-"]].concat()).has("name a directory");
    tells(3, &build).has("is not an empty directory");
    shows(0, &[&build[..], &["--force"]].concat()).begins_with("4 cells in 2 files");

    // CSV printed by `hfile cat` does not declare its families in advance.
    let own = "row,family,ts\nr,f,5\nr,g,5\n";
    refusal(3, own, &[]).has_all(&["in.csv: line 3: ", "--bulk-load"]);
}

#[test]
fn errors_name_line_and_column() {
    let options = ["--row", "k", "--type", "f:n=int32", "--timestamp", "at"];
    let csv = |line: &str| format!("k,f:n,at\nr1,1,5\n{line}\n");
    let long = format!("{},1,5", "r".repeat(40_000));
    for (line, what) in [
        (",1,5", "line 3: column \"k\": the row is empty"),
        ("r2,1", "line 3: column \"at\" is missing: 2 of 3 fields"),
        ("r2", "line 3: column \"f:n\" and all columns after it are missing: 1 of 3 fields"),
        ("r2,1,5,6", "line 3: 4 fields, expected 3"),
        ("r2,1.5,5", "line 3: column \"f:n\": \"1.5\" is not of type int32"),
        ("r2,2147483648,5", "line 3: column \"f:n\": \"2147483648\" is not of type int32"),
        ("r2,,5", "line 3: column \"f:n\": \"\" is not of type int32; use --null '' to skip"),
        ("r2,1,yesterday", "line 3: column \"at\": \"yesterday\" is neither milliseconds"),
        ("r2,1,-5", "line 3: column \"at\": \"-5\" is a time before 1970"),
        ("\"r2\nr3\",1,x", "line 3: column \"at\""),
        ("\"r2\"x,1,5", "line 3: text after the quote on line 3"),
        ("r0,1,5", "line 3: "),
        (&*long, "line 3: column \"k\": a row of 40000 bytes exceeds the maximum of 32767"),
    ] {
        refusal(3, csv(line), &options).begins_with(&format!("hfile: in.csv: {what}"));
    }
    // Out of order.
    refusal(3, csv("r0,1,5"), &options).has("next: use --sort");
    let csv = csv("r2,1,5").replace("k,", "k,k,");
    refusal(2, csv, &options).has("--row: two columns are named k");
}

#[test]
fn ambiguous_input_is_refused() {
    let numbered = ["--no-header", "--row", "1", "--column", "2=f:v", "--timestamp", "3"];
    refusal(2, "a,v,17\n", &numbered).has("write column:3 for the column, or 03 for");
    let numbered = [&numbered[..6], &["03", "--ignore", "3"]].concat();
    assert_eq!(cells("a,v,17\n", &numbered), ["a/f:v/3 v"]);
    for time in ["2023", "20231114"] {
        let csv = format!("k,f:v,at\na,v,{time}\n");
        refusal(3, csv, &["--row", "k", "--timestamp", "at"])
            .has_all(&["line 2: column \"at\"", "could be a date or milliseconds"]);
        refusal(2, "k,f:v\na,v\n", &["--row", "k", "--timestamp", time])
            .has("could be a date or milliseconds");
    }
    let iso = ["--row", "k", "--timestamp", "2023-11-14T22:13:20Z"];
    assert_eq!(cells("k,f:v\na,v\n", &iso), ["a/f:v/1700000000000 v"]);

    for (csv, options) in [
        ("a,v\n", &["--columns", "HBASE_ROW_KEY,f:v", "--family", "g"][..]),
        ("row,family,ts\nr,f,5\n", &["--family", "g"]),
    ] {
        refusal(2, csv, options).has("--family cannot be combined");
    }
}

#[test]
fn headers_that_name_no_columns_are_refused() {
    refusal(2, "k,a,\nr,v,\n", &["--row", "k", "--family", "f"]).has("column 3 has no name");
    let ignoring = [&["--row", "k", "--family", "f", "--ignore", ""], &AT_5[..]].concat();
    assert_eq!(cells("k,a,\nr,v,\n", &ignoring), ["r/f:a/5 v"]);
    refusal(2, "k,created at 12:30\nr,v\n", &["--row", "k"])
        .has("\"created at 12\" cannot name a family");

    let row = ["--row", "k", "--family", "f"];
    let numbered = ["--row", "1", "--family", "f", "--no-header"];
    let columns = ["--columns", "HBASE_ROW_KEY,f:a,f:b"];
    for options in [&row[..], &numbered, &columns] {
        refusal(3, "k,a\rr1,v\rr2,w\r", options).has("line 1: a carriage return without");
    }
    let options = [&["--row", "k", "--family", "f"], &AT_5[..]].concat();
    assert_eq!(cells("k,a\nr,\"v\rw\"\n", &options), ["r/f:a/5 v\\x0Dw"]);
}

#[test]
fn numbers_too_large_for_their_type_are_bad_lines() {
    let options = [&["--row", "k", "--type", "f:n=float32"], &AT_5[..]].concat();
    refusal(3, "k,f:n\nr,1e39\n", &options)
        .has("line 2: column \"f:n\": \"1e39\" is too large for");
    assert_eq!(cells("k,f:n\nr,inf\n", &options), ["r/f:n/5 \\x7F\\x80\\x00\\x00"]);
}

#[test]
fn bad_lines_and_output_must_be_different_files() {
    let (directory, input) = with_csv("k,f:v\nr1,v\nr2\n");
    let output = path(&directory, "out");
    let build =
        ["build", "--from", "csv", &input, "--row", "k", "--output", &output, "--bad-lines"];
    let other = path(&directory, "./out");
    for bad in [&output, &other] {
        tells(2, &[&build[..], &[bad]].concat()).has("are the same path");
    }
    tells(2, &[&build[..], &["-"]].concat()).has("cannot go to stdout");
    assert_eq!(entries(&directory), 1);
}

#[test]
fn a_failed_build_leaves_no_file_for_bad_lines() {
    let (directory, input) = with_csv("k,f:v\nr1\nr3,v\nr2,v\n");
    let (output, bad) = (path(&directory, "out"), path(&directory, "bad.csv"));
    let build = ["build", "--from", "csv", &input, "--row", "k", "--output", &output];
    let build = [&build[..], &["--bad-lines", &bad]].concat();
    tells(3, &build).has("next: use --sort");
    assert_eq!(entries(&directory), 1, "neither output nor bad lines");
    stdout(&[&build[..], &["--sort"]].concat());
    assert_eq!(entries(&directory), 3);
}

#[test]
fn options_for_unknown_columns_are_wrong_usage() {
    let csv = "k,f:v,x\nr,v,w\n";
    for (options, what) in [
        (&["--row", "kk"][..], "--row: no column is named kk; known are k, f:v, x"),
        (&["--row", "k"], "no family is known for x"),
        (
            &["--row", "k", "--family", "f", "--type", "f:y=bool"],
            "--type: no column maps to f:y; known are f:v, f:x",
        ),
        (&["--row", "k", "--column", "y=f:y"], "--column: no column is named y"),
        (&["--row", "k", "--ignore", "y"], "--ignore: no column is named y"),
        (
            &["--row", "k", "--family", "f", "--timestamp", "when"],
            "--timestamp: no column is named when",
        ),
        (&["--row", "k", "--column", "x=f:v"], "columns f:v and x both map to f:v"),
        (&["--row", "k", "--column", "x"], "NAME=FAMILY:QUALIFIER"),
        (&["--row", "k", "--type", "f:v=varchar"], "types are string, int8, int16"),
        (&["--row", "k", "--separator", "ab"], "expected one byte"),
        (&["--row", "k", "--separator", "\""], "the same byte"),
        (&["--row", "k", "--ignore", "f:v,x"], "no column becomes a cell"),
        (&["--row", "k", "--field-size-max", "0"], "--field-size-max"),
        (&["--row", "k", "--columns", "HBASE_ROW_KEY,f:v"], "cannot be used with"),
    ] {
        refusal(2, csv, options).has(what);
    }
}

/// An unclosed quote must not silently swallow the lines after it.
#[test]
fn an_unclosed_quote_is_an_error_with_its_line() {
    let row = |row: u32| match row {
        50 => "r00050,f,1,\"v\n".to_owned(),
        row => format!("r{row:05},f,1,v\n"),
    };
    let rows = |count| (2..=count).map(row).collect::<String>();
    let csv = |count| format!("row,family,ts,value\n{}", rows(count));
    let closed = csv(10_000).replace("r00060,f,1,v", "r00060,f,1,\"v\"");
    for (csv, what) in [
        (csv(900), "the quote that opens a field on line 50 is not closed"),
        (csv(10_000), "a record of more than 1000 lines; the quote that opens a field on line 50"),
        (closed, "text after the quote on line 60 that closes the field opened on line 50"),
    ] {
        refusal(3, csv, &[]).begins_with(&format!("hfile: in.csv: line 50: {what}"));
    }
    let (directory, input) = with_csv(csv(10_000));
    let output = path(&directory, "out");
    let build = ["build", "--from", "csv", &input, "--output", &output, "--bad-lines", "skip"];
    stdout(&build);
    assert_eq!(shown(&output).len(), 9_998, "only line 50 is lost");
}

#[test]
fn the_size_of_fields_is_limited() {
    let csv = |len: usize| format!("k,f:v\nr,{}\n", "v".repeat(len));
    let options = ["--row", "k", "--timestamp", "5"];
    assert_eq!(cells(csv(16 << 20), &options).len(), 1);
    refusal(3, csv((16 << 20) + 1), &options)
        .has("in.csv: line 2: column 2: a field of more than 16777216 bytes");
    let larger = [&options[..], &["--field-size-max", "17MiB"]].concat();
    assert_eq!(cells(csv((16 << 20) + 1), &larger).len(), 1);
}

#[test]
fn bad_lines_stop_the_run_or_are_skipped_or_copied() {
    let csv = "k,f:n\nr1,1\nr2,x\n,3\nr4,\"4\nr5,5\nr6\n";
    let options = ["--row", "k", "--type", "f:n=int16", "--timestamp", "5"];
    for stop in [&[][..], &["--bad-lines", "stop"]] {
        refusal(3, csv, &[&options[..], stop].concat()).has("line 3");
    }
    let (directory, input) = with_csv(csv);
    let (output, bad) = (path(&directory, "out"), path(&directory, "bad.csv"));
    let build = ["build", "--from", "csv", &input, "--output", &output, "--json"];
    let build = [&build[..], &options].concat();
    let done = hfile(&[&build[..], &["--bad-lines", "skip"]].concat());
    assert!(done.status.success());
    let report: Value = serde_json::from_slice(&done.stdout).expect("an object");
    assert_eq!((&report["cells"], &report["bad_lines"]), (&2.into(), &4.into()));
    let said = text(&done.stderr);
    assert!(said.contains("skipped 4 lines that could not be read; the first is line 3"), "{said}");
    assert_eq!(shown(&output), ["r1/f:n/5 \\x00\\x01", "r5/f:n/5 \\x00\\x05"]);

    fs::remove_file(&output).expect("ours");
    let keeping = [&build[..], &["--bad-lines", &bad]].concat();
    let said = text(&hfile(&keeping).stderr);
    assert!(
        said.contains(&format!("skipped 4 lines that could not be read; {bad} contains them")),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(&bad).expect("written"),
        "line,reason,text\n\
         3,\"column \"\"f:n\"\": \"\"x\"\" is not of type int16\",\"r2,x\"\n\
         4,\"column \"\"k\"\": the row is empty\",\",3\"\n\
         5,the quote that opens a field on line 5 is not closed,\"r4,\"\"4\"\n\
         7,\"column \"\"f:n\"\" is missing: 1 of 2 fields\",r6\n"
    );
    fs::remove_file(&output).expect("ours");
    tells(3, &keeping).has("bad.csv: the file for bad lines already exists");
    assert_eq!(entries(&directory), 2, "and no output");
    fs::remove_file(&bad).expect("ours");
    fs::write(&input, "k,f:n\nr1,1\n").expect("writable");
    stdout(&keeping);
    assert!(!fs::exists(&bad).expect("readable"), "without bad lines there is no file of them");
}

#[test]
fn a_dry_run_shows_and_counts_and_writes_nothing() {
    let rows: String = (10..99).map(|row| format!("r{row},{row},{}\n", row * 2)).collect();
    let (directory, input) = with_csv(format!("k,f:a,g:b\n{rows}r05,x,1\nr06,\n"));
    let output = path(&directory, "out");
    let run =
        ["build", "--from", "csv", &input, "--output", &output, "--row", "k", "--timestamp", "5"];
    let run = [&run[..], &["--type", "f:a=int32", "--dry-run", "--bad-lines", "new.csv"]].concat();
    let done = hfile(&run);
    assert_eq!(done.status.code(), Some(1), "there are problems");
    let said = text(&done.stdout).replace(&input, "in.csv");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "K: r10/f:a/5/Put/vlen=4/seqid=0 V: \\x00\\x00\\x00\\x0A");
    assert_eq!(lines[1], "K: r10/g:b/5/Put/vlen=2/seqid=0 V: 20");
    assert_eq!(
        lines[10..],
        [
            "in.csv: 178 cells from 89 records; nothing was written",
            "  family f: 89 cells",
            "  family g: 89 cells",
            "2 problems:",
            "  line 91: column \"f:a\": \"x\" is not of type int32",
            "  line 92: column \"g:b\" is missing: 2 of 3 fields",
        ]
    );
    let report: Value = serde_json::from_slice(&hfile(&[&run[..], &["--json"]].concat()).stdout)
        .expect("an object");
    assert_eq!(report["cells"], 178);
    assert_eq!(report["families"]["g"], 89);
    assert_eq!((&report["problems"], &report["bad_lines"]), (&2.into(), &2.into()));
    assert_eq!(report["first_problems"][1]["line"], 92);
    assert_eq!(report["first_cells"].as_array().map(Vec::len), Some(10));
    assert_eq!(entries(&directory), 1, "nothing was written");

    let unsorted = "k,f:a\nr2,1\nr1,1\nr3,1\n";
    let (directory, input) = with_csv(unsorted);
    let run = ["build", "--from", "csv", &input, "--output", "out", "--row", "k", "--dry-run"];
    let said = text(&hfile(&run).stdout);
    assert!(said.contains("1 problem:\n  line 3: r1/f:a/"), "{said}");
    let sorted = json(&[&run[..], &["--sort", "--json"]].concat());
    assert_eq!((&sorted["records"], &sorted["problems"]), (&3.into(), &0.into()));
    drop(directory);
}

/// Cells are read before the end of a pipe.
#[test]
fn stdin_is_read_incrementally() {
    let directory = directory();
    let output = path(&directory, "out");
    let args =
        ["build", "--from", "csv", "-", "--output", &output, "--row", "k", "--timestamp", "5"];
    let mut child = command(&args)
        .stdout(std::process::Stdio::null())
        .stdin(std::process::Stdio::piped())
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
    assert_eq!(shown(&output), ["r1/f:v/5 a\"\\x0Ab", "r2/f:v/5 c"]);
}
