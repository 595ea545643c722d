//! The ribbon filter: a set solved as linear equations, within half a per cent of the fewest bits
//! that any filter could take.
//!
//! ```text
//! hash ──upper bits──▶ start s     ──mixed again──▶ 64 coefficients c and a fingerprint f
//!
//!                 s
//! solution   ·····▼──────── 64 slots ────────▼·····     each slot holds r bits
//!   c             1 0 1 1 0 0 1  …      0 1 0           the slots that count for this key
//!                 └── their exclusive or is f? ──▶ maybe; else certainly no
//! ```
//!
//! Building means to find a solution for which that holds of every key: Gaussian elimination, in
//! which every row is a band of 64 bits, so that it takes linear time and stays in the caches. A
//! absent key passes if r bits agree by chance, 2^−r; and a slot costs r bits, one for each key.
//!
//! As many equations as slots have no solution: some keys are too many wherever they meet. The usual
//! ribbon filter therefore has 5 to 10 % more slots than keys. **Bumped** ribbon retrieval goes the
//! other way: it has 5.5 % fewer slots than keys, so that practically every slot is used, and sends
//! the keys that find no room to a second, small layer, its few leftovers to a third, and the last
//! to a [`base`] that takes them all. Which keys were sent on is known without their names: starts
//! are grouped into buckets of 128, a bucket is filled from its right end to its left, and two bits a
//! bucket say from where on its keys were bumped ([`thresholds`]).
//!
//! | file         | idea                                                                         |
//! |--------------|------------------------------------------------------------------------------|
//! | `equation`   | from a hash to start, coefficients and fingerprint                           |
//! | `thresholds` | which keys of a bucket were bumped                                           |
//! | `banding`    | elimination, row by row                                                      |
//! | `layer`      | what a layer is made of                                                      |
//! | `sorter`     | sorting keys into buckets                                                    |
//! | `segments`   | filling a layer: its buckets, in interleaved segments; the rest is bumped    |
//! | `base`       | the end of all bumping, and the whole filter of a few keys                   |
//! | `layout`     | blocks of 64 slots, column by column; some of one column more than others    |
//! | `shape`      | how many columns, from what the user asked for                               |
//! | `solution`   | back substitution                                                            |
//! | `filter`     | the type that users build                                                    |
//! | `stored`     | the stored form, and the lookup in it                                        |
//! | `first_layer` | the first layer and the later ones as two parts, for the sliced form        |
//! | `sliced`     | the bit-sliced form                                                          |
//!
//! Dillinger, Hübschle-Schneider, Sanders, Walzer: "Fast Succinct Retrieval and Approximate
//! Membership using Ribbon", 2022; Dillinger, Walzer: "Ribbon filter: practically smaller than Bloom
//! and Xor", 2021.

mod banding;
mod base;
mod equation;
mod filter;
mod first_layer;
mod layer;
mod layout;
mod segments;
mod shape;
mod sliced;
mod solution;
mod sorter;
mod stored;
#[cfg(test)]
mod tests;
mod thresholds;

pub use filter::Ribbon;
pub(crate) use sliced::RibbonSlices;
pub(crate) use stored::RibbonView;
