//! The d-left filter: remainders with small counters in buckets. Keys can be removed, and the
//! filter takes at most half the memory of a counting Bloom filter.
//!
//! ```text
//! hash ─▶ number x below M = B·2^r ──▶ P_i(x) = a_i·x mod M   for each subtable i
//!                                       └ bucket = upper part, remainder = lower r bits
//!
//! subtable 0   … [ rem│1  rem│1  rem│2    ·     ·     ·     ·     ·  ] …     B buckets of 8 cells
//! subtable 1   … [ rem│1    ·     ·       ·     ·     ·     ·     ·  ] …  ◀─ a new key goes to the
//! subtable 2   … [ rem│3  rem│1    ·      ·     ·     ·     ·     ·  ] …     least loaded bucket,
//! subtable 3   … [ rem│1  rem│1    ·      ·     ·     ·     ·     ·  ] …     ties to the left
//! ```
//!
//! A lookup searches the d buckets of a key. An insert does so first, too: only an absent key gets
//! a new cell. Choosing the least loaded of d buckets fills them so evenly that seven of eight
//! cells can be in use, and about one bucket in 10^10 overflows (Mitzenmacher, Vöcking: "The
//! Asymptotics of Selecting the Shortest of Two, Improved", 1999). A key that finds no free cell
//! goes to a small stash.
//!
//! # Why copies of a key share one cell
//!
//! If each subtable hashed the bucket and the remainder of a key independently, two keys could
//! agree in one subtable and differ in another, and a remove of one key could miss the cell that
//! both share. So a key has one number x and d *permutations* of x. Permutations are invertible, so
//! two keys agree either in all subtables (if they have the same number x) or in none. The filter
//! treats keys with the same number as copies of one key.
//!
//! # Any number of buckets
//!
//! The paper permutes q-bit numbers, `P_i(H) = a_i·H mod 2^q` with odd `a_i`, and so needs a power
//! of two of buckets. Here the modulus is M = B·2^r for any B, and `a_i` is coprime to M, hence
//! odd:
//!
//! * `x ↦ a_i·x mod M` is a permutation of the numbers below M. If `a_i·x` and `a_i·y` have the
//!   same remainder, M divides `a_i·(x − y)`. M is coprime to `a_i`, so M divides x − y. |x − y| is
//!   less than M, so x = y.
//! * v ↦ (v >> r, v mod 2^r) is a bijection from the numbers below M to the pairs of a bucket below
//!   B and a remainder below 2^r.
//!
//! With B = 2^(q − r) this is the paper's filter. The size fits the keys to one bucket per
//! subtable, and the error rate has no steps.
//!
//! # Copies
//!
//! A counter of two bits counts to 3, one of four bits to 15. A key whose counter is full gets
//! another cell, so counts are exact up to four cells: 12 or 60 copies. At this count the key
//! *saturates*: its counters do not change any more and the key stays in the filter, because its
//! number of copies is unknown. So copies of one key cannot fill its buckets, and no member is
//! denied.
//!
//! Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese: "An Improved Construction for Counting Bloom
//! Filters", 2006.

#[warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "cells have 6 to 30 bits, so a word's take at most 64, and every shift is below 64"
)]
mod cells;
mod filter;
mod layout;
mod options;
mod permutations;
mod shape;
#[warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]
mod stash;
#[warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]
mod stored;
#[cfg(test)]
mod tests;

pub use filter::DLeft;
pub use options::{CounterBits, DLeftOptions};
pub(crate) use stored::DLeftView;
