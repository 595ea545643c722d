//! `manifest.json`: what an export wrote.
//!
//! The file is replaced after each region, so that a stopped export can go on with the others.

use std::fmt::Write as _;

use directories::{MissingCells, Table};
use filter::{KeyHash, Seed};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The manifest of an export.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Manifest {
    pub(super) schema: u32,
    /// Whether all regions are exported.
    pub(super) complete: bool,
    pub(super) source: Source,
    pub(super) format: String,
    pub(super) options: Value,
    /// The time by which cells expire, in milliseconds since 1970.
    pub(super) now: i64,
    pub(super) rows: u64,
    pub(super) cells: u64,
    pub(super) bytes: u64,
    /// The regions that are exported, in the order of their rows.
    pub(super) regions: Vec<ExportedRegion>,
}

/// The table that is exported.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Source {
    pub(super) root: String,
    /// `null` for a table.
    pub(super) snapshot: Option<String>,
    pub(super) table: String,
    /// The number of regions.
    pub(super) regions: u64,
    /// A hash of the names of all store files and logs, by which a changed table is recognised.
    pub(super) files_hash: String,
}

/// An exported region.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct ExportedRegion {
    pub(super) region: String,
    /// The region's first row, as HBase prints it; empty for the first region.
    pub(super) start_row: String,
    /// The row before which the region ends; empty for the last region.
    pub(super) end_row: String,
    pub(super) rows: u64,
    pub(super) cells: u64,
    pub(super) files: Vec<ExportedFile>,
    /// What was left out because it is damaged; omitted without damage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) missing: Vec<Missing>,
}

/// An exported file.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct ExportedFile {
    /// The path in the directory of the export.
    pub(super) file: String,
    /// The family, of an HFile; omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) family: Option<String>,
    pub(super) first_row: String,
    pub(super) last_row: String,
    pub(super) rows: u64,
    pub(super) cells: u64,
    pub(super) bytes: u64,
}

/// Cells that were left out because a file is damaged or missing.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Missing {
    pub(super) file: String,
    pub(super) what: String,
    pub(super) rows: String,
}

impl From<&MissingCells> for Missing {
    fn from(missing: &MissingCells) -> Self {
        let MissingCells { file, what, rows, .. } = missing;
        Self { file: file.clone(), what: what.clone(), rows: rows.to_string() }
    }
}

impl Source {
    /// Describes the table.
    pub(super) fn new(table: &Table, snapshot: Option<&str>) -> Self {
        let mut files = String::new();
        for region in &table.regions {
            let _ = writeln!(files, "{}", region.name());
            for family in &region.families {
                for file in &family.files {
                    let _ = writeln!(
                        files,
                        "{} {} {:?}",
                        sstable::escape(&family.name),
                        file.name,
                        file.len
                    );
                }
            }
            for log in &region.recovered_edits {
                let _ = writeln!(files, "{}", log.display());
            }
        }
        for log in &table.logs {
            let _ = writeln!(files, "{}", log.display());
        }
        let hash = KeyHash::new(Seed::new(0), files.as_bytes());
        Self {
            root: table.root().display().to_string(),
            snapshot: snapshot.map(str::to_owned),
            table: table.name.to_string(),
            regions: table.regions.len() as u64,
            files_hash: format!("{:016x}", hash.get()),
        }
    }

    /// Whether another description is of the same files, perhaps at another path.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let Self { root: _, snapshot, table, regions, files_hash } = self;
        (snapshot, table, regions, files_hash)
            == (&other.snapshot, &other.table, &other.regions, &other.files_hash)
    }
}

impl Manifest {
    /// The name of the file.
    pub(super) const NAME: &'static str = "manifest.json";

    /// Whether a region is exported.
    pub(super) fn has(&self, region: &str) -> bool {
        self.regions.iter().any(|known| known.region == region)
    }

    /// Returns all files.
    pub(super) fn files(&self) -> impl Iterator<Item = &ExportedFile> {
        self.regions.iter().flat_map(|region| &region.files)
    }

    /// Adds a region.
    pub(super) fn add(&mut self, region: ExportedRegion) {
        self.regions.push(region);
        self.count();
    }

    /// Counts the contents again.
    pub(super) fn count(&mut self) {
        self.rows = self.regions.iter().map(|region| region.rows).sum();
        self.cells = self.regions.iter().map(|region| region.cells).sum();
        self.bytes = self.files().map(|file| file.bytes).sum();
    }
}
