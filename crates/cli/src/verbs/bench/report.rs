//! The report of a benchmark, printed as tables or as JSON.

use std::io::{self, Write};

use hfile_cli::workload::{Measured, Mix};
use serde::Serialize;
use sstable::BlockSource;

use super::figures::FilterFigures;
use super::kind_row::{self, KindRow};
use crate::inputs::Target;
use crate::text::output::{Report, or_dash, write_table};
use crate::text::rounded::{show_nanos, show_percent, show_rate};
use crate::text::size_text::{show_count, show_size};
use crate::verbs::filter_query::FilterQuery;

/// The report of a whole run.
#[derive(Debug, Serialize)]
pub(super) struct BenchReport {
    /// The version of the JSON format.
    pub(super) schema: u32,
    /// Rows loaded into each store; with `--hfiles`, the sum of the rows of each file.
    pub(super) rows: u64,
    /// Files that each get may have to search.
    pub(super) files: u64,
    /// Mean bytes of a cell that is not delta-encoded: lengths, key and value.
    pub(super) cell_bytes: f64,
    /// The capacity of the block cache in bytes.
    pub(super) cache_bytes: u64,
    pub(super) seed: u64,
    /// The file of keys that `--input` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<String>,
    /// The files and directories of `--hfiles`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) paths: Vec<String>,
    /// Nanoseconds that reading the clock takes; every measured time includes them.
    pub(super) clock_ns: u64,
    /// How each store was loaded; empty with `--hfiles`.
    pub(super) loads: Vec<Load>,
    /// One row per filter and mix of gets, over all files together.
    pub(super) results: Vec<Row>,
    /// The measurements of each file of `--hfiles` alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) each_file: Vec<FileRow>,
    /// What other filters would do for existing files; empty unless they are compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) kinds: Vec<KindRow>,
    /// The filter that suits the files, with its figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recommendation: Option<String>,
    /// Files that could not be measured, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<LeftOut>,
}

/// How one store was loaded.
#[derive(Debug, Serialize)]
pub(super) struct Load {
    /// The name of the filter that the store's files have.
    pub(super) filter: &'static str,
    /// Rows written to the log and the memstore, and flushed to files with filters, per second.
    pub(super) rows_per_second: f64,
    /// Bytes of all store files.
    pub(super) file_bytes: u64,
    /// The family map; `None` without one.
    #[serde(flatten)]
    pub(super) map: Option<LoadedMap>,
    /// The form of the map if the store chose, as it does by default: `FILES`, `WIDE`, or `OFF` for
    /// no map. Only for a store that was loaded with a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) map_by_default: Option<&'static str>,
    /// The median time of a get of a present row that copies its cells, without counters.
    pub(super) ns_median_get: u64,
    /// The median time of the same gets with a borrowed answer.
    pub(super) ns_median_get_with: u64,
}

/// The family map of a loaded store.
#[derive(Debug, Serialize)]
pub(super) struct LoadedMap {
    pub(super) map_covered_files: u64,
    pub(super) map_bytes: u64,
    pub(super) map_bits_per_row: f64,
    /// Maps that were built from the rows of files; the rows of flushes are inserted instead.
    pub(super) map_builds: u64,
    /// Maps that replaced another one.
    pub(super) map_rebuilds: u64,
    /// The time of these builds, and of reading further files into maps.
    pub(super) map_build_seconds: f64,
    pub(super) map_failures: u64,
}

impl Load {
    /// Writes the figures of the family map and of its lookups in `results`.
    fn write_map(&self, out: &mut dyn Write, results: &[Row]) -> io::Result<()> {
        let Some(map) = &self.map else { return Ok(()) };
        writeln!(
            out,
            "{}: {} files covered; {}, {:.1} bits a row; {} builds, {} rebuilds, {:.3} s",
            self.filter,
            show_count(map.map_covered_files),
            show_size(map.map_bytes),
            map.map_bits_per_row,
            show_count(map.map_builds),
            show_count(map.map_rebuilds),
            map.map_build_seconds,
        )?;
        for row in results.iter().filter(|row| row.filter == self.filter) {
            writeln!(
                out,
                "  each {} get: {:.2} lookups, {:.4} files named, {:.4} false",
                row.gets,
                row.map_lookups_per_get,
                row.map_candidates_per_get,
                row.map_false_files_per_get,
            )?;
        }
        Ok(())
    }
}

