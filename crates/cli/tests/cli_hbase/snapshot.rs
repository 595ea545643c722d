//! `hfile snapshot` and `hfile table`: ls, info and verify on the command line.
//!
//! `data/snapshots/README.md` describes the root directory, which HBase wrote.

use std::fs;

use serde_json::{Value, json};
use support::root_directory::RootCopy;

use crate::command_line::{objects, run, shows, tells};

fn object(line: &str) -> Value {
    let objects = objects(line);
    assert_eq!(objects.len(), 1, "{line}");
    objects[0].clone()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// Adds a field of the regions that count and of those that do not.
fn sum(report: &Value, field: &str) -> u64 {
    let regions = list(&report["regions"]).iter().chain(list(&report["left_out"]));
    let mob = Some(&report["mob_files"]).filter(|mob| !mob.is_null());
    regions.chain(mob).map(|region| region[field].as_u64().expect("a number")).sum()
}

/// `roots::snapshots` of the library compares the regions and files of all snapshots with HBase's.
#[test]
fn ls_and_info_show_and_count_the_files_of_a_snapshot() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let (out, told) = run(0, &["snapshot", "ls", "--root", root, "--json"]);
    let listed = objects(&out);
    assert_eq!((listed.len(), &*told), (14, ""));
    // As HBase counts them: links, references and a split parent, and MOB files.
    for (name, table, created, parents, files) in [
        ("s10", "t2", 1_795_412_739_526_u64, 1, [14, 18, 16]),
        ("s5", "t3", 1_795_412_731_436, 0, [12, 0, 0]),
    ] {
        let line = listed.iter().find(|line| line["snapshot"] == name).expect("listed");
        let report = object(&run(0, &["snapshot", "info", "--root", root, name, "--json"]).0);
        for report in [line, &report] {
            let fields =
                ["table", "type", "version", "creation_time", "expired"].map(|name| &report[name]);
            assert_eq!(json!(fields), json!([table, "FLUSH", 2, created, false]), "{name}");
        }
        assert_eq!(["hfiles", "links", "references"].map(|name| sum(&report, name)), files);
        let left_out: Vec<_> =
            list(&report["left_out"]).iter().map(|parent| &parent["reason"]).collect();
        assert_eq!(left_out, vec!["split_parent"; parents]);
        assert_eq!(report["mob_files"].is_null(), name == "s10");
    }
    let (out, _) = run(0, &["snapshot", "ls", "--root", root]);
    assert!(
        out.starts_with("snapshot  table   created                   type       TTL\n"),
        "{out}"
    );
    assert!(out.contains("\ns13       t1      "), "{out}");
    shows(0, &["snapshot", "info", "--root", root, "s2"]).has_all(&[
        "\nfiles         40: 24 HFiles, 0 links, 16 references\n",
        "\nregions       4\n",
        "  not counted: split parent, its daughters have its cells\n",
        "\nfamily        f1: VERSIONS ",
    ]);
}

#[test]
fn info_of_a_table_says_which_regions_count_and_why() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let (out, told) = run(0, &["table", "ls", "--root", root, "--json"]);
    assert_eq!(told, "");
    let tables: Vec<Value> = objects(&out).iter().map(|line| line["table"].clone()).collect();
    let names =
        ["hbase:meta", "hbase:namespace", "ns1:t4", "t1", "t2", "t3", "t5", "t6", "t7", "t8"];
    let mut sorted: Vec<&str> = tables.iter().map(|name| name.as_str().expect("text")).collect();
    sorted.sort_unstable();
    assert_eq!(sorted, names);
    let (out, _) = run(0, &["table", "info", "--root", root, "t6", "--json"]);
    let report = object(&out);
    assert_eq!(report["regions_by"], "hbase:meta");
    let reasons: Vec<&Value> =
        list(&report["left_out"]).iter().map(|region| &region["reason"]).collect();
    assert_eq!(reasons, ["not_in_meta", "not_in_meta"]);
    assert_eq!(list(&report["logs"]).len(), 2);
    let out = shows(0, &["table", "info", "--root", root, "t3"])
        .has_all(&["\nregions       2, as hbase:meta lists them\n", "\nMOB files     4 files, "]);
    assert_eq!(out.matches(" (may have cells that are in no store file)\n").count(), 2, "{out}");
    // The tracker does not list one file of t5.
    let (out, _) = run(0, &["table", "info", "--root", root, "t5", "--json"]);
    assert_eq!(object(&out)["hfiles"], 8);
    fs::remove_dir_all(copy.path().join("data/hbase/meta")).expect("ours");
    shows(0, &["table", "info", "--root", root, "t6"]).has_all(&[
        "\nregions       2, by their key ranges: hbase:meta is missing",
        "not counted: newer regions cover its key range\n",
    ]);
    fs::write(
        copy.path().join("data/default/t6/475ea0cde6a4298710607723607cb381/.regioninfo"),
        "PBUF",
    )
    .expect("ours");
    shows(1, &["table", "info", "--root", root, "t6"])
        .has("475ea0cde6a4298710607723607cb381/.regioninfo: damaged description of a region: ");
}

