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
