//! `hfile filter measure`: one kind of filter, filled and asked, beside what was predicted.

use std::hint::black_box;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use filter::{
    BuildError, ErrorRate, FilterKind, FilterStats, Insert, KeyHash, KindVisitor, Membership,
    Remove, Seed, Sizing,
};
use serde::Serialize;

use super::{error_rate, kind};
use crate::cells_input;
use crate::failure::{Answer, Usage};
use crate::keys::{KeyList, KeySet};
use crate::output::{Audience, Report};
use crate::size_text::show_count;

/// Fill a filter with keys, ask it, and count: errors, bits, load, time.
///
/// The error rate is counted over strangers and comes with the interval in which the true rate lies
/// with a probability of 99.7 % (three standard deviations). Times are means over all keys, hashing
/// left out.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile filter measure --kind cuckoo --keys 1000000
  hfile filter measure --kind d-left --keys 500000 --error-rate 1e-6 --probes 10000000
  hfile filter measure --kind blocked-bloom --input /usr/share/dict/words --json

Exit status: 0 measured, 1 a member was denied, 2 wrong usage, 3 could not read.")]
pub(crate) struct Measure {
    /// The kind, as `hfile filter size` lists them
    #[arg(long, value_name = "KIND")]
    kind: String,
    /// How many keys to insert [default: 1000000, or all keys of --input]
    #[arg(long, value_name = "KEYS")]
    keys: Option<usize>,
    /// How often the filter may say "maybe" about a stranger
    #[arg(long, value_name = "RATE", default_value_t = 0.01)]
    error_rate: f64,
    /// Size it by bits per key instead
    #[arg(long, value_name = "BITS", conflicts_with = "error_rate")]
    bits_per_key: Option<f64>,
    /// How many strangers to ask for
    #[arg(long, value_name = "PROBES", default_value_t = 1_000_000)]
    probes: usize,
    /// Real keys, one a line, instead of made-up ones; - is stdin
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Makes keys and their hashes
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    audience: Audience,
}

/// What was predicted and what was counted.
#[derive(Debug, Serialize)]
struct MeasureReport {
    schema: u32,
    filter: &'static str,
    keys: u64,
    bits_per_key: f64,
    /// No filter with the predicted error rate takes fewer.
    bound_bits_per_key: f64,
    error_rate_predicted: f64,
    error_rate_measured: f64,
    /// Where the true rate lies, as far as so many probes can tell.
    error_rate_interval: [f64; 2],
    probes: u64,
    false_negatives: u64,
    /// The share of its cells or slots that are taken, for filters that have such.
    load: Option<f64>,
    ns_insert: f64,
    ns_hit: f64,
    ns_miss: f64,
    ns_remove: Option<f64>,
}

impl Measure {
    /// Measures and reports.
    pub(crate) fn run(self) -> anyhow::Result<Answer> {
        let kind = kind(&self.kind)?;
        let sizing = match self.bits_per_key {
            Some(bits) => Sizing::BitsPerKey(bits),
            None => Sizing::ErrorRate(error_rate(self.error_rate)?),
        };
        let keys = self.key_set()?;
        let hashes = |list: &KeyList| -> Vec<KeyHash> {
            list.iter().map(|key| KeyHash::new(Seed::new(self.seed), key)).collect()
        };
        let subjects = Subjects { members: hashes(&keys.present), strangers: hashes(&keys.absent) };
        let report = subjects.measure(kind, sizing)?;
        self.audience.print(&report)?;
        Ok(Answer::from_bool(report.false_negatives == 0))
    }

    fn key_set(&self) -> anyhow::Result<KeySet> {
        let Some(path) = &self.input else {
            let keys = self.keys.unwrap_or(1_000_000);
            if keys == 0 {
                return Err(Usage("a filter without keys has nothing to measure".to_owned()).into());
            }
            return Ok(KeySet::generate(keys, 1, self.probes, self.seed));
        };
        let keys_max = self.keys.unwrap_or(usize::MAX);
        KeySet::read(cells_input::open(path)?, keys_max, 1, self.probes, self.seed)
            .with_context(|| cells_input::display_name(path))
    }
}