#[test]
fn wrong_roots_and_names_are_told_with_a_next_step() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    tells(2, &["snapshot", "ls", "--root", "hdfs://namenode:8020/hbase"])
        .has("copy it first: hdfs dfs -get hdfs://namenode:8020/hbase DIR");
    tells(3, &["snapshot", "info", "--root", root, "s99"])
        .has("has no snapshot s99; snapshots: s1, s10, s11, ");
    tells(3, &["table", "info", "--root", root, "t99"]).has("has no table t99; tables: ");
    tells(2, &["table", "info", "--root", root, "a/b"]).has("a/b is not the name of a table");
    let data = copy.path().join("data/default");
    let told = tells(3, &["table", "ls", "--root", data.to_str().expect("UTF-8")])
        .has("is not a root directory of HBase");
    let absolute = copy.path().canonicalize().expect("there");
    let is_one = format!("; {} is one\n", absolute.display());
    assert!(told.contains(&is_one), "{told}");
    for part in ["data", ".hbase-snapshot/s1"] {
        let part = copy.path().join(part);
        tells(3, &["snapshot", "ls", "--root", part.to_str().expect("UTF-8")]).has(&is_one);
    }
    let unfinished = copy.path().join(".hbase-snapshot/.tmp/s77");
    fs::create_dir(&unfinished).expect("ours");
    let (_, told) = run(0, &["snapshot", "ls", "--root", root]);
    assert_eq!(told, "hfile: 1 snapshot not finished, not listed: s77\n");
    fs::write(copy.path().join(".hbase-snapshot/s5/.snapshotinfo"), "x").expect("ours");
    let (out, told) = run(1, &["snapshot", "ls", "--root", root, "--json"]);
    assert_eq!(objects(&out).len(), 13);
    assert!(told.contains("s5/.snapshotinfo: damaged description of a snapshot: "), "{told}");
}

#[test]
fn a_snapshot_past_its_ttl_is_read_with_a_warning() {
    let copy = RootCopy::new();
    let path = copy.path().join(".hbase-snapshot/s2/.snapshotinfo");
    // Creation in 1970, TTL of one second.
    let description = b"\x0a\x02s2\x12\x02t1\x18\x01\x20\x01\x28\x02\x40\x01";
    fs::write(path, description).expect("ours");
    let root = &*copy.argument();
    let (out, told) = run(0, &["snapshot", "info", "--root", root, "s2"]);
    assert!(out.contains("\nTTL           1 second, expired\n"), "{out}");
    assert!(
        told.contains("hfile: warning: snapshot s2 of 1970-01-01T00:00:00.001Z is past its TTL"),
        "{told}"
    );
}

#[cfg(unix)]
#[test]
fn linked_tables_and_namespaces_are_listed() {
    use std::os::unix::fs::symlink;

    let copy = RootCopy::new();
    let path = copy.path();
    let root = path.to_str().expect("UTF-8");
    let (listed, _) = run(0, &["table", "ls", "--root", root]);
    let (data, away) = (path.join("data"), path.join("away"));
    for directory in [data.join("default/t6"), data.join("default")] {
        fs::rename(&directory, &away).expect("ours");
        symlink(&away, &directory).expect("linked");
        assert_eq!(run(0, &["table", "ls", "--root", root]).0, listed);
        fs::remove_file(&directory).expect("ours");
        fs::rename(&away, &directory).expect("ours");
    }
    symlink("/nonexistent", data.join("default/t9")).expect("linked");
    let (out, told) = run(3, &["table", "ls", "--root", root]);
    assert_eq!(out, listed);
    assert!(
        told.contains("the directory of table t9, to which a symbolic link leads, is missing"),
        "{told}"
    );
    symlink("/nonexistent", data.join("ns9")).expect("linked");
    tells(3, &["table", "ls", "--root", root]).has("data/ns9: cannot list it");
}

#[test]
fn a_root_without_tables_leads_to_its_snapshots() {
    let copy = RootCopy::new();
    fs::remove_dir_all(copy.path().join("data")).expect("ours");
    let root = &*copy.argument();
    let (out, told) = run(0, &["table", "ls", "--root", root]);
    assert!(out.lines().skip(1).all(|line| line.contains("  only in ")), "{out}");
    assert_eq!(
        told,
        format!(
            "hfile: {root}: no tables; it has 14 snapshots, see hfile snapshot ls --root {root}\n"
        )
    );
}
