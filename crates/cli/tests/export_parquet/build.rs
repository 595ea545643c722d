//! `hfile build --from parquet`: cells and rows of Parquet become the HFiles that CSV and cells of the same become.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command_line::{directory, entries, path, shows, stdout, tells};
use crate::export::Exports;
use crate::{python, run};

const TIME: [&str; 2] = ["--create-time", "1700000000000"];

/// Returns the bytes of the files of a family, in the order of their bytes.
fn files(out: &str, family: &str) -> Vec<Vec<u8>> {
    let listed = fs::read_dir(Path::new(out).join(family)).expect("a directory of the family");
    let read = |path: PathBuf| fs::read(path).expect("an HFile");
    let mut files: Vec<_> = listed.map(|entry| read(entry.expect("readable").path())).collect();
    files.sort();
    files
}

#[test]
fn exported_cells_become_the_files_that_cells_become() {
    let exports = Exports::new();
    for format in ["parquet", "cells"] {
        let more = ["--raw", "--to", format, "--max-file-size", "100KiB"];
        exports.run(0, "s4", format, &more);
    }
    let texts: Vec<_> =
        exports.files("cells").iter().map(|file| fs::read(file).expect("cells")).collect();
    let cells = exports.out("all.ndjson").display().to_string();
    fs::write(&cells, texts.concat()).expect("disk takes it");
    let parquet = exports.files("parquet");
    assert!(parquet.len() > 1);
    let parquet: Vec<_> = parquet.iter().map(|file| file.to_str().expect("text")).collect();

    let [from_cells, from_parquet] =
        ["of-cells", "of-parquet"].map(|out| exports.out(out).display().to_string());
    let options = ["--sort", "--includes-tags", "true", "--splits", "row-00100,row-01500"];
    let options = [&options[..], &TIME].concat();
    let build = |format: &str, inputs: &[&str], out: &str| {
        let own = ["build", "--from", format, "--output", out];
        stdout(&[&own[..], inputs, &options].concat());
    };
    build("cells", &[&cells], &from_cells);
    build("parquet", &parquet, &from_parquet);
    for family in ["f1", "f2"] {
        assert_eq!(files(&from_parquet, family), files(&from_cells, family), "{family}");
    }
}

/// Writes `users.parquet`, the frame of the tests below, and returns its path.
fn users(directory: &tempfile::TempDir) -> Option<String> {
    const SCRIPT: &str = "
import datetime, sys, pyarrow, pyarrow.parquet
ids = [f'row{n * 7 % 1000:03}' for n in range(1000)]
names = [f'user {n}' if n % 3 else None for n in range(1000)]
days = [datetime.date(1970, 1, 1) + datetime.timedelta(n) for n in range(1000)]
table = pyarrow.table({'id': ids, 'name': names, 'info:age': list(range(1000)), 'day': days})
pyarrow.parquet.write_table(table, sys.argv[1], row_group_size=300, compression=sys.argv[2])
";
    let place = path(directory, "users.parquet");
    let python = python()?;
    for compression in ["zstd", "gzip"] {
        let mut command = Command::new(python);
        run(command.args(["-c", SCRIPT, &place, compression])).expect("pyarrow writes it");
    }
    Some(place)
}

/// Builds an HFile from a file of another writer, and returns the output of `cat` for it.
fn cells_of(name: &str, more: &[&str]) -> String {
    let directory = directory();
    let parquet = format!("{}/../../tests/data/parquet/{name}", env!("CARGO_MANIFEST_DIR"));
    let out = path(&directory, "out.hfile");
    let own = ["build", "--from", "parquet", &parquet, "--output", &out, "--row", "id", "--sort"];
    stdout(&[&own[..], &["--timestamp", "1"], more].concat());
    stdout(&["cat", "--format", "csv", &out])
}

/// The default of polars; pages of version 2 are compressed but for the levels at their begin.
#[test]
fn zstd_is_read_without_a_c_library() {
    for name in ["polars.parquet", "pages-2.parquet"] {
        let cells = cells_of(name, &["--type", "f:at=string"]);
        let mut expected = String::new();
        for number in 0..200 {
            let of_row = format!("row{number:03},f");
            writeln!(expected, "{of_row},at,1,Put,2023-11-14T22:13:20.{number:06}Z,0")
                .expect("memory");
            if number % 3 != 0 {
                writeln!(expected, "{of_row},name,1,Put,user {number},0").expect("memory");
            }
        }
        let (_, found) = cells.split_once('\n').expect("a header");
        assert!(found == expected, "{name}");
    }
}

