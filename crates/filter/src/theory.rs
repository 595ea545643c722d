//! What a filter should cost and how often it should err: formulas without state.
//!
//! Notation: n keys, m bits, k bits a key, ε the error rate.
//!
//! | function                     | formula                    | source                               |
//! |------------------------------|----------------------------|--------------------------------------|
//! | [`bits_per_key_floor`]       | log2(1/ε)                  | Carter, Floyd, Gill, Markowsky,      |
//! |                              |                            | Wegman 1978                          |
//! | [`bloom_error_rate`]         | (1 − e^(−kn/m))^k          | Bloom 1970; Broder, Mitzenmacher     |
//! |                              |                            | 2004                                 |
//! | [`bloom_error_rate_exact`]   | the same with its spread   | Bose et al. 2008                     |
//! | [`bloom_best_probe_count`]   | (m/n)·ln 2                 | the same                             |
//! | [`bloom_best_error_rate`]    | 0.6185^(m/n)               | the same                             |
//! | [`blocked_bloom_error_rate`] | Σ P(j keys in a line)·f(j) | Putze, Sanders, Singler 2007, made   |
//! |                              |                            | exact below                          |
//! | [`split_block_error_rate`]   | the same, other f          | Apple 2021                           |
//! | [`cuckoo_error_rate`]        | 1 − (1 − 2/(B·(2^f − 1)))^n | Fan, Andersen, Kaminsky,            |
//! |                              |                            | Mitzenmacher 2014, made exact below  |
//! | [`cuckoo_bits_per_key`]      | (log2(1/ε) + 3)/0.95       | the same                             |
//! | [`cuckoo_load_max`]          | 0.96·n/(n + 16)            | measured                             |
//!
//! Of many filters under one budget:
//!
//! | function                     | formula                    | source                               |
//! |------------------------------|----------------------------|--------------------------------------|
//! | [`allocate`]                 | `p_i = c·n_i`, at most 1   | Dayan, Athanassoulis, Idreos 2017    |
//!
//! And of the filters that count:
//!
//! | function                          | formula                    | source                          |
//! |-----------------------------------|----------------------------|---------------------------------|
//! | [`counting_bloom_error_rate`]     | Σ P(j keys in a line)·f(j) | Putze, Sanders, Singler 2007,   |
//! |                                   |                            | exact                           |
//! | [`counting_bloom_overflow_bound`] | m·(e·nk/(16m))^16          | Fan, Cao, Almeida, Broder 2000  |
//! | [`d_left_error_rate`]             | 1 − (1 − 1/(B·2^r))^n      | Bonomi et al. 2006              |
//! | [`d_left_overflow_share`]         | the fluid limit            | Mitzenmacher, Vöcking 1999      |
//!
//! And of those that are solved like equations:
//!
//! | function                       | formula                         | source                          |
//! |--------------------------------|---------------------------------|---------------------------------|
//! | [`fingerprint_error_rate`]     | 2^−r                            | Dillinger, Walzer 2021; Graf,   |
//! |                                |                                 | Lemire 2022                     |
//! | [`ribbon_bits_per_key`]        | 1.0016·(r + 1 − x) + 2/128      | Dillinger et al. 2022, measured |
//! | [`binary_fuse_slots_per_key`]  | 1.125, 1.075, more for few keys | Graf, Lemire 2022               |

use core::f64::consts::LN_2;

mod allocation;
mod counting;
mod solved;

pub use allocation::allocate;
pub(crate) use counting::counting_bloom_fewest_lines;
pub use counting::{
    counting_bloom_best, counting_bloom_error_rate, counting_bloom_overflow_bound,
    counting_bloom_overflow_odds, d_left_error_rate, d_left_overflow_share,
};
pub use solved::{binary_fuse_slots_per_key, fingerprint_error_rate, ribbon_bits_per_key};

/// Bits of a cache line, and of a block of [`bloom::Blocked`](crate::bloom::Blocked).
const LINE_BITS: f64 = 512.0;

