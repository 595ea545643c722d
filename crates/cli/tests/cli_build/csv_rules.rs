//! `hfile build --from csv`, option by option: accepted and refused values.

use std::fs;

use crate::command_line::{entries, failure, hfile, path, stdout, text};
use crate::csv_build::{AT_5, cells, refusal, shown, with_csv};

/// Returns the cells of CSV with the row column `k` and the timestamp 5.
fn cells_of(csv: impl AsRef<[u8]>, options: &[&str]) -> Vec<String> {
    cells(csv, &[&["--row", "k"], &AT_5[..], options].concat())
}

#[test]
fn separators_and_quotes_can_be_any_byte_but_a_line_end() {
    assert_eq!(cells_of("k\x01f:v\nr\x01v\n", &["--separator", "\\x01"]), ["r/f:v/5 v"]);
    assert_eq!(cells_of("k\tf:v\nr\tv\n", &["--separator", "\\t"]), ["r/f:v/5 v"]);
    assert_eq!(cells_of("k,f:v\nr,'a,b'\n", &["--quote", "'"]), ["r/f:v/5 a,b"]);
    assert_eq!(cells_of("k,f:v\nr,|a,b|\n", &["--quote", "\\x7C"]), ["r/f:v/5 a,b"]);
    for option in ["--separator", "--quote"] {
        for byte in ["\\x0A", "\\x0D", "\n"] {
            refusal(2, "k,f:v\nr,v\n", &["--row", "k", option, byte])
                .has(&format!("{option} cannot be a line end"));
        }
    }
}

#[test]
fn columns_and_types_name_family_and_qualifier() {
    let csv = "k,n,f:a=b\nr,v,7\n";
    let options = ["--column", "n=f:\\x00q", "--type", "f:a=b=int16"];
    assert_eq!(cells_of(csv, &options), ["r/f:\\x00q/5 v", "r/f:a=b/5 \\x00\\x07"]);
    let csv = "k,n\nr,7\n";
    let options = ["--column", "n=\\x66:\\x00", "--type", "\\x66:\\x00=int16"];
    assert_eq!(cells_of(csv, &options), ["r/f:\\x00/5 \\x00\\x07"]);
    assert_eq!(cells_of(csv, &["--column", "n=f:"]), ["r/f:/5 7"]);
    for column in ["=f:q", "n=:q", "n=f", "n"] {
        refusal(2, csv, &["--row", "k", "--column", column]).has("expected NAME=");
    }
    let options = ["--columns", "HBASE_ROW_KEY,f:\\x00,g", "--separator", ";"];
    refusal(3, "r;v;w\n", &[&options[..], &["--type", "g:=bool"]].concat())
        .has("line 1: column \"3\": \"w\" is not of type bool");
    let options = ["--columns", "HBASE_ROW_KEY,f:\\x00,f", "--timestamp", "5"];
    assert_eq!(cells("r,v,w\n", &options), ["r/f:/5 w", "r/f:\\x00/5 v"]);
}

#[test]
fn options_that_need_others_are_refused_without_them() {
    for (options, what) in [
        (&["--row-separator", "|", "--no-header"][..], "required"),
        (&["--header"], "required"),
        (&["--row", "k", "--header"], "cannot be used with"),
        (&["--no-header", "--header"], "cannot be used with"),
    ] {
        refusal(2, "k,f:v\nr,v\n", options).has(what);
    }
    for (options, what) in [
        (&["--columns", "HBASE_ROW_KEY,HBASE_TS_KEY,HBASE_TS_KEY,f:v"][..], "at most once"),
        (&["--columns", "HBASE_ROW_KEY,HBASE_TS_KEY,f:v", "--timestamp", "5"], "exclude each"),
        (&["--columns", "HBASE_ROW_KEY,a:b/c:d,f/g"], "cannot name a family"),
    ] {
        refusal(2, "r,5,6\n", options).has(what);
    }
}

