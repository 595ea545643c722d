//! The report of a benchmark as one HTML page with charts, without scripts and external resources.

use std::fmt::Write as _;

use hfile_cli::charts::{Chart, Group, Row as ChartRow, escape, table};
use hfile_cli::workload::Spread;

use super::key_ranges::key_ranges;
use super::kind_row::{self, KindRow};
use super::report::{BenchReport, COLUMNS_ASKED, FILE_HEADING, FileRow, Row, heading};
use super::short_name::short_names;
use crate::text::output::Report as _;
use crate::text::size_text::show_number;
use crate::verbs::filter_query::FilterQuery;

/// The files of a chart: those with the most rows. The table has all.
const CHART_FILES: usize = 40;

/// Returns the page.
pub(super) fn page(report: &BenchReport) -> String {
    let mut out = String::new();
    if let Some(recommendation) = &report.recommendation {
        let _ =
            writeln!(out, "<p id=\"headline\" class=\"headline\">{}</p>", escape(recommendation));
    }
    for left_out in &report.left_out {
        let _ = writeln!(out, "<p class=\"warning\">Not measured: {}</p>", escape(&left_out.why));
    }
    for chart in charts(report) {
        if !chart.groups.is_empty() {
            out.push_str(&chart.html());
        }
    }
    if !report.each_file.is_empty() {
        out.push_str(&key_ranges(&largest(&report.each_file), &shown_files(report)));
    }
    tables(&mut out, report);
    let mut bytes = Vec::new();
    // Memory takes it.
    let _ = report.write_text(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let _ = writeln!(
        out,
        "<details><summary>The report as text</summary><div class=\"scroll\" tabindex=\"0\"><pre>{}</pre></div>\
         </details>",
        escape(&text)
    );
    hfile_cli::charts::page(&title(report), &out)
}

/// Names what was measured.
fn title(report: &BenchReport) -> String {
    match (&report.paths[..], &report.input) {
        ([], None) => "Filters of a store of generated rows".to_owned(),
        ([], Some(input)) => format!("Filters of a store of keys from {input}"),
        ([path], _) => format!("Filters of {path}"),
        ([path, others @ ..], _) => format!("Filters of {path} and {} more", others.len()),
    }
}

fn charts(report: &BenchReport) -> Vec<Chart> {
    vec![
        error_rates(report),
        skip_rates(report),
        of_results(
            "blocks",
            "Data blocks of a get",
            "data blocks per get; less is better",
            report,
            |row| row.data_blocks_per_get,
        ),
        filter_sizes(report),
        file_sizes(report),
        of_results("times", "Time of a get", "median ns per get; less is better", report, |row| {
            row.ns_median as f64
        }),
    ]
}

fn row(label: &str, value: f64) -> ChartRow {
    let spread = Spread { low: value, median: value, high: value };
    ChartRow { label: label.to_owned(), value: spread, limit: None }
}

/// The promised and the measured error rate of each filter.
fn error_rates(report: &BenchReport) -> Chart {
    let mut groups = Vec::new();
    let mut add = |title: &str, promised: Option<f64>, measured: Option<f64>| {
        let Some(promised) = promised else { return };
        let mut rows = vec![row("promised", promised * 100.0)];
        rows.extend(measured.map(|rate| row("measured", rate * 100.0)));
        groups.push(Group { title: title.to_owned(), rows });
    };
    for row in report.results.iter().filter(|row| row.gets == "absent") {
        let of = if report.each_file.is_empty() { "" } else { ", all files together" };
        let title = format!("{}{of}", row.filter);
        add(&title, row.error_rate_promised, row.error_rate_measured);
    }
    for kind in &report.kinds {
        let title = format!("{}, built from the rows", kind.filter);
        add(&title, kind.error_rate_promised, kind.error_rate_measured);
    }
    for (name, file) in largest(&report.each_file) {
        add(&name, file.error_rate_promised, file.error_rate_measured);
    }
    let has_columns = report.each_file.iter().any(|file| file.query == FilterQuery::Column);
    let asked = if has_columns { format!(" {COLUMNS_ASKED}") } else { String::new() };
    let shown = shown_files(report);
    Chart {
        id: "error-rates",
        title: "Error rate, promised and measured".to_owned(),
        note: format!(
            "How often a filter lets a get of an absent row into the file: by its size, and as counted. A filter is \
             worse than promised if it measured more than it promised; with few gets, or few rows in a file, that may \
             be chance.{asked}{shown}"
        ),
        scale: "% of lookups; less is better".to_owned(),
        groups,
        is_ratio: false,
    }
}

/// The share of absent gets that skip each file.
fn skip_rates(report: &BenchReport) -> Chart {
    let known = largest(&report.each_file).into_iter().filter_map(|(name, file)| {
        let skipped = 1.0 - file.error_rate_measured.filter(|_| file.filter != "none")?;
        Some(row(&name, skipped * 100.0))
    });
    let rows: Vec<ChartRow> = known.collect();
    let title = format!("of {}", show_number(rows.len() as u64, "file"));
    Chart {
        id: "skip-rates",
        title: "Gets of absent rows that skip the file".to_owned(),
        note: format!(
            "For keys between the first and the last row of the file. Files without a filter are never skipped and \
             are not shown.{}",
            shown_files(report)
        ),
        scale: "% of gets; more is better".to_owned(),
        groups: (!rows.is_empty()).then_some(Group { title, rows }).into_iter().collect(),
        is_ratio: false,
    }
}

/// A chart of one figure of all filters, by the kind of gets.
fn of_results(
    id: &'static str,
    title: &str,
    scale: &str,
    report: &BenchReport,
    figure: impl Fn(&Row) -> f64,
) -> Chart {
    let by_mix = report.results.chunk_by(|one, other| one.gets == other.gets);
    Chart {
        id,
        title: title.to_owned(),
        note: format!(
            "Over {}; a get may have to search each of them.",
            show_number(report.files, "file")
        ),
        scale: scale.to_owned(),
        groups: by_mix
            .map(|mix| Group {
                title: format!("gets of {} rows", mix.first().map_or("", |row| row.gets)),
                rows: mix.iter().map(|of| row(&name(of), figure(of))).collect(),
            })
            .collect(),
        is_ratio: false,
    }
}

fn name(row: &Row) -> String {
    row.map.map_or_else(
        || row.filter.to_owned(),
        |map| format!("{} ({})", row.filter, map.to_lowercase()),
    )
}

/// The sizes of filters.
fn filter_sizes(report: &BenchReport) -> Chart {
    let absent = report.results.iter().filter(|row| row.gets == "absent");
    let filters = absent.filter_map(|of| Some(row(&name(of), of.bits_per_key?)));
    let kinds = report.kinds.iter().filter_map(|kind| {
        let label = format!("{}, built", kind.filter);
        Some(row(&label, kind.bits_per_key?))
    });
    let note = "What filters take in the files and, while the files are open, in memory.";
    sizes("sizes", "Sizes of filters", note, "bits per row", filters.chain(kinds).collect())
}

/// The sizes of files.
fn file_sizes(report: &BenchReport) -> Chart {
    let listed = largest(&report.each_file);
    let files = listed.iter().map(|(name, file)| row(name, file.bytes as f64 / 1024.0)).collect();
    let note = format!("On disk, with filters and indexes.{}", shown_files(report));
    sizes("file-sizes", "Sizes of files", &note, "KiB", files)
}

fn sizes(id: &'static str, title: &str, note: &str, unit: &str, rows: Vec<ChartRow>) -> Chart {
    let group = Group { title: unit.to_owned(), rows };
    Chart {
        id,
        title: title.to_owned(),
        note: note.to_owned(),
        scale: format!("{unit}; less is better"),
        groups: Some(group).into_iter().filter(|group| !group.rows.is_empty()).collect(),
        is_ratio: false,
    }
}

/// Returns a sentence that says which files a chart shows, unless it shows all.
fn shown_files(report: &BenchReport) -> String {
    match report.each_file.len() {
        0..=CHART_FILES => String::new(),
        all => format!(" Shown are the {CHART_FILES} files with the most rows of {all} files."),
    }
}

/// Returns the files with the most rows, in their order, with their names in charts.
fn largest(files: &[FileRow]) -> Vec<(String, &FileRow)> {
    let mut by_rows: Vec<(usize, &FileRow)> = files.iter().enumerate().collect();
    by_rows.sort_by_key(|(_, file)| std::cmp::Reverse(file.rows));
    by_rows.truncate(CHART_FILES);
    by_rows.sort_by_key(|(at, _)| *at);
    let paths: Vec<&str> = by_rows.iter().map(|(_, file)| &*file.file).collect();
    short_names(&paths).into_iter().zip(by_rows.iter().map(|(_, file)| *file)).collect()
}

fn tables(out: &mut String, report: &BenchReport) {
    let head = [&["gets"], &heading(true)[..]].concat();
    let results = report.results.iter().map(|row| {
        let mut cells = row.cells(true);
        cells.insert(0, row.gets.to_owned());
        cells
    });
    add_table(out, "All files together", &head, &results.collect::<Vec<_>>());
    let kinds: Vec<_> = report.kinds.iter().map(KindRow::cells).collect();
    add_table(out, "Filters built from the rows", &kind_row::HEADING, &kinds);
    let files: Vec<_> = report.each_file.iter().map(FileRow::cells).collect();
    add_table(out, "Each file alone", &FILE_HEADING, &files);
}

fn add_table(out: &mut String, title: &str, heading: &[&str], rows: &[Vec<String>]) {
    let head: Vec<String> = heading.iter().map(|&text| text.to_owned()).collect();
    if !rows.is_empty() {
        let _ = writeln!(
            out,
            "<details><summary>{}</summary>{}</details>",
            escape(title),
            table(title, &head, rows)
        );
    }
}
