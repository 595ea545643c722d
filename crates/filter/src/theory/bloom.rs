//! Error rates and sizes of Bloom filters: classic, blocked, split-block.

use core::f64::consts::LN_2;

/// Bits of a cache line, which is a block of [`Blocked`](crate::Blocked).
const LINE_BITS: f64 = 512.0;

/// Returns the error rate of a Bloom filter, (1 − e^(−kn/m))^k.
///
/// ```
/// use filter::theory::bloom_error_rate;
///
/// // Twenty bits per key, six probes: 0.0303 %.
/// assert!((bloom_error_rate(1e6, 20e6, 6.0) - 0.000_303).abs() < 0.000_000_5);
/// ```
pub fn bloom_error_rate(keys: f64, bits: f64, probes: f64) -> f64 {
    libm::pow(-libm::expm1(-probes * keys / bits), probes)
}

/// Returns the error rate of a Bloom filter with whole numbers of keys, bits and probes.
///
/// [`bloom_error_rate`] uses the mean number of set bits. This function adds the variance, which matters
/// in small filters, and collisions of 64-bit hashes, n·2^−64. (Bose et al., "On the false-positive rate
/// of Bloom filters", 2008; the method is that of `blocked_bloom_error_rate`.)
pub fn bloom_error_rate_exact(keys: u64, bits: u64, probes: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    if bits <= 2 {
        return 1.0;
    }
    let rate = BitRates::new(bits as f64, probes).error_rate(keys as f64);
    (rate + keys as f64 * libm::exp2(-64.0)).min(1.0)
}

/// Returns the error rate of [`Classic`](crate::Classic), whose probes are not independent.
///
/// The probes of a key are h, h + s, h + 2s, … (double hashing). If s is close to zero, or to another
/// fraction with a small denominator, probes coincide, and an absent key passes although few bits are set.
/// With p = 1 − e^(−kn/m) as the share of set bits, this function adds to [`bloom_error_rate_exact`]
///
/// ```text
/// 2·p·(1 + p) / ((1 − p)·k·m)
/// ```
///
/// Half of that is exact for s close to zero: the k probes cover k·|s|·m bits, so that the number of
/// distinct bits is 1 with probability 1/(k·m), and each greater number with probability 2/(k·m). The
/// factor of two, for other fractions and for absent keys whose probes follow those of a member, was
/// measured: for k = 3 to 64 and p = 0.003 to 0.5 the whole is 0.5 (many probes, few bits set) to 1.1
/// times the formula, within the error of the measurement.
///
/// With few bits set this is 2n/m². So an error rate of ε takes at least √(2n/ε) bits, which matters for
/// few keys: one key at 10^−6 takes 1,414 bits.
pub(crate) fn classic_bloom_error_rate(keys: u64, bits: u64, probes: u32) -> f64 {
    let independent = bloom_error_rate_exact(keys, bits, probes);
    // One probe coincides with no other; two probes are independent of each other.
    if keys == 0 || probes < 3 {
        return independent;
    }
    let (n, m, k) = (keys as f64, bits as f64, f64::from(probes));
    let clear = libm::exp(n * k * libm::log1p(-1.0 / m));
    let set = 1.0 - clear;
    let coincident = 2.0 * set * (1.0 + set) / (clear * k * m);
    (independent + coincident).min(1.0)
}

/// Returns the error rate of a chunk of HBase's Bloom filter, whose probes are |h1 + i·h2| modulo its bits.
///
/// Some steps h2 lead to few different bits, and an absent key then passes although few bits are set. For m
/// bits, a power of two, h1 + i·h2 has d < k different values modulo m with probability d/2m, where d is
/// a power of two (for d = 1 with 1/m). The absolute value doubles them, unless all sums of the k probes have one
/// sign, which has a probability of about 2/k. With p as the share of set bits, this function adds to
/// [`bloom_error_rate`]
///
/// ```text
/// Σ over d of d/2m · (2/k · p^d + (1 − 2/k) · p^2d)
/// ```
///
/// The sum matters in filters of a few hundred bits, such as those that HBase folds for files of few rows. For
/// 3 to 594 keys, the measured rate is 0.8 to 1.2 times the computed one.
///
/// ```
/// use filter::theory::{bloom_error_rate, hbase_bloom_error_rate};
///
/// // Eleven keys in 256 bits, ten probes: thirty times the rate of independent probes.
/// assert!(bloom_error_rate(11.0, 256.0, 10.0) < 0.000_03);
/// assert!(hbase_bloom_error_rate(11.0, 256.0, 10.0) > 0.000_8);
/// ```
pub fn hbase_bloom_error_rate(keys: f64, bits: f64, probes: f64) -> f64 {
    let set = -libm::expm1(-probes * keys / bits);
    let one_sign = (2.0 / probes).min(1.0);
    let pass = |different: f64| {
        one_sign * libm::pow(set, different)
            + (1.0 - one_sign) * libm::pow(set, (2.0 * different).min(probes))
    };
    let (mut sum, mut different) = (pass(1.0) / bits, 2.0);
    while different < probes {
        sum += different / (2.0 * bits) * pass(different);
        different *= 2.0;
    }
    (bloom_error_rate(keys, bits, probes) + sum).min(1.0)
}

