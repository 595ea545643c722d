//! `hfile snapshot` and `hfile table`: ls, info and verify on the command line.
//!
//! `data/snapshots/README.md` describes the root directory, which HBase wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::root_directory::{RootCopy, manifest};

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

#[test]
fn info_of_each_snapshot_counts_what_hbase_counts() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let root = &*copy.argument();
    let (out, told) = run(0, &["snapshot", "ls", "--root", root, "--json"]);
    assert_eq!(told, "");
    let listed = objects(&out);
    let snapshots = manifest["snapshots"].as_object().expect("an object");
    assert_eq!(listed.len(), snapshots.len());
    for line in &listed {
        let name = line["snapshot"].as_str().expect("text");
        let expected = &snapshots[name];
        let (out, _) = run(0, &["snapshot", "info", "--root", root, name, "--json"]);
        let report = object(&out);
        for report in [line, &report] {
            for field in ["table", "type", "version"] {
                assert_eq!(report[field], expected[field], "{name} {field}");
            }
            assert_eq!(report["creation_time"], expected["creationTime"], "{name}");
            assert_eq!(report["expired"], false, "{name}");
        }
        for (field, counted) in
            [("hfiles", "files"), ("links", "links"), ("references", "references")]
        {
            assert_eq!(
                sum(&report, field),
                expected[counted].as_u64().expect("a number"),
                "{name} {field}"
            );
        }
        let parents = list(&report["left_out"]);
        assert_eq!(expected["splitParents"], parents.len(), "{name}");
        assert!(parents.iter().all(|parent| parent["reason"] == "split_parent"));
        let mob = usize::from(!report["mob_files"].is_null());
        let regions = list(&report["regions"]).len() + parents.len() + mob;
        assert_eq!(list(&expected["regions"]).len(), regions, "{name}");
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

#[test]
fn verify_of_sound_snapshots_and_tables() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    for snapshot in ["s2", "s5", "s9", "s10", "s12", "s14"] {
        let (out, told) = run(0, &["snapshot", "verify", "--root", root, snapshot]);
        assert!(out.starts_with(&format!("snapshot {snapshot}: sound, ")), "{out}");
        assert_eq!((out.lines().count(), &*told), (1, ""), "{out}");
    }
    for table in ["t1", "t2", "t3", "t5", "t6", "t8"] {
        let (out, told) = run(0, &["table", "verify", "--root", root, table, "--json"]);
        let report = object(&out);
        assert_eq!((&report["ok"], &report["table"]), (&true.into(), &table.into()), "{out}");
        assert_eq!(told, "hfile: 2 write-ahead logs not checked; see hfile wal verify\n");
    }
}

/// Returns the path of an HFile of a root directory, which is in `data`, `mobdir` or the archive.
fn find(root: &Path, below_data: &str) -> PathBuf {
    let places = ["data", "mobdir/data", "archive/data"];
    let mut paths = places.iter().map(|data| root.join(data).join(below_data));
    paths.find(|path| path.exists()).expect("it is there")
}

#[test]
fn verify_names_the_damaged_file_and_its_rows() {
    let copy = RootCopy::new();
    let path = copy.path();
    let root = path.to_str().expect("UTF-8");
    let verify = || {
        let (out, _) = run(1, &["snapshot", "verify", "--root", root, "s2", "--json"]);
        object(&out)
    };
    // Both daughters have a half of this file.
    let hfile = find(
        &path,
        "default/t1/c65bc83cc9888373de3595d40b882f08/f1/81b5fc619b754e26b0314f0daa183a00",
    );
    let bytes = fs::read(&hfile).expect("there");
    fs::remove_file(&hfile).expect("ours");
    let report = verify();
    let errors = list(&report["errors"]);
    assert_eq!(errors.len(), 2, "{report}");
    let daughters = ["40ab6300693e3f01d37da6c46414d9c8", "77a347dcd3a699aadaaa702b08393620"];
    for ((error, region), rows) in
        errors.iter().zip(daughters).zip([["row-01000", "row-01500"], ["row-01500", "row-02000"]])
    {
        let file = format!(
            "{region}/f1/81b5fc619b754e26b0314f0daa183a00.c65bc83cc9888373de3595d40b882f08"
        );
        assert_eq!(
            (&error["region"], &error["family"], &error["file"]),
            (&region.into(), &"f1".into(), &file.into())
        );
        assert_eq!((&error["first_row"], &error["last_row"]), (&rows[0].into(), &rows[1].into()));
        assert!(
            error["what"].as_str().expect("text").contains(" is missing; looked for "),
            "{error}"
        );
    }
    // One block of the file: the rows of that block, in the daughter that has them.
    let mut flipped = bytes.clone();
    flipped[1000] ^= 1;
    fs::write(&hfile, &flipped).expect("ours");
    let report = verify();
    let errors = list(&report["errors"]);
    assert_eq!(errors.len(), 1, "{report}");
    assert_eq!(errors[0]["region"], daughters[0]);
    let last = errors[0]["last_row"].as_str().expect("text");
    assert!(("row-01000".."row-01500").contains(&last), "{last}");
    // A file of another length, which is an HFile too.
    let other = find(
        &path,
        "default/t1/c65bc83cc9888373de3595d40b882f08/f1/58cf76963efe40b5835c53e99b6113f9",
    );
    fs::copy(other, &hfile).expect("ours");
    let report = verify();
    let what = list(&report["errors"])[0]["what"].as_str().expect("text");
    assert_eq!(what, "has 8,972 bytes; 26,246 are recorded");
}

