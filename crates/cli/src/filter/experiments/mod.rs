//! `hfile filter experiments`: published measurements of filters, repeated at their own sizes.

mod bloom;
mod cuckoo;
mod d_left;

use std::io::{self, Write};

use filter::{KeyHash, Seed};
use serde::Serialize;

use crate::failure::Answer;
use crate::help::ADVANCED;
use crate::output::{Report, ReportFormat, write_table};
use crate::rounded::show_nanos;
use crate::size_text::show_count;

/// Repeat published experiments on filters, and show the published results beside ours.
///
/// Bloom filters: 80,000 keys in 1,600,000 bits with 6, 10 and 14 hash functions, and the speed of the
/// SimpleBloomFilter class. d-left filter: 500,000 keys. Cuckoo filters: the load at which the first insert
/// fails with 1, 2, 4 and 8 slots per bucket, and how many copies of one key fit. Filters have the published
/// sizes, with --quick too. Counts are checked against theory; times are not.
#[derive(clap::Args)]
#[expect(clippy::doc_markdown, reason = "backticks would be seen in the help")]
#[command(after_help = "\
Examples:
  hfile filter experiments
  hfile filter experiments --quick --json

Exit status: 0 all counts as expected, 1 some are not.")]
pub(crate) struct Experiments {
    /// Query 1,000,000 absent keys instead of 20,000,000
    #[arg(long)]
    quick: bool,
    /// Seed the generator of keys
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    seed: u64,
    #[command(flatten)]
    report_format: ReportFormat,
}

/// All experiments.
#[derive(Debug, Serialize)]
struct ExperimentsReport {
    schema: u32,
    quick: bool,
    absent_keys: u64,
    results: Vec<ExperimentResult>,
}

/// One figure, as published and as measured here.
#[derive(Debug, Serialize)]
pub(super) struct ExperimentResult {
    experiment: &'static str,
    setting: String,
    quantity: &'static str,
    /// The published figure.
    source: String,
    ours: f64,
    unit: Unit,
    /// Whether the measured figure is as expected; `null` for times.
    holds: Option<bool>,
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unit {
    /// A fraction of 1.
    Share,
    /// A count.
    Count,
    /// Nanoseconds per operation.
    Nanoseconds,
}

/// The parameters of all experiments.
#[derive(Clone, Copy)]
pub(super) struct Setup {
    seed: Seed,
    absent: u64,
}

impl Setup {
    /// Returns the hashes of the first `count` keys of a stream; streams have no key in common.
    fn keys(self, stream: u64, count: u64) -> impl Iterator<Item = KeyHash> {
        (0..count).map(move |key| {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&stream.to_le_bytes());
            bytes[8..].copy_from_slice(&key.to_le_bytes());
            KeyHash::new(self.seed, &bytes)
        })
    }
}

impl Experiments {
    /// Runs and reports all experiments.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let absent = if self.quick { 1_000_000 } else { 20_000_000 };
        let setup = Setup { seed: Seed::new(self.seed), absent };
        let mut results = bloom::run(setup)?;
        results.extend(d_left::run(setup)?);
        results.extend(cuckoo::run(setup)?);
        let report =
            ExperimentsReport { schema: 1, quick: self.quick, absent_keys: absent, results };
        self.report_format.print(&report)?;
        Ok(Answer::from_bool(report.results.iter().all(|result| result.holds != Some(false))))
    }
}

impl Report for ExperimentsReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<Vec<String>> = self
            .results
            .iter()
            .map(|result| {
                let holds = match result.holds {
                    Some(true) => "as expected",
                    Some(false) => "NOT AS EXPECTED",
                    None => "",
                };
                let (experiment, quantity) = (result.experiment, result.quantity);
                vec![
                    experiment.to_owned(),
                    result.setting.clone(),
                    quantity.to_owned(),
                    result.source.clone(),
                    result.unit.show(result.ours),
                    holds.to_owned(),
                ]
            })
            .collect();
        write_table(out, &["experiment", "setting", "quantity", "source", "ours", ""], &rows)
    }
}

impl Unit {
    fn show(self, figure: f64) -> String {
        match self {
            Self::Share if figure.abs() < 0.01 => format!("{:.5}%", figure * 100.0),
            Self::Share => format!("{:.1}%", figure * 100.0),
            Self::Count => show_count(figure.round() as u64),
            Self::Nanoseconds => show_nanos(figure),
        }
    }
}

/// Whether `passed` of `asked` is within four standard deviations, plus three, of the expectation.
fn is_plausible(passed: u64, asked: u64, rate: f64) -> bool {
    let expected = asked as f64 * rate;
    (passed as f64 - expected).abs() <= 4.0 * expected.sqrt() + 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counts_near_the_expectation_are_plausible() {
        assert!(is_plausible(1_000, 1_000_000, 0.001));
        assert!(is_plausible(0, 1_000_000, 1e-6));
        assert!(!is_plausible(1_200, 1_000_000, 0.001));
        assert!(!is_plausible(800, 1_000_000, 0.001));
        assert!(!is_plausible(20, 1_000_000, 1e-6));
    }
}