/// Returns the number of probes with the least error rate, (m/n)·ln 2.
///
/// A filter uses one of the two nearest whole numbers.
pub(crate) fn bloom_best_probe_count(bits_per_key: f64) -> f64 {
    bits_per_key * LN_2
}

/// Returns the error rate of a Bloom filter with the best number of probes, 0.6185^(m/n).
pub fn bloom_best_error_rate(bits_per_key: f64) -> f64 {
    libm::exp(-bits_per_key * LN_2 * LN_2)
}

/// Returns the error rate of a blocked Bloom filter of `lines` lines of 512 bits.
///
/// Each key sets its bits in one line. The number of keys in a line varies, so that the error rate is
/// higher than that of a classic Bloom filter of the same size. A line has j keys with the binomial
/// probability P(j) over n keys and 1/lines. The jk probes of such a line set X of its m = 512 bits, with
///
/// ```text
/// E X = m·(1 − a)          a = (1 − 1/m)^jk
/// V X = m(m−1)·b + m·a − (m·a)²      b = (1 − 2/m)^jk
/// ```
///
/// An absent key is a false positive with probability E (X/m)^k, which is
/// (E X/m)^k·(1 + k(k−1)/2 · V X/(E X)²) up to terms of third order. Collisions of 64-bit hashes add
/// n·2^−64.
pub(crate) fn blocked_bloom_error_rate(keys: u64, lines: u64, probes: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    // With more than 32 probes per bit no bit is clear. The number of keys may come from a hostile header,
    // for which the sums below would not end.
    if keys as f64 * f64::from(probes) >= 32.0 * LINE_BITS * lines as f64 {
        return 1.0;
    }
    let line = BitRates::new(LINE_BITS, probes);
    mean_over_bins(keys, lines, |keys| line.error_rate(keys))
}

/// Returns the mean of `error_rate(keys in a bin)` when `keys` keys are distributed over bins at random,
/// plus n·2^−64 for collisions of 64-bit hashes.
pub(super) fn mean_over_bins(keys: u64, bins: u64, mut error_rate: impl FnMut(f64) -> f64) -> f64 {
    let (n, odds) = (keys as f64, 1.0 / (bins as f64 - 1.0));
    let mode = libm::floor((n + 1.0) / bins as f64).min(n);

    // The unscaled binomial distribution, outward from its mode: P(j+1)/P(j) = (n−j)/(j+1)·odds. The
    // terms left out have less than 1e-18 of the weight at the mode.
    let (mut weights, mut sum) = (1.0, error_rate(mode));
    let (mut weight, mut j) = (1.0, mode);
    while j < n && weight > 1e-18 && bins > 1 {
        weight *= (n - j) / (j + 1.0) * odds;
        j += 1.0;
        weights += weight;
        sum += weight * error_rate(j);
    }
    (weight, j) = (1.0, mode);
    while j > 0.0 && weight > 1e-18 && bins > 1 {
        weight *= j / ((n - j + 1.0) * odds);
        j -= 1.0;
        weights += weight;
        sum += weight * error_rate(j);
    }
    (sum / weights + n * libm::exp2(-64.0)).min(1.0)
}

/// Returns the error rate of a split-block Bloom filter.
///
/// A block has eight words of 32 bits, and a key sets one bit in each word. With j keys in a block, an
/// absent key is a false positive with probability (1 − (31/32)^j)^8, or because the lower 32 bits of its
/// hash equal those of a member, j·2^−32. (Apple: "Split block Bloom filters", 2021.)
pub(crate) fn split_block_error_rate(keys: u64, blocks: u64) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    // As above: no bit is clear.
    if keys as f64 >= 2_048.0 * blocks as f64 {
        return 1.0;
    }
    let clear_ln = libm::log1p(-1.0 / 32.0);
    mean_over_bins(keys, blocks, |keys| {
        libm::pow(-libm::expm1(keys * clear_ln), 8.0) + keys * libm::exp2(-32.0)
    })
}

/// The error rate of a group of bits, given the number of its keys.
struct BitRates {
    bits: f64,
    probes: f64,
    /// ln (1 − 1/m)^k and ln (1 − 2/m)^k.
    clear_ln: f64,
    both_clear_ln: f64,
}

