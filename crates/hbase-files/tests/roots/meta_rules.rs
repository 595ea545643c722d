//! When `hbase:meta` decides which regions count: ids of regions that are equal, less and greater, and its logs.

use std::fs;
use std::path::{Path, PathBuf};

use hbase_files::{Region, RegionInfo, Table};
use md5::{Digest, Md5};
use sstable::{Cell, CellRef, Comparator, Timestamp, WriterOptions};
use support::cells::hfile;
use support::hex;
use support::meta_log::RegionKeys;
use support::root_directory::RootCopy;

/// The id of the regions of `walt`.
const ID: u64 = 1_795_621_490_883;

/// Returns the log of `hbase:meta`.
fn meta_log(root: &Path) -> PathBuf {
    let mut logs = support::files_below(&root.join("WALs")).into_iter();
    logs.find(|log| log.to_string_lossy().ends_with(".meta")).expect("there")
}

/// Writes a store file of `hbase:meta` with the regions of `walt`, whose rows are only in the log.
fn flush_meta(copy: &RootCopy) {
    let regions = copy.table("walt").regions;
    let options = WriterOptions::default().comparator(Comparator::Meta);
    let put = |region: &Region| {
        let RegionInfo { start_key, end_key, id, encoded_name, .. } = &region.info;
        let [start, end] = [start_key, end_key].map(|key| std::str::from_utf8(key).expect("text"));
        let row = format!("walt,{start},{id}.{encoded_name}.");
        let value = RegionKeys { start, end, id: *id }.meta_value("walt");
        CellRef::put(row.as_bytes(), b"info", b"regioninfo", Timestamp::new(1), &value).to_cell()
    };
    let cells: Vec<Cell> = regions.iter().map(put).collect();
    let path = copy.path().join("data/hbase/meta/1588230740/info/f1");
    fs::write(&path, hfile(&path, options, cells.iter().map(Cell::as_ref))).expect("ours");
}

/// Leaves the directory of a region that `hbase:meta` lacks.
fn leave_region(root: &Path, start: &str, end: &str, id: u64) {
    let name = hex(&Md5::digest(format!("walt,{start},{id}")));
    let region = root.join("data/default/walt").join(name);
    for family in ["f", "g"] {
        fs::create_dir_all(region.join(family)).expect("ours");
    }
    fs::write(region.join(".regioninfo"), RegionKeys { start, end, id }.file("walt"))
        .expect("ours");
}

/// Returns whether the table has its two regions only, and the warnings.
fn decides(table: &Table) -> (bool, String) {
    let warnings: Vec<_> = table.warnings.iter().map(ToString::to_string).collect();
    (table.regions.len() == 2 && table.problems.is_empty(), warnings.join("\n"))
}

/// Without a log, `hbase:meta` may be older than the directories.
#[test]
fn meta_without_a_log_decides_unless_a_directory_is_newer_than_its_regions() {
    // A log without a whole header has nothing to read, as one that is not there.
    for header in [None, Some(0), Some(1), Some(4)] {
        for (id, is_old) in [(ID - 1, false), (ID, false), (ID + 1, true)] {
            // In one region of meta, and in both.
            for (start, end) in [("b", "f"), ("b", "p")] {
                let copy = RootCopy::walt();
                flush_meta(&copy);
                let log = meta_log(&copy.path());
                let bytes = fs::read(&log).expect("there");
                match header {
                    None => fs::remove_file(&log).expect("ours"),
                    Some(len) => fs::write(&log, &bytes[..len]).expect("ours"),
                }
                leave_region(&copy.path(), start, end, id);
                let (decides, warnings) = decides(&copy.table("walt"));
                assert_eq!(decides, !is_old, "{header:?} {id} {start}..{end}: {warnings}");
                assert!(warnings.contains("no log of it"), "{header:?}: {warnings}");
            }
        }
    }
}

#[test]
fn meta_with_a_log_decides_whatever_the_ids_of_directories() {
    for id in [ID - 1, ID, ID + 1] {
        let copy = RootCopy::walt();
        leave_region(&copy.path(), "b", "f", id);
        let (decides, warnings) = decides(&copy.table("walt"));
        assert!(decides && !warnings.contains("no log of it"), "{id}: {warnings}");
    }
}
