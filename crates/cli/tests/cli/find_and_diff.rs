//! `hfile find` and `hfile diff`.

use std::path::Path;

use serde_json::Value;

use crate::command_line::hfile_in;

/// Status and output.
fn run(directory: &Path, args: &[&str]) -> (i32, String) {
    let output = hfile_in(directory, args);
    let stdout = String::from_utf8(output.stdout).expect("output is text");
    (output.status.code().expect("no signal ended it"), stdout)
}

/// Writes an HFile of puts: row, value, timestamp.
fn build(directory: &Path, name: &str, cells: &[(&str, &str, i64)], settings: &[&str]) {
    let line =
        |(row, value, millis): &(&str, &str, i64)| format!("{row},f,q,{millis},Put,{value},1\n");
    let csv: String = cells.iter().map(line).collect();
    let csv = format!("row,family,qualifier,ts,type,value,seq\n{csv}");
    std::fs::write(directory.join("cells.csv"), csv).expect("the directory is ours");
    let args = ["build", "--from", "csv", "cells.csv", "--output", name];
    let output = hfile_in(directory, &[&args[..], settings].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn find_shows_which_files_can_hold_a_row_and_why() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    build(directory, "early", &[("a", "1", 10), ("m", "1", 10)], &[]);
    build(directory, "other", &[("b", "1", 90), ("n", "1", 90)], &[]);
    build(directory, "plain", &[("b", "1", 90), ("n", "1", 90)], &["--bloom-type", "NONE"]);
    build(directory, "behind", &[("x", "1", 90)], &[]);
    build(directory, "columns", &[("c", "1", 90), ("n", "1", 90)], &["--bloom-type", "ROWCOL"]);
    let files = ["early", "other", "plain", "behind", "columns"];

    let find = |options: &[&str], row: &str| {
        let (status, out) =
            run(directory, &[&["find", "--json"], options, &files[..], &[row]].concat());
        let why = |line: &str| {
            let report: Value = serde_json::from_str(line).expect("one object a line");
            assert_eq!(report["schema"], 1);
            report["why"].as_str().expect("a reason").to_owned()
        };
        (status, out.lines().map(why).collect::<Vec<_>>())
    };
    let (maybe, no) = ("passed-by-filter", "denied-by-filter");
    assert_eq!(
        find(&[], "m"),
        (
            0,
            vec![
                maybe.into(),
                no.into(),
                "no-filter".into(),
                "out-of-range".into(),
                "no-filter".into()
            ]
        )
    );
    let by_time = ["out-of-time", no, "no-filter", "out-of-range", "no-filter"];
    assert_eq!(find(&["--min-ts", "11"], "m"), (0, by_time.map(String::from).to_vec()));
    let by_column = [maybe, no, "no-filter", "out-of-range", no];
    assert_eq!(find(&["--column", "q"], "m"), (0, by_column.map(String::from).to_vec()));
    let nowhere = ["out-of-range"; 5];
    assert_eq!(find(&[], "zz"), (1, nowhere.map(String::from).to_vec()));

    let (status, out) = run(directory, &["find", "early", "behind", "m"]);
    assert_eq!(status, 0);
    assert!(
        out.contains("maybe: its filter says maybe") && out.contains("no: outside its key range")
    );
    let told = hfile_in(directory, &["find", "early", "m", "n"]).stderr;
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("find takes one row, the last argument; m is read as a path"), "{told}");
    let by_date = find(&["--min-ts", "1970-01-01T00:00:00.011Z"], "m");
    assert_eq!(by_date, find(&["--min-ts", "11"], "m"));
    assert_eq!(run(directory, &["find", "--min-ts", "5", "--max-ts", "4", "early", "m"]).0, 2);
    assert_eq!(run(directory, &["find", "absent", "m"]).0, 3);
}

#[test]
fn diff_counts_and_prints_differences() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    let cells = [("a", "1", 10), ("b", "2", 10), ("c", "3", 10)];
    build(directory, "one", &cells, &[]);
    let settings =
        ["--data-block-encoding", "FAST_DIFF", "--compression", "LZ4", "--bloom-type", "NONE"];
    build(directory, "same", &cells, &settings);
    build(directory, "other", &[("a", "1", 10), ("b", "x", 10), ("d", "4", 10)], &[]);

    assert_eq!(run(directory, &["diff", "one", "same"]), (0, "the same 3 cells\n".into()));
    let (status, out) = run(directory, &["diff", "one", "other"]);
    let expected = "* b/f:q/10/Put/vlen=1/seqid=1\n- c/f:q/10/Put/vlen=1/seqid=1\n\
        + d/f:q/10/Put/vlen=1/seqid=1\n\
        1 cell the same, 1 only in the first, 1 only in the second, 1 different\n";
    assert_eq!((status, out.as_str()), (1, expected));
    let (status, out) = run(directory, &["diff", "--limit", "1", "one", "other"]);
    assert_eq!((status, out.lines().count()), (1, 3));
    assert!(out.contains("… and 2 further differences"), "{out}");
    let (status, out) = run(directory, &["diff", "--json", "one", "other"]);
    let report: Value = serde_json::from_str(&out).expect("one object");
    let counts =
        ["equal", "only_left", "only_right", "differing"].map(|name| report[name].as_u64());
    assert_eq!((status, counts), (1, [Some(1); 4]));
}

