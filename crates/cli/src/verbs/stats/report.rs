//! The report of `hfile stats`. The JSON output has its fields.

use std::collections::BTreeMap;

use cells::time_text;
use serde::Serialize;
use sstable::CellType;

use super::columns::{ColumnReport, Tally};
use super::file::FileStats;
use super::histograms::Histograms;
use super::largest::{LargestCell, LargestRow};
use super::parts::Parts;
use super::tags::TagsReport;

use crate::inputs::FailedFile;

/// The statistics of one file, or of several together.
#[derive(Serialize)]
pub(super) struct StatsReport {
    schema: u32,
    /// The files that were read, completely or in part.
    pub(super) files: Vec<String>,
    /// Whether every file could be read to its end.
    pub(super) complete: bool,
    /// The files that could not, and why.
    pub(super) problems: Vec<FailedFile>,
    /// Bytes of the files.
    pub(super) size: u64,
    pub(super) cells: u64,
    /// The sum of the rows of each file. A row in two files counts twice.
    pub(super) rows: u64,
    #[serde(flatten)]
    pub(super) histograms: Histograms,
    pub(super) types: BTreeMap<&'static str, u64>,
    pub(super) tags: TagsReport,
    pub(super) timestamps: Option<TimesReport>,
    pub(super) largest_row_by_bytes: Option<LargestRow>,
    pub(super) largest_row_by_cells: Option<LargestRow>,
    pub(super) largest_cell: Option<LargestCell>,
    /// The column with most bytes first.
    pub(super) columns: Vec<ColumnReport>,
    /// Whether `columns` has all columns.
    pub(super) columns_complete: bool,
    /// The cells of columns that are not in `columns`.
    pub(super) other_columns: Tally,
    pub(super) parts: Parts,
}

/// The range of the timestamps, both ends included.
#[derive(Serialize)]
pub(super) struct TimesReport {
    pub(super) min: i64,
    pub(super) max: i64,
    min_date: String,
    max_date: String,
}

impl StatsReport {
    /// Makes a report of the statistics of `files`.
    pub(super) fn new(files: Vec<String>, problems: Vec<FailedFile>, stats: FileStats) -> Self {
        let FileStats { size, cells, parts, problem: _ } = stats;
        let types = CellType::ALL.iter().zip(cells.types);
        Self {
            schema: 1,
            files,
            complete: problems.is_empty(),
            problems,
            size,
            cells: cells.histograms.key_bytes.count(),
            rows: cells.histograms.row_bytes.count(),
            types: types.map(|(cell_type, count)| (cell_type.name(), count)).collect(),
            tags: cells.tags.report(),
            timestamps: cells.timestamps.map(|(min, max)| TimesReport {
                min,
                max,
                min_date: time_text(min),
                max_date: time_text(max),
            }),
            largest_row_by_bytes: cells.largest.row_by_bytes,
            largest_row_by_cells: cells.largest.row_by_cells,
            largest_cell: cells.largest.cell,
            columns: cells.columns.report(),
            columns_complete: cells.columns.others() == Tally::default(),
            other_columns: cells.columns.others(),
            histograms: cells.histograms,
            parts,
        }
    }
}
