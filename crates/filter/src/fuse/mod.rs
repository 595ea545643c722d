//! The binary fuse filter: three or four fingerprints, and their exclusive or is that of the key.
//!
//! ```text
//! hash ──upper bits──▶ a segment and the two (three) after it; one slot in each
//!
//! segments  [······x··][··x······][········x][·········] …
//!                  a        b            c        a xor b xor c is the key's fingerprint ──▶ maybe
//! ```
//!
//! Building peels: a slot that only one key uses can be given the value that this key needs, whatever
//! its other slots are; so the key is set aside, which leaves other slots to one key, and so on. If
//! all keys come off, the slots are given their values in the opposite order. That keys use
//! neighbouring segments and not any three slots lets 88 % of the slots (93 % with four) be used,
//! before peeling gets stuck; and both building and asking stay within a few segments.
//!
//! | file     | idea                                               |
//! |----------|----------------------------------------------------|
//! | `shape`  | how many segments, how long; where a key's slots are |
//! | `peel`   | building                                           |
//! | `filter` | the type that users build                          |
//! | `stored` | the stored form, and the lookup in it              |
//! | `sliced` | the bit-sliced form                                |
//!
//! Graf, Lemire: "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022; Dietzfelbinger,
//! Walzer: "Dense Peelable Random Uniform Hypergraphs", 2019. Written from the papers.

mod filter;
mod peel;
mod shape;
mod sliced;
mod stored;
#[cfg(test)]
mod tests;

pub use filter::BinaryFuse;
pub use shape::FuseBits;
pub(crate) use sliced::FuseSlices;
pub(crate) use stored::FuseView;
