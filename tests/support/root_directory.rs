//! The root directory with snapshots of `tests/data/snapshots`, unpacked for one test.

use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;

/// A copy of the root directory that HBase wrote, which a test may change.
#[derive(Debug)]
pub struct RootCopy {
    directory: TempDir,
}

impl RootCopy {
    /// Unpacks the root directory.
    ///
    /// # Panics
    ///
    /// If the disk does not take it.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = File::open(data().join("rootdir.tar.gz")).expect("the archive is there");
        tar::Archive::new(GzDecoder::new(file)).unpack(directory.path()).expect("disk takes it");
        Self { directory }
    }

    /// Returns the path of the root directory.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("rootdir")
    }
}

impl Default for RootCopy {
    fn default() -> Self {
        Self::new()
    }
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