/// The measurements of one filter under one mix of gets.
///
/// The fields that end in `per_get` are means over all gets of the mix.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) filter: &'static str,
    /// The name of the mix: gets of absent keys, of present keys, or of both.
    pub(super) gets: &'static str,
    /// The form of the family map, `FILES` or `WIDE`; `None` without a map.
    pub(super) map: Option<&'static str>,
    /// Bits per key of the filters of all files, or of the family map.
    pub(super) bits_per_key: Option<f64>,
    /// The error rate that the filters were sized for; with `--hfiles`, and if they were sized by bits, the rate of a
    /// query that follows from their sizes.
    pub(super) error_rate_promised: Option<f64>,
    /// The share of false positives among filter queries for keys that the file lacks.
    pub(super) error_rate_measured: Option<f64>,
    pub(super) files_considered_per_get: f64,
    pub(super) files_skipped_by_range_per_get: f64,
    pub(super) files_skipped_by_filter_per_get: f64,
    pub(super) files_skipped_by_map_per_get: f64,
    pub(super) filter_checks_per_get: f64,
    pub(super) filter_false_positives_per_get: f64,
    pub(super) map_lookups_per_get: f64,
    pub(super) map_candidates_per_get: f64,
    pub(super) map_false_files_per_get: f64,
    pub(super) data_blocks_per_get: f64,
    pub(super) blocks_from_file_per_get: f64,
    pub(super) blocks_from_cache_per_get: f64,
    pub(super) bytes_from_file_per_get: f64,
    pub(super) ns_median: u64,
    pub(super) ns_p99: u64,
    /// Gets that found their row.
    pub(super) found: u64,
    /// Number of gets.
    pub(super) asked: u64,
}

impl Row {
    /// Combines the figures of a filter with the measurements of a mix of gets.
    pub(super) fn new(filter: &FilterFigures, mix: Mix, measured: &Measured) -> Self {
        let trace = &measured.trace;
        let bytes_from_file: u64 = sstable::BlockKind::ALL
            .into_iter()
            .map(|kind| trace.bytes(kind, BlockSource::File))
            .sum();
        Self {
            filter: filter.name,
            gets: mix.name(),
            map: filter.map,
            bits_per_key: filter.bits_per_key,
            error_rate_promised: filter.error_rate,
            error_rate_measured: measured.error_rate(),
            files_considered_per_get: measured.per_get(trace.files_considered),
            files_skipped_by_range_per_get: measured.per_get(trace.files_skipped_by_range),
            files_skipped_by_filter_per_get: measured.per_get(trace.files_skipped_by_filter),
            files_skipped_by_map_per_get: measured.per_get(trace.files_skipped_by_map),
            filter_checks_per_get: measured.per_get(trace.filter_checks),
            filter_false_positives_per_get: measured.per_get(trace.filter_false_positives),
            map_lookups_per_get: measured.per_get(trace.map_lookups),
            map_candidates_per_get: measured.per_get(trace.map_candidates),
            map_false_files_per_get: measured.per_get(trace.map_false_files),
            data_blocks_per_get: measured.per_get(trace.data_blocks()),
            blocks_from_file_per_get: measured.per_get(trace.blocks_from(BlockSource::File)),
            blocks_from_cache_per_get: measured.per_get(trace.blocks_from(BlockSource::Cache)),
            bytes_from_file_per_get: measured.per_get(bytes_from_file),
            ns_median: measured.quantile(0.5),
            ns_p99: measured.quantile(0.99),
            found: measured.found,
            asked: measured.gets,
        }
    }

