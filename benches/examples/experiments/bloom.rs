//! Bloom filters: the error rate with 6, 10 and 14 probes, and the speed of `SimpleBloomFilter`.
//!
//! `SimpleBloomFilter` is a widely copied Java class.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use filter::{Classic, theory};
use foreign_filters::SimpleBloom;

use super::{ExperimentResult, Setup, Unit, is_plausible};

/// Bits of the filter in the published experiment.
const BITS: u64 = 1_600_000;
/// Keys of the filter in the published experiment.
const KEYS: u64 = 80_000;
/// The numbers of probes per key in the published experiment.
const PROBES: [u32; 3] = [6, 10, 14];

/// Number of texts in the `SimpleBloom`. As many absent texts are checked.
const TEXTS: u32 = 100_000;

pub(super) fn run(setup: Setup) -> Result<Vec<ExperimentResult>, Box<dyn Error>> {
    let mut results = Vec::new();
    for probes in PROBES {
        let mut filter = Classic::with_probe_count(probes, BITS / 8, setup.seed)?;
        for key in setup.keys(1, KEYS) {
            filter.insert(key)?;
        }
        let held = setup.keys(1, KEYS).filter(|key| filter.may_contain(*key)).count() as u64;
        let absent = setup.keys(2, setup.absent);
        let passed = absent.filter(|key| filter.may_contain(*key)).count() as u64;
        let formula = theory::bloom_error_rate(KEYS as f64, BITS as f64, probes.into());
        let exact = theory::bloom_error_rate_exact(KEYS, BITS, probes);
        results.push(ExperimentResult {
            experiment: "bloom",
            setting: format!("m 1.6 M, n 80,000, k {probes}"),
            quantity: "error rate",
            source: format!("{:.5}% (formula)", formula * 100.0),
            ours: passed as f64 / setup.absent as f64,
            unit: Unit::Share,
            holds: Some(held == KEYS && is_plausible(passed, setup.absent, exact)),
        });
    }
    results.extend(simple());
    Ok(results)
}

/// Measures `SimpleBloom` with its usual parameters: 2^25 bits, seven hashes per text.
fn simple() -> Vec<ExperimentResult> {
    let text = |number: u32| format!("https://www.example.org/article/{number}.html");
    let mut filter = SimpleBloom::default();
    let present: Vec<_> = (0..TEXTS).map(text).collect();
    let absent: Vec<_> = (TEXTS..2 * TEXTS).map(text).collect();
    for text in &present {
        filter.insert(text);
    }
    let time = |texts: &[String]| {
        let start = Instant::now();
        let passed = texts.iter().filter(|text| filter.may_contain(black_box(text))).count();
        (passed, start.elapsed().as_nanos() as f64 / texts.len() as f64)
    };
    let ((held, hit), (_, miss)) = (time(&present), time(&absent));
    let all_held = held == present.len();
    let setting = "2^25 bits, 7 seeds, 100,000 URLs";
    let outcome = |quantity, source: &str, ours, unit, holds| ExperimentResult {
        experiment: "simple-bloom",
        setting: setting.to_owned(),
        quantity,
        source: source.to_owned(),
        ours,
        unit,
        holds,
    };
    vec![
        outcome("false negatives", "0", (present.len() - held) as f64, Unit::Count, Some(all_held)),
        outcome("check, present", "2.5 to 4.2 µs", hit, Unit::Nanoseconds, None),
        outcome("check, absent", "2.5 to 4.2 µs", miss, Unit::Nanoseconds, None),
    ]
}
