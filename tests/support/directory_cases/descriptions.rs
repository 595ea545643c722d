//! Changes to the descriptions of tables, and to the lists of store file trackers.

use std::fs;
use std::path::{Path, PathBuf};

use super::{DirectoryCase, Outcome, T5, WALT};
use crate::directory_parts::tracker_file;

/// The cases.
pub(super) const CASES: &[DirectoryCase] = &[
    WALT.case(
        "a newer description of the table is cut off",
        cut_newer_description,
        Outcome::CellsAndWarning(
            "has 414 bytes, and 686 by its name: it was cut off; HBase takes the one before",
        ),
    ),
    WALT.case(
        "the only description of the table is cut off",
        cut_description,
        Outcome::Error("has 414 bytes, and 686 by its name: it was cut off"),
    )
    .verify("it was cut off"),
    WALT.case(
        "a newer description of the table is damaged",
        damaged_newer_description,
        Outcome::CellsAndWarning("HBase takes the one before"),
    ),
    WALT.case(
        "the description of the table is followed by other bytes",
        longer_description,
        Outcome::CellsAndWarning("has 690 bytes, and 686 by its name"),
    ),
    WALT.case(
        "a list of files is left in a table that does not use lists",
        stale_list,
        Outcome::Cells,
    ),
    T5.case(
        "a table that lists its files has lost a list",
        no_list,
        Outcome::Error("the list of the family's store file tracker is missing"),
    )
    .verify("the list of the family's store file tracker is missing"),
    T5.case(
        "the newest list of files is damaged",
        damaged_list,
        Outcome::Error("checksum mismatch"),
    )
    .verify("checksum mismatch"),
    T5.case(
        "the newest list of files is cut off",
        cut_list,
        Outcome::CellsAndWarning("f1: is cut off: HBase passes it over and reads f2"),
    )
    .verify("is cut off"),
    T5.case(
        "the newest list of files is of a newer version",
        list_of_a_newer_version,
        Outcome::Error("a tracker file of version 2"),
    )
    .verify("a tracker file of version 2"),
];

/// Returns the directory of the descriptions of table `walt`.
fn directory(root: &Path) -> PathBuf {
    root.join("data/default/walt/.tabledesc")
}

fn description(root: &Path) -> Vec<u8> {
    fs::read(directory(root).join(".tableinfo.0000000001.686")).expect("there")
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("it has one")).expect("ours");
    fs::write(path, bytes).expect("ours");
}

/// Where the description of family `g` begins in that of the table: the part before is a message too.
const BEFORE_FAMILY_G: usize = 414;

/// Adds a newer description that is cut off between two families.
fn cut_newer_description(root: &Path) {
    let bytes = description(root);
    let cut = directory(root).join(".tableinfo.0000000002.686");
    write(&cut, &bytes[..BEFORE_FAMILY_G]);
}

/// Cuts the only description off between two families.
fn cut_description(root: &Path) {
    let bytes = description(root);
    write(&directory(root).join(".tableinfo.0000000001.686"), &bytes[..BEFORE_FAMILY_G]);
}

/// Adds a newer description that is no message.
fn damaged_newer_description(root: &Path) {
    write(&directory(root).join(".tableinfo.0000000002.8"), b"PBUF\xff\xff\xff\xff");
}

/// Appends bytes to the description.
fn longer_description(root: &Path) {
    let bytes = [&description(root)[..], b"more"].concat();
    write(&directory(root).join(".tableinfo.0000000001.686"), bytes);
}

/// Adds a list that has only one of a family's files to a table that does not use lists.
fn stale_list(root: &Path) {
    let family = root.join("data/default/walt/7376d67c7d538f14a61907ae3ff3e36e/f");
    write(&family.join(".filelist/f1"), list(1, "1c233d7c04c54fbe8fc3a025ab1a89d3"));
}

fn list(version: u8, name: &str) -> Vec<u8> {
    let entry = [&[0x0a, name.len() as u8][..], name.as_bytes(), &[0x10, 0]].concat();
    let message = [&[0x08, 1, 0x12, entry.len() as u8][..], &entry, &[0x18, version]].concat();
    tracker_file(&message)
}

/// A family of table `t5`, which keeps lists, and its list.
const TRACKED: &str = "data/default/t5/1bc192e1c1ff9049e743103c3534b32c/g/.filelist";

fn no_list(root: &Path) {
    fs::remove_dir_all(root.join(TRACKED)).expect("there");
}

/// Damages the list, beside an older one.
fn damaged_list(root: &Path) {
    let newest = root.join(TRACKED).join("f2");
    let mut bytes = fs::read(&newest).expect("there");
    write(&root.join(TRACKED).join("f1"), list(1, "c626764a320e485e8be6703bdbe52706"));
    bytes[20] ^= 1;
    write(&newest, bytes);
}

/// Adds a list that is cut off, as a crash leaves it.
fn cut_list(root: &Path) {
    let bytes = fs::read(root.join(TRACKED).join("f2")).expect("there");
    write(&root.join(TRACKED).join("f1"), &bytes[..bytes.len() - 1]);
}

/// Adds a list of a newer HBase.
fn list_of_a_newer_version(root: &Path) {
    write(&root.join(TRACKED).join("f1"), list(2, "c626764a320e485e8be6703bdbe52706"));
}
