//! `hfile filter measure`: builds and queries a filter of one kind.
//!
//! The report has the measured error rate next to the predicted one, the size, and the times per
//! key.

use std::hint::black_box;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use filter::engine::{Insert, KeyHash, KindVisitor, Membership, Remove};
use filter::{BuildError, ErrorRate, FilterKind, Seed, Sizing};
use hfile_cli::workload::{KeyList, KeySet};
use serde::Serialize;

use super::error_rate::error_rate;
use super::interval::interval;
use super::measure_file::{Probes, measure_files};
use crate::arguments::names::{LibraryKind, name_parser};
use crate::failure::{Answer, refuse};
use crate::text::help::ADVANCED;
use crate::text::output::{Report, ReportFormat};
use crate::text::progress::Progress;
use crate::text::rounded::{show_nanos, show_percent};
use crate::text::size_text::show_count;

/// Build a filter and measure its error rate, bits per key, load and time per key; or measure the filter
/// of HFiles.
///
/// With PATH, queries the filter that a get would query: the row filter, otherwise the HBase Bloom filter; one of
/// type ROWCOL for columns, as a get that names them does.
/// Reads all rows of the file, and makes the absent rows from them by appending eight bytes. The error rate is measured over absent keys and shown with the interval that contains the true rate
/// with a probability of 99.7 % (three standard deviations). Times are means over all keys and exclude
/// hashing.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile filter measure 4f1c.hfile
  hfile filter measure region/cf
  hfile filter measure --kind cuckoo --keys 1000000
  hfile filter measure --kind d-left --keys 500000 --error-rate 1e-6 --probes 10000000
  hfile filter measure --kind blocked-bloom --input /usr/share/dict/words --json

Exit status: 0 measured, 1 the filter denied a key it holds, or a file is damaged, 2 wrong usage, 3 could not read.")]
pub(crate) struct Measure {
    /// HFile, or directory of HFiles, whose filters to measure, instead of a new filter
    #[arg(value_name = "PATH", conflicts_with_all = ["kind", "keys", "error_rate", "bits_per_key", "input"])]
    file: Option<PathBuf>,
    /// Measure a new filter of this kind
    #[arg(long, value_name = "KIND", value_parser = name_parser::<LibraryKind>())]
    #[arg(required_unless_present = "file")]
    kind: Option<LibraryKind>,
    /// Insert this many keys [default: 1000000, or all of --input]
    #[arg(long, value_name = "KEYS")]
    keys: Option<usize>,
    /// Size the filter for this error rate, between 0 and 1
    #[arg(long, value_name = "RATE", default_value_t = 0.01)]
    error_rate: f64,
    /// Size the filter by bits per key instead
    #[arg(long, value_name = "BITS", conflicts_with = "error_rate")]
    bits_per_key: Option<f64>,
    /// Query this many absent keys
    #[arg(long, value_name = "PROBES", default_value_t = 1_000_000)]
    probes: usize,
    /// Insert keys from this file, one per line, instead of generated keys; - is stdin
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Seed the generator of keys and the hash
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    #[arg(help_heading = ADVANCED, hide_short_help = true)]
    seed: u64,
    #[command(flatten)]
    report_format: ReportFormat,
}

/// The predicted and measured properties of a filter. Times are means in ns per key.
#[derive(Debug, Serialize)]
struct MeasureReport {
    schema: u32,
    filter: &'static str,
    keys: u64,
    bits_per_key: f64,
    /// The fewest bits per key that any filter with the predicted error rate needs.
    bound_bits_per_key: f64,
    error_rate_predicted: f64,
    error_rate_measured: f64,
    /// The confidence interval of the true rate, at three standard deviations.
    error_rate_interval: [f64; 2],
    probes: u64,
    false_negatives: u64,
    /// The fraction of cells or slots in use; `None` for filters without them.
    load: Option<f64>,
    /// For a static filter, the time of building it.
    ns_insert: f64,
    ns_hit: f64,
    ns_miss: f64,
    /// `None` if keys cannot be removed.
    ns_remove: Option<f64>,
}

