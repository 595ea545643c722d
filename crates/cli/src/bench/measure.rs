//! Asks for keys one by one, times each get alone, checks each answer, sums what the gets did.

use std::hint::black_box;
use std::time::{Duration, Instant};

use sstable::ReadTrace;
use workload::Random;

use crate::failure::ReadMismatch;
use crate::keys::KeySet;

/// Which keys are asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mix {
    /// Keys that no file holds.
    Absent,
    /// Keys that were loaded.
    Present,
    /// Half and half, in random order.
    Mixed,
}

impl Mix {
    /// Every mix, in the order of the report.
    pub(super) const ALL: [Self; 3] = [Self::Absent, Self::Present, Self::Mixed];

    /// Its name in reports.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Present => "present",
            Self::Mixed => "mixed",
        }
    }
}

/// One get to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedGet<'k> {
    /// The row.
    pub(super) key: &'k [u8],
    /// Which of the loaded keys it is, if it was loaded.
    pub(super) member: Option<usize>,
}

/// The gets of a mix, in random order: the same for every filter.
pub(super) fn planned(keys: &KeySet, mix: Mix, gets: usize, seed: u64) -> Vec<PlannedGet<'_>> {
    let mut random = Random::new(seed ^ (mix as u64 + 1));
    (0..gets)
        .map(|number| {
            let present = match mix {
                Mix::Absent => false,
                Mix::Present => true,
                Mix::Mixed => random.below(2) == 0,
            };
            if present {
                let member = random.below(keys.present.len());
                PlannedGet { key: keys.present.key(member), member: Some(member) }
            } else {
                PlannedGet { key: keys.absent.key(number % keys.absent.len()), member: None }
            }
        })
        .collect()
}

/// What a number of gets did and how long they took.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// Gets made.
    pub(super) gets: u64,
    /// Gets that found their row, with the right value.
    pub(super) found: u64,
    /// What all gets did together.
    pub(super) trace: ReadTrace,
    /// The time of each get in nanoseconds, ascending.
    nanos: Vec<u32>,
}

impl Measured {
    /// The time that `share` of the gets did not exceed, in nanoseconds.
    pub(super) fn quantile(&self, share: f64) -> u64 {
        let rank = (share * self.nanos.len() as f64).ceil() as usize;
        self.nanos.get(rank.saturating_sub(1)).copied().map_or(0, u64::from)
    }

    /// How often a filter said "maybe" of those times when it could have said no.
    pub(super) fn error_rate(&self) -> Option<f64> {
        let wrong = self.trace.filter_false_positives;
        let asked = self.trace.files_skipped_by_filter + wrong;
        (asked > 0).then(|| wrong as f64 / asked as f64)
    }

    /// A sum of the trace shared out over the gets.
    pub(super) fn per_get(&self, sum: u64) -> f64 {
        sum as f64 / self.gets.max(1) as f64
    }
}

/// Makes all the gets. `get` makes one, and is all that is timed; `check` says whether what it
/// found is right.
///
/// # Errors
///
/// What `get` says, and [`ReadMismatch`] if an answer is not right.
pub(super) fn measure<'k, A>(
    planned: &[PlannedGet<'k>],
    mut get: impl FnMut(&'k [u8]) -> anyhow::Result<(A, ReadTrace)>,
    mut check: impl FnMut(&PlannedGet<'k>, &A) -> Result<bool, String>,
) -> anyhow::Result<Measured> {
    let mut measured = Measured { nanos: Vec::with_capacity(planned.len()), ..Measured::default() };
    for planned_get in planned {
        // A key that was just received lies in the cache; this one has not been looked at for long.
        black_box(planned_get.key.iter().fold(0, |sum, byte| sum ^ byte));
        let start = Instant::now();
        let (answer, trace) = get(planned_get.key)?;
        let taken = start.elapsed();
        let found = check(planned_get, &answer).map_err(|what| {
            ReadMismatch(format!("row {}: {what}", sstable::escape(planned_get.key)))
        })?;
        measured.nanos.push(u32::try_from(taken.as_nanos()).unwrap_or(u32::MAX));
        measured.gets += 1;
        measured.found += u64::from(found);
        measured.trace.add(&trace);
    }
    measured.nanos.sort_unstable();
    Ok(measured)
}

/// What timing nothing takes: the part of every figure that is the clock's.
pub(super) fn clock_nanos() -> u64 {
    let mut taken: Vec<Duration> = (0..1001).map(|_| Instant::now().elapsed()).collect();
    taken.sort_unstable();
    taken[taken.len() / 2].as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_answer_ends_the_run() {
        let keys = KeySet::generate(100, 4, 10, 1);
        let planned = planned(&keys, Mix::Present, 10, 1);
        let nothing = |_: &[u8]| Ok(((), ReadTrace::default()));
        let error = measure(&planned, nothing, |_, ()| Err("is missing".to_owned()));
        assert!(error.expect_err("wrong").is::<ReadMismatch>());
        let measured = measure(&planned, nothing, |_, ()| Ok(true)).expect("right");
        assert_eq!((measured.gets, measured.found), (10, 10));
    }

    #[test]
    fn quantiles_are_times_that_were_measured() {
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
    fn half_of_a_mix_is_present() {
        let keys = KeySet::generate(1_000, 4, 1_000, 1);
        let planned = planned(&keys, Mix::Mixed, 10_000, 1);
        let present = planned.iter().filter(|planned_get| planned_get.member.is_some()).count();
        assert!((4_800..5_200).contains(&present), "{present}");
    }
}
