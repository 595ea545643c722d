//! Expected sizes and error rates of filters, as formulas without state.
//!
//! Notation: n keys, m bits, k probes per key, ε the error rate.
//!
//! | function                     | formula                    | source                               |
//! |------------------------------|----------------------------|--------------------------------------|
//! | [`bits_per_key_floor`]       | log2(1/ε)                  | Carter, Floyd, Gill, Markowsky,      |
//! |                              |                            | Wegman 1978                          |
//! | [`bloom_error_rate`]         | (1 − e^(−kn/m))^k          | Bloom 1970; Broder, Mitzenmacher     |
//! |                              |                            | 2004                                 |
//! | [`bloom_error_rate_exact`]   | the same with variance     | Bose et al. 2008                     |
//! | [`bloom_best_error_rate`]    | 0.6185^(m/n)               | Broder, Mitzenmacher 2004            |
//! | [`cuckoo_error_rate`]        | 1 − (1 − 2/(B·(2^f − 1)))^n | Fan, Andersen, Kaminsky,            |
//! |                              |                            | Mitzenmacher 2014, made exact        |
//!
//! [`plan`](crate::plan) computes the size and error rate of each kind with these and with further
//! formulas, which are in this module's source:
//!
//! | filter          | its error rate                  | source                                    |
//! |-----------------|---------------------------------|-------------------------------------------|
//! | classic Bloom   | with coincident probes          | Kirsch, Mitzenmacher 2006, measured       |
//! | blocked Bloom   | Σ P(j keys in a line)·f(j)      | Putze, Sanders, Singler 2007, made exact  |
//! | split-block     | the same, other f               | Apple 2021                                |
//! | counting Bloom  | Σ P(j keys in a line)·f(j)      | Putze, Sanders, Singler 2007, made exact  |
//! | d-left          | 1 − (1 − 1/(B·2^r))^n           | Bonomi et al. 2006                        |
//! | ribbon, fuse    | 2^−r                            | Dillinger, Walzer 2021; Graf, Lemire 2022 |

mod bloom;
mod counting;
mod cuckoo;
mod lower_bound;
pub(crate) mod static_filters;

pub(crate) use bloom::{
    BestProbes, blocked_bloom_best, blocked_bloom_error_rate, bloom_best_probe_count,
    classic_bloom_error_rate, split_block_error_rate,
};
pub use bloom::{
    bloom_best_error_rate, bloom_error_rate, bloom_error_rate_exact, hbase_bloom_error_rate,
};
pub(crate) use counting::{
    counting_bloom_best, counting_bloom_error_rate, counting_bloom_fewest_lines, d_left_error_rate,
};
pub use cuckoo::cuckoo_error_rate;
pub(crate) use cuckoo::{cuckoo_bucket_count, cuckoo_load_max};
pub use lower_bound::bits_per_key_floor;
pub(crate) use static_filters::{binary_fuse_slots_per_key, fingerprint_error_rate};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::static_filters::FuseArity;

    #[test]
    fn error_rates_and_sizes_are_those_of_the_literature() {
        // Bloom filters of 10.0 bits per key, in lines and in split blocks.
        assert!((blocked_bloom_error_rate(1_000_000, 19_531, 6) - 0.009_66).abs() < 0.000_01);
        assert!((split_block_error_rate(1_000_000, 39_062) - 0.0127).abs() < 0.0001);
        // A counting Bloom filter of 44.0 bits per key.
        assert!((counting_bloom_error_rate(1_000_000, 85_937, 6) - 0.009_50).abs() < 0.000_01);
        assert!((d_left_error_rate(24_000, 1_000, 14) - 24.0 / 16_384.0).abs() < 2e-6);
        assert!((binary_fuse_slots_per_key(FuseArity::Three, 1e6) - 1.125).abs() < 1e-9);
        assert!((binary_fuse_slots_per_key(FuseArity::Four, 1e6) - 1.075).abs() < 1e-9);
    }

    #[test]
    fn coincident_probes_of_one_key_in_few_bits_count() {
        // One key in 24 bits, 16 probes: not 10^−5 but 10^−2.
        assert!(bloom_error_rate_exact(1, 24, 16) < 1e-4);
        assert!((0.005..0.02).contains(&classic_bloom_error_rate(1, 24, 16)));
    }

    #[test]
    fn an_error_rate_is_a_probability_for_every_count() {
        let counts = [0, 1, 2, 3, 1_000, 1 << 32, 1 << 53, u64::MAX];
        for keys in counts {
            for units in counts {
                for number in [1, 2, 16, 32] {
                    let rates = [
                        bloom_error_rate_exact(keys, units, number),
                        classic_bloom_error_rate(keys, units, number),
                        blocked_bloom_error_rate(keys, units, number),
                        split_block_error_rate(keys, units),
                        counting_bloom_error_rate(keys, units, number),
                        cuckoo_error_rate(keys, units, number),
                        d_left_error_rate(keys, units, number),
                        fingerprint_error_rate(keys, number),
                    ];
                    for (index, rate) in rates.iter().enumerate() {
                        let context = format!("{index}: {keys} keys, {units}, {number}");
                        assert!((0.0..=1.0).contains(rate), "{context}: {rate}");
                    }
                }
            }
        }
    }
}
