//! Changes that put files in the place of other files.

use std::fs;
use std::path::{Path, PathBuf};

use super::{DirectoryCase, Outcome, T1, T5, snapshot};

/// The cases.
pub(super) const CASES: &[DirectoryCase] = &[
    T1.case(
        "the parent of a split is in the archive, and its daughters have references",
        archive_parent,
        Outcome::CellsAndWarning("HBase looks for the HFile of the reference only at"),
    ),
    T1.case(
        "an HFile of another family is in the directory of a family",
        add_file_of_another_family,
        Outcome::Error("has cells of family f2, in the place of a file of f1"),
    )
    .verify("has cells of family f2, in the place of a file of f1"),
    T1.case(
        "an HFile of another region is in the directory of a family",
        add_file_of_another_region,
        Outcome::Error("has rows outside of its region"),
    )
    .verify("has rows outside of its region"),
    T1.case(
        "a reference leads to an HFile of another region",
        replace_referred_file,
        Outcome::Error("has rows outside of the half of it"),
    )
    .verify("has rows outside of the half of it"),
    T1.case(
        "a family has an HFile and a link to it",
        add_link_to_own_file,
        Outcome::Error("another store file of the family has the same cells"),
    )
    .verify("another store file of the family has the same cells"),
    snapshot("s6", "s6.cells.ndjson.gz")
        .case(
            "an HFile of a snapshot has another length",
            replace_file_of_snapshot,
            Outcome::Error("has 5,507 bytes; 8,336 are recorded"),
        )
        .verify("has 5,507 bytes; 8,336 are recorded"),
    T5.case(
        "an HFile that a tracker lists has another length",
        replace_tracked_file,
        Outcome::Error("has 5,180 bytes; 8,155 are recorded"),
    )
    .verify("has 5,180 bytes; 8,155 are recorded"),
    snapshot("s1", "s1.cells.ndjson.gz")
        .case(
            "a manifest lists a store file twice",
            list_file_twice,
            Outcome::Error("is listed twice"),
        )
        .verify("is listed twice"),
    snapshot("s1", "s1.cells.ndjson.gz")
        .case(
            "a manifest lists a family of a region twice",
            list_family_twice,
            Outcome::Error("lists the family f1 twice"),
        )
        .verify("lists the family f1 twice"),
    T1.case(
        "the directory of a family is a symbolic link out of the root",
        family_outside,
        Outcome::Error("out of the root directory"),
    )
    .verify("out of the root directory"),
    snapshot("s6", "s6.cells.ndjson.gz")
        .case(
            "the archive is a symbolic link out of the root",
            archive_outside,
            Outcome::Error("out of the root directory"),
        )
        .verify("out of the root directory"),
];

/// The upper daughter of a split in table t1, with rows from row-01500 to row-02000.
const DAUGHTER: &str = "data/default/t1/77a347dcd3a699aadaaa702b08393620";
/// The region after it.
const NEXT: &str = "data/default/t1/4820f17f61e882630b301c9225eb7ae9";
/// The region that was split.
const PARENT: &str = "data/default/t1/c65bc83cc9888373de3595d40b882f08";
/// The name of a new file.
const NEW_FILE: &str = "0123456789abcdef0123456789abcdef";

fn copy(root: &Path, from: &[&str], to: &[&str]) {
    let path = |names: &[&str]| names.iter().fold(root.to_owned(), |path, name| path.join(name));
    fs::copy(path(from), path(to)).expect("copied");
}

fn archive_parent(root: &Path) {
    let archived = root.join("archive").join(PARENT);
    for family in ["f1", "f2"] {
        fs::create_dir_all(archived.join(family)).expect("disk takes it");
        for file in fs::read_dir(root.join(PARENT).join(family)).expect("listed") {
            let file = file.expect("listed");
            let to = archived.join(family).join(file.file_name());
            fs::rename(file.path(), to).expect("renamed");
        }
    }
}

fn add_file_of_another_family(root: &Path) {
    copy(root, &[DAUGHTER, "f2", "03bba4d735fb4d6082a32ab66101d3ef"], &[DAUGHTER, "f1", NEW_FILE]);
}

