//! The cuckoo filter: short fingerprints in buckets of four. Each key has two candidate buckets,
//! and keys can be removed.
//!
//! ```text
//! hash ──upper bits──▶ bucket i        hash ──lower bits──▶ fingerprint φ, never 0
//!                      bucket j = (H(φ) − i) mod n          so i = (H(φ) − j) mod n
//!
//! buckets   [φ · · ·]  [a b c d]  [e · · ·]      a lookup compares φ with the eight
//!                ▲ i                   ▲ j       fingerprints of both buckets
//! ```
//!
//! A new fingerprint takes an empty slot of its two buckets. If both are full, one of the eight
//! fingerprints is kicked into its own other bucket. The other bucket depends on the fingerprint
//! and the present bucket only, because the key is not stored. Kicks continue until one finds an
//! empty slot. So buckets can be filled to more than 95 %, and a key costs f / 0.95 bits for an
//! error rate of about 8 / 2^f.
//!
//! Differences from the paper:
//!
//! * **Any number of buckets.** The paper's other bucket is i xor H(φ), which needs a power of two
//!   and wastes up to half of the memory. A reflection, H(φ) − i, is its own inverse modulo any n.
//! * **A failed insert changes nothing.** After 500 kicks the paper's filter has lost the
//!   fingerprint of another key. Here a failed insert reverts its kicks, the last one first.
//! * **No limit of copies.** In the paper's filter a key can take 2b = 8 slots, so its ninth copy
//!   fails, and its two buckets are full for other keys long before. Here a key takes at most three
//!   slots (five with fingerprints of 4 bits, four with 5). An ordered table beside the buckets,
//!   the overflow, counts further copies. Lookups do not read the overflow. Another copy of a key
//!   that the filter holds never fails.
//!
//! Fan, Andersen, Kaminsky, Mitzenmacher: "Cuckoo Filter: Practically Better Than Bloom", 2014.

mod bucket;
mod filter;
mod go;
mod shape;
mod sliced;
mod stored;
#[cfg(test)]
mod tests;

pub use filter::Cuckoo;
pub use go::{GoCuckoo, NotGoCuckoo, Placement};
pub(crate) use sliced::CuckooSlices;
pub(crate) use stored::CuckooView;