impl BitRates {
    fn new(bits: f64, probes: u32) -> Self {
        let probes = f64::from(probes);
        Self {
            bits,
            probes,
            clear_ln: probes * libm::log1p(-1.0 / bits),
            both_clear_ln: probes * libm::log1p(-2.0 / bits),
        }
    }

    fn error_rate(&self, keys: f64) -> f64 {
        if keys <= 0.0 {
            return 0.0;
        }
        let clear = libm::exp(keys * self.clear_ln);
        let both_clear = libm::exp(keys * self.both_clear_ln);
        let bits = self.bits;
        let mean = bits * (1.0 - clear);
        let variance =
            bits * (bits - 1.0) * both_clear + bits * clear - bits * bits * clear * clear;
        let spread = self.probes * (self.probes - 1.0) / 2.0 * variance.max(0.0) / (mean * mean);
        (libm::pow(mean / bits, self.probes) * (1.0 + spread)).min(1.0)
    }
}

/// The number of probes with the least error rate, and that error rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BestProbes {
    pub(crate) count: u32,
    pub(crate) error_rate: f64,
}

/// Returns the number of probes in `1..=probes_max` with the least error rate of a blocked Bloom filter.
pub(crate) fn blocked_bloom_best(keys: u64, lines: u64, probes_max: u32) -> BestProbes {
    best_probe_count(probes_max, |probes| blocked_bloom_error_rate(keys, lines, probes))
}

/// Returns the number of probes in `1..=probes_max` with the least error rate.
pub(super) fn best_probe_count(probes_max: u32, error_rate: impl Fn(u32) -> f64) -> BestProbes {
    let mut best = BestProbes { count: 1, error_rate: error_rate(1) };
    // The error rate has one minimum over the number of probes: stop at the first rise.
    for probes in 2..=probes_max {
        let rate = error_rate(probes);
        if rate > best.error_rate {
            break;
        }
        best = BestProbes { count: probes, error_rate: rate };
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_probe_count_reaches_the_best_error_rate() {
        let bits_per_key = 20.0;
        let probes = bloom_best_probe_count(bits_per_key);
        let rate = bloom_error_rate(1.0, bits_per_key, probes);
        assert!((rate / bloom_best_error_rate(bits_per_key) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn ten_bits_a_key_in_cache_lines_miss_as_the_literature_says() {
        // RocksDB gives 0.9535 % as the best for blocks of 512 bits at 10 bits per key and six probes.
        // That uses the mean number of set bits in a block; the variance adds 1 % of it.
        let best = blocked_bloom_best(100_000_000, 1_953_125, 32);
        assert_eq!(best.count, 6);
        assert!((best.error_rate - 0.009_665).abs() < 0.000_005, "{best:?}");
    }

    #[test]
    fn a_single_line_holds_all_keys() {
        // One key with k probes sets at most k bits, among which an absent key must find its k bits.
        let rate = blocked_bloom_error_rate(1, 1, 1);
        assert!((rate - 1.0 / 512.0).abs() < 1e-9, "{rate}");
        assert!((blocked_bloom_error_rate(1_000_000, 1, 4) - 1.0).abs() < 1e-9);
    }

    /// Counts the false positives of many filters of few keys, in which different probes of a key coincide.
    #[test]
    fn small_chunks_of_hbase_err_as_computed() {
        use crate::bloom::hbase::{ChunkBuilder, ChunkSizing, HashPair, HashType, may_contain};

        let pair = |key: u64| HashPair::new(HashType::Murmur, &key.to_le_bytes());
        let mut next = 0;
        for (keys, bytes, hash_count) in
            [(3, 8, 7), (11, 32, 10), (26, 32, 7), (71, 256, 20), (105, 242, 10), (594, 1024, 7)]
        {
            let (mut passed, mut asked) = (0.0, 0.0);
            for _ in 0..200 {
                let sizing = ChunkSizing { bytes, max_keys: keys, hash_count };
                let mut chunk = ChunkBuilder::new(sizing);
                (0..keys).for_each(|key| chunk.insert(pair(next + u64::from(key))));
                let absent = next + 1_000..next + 10_000;
                next += 10_000;
                asked += 9_000.0;
                let is_maybe = |key: &u64| may_contain(chunk.bits(), hash_count, pair(*key));
                passed += absent.filter(is_maybe).count() as f64;
            }
            let (keys, bits) = (f64::from(keys), f64::from(bytes) * 8.0);
            let computed = hbase_bloom_error_rate(keys, bits, hash_count.into());
            let measured = passed / asked;
            assert!(
                (computed * 0.75..computed * 1.25).contains(&measured),
                "{keys} keys: {measured}, not {computed}"
            );
        }
    }

    #[test]
    fn a_filter_without_keys_never_errs() {
        assert!(blocked_bloom_error_rate(0, 0, 6) == 0.0);
        assert!(blocked_bloom_error_rate(0, 8, 6) == 0.0);
    }
}
