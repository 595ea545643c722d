//! The d-left filter with half a million keys: error rate, loads of the subtables, time of each operation.

use std::error::Error;
use std::time::Instant;

use filter::engine::KeyHash;
use filter::{DLeft, Sizing};

use super::{ExperimentResult, Setup, Unit, is_plausible};

const KEYS: u64 = 500_000;

/// The published deviation from the mean of the fullest and the emptiest subtable.
const SOURCE_SPREAD: [f64; 2] = [0.08, -0.09];

pub(super) fn run(setup: Setup) -> Result<Vec<ExperimentResult>, Box<dyn Error>> {
    let keys: Vec<KeyHash> = setup.keys(3, KEYS).collect();
    let mut filter = DLeft::with_seed(Sizing::error_rate(1e-6)?, KEYS, setup.seed)?;
    let (insert, ()) = timed(&keys, |keys| keys.iter().try_for_each(|key| filter.insert(*key)))?;
    let (lookup, held) = timed(&keys, |keys| {
        Ok::<_, filter::Full>(keys.iter().filter(|key| filter.may_contain(**key)).count() as u64)
    })?;
    let promised = filter.stats().error_rate;
    let absent = setup.keys(4, setup.absent);
    let passed = absent.filter(|key| filter.may_contain(*key)).count() as u64;
    let loads: Vec<f64> = filter.subtable_loads().collect();
    let mean = loads.iter().sum::<f64>() / loads.len().max(1) as f64;
    let fullest = loads.iter().copied().fold(0.0, f64::max) / mean - 1.0;
    let emptiest = loads.iter().copied().fold(1.0, f64::min) / mean - 1.0;
    let (remove, ()) = timed(&keys, |keys| keys.iter().try_for_each(|key| filter.remove(*key)))?;
    let left = filter.stats().keys;

    let outcome = |quantity, source: &str, ours, unit, holds| ExperimentResult {
        experiment: "d-left",
        setting: "500,000 keys, 4 subtables".to_owned(),
        quantity,
        source: source.to_owned(),
        ours,
        unit,
        holds,
    };
    let rate = passed as f64 / setup.absent as f64;
    let is_expected = is_plausible(passed, setup.absent, promised) && promised <= 1e-6;
    let [above, below] = SOURCE_SPREAD;
    Ok(vec![
        outcome("false negatives", "0", (KEYS - held) as f64, Unit::Count, Some(held == KEYS)),
        outcome("error rate", "about 0.0001%", rate, Unit::Share, Some(is_expected)),
        outcome("fullest subtable", "+8%", fullest, Unit::Share, Some(fullest <= above)),
        outcome("emptiest subtable", "-9%", emptiest, Unit::Share, Some(emptiest >= below)),
        outcome("left after removing all", "0", left as f64, Unit::Count, Some(left == 0)),
        outcome("insert", "200 to 400 µs", insert, Unit::Nanoseconds, None),
        outcome("lookup", "200 to 400 µs", lookup, Unit::Nanoseconds, None),
        outcome("remove", "200 to 400 µs", remove, Unit::Nanoseconds, None),
    ])
}

/// Runs a function over all keys, and returns the nanoseconds per key and the result.
fn timed<T, E>(
    keys: &[KeyHash],
    run: impl FnOnce(&[KeyHash]) -> Result<T, E>,
) -> Result<(f64, T), E> {
    let start = Instant::now();
    let result = run(keys)?;
    Ok((start.elapsed().as_nanos() as f64 / keys.len() as f64, result))
}
