//! `hfile store put --from csv`: writes CSV to a store, and resumes after a bad line.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::command_line::{command, directory, failure, interrupt, path, stdout, text};

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
