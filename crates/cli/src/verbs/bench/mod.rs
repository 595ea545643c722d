//! `hfile bench`: measures how filters speed up gets over many files.
//!
//! `loaded.rs` loads a store, `existing.rs` reads existing files and `kinds.rs` compares filters on them;
//! [`hfile_cli::workload`] has the keys, and runs and times the gets. `report.rs` prints the results, and `page.rs`
//! draws them.

mod existing;
mod figures;
mod file_cells;
mod key_ranges;
mod kind_row;
mod kinds;
mod loaded;
mod page;
mod report;
mod short_name;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use filter::ErrorRate;
use hfile_cli::workload::{FileWeights, KeySet, Mix, clock_nanos};

use crate::arguments::names::name_parser;
use crate::arguments::writing_options::error_rate;
use crate::failure::{Answer, UsageError, refuse};
use crate::text::destination::Output;
use crate::text::help::ADVANCED;
use crate::text::output::ReportFormat;
use crate::text::progress::Progress;
use crate::text::size_text::SizeText;
use loaded::{FilterChoice, Plan};
use report::BenchReport;

const ROWS: usize = 1_000_000;
const GETS: usize = 200_000;
/// Fewer gets with `--hfiles`: each get searches every given file, and there may be many.
const GETS_EXISTING: usize = 20_000;

/// Measure how filters speed up gets over many files: files skipped, blocks read, latency.
///
/// Loads a store of files with overlapping key ranges, once per filter, or measures the existing files of
/// --hfiles. Compares three kinds of gets: of absent rows, of present rows, and mixed, half of each.
/// Counters are exact, each get is timed separately, and every value is checked.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile bench
  hfile bench --filters none,hbase-bloom,blocked-bloom
  hfile bench --file-sizes 1:4:16:64 --bits-per-key 7 --filters hbase-bloom,ribbon
  hfile bench --input /usr/share/dict/words
  hfile bench --hfiles region/cf
  hfile bench --hfiles region/cf --filters hbase-bloom,ribbon,split-block,binary-fuse
  hfile bench --hfiles region/cf --report report.html
  hfile bench --rows 100000 --files 64 --cache-size 4MiB --json | jq '.results[]'

