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
//! | [`classic_bloom_error_rate`] | with coincident probes     | Kirsch, Mitzenmacher 2006, measured  |
//! | [`bloom_best_probe_count`]   | (m/n)·ln 2                 | the same                             |
//! | [`bloom_best_error_rate`]    | 0.6185^(m/n)               | the same                             |
//! | [`blocked_bloom_error_rate`] | Σ P(j keys in a line)·f(j) | Putze, Sanders, Singler 2007, made   |
//! |                              |                            | exact below                          |
//! | [`split_block_error_rate`]   | the same, other f          | Apple 2021                           |
//! | [`cuckoo_error_rate`]        | 1 − (1 − 2/(B·(2^f − 1)))^n | Fan, Andersen, Kaminsky,            |
//! |                              |                            | Mitzenmacher 2014, made exact below  |
//! | [`cuckoo_load_max`]          | 0.96·n/(n + 16)            | measured                             |
//!
//! The counting filters:
//!
//! | function                          | formula                    | source                          |
//! |-----------------------------------|----------------------------|---------------------------------|
//! | [`counting_bloom_error_rate`]     | Σ P(j keys in a line)·f(j) | Putze, Sanders, Singler 2007,   |
//! |                                   |                            | exact                           |
//! | [`d_left_error_rate`]             | 1 − (1 − 1/(B·2^r))^n      | Bonomi et al. 2006              |
//!
//! The static filters:
//!
//! | function                       | formula                         | source                          |
//! |--------------------------------|---------------------------------|---------------------------------|
//! | [`fingerprint_error_rate`]     | 2^−r                            | Dillinger, Walzer 2021; Graf,   |
//! |                                |                                 | Lemire 2022                     |
//! | [`binary_fuse_slots_per_key`]  | 1.125, 1.075, more for few keys | Graf, Lemire 2022               |

mod bloom;
mod counting;
mod cuckoo;
mod lower_bound;
pub(crate) mod static_filters;

pub use bloom::{
    blocked_bloom_best, blocked_bloom_error_rate, bloom_best_error_rate, bloom_best_probe_count,
    bloom_error_rate, bloom_error_rate_exact, classic_bloom_error_rate, split_block_error_rate,
};
pub(crate) use counting::counting_bloom_fewest_lines;
pub use counting::{counting_bloom_best, counting_bloom_error_rate, d_left_error_rate};
pub use cuckoo::{cuckoo_bucket_count, cuckoo_error_rate, cuckoo_load_max};
pub use lower_bound::bits_per_key_floor;
pub use static_filters::{binary_fuse_slots_per_key, fingerprint_error_rate};
