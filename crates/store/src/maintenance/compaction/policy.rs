//! Selects the files of a compaction like HBase's `ExploringCompactionPolicy`.
//!
//! Candidates are the runs of files adjacent in age that are long enough and *even*: no file is much
//! larger than the others of the run together. The policy selects the longest run, and the smallest
//! among equally long ones.
//!
//! When a family has [`BLOCKING_FILES`] files, at which HBase blocks writers, the policy selects the run
//! that removes the most files per byte. If no run is even, it selects the smallest run.

use std::ops::Range;

use sstable::Timestamp;

use crate::options::{CompactionOptions, OffPeak};

impl CompactionOptions {
    fn ratio_at(&self, now: Timestamp) -> f64 {
        let hour = now.get().div_euclid(3_600_000).rem_euclid(24);
        let applies = |off_peak: &OffPeak| {
            let (from, to) = (i64::from(off_peak.from_hour), i64::from(off_peak.to_hour));
            if from <= to { (from..to).contains(&hour) } else { hour >= from || hour < to }
        };
        self.off_peak.filter(applies).map_or(self.ratio, |off_peak| off_peak.ratio)
    }

    /// Returns the range of files to merge, given the sizes of all files from the oldest to the newest.
    ///
    /// `flush_bytes` is the flush size of a memstore.
    pub(super) fn select(&self, sizes: &[u64], flush_bytes: u64, now: Timestamp) -> Range<usize> {
        let size_min = self.size_min.unwrap_or(flush_bytes);
        let ratio = self.ratio_at(now);
        let is_stuck = sizes.len() >= BLOCKING_FILES;
        let (mut best, mut best_size) = (0..0, 0);
        let mut smallest: Option<(u64, Range<usize>)> = None;
        for start in 0..sizes.len() {
            for end in start.saturating_add(self.files_min.max(2))
                ..=sizes.len().min(start.saturating_add(self.files_max))
            {
                let run = &sizes[start..end];
                let size: u64 = run.iter().sum();
                if smallest.as_ref().is_none_or(|(smallest, _)| size < *smallest) {
                    smallest = Some((size, start..end));
                }
                if size > self.size_max || (size >= size_min && !is_even(run, size, ratio)) {
                    continue;
                }
                if is_better((run.len(), size), (best.len(), best_size), is_stuck) {
                    (best, best_size) = (start..end, size);
                }
            }
        }
        match smallest {
            Some((_, smallest)) if is_stuck && best.is_empty() => smallest,
            _ => best,
        }
    }
}

/// Number of files at which HBase blocks writers (`hbase.hstore.blockingStoreFiles`).
const BLOCKING_FILES: usize = 16;

/// Returns whether no file of the run is larger than `ratio` times the others together.
fn is_even(run: &[u64], size: u64, ratio: f64) -> bool {
    run.iter().all(|one| *one as f64 <= (size - one) as f64 * ratio)
}

/// Returns whether a run, given its number of files and its bytes, is better than the best so far.
fn is_better(run: (usize, u64), best: (usize, u64), is_stuck: bool) -> bool {
    if is_stuck && run.1 > 0 && best.1 > 0 {
        // Files per byte. A later run must be better by 5 %, so that the choice is stable.
        let worth = |(files, size): (usize, u64)| files as f64 / size as f64;
        return worth(run) > worth(best) * 1.05;
    }
    run.0 > best.0 || run.0 == best.0 && run.1 < best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(options: &CompactionOptions, sizes: &[u64]) -> Range<usize> {
        options.select(sizes, 0, Timestamp::new(0))
    }

    #[test]
    fn the_longest_run_of_even_files_is_merged_and_of_two_the_smaller() {
        let options = CompactionOptions::default();
        let select = |sizes: &[u64]| select(&options, sizes);
        assert_eq!(select(&[]), 0..0);
        assert_eq!(select(&[10, 10]), 0..0);
        assert_eq!(select(&[10, 10, 10]), 0..3);
        assert_eq!(select(&[1000, 10, 10, 10]), 1..4);
        assert_eq!(select(&[1000, 30, 20, 10]), 1..4);
        assert_eq!(select(&[1000, 100, 10, 1]), 0..0);
        assert_eq!(select(&[20, 20, 20, 500, 10, 10, 10]), 4..7);
        assert_eq!(select(&[5; 15]).len(), 10);
    }

    #[test]
    fn many_files_are_merged_however_uneven_they_are() {
        let options = CompactionOptions::default();
        let doubling: Vec<u64> = (0..15).map(|index| 4 << (2 * index)).rev().collect();
        assert_eq!(select(&options, &doubling), 0..0);
        let doubling: Vec<u64> = (0..16).map(|index| 4 << (2 * index)).rev().collect();
        assert_eq!(select(&options, &doubling), 13..16);
    }

    #[test]
    fn small_files_need_not_be_even_and_large_ones_are_left_alone() {
        let options = CompactionOptions::default();
        let uneven = [1000, 100, 10];
        assert_eq!(select(&options.clone().size_min(Some(1111)), &uneven), 0..3);
        assert_eq!(select(&options.clone().size_min(Some(1110)), &uneven), 0..0);
        assert_eq!(options.select(&uneven, 2000, Timestamp::new(0)), 0..3);
        assert_eq!(select(&options.clone().size_max(30), &[10, 10, 10, 10]), 0..3);
        assert_eq!(select(&options.files_min(2).files_max(2), &[10, 10, 9]), 1..3);
    }

    #[test]
    fn off_peak_larger_files_are_merged_too() {
        let options = CompactionOptions::default().off_peak(22, 6, 5.0);
        let at = |hour: i64| options.select(&[40, 10, 10], 0, Timestamp::new(hour * 3_600_000));
        for (hour, expected) in [(21, 0..0), (22, 0..3), (24 + 5, 0..3), (6, 0..0), (12, 0..0)] {
            assert_eq!(at(hour), expected, "{hour}");
        }
    }
}