#[test]
fn csv_options_need_csv() {
    for option in [
        &["--row", "k"][..],
        &["--column", "n=f:q"],
        &["--columns", "HBASE_ROW_KEY,f:q"],
        &["--no-header"],
        &["--ignore", "k"],
        &["--separator", ";"],
        &["--quote", "none"],
        &["--timestamp", "5"],
        &["--null", ""],
        &["--type", "f:q=bool"],
        &["--bad-lines", "skip"],
        &["--family", "f"],
    ] {
        let (directory, input) = with_csv("");
        let output = path(&directory, "out.hfile");
        let build = ["build", "--from", "cells", &input, "--output", &output];
        let (status, said) = failure(&[&build[..], option].concat());
        let expected = format!("{} needs --from csv", option[0]);
        assert!(status == 2 && said.contains(&expected), "{option:?}: {said}");
        assert_eq!(entries(&directory), 1);
    }
}

#[test]
fn csv_printed_by_cat_refuses_every_column_option() {
    let own = "row,family,ts\nr,f,5\n";
    for option in [
        &["--column", "row=f:q"][..],
        &["--no-header"],
        &["--ignore", "ts"],
        &["--null", ""],
        &["--timestamp", "5"],
        &["--type", "f:q=bool"],
    ] {
        // Without a header there are no names to recognize.
        let what = if option == ["--no-header"] { "--row is needed" } else { option[0] };
        refusal(2, own, option).has(what);
    }
    for (line, what) in [
        (",f,5", "column \"row\": the row is empty"),
        ("r,f/g,5", "column \"family\": \"f/g\" cannot name a family"),
        ("r,f,-5", "column \"ts\": a negative timestamp"),
        ("r,f", "column \"ts\" is missing: 2 of 3 fields"),
        ("r,f,5,6", "4 fields, expected 3"),
    ] {
        refusal(3, format!("row,family,ts\n{line}\n"), &[]).has(&format!("in.csv: line 2: {what}"));
    }
    let long = format!("row,family,ts\n{},f,5\n", "r".repeat(32_768));
    refusal(3, long, &[]).has("a row of 32768 bytes exceeds the maximum of 32767");
    let seq = |seq: u64| format!("row,family,ts,seq\nr,f,5,{seq}\n");
    assert_eq!(cells(seq(i64::MAX as u64), &[]).len(), 1);
    refusal(3, seq(i64::MAX as u64 + 1), &[]).has("is not a sequence id");
    refusal(3, "row,family,ts,tag\n", &[]).has("unknown column \"tag\"");
}

#[test]
fn row_keys_are_joined_from_their_columns() {
    let csv = "a,b,f:v\nx,1,v\n";
    let options = ["--row", "a,b", "--row-separator", "\\x00"];
    assert_eq!(cells(csv, &[&options[..], &AT_5].concat()), ["x\\x001/f:v/5 v"]);
    // A row key or timestamp column becomes cells only with --column.
    assert_eq!(cells_of("k,f:k\nr,v\n", &["--column", "k=f:key"]), ["r/f:k/5 v", "r/f:key/5 r"]);
    let options = ["--row", "f:k", "--timestamp", "f:at"];
    assert_eq!(cells("f:k,f:at,f:v\nr,7,v\n", &options), ["r/f:v/7 v"]);
    let options = [&options[..], &["--column", "f:at=f:at"]].concat();
    assert_eq!(cells("f:k,f:at,f:v\nr,7,v\n", &options), ["r/f:at/7 7", "r/f:v/7 v"]);
    // The row key cannot be null.
    refusal(3, "k,f:v\nNA,v\n", &["--row", "k", "--null", "NA"])
        .has("line 2: column \"k\": the row key is null");
}

