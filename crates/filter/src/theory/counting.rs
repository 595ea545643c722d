//! Error rates and sizes of the counting filters: counting Bloom and d-left.
//!
//! Notation: n keys, m counters, k probes per key. A line is a cache line of 128 counters; all
//! probes of a key are in one line.

use alloc::vec;
use alloc::vec::Vec;

use super::bloom::{BestProbes, best_probe_count, mean_over_bins};
use crate::bisect::least;

/// Counters per line of [`CountingBloom`](crate::CountingBloom): 4 bits each, 64 bytes in total.
const LINE_COUNTERS: usize = 128;

/// Returns the error rate of a counting Bloom filter of `lines` lines of 128 counters.
///
/// Let X be the number of counters above zero in a line with j keys. An absent key whose probes
/// are in this line is a false positive with probability (X/128)^k. The distribution of X is
/// computed probe by probe: the next probe finds a counter at zero with probability 1 − X/128. The
/// number j is binomially distributed, with n trials of probability 1/lines.
///
/// The result is exact, except that collisions of 64-bit hashes are approximated by n·2^−64.
///
/// The error rate is the error rate of a blocked Bloom filter with lines of 128 bits. After Putze, Sanders,
/// Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007.
pub(crate) fn counting_bloom_error_rate(keys: u64, lines: u64, probes: u32) -> f64 {
    LineRates::new(probes).error_rate(keys, lines)
}

/// Returns the number of probes in `1..=probes_max` with the least error rate of a counting Bloom filter.
pub(crate) fn counting_bloom_best(keys: u64, lines: u64, probes_max: u32) -> BestProbes {
    best_probe_count(probes_max, |probes| counting_bloom_error_rate(keys, lines, probes))
}

/// Returns the smallest counting Bloom filter with at most `error_rate`: its lines and its probes.
///
/// Returns `None` if `lines_max` lines are not enough with any number of probes in
/// `1..=probes_max`.
pub(crate) fn counting_bloom_fewest_lines(
    keys: u64,
    error_rate: f64,
    lines_max: u64,
    probes_max: u32,
) -> Option<(u64, u32)> {
    let mut best: Option<(u64, u32)> = None;
    // With more probes the required number of lines falls to its only minimum, then rises: stop at
    // the first number of probes that does not reach the rate with the best number of lines so far.
    for probes in 1..=probes_max {
        let mut line = LineRates::new(probes);
        let enough = best.map_or(lines_max, |(lines, _)| lines);
        if line.error_rate(keys, enough) > error_rate {
            if best.is_some() {
                break;
            }
            continue;
        }
        let lines = least(0, enough, |lines| line.error_rate(keys, lines) <= error_rate);
        best = Some((lines, probes));
    }
    best
}

/// Returns `above` as a fraction of the counters of a line.
fn share(above: usize) -> f64 {
    above as f64 / LINE_COUNTERS as f64
}

/// The error rates of lines with 0, 1, 2, … keys, computed as they are needed.
struct LineRates {
    probes: u32,
    /// At index x, the probability that x counters are above zero after `rates.len() − 1` keys.
    distribution: [f64; LINE_COUNTERS + 1],
    /// At index x, the probability of a false positive if x counters are above zero: (x/128)^k.
    passes: [f64; LINE_COUNTERS + 1],
    /// At index j, the error rate of a line with j keys.
    rates: Vec<f64>,
}

impl LineRates {
    fn new(probes: u32) -> Self {
        let mut distribution = [0.0; LINE_COUNTERS + 1];
        distribution[0] = 1.0;
        let passes =
            core::array::from_fn(|above| (0..probes).fold(1.0, |odds, _| odds * share(above)));
        Self { probes, distribution, passes, rates: vec![0.0] }
    }

    fn error_rate(&mut self, keys: u64, lines: u64) -> f64 {
        if keys == 0 {
            return 0.0;
        }
        // At 32 or more probes per counter a counter is zero with probability e^−32: the rate is 1.
        // The number of keys may come from a hostile header. A huge number would keep the sums
        // below running practically forever.
        if keys as f64 * f64::from(self.probes) >= 32.0 * LINE_COUNTERS as f64 * lines as f64 {
            return 1.0;
        }
        mean_over_bins(keys, lines, |keys| self.line_rate(keys))
    }

