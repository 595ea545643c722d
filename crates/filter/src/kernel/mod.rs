//! The inner loops of the filters, in plain Rust and in vector instructions: the only `unsafe` code of the
//! workspace.
//!
//! | file               | idea                                                                      |
//! |--------------------|---------------------------------------------------------------------------|
//! | `vector`           | [`Vector`]: which instructions this processor has, and the lookups by them |
//! | `portable`         | lines, counters and blocks in plain Rust                                  |
//! | `avx2`, `avx512`   | the same in vectors of 256 and 512 bits                                   |
//! | `avx512_inlined`   | the same as assembly, inlined into the caller                             |
//! | `x86`              | proofs that the processor has an instruction set                          |
//! | `cells`            | d-left: buckets of remainders                                             |
//! | `columns`          | ribbon: do the columns of a key give its fingerprint?                     |
//! | `substitution`     | ribbon: back substitution, the inner loop of building                     |
//! | `batch`            | lookups of many keys with prefetching                                     |
//! | `prefetch`         | prefetch instructions                                                     |

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod avx512;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod avx512_inlined;
mod batch;
mod cells;
mod columns;
mod portable;
mod prefetch;
mod substitution;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod substitution_x86;
mod vector;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86;

pub(crate) use batch::{CACHED_LEN, PREFETCH_DISTANCE};
pub(crate) use cells::{CellLanes, CellTarget};
pub(crate) use columns::{
    ColumnLookup, ColumnMask, Columns, FastPath, FewColumns, Key, LANES, prefetch_columns, window,
};
pub(crate) use portable::{
    Block, LINE_PROBES_MAX, Line, Probes, block_index, block_insert, block_places, counters_lower,
    counters_raise, line_index, line_insert, line_places,
};
pub use prefetch::{PrefetchHint, prefetch_line};
pub(crate) use prefetch::{prefetch, prefetch_at};
pub(crate) use substitution::Slots;
pub(crate) use vector::Vector;
