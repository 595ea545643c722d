//! `hfile filter measure PATH`: measures the error rate of the filters that HFiles have.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use filter::Seed;
use serde::Serialize;
use sstable::{
    BlockCache, BlockType, BloomType, FilterAnswer, ReadTrace, Reader, ReaderOptions, RowProbe,
};

use super::interval::interval;
use crate::arguments::reading_options::{reader_options, scan};
use crate::failure::{Answer, refuse};
use crate::inputs::{Inputs, OpenInput, single_hfile};
use crate::text::output::{Report, ReportFormat};
use crate::text::progress::Progress;
use crate::text::rounded::show_percent;
use crate::text::size_text::{show_count, show_number};
use crate::text::stderr::print_message;
use crate::verbs::filter_query::FilterQuery;

/// The cache holds the filter blocks of the file, so that each is loaded once.
const CACHE_BYTES: u64 = 256 << 20;

/// The absent rows to ask for.
#[derive(Clone, Copy)]
pub(super) struct Probes {
    pub(super) count: u64,
    pub(super) seed: u64,
}

/// Measures the filter of an HFile, or of each HFile of a directory, and prints a report for each.
///
/// # Errors
///
/// If a file cannot be read; a usage error for a single file without a filter over whole rows.
pub(super) fn measure_files(
    path: &Path,
    probes: Probes,
    format: ReportFormat,
) -> anyhow::Result<Answer> {
    if !path.is_dir() {
        let name = path.display().to_string();
        let opened = Reader::open_file(single_hfile(path, "filter measure")?, options());
        let reader = opened.inspect_err(|error| hint_at_filters(&name, error))?;
        let Some(report) = measure(&reader, &name, probes)? else {
            refuse!("{name} {NO_FILTER}; add one with hfile filter rebuild");
        };
        return format.print(&report);
    }
    let (mut is_first, mut left_out) = (true, LeftOut::default());
    let answer = Inputs::expand_all(&[path.to_owned()]).for_each(|input| {
        let OpenInput { reader, target } = input.open_with(options())?;
        let name = target.label(&input.name());
        if reader.half().is_some() {
            left_out.references += 1;
            return Ok(Answer::Positive);
        }
        if let Some(report) = measure(reader.whole(), &name, probes)? {
            return format.print_next(&report, &mut is_first);
        }
        left_out.without_filter += 1;
        Ok(Answer::Positive)
    });
    left_out.print(path);
    answer
}

/// What is said of a file whose filters cannot answer for a row or a column.
const NO_FILTER: &str = "has neither a row filter nor an HBase Bloom filter of type ROW or ROWCOL";

/// The files of a directory that are not measured.
#[derive(Default)]
struct LeftOut {
    references: u64,
    without_filter: u64,
}

impl LeftOut {
    fn print(&self, path: &Path) {
        if self.references > 0 {
            print_message(format_args!(
                "hfile: {} not measured: a reference stands for a half of a file, and a filter is of the whole file",
                show_number(self.references, "reference")
            ));
        }
        if self.without_filter > 0 {
            print_message(format_args!(
                "hfile: {} not measured, without a row filter and a Bloom filter of type ROW or ROWCOL; hfile info {} \
                 shows the filters of each",
                show_number(self.without_filter, "file"),
                path.display()
            ));
        }
    }
}

/// Prints a hint if a file is no HFile: it may be a filter in a file of its own.
fn hint_at_filters(name: &str, error: &sstable::Error) {
    if let sstable::Error::Corrupt { damage, .. } = error
        && damage.block == Some(BlockType::Trailer)
    {
        print_message(format_args!(
            "hfile: {name}: filter measure reads HFiles; a filter in a file of its own is read by hfile filter ask or, \
             if another library wrote it, by hfile filter foreign info"
        ));
    }
}

fn options() -> ReaderOptions {
    let cache = Arc::new(BlockCache::new(CACHE_BYTES));
    reader_options().cache(cache).pin_filters(true)
}

/// Measures the filter of a file with its rows and about as many absent rows as `probes` says; `None` without
/// a filter over whole rows.
fn measure(
    reader: &Reader,
    name: &str,
    Probes { count, seed }: Probes,
) -> anyhow::Result<Option<FileMeasureReport>> {
    let Some(filter) = known_filter(reader)? else { return Ok(None) };
    let counts = count_answers(reader, &filter, count, seed)?;
    Ok(Some(FileMeasureReport {
        schema: 1,
        file: name.to_owned(),
        error_rate_measured: counts.false_positives as f64 / counts.absent.max(1) as f64,
        error_rate_interval: interval(counts.false_positives, counts.absent),
        probes: counts.absent as u64,
        false_negatives: counts.false_negatives,
        ..filter
    }))
}

