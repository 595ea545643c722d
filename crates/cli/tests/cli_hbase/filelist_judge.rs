//! Lists of a store file tracker that `hfile` makes, read by HBase.
//!
//! HBase opens the table with its own lists, without lists, and with those that `hfile table filelist` makes from
//! the files. Run with `HBASE_JUDGE=1`; see `tests/hbase-judge/README.md`. `SNAPSHOT_SEED` is the first
//! seed (0) of the root directories that HBase makes for the second test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use hbase_files::{LocalTree, TrackedFiles};
use serde_json::Value;
use support::root_directory::RootCopy;
use support::{copy_directory, files_below, judge, say};

use crate::command_line::{directory, path, run};
use crate::root_judge::NOW;

/// The files of HBase's lists, by the directory of the family: their names and sizes.
type Lists = BTreeMap<PathBuf, BTreeMap<String, u64>>;

/// Returns the cells that HBase reads from a table, shown and raw, or why it refuses.
fn hbase(root: &Path, table: &str) -> Result<[String; 2], String> {
    let out = directory();
    let [root, place] = [root, out.path()].map(|path| path.to_str().expect("text"));
    let answer = judge::ask(&["root", root, "--out", place, "--now", NOW, table]);
    let answer = &answer["tables"][table];
    if answer["ok"] != true {
        return Err(answer.to_string());
    }
    Ok(["cells", "raw"].map(|which| {
        let name = format!("{}.{which}.ndjson", table.replace(':', "."));
        fs::read_to_string(out.path().join(name)).expect("written")
    }))
}

/// Takes the lists of all families of a table away.
fn take_lists(table: &Path) -> Lists {
    let mut lists = Lists::new();
    for file in files_below(table) {
        let directory = file.parent().expect("below the table");
        if directory.file_name().is_none_or(|name| name != ".filelist") {
            continue;
        }
        let family = directory.parent().expect("below a family");
        if lists.contains_key(family) {
            continue;
        }
        let list = TrackedFiles::read(&LocalTree, family).expect("sound").expect("there");
        let files = list.files.into_iter().map(|file| (file.name, file.size));
        lists.insert(family.to_owned(), files.collect());
    }
    for family in lists.keys() {
        fs::remove_dir_all(family.join(".filelist")).expect("ours");
    }
    lists
}

/// Has HBase read a table with lists of HBase, with none, and with lists of `hfile`. Returns the number of lists.
fn check(root: &Path, name: &str) -> usize {
    let expected = hbase(root, name).expect("HBase reads its own lists");
    let (namespace, table) = name.split_once(':').unwrap_or(("default", name));
    let table = root.join("data").join(namespace).join(table);
    let theirs = take_lists(&table);
    assert!(!theirs.is_empty(), "{name}");
    assert_ne!(hbase(root, name).as_ref(), Ok(&expected), "{name}: HBase needs no lists");

    let place = directory();
    let output = path(&place, "lists");
    let root_text = root.to_str().expect("text");
    run(0, &["table", "filelist", "--root", root_text, name, "--rebuild", "--output", &output]);
    copy_directory(Path::new(&output), &table);
    assert_eq!(hbase(root, name).expect("HBase reads the lists of hfile"), expected, "{name}");
    // HBase may have none for a family without files.
    let mut ours = take_lists(&table);
    ours.retain(|family, files| !files.is_empty() || theirs.contains_key(family));
    assert_eq!(ours, theirs, "{name}");
    ours.len()
}

/// Returns the tables whose schema sets the file-based tracker.
fn tracked_tables(root: &Path, names: impl Iterator<Item = String>) -> Vec<String> {
    let root_text = root.to_str().expect("text");
    names
        .filter(|name| {
            let (statement, _) = run(0, &["table", "describe", "--root", root_text, name]);
            statement.contains("'hbase.store.file-tracker.impl' => 'FILE'")
        })
        .collect()
}

#[test]
fn hbase_reads_a_table_with_rebuilt_lists_as_with_its_own() {
    if !judge::is_enabled("filelist: rebuilt lists of a table") {
        return;
    }
    let copy = RootCopy::new();
    let lists = check(&copy.path(), "t5");
    say(&format!(
        "filelist: {lists} of {lists} rebuilt lists are read by HBase {}",
        judge::version()
    ));
}

/// The seeds to try. Half of them or fewer have a table with a tracker.
const SEEDS_MAX: u64 = 8;

#[test]
fn hbase_reads_tables_of_a_seed_with_rebuilt_lists_as_with_its_own() {
    if !judge::is_enabled("filelist: rebuilt lists of tables of a seed") {
        return;
    }
    // Builds the judge, if necessary, before another process of it starts.
    let version = judge::version();
    let first: u64 = env::var("SNAPSHOT_SEED").map_or(0, |text| text.parse().expect("a number"));
    for seed in first..first + SEEDS_MAX {
        let place = directory();
        let out = place.path().to_str().expect("text");
        let Some(made) = judge::ask_alone(&["snapshot", out, "--seed", &seed.to_string()]) else {
            continue;
        };
        assert_eq!(made["ok"], true, "seed {seed}: {made:#}");
        let manifest = fs::read_to_string(place.path().join("manifest.json")).expect("written");
        let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
        let root = place.path().join("rootdir");
        let live = manifest["liveTables"].as_object().expect("an object").clone();
        let tables =
            tracked_tables(&root, live.keys().filter(|name| !name.starts_with("hbase:")).cloned());
        if tables.is_empty() {
            continue;
        }
        for table in tables {
            let lists = check(&root, &table);
            say(&format!(
                "filelist: {lists} of {lists} rebuilt lists of {table}, seed {seed}, are read by HBase {version}"
            ));
        }
        return;
    }
    panic!("no seed from {first} on makes a table with a tracker of lists");
}
