//! Root directories as HBase wrote them.

use std::fs;
use std::path::Path;

use super::{DirectoryCase, Outcome, RECOVERED, T1, T5, WALT, snapshot};

/// The cases.
pub(super) const CASES: &[DirectoryCase] = &[
    WALT.case("nothing is changed", nothing, Outcome::Cells),
    T1.case(
        "nothing is changed in a table with splits, bulk loads and logs",
        nothing,
        Outcome::Cells,
    ),
    snapshot("s10", "s10.cells.ndjson.gz").case(
        "nothing is changed in a snapshot with references to links",
        nothing,
        Outcome::Cells,
    ),
    T5.case("nothing is changed in a table that lists its files", nothing, Outcome::Cells),
    RECOVERED.case(
        "a log was split to HFiles",
        nothing,
        Outcome::CellsAndWarning("is missing; the key ranges of the directories decide"),
    ),
    RECOVERED.case(
        "a recovered HFile has no bytes beside the others",
        empty_recovered_hfile,
        Outcome::CellsAndWarning("the recovered HFile has no bytes"),
    ),
    WALT.case(
        "recovered edits are where HBase 2.1 wrote them",
        edits_of_version_2_1,
        Outcome::Cells,
    ),
    WALT.case("there is no directory of logs", no_logs, Outcome::Error("hbase.wal.dir")),
    WALT.case("a log has no bytes", empty_log, Outcome::CellsAndWarning("the log has no bytes")),
    WALT.case(
        "there are logs that HBase could not read",
        corrupt_log,
        Outcome::CellsAndWarning("corrupt: has logs that HBase could not read"),
    ),
];

/// A region of `walt`.
const REGION: &str = "83a2af9efa70f232938815b9cf317a11";
/// The log of `walt`.
const LOG: &str =
    "WALs/localhost,41253,1795621469921/localhost%2C41253%2C1795621469921.1795621474690";

fn nothing(_root: &Path) {}

fn empty_recovered_hfile(root: &Path) {
    let directory = root.join("data/default/walt").join(REGION).join("g/recovered.hfiles");
    fs::write(directory.join("0123456789abcdef0123456789abcdef"), b"").expect("disk takes it");
}

/// The log stands for the edits of each region: HBase skips the entries of other regions.
fn edits_of_version_2_1(root: &Path) {
    for region in fs::read_dir(root.join("data/default/walt")).expect("there") {
        let name = region.expect("readable").file_name();
        let directory = root.join("default/walt").join(name).join("recovered.edits");
        fs::create_dir_all(&directory).expect("disk takes it");
        fs::copy(root.join(LOG), directory.join("99")).expect("disk takes it");
    }
    fs::remove_file(root.join(LOG)).expect("there");
}

fn no_logs(root: &Path) {
    fs::remove_dir_all(root.join("WALs")).expect("there");
}

fn empty_log(root: &Path) {
    fs::write(root.join("WALs/localhost,41253,1795621469921/open.1"), b"").expect("disk takes it");
}

fn corrupt_log(root: &Path) {
    fs::create_dir(root.join("corrupt")).expect("disk takes it");
    fs::copy(root.join(LOG), root.join("corrupt/log")).expect("disk takes it");
}
