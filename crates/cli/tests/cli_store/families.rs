//! `hfile store`: describe, alter and drop-family.

use std::fs;

use serde_json::Value;
use support::cells::put_line;

use crate::store_command::{hfile, json, store, tells};

#[test]
fn describe_shows_all_settings_under_hbases_names() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    assert_eq!(store(directory, &["create", "s", "f"]), "family f created\n");
    let created = json(
        directory,
        &[
            "create",
            "s",
            "g",
            "--versions",
            "3",
            "--ttl",
            "60",
            "--in-memory",
            "--filter",
            "ribbon",
        ],
    );
    assert_eq!((&created["family"], &created["settings"]["TTL"]), (&"g".into(), &"60".into()));
    store(directory, &["put", "s", "row1", "f:name=Ada"]);
    store(directory, &["flush", "s"]);
    store(directory, &["put", "s", "row2", "f:name=Ada"]);
    let text = store(directory, &["describe", "s"]);
    assert!(
        text.starts_with(
            "{NAME => 'f', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', VERSIONS => '1', \
             KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', COMPRESSION => 'NONE', \
             TTL => 'FOREVER', MIN_VERSIONS => '0', BLOCKSIZE => '65536', \
             FAMILY_MAP => 'AUTO'}\n  1 file, "
        ),
        "{text}"
    );
    assert!(text.contains(", 1 cell in files, 1 in memstores\n"), "{text}");
    let both = json(directory, &["describe", "s"]);
    assert_eq!(both["families"].as_array().map(Vec::len), Some(2));
    let one = json(directory, &["describe", "s", "g"]);
    let family = &one["families"][0];
    for (name, value) in [
        ("VERSIONS", "3"),
        ("TTL", "60"),
        ("IN_MEMORY", "true"),
        ("ROW_FILTER", "ribbon"),
        ("ROW_FILTER_SIZING", "error rate 0.01"),
    ] {
        assert_eq!(family["settings"][name], value, "{name}");
    }
    assert_eq!((family["files"].as_u64(), family["file_bytes"].as_u64()), (Some(0), Some(0)));
    tells(2, directory, &["describe", "s", "h"])
        .has("the store has no family h; its families are f, g\n");
}

#[test]
fn alter_changes_what_is_given_and_keeps_the_rest() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f", "--versions", "3", "--ttl", "60"]);
    for ts in ["1000", "2000", "3000"] {
        store(directory, &["put", "s", "row1", "f:name=Ada", "--ts", ts, "--now", "3000"]);
    }
    let count =
        || store(directory, &["scan", "s", "--versions", "9", "--now", "3000"]).lines().count();
    assert_eq!(count(), 3);
    let text = store(directory, &["alter", "s", "f", "--versions", "2", "--compression", "GZ"]);
    assert_eq!(text, "f: VERSIONS 3 → 2\nf: COMPRESSION NONE → GZ\n");
    assert_eq!(count(), 2, "reads follow at once");
    let again = store(directory, &["alter", "s", "f", "--versions", "2"]);
    assert_eq!(again, "family f has these settings already\n");
    let changed = json(
        directory,
        &[
            "alter",
            "s",
            "f",
            "--ttl",
            "FOREVER",
            "--filter",
            "ribbon",
            "--filter-bits-per-key",
            "9",
        ],
    );
    assert_eq!(changed["settings"]["VERSIONS"], "2");
    let expected = serde_json::json!([
        {"setting": "TTL", "before": "60", "after": "FOREVER"},
        {"setting": "ROW_FILTER", "before": null, "after": "ribbon"},
        {"setting": "ROW_FILTER_SIZING", "before": null, "after": "9 bits per key"},
    ]);
    assert_eq!(changed["changed"], expected);
    let none = json(directory, &["alter", "s", "f", "--filter", "NONE"]);
    assert_eq!(none["changed"][0]["after"], Value::Null);

    // The length of a row prefix is kept, or changed alone.
    let prefix = "ROWPREFIX_FIXED_LENGTH";
    store(directory, &["alter", "s", "f", "--bloom-type", prefix, "--bloom-prefix-length", "4"]);
    let text = store(directory, &["alter", "s", "f", "--bloom-prefix-length", "5"]);
    assert_eq!(text, "f: RowPrefixBloomFilter.prefix_length 4 → 5\n");
    store(directory, &["alter", "s", "f", "--bloom-type", "ROW"]);
    for (args, expected) in [
        (&["f", "--bloom-type", prefix][..], "needs --bloom-prefix-length"),
        (&["f", "--ttl", "0"], "at least 1, or FOREVER"),
        (&["f", "--compression", "BZIP"], "possible values: NONE, GZ"),
        (&["f", "--versions", "0"], "0 is not in 1.."),
        (&["g", "--versions", "1"], "the store has no family g; its family is f\n"),
    ] {
        tells(2, directory, &[&["alter", "s"], args].concat()).has(expected);
    }
    for args in
        [&["create", "s", "h"][..], &["get", "s", "r"], &["scan", "s"], &["explain", "s", "r"]]
    {
        tells(2, directory, &[args, &["--versions", "0"]].concat()).has("0 is not in 1..");
    }
    let described = json(directory, &["describe", "s"]);
    assert_eq!(described["families"][0]["settings"]["BLOOMFILTER"], "ROW");
}

