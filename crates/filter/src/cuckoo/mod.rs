//! The cuckoo filter: short fingerprints in buckets of four, each key in one of two buckets; keys
//! can be removed again.
//!
//! ```text
//! hash ──upper bits──▶ bucket i        hash ──lower bits──▶ fingerprint φ, never 0
//!                      bucket j = (H(φ) − i) mod n          so i = (H(φ) − j) mod n
//!
//! buckets   [φ · · ·]  [a b c d]  [e · · ·]      a lookup compares φ with the eight
//!                ▲ i                   ▲ j       fingerprints of both buckets
//! ```
//!
//! A new fingerprint takes an empty slot of its two buckets. If both are full, one of the eight is
//! kicked into its own other bucket, which is known without its key: that is why the other bucket
//! depends on the fingerprint alone. Kicks go on until one finds room; then the buckets can be
//! filled to more than 95 %, and a key costs f / 0.95 bits for an error rate of about 8 / 2^f.
//!
//! What is different here from the filter of the paper:
//!
//! * **Any number of buckets.** The paper's other bucket is i xor H(φ), which needs a power of two
//!   and so wastes up to half of the memory. A reflection, H(φ) − i, is its own inverse modulo any n.
//! * **A failed insert changes nothing.** After 500 kicks the paper's filter has lost some other
//!   key's fingerprint. Here the kicks are undone, last one first.
//! * **No limit of copies.** In the paper's filter the ninth copy of a key fails, since 2b = 8 slots
//!   is all that a key can take, and long before that the two buckets are lost to other keys. Here a
//!   key takes three slots at most (five at 4 bits, four at 5); further copies are counted in a small ordered table beside the
//!   buckets. Lookups never see it. A key that the filter holds is never refused another copy.
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