/// Keys that a filter gets, and keys that it does not.
struct Subjects {
    members: Vec<KeyHash>,
    strangers: Vec<KeyHash>,
}

/// What filling and probing a filter showed.
struct Counted {
    stats: FilterStats,
    occupancy: Option<f64>,
    ns_insert: f64,
    ns_hit: f64,
    ns_miss: f64,
    ns_remove: Option<f64>,
    false_negatives: usize,
    passed: usize,
}

/// Fills a filter of any kind with all members, and counts.
struct Count<'a> {
    subjects: &'a Subjects,
    sizing: Sizing,
}

impl KindVisitor for Count<'_> {
    type Output = anyhow::Result<Counted>;

    fn inserts<F: Insert>(
        self,
        make: fn(Sizing, u64) -> Result<F, BuildError>,
    ) -> anyhow::Result<Counted> {
        let mut filter = make(self.sizing, self.subjects.members.len() as u64)?;
        self.subjects.count(&mut filter)
    }

    fn removes<F: Remove>(
        self,
        make: fn(Sizing, u64) -> Result<F, BuildError>,
    ) -> anyhow::Result<Counted> {
        let mut filter = make(self.sizing, self.subjects.members.len() as u64)?;
        let counted = self.subjects.count(&mut filter)?;
        Ok(Counted { ns_remove: Some(self.subjects.remove_all(&mut filter)?), ..counted })
    }

    fn builds<F: Membership>(
        self,
        build: fn(Sizing, &[KeyHash]) -> Result<F, BuildError>,
    ) -> anyhow::Result<Counted> {
        let start = Instant::now();
        let filter = build(self.sizing, &self.subjects.members)?;
        let ns_build = per_key(start, self.subjects.members.len());
        Ok(self.subjects.ask(&filter, ns_build))
    }
}

impl Subjects {
    fn measure(&self, kind: FilterKind, sizing: Sizing) -> anyhow::Result<MeasureReport> {
        let count = self.members.len() as u64;
        let counted = kind.visit(Count { subjects: self, sizing })?;
        let probes = self.strangers.len();
        let predicted = counted.stats.error_rate;
        Ok(MeasureReport {
            schema: 1,
            filter: kind.name(),
            keys: count,
            bits_per_key: counted.stats.bits_per_key(),
            bound_bits_per_key: ErrorRate::new(predicted)
                .map_or(0.0, ErrorRate::bits_per_key_floor),
            error_rate_predicted: predicted,
            error_rate_measured: counted.passed as f64 / probes.max(1) as f64,
            error_rate_interval: interval(counted.passed, probes),
            probes: probes as u64,
            false_negatives: counted.false_negatives as u64,
            load: counted.occupancy,
            ns_insert: counted.ns_insert,
            ns_hit: counted.ns_hit,
            ns_miss: counted.ns_miss,
            ns_remove: counted.ns_remove,
        })
    }

    fn count(&self, filter: &mut impl Insert) -> anyhow::Result<Counted> {
        let start = Instant::now();
        for member in &self.members {
            filter.insert(*member).context("cannot insert all keys")?;
        }
        let ns_insert = per_key(start, self.members.len());
        Ok(self.ask(filter, ns_insert))
    }

    /// Asks a filter that has all members for them and for all strangers.
    fn ask(&self, filter: &impl Membership, ns_insert: f64) -> Counted {
        let ask = |filter: &dyn Fn(KeyHash) -> bool, keys: &[KeyHash]| {
            let start = Instant::now();
            let passed = keys.iter().filter(|key| filter(**black_box(key))).count();
            (passed, per_key(start, keys.len()))
        };
        let may_contain = |key| filter.may_contain(key);
        let (held, ns_hit) = ask(&may_contain, &self.members);
        let (passed, ns_miss) = ask(&may_contain, &self.strangers);
        let false_negatives = self.members.len() - held;
        Counted {
            stats: filter.stats(),
            occupancy: filter.occupancy(),
            ns_insert,
            ns_hit,
            ns_miss,
            ns_remove: None,
            false_negatives,
            passed,
        }
    }

