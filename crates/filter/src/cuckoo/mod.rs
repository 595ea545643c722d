//! The cuckoo filter: a table of fingerprints, a few bits of each key's hash; keys can be removed.
//!
//! A bucket has four slots for fingerprints. The fingerprint of a key is in one of two buckets.
//!
//! ```text
//! hash ──upper bits──▶ bucket i        hash ──lower bits──▶ fingerprint φ, never 0
//!                      bucket j = (H(φ) − i) mod n          so i = (H(φ) − j) mod n
//!
//! buckets   [φ · · ·]  [a b c d]  [e · · ·]      a lookup compares φ with the eight
//!                ▲ i                   ▲ j       fingerprints of both buckets
//! ```
//!
//! An insert puts the fingerprint into an empty slot of its two buckets. If both buckets are full,
//! the new fingerprint takes the slot of one of the eight others, which is *kicked*: it moves to
//! its other bucket. If that bucket is full, too, the next fingerprint is kicked, until one finds
//! an empty slot. The filter does not store the keys, so the other bucket must follow from the
//! fingerprint and its current bucket. Kicks can fill more than 95 % of the slots. With
//! fingerprints of f bits a key costs f / 0.95 bits, and the error rate is about 8 / 2^f.
//!
//! Differences from the paper (cited below):
//!
//! * **Any number of buckets.** The paper's other bucket is i xor H(φ). That needs a number of
//!   buckets that is a power of two, which wastes up to half of the memory. Here the other bucket
//!   is (H(φ) − i) mod n, a function that is its own inverse for any n.
//! * **A failed insert changes nothing.** An insert fails after 500 kicks. In the paper's filter
//!   the fingerprint that was kicked last is then lost. Here a failed insert reverts its kicks, the
//!   last one first.
//! * **No limit of copies.** In the paper's filter, copies of a key can take all eight slots of its
//!   two buckets. The ninth copy fails, and before that other keys find no room there. Here a key
//!   takes at most three slots (five with fingerprints of 4 bits, four with 5). An ordered table
//!   beside the buckets, the *overflow*, counts further copies. Lookups do not read the overflow.
//!   The insert of another copy of a member never fails.
//!
//! Fan, Andersen, Kaminsky, Mitzenmacher: "Cuckoo Filter: Practically Better Than Bloom", 2014.

mod bucket;
mod filter;
mod shape;
#[warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]
mod stored;
#[cfg(test)]
mod tests;

pub use filter::Cuckoo;
pub(crate) use stored::CuckooView;