    /// Returns the cells of a line of the table.
    ///
    /// `by_range` adds the column of files skipped by their key range.
    pub(super) fn cells(&self, by_range: bool) -> Vec<String> {
        let mut cells = vec![
            self.map.map_or_else(
                || self.filter.to_owned(),
                |map| format!("{} ({})", self.filter, map.to_lowercase()),
            ),
            or_dash(self.bits_per_key, |bits| format!("{bits:.2}")),
            or_dash(self.error_rate_promised, show_percent),
            or_dash(self.error_rate_measured, show_percent),
            format!("{:.2}", self.files_considered_per_get),
        ];
        if by_range {
            cells.push(format!("{:.2}", self.files_skipped_by_range_per_get));
        }
        cells.extend([
            format!(
                "{:.2}",
                self.files_skipped_by_filter_per_get + self.files_skipped_by_map_per_get
            ),
            format!("{:.3}", self.data_blocks_per_get),
            format!("{:.3}", self.blocks_from_file_per_get),
            format!("{:.3}", self.blocks_from_cache_per_get),
            show_nanos(self.ns_median as f64),
            show_nanos(self.ns_p99 as f64),
        ]);
        cells
    }
}

pub(super) fn heading(by_range: bool) -> Vec<&'static str> {
    let mut heading = vec!["filter", "bits/key", "promised", "measured", "files"];
    if by_range {
        heading.push("by range");
    }
    heading.extend(["skipped", "data blocks", "from file", "from cache", "median", "p99"]);
    heading
}

/// The measurements of one existing file: gets of absent keys, with and without its filter.
#[derive(Debug, Serialize)]
pub(super) struct FileRow {
    pub(super) file: String,
    /// What a link or a reference leads to.
    #[serde(flatten)]
    pub(super) target: Target,
    /// What each get asks the filter.
    pub(super) query: FilterQuery,
    pub(super) rows: u64,
    /// Of the HFile.
    pub(super) bytes: u64,
    pub(super) first_row: String,
    pub(super) last_row: String,
    pub(super) filter: &'static str,
    /// The HBase type of the filter, such as `ROW`, if it is an HBase Bloom.
    pub(super) bloom_type: Option<&'static str>,
    pub(super) bits_per_key: Option<f64>,
    pub(super) error_rate_promised: Option<f64>,
    pub(super) error_rate_measured: Option<f64>,
    /// Number of gets: one per absent key that could be derived.
    pub(super) asked: u64,
    /// Mean data blocks per get without the filter; `None`, like the next fields, without gets.
    pub(super) data_blocks_per_get_without: Option<f64>,
    /// Mean data blocks per get with the filter.
    pub(super) data_blocks_per_get: Option<f64>,
    pub(super) ns_median_without: Option<f64>,
    pub(super) ns_median: Option<f64>,
}

impl FileRow {
    pub(super) fn cells(&self) -> Vec<String> {
        vec![
            self.file.clone(),
            show_count(self.rows),
            [self.filter, self.bloom_type.unwrap_or_default()].join(" ").trim_end().to_owned(),
            or_dash(self.bits_per_key, |bits| format!("{bits:.2}")),
            or_dash(self.error_rate_promised, show_percent),
            or_dash(self.error_rate_measured, show_percent),
            show_count(self.asked),
            or_dash(self.data_blocks_per_get_without, |blocks| format!("{blocks:.3}")),
            or_dash(self.data_blocks_per_get, |blocks| format!("{blocks:.3}")),
            or_dash(self.ns_median_without, show_nanos),
            or_dash(self.ns_median, show_nanos),
        ]
    }
}

pub(super) const FILE_HEADING: [&str; 11] = [
    "file",
    "rows",
    "filter",
    "bits/key",
    "promised",
    "measured",
    "gets",
    "blocks without",
    "with",
    "median without",
    "with",
];

/// What is asked of filters over columns.
pub(super) const COLUMNS_ASKED: &str = "\
ROWCOL filters answer only gets that name columns: the gets of all files together name none, those of each file
alone one. Their promised rate is that of such a get, which asks for the column and for deletes of the family.";

