//! Published experiments on filters, repeated at their own sizes.
//!
//! ```text
//! cargo run --release -p benches --example experiments [-- --quick]
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

use filter::{KeyHash, Seed};

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
    let setup = Setup { seed: Seed::new(1), absent };
    let mut results = bloom::run(setup)?;
    results.extend(d_left::run(setup)?);
    results.extend(cuckoo::run(setup)?);
    for result in &results {
        let holds = match result.holds {
            Some(true) => "as expected",
            Some(false) => "NOT AS EXPECTED",
            None => "",
        };
        let ExperimentResult { experiment, setting, quantity, source, .. } = result;
        let ours = result.unit.show(result.ours);
        println!("{experiment:13} {setting:33} {quantity:35} {source:>25} {ours:>10}  {holds}");
    }
    let all_hold = results.iter().all(|result| result.holds != Some(false));
    Ok(if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