impl Measure {
    /// Measures the filter and prints the report.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let Some(LibraryKind(kind)) = self.kind else {
            let file = self.file.as_deref().unwrap_or(Path::new("-"));
            let probes = Probes { count: self.probes as u64, seed: self.seed };
            return measure_files(file, probes, self.report_format);
        };
        let sizing = match self.bits_per_key {
            Some(bits) => Sizing::BitsPerKey(bits),
            None => Sizing::ErrorRate(error_rate(self.error_rate)?),
        };
        let progress = Progress::waiting("making keys");
        let key_set = self.key_set()?;
        progress.set_phase("hashing keys");
        let keys = TestKeys::new(Seed::new(self.seed), &key_set);
        progress.set_phase("inserting and querying");
        let report = keys.measure(kind, sizing)?;
        drop(progress);
        self.report_format.print(&report)
    }

    fn key_set(&self) -> anyhow::Result<KeySet> {
        let Some(path) = &self.input else {
            let keys = self.keys.unwrap_or(1_000_000);
            if keys == 0 {
                refuse!("--keys must be at least 1");
            }
            return Ok(KeySet::generate(keys, 1, self.probes, self.seed));
        };
        let keys_max = self.keys.unwrap_or(usize::MAX);
        KeySet::read(transfer::open_keys(path)?, keys_max, 1, self.probes, self.seed)
            .with_context(|| transfer::display_name(path))
    }
}

/// The hashes of keys to insert, and of keys that are not inserted.
struct TestKeys {
    seed: Seed,
    members: Vec<KeyHash>,
    absent: Vec<KeyHash>,
}

/// Builds a filter with all members and measures it, by the operations that its kind supports.
struct MeasureVisitor<'a> {
    keys: &'a TestKeys,
    kind: FilterKind,
    sizing: Sizing,
}

impl KindVisitor for MeasureVisitor<'_> {
    type Output = anyhow::Result<MeasureReport>;

    fn inserts<F: Insert>(
        self,
        with_seed: fn(Sizing, u64, Seed) -> Result<F, BuildError>,
    ) -> anyhow::Result<MeasureReport> {
        let mut filter = with_seed(self.sizing, self.keys.members.len() as u64, self.keys.seed)?;
        self.keys.insert_and_query(self.kind, &mut filter)
    }

    fn removes<F: Remove>(
        self,
        with_seed: fn(Sizing, u64, Seed) -> Result<F, BuildError>,
    ) -> anyhow::Result<MeasureReport> {
        let mut filter = with_seed(self.sizing, self.keys.members.len() as u64, self.keys.seed)?;
        let report = self.keys.insert_and_query(self.kind, &mut filter)?;
        let load = filter.occupancy();
        Ok(MeasureReport { load, ns_remove: Some(self.keys.remove_all(&mut filter)?), ..report })
    }

    fn builds<F: Membership>(
        self,
        from_hashes: fn(Sizing, Seed, &[KeyHash]) -> Result<F, BuildError>,
    ) -> anyhow::Result<MeasureReport> {
        let start = Instant::now();
        let filter = from_hashes(self.sizing, self.keys.seed, &self.keys.members)?;
        let ns_build = per_key(start, self.keys.members.len());
        Ok(self.keys.query(self.kind, &filter, ns_build))
    }
}

impl TestKeys {
    fn new(seed: Seed, keys: &KeySet) -> Self {
        let hashes = |list: &KeyList| list.iter().map(|key| KeyHash::new(seed, key)).collect();
        Self { seed, members: hashes(&keys.present), absent: hashes(&keys.absent) }
    }

    fn measure(&self, kind: FilterKind, sizing: Sizing) -> anyhow::Result<MeasureReport> {
        kind.visit(MeasureVisitor { keys: self, kind, sizing })
    }

