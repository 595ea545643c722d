//! The counting Bloom filter: counters in place of bits, so that keys can be taken out again.
//!
//! ```text
//! hash ──upper bits──▶ line of 128 counters     hash × odd constant ──▶ k counters of that line
//!
//! lines   [· · · · · · · ·][· 2 · · 1 3 · · 1][· · · · · · · ·]       insert: +1   remove: −1
//!                             ▲     ▲ ▲     one load                 a member: none is 0
//! ```
//!
//! A counter has 4 bits. At 15 it *saturates*: from then on nobody knows how many keys it stands for,
//! so it is neither raised nor lowered again, and what it says, "maybe", stays right. That makes false
//! positives of keys that were removed, and never a false negative. In a filter of the best size it
//! hardly happens ([`theory::counting_bloom_overflow_bound`](crate::theory::counting_bloom_overflow_bound)):
//! only a key that is itself inserted 15 times brings it about.
//!
//! All counters of a key lie in one cache line, so that a lookup waits for memory once. That costs
//! 13 % at an error rate of 1 %: some lines get more keys than others. Where two probes of a key
//! meet in one counter, the key raises it once; so a key adds 0 or 1 to each counter of its line, and
//! one addition to the whole line does it.
//!
//! The stored form and the lookup: `bloom/lines.rs`; a counter is a field of 4 bits.
//!
//! Fan, Cao, Almeida, Broder: "Summary Cache: A Scalable Wide-Area Web Cache Sharing Protocol", 2000.

mod filter;
#[cfg(test)]
mod tests;

pub(crate) use filter::CountingView;
pub use filter::{CountingBloom, ShapesDiffer};