#[test]
fn headers_may_name_the_family() {
    refusal(2, "k,:v\nr,v\n", &["--row", "k"]).has("no family is known for :v");
    assert_eq!(cells_of("k,:v\nr,v\n", &["--family", "f"]), ["r/f::v/5 v"]);
    refusal(3, "", &["--row", "k"]).has("line 1: no columns: the input is empty");
    refusal(3, b"k,f:\xff\nr,v\n", &["--row", "k"])
        .has("line 1: header: a name of a column is not UTF-8 from its byte 3 on");
    refusal(2, "k,f:v\n", &["--row", "k", "--family", "a/b", "--column", "f:v=a/b:q"])
        .has("a/b:q: \"a/b\" cannot name a family");
    // Duplicate names are allowed if no option uses them.
    refusal(2, "k,at,at\nr,5,6\n", &["--row", "k", "--timestamp", "at"])
        .has("--timestamp: two columns are named at");
    let time = "2023-11-14";
    let csv = format!("k,{time},{time}\nr,5,6\n");
    refusal(2, csv, &["--row", "k", "--timestamp", time]).has("two columns are named");
}

/// Only the first record is checked for lone carriage returns.
#[test]
fn a_carriage_return_in_a_later_record_is_part_of_the_value() {
    assert_eq!(cells_of("k,f:v\na,v\nb,v\rw\n", &[]), ["a/f:v/5 v", "b/f:v/5 v\\x0Dw"]);
    refusal(3, "k,f:v\na,v\rw\n", &["--row", "k"]).has("line 2: a carriage return without");
    refusal(3, "k,f\r:v\na,v\n", &["--row", "k"]).has("line 1: a carriage return without");
}

#[test]
fn a_record_with_an_invalid_value_gives_no_cells() {
    let csv = "k,f:a,f:b\nr1,x,1\nr2,y,z\nr3,w,3\n";
    let (directory, input) = with_csv(csv);
    let output = path(&directory, "out.hfile");
    let build = ["build", "--from", "csv", &input, "--output", &output, "--row", "k"];
    let more = ["--timestamp", "5", "--type", "f:b=int16", "--bad-lines", "skip"];
    stdout(&[&build[..], &more].concat());
    let rows: Vec<String> = shown(&output).iter().map(|cell| cell[..4].to_owned()).collect();
    assert_eq!(rows, ["r1/f", "r1/f", "r3/f", "r3/f"]);
}

#[test]
fn a_dry_run_lists_ten_problems_and_counts_all() {
    let (directory, input) = with_csv(format!("k,f:v\n{}", ",v\n".repeat(15)));
    let output = path(&directory, "out.hfile");
    let run = ["build", "--from", "csv", &input, "--output", &output, "--row", "k", "--dry-run"];
    let bad = path(&directory, "bad.csv");
    for bad_lines in [&[][..], &["--bad-lines", "stop"], &["--bad-lines", &bad]] {
        let done = hfile(&[&run[..], bad_lines].concat());
        let said = text(&done.stdout);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.contains("15 problems") && said.contains("  line 11: "), "{said}");
        assert!(!said.contains("  line 12: "), "{said}");
    }
    // An existing file for bad lines is not checked either.
    fs::write(&bad, "").expect("writable");
    let done = hfile(&[&run[..], &["--bad-lines", &bad]].concat());
    assert_eq!(done.status.code(), Some(1));
}

#[test]
fn fields_can_be_as_large_as_a_block_can() {
    let sizes =
        [("0", false), ("1", true), ("512MiB", true), ("536870913", false), ("1TiB", false)];
    for (size, is_taken) in sizes {
        let (directory, input) = with_csv("k,f\na,b\n");
        let output = path(&directory, "out.hfile");
        let build = ["build", "--from", "csv", &input, "--output", &output, "--row", "k"];
        let more = ["--family", "f", "--field-size-max", size];
        let done = hfile(&[&build[..], &more].concat());
        assert_eq!(done.status.success(), is_taken, "{size}");
        if !is_taken {
            assert!(text(&done.stderr).contains("--field-size-max must be between"), "{size}");
        }
    }
}