    fn line_rate(&mut self, keys: f64) -> f64 {
        let keys = keys as usize;
        while self.rates.len() <= keys {
            let last = self.rates[self.rates.len() - 1];
            if last >= 1.0 - 1e-12 {
                return last;
            }
            self.add_key();
        }
        self.rates[keys]
    }

    fn add_key(&mut self) {
        for _ in 0..self.probes {
            // In descending order, so that each probability is read before it is overwritten.
            for above in (1..=LINE_COUNTERS).rev() {
                let [one_less, same] = [self.distribution[above - 1], self.distribution[above]];
                let odds = one_less * (1.0 - share(above - 1)) + same * share(above);
                // Subnormal numbers are slow, and too small to change the rate.
                self.distribution[above] = if odds < 1e-300 { 0.0 } else { odds };
            }
            self.distribution[0] = 0.0; // After a probe, at least one counter is above zero.
        }
        let each = self.distribution.iter().zip(&self.passes);
        self.rates.push(each.map(|(odds, passes)| odds * passes).sum());
    }
}

/// Returns the error rate of a d-left filter: 1 − (1 − 1/(B·2^r))^n.
///
/// n is the number of distinct keys, B the number of buckets per subtable, r the bits of a
/// remainder. A key is hashed to one of B·2^r numbers. In each subtable, its bucket and remainder
/// are a permutation of this number, so two keys agree in all subtables if they have the same
/// number, and in none otherwise. An absent key is therefore a false positive exactly if a member
/// has the same number. The number of subtables makes no difference.
///
/// With 4 subtables and 6 of 8 cells in use, n = 24·B, this is the 24·2^−r of Bonomi, Mitzenmacher,
/// Panigrahy, Singh, Varghese: "An Improved Construction for Counting Bloom Filters", 2006.
pub(crate) fn d_left_error_rate(keys: u64, buckets: u64, remainder_bits: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let numbers = buckets as f64 * libm::exp2(f64::from(remainder_bits));
    if numbers <= 1.0 { 1.0 } else { -libm::expm1(keys as f64 * libm::log1p(-1.0 / numbers)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_one_key_lets_pass_who_meets_it_everywhere() {
        let rate = counting_bloom_error_rate(1, 1, 3);
        // Three probes raise X = 1, 2 or 3 distinct counters. The rate is the mean of (X/128)^3.
        let [one, two, three] = [1.0, 3.0 * 127.0, 127.0 * 126.0].map(|ways| ways / 16_384.0);
        let expected = (one + two * 8.0 + three * 27.0) / 2_097_152.0;
        assert!((rate / expected - 1.0).abs() < 1e-9, "{rate}, not {expected}");
        assert!((counting_bloom_error_rate(100_000, 1, 3) - 1.0).abs() < 1e-9);
        assert!((counting_bloom_error_rate(u64::MAX, 7, 3) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn forty_four_bits_a_key_take_six_counters_and_err_less_than_once_in_a_hundred() {
        let best = counting_bloom_best(1_000_000, 85_937, 32);
        assert_eq!(best.count, 6);
        assert!((0.0094..0.0096).contains(&best.error_rate), "{best:?}");
    }

    #[test]
    fn the_fewest_lines_are_found_without_trying_all() {
        for (keys, rate) in [(1, 0.01), (100, 0.3), (5_000, 0.01), (5_000, 1e-5)] {
            let (lines, probes) =
                counting_bloom_fewest_lines(keys, rate, keys * 4, 32).expect("possible");
            assert!(counting_bloom_error_rate(keys, lines, probes) <= rate);
            assert!(lines == 1 || counting_bloom_best(keys, lines - 1, 32).error_rate > rate);
        }
        assert_eq!(counting_bloom_fewest_lines(1_000, 1e-30, 4_000, 32), None);
    }
}