/// Returns a report of what the file states about its row filter, without measurements.
fn known_filter(reader: &Reader) -> sstable::Result<Option<FileMeasureReport>> {
    if let Some(filter) = reader.filters().row_filter()? {
        return Ok(Some(FileMeasureReport {
            filter: filter.kind.name(),
            keys: filter.key_count,
            bits_per_key: filter.bits_per_key,
            error_rate_predicted: filter.error_rate,
            ..FileMeasureReport::default()
        }));
    }
    let bloom = reader
        .filters()
        .bloom()
        .filter(|bloom| matches!(bloom.bloom_type, BloomType::Row | BloomType::RowCol));
    Ok(bloom.map(|bloom| FileMeasureReport {
        filter: "hbase-bloom",
        query: FilterQuery::new(bloom.bloom_type == BloomType::RowCol),
        keys: bloom.key_count,
        bits_per_key: bloom.bits_per_key(),
        error_rate_predicted: bloom.query_error_rate(),
        ..FileMeasureReport::default()
    }))
}

#[derive(Default)]
struct Counts {
    absent: usize,
    false_positives: usize,
    false_negatives: u64,
}

/// Queries the filter for each row, and for absent rows made from these rows. A filter over columns is queried for
/// each column instead, and for the same columns of absent rows.
///
/// Each absent row begins with a row of the file, and sorts after it. So each part of a partitioned
/// filter gets absent rows in proportion to its rows.
fn count_answers(
    reader: &Reader,
    filter: &FileMeasureReport,
    probes: u64,
    seed: u64,
) -> anyhow::Result<Counts> {
    let keys = filter.keys;
    let has_columns = filter.query == FilterQuery::Column;
    let progress = Progress::new("rows", keys);
    let mut counts = Counts::default();
    let (mut asked, mut row, mut column) = (0_u64, Vec::new(), Vec::new());
    let ask = |row: &[u8], column: &[u8]| {
        let probe = RowProbe::of_column(row, has_columns.then_some(column), Seed::new(0));
        reader.ask_filter(&probe, &mut ReadTrace::default()) != FilterAnswer::No
    };
    let mut scanner = scan(reader)?;
    while let Some(cell) = scanner.cell() {
        if asked == 0 || cell.row != row || (has_columns && cell.qualifier != column) {
            cell.row.clone_into(&mut row);
            cell.qualifier.clone_into(&mut column);
            asked += 1;
            counts.false_negatives += u64::from(!ask(&row, &column));
            // Spreads the probes evenly over the keys: `due` is how many belong to the keys so far.
            let due = u128::from(probes) * u128::from(asked) / u128::from(keys.max(1));
            while (counts.absent as u128) < due.min(u128::from(probes)) {
                // With near certainty, the file has no such row.
                let absent =
                    [&row[..], &hfile_cli::workload::key(seed, counts.absent as u64)].concat();
                counts.false_positives += usize::from(ask(&absent, &column));
                counts.absent += 1;
            }
            progress.set(asked);
        }
        scanner.advance()?;
    }
    Ok(counts)
}

/// The predicted and measured error rate of the filter in a file.
#[derive(Debug, Default, Serialize)]
struct FileMeasureReport {
    schema: u32,
    file: String,
    filter: &'static str,
    query: FilterQuery,
    keys: u64,
    bits_per_key: f64,
    /// Of a query.
    error_rate_predicted: f64,
    error_rate_measured: f64,
    /// The confidence interval of the true rate, at three standard deviations.
    error_rate_interval: [f64; 2],
    probes: u64,
    false_negatives: u64,
}

impl Report for FileMeasureReport {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.false_negatives == 0)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let [low, high] = self.error_rate_interval.map(show_percent);
        let keys = show_number(self.keys, "key");
        let denied = show_count(self.false_negatives);
        writeln!(out, "{}: {}, {keys}, {denied} false negatives", self.file, self.filter)?;
        writeln!(out, "bits/key    {:.2}", self.bits_per_key)?;
        writeln!(out, "error rate  {} predicted", show_percent(self.error_rate_predicted))?;
        writeln!(
            out,
            "            {} measured over {} absent {}s; {low} .. {high} at 3 sigma",
            show_percent(self.error_rate_measured),
            show_count(self.probes),
            self.query,
        )
    }
}
