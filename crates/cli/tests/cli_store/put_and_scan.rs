//! `hfile store`: put of one row, scans by column and value, and what the writing verbs report.

use serde_json::Value;

use crate::command_line::text;
use crate::store_command::{hfile, json, store, tells};

#[test]
fn put_writes_the_columns_of_a_row() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    store(directory, &["create", "s", "g"]);
    let said = store(directory, &["put", "s", "row1", "f:name=Ada", "g:a=b=c", "--ts", "5"]);
    assert_eq!(said, "2 cells written, sequence id 1\n");
    let written =
        json(directory, &["put", "s", "hex:00ff", "f:\\x00=hex:01", "--durability", "FSYNC_WAL"]);
    assert_eq!((&written["cells"], &written["sequence_id"]), (&1.into(), &2.into()));
    assert!(written["seconds"].is_f64());
    let cells = store(directory, &["get", "s", "row1"]);
    assert_eq!(
        cells,
        "K: row1/f:name/5/Put/vlen=3/seqid=1 V: Ada\nK: row1/g:a/5/Put/vlen=3/seqid=1 V: b=c\n"
    );
    let cells = store(directory, &["get", "s", "hex:00ff"]);
    assert!(
        cells.starts_with("K: \\x00\\xFF/f:\\x00/") && cells.ends_with(" V: \\x01\n"),
        "{cells}"
    );

    // A wrong column writes nothing of the row.
    for (args, status, expected) in [
        (&["row2", "f:name=Ada", "f:born"][..], 2, "f:born: no = before a value"),
        (&["row2", "f:name=Ada", "born=1815"], 2, "born=1815: no family and colon"),
        (&["row2", "f:name=hex:0"], 2, "pairs of hex digits"),
        (
            &["row2", "f:name=Ada", "h:name=Ada"],
            2,
            "the store has no family h; its families are f, g",
        ),
        (&["f", "cells.ndjson"], 2, "read a file with --from cells"),
        (&["row2", "f:name=Ada", "--row", "id"], 2, "--row needs --from csv"),
        (&["row2", "f:name=Ada", "--ack"], 2, "--from"),
        (&["f", "--from", "cells", "a", "b"], 2, "reads one input file, and 2 arguments"),
        (&["f", "--from", "cells", "a", "--ts", "5"], 2, "--ts"),
        (&["f", "--from", "cells", "a", "--ack", "--json"], 2, "exclude each other"),
        (&["f"], 2, "COLUMN|IN"),
    ] {
        let output = hfile(directory, &[&["put", "s"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    let missing = hfile(directory, &["get", "s", "row2"]);
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn get_names_the_rows_that_it_did_not_find() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    store(directory, &["put", "s", "row1", "f:name=Ada"]);
    let output = hfile(directory, &["get", "s", "row0", "row1", "hex:00"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "hfile: row not found: row0\nhfile: row not found: \\x00\n");
}

#[test]
fn get_tells_an_absent_row_from_one_whose_cells_are_deleted_or_expired() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f", "--ttl", "100"]);
    store(directory, &["put", "s", "expired", "f:q=1", "--ts", "1000"]);
    for row in ["deleted", "partly"] {
        store(directory, &["put", "s", row, "f:q=1"]);
    }
    store(directory, &["put", "s", "partly", "f:r=1"]);
    for row in ["deleted", "partly", "marker"] {
        store(directory, &["delete", "s", row, "f:q"]);
    }
    let hidden = |row: &str| {
        format!(
            "hfile: row not found: {row}; deleted or expired cells of it are stored: see them with --raw\n"
        )
    };
    for (row, expected) in [
        ("expired", hidden("expired")),
        ("deleted", hidden("deleted")),
        ("marker", hidden("marker")),
        ("absent", "hfile: row not found: absent\n".to_owned()),
        ("partly", String::new()),
    ] {
        let output = hfile(directory, &["get", "s", row]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
        // As the message says.
        let output = hfile(directory, &["get", "s", row, "--raw"]);
        assert_eq!(output.status.success(), row != "absent", "{row}");
    }
}

#[test]
fn scan_selects_by_row_prefix_column_and_value() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f", "--versions", "2"]);
    for (row, name) in [("user1", "Ada"), ("user2", "Charles"), ("page1", "Ada")] {
        let (name, mail) = (format!("f:name={name}"), format!("f:mail={row}@example.com"));
        store(directory, &["put", "s", row, &name, &mail, "f:nation=UK", "--ts", "5"]);
    }
    store(directory, &["put", "s", "user1", "f:name=Augusta", "--ts", "6"]);
    let rows = |args: &[&str]| -> Vec<String> {
        let text = store(directory, &[&["scan", "s", "f"], args].concat());
        let key = |line: &str| {
            let key: Vec<_> = line.trim_start_matches("K: ").split('/').take(3).collect();
            key.join("/")
        };
        text.lines().map(key).collect()
    };
    assert_eq!(
        rows(&["--prefix", "user", "--qualifier", "name"]),
        ["user1/f:name/6", "user2/f:name/5"]
    );
    assert_eq!(
        rows(&["--prefix", "page"]),
        ["page1/f:mail/5", "page1/f:name/5", "page1/f:nation/5"]
    );
    let two = ["--prefix", "user2", "--qualifier", "nation", "--qualifier", "mail"];
    assert_eq!(rows(&two), ["user2/f:mail/5", "user2/f:nation/5"]);
    let prefix = ["--qualifier-prefix", "na", "--start", "user2"];
    assert_eq!(rows(&prefix), ["user2/f:name/5", "user2/f:nation/5"]);
    assert_eq!(rows(&["--value-contains", "Ada"]), ["page1/f:name/5", "user1/f:name/5"]);
    let mail = ["--value-contains", "\\x40example", "--limit", "1", "--reverse"];
    assert_eq!(rows(&mail), ["user2/f:mail/5"]);
    assert_eq!(rows(&["--value-contains", "hex:ff"]), [""; 0]);
    for verb in [&["get", "s", "user1"][..], &["scan", "s", "f"]] {
        let cells = store(directory, &[verb, &["--json"]].concat());
        assert_eq!(cells, store(directory, &[verb, &["--format", "cells"]].concat()));
        let first: Value =
            serde_json::from_str(cells.lines().next().expect("cells")).expect("JSON");
        assert!(first.is_object(), "{first}");
    }
}

#[test]
fn writing_verbs_report_what_they_did() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    assert_eq!(store(directory, &["flush", "s"]), "nothing to flush\n");
    assert_eq!(json(directory, &["flush", "s"])["families"], serde_json::json!([]));
    assert_eq!(store(directory, &["compact", "s", "--major"]), "nothing to compact\n");
    for row in ["row1", "row2"] {
        store(directory, &["put", "s", row, "f:name=Ada", "f:born=1815"]);
        let flushed = json(directory, &["flush", "s"]);
        let change = &flushed["families"][0];
        assert_eq!(change["family"], "f");
        assert_eq!(
            (&change["before"]["memstore_cells"], &change["after"]["memstore_cells"]),
            (&2.into(), &0.into())
        );
        assert_eq!(
            change["after"]["files"],
            change["before"]["files"].as_u64().expect("a number") + 1
        );
    }
    assert_eq!(store(directory, &["delete", "s", "row1", "f"]), "1 cell written, sequence id 3\n");
    assert_eq!(json(directory, &["delete", "s", "row1", "f:name"])["cells"], 1);
    let sum = json(directory, &["increment", "s", "f", "row3", "n", "--amount", "7"]);
    assert_eq!((&sum["sum"], &sum["sequence_id"]), (&7.into(), &5.into()));
    assert_eq!(json(directory, &["append", "s", "f", "row3", "text", "more"])["cells"], 1);
    let text = store(directory, &["compact", "s", "f", "--major"]);
    assert!(text.starts_with("f: files 2 → 1, "), "{text}");
    assert!(text.contains("cells in files 4 → 4, in memstores 4 → 0"), "{text}");

    let checkpoint = json(directory, &["checkpoint", "s", "copy"]);
    assert_eq!((&checkpoint["checkpoint"], &checkpoint["files"]), (&"copy".into(), &1.into()));
    let said = store(directory, &["checkpoint", "s", "other"]);
    assert!(said.starts_with("other: 1 file, "), "{said}");
    store(directory, &["create", "t", "f"]);
    let family = std::fs::read_dir(directory.join("s/f")).expect("readable");
    let file = family.map(|file| file.expect("readable").path()).next().expect("one file");
    let imported = json(directory, &["import", "t", "f", file.to_str().expect("text")]);
    assert_eq!(imported["families"][0]["after"]["file_cells"], 4);
    let said = store(directory, &["import", "t", "f", file.to_str().expect("text")]);
    assert!(said.starts_with("f: files 1 → 2, "), "{said}");
}

#[test]
fn delete_takes_a_row_and_a_family_or_a_column() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    for family in ["f", "g"] {
        store(directory, &["create", "s", family]);
    }
    let shown = |row: &str| text(&hfile(directory, &["get", "s", row]).stdout).lines().count();
    for (row, arguments, left) in [
        ("r1", &["r1", "f:a"][..], 3),
        ("r2", &["r2", "f"], 2),
        ("x:y", &["x:y", "f"], 2),
        ("f", &["f", "g"], 2),
        ("hex:67", &["hex:67", "f"], 2),
        ("r5", &["r5", "f:"], 4),
    ] {
        store(directory, &["put", "s", row, "f:a=1", "f:b=1", "g:a=1", "g:b=1"]);
        store(directory, &[&["delete", "s"], arguments].concat());
        assert_eq!(shown(row), left, "{arguments:?}");
    }
    tells(2, directory, &["delete", "s", "r1", "h"]).has("no family h; its families are f, g\n");
    tells(2, directory, &["delete", "s", "r1", "f", "a"]).has("unexpected argument 'a'");
    for verb in [&["append", "s", "h", "r1", "q", "v"][..], &["increment", "s", "h", "r1", "q"]] {
        tells(2, directory, verb).has("no family h; its families are f, g\n");
    }
}

#[test]
fn raw_reads_show_all_stored_cells() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    store(directory, &["create", "s", "g"]);
    for (time, value) in [("1", "f:q=a"), ("2", "f:q=b"), ("3", "g:q=c")] {
        store(directory, &["put", "s", "row1", value, "--ts", time]);
    }
    store(directory, &["put", "s", "row1\\x00", "f:q=d", "--ts", "4"]);
    store(directory, &["delete", "s", "row1", "f:q", "--ts", "1"]);
    let lines = |args: &[&str]| store(directory, args).lines().count();
    assert_eq!(lines(&["scan", "s", "f"]), 2);
    assert_eq!(lines(&["scan", "s", "f", "--raw"]), 4);
    assert_eq!(lines(&["scan", "s", "f", "--raw", "--versions", "1"]), 3);
    assert_eq!(lines(&["get", "s", "row1"]), 2);
    assert_eq!(lines(&["get", "s", "row1", "--raw"]), 4);
    assert_eq!(lines(&["get", "s", "row1", "--raw", "--max-ts", "1970-01-01T00:00:00.002Z"]), 2);
    assert_eq!(lines(&["get", "s", "row1", "--raw", "--versions", "1", "--min-ts", "2"]), 2);
    assert_eq!(hfile(directory, &["get", "s", "row2", "--raw"]).status.code(), Some(1));
    let said = store(directory, &["flush", "s"]);
    let dropped = "f: files 0 → 1, ";
    assert!(said.starts_with(dropped) && said.contains("; 1 cell dropped: deleted, "), "{said}");
}

/// With `--ack`, stdout has the acknowledgements only.
#[test]
fn put_from_a_file_reports_cells_and_keeps_stdout_for_acknowledgements() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f"]);
    std::fs::write(directory.join("cells.csv"), "id,name\n1,Ada\n2,Charles\n").expect("writable");
    let put = ["put", "s", "f", "--from", "csv", "cells.csv", "--row", "id"];
    assert_eq!(store(directory, &put), "2 cells written, sequence id 1\n");
    assert_eq!(json(directory, &put)["cells"], 2);
    let acked = hfile(directory, &[&put[..], &["--ack", "--batch", "1"]].concat());
    assert_eq!(String::from_utf8_lossy(&acked.stdout), "ACK 1\nACK 2\n");
    let said = String::from_utf8_lossy(&acked.stderr);
    assert!(said.contains("hfile: 2 cells written, sequence id 4"), "{said}");
}