/// Returns log2(1/ε): no filter that errs this often takes fewer bits per key, however it works.
pub fn bits_per_key_floor(error_rate: f64) -> f64 {
    -libm::log2(error_rate)
}

/// Returns (1 − e^(−kn/m))^k: how often a Bloom filter lets a stranger pass.
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

/// Returns how often a Bloom filter with whole numbers of keys, bits and probes lets a stranger pass.
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
/// and a stranger passes with E (X/m)^k, which is (E X/m)^k·(1 + k(k−1)/2 · V X/(E X)²) up to terms
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
/// key sets one bit in each, so that j keys in a block let a stranger pass with
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

/// How often bits that all keys share let a stranger pass, given the keys.
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

/// Returns how often a cuckoo filter lets a stranger pass that has so many keys in `buckets` buckets
/// and fingerprints of so many bits.
///
/// To the filter a stranger is a key that it holds if their fingerprints agree, one of 2^f − 1 (none
/// is 0), and their pairs of buckets: any of the two buckets of the one decides it, 2/B. That goes
/// for each of n keys, wherever the kicks have put it; the size b of a bucket does not matter but
/// through n ≤ bB, which makes it the 1 − (1 − 2^−f)^2b ≈ 2b/2^f of the paper for full buckets.
///
/// ```
/// use filter::theory::cuckoo_error_rate;
///
/// let (keys, buckets) = (950_000, 250_000); // Buckets of four, 95 % full.
/// assert!((cuckoo_error_rate(keys, buckets, 8) - 0.0294).abs() < 0.0001);
/// assert!((cuckoo_error_rate(keys, buckets, 16) - 0.000_116).abs() < 0.000_001);
/// ```
pub fn cuckoo_error_rate(keys: u64, buckets: u64, fingerprint_bits: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let odds = 2.0 / (buckets as f64 * cuckoo_fingerprints(fingerprint_bits));
    if odds >= 1.0 { 1.0 } else { -libm::expm1(keys as f64 * libm::log1p(-odds)) }
}

/// Returns the fewest buckets with which [`cuckoo_error_rate`] is at most `error_rate`.
pub fn cuckoo_bucket_count(keys: u64, fingerprint_bits: u32, error_rate: f64) -> f64 {
    let odds = -libm::expm1(libm::log1p(-error_rate) / keys as f64);
    libm::ceil(2.0 / (odds * cuckoo_fingerprints(fingerprint_bits)))
}

/// Fingerprints of so many bits, without 0.
fn cuckoo_fingerprints(bits: u32) -> f64 {
    libm::exp2(f64::from(bits)) - 1.0
}

/// Returns (log2(1/ε) + 3)/0.95: what a cuckoo filter with buckets of four costs per key, if
/// fingerprints could have any number of bits.
pub fn cuckoo_bits_per_key(error_rate: f64) -> f64 {
    (bits_per_key_floor(error_rate) + 3.0) / 0.95
}

/// Returns how full a cuckoo filter with buckets of four may be planned to be, so that fewer than
/// one in ten thousand cannot take so many keys: 0.96·n/(n + 16).
///
/// Measured, with fingerprints of 5 to 16 bits: [`Cuckoo`](crate::Cuckoo) first fails at a load of
/// 0.969 to 0.973 from 10^5 to 10^7 slots; the worst of 20,000 filters of 200 slots at 0.90, of 100
/// at 0.70. (With unlimited kicks, 0.9768 is possible: Fernholz, Ramachandran 2007; Cain, Sanders,
/// Wormald 2007.)
pub fn cuckoo_load_max(keys: u64) -> f64 {
    0.96 * keys as f64 / (keys as f64 + 16.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_at_one_per_cent_is_six_and_two_thirds_bits() {
        assert!((bits_per_key_floor(0.01) - 6.643_856).abs() < 1e-6);
    }

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
        // One key, k probes: a stranger finds its k bits among the at most k set.
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
