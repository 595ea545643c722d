//! Error rates, sizes and overflows of the counting filters: counting Bloom and d-left.
//!
//! Notation: n keys, m counters, k probes per key. A line is a cache line of 128 counters; all
//! probes of a key are in one line.

use alloc::vec;
use alloc::vec::Vec;

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
/// The error rate is that of a blocked Bloom filter with lines of 128 bits. After Putze, Sanders,
/// Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007.
///
/// ```
/// use filter::theory::counting_bloom_error_rate;
///
/// let rate = counting_bloom_error_rate(1_000_000, 85_937, 6); // 44.0 bits per key
/// assert!((rate - 0.009_50).abs() < 0.000_01);
/// ```
pub fn counting_bloom_error_rate(keys: u64, lines: u64, probes: u32) -> f64 {
    LineRates::new(probes).error_rate(keys, lines)
}

/// Returns the best number of probes of a counting Bloom filter, and the error rate with it.
///
/// The best number, in `1..=probes_max`, is the one with the lowest error rate for `lines` lines.
pub fn counting_bloom_best(keys: u64, lines: u64, probes_max: u32) -> (u32, f64) {
    let mut best = (1, counting_bloom_error_rate(keys, lines, 1));
    // With more probes the rate falls to its only minimum, then rises: stop at the first rise.
    for probes in 2..=probes_max {
        let rate = counting_bloom_error_rate(keys, lines, probes);
        if rate > best.1 {
            break;
        }
        best = (probes, rate);
    }
    best
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
        let (mut too_few, mut enough) = (0, best.map_or(lines_max, |(lines, _)| lines));
        if line.error_rate(keys, enough) > error_rate {
            if best.is_some() {
                break;
            }
            continue;
        }
        while enough - too_few > 1 {
            let middle = too_few.midpoint(enough);
            if line.error_rate(keys, middle) <= error_rate {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        best = Some((enough, probes));
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
        let rate = mean_over_lines(keys, lines, |keys| self.line_rate(keys));
        (rate + keys as f64 * libm::exp2(-64.0)).min(1.0)
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

/// Returns the mean of `f(j)` over lines with j keys, if `keys` keys are distributed at random.
///
/// The number j is binomially distributed. Each weight is relative to that of the mode and computed
/// from its neighbour by P(j + 1)/P(j) = (n − j)/(j + 1)·odds. Here odds is p/(1 − p), and p is
/// 1/lines. Weights below 1e-18 are left out.
fn mean_over_lines(keys: u64, lines: u64, mut f: impl FnMut(f64) -> f64) -> f64 {
    if lines <= 1 {
        return if lines == 0 { 1.0 } else { f(keys as f64) };
    }
    let (n, odds) = (keys as f64, 1.0 / (lines as f64 - 1.0));
    let mode = libm::floor((n + 1.0) / lines as f64).min(n);

    let (mut weights, mut sum) = (1.0, f(mode));
    let (mut weight, mut j) = (1.0, mode);
    while j < n && weight > 1e-18 {
        weight *= (n - j) / (j + 1.0) * odds;
        j += 1.0;
        weights += weight;
        sum += weight * f(j);
    }
    (weight, j) = (1.0, mode);
    while j > 0.0 && weight > 1e-18 {
        weight *= j / ((n - j + 1.0) * odds);
        j -= 1.0;
        weights += weight;
        sum += weight * f(j);
    }
    sum / weights
}

/// Returns an upper bound on the probability that any counter is incremented `limit` times or more.
///
/// The bound is m·(e·n·k/(limit·m))^limit, from Fan, Cao, Almeida, Broder: "Summary Cache", 2000.
/// For counters of 4 bits, which overflow at 16, and the best k = m/n·ln 2, it is their 1.37e-15·m.
///
/// The paper spreads the probes of a key over all counters. The bound also holds if they are in one
/// line, because it is m times a bound for one counter. A key still increments a given counter with
/// probability at most k/m; two probes of a key in the same counter increment it once.
///
/// ```
/// use filter::theory::counting_bloom_overflow_bound;
///
/// let (keys, counters) = (1_000.0, 1e6);
/// let probes = counters / keys * std::f64::consts::LN_2;
/// let bound = counting_bloom_overflow_bound(keys, counters, probes, 16);
/// assert!((bound / (1.37e-15 * counters) - 1.0).abs() < 0.005);
/// ```
pub fn counting_bloom_overflow_bound(keys: f64, counters: f64, probes: f64, limit: u32) -> f64 {
    let limit = f64::from(limit);
    counters * libm::pow(core::f64::consts::E * keys * probes / (limit * counters), limit)
}

/// Returns the probability that one given counter is incremented `limit` times or more.
///
/// This is the upper tail of a binomial distribution with n trials. A key selects the line of the
/// counter with probability 128/m, and the counter in that line with probability 1 − (127/128)^k.
pub fn counting_bloom_overflow_odds(keys: u64, counters: u64, probes: u32, limit: u32) -> f64 {
    let line = LINE_COUNTERS as f64;
    let misses = f64::from(probes) * libm::log1p(-1.0 / line);
    let (n, odds) = (keys as f64, -libm::expm1(misses) * line / counters as f64);
    let limit = f64::from(limit);
    if limit > n {
        return 0.0;
    }
    // Far below the mean, the tail is 1 to the last bit, and its terms would be too many to add.
    let mean = n * odds.min(1.0);
    if odds >= 1.0 || limit < mean - 16.0 * libm::sqrt(mean) {
        return 1.0;
    }
    let choices = libm::lgamma(n + 1.0) - libm::lgamma(limit + 1.0) - libm::lgamma(n - limit + 1.0);
    let first = libm::exp(choices + limit * libm::log(odds) + (n - limit) * libm::log1p(-odds));
    let (mut sum, mut term, mut j) = (first, first, limit);
    // The terms rise up to the mode, about n·odds, and then fall fast. The sum leaves out terms
    // after the mode that are below 1e-17 of it.
    while j < n && (j < n * odds || term > sum * 1e-17) {
        term *= (n - j) / (j + 1.0) * odds / (1.0 - odds);
        j += 1.0;
        sum += term;
    }
    sum.min(1.0)
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
///
/// ```
/// use filter::theory::d_left_error_rate;
///
/// assert!((d_left_error_rate(24_000, 1_000, 14) - 24.0 / 16_384.0).abs() < 2e-6);
/// ```
pub fn d_left_error_rate(keys: u64, buckets: u64, remainder_bits: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let numbers = buckets as f64 * libm::exp2(f64::from(remainder_bits));
    if numbers <= 1.0 { 1.0 } else { -libm::expm1(keys as f64 * libm::log1p(-1.0 / numbers)) }
}

/// Returns the fraction of buckets of a d-left filter with more than 8 keys, for many buckets.
///
/// `load` is the number of keys per bucket. A key has one candidate bucket in each of d =
/// `subtables` subtables. It goes into the least loaded of them, the leftmost of equally loaded
/// ones. A bucket has 8 cells; keys beyond 8 go into the filter's stash.
///
/// Let x(i, j) be the fraction of the buckets of subtable j with at least i keys. The next key
/// increases x(i, j) if its candidate in subtable j has i − 1 keys, its candidates to the left have
/// at least i, and its candidates to the right have at least i − 1. In the limit of many buckets,
/// this is a system of differential equations (Vöcking 1999; Mitzenmacher, Vöcking: "The
/// Asymptotics of Selecting the Shortest of Two, Improved", 1999). It has the factor d because
/// `load` is a mean over the buckets of all subtables, and x(i, j) one over those of subtable j:
///
/// ```text
/// dx(i,j)/dload = d · (x(i−1,j) − x(i,j)) · Π left of j: x(i,l) · Π right of j: x(i−1,l)
/// ```
///
/// ```
/// use filter::theory::d_left_overflow_share;
///
/// assert!(d_left_overflow_share(4, 7.0) < 2e-10);
/// assert!(d_left_overflow_share(4, 6.4) < 1e-45);
/// ```
pub fn d_left_overflow_share(subtables: u32, load: f64) -> f64 {
    /// The greatest i for which x(i, j) is computed. The result needs i up to 9.
    const LEVELS: usize = 12;
    const STEPS: u32 = 4_000;

    let d = (subtables as usize).clamp(1, 8);
    let slope = |x: &[[f64; 8]; LEVELS + 1]| {
        let mut slope = [[0.0; 8]; LEVELS + 1];
        for i in 1..=LEVELS {
            for j in 0..d {
                let left: f64 = x[i][..j].iter().product();
                let right: f64 = x[i - 1][j + 1..d].iter().product();
                slope[i][j] = d as f64 * (x[i - 1][j] - x[i][j]) * left * right;
            }
        }
        slope
    };
    let moved = |x: &[[f64; 8]; LEVELS + 1], slope: &[[f64; 8]; LEVELS + 1], by: f64| {
        let mut moved = *x;
        for (moved, slope) in moved.as_flattened_mut().iter_mut().zip(slope.as_flattened()) {
            *moved += slope * by;
        }
        moved
    };

    // The fourth-order Runge–Kutta method. An empty filter has x(0, j) = 1 and all others 0.
    let mut x = [[0.0; 8]; LEVELS + 1];
    x[0] = [1.0; 8];
    let step = load / f64::from(STEPS);
    for _ in 0..STEPS {
        let first = slope(&x);
        let second = slope(&moved(&x, &first, step / 2.0));
        let third = slope(&moved(&x, &second, step / 2.0));
        let fourth = slope(&moved(&x, &third, step));
        for (slope, share) in [(first, 6.0), (second, 3.0), (third, 3.0), (fourth, 6.0)] {
            x = moved(&x, &slope, step / share);
        }
    }
    x[9][..d].iter().sum::<f64>() / d as f64
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
        let (probes, rate) = counting_bloom_best(1_000_000, 85_937, 32);
        assert_eq!(probes, 6);
        assert!((0.0094..0.0096).contains(&rate), "{rate}");
    }

    #[test]
    fn the_fewest_lines_are_found_without_trying_all() {
        for (keys, rate) in [(1, 0.01), (100, 0.3), (5_000, 0.01), (5_000, 1e-5)] {
            let (lines, probes) =
                counting_bloom_fewest_lines(keys, rate, keys * 4, 32).expect("possible");
            assert!(counting_bloom_error_rate(keys, lines, probes) <= rate);
            assert!(lines == 1 || counting_bloom_best(keys, lines - 1, 32).1 > rate);
        }
        assert_eq!(counting_bloom_fewest_lines(1_000, 1e-30, 4_000, 32), None);
    }

    #[test]
    fn the_odds_of_an_overflow_stay_below_their_bound() {
        let (keys, counters, probes) = (1_000_000, 10_000_000, 7);
        let odds = counting_bloom_overflow_odds(keys, counters, probes, 16) * counters as f64;
        let bound = counting_bloom_overflow_bound(1e6, 1e7, 7.0, 16);
        assert!(odds > bound / 1_000.0 && odds < bound, "{odds} of {bound}");
        // A counter has 781 increments on average, so about half of the counters reach 781.
        let odds = counting_bloom_overflow_odds(1_000_000, 1_280, 1, 781);
        assert!((odds - 0.5).abs() < 0.01, "{odds}");
        assert!(counting_bloom_overflow_odds(15, 128, 1, 16) == 0.0);
    }

    #[test]
    fn seven_keys_a_bucket_overflow_one_bucket_in_billions() {
        let share = d_left_overflow_share(4, 7.0);
        assert!((1.0e-10..1.6e-10).contains(&share), "{share}");
        assert!(d_left_overflow_share(4, 6.0) < 1e-130);
        assert!(d_left_overflow_share(4, 8.0) > 0.01);
    }
}