/// A file that could not be measured.
#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    pub(super) file: String,
    pub(super) why: String,
    /// The exit status that the failure causes.
    #[serde(skip)]
    pub(super) status: u8,
}

impl Report for BenchReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{} rows in {} files", show_count(self.rows), show_count(self.files))?;
        if let Some(input) = &self.input {
            write!(out, ", keys from {input}")?;
        }
        write!(out, "; {:.0} bytes a cell", self.cell_bytes)?;
        if let Some(most) = self.loads.iter().map(|load| load.file_bytes).max() {
            write!(out, ", {} on disk", show_size(most))?;
        }
        writeln!(out, "; block cache {}; seed {}", show_size(self.cache_bytes), self.seed)?;
        if !self.loads.is_empty() {
            let rates: Vec<String> = self
                .loads
                .iter()
                .map(|load| format!("{} {}", load.filter, show_rate(load.rows_per_second)))
                .collect();
            writeln!(out, "loaded, rows a second: {}", rates.join(", "))?;
        }
        writeln!(out)?;
        let by_range = self.results.iter().any(|row| row.files_skipped_by_range_per_get >= 0.005);
        for mix in self.results.chunk_by(|one, other| one.gets == other.gets) {
            let [first, ..] = mix else { continue };
            let (asked, found) = (show_count(first.asked), show_count(first.found));
            writeln!(out, "{} rows: {asked} gets, {found} found", first.gets)?;
            let rows = mix.iter().map(|row| row.cells(by_range));
            write_table(out, &heading(by_range), rows)?;
            writeln!(out)?;
        }
        let range = if by_range { ", skipped by key range," } else { "" };
        writeln!(
            out,
            "Each get: files considered{range} and skipped by their filter; data blocks touched; \
             blocks of all kinds\nfrom file and from cache; time, of which reading the clock \
             takes {}. Every value was checked.",
            show_nanos(self.clock_ns as f64)
        )?;
        for load in &self.loads {
            load.write_map(out, &self.results)?;
        }
        let by_default = self.loads.iter().find_map(|load| load.map_by_default);
        if let Some(mode) = by_default {
            let made = match mode {
                "FILES" => "a map of files, as in the row family-map",
                "WIDE" => "a wide map, as in the row family-map-wide",
                _ => "no map, and gets query the filters of the files",
            };
            writeln!(out, "By default (FAMILY_MAP AUTO), such a store has {made}.")?;
        }
        let figures = self.loads.iter().map(|load| {
            let [get, with] = [load.ns_median_get, load.ns_median_get_with];
            let [get, with] = [get, with].map(|nanos| show_nanos(nanos as f64));
            format!("{} {get} / {with}", load.filter)
        });
        let pairs: Vec<_> = figures.collect();
        if !pairs.is_empty() {
            let shown = pairs.join(", ");
            writeln!(out, "present rows without counters, get / get_with: {shown}")?;
        }
        if !self.each_file.is_empty() {
            writeln!(out, "\nEach file alone, absent gets inside its key range:\n")?;
            write_table(out, &FILE_HEADING, self.each_file.iter().map(FileRow::cells))?;
            if self.each_file.iter().any(|file| file.query == FilterQuery::Column) {
                writeln!(out, "\n{COLUMNS_ASKED}")?;
            }
        }
        if !self.kinds.is_empty() {
            writeln!(out, "\nFilters built from the rows of these files, absent gets:\n")?;
            write_table(out, &kind_row::HEADING, self.kinds.iter().map(KindRow::cells))?;
        }
        if let Some(recommendation) = &self.recommendation {
            writeln!(out, "\n{recommendation}")?;
        }
        if !self.left_out.is_empty() {
            writeln!(out, "\nNot measured:")?;
            for file in &self.left_out {
                writeln!(out, "  {}", file.why)?;
            }
        }
        Ok(())
    }
}
