//! Changes to what says which regions a table has: `hbase:meta`, and the descriptions of regions.

use std::fs;
use std::path::{Path, PathBuf};

use crate::meta_log::{MetaPut, RegionKeys, put_in_meta};

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
pub(super) fn leave_daughters(root: &Path) {
    for (name, keys) in DAUGHTERS {
        make_region(root, name);
        write(region(root, name).join(".regioninfo"), keys.file("walt"));
    }
}

/// Leaves the directory of a region without its description.
pub(super) fn leave_directory_without_description(root: &Path) {
    make_region(root, DAUGHTERS[0].0);
}

/// Puts a value into `info:regioninfo` of the lower region.
fn put_description(root: &Path, value: &[u8]) {
    put_in_meta(root, &[info(LOWER_ROW, "regioninfo", value)]);
}

fn info<'p>(row: &'p str, qualifier: &'p str, value: &'p [u8]) -> MetaPut<'p> {
    MetaPut { row, family: "info", qualifier, value }
}

pub(super) fn empty_description_in_meta(root: &Path) {
    put_description(root, b"");
}

pub(super) fn unreadable_description_in_meta(root: &Path) {
    put_description(root, b"PBUF\xff\xff");
}

pub(super) fn description_of_another_region_in_meta(root: &Path) {
    put_description(root, &DAUGHTERS[0].1.meta_value("walt"));
}

pub(super) fn empty_description_and_leftover_daughters(root: &Path) {
    empty_description_in_meta(root);
    leave_daughters(root);
}

/// Adds a row without a description for a leftover daughter, as a late report of its state leaves it.
pub(super) fn row_without_description(root: &Path) {
    leave_daughters(root);
    let row = format!("walt,,1795621999000.{}.", DAUGHTERS[0].0);
    put_in_meta(root, &[info(&row, "state", b"CLOSED")]);
}

/// Adds a row without a description for a region that has no directory.
pub(super) fn row_without_directory(root: &Path) {
    put_in_meta(root, &[info("walt,,1.641fa271c163e75ced1a69fb51b86c22.", "state", b"OFFLINE")]);
}

/// Sets states that forbid reads of the table, and replicas.
pub(super) fn states_in_meta(root: &Path) {
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

pub(super) fn no_description_file(root: &Path) {
    fs::remove_file(region(root, LOWER).join(".regioninfo")).expect("there");
}

pub(super) fn empty_description_file(root: &Path) {
    write(region(root, LOWER).join(".regioninfo"), b"");
}

pub(super) fn description_file_of_another_region(root: &Path) {
    fs::copy(region(root, UPPER).join(".regioninfo"), region(root, LOWER).join(".regioninfo"))
        .expect("there");
}

/// Describes the lower region with an end key before that of `hbase:meta`.
pub(super) fn other_end_in_description_file(root: &Path) {
    let keys = RegionKeys { start: "", end: "f", id: 1_795_621_490_883 };
    write(region(root, LOWER).join(".regioninfo"), keys.file("walt"));
}

/// Takes the description of a region away, and its readable row.
pub(super) fn no_description_at_all(root: &Path) {
    no_description_file(root);
    empty_description_in_meta(root);
}

pub(super) fn no_meta(root: &Path) {
    fs::remove_dir_all(root.join("data/hbase/meta")).expect("there");
}

/// Returns the log of `hbase:meta`.
fn meta_log(root: &Path) -> PathBuf {
    let servers = fs::read_dir(root.join("WALs")).expect("there");
    let servers = servers.map(|entry| entry.expect("listed").path());
    let logs = servers.flat_map(|server| fs::read_dir(server).expect("a directory"));
    let mut logs = logs.map(|entry| entry.expect("listed").path());
    logs.find(|log| log.extension().is_some_and(|it| it == "meta")).expect("there")
}

pub(super) fn no_log_of_meta(root: &Path) {
    fs::remove_file(meta_log(root)).expect("there");
}

pub(super) fn damaged_log_of_meta(root: &Path) {
    let mut log = fs::read(meta_log(root)).expect("there");
    let middle = log.len() / 2;
    log[middle..][..64].fill(0xff);
    write(meta_log(root), log);
}

/// Cuts the log of `hbase:meta` within its last entry.
pub(super) fn cut_log_of_meta(root: &Path) {
    let log = fs::read(meta_log(root)).expect("there");
    write(meta_log(root), &log[..log.len() - 1]);
}

pub(super) fn log_of_meta_without_entries(root: &Path) {
    let log = fs::read(meta_log(root)).expect("there");
    write(meta_log(root), &log[..5 + usize::from(log[4])]);
}

pub(super) fn no_description_file_of_meta(root: &Path) {
    fs::remove_file(root.join("data/hbase/meta/1588230740/.regioninfo")).expect("there");
}

pub(super) fn damaged_schema_of_meta(root: &Path) {
    write(root.join("data/hbase/meta/.tabledesc/.tableinfo.0000000001.1039"), b"PBUF");
}
