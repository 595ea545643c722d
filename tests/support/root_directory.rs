//! Root directories that HBase wrote, unpacked for one test.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::GzDecoder;
use hbase_files::{LocalTree, RootDirectory, Table, TableScan};
use serde_json::Value;
use sstable::{Cell, Timestamp};
use tempfile::TempDir;

/// The time at which all cells of the root directory of `tests/data/snapshots` are unexpired.
pub const NOW: Timestamp = Timestamp::new(1_795_412_744_014);

/// A copy of a root directory that HBase wrote, which a test may change.
#[derive(Debug)]
pub struct RootCopy {
    directory: TempDir,
    name: &'static str,
}

impl RootCopy {
    /// Unpacks the root directory of `tests/data/snapshots`.
    ///
    /// # Panics
    ///
    /// If the disk does not take it.
    pub fn new() -> Self {
        Self::unpack(&data().join("rootdir.tar.gz"), "rootdir")
    }

    /// Unpacks `tests/data/reports/walt-root.tar.gz`: one small table `walt` with logs.
    ///
    /// # Panics
    ///
    /// If the disk does not take it.
    pub fn walt() -> Self {
        Self::unpack(&reports().join("walt-root.tar.gz"), "root")
    }

    /// Unpacks `tests/data/reports/recovered-hfiles-root.tar.gz`: table `walt` after its log was
    /// split to HFiles. Its `WALs` is empty.
    ///
    /// # Panics
    ///
    /// If the disk does not take it.
    pub fn recovered_hfiles() -> Self {
        let copy = Self::unpack(&reports().join("recovered-hfiles-root.tar.gz"), "root");
        fs::create_dir(copy.path().join("WALs")).expect("disk takes it");
        copy
    }

    /// Unpacks `tests/data/reports/root-merged-2.1.10.tar.gz`: table `m` of HBase 2.1, after splits, merges and
    /// compactions. The directory `truth` beside the root has the cells that HBase read.
    ///
    /// # Panics
    ///
    /// If the disk does not take it.
    pub fn merged_2_1() -> Self {
        Self::unpack(&reports().join("root-merged-2.1.10.tar.gz"), "root")
    }

    /// Unpacks `tests/data/reports/release-1.7-root.tar.gz`: tables of HBase 1.7 that later releases do
    /// not write.
    ///
    /// # Panics
    ///
    /// If the disk does not take it.
    pub fn release_1_7() -> Self {
        Self::unpack(&reports().join("release-1.7-root.tar.gz"), "root")
    }

    fn unpack(archive: &Path, name: &'static str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        unpack(archive, directory.path());
        Self { directory, name }
    }

    /// Opens the root directory.
    ///
    /// # Panics
    ///
    /// If it is none.
    pub fn open(&self) -> RootDirectory {
        RootDirectory::open(Arc::new(LocalTree), &self.path()).expect("a root directory")
    }

    /// Opens a table, whose description must be sound.
    ///
    /// # Panics
    ///
    /// If it is damaged, or there is no such table.
    pub fn table(&self, name: &str) -> Table {
        self.open().table(&name.parse().expect("a name")).expect("sound")
    }

    /// Opens the table of a snapshot, as [`table`](Self::table) does.
    ///
    /// # Panics
    ///
    /// If it is damaged, or there is no such snapshot.
    pub fn snapshot(&self, name: &str) -> Table {
        self.open().snapshot(name).expect("sound").table
    }

    /// Returns the path of the root directory as an argument of a command.
    ///
    /// # Panics
    ///
    /// If it is no text.
    pub fn argument(&self) -> String {
        self.path().to_str().expect("UTF-8").to_owned()
    }

    /// Returns the path of the root directory, which is not removed.
    pub fn keep(self) -> PathBuf {
        self.directory.keep().join(self.name)
    }

    /// Returns the path of the root directory.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join(self.name)
    }
}

impl Default for RootCopy {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the scan of all cells at [`NOW`].
pub fn scan() -> TableScan {
    TableScan::default().now(NOW)
}

/// Returns the cells of a scan before its first error, and the error.
pub fn until_error(table: &Table, scan: &TableScan) -> (Vec<Cell>, Option<String>) {
    let mut cells = Vec::new();
    let outcome = table.scan(scan).and_then(|mut scanned| {
        scanned.try_for_each(|cell| {
            cells.push(cell?);
            Ok(())
        })
    });
    (cells, outcome.err().map(|error| error.to_string()))
}

/// Unpacks a `.tar.gz` into a directory.
///
/// # Panics
///
/// If there is none, or the disk does not take it.
pub fn unpack(archive: &Path, place: &Path) {
    let file = File::open(archive).expect("the archive is there");
    tar::Archive::new(GzDecoder::new(file)).unpack(place).expect("disk takes it");
}

/// Returns what HBase says of the root directory.
///
/// # Panics
///
/// If the manifest cannot be read.
pub fn manifest() -> Value {
    let bytes = std::fs::read(data().join("manifest.json")).expect("the manifest is there");
    serde_json::from_slice(&bytes).expect("the manifest is JSON")
}

/// Returns the path of the directory with the archive, the manifest and the cells.
pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/snapshots")
}

/// Returns the path of the inputs that were made after bug reports.
pub fn reports() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/reports")
}
