//! Published experiments on filters, repeated at their own sizes.
//!
//! ```text
//! cargo run -p benches --example experiments [-- --quick]
//! ```
//!
//! Bloom filters: 80,000 keys in 1,600,000 bits with 6, 10 and 14 hash functions, and the speed of the
//! class `SimpleBloomFilter`. d-left filter: 500,000 keys. Cuckoo filters: the load at which the first
//! insert fails with 1, 2, 4 and 8 slots a bucket, and how many copies of one key fit.
//!
//! Prints the published figures beside those measured here. Counts are checked against theory, and the
//! program ends with status 1 if one is not as expected; times are not checked. `--quick` asks for
//! 1,000,000 absent keys instead of 20,000,000, of filters of the same sizes.
#![expect(clippy::print_stdout, reason = "the figures are what this is for")]

mod bloom;
mod cuckoo;
mod d_left;

use std::error::Error;
use std::process::ExitCode;

use filter::Seed;
use filter::engine::KeyHash;

/// One figure, as published and as measured here.
struct ExperimentResult {
    experiment: &'static str,
    setting: String,
    quantity: &'static str,
    /// The published figure.
    source: String,
    ours: f64,
    unit: Unit,
    /// Whether the measured figure is as expected; `None` for times.
    holds: Option<bool>,
}

/// The unit of a figure.
#[derive(Clone, Copy)]
enum Unit {
    /// A fraction of 1.
    Share,
    /// A count.
    Count,
    /// Nanoseconds per operation.
    Nanoseconds,
}

/// The parameters of all experiments.
#[derive(Clone, Copy)]
struct Setup {
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

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let is_quick = match &std::env::args().skip(1).collect::<Vec<_>>()[..] {
        [] => false,
        [option] if option == "--quick" => true,
        other => return Err(format!("the only option is --quick, not {}", other.join(" ")).into()),
    };
    let absent = if is_quick { 1_000_000 } else { 20_000_000 };
    let results = run(Setup { seed: Seed::new(1), absent })?;
    for result in &results {
        let holds = match result.holds {
            Some(true) => "as expected",
            Some(false) => "NOT AS EXPECTED",
            None => "",
        };
        let ExperimentResult { experiment, setting, quantity, source, .. } = result;
        let ours = result.unit.show(result.ours);
        let line =
            format!("{experiment:13} {setting:33} {quantity:35} {source:>25} {ours:>10}  {holds}");
        println!("{}", line.trim_end());
    }
    let all_hold = results.iter().all(|result| result.holds != Some(false));
    Ok(if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs all experiments.
fn run(setup: Setup) -> Result<Vec<ExperimentResult>, Box<dyn Error>> {
    let mut results = bloom::run(setup)?;
    results.extend(d_left::run(setup)?);
    results.extend(cuckoo::run(setup)?);
    Ok(results)
}

impl Unit {
    fn show(self, figure: f64) -> String {
        match self {
            Self::Share if figure.abs() < 0.01 => format!("{:.5}%", figure * 100.0),
            Self::Share => format!("{:.1}%", figure * 100.0),
            Self::Count => format!("{figure:.0}"),
            Self::Nanoseconds => format!("{figure:.0} ns"),
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

    /// The filters have the published sizes, so the counts are comparable.
    #[test]
    fn the_experiments_reproduce_the_published_counts() {
        let setup = |seed| Setup { seed: Seed::new(seed), absent: 1_000_000 };
        let results = run(setup(1)).expect("memory suffices");
        let ours = |experiment: &str, setting: &str, quantity: &str| {
            let is_asked = |result: &&ExperimentResult| {
                result.experiment == experiment
                    && result.setting.contains(setting)
                    && result.quantity == quantity
            };
            let found: Vec<_> = results.iter().filter(is_asked).collect();
            assert_eq!(found.len(), 1, "{experiment}, {setting}, {quantity}");
            found[0].ours
        };
        // (1 - e^(-k/20))^k of a million: 303, 89, 67.
        for (probes, rate) in [(6, 3.031e-4), (10, 8.9e-5), (14, 6.7e-5)] {
            let measured = ours("bloom", &format!("k {probes}"), "error rate") * 1e6;
            let expected = rate * 1e6;
            let is_near = (measured - expected).abs() < 4.0 * f64::sqrt(expected);
            assert!(is_near, "{probes}: {measured}");
        }
        assert!(ours("d-left", "500,000", "error rate") <= 8e-6);
        assert!((0.0..0.08).contains(&ours("d-left", "", "fullest subtable")));
        assert!((-0.09..0.0).contains(&ours("d-left", "", "emptiest subtable")));
        for (slots, load) in [(1, 0.50), (2, 0.84), (4, 0.95), (8, 0.98)] {
            let reached = ours("cuckoo", &format!(" {slots} a bucket"), "load at first refusal");
            assert!((load..1.0).contains(&reached), "{slots}: {reached}");
        }
        let copies = "copies of one key before a refusal";
        assert!((ours("cuckoo", "Go's", copies) - 8.0).abs() < 0.1, "the ninth is refused");
        assert!((ours("cuckoo", "ours", copies) - 1_000.0).abs() < 0.1);
        for result in results.iter().chain(&run(setup(7)).expect("memory suffices")) {
            let is_time = matches!(result.unit, Unit::Nanoseconds);
            let what = (result.experiment, &result.setting, result.quantity, result.ours);
            assert_eq!(result.holds.is_none(), is_time, "{what:?}");
            assert!(is_time || result.holds == Some(true), "{what:?}");
        }
    }

    #[test]
    fn only_counts_near_the_expectation_are_plausible() {
        assert!(is_plausible(1_000, 1_000_000, 0.001));
        assert!(is_plausible(0, 1_000_000, 1e-6));
        assert!(!is_plausible(1_200, 1_000_000, 0.001));
        assert!(!is_plausible(800, 1_000_000, 0.001));
        assert!(!is_plausible(20, 1_000_000, 1e-6));
    }
}
