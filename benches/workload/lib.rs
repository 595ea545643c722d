//! Keys, values and get mixes that the benchmarks share.