#[test]
fn the_family_map_is_set_by_create_and_alter() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f", "--family-map", "wide"]);
    store(directory, &["create", "s", "g"]);
    let mode = |family| {
        let described = json(directory, &["describe", "s", family]);
        described["families"][0]["settings"]["FAMILY_MAP"].clone()
    };
    // Each command opens the store again.
    assert_eq!((mode("f"), mode("g")), ("WIDE".into(), "AUTO".into()));
    let text = store(directory, &["alter", "s", "f", "--family-map", "AUTO"]);
    assert_eq!(text, "f: FAMILY_MAP WIDE → AUTO\n");
    let text = store(directory, &["alter", "s", "g", "--family-map", "OFF"]);
    assert_eq!(text, "g: FAMILY_MAP AUTO → OFF\n");
    store(directory, &["alter", "s", "g", "--versions", "2"]);
    assert_eq!((mode("f"), mode("g")), ("AUTO".into(), "OFF".into()));
    for verb in ["create", "alter"] {
        tells(2, directory, &[verb, "s", "f", "--family-map", "ON"])
            .has("possible values: OFF, FILES, WIDE, AUTO");
    }
}

#[test]
fn drop_family_removes_cells_and_files_and_says_what_it_removed() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    for family in ["f", "g"] {
        store(directory, &["create", "s", family]);
        store(directory, &["put", "s", "row1", &format!("{family}:name=Ada")]);
    }
    store(directory, &["flush", "s"]);
    store(directory, &["put", "s", "row2", "f:name=Ada", "f:born=1815"]);
    let dropped = json(directory, &["drop-family", "s", "f"]);
    let removed = &dropped["removed"];
    assert_eq!(removed["files"], 1);
    assert_eq!((&removed["file_cells"], &removed["memstore_cells"]), (&1.into(), &2.into()));
    assert!(
        removed["file_bytes"].as_u64().is_some_and(|bytes| bytes > 0)
            && dropped["seconds"].is_f64()
    );
    assert!(!directory.join("s/f").exists());
    tells(2, directory, &["drop-family", "s", "f"])
        .has("the store has no family f; its family is g\n");

    store(directory, &["create", "s", "f"]);
    assert_eq!(store(directory, &["scan", "s", "f"]), "");
    assert_eq!(store(directory, &["scan", "s", "g"]).lines().count(), 1);
    assert_eq!(
        store(directory, &["drop-family", "s", "f"]),
        "family f removed: 0 files, 0 B, 0 cells in files\n"
    );
    let left: Vec<_> = fs::read_dir(directory.join("s")).expect("readable").collect();
    assert_eq!(left.len(), 4, "LOCK, MANIFEST, g, wal: {left:?}");
    store(directory, &["verify", "s"]);
}