#[test]
fn diff_can_ignore_sequence_ids() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    build(directory, "kept", &[("a", "1", 10), ("b", "2", 10)], &[]);
    build(directory, "lost", &[("a", "1", 10), ("b", "2", 10)], &["--includes-mvcc", "false"]);
    assert_eq!(run(directory, &["diff", "kept", "lost"]).0, 1);
    assert_eq!(run(directory, &["diff", "--ignore-sequence-ids", "kept", "lost"]).0, 0);
}

/// HBase returns the cell of the newest file: of equal sequence ids, that with fewer bytes.
#[test]
fn diff_merges_equal_keys_in_the_order_of_the_files_ages() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    for name in ["parts", "bulk"] {
        std::fs::create_dir(directory.join(name)).expect("the directory is ours");
    }
    let old = [("b", "old", 5), ("c", "old", 5), ("d", "old", 5)];
    build(directory, "parts/00000000000000000000000000000001", &old, &[]);
    build(directory, "parts/00000000000000000000000000000002", &[("b", "new", 5)], &[]);
    let merged = [("b", "new", 5), ("b", "old", 5), ("c", "old", 5), ("d", "old", 5)];
    build(directory, "merged", &merged, &[]);
    assert_eq!(run(directory, &["diff", "merged", "parts"]), (0, "the same 4 cells\n".into()));

    // The sequence id in the name of a bulk-loaded file replaces those of its cells.
    build(directory, "bulk/00000000000000000000000000000001", &[("b", "new", 5)], &[]);
    build(directory, "bulk/00000000000000000000000000000002_SeqId_9_", &old, &[]);
    let merged = [("b", "old", 5), ("b", "new", 5), ("c", "old", 5), ("d", "old", 5)];
    build(directory, "merged", &merged, &["--force"]);
    assert_eq!(run(directory, &["diff", "merged", "bulk"]), (0, "the same 4 cells\n".into()));
}

/// Sequence ids that are less, equal and greater, in files that have cells of the same keys.
#[test]
fn diff_pairs_cells_of_equal_keys_by_their_sequence_ids() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    let write = |name: &str, ids: &[u64]| {
        let line = |id: &u64| format!("a,f,q,5,Put,v,{id}\n");
        let csv: String = ids.iter().map(line).collect();
        let csv = format!("row,family,qualifier,ts,type,value,seq\n{csv}b,f,q,5,Put,v,1\n");
        std::fs::write(directory.join("cells.csv"), csv).expect("the directory is ours");
        let build = ["build", "--from", "csv", "cells.csv", "--output", name, "--force"];
        assert_eq!(run(directory, &build).0, 0);
    };
    for (left, right, only_left, only_right) in [
        (&[9, 5, 2][..], &[7, 5, 1][..], &[9, 2][..], &[7, 1][..]),
        (&[9, 5], &[5], &[9], &[]),
        (&[5], &[9, 5, 2], &[], &[9, 2]),
        (&[9, 8], &[9, 8], &[], &[]),
        (&[1], &[2], &[1], &[2]),
    ] {
        write("left", left);
        write("right", right);
        let (status, out) = run(directory, &["diff", "left", "right"]);
        assert_eq!(status, i32::from(!only_left.is_empty() || !only_right.is_empty()), "{out}");
        let ids_after = |sign: char| -> Vec<u64> {
            let lines = out.lines().filter_map(|line| line.strip_prefix(sign));
            lines
                .map(|line| line.rsplit_once("seqid=").expect("an id").1.parse().expect("a number"))
                .collect()
        };
        assert_eq!((&ids_after('-')[..], &ids_after('+')[..]), (only_left, only_right), "{out}");
        let (status, _) = run(directory, &["diff", "--ignore-sequence-ids", "left", "right"]);
        assert_eq!(status, i32::from(left.len() != right.len()), "{out}");
    }
}

/// Of each kind of file: with tags, empty, of hbase:meta, of delete markers, with every encoding and codec.
#[test]
fn diff_names_the_one_cell_that_a_file_lacks() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/hfile");
    let mut compared = 0;
    for entry in std::fs::read_dir(&data).expect("readable") {
        let file = entry.expect("readable").path();
        let len = file.metadata().expect("it").len();
        if file.extension().is_none_or(|extension| extension != "hfile") || len > 100_000 {
            continue;
        }
        let file = file.to_str().expect("UTF-8");
        let (status, cells) = run(directory, &["cat", "--format", "cells", file]);
        assert_eq!(status, 0, "{file}");
        let lines: Vec<&str> = cells.lines().collect();
        let without = lines.len() / 2;
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != without).map(|(_, line)| *line);
        let kept: Vec<_> = kept.chain([""]).collect();
        std::fs::write(directory.join("cells.ndjson"), kept.join("\n")).expect("ours");
        let order = if file.contains("/m0") { &["--comparator", "META"][..] } else { &[] };
        let build = ["build", "--from", "cells", "cells.ndjson", "--output", "rebuilt", "--force"];
        let tags = ["--includes-tags", "true"];
        let output = hfile_in(directory, &[&build[..], &tags, order].concat());
        assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
        let equal = kept.len() - 1;
        let lost = usize::from(!lines.is_empty());
        for (left, right, counts) in
            [(file, "rebuilt", [equal, lost, 0]), ("rebuilt", file, [equal, 0, lost])]
        {
            let (status, out) = run(directory, &["diff", "--json", left, right]);
            let report: Value = serde_json::from_str(&out).expect("one object");
            let found = ["equal", "only_left", "only_right"].map(|name| report[name].as_u64());
            assert_eq!(found, counts.map(|count| Some(count as u64)), "{left} {right}: {out}");
            assert_eq!((status, report["differing"].as_u64()), (lost as i32, Some(0)), "{out}");
        }
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}
