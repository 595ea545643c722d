//! `hfile filter size`: sizes of all filter kinds, computed from their formulas.

mod widths;

use std::io::{self, Write};

use filter::hbase::ChunkSizing;
use filter::{ErrorRate, FilterKind, Sizing, plan};
use serde::Serialize;

use self::widths::WidthSize;
use super::error_rate::error_rate;
use crate::failure::Answer;
use crate::text::output::{Report, ReportFormat, or_dash, write_table};
use crate::text::rounded::show_percent;
use crate::text::size_text::{show_number, show_size};

/// Compute the size of every filter kind for a number of keys and an error rate.
///
/// Computes sizes from formulas, without building filters. No filter can use fewer than
/// log2(1 / error rate) bits per key; "over bound" is how far a kind exceeds that bound.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile filter size --keys 1000000 --error-rate 0.01
  hfile filter size --keys 250000000 --error-rate 0.001 --json
  hfile filter size --keys 1000000 --widths

Exit status: 0 computed, 2 wrong usage.")]
pub(crate) struct Size {
    /// Size filters for this many distinct keys
    #[arg(long, value_name = "KEYS")]
    keys: u64,
    /// Set the error rate for absent keys, between 0 and 1
    #[arg(long, value_name = "RATE", default_value_t = 0.01)]
    error_rate: f64,
    /// Also show cuckoo and d-left filters with fingerprints of 4 to 16 bits, and their error rates
    #[arg(long)]
    widths: bool,
    #[command(flatten)]
    report_format: ReportFormat,
}

/// The sizes of all kinds.
#[derive(Debug, Serialize)]
struct SizeReport {
    schema: u32,
    keys: u64,
    error_rate: f64,
    bound_bits_per_key: f64,
    filters: Vec<FilterSize>,
    /// With `--widths`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    widths: Vec<WidthSize>,
}

/// The size of one kind.
#[derive(Debug, Default, Serialize)]
struct FilterSize {
    filter: &'static str,
    bytes: Option<u64>,
    bits_per_key: Option<f64>,
    over_bound: Option<f64>,
    error_rate_predicted: Option<f64>,
    /// Why the kind does not support this number of keys or error rate.
    problem: Option<String>,
}

impl Size {
    /// Computes and reports.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let rate = error_rate(self.error_rate)?;
        let bound = rate.bits_per_key_floor();
        let mut filters = vec![FilterSize::of_hbase(self.keys, rate, bound)];
        filters.extend(
            FilterKind::ALL.iter().map(|kind| FilterSize::of(*kind, self.keys, rate, bound)),
        );
        filters.sort_by(|left, right| {
            let [left_bits, right_bits] =
                [left, right].map(|filter| filter.bits_per_key.unwrap_or(f64::INFINITY));
            left_bits.total_cmp(&right_bits)
        });
        let (keys, error_rate) = (self.keys, self.error_rate);
        let widths = if self.widths { WidthSize::all(keys)? } else { Vec::new() };
        let report =
            SizeReport { schema: 1, keys, error_rate, bound_bits_per_key: bound, filters, widths };
        self.report_format.print(&report)
    }
}

impl FilterSize {
    fn of(kind: FilterKind, keys: u64, rate: ErrorRate, bound: f64) -> Self {
        match plan(kind, Sizing::ErrorRate(rate), keys) {
            Ok(stats) => Self::new(kind.name(), keys, stats.bytes, stats.error_rate, bound),
            Err(error) => Self::unsupported(kind.name(), &error),
        }
    }

    /// HBase's Bloom filter: chunks of the default size.
    fn of_hbase(keys: u64, rate: ErrorRate, bound: f64) -> Self {
        const BLOCK_SIZE: u32 = 128 << 10;
        const MAX_FOLD: u32 = 7;
        const NAME: &str = "hbase-bloom";
        match ChunkSizing::new(rate.get() as f32, BLOCK_SIZE, MAX_FOLD) {
            Ok(chunk) => {
                let chunks = keys.div_ceil(chunk.max_keys.into());
                // All chunks are full except the last, which is folded to the size its keys need.
                let bits = f64::from(chunk.bytes) * 8.0 / f64::from(chunk.max_keys);
                let bytes = (keys as f64 * bits / 8.0).ceil() as u64;
                let predicted = if chunks == 0 { 0.0 } else { rate.get() };
                Self::new(NAME, keys, bytes, predicted, bound)
            }
            Err(error) => Self::unsupported(NAME, &error),
        }
    }

    fn new(filter: &'static str, keys: u64, bytes: u64, predicted: f64, bound: f64) -> Self {
        let bits = (keys > 0).then(|| bytes as f64 * 8.0 / keys as f64);
        Self {
            filter,
            bytes: Some(bytes),
            bits_per_key: bits,
            over_bound: bits.map(|bits| bits / bound - 1.0),
            error_rate_predicted: Some(predicted),
            problem: None,
        }
    }

    /// A kind that does not support the number of keys or the error rate.
    fn unsupported(filter: &'static str, problem: &impl ToString) -> Self {
        Self { filter, problem: Some(problem.to_string()), ..Self::default() }
    }
}

impl Report for SizeReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{} at an error rate of {}: lower bound {:.2} bits per key\n",
            show_number(self.keys, "key"),
            show_percent(self.error_rate),
            self.bound_bits_per_key,
        )?;
        let rows = self.filters.iter().map(|filter| {
            vec![
                filter.filter.to_owned(),
                or_dash(filter.bits_per_key, |bits| format!("{bits:.2}")),
                or_dash(filter.over_bound, |over| format!("{:+.1}%", over * 100.0)),
                or_dash(filter.error_rate_predicted, show_percent),
                or_dash(filter.bytes, show_size),
            ]
        });
        write_table(out, &["filter", "bits/key", "over bound", "predicted", "size"], rows)?;
        for filter in &self.filters {
            if let Some(problem) = &filter.problem {
                writeln!(out, "{}: {problem}", filter.filter)?;
            }
        }
        if !self.widths.is_empty() {
            widths::write_text(&self.widths, out)?;
        }
        Ok(())
    }
}