    fn insert_and_query(
        &self,
        kind: FilterKind,
        filter: &mut impl Insert,
    ) -> anyhow::Result<MeasureReport> {
        let start = Instant::now();
        for member in &self.members {
            filter.insert(*member).context("cannot insert all keys")?;
        }
        let ns_insert = per_key(start, self.members.len());
        Ok(self.query(kind, filter, ns_insert))
    }

    /// Looks up all members and all absent keys in a filter that holds all members.
    ///
    /// Copies `ns_insert` to the report.
    fn query(&self, kind: FilterKind, filter: &impl Membership, ns_insert: f64) -> MeasureReport {
        let query = |filter: &dyn Fn(KeyHash) -> bool, keys: &[KeyHash]| {
            let start = Instant::now();
            let false_positives = keys.iter().filter(|key| filter(**black_box(key))).count();
            (false_positives, per_key(start, keys.len()))
        };
        let may_contain = |key| filter.may_contain(key);
        let (held, ns_hit) = query(&may_contain, &self.members);
        let (false_positives, ns_miss) = query(&may_contain, &self.absent);
        let (stats, probes) = (filter.stats(), self.absent.len());
        let predicted = stats.error_rate;
        MeasureReport {
            schema: 1,
            filter: kind.name(),
            keys: self.members.len() as u64,
            bits_per_key: stats.bits_per_key(),
            bound_bits_per_key: ErrorRate::new(predicted)
                .map_or(0.0, ErrorRate::bits_per_key_floor),
            error_rate_predicted: predicted,
            error_rate_measured: false_positives as f64 / probes.max(1) as f64,
            error_rate_interval: interval(false_positives, probes),
            probes: probes as u64,
            false_negatives: (self.members.len() - held) as u64,
            load: None,
            ns_insert,
            ns_hit,
            ns_miss,
            ns_remove: None,
        }
    }

    fn remove_all(&self, filter: &mut impl Remove) -> anyhow::Result<f64> {
        let start = Instant::now();
        for member in &self.members {
            filter.remove(*member).context("cannot remove an inserted key")?;
        }
        Ok(per_key(start, self.members.len()))
    }
}

fn per_key(start: Instant, keys: usize) -> f64 {
    start.elapsed().as_nanos() as f64 / keys.max(1) as f64
}

impl Report for MeasureReport {
    fn answer(&self) -> Answer {
        Answer::from_bool(self.false_negatives == 0)
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let [low, high] = self.error_rate_interval.map(show_percent);
        let (keys, probes) = (show_count(self.keys), show_count(self.probes));
        writeln!(
            out,
            "{}: {keys} keys, {} false negatives",
            self.filter,
            show_count(self.false_negatives)
        )?;
        writeln!(
            out,
            "bits/key    {:.2}; lower bound at the predicted rate {:.2}",
            self.bits_per_key, self.bound_bits_per_key,
        )?;
        writeln!(out, "error rate  {} predicted", show_percent(self.error_rate_predicted))?;
        writeln!(
            out,
            "            {} measured over {probes} absent keys; {low} .. {high} at 3 sigma",
            show_percent(self.error_rate_measured),
        )?;
        if let Some(load) = self.load {
            writeln!(out, "load        {}", show_percent(load))?;
        }
        write!(
            out,
            "time/key    insert {}, hit {}, miss {}",
            show_nanos(self.ns_insert),
            show_nanos(self.ns_hit),
            show_nanos(self.ns_miss)
        )?;
        match self.ns_remove {
            Some(remove) => writeln!(out, ", remove {}", show_nanos(remove)),
            None => writeln!(out, "; keys cannot be removed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_predicted_error_rate() {
        let keys = TestKeys::new(Seed::new(1), &KeySet::generate(20_000, 1, 50_000, 3));
        for &kind in FilterKind::ALL {
            let rate = ErrorRate::new(0.01).expect("in range");
            let report = keys.measure(kind, Sizing::ErrorRate(rate)).expect("measured");
            let [low, high] = report.error_rate_interval;
            assert_eq!(report.false_negatives, 0, "{kind}");
            assert!((low..high).contains(&report.error_rate_predicted), "{kind}: {report:?}");
        }
    }
}