#[test]
fn verify_of_a_table_finds_gaps_overlaps_and_rows_of_other_regions() {
    let copy = RootCopy::new();
    let path = copy.path();
    let root = path.to_str().expect("UTF-8");
    let table = path.join("data/default/t1");
    let foreign =
        table.join("cfe27cad50f93b8520a92fe3492bd824/f1/e0cde2b361dc4eec879c99fddbc5be15");
    let placed = table.join("4820f17f61e882630b301c9225eb7ae9/f1/e0cde2b361dc4eec879c99fddbc5be15");
    fs::copy(foreign, &placed).expect("ours");
    shows(1, &["table", "verify", "--root", root, "t1"]).has("4820f17f61e882630b301c9225eb7ae9/f1/e0cde2b361dc4eec879c99fddbc5be15: has rows outside of its region, which has rows from row-02000 to the end: from ");
    fs::remove_file(placed).expect("ours");
    fs::remove_dir_all(table.join("cfe27cad50f93b8520a92fe3492bd824")).expect("ours");
    shows(1, &["table", "verify", "--root", root, "t1"]).has_all(&[
        "the region cfe27cad50f93b8520a92fe3492bd824 of hbase:meta",
        "rows from the start to row-01000 may be missing or incomplete\n    no region has these rows\n",
    ]);
    // Without hbase:meta and one daughter, the parent and the other daughter overlap.
    fs::remove_dir_all(path.join("data/hbase")).expect("ours");
    fs::remove_dir_all(table.join("77a347dcd3a699aadaaa702b08393620")).expect("ours");
    shows(1, &["table", "verify", "--root", root, "t1"])
        .has_all(&["  rows from row-01000 to row-01500 may be missing", " overlap\n"]);
}

#[test]
fn parts_of_regions_that_are_gone_are_named_by_verify_and_end_a_scan() {
    let copy = RootCopy::new();
    let path = copy.path();
    let root = path.to_str().expect("UTF-8");
    let region = path.join("data/default/t1/77a347dcd3a699aadaaa702b08393620");
    let check = |what: &str| {
        shows(1, &["table", "verify", "--root", root, "t1"])
            .has_all(&[what, "\n  rows from row-01500 to row-02000 may be missing"]);
        let (out, told) = run(1, &["table", "scan", "--root", root, "t1"]);
        assert!(out.is_empty() && told.contains(what), "{told}");
        tells(1, &["table", "scan", "--root", root, "t1", "--count", "--skip-damaged"])
            .has_all(&[what, " (region 77a347dcd3a699aadaaa702b08393620, family f2)"]);
    };
    let family = region.join("f2");
    let away = path.join("away");
    fs::rename(&family, &away).expect("ours");
    check("the directory of family f2, which HBase makes when it opens a region, is missing");
    fs::create_dir(&family).expect("ours");
    fs::create_dir(family.join("e0cde2b361dc4eec879c99fddbc5be15")).expect("ours");
    check("the store file is not a regular file");
    fs::remove_dir_all(&family).expect("ours");
    fs::rename(&away, &family).expect("ours");
    fs::rename(&region, &away).expect("ours");
    let told = tells(1, &["table", "scan", "--root", root, "t1", "--count", "--skip-damaged"])
        .has(" (region 77a347dcd3a699aadaaa702b08393620)\n  the region");
    assert_eq!(told.matches(" rows from row-01500 to row-02000 may be missing").count(), 2);
    // HBase may not have opened this region since it was made; the log says that it has.
    let region = path.join("data/default/t7/5945bde6175a9acfce0280d65ebbf2a1");
    for part in ["g", "h", "recovered.edits"] {
        fs::remove_dir_all(region.join(part)).expect("ours");
    }
    let (out, told) = run(1, &["table", "verify", "--root", root, "t7"]);
    assert!(out.contains("the store file is missing:\n      a flush wrote it"), "{out}");
    assert_eq!(told.matches("hfile: warning: ").count(), 2, "{told}");
    assert!(told.contains("the directory of family g, which HBase makes"), "{told}");
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

#[test]
fn verify_follows_the_references_to_mob_files() {
    let copy = RootCopy::new();
    let path = copy.path();
    let root = path.to_str().expect("UTF-8");
    let region = path.join("mobdir/data/default/t3/2dcf4f6cf40c0e2a9160d893ff1d9f63/m");
    let mob = fs::read_dir(&region).expect("listed").next().expect("one").expect("read").path();
    let name = mob.file_name().and_then(|name| name.to_str()).expect("UTF-8");
    let bytes = fs::read(&mob).expect("there");
    fs::remove_file(&mob).expect("ours");
    let (out, _) = run(1, &["table", "verify", "--root", root, "t3", "--json"]);
    let report = object(&out);
    for error in list(&report["errors"]) {
        let what = error["what"].as_str().expect("text");
        assert!(what.starts_with(&format!("the MOB file {name} of family m")), "{what}");
        assert_eq!(error["family"], "m");
        assert!(error["first_row"].is_string() && error["last_row"].is_string(), "{error}");
    }
    assert!(!list(&report["errors"]).is_empty());
    run(3, &["table", "scan", "--root", root, "t3"]);
    // In the archive, it is found.
    let archive = path.join("archive/data/default/t3/2dcf4f6cf40c0e2a9160d893ff1d9f63/m");
    fs::create_dir_all(&archive).expect("ours");
    fs::write(archive.join(name), &bytes).expect("ours");
    run(0, &["table", "verify", "--root", root, "t3"]);
    let mut damaged = bytes.clone();
    damaged[60] ^= 1;
    fs::write(archive.join(name), &damaged).expect("ours");
    let (out, _) = run(1, &["table", "verify", "--root", root, "t3"]);
    assert_eq!(out.matches(" is damaged at 0x0:").count(), 1, "{out}");
}
