//! The d-left filter: remainders with small counters in buckets, so that keys can be taken out again
//! at half the memory of a counting Bloom filter and less.
//!
//! ```text
//! hash ─▶ number x below M = B·2^r ──▶ P_i(x) = a_i·x mod M   for each subtable i
//!                                       └ bucket = upper part, remainder = lower r bits
//!
//! subtable 0   … [ rem│1  rem│1  rem│2    ·     ·     ·     ·     ·  ] …      B buckets of 8 cells
//! subtable 1   … [ rem│1    ·     ·       ·     ·     ·     ·     ·  ] …  ◀── the least loaded takes
//! subtable 2   … [ rem│3  rem│1    ·      ·     ·     ·     ·     ·  ] …      a new key, ties to the
//! subtable 3   … [ rem│1  rem│1    ·      ·     ·     ·     ·     ·  ] …      left
//! ```
//!
//! A key is looked for in its d buckets, before it is inserted too: only a key that is nowhere gets a
//! new cell. Choosing the least loaded of d buckets fills them so evenly that seven of eight cells can
//! be in use, and about one bucket in 10^10 overflows
//! ([`theory::d_left_overflow_share`](crate::theory::d_left_overflow_share)); what finds no cell goes
//! to a small stash.
//!
//! # Why a key is found in one place at most
//!
//! If the bucket and the remainder of a key were hashed afresh for each subtable, two keys could agree
//! in one subtable and differ in another, and removing one would not find the cell that both share.
//! So there is one number x a key, and d *permutations* of it: each can be undone, so that two keys
//! agree in one subtable exactly if they agree in all, namely if they are the same number x. To the
//! filter these are then copies of one key.
//!
//! # Any number of buckets
//!
//! The paper permutes q-bit numbers, `P_i(H) = a_i·H mod 2^q` with odd `a_i`, and so has a power of two
//! of buckets. Here the modulus is M = B·2^r for any B, and `a_i` any number without a common divisor
//! with M, hence odd:
//!
//! * `x ↦ a_i·x mod M` is a permutation of the numbers below M. If `a_i·x` and `a_i·y` leave the same rest,
//!   M divides `a_i·(x − y)`; it has no divisor in common with `a_i`, so it divides x − y, whose amount is
//!   less than M; so x = y.
//! * v ↦ (v >> r, v mod 2^r) is one to one from the numbers below M to the pairs of a bucket below B
//!   and a remainder below 2^r: it writes v in base 2^r.
//!
//! With B = 2^(q − r) this is the paper's. The filter is as large as its keys ask, to one bucket a
//! subtable, and its error rate has no steps.
//!
//! # Copies
//!
//! A counter of two bits counts to 3, one of four bits to 15. A key whose counter is full gets another
//! cell, so that counts stay exact, up to four cells: 12 or 60 copies. There it *saturates*: it is
//! neither raised nor lowered any more and stays in the filter for good, since nobody knows how often
//! it was inserted. So a single key that comes again and again cannot fill its buckets, and no key is
//! ever denied.
//!
//! Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese: "An Improved Construction for Counting Bloom
//! Filters", 2006.

mod cells;
mod filter;
mod layout;
mod options;
mod permutations;
mod shape;
mod sliced;
mod stash;
mod stored;
#[cfg(test)]
mod tests;

pub use filter::DLeft;
pub use options::{CounterBits, DLeftOptions};
pub(crate) use sliced::DLeftSlices;
pub(crate) use stored::DLeftView;
