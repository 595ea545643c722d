//! Changes to what says which regions a table has: `hbase:meta`, and the descriptions of regions.

use std::fs;
use std::path::{Path, PathBuf};

use super::{DirectoryCase, Outcome, WALT};
use crate::meta_log::{MetaPut, RegionKeys, put_in_meta};

/// The cases.
pub(super) const CASES: &[DirectoryCase] = &[
    WALT.case(
        "the directories of two daughters are left of a split that was rolled back",
        leave_daughters,
        Outcome::CellsAndWarning("hbase:meta does not have the region, which was left out"),
    ),
    WALT.case(
        "a directory without a description is left that hbase:meta does not have",
        leave_directory_without_description,
        Outcome::CellsAndWarning("hbase:meta does not have the region, which was left out"),
    ),
    WALT.case(
        "hbase:meta has an empty description of a region",
        empty_description_in_meta,
        Outcome::CellsAndWarning("has no readable info:regioninfo"),
    ),
    WALT.case(
        "hbase:meta has an unreadable description of a region",
        unreadable_description_in_meta,
        Outcome::CellsAndWarning("has no readable info:regioninfo"),
    ),
    WALT.case(
        "hbase:meta has the description of another region",
        description_of_another_region_in_meta,
        Outcome::CellsAndWarning("has no readable info:regioninfo"),
    ),
    WALT.case(
        "hbase:meta has an empty description, and daughters are left",
        empty_description_and_leftover_daughters,
        Outcome::CellsAndWarning("hbase:meta does not have the region, which was left out"),
    ),
    WALT.case(
        "hbase:meta has only the state of a leftover daughter",
        row_without_description,
        Outcome::CellsAndWarning("has no readable info:regioninfo"),
    ),
    WALT.case(
        "hbase:meta has only the state of a region without a directory",
        row_without_directory,
        Outcome::CellsAndWarning("has no readable info:regioninfo"),
    ),
    WALT.case(
        "hbase:meta has states and replicas, and the table is disabled",
        states_in_meta,
        Outcome::Cells,
    ),
    WALT.case(
        "a region has no description file",
        no_description_file,
        Outcome::CellsAndWarning(
            "the description of the region is missing; the one in hbase:meta was read",
        ),
    ),
    WALT.case(
        "the description file of a region is empty",
        empty_description_file,
        Outcome::CellsAndWarning("the one in hbase:meta was read"),
    ),
    WALT.case(
        "the description file of a region is that of another one",
        description_file_of_another_region,
        Outcome::CellsAndWarning("the one in hbase:meta was read"),
    ),
    WALT.case(
        "the description file of a region has another end key",
        other_end_in_description_file,
        Outcome::CellsAndWarning("by hbase:meta, which decides"),
    ),
    WALT.case(
        "a region has neither a description file nor one in hbase:meta",
        no_description_at_all,
        Outcome::Error("the description of the region is missing"),
    )
    .verify("the description of the region is missing"),
    WALT.case(
        "there is no hbase:meta",
        no_meta,
        Outcome::CellsAndWarning("is missing; the key ranges of the directories decide"),
    ),
    WALT.case(
        "there is no log of hbase:meta",
        no_log_of_meta,
        Outcome::CellsAndWarning("the root directory has no log of it"),
    ),
    WALT.case(
        "the log of hbase:meta has no entry",
        log_of_meta_without_entries,
        Outcome::CellsAndWarning(
            "has no region of the table; the key ranges of the directories decide",
        ),
    ),
    WALT.case(
        "the log of hbase:meta is damaged",
        damaged_log_of_meta,
        Outcome::CellsAndWarning("meta: cannot be read: "),
    ),
    WALT.case(
        "the log of hbase:meta is cut off",
        cut_log_of_meta,
        Outcome::CellsAndWarning("the last changes of hbase:meta may be missing"),
    ),
    WALT.case(
        "the description of hbase:meta is damaged",
        damaged_schema_of_meta,
        Outcome::CellsAndWarning("meta: cannot be read: "),
    ),
    WALT.case(
        "the region of hbase:meta has no description file, and daughters are left",
        |root| {
            no_description_file_of_meta(root);
            leave_daughters(root);
        },
        Outcome::CellsAndWarning("the region of hbase:meta always has the same"),
    ),
];

/// The regions of table `walt`: before the row `k`, and from it on.
const LOWER: &str = "83a2af9efa70f232938815b9cf317a11";
const UPPER: &str = "7376d67c7d538f14a61907ae3ff3e36e";
const LOWER_ROW: &str = "walt,,1795621490883.83a2af9efa70f232938815b9cf317a11.";

