//! The statement that creates a table like one of a root directory or a snapshot.

use support::root_directory::RootCopy;

use crate::command_line::{directory, json, path, run, shows, tells};

#[test]
fn describe_prints_settings_and_splits() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let statement = shows(0, &["table", "describe", "--root", root, "t1"])
        .begins_with("create 't1', {NAME => 'f1', BLOCKCACHE => 'true', BLOCKSIZE => ");
    for part in [
        "BLOOMFILTER => 'ROWCOL'",
        "COMPRESSION => 'GZ'",
        "DATA_BLOCK_ENCODING => 'FAST_DIFF'",
        "VERSIONS => '3'",
        "}, {NAME => 'f2', ",
        ", SPLITS => ['row-01000', 'row-01500', 'row-02000']\n",
    ] {
        assert!(statement.contains(part), "{part} in {statement}");
    }
    let (all, _) = run(0, &["snapshot", "describe", "--root", root]);
    assert_eq!(all.lines().count(), 14);
    assert!(all.lines().all(|line| line.starts_with("create '")), "{all}");
    assert!(all.contains("create 'ns1:t4', {NAME => 'g', "), "{all}");
    let (all, told) = run(0, &["table", "describe", "--root", root]);
    assert!(all.lines().count() > 3 && !all.contains("create 'hbase:"), "{all}");
    assert!(told.contains("not described: hbase:meta"), "{told}");
    let report = json(&["table", "describe", "--root", root, "t1", "--json"]);
    assert_eq!(report["create"], statement.trim_end());
    assert_eq!(report["complete"], true);
}

#[test]
fn an_export_to_hfiles_says_how_to_create_their_table() {
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let directory = directory();
    let out = &*path(&directory, "out");
    let args = ["snapshot", "export", "--root", root, "s1", "--to", "hfiles", "--output", out];
    let printed = shows(0, &args).has_all(&["\nload them with\n  hbase completebulkload "]);
    let (statement, _) = run(0, &["snapshot", "describe", "--root", root, "s1"]);
    assert!(printed.contains(&format!("\n  {statement}load them with\n")), "{printed}");
    let copied = "the table has COMPACTION_ENABLED => 'false'; the statement below sets it for the new table too\n";
    assert!(printed.contains(copied), "{printed}");
    tells(0, &["verify", out])
        .has("1 entry skipped: 1 manifest.json of an export, which a bulk load ignores");
}

/// HBase builds the same descriptor and the same split keys from the statement.
#[test]
fn hbase_accepts_the_statement() {
    if !support::judge::is_enabled("the statement that creates a table") {
        return;
    }
    let copy = RootCopy::new();
    let root = &*copy.argument();
    let directory = directory();
    for (verb, names) in [("table", &["t1", "t3", "t5", "t7"][..]), ("snapshot", &["s5", "s6"])] {
        for name in names {
            let (statement, _) = run(0, &[verb, "describe", "--root", root, name]);
            let file = &*path(&directory, name);
            std::fs::write(file, &statement).expect("ours");
            let of = format!("{verb}:{name}");
            support::judge::confirm(&["create", file, "--like", &of, "--root", root]);
        }
    }
}