Exit status: 0 measured, 1 a wrong answer, or a file is damaged, 2 wrong usage, 3 could not read or write.")]
pub(crate) struct Bench {
    /// Load this many rows, or sample at most this many from --hfiles [default: 1000000, or all of
    /// --input]
    #[arg(long, value_name = "ROWS")]
    rows: Option<usize>,
    /// Spread the rows over this many store files
    #[arg(long, value_name = "FILES", default_value_t = 16)]
    files: usize,
    /// Set the ratios of the file sizes, repeated until all files have one, as in 1:4:16:64 [default:
    /// equal sizes]
    #[arg(long, value_name = "RATIOS", value_delimiter = ':', conflicts_with = "hfiles")]
    file_sizes: Vec<u64>,
    /// Give filters this many bits per row; row filters share the bits of all files so that false
    /// positives per get are fewest. Filters of few rows take more, for their header [default: an error rate of 1 % in
    /// each file]
    #[arg(long, value_name = "BITS")]
    bits_per_key: Option<f64>,
    /// Size filters for this error rate in each file, between 0 and 1, instead
    #[arg(long, value_name = "RATE", conflicts_with = "bits_per_key")]
    error_rate: Option<f64>,
    /// Set the size of a value, at most 1MiB
    #[arg(long, value_name = "SIZE", default_value = "100")]
    value_size: SizeText,
    /// Measure this many gets of each kind [default: 200000, or 20000 with --hfiles]
    #[arg(long, value_name = "GETS")]
    gets: Option<usize>,
    /// Set the size of the block cache
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    cache_size: SizeText,
    /// Seed the generator of keys, values and the order of gets
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    seed: u64,
    /// Compare these filters; family-map and family-map-wide measure a family map over files
    /// without filters. With --hfiles, builds them in memory from the rows of the files [default: all;
    /// with --hfiles, none]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    #[arg(value_parser = name_parser::<FilterChoice>())]
    filters: Vec<FilterChoice>,
    /// Load keys from this file, one per line, instead of generated keys; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "hfiles")]
    input: Option<PathBuf>,
    /// Measure these existing HFiles, or the HFiles in these directories, each with its own filter and
    /// without
    #[arg(long, value_name = "PATH", num_args = 1..)]
    hfiles: Vec<PathBuf>,
    /// Also write the report with charts to this HTML file, which needs no other file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Replace the file of --report if it exists
    #[arg(long, requires = "report")]
    force: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

impl Bench {
    /// Measures and reports.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let report = if self.hfiles.is_empty() {
            self.run_loaded()?
        } else {
            let plan = self.plan(GETS_EXISTING)?;
            existing::run(&self.hfiles, self.rows.unwrap_or(ROWS), plan, &self.filters)?
        };
        self.report_format.print(&report)?;
        if let Some(path) = &self.report {
            let mut file = Output::create(path, self.force)?;
            file.write_all(page::page(&report).as_bytes())
                .with_context(|| format!("{}: cannot write", path.display()))?;
            file.finish()?;
        }
        let left_out = report.left_out.len();
        match report.left_out.iter().map(|file| file.status).max() {
            None | Some(0) => Ok(Answer::Positive),
            Some(1) => Ok(Answer::Negative),
            Some(_) => bail!(
                "{left_out} of {} files could not be measured",
                report.files + left_out as u64
            ),
        }
    }

    fn run_loaded(&self) -> anyhow::Result<BenchReport> {
        let choices = self.choices();
        let plan = self.plan(GETS)?;
        let progress = Progress::waiting("making keys");
        let keys = self.keys(plan)?;
        drop(progress);
        let mut loads = Vec::new();
        let mut results = Vec::new();
        for (number, choice) in (1..).zip(&choices) {
            let shown = format!("{} ({number} of {})", choice.name(), choices.len());
            let (load, rows) = loaded::run(*choice, &keys, plan, &shown)
                .with_context(|| format!("bench with filter {}", choice.name()))?;
            loads.push(load);
            results.extend(rows);
        }
        // By mix first, so that the rows to compare are adjacent.
        results.sort_by_key(|row| Mix::ALL.iter().position(|mix| mix.name() == row.gets));
        let rows = keys.present.len();
        let fixed = existing::CELL_LENGTHS_LEN + sstable::KeyRef::FIXED_LEN + loaded::COLUMN_LEN;
        let cell = fixed + plan.value_size;
        Ok(BenchReport {
            schema: 1,
            rows: rows as u64,
            files: keys.files() as u64,
            cell_bytes: cell as f64 + keys.present.total_bytes() as f64 / rows as f64,
            cache_bytes: plan.cache_bytes,
            seed: plan.seed,
            input: self.input.as_deref().map(transfer::display_name),
            paths: Vec::new(),
            clock_ns: clock_nanos(),
            loads,
            results,
            each_file: Vec::new(),
            kinds: Vec::new(),
            recommendation: None,
            left_out: Vec::new(),
        })
    }

    fn plan(&self, gets_default: usize) -> anyhow::Result<Plan> {
        let gets = self.gets.unwrap_or(gets_default);
        let value_bytes = self.value_size.bytes();
        if gets == 0 || self.files == 0 || self.rows == Some(0) {
            return Err(
                UsageError("--rows, --files and --gets must be at least 1".to_owned()).into()
            );
        }
        // A value of 1 MiB is 16 times the block size; larger ones would only measure copying.
        let value_size = usize::try_from(value_bytes)
            .ok()
            .filter(|size| *size <= 1 << 20)
            .ok_or_else(|| UsageError("--value-size must be at most 1 MiB".to_owned()))?;
        if self.file_sizes.contains(&0) || self.file_sizes.iter().any(|size| *size > 1 << 32) {
            refuse!("--file-sizes must be between 1 and 2^32");
        }
        if self.bits_per_key.is_some_and(|bits| !(0.1..=100.0).contains(&bits)) {
            refuse!("--bits-per-key must be between 0.1 and 100");
        }
        Ok(Plan {
            gets,
            value_size,
            cache_bytes: self.cache_size.bytes(),
            seed: self.seed,
            bits_per_key: self.bits_per_key,
            error_rate: self.error_rate.map(error_rate).transpose()?.unwrap_or(ErrorRate::HBASE),
        })
    }

    fn keys(&self, plan: Plan) -> anyhow::Result<KeySet> {
        let ratios = if self.file_sizes.is_empty() { &[1][..] } else { &self.file_sizes };
        let weights = FileWeights::from_ratios(self.files, ratios);
        match &self.input {
            None => {
                let rows = self.rows.unwrap_or(ROWS);
                Ok(KeySet::generate(rows, weights, plan.gets, plan.seed))
            }
            Some(path) => {
                let rows_max = self.rows.unwrap_or(usize::MAX);
                let input = transfer::open_keys(path)?;
                KeySet::read(input, rows_max, weights, plan.gets, plan.seed)
                    .with_context(|| transfer::display_name(path))
            }
        }
    }

    fn choices(&self) -> Vec<FilterChoice> {
        match &self.filters[..] {
            [] => FilterChoice::all().collect(),
            chosen => chosen.to_vec(),
        }
    }
}
