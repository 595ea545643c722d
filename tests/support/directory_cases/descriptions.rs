//! Changes to the descriptions of tables, and to the lists of store file trackers.

use std::fs;
use std::path::{Path, PathBuf};

use super::Base::{Snapshots, Walt};
use super::{DirectoryCase, Outcome, T5, WALT};

/// The cases.
pub(super) const CASES: &[DirectoryCase] = &[
    DirectoryCase {
        name: "a newer description of the table is cut off",
        base: Walt,
        change: cut_newer_description,
        place: WALT,
        outcome: Outcome::CellsAndWarning(
            "has 414 bytes, and 686 by its name: it was cut off; HBase takes the one before",
        ),
        verify: None,
    },
    DirectoryCase {
        name: "the only description of the table is cut off",
        base: Walt,
        change: cut_description,
        place: WALT,
        outcome: Outcome::Error("has 414 bytes, and 686 by its name: it was cut off"),
        verify: Some("it was cut off"),
    },
    DirectoryCase {
        name: "a newer description of the table is damaged",
        base: Walt,
        change: damaged_newer_description,
        place: WALT,
        outcome: Outcome::CellsAndWarning("HBase takes the one before"),
        verify: None,
    },
    DirectoryCase {
        name: "the description of the table is followed by other bytes",
        base: Walt,
        change: longer_description,
        place: WALT,
        outcome: Outcome::CellsAndWarning("has 690 bytes, and 686 by its name"),
        verify: None,
    },
    DirectoryCase {
        name: "a list of files is left in a table that does not use lists",
        base: Walt,
        change: stale_list,
        place: WALT,
        outcome: Outcome::Cells,
        verify: None,
    },
    DirectoryCase {
        name: "a table that lists its files has lost a list",
        base: Snapshots,
        change: no_list,
        place: T5,
        outcome: Outcome::Error("the list of the family's store file tracker is missing"),
        verify: Some("the list of the family's store file tracker is missing"),
    },
    DirectoryCase {
        name: "the newest list of files is damaged",
        base: Snapshots,
        change: damaged_list,
        place: T5,
        outcome: Outcome::Error("checksum mismatch"),
        verify: Some("checksum mismatch"),
    },
    DirectoryCase {
        name: "the newest list of files is cut off",
        base: Snapshots,
        change: cut_list,
        place: T5,
        outcome: Outcome::CellsAndWarning("f1: is cut off: HBase passes it over and reads f2"),
        verify: Some("is cut off"),
    },
    DirectoryCase {
        name: "the newest list of files is of a newer version",
        base: Snapshots,
        change: list_of_a_newer_version,
        place: T5,
        outcome: Outcome::Error("a tracker file of version 2"),
        verify: Some("a tracker file of version 2"),
    },
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
    let checksum = crate::crc32(&message).to_be_bytes();
    [&(message.len() as u32).to_be_bytes()[..], &message, &checksum].concat()
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
