//! What Bloom filters cost and how often they err: classic, blocked, split-block.

use core::f64::consts::LN_2;

/// Bits of a cache line, and of a block of [`bloom::Blocked`](crate::bloom::Blocked).
const LINE_BITS: f64 = 512.0;

/// Returns (1 − e^(−kn/m))^k: how often a Bloom filter lets an absent key pass.
///
/// ```
/// use filter::theory::bloom_error_rate;
///
/// // Twenty bits a key, six probes: 0.0303 %.
/// assert!((bloom_error_rate(1e6, 20e6, 6.0) - 0.000_303).abs() < 0.000_000_5);
/// ```
pub fn bloom_error_rate(keys: f64, bits: f64, probes: f64) -> f64 {
    libm::pow(-libm::expm1(-probes * keys / bits), probes)
}

/// Returns how often a Bloom filter with whole numbers of keys, bits and probes lets an absent key pass.
///
/// [`bloom_error_rate`] takes the mean of the bits that are set; this one adds their spread, which
/// counts in small filters, and two keys with the same 64-bit hash, n·2^−64. (Bose et al., "On the
/// false-positive rate of Bloom filters", 2008; as in [`blocked_bloom_error_rate`].)
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

/// Returns (m/n)·ln 2, the number of probes at which a Bloom filter errs least; a filter takes one
/// of the two whole numbers beside it.
pub fn bloom_best_probe_count(bits_per_key: f64) -> f64 {
    bits_per_key * LN_2
}

/// Returns 0.6185^(m/n): how often a Bloom filter errs with the best number of probes.
pub fn bloom_best_error_rate(bits_per_key: f64) -> f64 {
    libm::exp(-bits_per_key * LN_2 * LN_2)
}

/// Returns how often a Bloom filter errs whose keys set all their bits in one of `lines` lines of
/// 512 bits.
///
/// Some lines get more keys than others, which is why such a filter errs more often than a Bloom
/// filter of the same size: j keys meet in a line with the binomial probability P(j) over n keys
/// and 1/lines. In a line with j keys, jk throws leave X of its m = 512 bits set, with
///
/// ```text
/// E X = m·(1 − a)          a = (1 − 1/m)^jk
/// V X = m(m−1)·b + m·a − (m·a)²      b = (1 − 2/m)^jk
/// ```
///
/// and an absent key passes with E (X/m)^k, which is (E X/m)^k·(1 + k(k−1)/2 · V X/(E X)²) up to terms
/// of the third order. Two keys with the same 64-bit hash, n·2^−64, are added.
///
/// ```
/// use filter::theory::blocked_bloom_error_rate;
///
/// let rate = blocked_bloom_error_rate(1_000_000, 19_531, 6); // 10.0 bits a key
/// assert!((rate - 0.009_66).abs() < 0.000_01);
/// ```
pub fn blocked_bloom_error_rate(keys: u64, lines: u64, probes: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    // Past 32 throws a bit, a line has no clear bit left. (A header from outside may claim any number
    // of keys; the sums below would not end.)
    if keys as f64 * f64::from(probes) >= 32.0 * LINE_BITS * lines as f64 {
        return 1.0;
    }
    let line = BitRates::new(LINE_BITS, probes);
    mean_over_bins(keys, lines, |keys| line.error_rate(keys))
}

/// Returns the mean of a bin's error rate, given its keys, over keys thrown into bins at random; and
/// adds what two keys with the same 64-bit hash do, n·2^−64.
fn mean_over_bins(keys: u64, bins: u64, error_rate: impl Fn(f64) -> f64) -> f64 {
    let (n, odds) = (keys as f64, 1.0 / (bins as f64 - 1.0));
    let mode = libm::floor((n + 1.0) / bins as f64).min(n);

    // The binomial distribution outward from its mode, unscaled: P(j+1)/P(j) = (n−j)/(j+1)·odds.
    // What is left out has less than 1e-18 of the weight at the mode.
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

/// Returns how often a split-block Bloom filter errs: its blocks have eight words of 32 bits, and a
/// key sets one bit in each, so that j keys in a block let an absent key pass with
/// (1 − (31/32)^j)^8, or because its lower 32 bits are a member's, j·2^−32. (Apple: "Split block Bloom filters", 2021.)
///
/// ```
/// use filter::theory::split_block_error_rate;
///
/// let rate = split_block_error_rate(1_000_000, 39_062); // 10.0 bits a key
/// assert!((rate - 0.0127).abs() < 0.0001);
/// ```
pub fn split_block_error_rate(keys: u64, blocks: u64) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    // As above: no clear bit is left.
    if keys as f64 >= 2_048.0 * blocks as f64 {
        return 1.0;
    }
    let clear_ln = libm::log1p(-1.0 / 32.0);
    mean_over_bins(keys, blocks, |keys| {
        libm::pow(-libm::expm1(keys * clear_ln), 8.0) + keys * libm::exp2(-32.0)
    })
}

/// How often bits that all keys share let an absent key pass, given the keys.
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

/// Returns the number of probes, of `1..=probes_max`, at which a blocked Bloom filter errs least,
/// and how often it then errs.
pub fn blocked_bloom_best(keys: u64, lines: u64, probes_max: u32) -> (u32, f64) {
    let mut best = (1, blocked_bloom_error_rate(keys, lines, 1));
    // The rate falls to one minimum and rises after it.
    for probes in 2..=probes_max {
        let rate = blocked_bloom_error_rate(keys, lines, probes);
        if rate > best.1 {
            break;
        }
        best = (probes, rate);
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
        // RocksDB calls 0.9535 % the best possible for blocks of 512 bits at 10 bits a key, six
        // probes: the mean of the fill in a block. Its spread adds one per cent of that.
        let (probes, rate) = blocked_bloom_best(100_000_000, 1_953_125, 32);
        assert_eq!(probes, 6);
        assert!((rate - 0.009_665).abs() < 0.000_005, "{rate}");
    }

    #[test]
    fn a_single_line_holds_all_keys() {
        // One key, k probes: an absent key finds its k bits among the at most k set.
        let rate = blocked_bloom_error_rate(1, 1, 1);
        assert!((rate - 1.0 / 512.0).abs() < 1e-9, "{rate}");
        assert!((blocked_bloom_error_rate(1_000_000, 1, 4) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_filter_without_keys_never_errs() {
        assert!(blocked_bloom_error_rate(0, 0, 6) == 0.0);
        assert!(blocked_bloom_error_rate(0, 8, 6) == 0.0);
    }
}
