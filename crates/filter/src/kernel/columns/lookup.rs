//! Lookups in filters that compare columns, compiled as a whole for each instruction set.
//!
//! A column holds one bit of each of the 64 slots of a block.
//!
//! In a filter that exceeds L1 and L2, most lookups have a cache miss. During a miss, a processor
//! executes the lookups of the next keys as far as they fit into its reorder buffer, about 300
//! instructions. If a lookup has half the instructions, twice as many cache misses overlap. The
//! fast path is therefore one function without calls and stores; rare cases are out of line.

use super::compare::{ColumnWindow, Columns, all_match};
use crate::hash::KeyHash;
use crate::kernel::batch::CACHED_LEN;
use crate::kernel::operations::Operations;

/// The result of the fast path in one layer of a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FastPath<'a> {
    /// The columns to compare.
    Columns(ColumnWindow<'a>),
    /// The layer bumped the key to the next layer.
    Bumped,
    /// The fast path cannot handle the key; [`ColumnLookup::look_up`] can.
    Slow,
}

/// A filter whose lookups compare columns.
pub(crate) trait ColumnLookup {
    /// Finds the columns of a key in a layer, without a loop.
    ///
    /// Implementations must be inlined into their callers. `MIXED` may be `false` only if all
    /// blocks have the same number of columns, which saves instructions.
    fn fast_path<'a, const MIXED: bool>(
        &'a self,
        layer: usize,
        body: &'a [u8],
        hash: KeyHash,
    ) -> FastPath<'a>;

    /// Returns whether blocks differ in their number of columns.
    fn is_mixed(&self) -> bool;

    /// Looks up any key, including keys of the fast path; `matches` compares the columns.
    fn look_up(&self, body: &[u8], hash: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool;
}

/// Number of keys in a batch: the columns of all keys are prefetched before any are compared.
const BATCH: usize = 32;

/// Looks up many keys, in batches with prefetching if the filter exceeds `CACHED_LEN`.
#[inline(always)]
pub(in crate::kernel) fn look_up_all(
    filter: &impl ColumnLookup,
    body: &[u8],
    hashes: &[KeyHash],
    answers: &mut [bool],
    operations: impl Operations,
) {
    assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
    if body.len() <= CACHED_LEN {
        for (hash, to) in hashes.iter().zip(answers) {
            *to = look_up(filter, body, *hash, operations);
        }
        return;
    }
    // Keeps the results of a batch between prefetching and comparing.
    let mut found = [FastPath::Slow; BATCH];
    for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
        for (found, hash) in found.iter_mut().zip(hashes) {
            *found = filter.fast_path::<true>(0, body, *hash);
            if let FastPath::Columns(columns) = found {
                columns.prefetch();
            }
        }
        for ((found, hash), to) in found.iter().zip(hashes).zip(answers) {
            *to = answer(filter, body, *hash, *found, operations);
        }
    }
}

/// Looks up a key; the caller contains the fast path, and calls functions for rare cases.
///
/// Each branch calls `answer` itself. With one shared call, the short branch, for blocks of equal
/// length, would execute some instructions of the long one.
#[inline(always)]
pub(in crate::kernel) fn look_up(
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    operations: impl Operations,
) -> bool {
    if filter.is_mixed() {
        answer(filter, body, hash, filter.fast_path::<true>(0, body, hash), operations)
    } else {
        answer(filter, body, hash, filter.fast_path::<false>(0, body, hash), operations)
    }
}

/// Answers from the result of the fast path in the first layer.
#[inline(always)]
fn answer(
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    fast_path: FastPath<'_>,
    operations: impl Operations,
) -> bool {
    match fast_path {
        FastPath::Columns(columns) => {
            columns.first_match(operations)
                && (!columns.has_second() || look_up_others(filter, body, hash, operations))
        }
        FastPath::Bumped => look_up_bumped(filter, body, hash, operations),
        FastPath::Slow => look_up_any(filter, body, hash, operations),
    }
}

/// Compares the columns after the first vector, for a key that matches in the first vector.
///
/// Finds the columns again. If they were passed as arguments, every lookup would have to keep them
/// in registers.
#[inline(always)]
fn look_up_others<F: ColumnLookup>(
    filter: &F,
    body: &[u8],
    hash: KeyHash,
    operations: impl Operations,
) -> bool {
    operations.call(
        filter,
        body,
        hash,
        #[inline(always)]
        move |filter: &F, body, hash| {
            let fast_path = if filter.is_mixed() {
                filter.fast_path::<true>(0, body, hash)
            } else {
                filter.fast_path::<false>(0, body, hash)
            };
            match fast_path {
                FastPath::Columns(columns) => {
                    others_match(&columns, filter, body, hash, operations)
                }
                FastPath::Bumped | FastPath::Slow => true,
            }
        },
    )
}

/// Returns whether the columns after the first vector match.
#[inline(always)]
fn others_match(
    columns: &ColumnWindow<'_>,
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    operations: impl Operations,
) -> bool {
    columns.second_match(operations)
        && (!columns.has_third() || look_up_any(filter, body, hash, operations))
}

/// Looks up a key that the first layer bumped, with the fast path in the second layer.
#[inline(always)]
fn look_up_bumped<F: ColumnLookup>(
    filter: &F,
    body: &[u8],
    hash: KeyHash,
    operations: impl Operations,
) -> bool {
    operations.call(
        filter,
        body,
        hash,
        #[inline(always)]
        move |filter: &F, body, hash| match filter.fast_path::<true>(1, body, hash) {
            FastPath::Columns(columns) => {
                columns.first_match(operations)
                    && (!columns.has_second()
                        || others_match(&columns, filter, body, hash, operations))
            }
            FastPath::Bumped | FastPath::Slow => look_up_any(filter, body, hash, operations),
        },
    )
}

/// Looks up any key on the slow path.
#[inline(always)]
fn look_up_any<F: ColumnLookup>(
    filter: &F,
    body: &[u8],
    hash: KeyHash,
    operations: impl Operations,
) -> bool {
    operations.call(
        filter,
        body,
        hash,
        #[inline(always)]
        move |filter: &F, body, hash| {
            filter.look_up(
                body,
                hash,
                #[inline(always)]
                move |columns| all_match(columns, operations),
            )
        },
    )
}