#[test]
fn settings_that_no_file_can_have_are_wrong_usage_and_make_no_store() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    for (args, what) in [
        (&["--filter", "binary-fuse", "--filter-error-rate", "1e-5"][..], "the lowest is 0.000016"),
        (&["--filter", "binary-fuse", "--filter-bits-per-key", "8"], "8.7 to 1024 are possible"),
        (&["--filter", "cuckoo", "--filter-error-rate", "1e-9"], "no cuckoo filter has"),
        (&["--filter", "ribbon", "--filter-bits-per-key", "1e9"], "at most 1024 are possible"),
        (&["--filter", "d-left"], "classic-bloom, blocked-bloom, split-block, cuckoo, ribbon"),
        (&["--block-size", "1025MiB"], "at most 1073741824 are allowed"),
        (
            &["--bloom-type", "ROWPREFIX_FIXED_LENGTH", "--bloom-prefix-length", "32768"],
            "1 to 32767 are allowed",
        ),
        (&["--key-value", "--ttl", "60"], "a key-value family cannot have a TTL"),
    ] {
        tells(2, directory, &[&["create", "s", "f"], args].concat()).has(what);
        assert!(!directory.join("s").exists(), "{args:?}");
    }
    store(directory, &["create", "s", "f"]);
    let args = ["alter", "s", "f", "--filter", "split-block", "--filter-error-rate", "1e-9"];
    tells(2, directory, &args).has("no split-block filter has an error rate of 1e-9");
}

#[test]
fn a_file_without_its_filter_is_reported() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    let filter = ["--filter", "split-block", "--filter-error-rate", "2.4e-9"];
    store(directory, &[&["create", "s", "f"], &filter[..]].concat());
    let cells = (0..1000).map(|row| put_line(&format!("{row:04}"), "q", 7, ""));
    fs::write(directory.join("cells"), cells.collect::<String>()).expect("a file");
    store(directory, &["put", "s", "f", "--from", "cells", "cells"]);
    let output = hfile(directory, &["flush", "s"]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains(
            "f: 1 file without the row filter: this kind of filter cannot reach an error rate of"
        ),
        "{said}"
    );
}

#[test]
fn a_key_value_family_is_made_and_shown_and_takes_the_column_without_a_name() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f", "--key-value"]);
    assert!(store(directory, &["describe", "s"]).contains("KEY_VALUE => 'true'"));
    tells(3, directory, &["put", "s", "row1", "f:name=Ada"]).has("\"f\" holds keys and values");
    tells(3, directory, &["put", "s", "row1", "f:=Ada", "--ts", "7"])
        .has("\"f\" holds keys and values");
    let get = || store(directory, &["scan", "s", "f"]);
    for value in ["Ada", "Grace"] {
        store(directory, &["put", "s", "row1", &format!("f:={value}")]);
        assert!(get().contains(value), "{}", get());
        store(directory, &["delete", "s", "row1", "f:"]);
        assert_eq!(get(), "");
        store(directory, &["put", "s", "row1", "f:=again"]);
        store(directory, &["append", "s", "f", "row1", "", "+"]);
        assert!(get().contains("again+"), "{}", get());
        store(directory, &["delete", "s", "row1", "f"]);
        assert_eq!(get(), "");
    }
    store(directory, &["increment", "s", "f", "n", "", "--amount=5"]);
    assert!(store(directory, &["increment", "s", "f", "n", "", "--amount=2"]).contains('7'));
    let said = store(directory, &["alter", "s", "f", "--key-value=false"]);
    assert_eq!(said, "f: KEY_VALUE true → none\n");
    assert_eq!(store(directory, &["alter", "s", "f", "--key-value"]), "f: KEY_VALUE none → true\n");
}

#[test]
fn a_setting_with_a_default_takes_its_value_with_or_without_a_sign() {
    let directory = tempfile::tempdir().expect("a place for the test");
    let directory = directory.path();
    store(directory, &["create", "s", "f", "--keep-deleted-cells", "TTL", "--in-memory", "true"]);
    let described = store(directory, &["describe", "s"]);
    assert!(described.contains("KEEP_DELETED_CELLS => 'TTL'"), "{described}");
    assert!(described.contains("IN_MEMORY => 'true'"), "{described}");
    store(directory, &["alter", "s", "f", "--keep-deleted-cells=FALSE", "--in-memory=false"]);
    assert!(!store(directory, &["describe", "s"]).contains("KEEP_DELETED_CELLS => 'T"));
    store(directory, &["alter", "s", "f", "--in-memory", "--keep-deleted-cells"]);
    assert!(store(directory, &["describe", "s"]).contains("KEEP_DELETED_CELLS => 'TRUE'"));
}
