//! `manifest.json`: what an export wrote.
//!
//! The file is replaced while the export runs, so that a stopped export can go on with the other parts.

use std::collections::HashSet;

use hbase_files::MissingCells;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::source_state::SourceState;

/// The manifest of an export.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Manifest {
    pub(super) schema: u32,
    /// Whether all regions are exported, and no cells are missing.
    pub(super) complete: bool,
    pub(super) source: Source,
    pub(super) format: String,
    pub(super) options: Value,
    /// The time by which cells expire, in milliseconds since 1970.
    pub(super) now: i64,
    pub(super) rows: u64,
    pub(super) cells: u64,
    pub(super) bytes: u64,
    /// The regions, row ranges or HFiles that are exported, in their order.
    pub(super) regions: Vec<ExportedRegion>,
    /// What was left out of the source as a whole because it is damaged; omitted without damage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) missing: Vec<Missing>,
    /// What the names of files begin with that may belong to no region, because a run was stopped;
    /// omitted when all regions are exported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unfinished: Vec<String>,
    /// The unfinished logs whose regions are exported.
    #[serde(skip)]
    pub(super) finished: HashSet<String>,
}

/// What is exported.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum Source {
    /// A table or a snapshot.
    Table {
        root: String,
        /// `null` for a table.
        snapshot: Option<String>,
        table: String,
        /// The number of regions.
        regions: u64,
        /// The store files, the logs that are read, and the schema.
        #[serde(flatten)]
        state: SourceState,
    },
    /// A store.
    Store {
        store: String,
        families: Vec<String>,
        /// The files of the store, the newest sequence id and the row ranges.
        #[serde(flatten)]
        state: SourceState,
    },
    /// HFiles.
    Files {
        /// The number of files.
        files: u64,
        /// The files and their halves.
        #[serde(flatten)]
        state: SourceState,
    },
}

/// An exported region; of a store a row range, and of HFiles one of them.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct ExportedRegion {
    /// The name of the region, the number of the row range, or the path of the file.
    pub(super) region: String,
    /// The first row of its range, as HBase prints it; empty for the first region, and for a file.
    pub(super) start_row: String,
    /// The row before which the range ends; empty for the last region, and for a file.
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
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
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
    /// Returns whether another description is of the same table, store or files, perhaps changed or
    /// at another path.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Table { snapshot, table, .. },
                Self::Table { snapshot: other_snapshot, table: other_table, .. },
            ) => (snapshot, table) == (other_snapshot, other_table),
            (Self::Store { .. }, Self::Store { .. }) | (Self::Files { .. }, Self::Files { .. }) => {
                true
            }
            _ => false,
        }
    }

    /// Returns the state of its files.
    pub(super) const fn state(&self) -> &SourceState {
        match self {
            Self::Table { state, .. } | Self::Store { state, .. } | Self::Files { state, .. } => {
                state
            }
        }
    }

    /// Returns the name of the table, if the source is one.
    pub(super) fn table(&self) -> Option<&str> {
        match self {
            Self::Table { table, .. } => Some(table),
            _ => None,
        }
    }

    /// Returns what a part is called.
    pub(super) const fn unit(&self) -> &'static str {
        match self {
            Self::Table { .. } => "region",
            Self::Store { .. } => "row range",
            Self::Files { .. } => "HFile",
        }
    }
}

impl Manifest {
    /// The name of the file.
    pub(super) const NAME: &'static str = "manifest.json";

    /// Returns all files.
    pub(super) fn files(&self) -> impl Iterator<Item = &ExportedFile> {
        self.regions.iter().flat_map(|region| &region.files)
    }

    /// Adds a region, whose files begin with a prefix.
    pub(super) fn add(&mut self, region: ExportedRegion, prefix: String) {
        self.regions.push(region);
        self.finished.insert(prefix);
    }

    /// Counts the contents, removes the finished regions from `unfinished`, and returns the manifest to
    /// write.
    pub(super) fn without_finished(&mut self) -> &Self {
        self.count();
        let finished = std::mem::take(&mut self.finished);
        self.unfinished.retain(|prefix| !finished.contains(prefix));
        self
    }

    /// Whether no cells are missing.
    pub(super) fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.regions.iter().all(|region| region.missing.is_empty())
    }

    /// Counts the contents again.
    pub(super) fn count(&mut self) {
        self.rows = self.regions.iter().map(|region| region.rows).sum();
        self.cells = self.regions.iter().map(|region| region.cells).sum();
        self.bytes = self.files().map(|file| file.bytes).sum();
    }
}