#[test]
fn microseconds_of_times_are_kept_as_text_and_refused_as_milliseconds() {
    let cells = cells_of("micros.parquet", &["--column", "t=f:t", "--type", "f:t=string"]);
    for expected in
        ["a,f,t,1,Put,2023-11-14T22:13:20.123456Z", "b,f,t,1,Put,1970-01-01T00:00:00.000001Z"]
    {
        assert!(cells.contains(expected), "{cells}");
    }
    let directory = directory();
    let parquet = format!("{}/../../tests/data/parquet/micros.parquet", env!("CARGO_MANIFEST_DIR"));
    let out = path(&directory, "out.hfile");
    let own = ["build", "--from", "parquet", &parquet, "--output", &out, "--row", "id", "--sort"];
    for kind in ["f:t=timestamp", "f:t=int64"] {
        tells(3, &[&own[..], &["--column", "t=f:t", "--type", kind]].concat()).has(
            "record 1: row a, column \"t\": 2023-11-14T22:13:20.123456Z has digits after the milliseconds",
        );
    }
}

#[test]
fn rows_become_the_files_that_csv_of_the_same_becomes() {
    let directory = directory();
    let Some(parquet) = users(&directory) else { return };
    let csv = path(&directory, "users.csv");
    let mut text = "id,name,info:age\n".to_owned();
    for number in 0..1000 {
        let (id, name) = (number * 7 % 1000, format!("user {number}"));
        let name = if number % 3 == 0 { "" } else { &name };
        writeln!(text, "row{id:03},{name},{number}").expect("memory");
    }
    fs::write(&csv, text).expect("disk takes it");
    let build = |format: &str, input: &str, more: &[&str]| {
        let out = path(&directory, format);
        let own = ["build", "--from", format, input, "--output", &out, "--row", "id", "--sort"];
        let columns = ["--column", "name=f:name", "--timestamp", "2000-01-01", "--splits", "row5"];
        let memory = ["--sort-memory", "20KiB"];
        stdout(&[&own[..], &columns, &memory, &TIME, more].concat());
        out
    };
    let of_csv = build("csv", &csv, &["--type", "info:age=int64", "--null", ""]);
    let of_parquet = build("parquet", &parquet, &["--ignore", "day"]);
    for family in ["f", "info"] {
        assert_eq!(files(&of_parquet, family), files(&of_csv, family), "{family}");
    }
    // Again into the same directory.
    let again =
        ["build", "--from", "parquet", &parquet, "--output", &of_parquet, "--row", "id", "--sort"];
    let again = [&again[..], &["--family", "f", "--ignore", "day", "--table", "users"]].concat();
    tells(3, &again).has("is not an empty directory");
    shows(0, &[&again[..], &["--force"]].concat()).has("1,666 cells in 2 files");
    // A single file, and a store.
    let file = path(&directory, "users.hfile");
    let single = ["--family", "info", "--ignore", "name,day", "--output", &file];
    let own = ["build", "--from", "parquet", &parquet, "--row", "id", "--sort"];
    shows(0, &[&own[..], &single].concat()).has("1,000 cells");
    let store = path(&directory, "store");
    stdout(&["store", "create", &store, "info"]);
    let put = ["store", "put", &store, "info", "--from", "parquet", &parquet, "--row", "id"];
    let put = [&put[..], &["--ignore", "name,day", "--from-line", "901"]].concat();
    shows(0, &put).has("100 cells");
}

#[test]
fn problems_name_the_record_and_the_column() {
    let directory = directory();
    let Some(parquet) = users(&directory) else { return };
    let before = entries(&directory);
    let out = path(&directory, "out");
    let build =
        ["build", "--from", "parquet", &parquet, "--output", &out, "--family", "f", "--sort"];
    for (status, options, message) in [
        (
            3,
            "--row id --type f:day=int32 --type info:age=bool",
            "record 3: row row014, column \"info:age\": \"2\"",
        ),
        (
            3,
            "--row info:age --ignore id --type f:day=int32",
            "row keys of type Int64 need --row-type",
        ),
        (2, "--row id --ignore days", "--ignore: no column is named days"),
        (2, "--row id --separator ;", "--separator needs --from csv"),
        (2, "--row id --bad-lines bad.csv", "bad records can only be skipped"),
        (2, "", "--row is needed"),
    ] {
        let options: Vec<_> = options.split_whitespace().collect();
        tells(status, &[&build[..], &options].concat()).has(message);
        assert_eq!(entries(&directory), before, "{message}: something is left");
    }
    let skip =
        ["--row", "id", "--ignore", "day,name", "--type", "info:age=bool", "--bad-lines", "skip"];
    shows(1, &[&build[..], &skip, &["--dry-run"]].concat())
        .has("  record 3: row row014, column \"info:age\"");
    tells(0, &[&build[..], &skip].concat())
        .has("skipped 998 records that could not be read; the first is record 3");
    let csv = path(&directory, "users.csv");
    fs::write(&csv, "id,age\n").expect("disk takes it");
    let bad = ["build", "--from", "parquet", &csv, "--output", &out, "--row", "id"];
    tells(3, &bad).has("cannot read Parquet");
    let two = ["build", "--from", "csv", &csv, &csv, "--output", &out, "--row", "id"];
    tells(2, &two).has("2 input files: only Parquet is read from several");
}
