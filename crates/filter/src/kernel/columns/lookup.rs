//! The lookup of a key whose filter compares columns, compiled as a whole for each instruction set.
//!
//! Where filters miss L1 and L2, a processor executes the lookups of later keys while
//! it waits for a cache miss, up to the size of its reorder buffer, some three hundred
//! instructions. With half the instructions a lookup, twice as many misses overlap. The fast path
//! is therefore one function without calls and stores, and rare cases are out of line.

use super::compare::{ColumnWindow, Columns, all_match};
use crate::hash::KeyHash;
use crate::kernel::batch::CACHED_LEN;
use crate::kernel::operations::Operations;

/// What the first steps of a lookup in a layer find.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FastPath<'a> {
    /// The columns to compare.
    Columns(ColumnWindow<'a>),
    /// The layer bumped the key to the next layer.
    Bumped,
    /// A key that only [`ColumnLookup::look_up`] can answer.
    Slow,
}

/// A filter whose lookups compare columns.
pub(crate) trait ColumnLookup {
    /// Finds the columns of a key in a layer, without a loop; must be inlined into its caller.
    ///
    /// `MIXED` says whether blocks differ in their number of columns, which takes more
    /// instructions.
    fn fast_path<'a, const MIXED: bool>(
        &'a self,
        layer: usize,
        body: &'a [u8],
        hash: KeyHash,
    ) -> FastPath<'a>;

    /// Returns whether blocks differ in their number of columns.
    fn is_mixed(&self) -> bool;

    /// Looks up any key, also those of the fast path.
    fn look_up(&self, body: &[u8], hash: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool;
}

/// Keys of which a batch finds the columns before it compares them.
const BATCH: usize = 32;

/// Looks up many keys.
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
    // The columns of a key are found once, and kept until their cache lines have arrived.
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

/// Looks up a key, inlined into the caller as far as that is short.
///
/// The two branches are apart: joined, the short one would take some instructions of the long one.
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

/// Answers from the fast path in the first layer.
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

/// Compares the other columns of a key whose first columns match.
///
/// Finds the columns again: to pass them, every lookup would have to keep them in registers.
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

/// Returns whether the columns of a key after its first ones match.
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

/// Looks up a key that the first layer bumped.
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

/// Looks up any key.
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
