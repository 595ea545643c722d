//! Runs gets one by one: times each, checks its answer, and sums the read counters.

use std::hint::black_box;
use std::time::{Duration, Instant};

use sstable::ReadTrace;

use super::keys::KeySet;
use super::random::Random;

/// Whether the looked-up keys are absent, present, or both.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mix {
    /// Absent keys.
    Absent,
    /// Loaded keys.
    Present,
    /// Absent and loaded keys with equal probability.
    Mixed,
}

impl Mix {
    /// Every mix, in the order of the report.
    pub const ALL: [Self; 3] = [Self::Absent, Self::Present, Self::Mixed];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Present => "present",
            Self::Mixed => "mixed",
        }
    }
}

/// A get to run.
#[derive(Clone, Copy, Debug)]
pub struct PlannedGet<'k> {
    /// The row.
    pub key: &'k [u8],
    /// The index of the key in the list of present keys; `None` for an absent key.
    pub member: Option<usize>,
}

/// Returns the gets of a mix in random order.
///
/// The gets depend only on the arguments, so that all filters are measured with the same gets.
pub fn plan_gets(keys: &KeySet, mix: Mix, gets: usize, seed: u64) -> Vec<PlannedGet<'_>> {
    // Each mix has its own sequence of random numbers.
    let mut random = Random::new(seed ^ (mix as u64 + 1));
    (0..gets)
        .map(|index| {
            let present = match mix {
                Mix::Absent => false,
                Mix::Present => true,
                Mix::Mixed => random.below(2) == 0,
            };
            if present {
                let member = random.below(keys.present.len());
                PlannedGet { key: keys.present.key(member), member: Some(member) }
            } else {
                PlannedGet { key: keys.absent.key(index % keys.absent.len()), member: None }
            }
        })
        .collect()
}

/// The summed counters and the times of all gets of a run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The number of gets.
    pub gets: u64,
    /// The number of gets that found their row with the right value.
    pub found: u64,
    /// The summed counters of all gets.
    pub trace: ReadTrace,
    /// The time of each get in nanoseconds, ascending.
    nanos: Vec<u32>,
}

impl Measured {
    /// Returns the time in nanoseconds that `share` of the gets did not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = (share * self.nanos.len() as f64).ceil() as usize;
        self.nanos.get(rank.saturating_sub(1)).copied().map_or(0, u64::from)
    }

    /// Returns the share of false positives among the answers for files that lack the key.
    ///
    /// Counts the answers of filters and of the family map. Returns `None` if there were none.
    pub fn error_rate(&self) -> Option<f64> {
        let false_positives = self.trace.filter_false_positives + self.trace.map_false_files;
        let skipped = self.trace.files_skipped_by_filter + self.trace.files_skipped_by_map;
        let queries = skipped + false_positives;
        (queries > 0).then(|| false_positives as f64 / queries as f64)
    }

    /// Returns the mean per get of a sum over all gets.
    pub fn per_get(&self, sum: u64) -> f64 {
        sum as f64 / self.gets.max(1) as f64
    }
}

/// A get whose answer is wrong: a defect of what is measured, not of its input.
#[derive(Debug, thiserror::Error)]
#[error("row {row}: {what}")]
pub struct WrongAnswer {
    /// The row, escaped.
    row: String,
    what: String,
}

/// Runs all gets, and times and checks each.
///
/// `get` runs one get and is the only part that is timed. `check` returns whether the right answer
/// is a row, or says why the answer is wrong.
///
/// # Errors
///
/// Errors of `get`, and [`WrongAnswer`] if an answer is wrong.
pub fn measure<'k, A>(
    gets: &[PlannedGet<'k>],
    mut get: impl FnMut(&'k [u8]) -> anyhow::Result<(A, ReadTrace)>,
    mut check: impl FnMut(&PlannedGet<'k>, &A) -> Result<bool, String>,
) -> anyhow::Result<Measured> {
    let mut measured = Measured { nanos: Vec::with_capacity(gets.len()), ..Measured::default() };
    for planned_get in gets {
        // Load the key into the CPU cache: the key of a real request has just been received.
        black_box(planned_get.key.iter().fold(0, |sum, byte| sum ^ byte));
        let start = Instant::now();
        let (answer, trace) = get(planned_get.key)?;
        let elapsed = start.elapsed();
        let found = check(planned_get, &answer).map_err(|what| {
            let row = cells::escape(planned_get.key).to_string();
            WrongAnswer { row, what }
        })?;
        measured.nanos.push(u32::try_from(elapsed.as_nanos()).unwrap_or(u32::MAX));
        measured.gets += 1;
        measured.found += u64::from(found);
        measured.trace.add(&trace);
    }
    measured.nanos.sort_unstable();
    Ok(measured)
}

/// Returns the cost of reading the clock, which every measured time includes.
pub fn clock_nanos() -> u64 {
    let mut elapsed: Vec<Duration> = (0..1001).map(|_| Instant::now().elapsed()).collect();
    elapsed.sort_unstable();
    elapsed[elapsed.len() / 2].as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_answer_ends_the_run() {
        let keys = KeySet::generate(100, 4, 10, 1);
        let gets = plan_gets(&keys, Mix::Present, 10, 1);
        let empty_get = |_: &[u8]| Ok(((), ReadTrace::default()));
        let error = measure(&gets, empty_get, |_, ()| Err("is missing".to_owned()));
        assert!(error.expect_err("wrong").is::<WrongAnswer>());
        let measured = measure(&gets, empty_get, |_, ()| Ok(true)).expect("right");
        assert_eq!((measured.gets, measured.found), (10, 10));
    }

    #[test]
    fn quantiles_are_measured_times() {
        let nanos = (1..=200).collect();
        let measured = Measured { nanos, ..Measured::default() };
        assert_eq!(measured.quantile(0.5), 100);
        assert_eq!(measured.quantile(0.99), 198);
        assert_eq!(measured.quantile(1.0), 200);
        assert_eq!(Measured::default().quantile(0.5), 0);
    }

    #[test]
    fn the_error_rate_counts_only_files_without_the_key() {
        let mut measured = Measured::default();
        assert_eq!(measured.error_rate(), None);
        measured.trace.filter_checks = 200;
        measured.trace.files_skipped_by_filter = 98;
        measured.trace.filter_false_positives = 2;
        assert_eq!(measured.error_rate(), Some(0.02));
    }

    #[test]
    fn half_of_the_mixed_gets_are_for_present_keys() {
        let keys = KeySet::generate(1_000, 4, 1_000, 1);
        let gets = plan_gets(&keys, Mix::Mixed, 10_000, 1);
        let present = gets.iter().filter(|planned_get| planned_get.member.is_some()).count();
        assert!((4_800..5_200).contains(&present), "{present}");
    }
}
