//! The inner loops of the filters in plain Rust and in vector instructions.
//!
//! This module has the only `unsafe` code of the workspace.
//!
//! | file                     | idea                                                              |
//! |--------------------------|-------------------------------------------------------------------|
//! | `instruction_set`        | [`InstructionSet`]: the sets of this processor, and the dispatch  |
//! | `operations`             | the trait of the operations, with the portable code as default    |
//! | `portable`               | the portable code, in plain Rust                                  |
//! | `sse2`, `avx2`, `avx512` | the operations in vectors of 128, 256 and 512 bits                |
//! | `absent`                 | these sets on a target without them                               |
//! | `line`, `block`          | blocked Bloom, counting, split-block: where the bits of a key are |
//! | `column_vectors`         | ribbon: a vector of columns, and the equation of a key            |
//! | `columns`                | ribbon: whether the columns of a key give its fingerprint         |
//! | `substitution`           | ribbon: back substitution, the inner loop of building             |
//! | `batch`                  | lookups of many keys with prefetching                             |
//! | `prefetch`               | prefetch instructions                                             |
//!
//! Inline assembly would need a gain of 10 % in a figure of `hfile bench`; there is none.
//! Vector code needs `target_feature = "sse2"`, which x86-64 targets with soft floats lack.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(unsafe_code, reason = "vector loads take pointers")]
mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(unsafe_code, reason = "vector loads take pointers")]
mod avx512;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(unsafe_code, reason = "vector loads take pointers")]
mod sse2;

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
mod absent;
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
use absent as avx2;
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
use absent as avx512;
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
use absent as sse2;

mod batch;
mod block;
mod column_vectors;
mod columns;
mod instruction_set;
mod line;
mod operations;
mod portable;
#[cfg_attr(
    all(target_arch = "x86_64", target_feature = "sse2"),
    allow(unsafe_code, reason = "prefetches take pointers")
)]
mod prefetch;
mod substitution;
#[cfg(test)]
mod tests;

pub(crate) use batch::{CACHED_LEN, PREFETCH_DISTANCE};
pub(crate) use block::{Block, block_index, block_insert};
pub(crate) use column_vectors::{BlockEquation, ColumnMask, LANES};
pub(crate) use columns::{ColumnLookup, ColumnWindow, Columns, FastPath, prefetch_columns, window};
pub(crate) use instruction_set::InstructionSet;
pub(crate) use line::{
    LINE_PROBES_MAX, Line, Probes, counters_lower, counters_raise, line_index, line_insert,
    line_positions,
};
pub use prefetch::prefetch;
pub(crate) use prefetch::{prefetch_at, prefetch_unit};
pub(crate) use substitution::Slots;