/// The daughters of a split of the lower region at the row `f`.
const DAUGHTERS: [(&str, RegionKeys<'_>); 2] = [
    ("4a27727d4b94efd14a6390624f01c577", RegionKeys { start: "", end: "f", id: 1_795_621_999_000 }),
    (
        "d031fc5bf3a75b548001c6a760f3ef92",
        RegionKeys { start: "f", end: "k", id: 1_795_621_999_000 },
    ),
];

fn region(root: &Path, name: &str) -> PathBuf {
    root.join("data/default/walt").join(name)
}

fn write(path: PathBuf, bytes: impl AsRef<[u8]>) {
    fs::write(path, bytes).expect("ours");
}

fn make_region(root: &Path, name: &str) {
    for family in ["f", "g"] {
        fs::create_dir_all(region(root, name).join(family)).expect("ours");
    }
}

/// Leaves the directories of the daughters, as a split that was rolled back does.
fn leave_daughters(root: &Path) {
    for (name, keys) in DAUGHTERS {
        make_region(root, name);
        write(region(root, name).join(".regioninfo"), keys.file("walt"));
    }
}

/// Leaves the directory of a region without its description.
fn leave_directory_without_description(root: &Path) {
    make_region(root, DAUGHTERS[0].0);
}

/// Puts a value into `info:regioninfo` of the lower region.
fn put_description(root: &Path, value: &[u8]) {
    put_in_meta(root, &[info(LOWER_ROW, "regioninfo", value)]);
}

fn info<'p>(row: &'p str, qualifier: &'p str, value: &'p [u8]) -> MetaPut<'p> {
    MetaPut { row, family: "info", qualifier, value }
}

fn empty_description_in_meta(root: &Path) {
    put_description(root, b"");
}

fn unreadable_description_in_meta(root: &Path) {
    put_description(root, b"PBUF\xff\xff");
}

fn description_of_another_region_in_meta(root: &Path) {
    put_description(root, &DAUGHTERS[0].1.meta_value("walt"));
}

fn empty_description_and_leftover_daughters(root: &Path) {
    empty_description_in_meta(root);
    leave_daughters(root);
}

/// Adds a row without a description for a leftover daughter, as a late report of its state leaves it.
fn row_without_description(root: &Path) {
    leave_daughters(root);
    let row = format!("walt,,1795621999000.{}.", DAUGHTERS[0].0);
    put_in_meta(root, &[info(&row, "state", b"CLOSED")]);
}

/// Adds a row without a description for a region that has no directory.
fn row_without_directory(root: &Path) {
    put_in_meta(root, &[info("walt,,1.641fa271c163e75ced1a69fb51b86c22.", "state", b"OFFLINE")]);
}

/// Sets states that forbid reads of the table, and replicas.
fn states_in_meta(root: &Path) {
    let upper = format!("walt,k,1795621490883.{UPPER}.");
    put_in_meta(
        root,
        &[
            info(LOWER_ROW, "state", b"OFFLINE"),
            info(LOWER_ROW, "server_0001", b"localhost:1"),
            info(&upper, "state", b"SPLITTING"),
            info(&upper, "state_0001", b"CLOSED"),
            MetaPut { row: "walt", family: "table", qualifier: "state", value: &[8, 1] },
        ],
    );
}

fn no_description_file(root: &Path) {
    fs::remove_file(region(root, LOWER).join(".regioninfo")).expect("there");
}

fn empty_description_file(root: &Path) {
    write(region(root, LOWER).join(".regioninfo"), b"");
}

fn description_file_of_another_region(root: &Path) {
    fs::copy(region(root, UPPER).join(".regioninfo"), region(root, LOWER).join(".regioninfo"))
        .expect("there");
}

/// Describes the lower region with an end key before that of `hbase:meta`.
fn other_end_in_description_file(root: &Path) {
    let keys = RegionKeys { start: "", end: "f", id: 1_795_621_490_883 };
    write(region(root, LOWER).join(".regioninfo"), keys.file("walt"));
}

/// Takes the description of a region away, and its readable row.
fn no_description_at_all(root: &Path) {
    no_description_file(root);
    empty_description_in_meta(root);
}

fn no_meta(root: &Path) {
    fs::remove_dir_all(root.join("data/hbase/meta")).expect("there");
}

/// Returns the log of `hbase:meta`.
fn meta_log(root: &Path) -> PathBuf {
    let servers = fs::read_dir(root.join("WALs")).expect("there");
    let servers = servers.map(|entry| entry.expect("listed").path());
    let logs = servers.flat_map(|server| fs::read_dir(server).expect("a directory"));
    let mut logs = logs.map(|entry| entry.expect("listed").path());
    logs.find(|log| log.extension().is_some_and(|extension| extension == "meta")).expect("there")
}

fn no_log_of_meta(root: &Path) {
    fs::remove_file(meta_log(root)).expect("there");
}

fn damaged_log_of_meta(root: &Path) {
    let mut log = fs::read(meta_log(root)).expect("there");
    let middle = log.len() / 2;
    log[middle..][..64].fill(0xff);
    write(meta_log(root), log);
}

/// Cuts the log of `hbase:meta` within its last entry.
fn cut_log_of_meta(root: &Path) {
    let log = fs::read(meta_log(root)).expect("there");
    write(meta_log(root), &log[..log.len() - 1]);
}

fn log_of_meta_without_entries(root: &Path) {
    let log = fs::read(meta_log(root)).expect("there");
    write(meta_log(root), &log[..5 + usize::from(log[4])]);
}

fn no_description_file_of_meta(root: &Path) {
    fs::remove_file(root.join("data/hbase/meta/1588230740/.regioninfo")).expect("there");
}

fn damaged_schema_of_meta(root: &Path) {
    write(root.join("data/hbase/meta/.tabledesc/.tableinfo.0000000001.1039"), b"PBUF");
}