    fn remove_all(&self, filter: &mut impl Remove) -> anyhow::Result<f64> {
        let start = Instant::now();
        for member in &self.members {
            filter.remove(*member).context("a key that was inserted cannot be removed")?;
        }
        Ok(per_key(start, self.members.len()))
    }
}

fn per_key(start: Instant, keys: usize) -> f64 {
    start.elapsed().as_nanos() as f64 / keys.max(1) as f64
}

/// Wilson's interval at three standard deviations, which is right for small counts too.
fn interval(passed: usize, probes: usize) -> [f64; 2] {
    const DEVIATIONS: f64 = 3.0;
    if probes == 0 {
        return [0.0, 1.0];
    }
    let (count, rate) = (probes as f64, passed as f64 / probes as f64);
    let square = DEVIATIONS * DEVIATIONS;
    let middle = rate + square / (2.0 * count);
    let spread = DEVIATIONS * (rate * (1.0 - rate) / count + square / (4.0 * count * count)).sqrt();
    let scale = 1.0 + square / count;
    [((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0)]
}

impl Report for MeasureReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let per_cent = |rate: f64| format!("{:.5}%", rate * 100.0);
        let [low, high] = self.error_rate_interval.map(per_cent);
        let (keys, probes) = (show_count(self.keys), show_count(self.probes));
        writeln!(out, "{}: {keys} keys, {} denied", self.filter, show_count(self.false_negatives))?;
        writeln!(
            out,
            "bits/key    {:.3}, where no filter takes fewer than {:.3}",
            self.bits_per_key, self.bound_bits_per_key,
        )?;
        writeln!(out, "error rate  {} predicted", per_cent(self.error_rate_predicted))?;
        writeln!(
            out,
            "            {} measured over {probes} strangers; {low} .. {high} at 3 sigma",
            per_cent(self.error_rate_measured),
        )?;
        if let Some(load) = self.load {
            writeln!(out, "load        {:.1}%", load * 100.0)?;
        }
        write!(
            out,
            "ns          insert {:.1}, hit {:.1}, miss {:.1}",
            self.ns_insert, self.ns_hit, self.ns_miss
        )?;
        match self.ns_remove {
            Some(remove) => writeln!(out, ", remove {remove:.1}"),
            None => writeln!(out, "; keys cannot be removed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_rate_and_narrows() {
        let [low, high] = interval(100, 10_000);
        assert!(low < 0.01 && 0.01 < high);
        let [lower, higher] = interval(10_000, 1_000_000);
        assert!(low < lower && higher < high);
        assert!(interval(0, 100)[0] <= 0.0);
        assert!(interval(0, 100)[1] > 0.0);
    }

    #[test]
    fn every_kind_is_measured_as_predicted() {
        let keys = KeySet::generate(20_000, 1, 50_000, 3);
        let hashes = |list: &KeyList| -> Vec<KeyHash> {
            list.iter().map(|key| KeyHash::new(Seed::new(1), key)).collect()
        };
        let subjects = Subjects { members: hashes(&keys.present), strangers: hashes(&keys.absent) };
        for &kind in FilterKind::ALL {
            let rate = ErrorRate::new(0.01).expect("in range");
            let report = subjects.measure(kind, Sizing::ErrorRate(rate)).expect("measured");
            let [low, high] = report.error_rate_interval;
            assert_eq!(report.false_negatives, 0, "{kind}");
            assert!((low..high).contains(&report.error_rate_predicted), "{kind}: {report:?}");
        }
    }
}
