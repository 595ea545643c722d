//! The counting Bloom filter: counters instead of bits, so that keys can be removed.
//!
//! ```text
//! hash ──upper bits──▶ line of 128 counters     hash × odd constant ──▶ k counters of that line
//!
//! lines   [· · · · · · · ·][· 2 · · 1 3 · · 1][· · · · · · · ·]       insert: +1   remove: −1
//!                             ▲     ▲ ▲     one load                 a member: none is 0
//! ```
//!
//! A counter has 4 bits and *saturates* at 15: the number of its keys is then unknown, so it is
//! never raised or lowered again. A saturated counter can make removed keys false positives, but
//! never causes a false negative. In a filter of optimal size counters saturate only if a key is
//! inserted 15 times: the probability that any of m counters overflows otherwise is at most
//! 1.37e-15·m.
//!
//! All counters of a key are in one cache line, so that a lookup has one cache miss. At an error
//! rate of 1 % this takes 13 % more memory, because keys are unevenly distributed over the lines.
//! If two probes of a key hit the same counter, the key raises it once. So a key adds 0 or 1 to
//! each counter of its line, which is one vector addition.
//!
//! The stored form and the lookup are in `bloom/lines.rs`; a counter is a field of 4 bits.
//!
//! Fan, Cao, Almeida, Broder: "Summary Cache: A Scalable Wide-Area Web Cache Sharing Protocol",
//! 2000.

mod filter;
#[cfg(test)]
mod tests;

pub(crate) use filter::CountingView;
pub use filter::{CountingBloom, UnionError};
