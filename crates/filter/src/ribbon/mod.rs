//! The ribbon filter: a system of linear equations, within 0.5 % of the minimum size of any filter.
//!
//! ```text
//! hash ──upper bits──▶ start s     ──mixed again──▶ 64 coefficients c and a fingerprint f
//!
//!                 s
//! solution   ·····▼──────── 64 slots ────────▼·····     each slot holds r bits
//!   c             1 0 1 1 0 0 1  …      0 1 0           the slots of this key's equation
//!                 └── their exclusive or is f? ──▶ maybe; else no
//! ```
//!
//! The equations of all keys are the rows of a matrix, and building solves the system by Gaussian
//! elimination. The coefficients of a row are within a band of 64 adjacent slots, so elimination
//! takes linear time and is cache-friendly. An absent key passes if r bits agree by chance, with
//! probability 2^−r.
//!
//! A system with as many random equations as slots usually has no solution. A standard ribbon
//! filter therefore has 5 to 10 % more slots than keys. The first layer of a **bumped** ribbon
//! filter has 5.5 % fewer slots than keys, so that nearly all slots are used. Keys that do not fit
//! are bumped to a small second layer, from there to a third, and from there to a [`base`] that
//! takes all remaining keys.
//!
//! The filter stores no list of the bumped keys. Instead, starts are grouped into buckets of 128,
//! and a bucket is filled from right to left. Two bits per bucket store its threshold: the keys
//! that start on the left of the threshold were bumped ([`thresholds`]).
//!
//! | file         | idea                                                                         |
//! |--------------|------------------------------------------------------------------------------|
//! | `equation`   | the start, coefficients and fingerprint of a hash                            |
//! | `thresholds` | which keys of a bucket were bumped                                           |
//! | `banding`    | elimination, row by row                                                      |
//! | `layer`      | rows and thresholds of a layer                                               |
//! | `sorter`     | sorting keys into buckets                                                    |
//! | `segments`   | filling the buckets of a layer in interleaved segments, bumping the rest     |
//! | `base`       | the keys that no layer holds, and all keys of a small filter                 |
//! | `layout`     | blocks of 64 slots, column by column; wide blocks have one column more       |
//! | `shape`      | the number of columns for a size or an error rate                            |
//! | `solution`   | back substitution, from the rows to the slots                                |
//! | `filter`     | building, and lookups in memory                                              |
//! | `stored`     | the stored form, and lookups in it                                           |
//!
//! Dillinger, Hübschle-Schneider, Sanders, Walzer: "Fast Succinct Retrieval and Approximate
//! Membership using Ribbon", 2022; Dillinger, Walzer: "Ribbon filter: practically smaller than
//! Bloom and Xor", 2021.

mod banding;
mod base;
mod equation;
mod filter;
mod layer;
mod layout;
mod segments;
mod shape;
mod solution;
mod sorter;
#[warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]
mod stored;
#[cfg(test)]
mod tests;
mod thresholds;

pub use filter::Ribbon;
pub(crate) use stored::RibbonView;
