//! The inner loop of ribbon lookups: whether the slots that count for a key give its fingerprint.
//!
//! | file      | idea                                                              |
//! |-----------|-------------------------------------------------------------------|
//! | `compare` | columns, what a key asks of them, and the comparison in plain Rust |
//! | `sse2`    | the comparison in 128-bit vectors                                 |
//! | `lookup`  | the lookup around it, compiled once for each instruction set      |

mod compare;
mod lookup;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod sse2;
#[cfg(test)]
mod tests;

pub(crate) use compare::{ColumnMask, Columns, FewColumns, Key, LANES, prefetch_columns, window};
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(super) use compare::{MatchColumns, Vectors};
pub(crate) use lookup::{ColumnLookup, FastPath};
