//! `hfile store put --from csv`: writes CSV to a store, and resumes after a bad line.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use support::cells::put_line;
use tempfile::TempDir;

use crate::command_line::{
    command, directory, failure, interrupt, json, path, shows, stdout, tells, text,
};

/// Creates an empty store with the family `f`, and an input file.
fn with_store(csv: &str) -> (TempDir, String, String) {
    let directory = directory();
    let (store, input) = (path(&directory, "store"), path(&directory, "in.csv"));
    stdout(&["store", "create", &store, "f"]);
    fs::write(&input, csv).expect("disk takes it");
    (directory, store, input)
}

/// Starts a `store put` that reads CSV with the row key `id` from a pipe.
fn start_put(store: &str, options: &[&str]) -> Child {
    let put = ["store", "put", store, "f", "--from", "csv", "-", "--row", "id"];
    let mut command = command(&[&put[..], options].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

fn cells(store: &str) -> Vec<String> {
    let lines = stdout(&["store", "scan", store, "f", "--format", "csv"]);
    lines.lines().skip(1).map(|line| line.rsplit_once(',').expect("seq").0.to_owned()).collect()
}

#[test]
fn columns_without_a_family_get_the_family_of_put() {
    let (_directory, store, input) =
        with_store("id,name,f:age,at\n2,Bob,7,2023-11-15\n1,Ann,41,17\n");
    let put = ["store", "put", &store, "f", "--from", "csv", &input, "--row", "id"];
    let put = [&put[..], &["--type", "f:age=int16", "--timestamp", "at", "--ack", "--batch", "1"]]
        .concat();
    // Batches end between records, so both cells of a record are acknowledged together.
    assert_eq!(stdout(&put), "ACK 2\nACK 4\n");
    assert_eq!(
        cells(&store),
        [
            "1,f,age,17,Put,\\x00)",
            "1,f,name,17,Put,Ann",
            "2,f,age,1700006400000,Put,\\x00\\x07",
            "2,f,name,1700006400000,Put,Bob",
        ]
    );
}

#[test]
fn a_column_of_another_family_is_refused_before_anything_is_written() {
    let (directory, store, input) = with_store("id,g:name\n1,Ann\n");
    let put = ["store", "put", &store, "f", "--from", "csv", &input];
    tells(2, &[&put[..], &["--row", "id"]].concat())
        .has("in.csv: a column has the family g, expected f");
    fs::write(path(&directory, "in.csv"), "row,family,ts\nr1,f,1\nr2,g,1\n").expect("writable");
    tells(3, &put).has("in.csv: line 3: cell of family g, expected f");
}

#[test]
fn a_failed_put_prints_where_to_resume() {
    let csv = "id,n\nr1,1\nr2,2\nr3,x\nr4,4\nr5,5\n";
    let (directory, store, input) = with_store(csv);
    let typed = ["--row", "id", "--type", "f:n=int16"];
    let put = ["store", "put", &store, "f", "--from", "csv", &input, "--timestamp", "5"];
    let put = [&put[..], &typed].concat();
    let (status, said) = failure(&put);
    assert_eq!(status, 3);
    let said = said.replace(&input, "in.csv");
    let go_on = "hfile: 2 cells stored from the records before line 4; resume with --from-line 4\n";
    assert!(said.starts_with(go_on), "{said}");
    assert!(
        said.contains("hfile: in.csv: line 4: column \"n\": \"x\" is not of type int16"),
        "{said}"
    );
    assert_eq!(cells(&store).len(), 2, "the sound lines before it are written");

    fs::write(path(&directory, "in.csv"), csv.replace('x', "3")).expect("writable");
    // Only the records from that line on are written.
    assert_eq!(stdout(&[&put[..], &["--from-line", "4", "--ack"]].concat()), "ACK 3\n");
    let rows: Vec<String> = cells(&store).iter().map(|cell| cell[..2].to_owned()).collect();
    assert_eq!(rows, ["r1", "r2", "r3", "r4", "r5"]);

    let (_directory, store, input) = with_store(csv);
    let put = ["store", "put", &store, "f", "--from", "csv", &input, "--bad-lines", "skip"];
    tells(0, &[&put[..], &typed].concat()).has("skipped 1 line");
    assert_eq!(cells(&store).len(), 4);
}

/// Wherever the bad record is: also behind records of several lines, empty lines and records without cells.
#[test]
fn a_put_that_resumes_as_advised_stores_every_record() {
    let record = |number: usize| match number % 5 {
        1 => format!("r{number},\"over\n\ntwo lines\"\n"),
        2 => format!("\nr{number},{number}\n"),
        3 => format!("r{number},\n"),
        _ => format!("r{number},{number}\n"),
    };
    for bad in 0..12 {
        for (number, what) in [",no row\n", "r99,\"open\n", "r99,1,2\n"].into_iter().enumerate() {
            let of = |at: usize| if at == bad { what.to_owned() } else { record(at) };
            let csv: String = (0..12).map(of).collect();
            let (_directory, store, input) = with_store(&format!("id,n\n{csv}"));
            let put = ["store", "put", &store, "f", "--from", "csv", &input, "--timestamp", "5"];
            let batch = (number + 1).to_string();
            let put = [&put[..], &["--row", "id", "--null", "", "--batch", &batch]].concat();
            let (status, said) = failure(&put);
            assert_eq!(status, 3, "{said}");
            let (_, advised) = said.split_once("resume with --from-line ").expect(&said);
            let advised = advised.lines().next().expect("a line");
            // The same problem again: nothing was skipped.
            let (_, again) = failure(&[&put[..], &["--from-line", advised]].concat());
            let problem = |said: &str| said.lines().nth(1).map(str::to_owned);
            assert_eq!(problem(&again), problem(&said), "{advised}");
            fs::write(&input, format!("id,n\n{csv}").replacen(what, "r99,mended\n", 1))
                .expect("ours");
            stdout(&[&put[..], &["--from-line", advised]].concat());
            let stored = cells(&store).len();
            let null = (0..12).filter(|number| number % 5 == 3 && *number != bad).count();
            assert_eq!(stored, 12 - null, "bad record {bad}, {what:?}, from line {advised}");
        }
    }
}

#[test]
fn lines_before_from_line_are_skipped_even_if_invalid() {
    let (directory, store, input) = with_store("id,n\n,1\nr2,\"2\nr3,3\nr4,4\n");
    let put = ["store", "put", &store, "f", "--from", "csv", &input, "--row", "id"];
    let put = [&put[..], &["--timestamp", "5", "--from-line"]].concat();
    shows(0, &[&put[..], &["4", "--dry-run"]].concat()).has("2 cells from 2 records");
    assert_eq!(stdout(&[&put[..], &["4", "--ack"]].concat()), "ACK 2\n");
    assert_eq!(cells(&store), ["r3,f,n,5,Put,3", "r4,f,n,5,Put,4"]);
    for dry in [&[][..], &["--dry-run"]] {
        tells(2, &[&put[..], &["4000"], dry].concat()).has("--from-line 4000: no record");
    }
    let cell = put_line("c", "", 1, "");
    let input = path(&directory, "in.ndjson");
    fs::write(&input, format!("nonsense\n{cell}nonsense\n")).expect("disk takes it");
    let put = ["store", "put", &store, "f", "--from", "cells", &input, "--from-line", "2"];
    let (_, said) = failure(&put);
    assert!(said.starts_with("hfile: 1 cell stored from the records before line 3;"), "{said}");
}

#[test]
fn a_truncated_input_resumes_after_the_stored_records() {
    let rows: Vec<String> = (0..9_000_u64)
        .map(|row| format!("r{row:05},{}\n", row.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let csv = format!("id,n\n{}", rows.concat());
    let (directory, store, input) = with_store(&csv);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(csv.as_bytes()).expect("memory takes it");
    let bytes = gzip.finish().expect("memory takes it");
    let cut = path(&directory, "cut.csv.gz");
    fs::write(&cut, &bytes[..bytes.len() - 9]).expect("disk takes it");
    let put = ["store", "put", &store, "f", "--row", "id", "--timestamp", "5", "--from", "csv"];
    let (status, said) = failure(&[&put[..], &[&cut]].concat());
    assert_eq!(status, 3);
    let stored = cells(&store).len();
    assert!(stored > 0);
    let go_on = format!("resume with --from-line {}", stored + 2);
    assert!(said.contains(&go_on), "{stored} stored: {said}");
    if stored < rows.len() {
        let line = (stored + 2).to_string();
        stdout(&[&put[..], &[&input, "--from-line", &line]].concat());
    }
    assert_eq!(cells(&store).len(), rows.len());
}

/// Ctrl-C comes while the process waits for input, with nothing stored.
#[cfg(unix)]
#[test]
fn ctrl_c_while_skipping_prints_the_given_line() {
    let (_directory, store, _) = with_store("");
    let mut child = start_put(&store, &["--from-line", "9"]);
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"id,n\nr1,1\n").expect("it reads");
    // A message on stderr shows that the header was read; soon after, the handler is set.
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    let mut said = String::new();
    stderr.read_line(&mut said).expect("text");
    assert!(said.contains("the cells get the timestamp"), "{said}");
    std::thread::sleep(std::time::Duration::from_millis(500));
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    said.clear();
    stderr.read_line(&mut said).expect("text");
    let go_on = "hfile: 0 cells stored from the records before line 9; resume with --from-line 9\n";
    assert_eq!(said, go_on);
    drop(stdin);
}

#[test]
fn a_dry_run_of_put_opens_no_store() {
    let (directory, store, input) = with_store("id,n\nr1,1\n,2\n");
    fs::remove_dir_all(&store).expect("ours");
    let put = ["store", "put", &store, "f", "--from", "csv", &input, "--row", "id", "--dry-run"];
    shows(1, &put).has_all(&[
        "1 cell from 1 record; nothing was written",
        "  line 3: column \"id\": the row is empty",
    ]);
    fs::write(path(&directory, "in.csv"), "id,n\nr1,1\n").expect("writable");
    assert_eq!(json(&[&put[..], &["--json"]].concat())["problems"], 0);
    assert!(!fs::exists(&store).expect("readable"));
}

/// Ctrl-C comes while the process waits for input.
#[cfg(unix)]
#[test]
fn ctrl_c_prints_where_to_resume() {
    let (_directory, store, _) = with_store("");
    let mut child = start_put(&store, &["--ack", "--batch", "1"]);
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"id,n\nr1,\"over\ntwo lines\"\nr2,2\n").expect("it reads");
    let acknowledged = BufReader::new(child.stdout.take().expect("piped")).lines().take(2);
    assert_eq!(acknowledged.last().expect("two lines").expect("text"), "ACK 2");
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let said = text(&output.stderr);
    let go_on = "hfile: 2 cells stored from the records before line 5; resume with --from-line 5\n";
    assert!(said.ends_with(go_on), "{said}");
    drop(stdin);
    assert_eq!(cells(&store).len(), 2);
}

/// A writer that waits for each acknowledgement does not block.
#[test]
fn a_record_is_acknowledged_before_the_next_one_is_read() {
    let (_directory, store, _) = with_store("");
    let mut child = start_put(&store, &["--ack", "--batch", "1"]);
    let mut stdin = child.stdin.take().expect("piped");
    let mut acknowledged = BufReader::new(child.stdout.take().expect("piped")).lines();
    stdin.write_all(b"id,n\n").expect("it reads");
    for row in 1..4 {
        writeln!(stdin, "r{row},{row}").expect("it reads");
        stdin.flush().expect("it reads");
        let line = acknowledged.next().expect("a line").expect("text");
        assert_eq!(line, format!("ACK {row}"));
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}