fn add_file_of_another_region(root: &Path) {
    copy(root, &[NEXT, "f1", "f9fe50a80fdb4943b4e01feffe74edaa"], &[DAUGHTER, "f1", NEW_FILE]);
}

fn replace_referred_file(root: &Path) {
    let referred = [PARENT, "f1", "4277bcb3a95e4003983880da8caefbbd"];
    copy(root, &[NEXT, "f1", "f9fe50a80fdb4943b4e01feffe74edaa"], &referred);
}

fn add_link_to_own_file(root: &Path) {
    let link = "t1=77a347dcd3a699aadaaa702b08393620-1a86ce860e7a4bbebf72136cf79bde56";
    fs::write(root.join(DAUGHTER).join("f1").join(link), "").expect("ours");
}

fn replace_file_of_snapshot(root: &Path) {
    let family = "archive/data/ns1/t4/81c7d7c685350e54427f3ca115868cac/g";
    let names = ["9ef8ff8e901541bfb3fcd51893fdc278", "71d9a22cd95e49a79771aa6ae27439e7"];
    copy(root, &[family, names[0]], &[family, names[1]]);
}

fn replace_tracked_file(root: &Path) {
    let family = "data/default/t5/1bc192e1c1ff9049e743103c3534b32c/h";
    let names = ["1e60f5040c624f328ecd4d2f028ced0e", "8b0b822561ef49ceb8d7bdb86bffab92"];
    copy(root, &[family, names[0]], &[family, names[1]]);
}

fn list_file_twice(root: &Path) {
    let manifest = root.join(".hbase-snapshot/s1/data.manifest");
    let bytes = fs::read(&manifest).expect("there");
    // The regions, their families, and the store files of these.
    fs::write(&manifest, with_first_doubled(&bytes, &[2, 3, 2])).expect("ours");
}

fn list_family_twice(root: &Path) {
    let manifest = root.join(".hbase-snapshot/s1/data.manifest");
    let bytes = fs::read(&manifest).expect("there");
    fs::write(&manifest, with_first_doubled(&bytes, &[2, 3])).expect("ours");
}

/// Replaces a directory by a symbolic link to a copy of it outside of the root.
#[cfg(unix)]
fn lead_outside(root: &Path, path: &str) {
    let away: PathBuf = root.with_file_name("away");
    fs::rename(root.join(path), &away).expect("renamed");
    std::os::unix::fs::symlink(&away, root.join(path)).expect("linked");
}

#[cfg(unix)]
fn family_outside(root: &Path) {
    lead_outside(root, &[DAUGHTER, "f1"].join("/"));
}

#[cfg(unix)]
fn archive_outside(root: &Path) {
    lead_outside(root, "archive");
}

/// Doubles the first field at a path of field numbers in a protobuf message.
fn with_first_doubled(message: &[u8], path: &[u32]) -> Vec<u8> {
    let (number, deeper) = path.split_first().expect("a path of fields");
    let (mut changed, mut rest, mut is_done) = (Vec::new(), message, false);
    while !rest.is_empty() {
        let field = rest;
        let key = read_varint(&mut rest);
        let len = read_varint(&mut rest);
        if key & 7 != 2 {
            changed.extend_from_slice(&field[..field.len() - rest.len()]);
            continue;
        }
        let (content, after) = rest.split_at(usize::try_from(len).expect("a length"));
        rest = after;
        let is_it = key >> 3 == u64::from(*number) && !is_done;
        is_done |= is_it;
        let content = match deeper {
            [_, ..] if is_it => with_first_doubled(content, deeper),
            _ => content.to_vec(),
        };
        for _ in 0..if is_it && deeper.is_empty() { 2 } else { 1 } {
            write_varint(&mut changed, key);
            write_varint(&mut changed, u64::try_from(content.len()).expect("a length"));
            changed.extend_from_slice(&content);
        }
    }
    changed
}

/// Reads a varint: the key or the length of a field, or its number.
fn read_varint(bytes: &mut &[u8]) -> u64 {
    let len = bytes.iter().take_while(|byte| **byte >= 0x80).count() + 1;
    let (varint, rest) = bytes.split_at(len);
    *bytes = rest;
    varint.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f))
}

fn write_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).expect("seven bits") | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).expect("seven bits"));
}
