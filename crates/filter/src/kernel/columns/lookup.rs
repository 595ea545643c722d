//! Lookups in a filter whose keys ask columns: each compiled once for every kind of vector, as a whole, since a
//! kernel that is called for each key would cost as much again as it does.
//!
//! Where filters are not in the near caches, a lookup costs what it takes of the three hundred instructions that
//! a processor has under way while it waits: with half as many, twice as many keys are waited for at once. So
//! the usual lookup stands where it is asked, without a call and without writing anything down, and all that is
//! rare is elsewhere.

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
use super::compare::plain_match as baseline_match;
use super::compare::plain_match;
use super::compare::{Columns, FewColumns, MatchColumns, all_match};
#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::sse2::columns_match as baseline_match;
use crate::hash::KeyHash;
use crate::kernel::batch::CACHED_LEN;
use crate::kernel::vector::Vector;

/// What a key comes to in a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FastPath<'a> {
    /// The usual case.
    Columns(FewColumns<'a>),
    /// It was sent on to the next layer.
    Bumped,
    /// Something that takes a longer look.
    Slow,
}

/// A filter whose lookups somewhere ask whether columns match.
pub(crate) trait ColumnLookup {
    /// Finds what a key asks of a layer, without a loop; must be inlined into its caller.
    fn fast_path<'a, const MIXED: bool>(
        &'a self,
        layer: usize,
        body: &'a [u8],
        hash: KeyHash,
    ) -> FastPath<'a>;

    /// Returns whether blocks differ in how many columns they have, which takes some more steps.
    fn is_mixed(&self) -> bool;

    /// Looks any key up, the usual ones too; must be inlined into its caller.
    fn look_up(&self, body: &[u8], hash: KeyHash, matches: impl Fn(&Columns<'_>) -> bool) -> bool;
}

impl Vector {
    /// Looks a key up with the vectors that there are.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(crate) fn look_up(self, filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if let Self::Avx512(avx512) = self {
            return look_up(filter, body, hash, avx512.match_columns());
        }
        if self.is_twin() {
            return look_up_plainly(filter, body, hash);
        }
        look_up(filter, body, hash, baseline_match)
    }

    /// Returns whether these are not the best that every processor of this target has.
    #[inline]
    fn is_twin(self) -> bool {
        self == Self::Portable && Self::baseline() != Self::Portable
    }

    /// Looks many keys up.
    pub(crate) fn look_up_all(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if let Self::Avx512(avx512) = self {
            return look_up_all(filter, body, hashes, answers, avx512.match_columns());
        }
        if self.is_twin() {
            return look_up_all(filter, body, hashes, answers, plain_match);
        }
        look_up_all(filter, body, hashes, answers, baseline_match);
    }
}

/// Keys of which a batch finds the columns before it looks into them.
const BATCH: usize = 32;

/// Looks many keys up.
fn look_up_all(
    filter: &impl ColumnLookup,
    body: &[u8],
    hashes: &[KeyHash],
    answers: &mut [bool],
    matching: impl MatchColumns,
) {
    assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
    if body.len() <= CACHED_LEN {
        for (hash, to) in hashes.iter().zip(answers) {
            *to = look_up(filter, body, *hash, matching);
        }
        return;
    }
    // Where a key's columns are is found once, and remembered until they are there.
    let mut found = [FastPath::Slow; BATCH];
    for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
        for (found, hash) in found.iter_mut().zip(hashes) {
            *found = filter.fast_path::<true>(0, body, *hash);
            if let FastPath::Columns(columns) = found {
                columns.prefetch();
            }
        }
        for ((found, hash), to) in found.iter().zip(hashes).zip(answers) {
            *to = answer(filter, body, *hash, *found, matching);
        }
    }
}

/// Looks a key up in plain Rust, where that is not the best there is.
#[inline(never)]
fn look_up_plainly(filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
    look_up(filter, body, hash, plain_match)
}

/// Looks a key up where it is called, as far as that is short; in two ways whose steps do not join, for
/// the shorter would take some of the longer with it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
fn look_up(
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    matching: impl MatchColumns,
) -> bool {
    if filter.is_mixed() {
        answer(filter, body, hash, filter.fast_path::<true>(0, body, hash), matching)
    } else {
        answer(filter, body, hash, filter.fast_path::<false>(0, body, hash), matching)
    }
}

/// Answers with what a key came to in the first layer.
#[inline(always)]
#[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
fn answer(
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    fast_path: FastPath<'_>,
    matching: impl MatchColumns,
) -> bool {
    match fast_path {
        FastPath::Columns(columns) => {
            columns.first_match(matching)
                && (!columns.has_second() || look_up_others(filter, body, hash, matching))
        }
        FastPath::Bumped => look_up_bumped(filter, body, hash, matching),
        FastPath::Slow => look_up_any(filter, body, hash, matching),
    }
}

/// Looks the other columns of a key up whose first ones match. It finds the key once more: what it were given
/// otherwise, every lookup would have to keep at hand.
#[inline(never)]
fn look_up_others(
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    matching: impl MatchColumns,
) -> bool {
    match fast_path(filter, body, hash) {
        FastPath::Columns(columns) => others_match(&columns, filter, body, hash, matching),
        FastPath::Bumped | FastPath::Slow => true,
    }
}

/// Returns whether the columns of a key after its first ones match.
fn others_match(
    columns: &FewColumns<'_>,
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    matching: impl MatchColumns,
) -> bool {
    columns.second_match(matching)
        && (!columns.has_third() || look_up_any(filter, body, hash, matching))
}

/// Finds what a key asks of the first layer.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a lookup stands as a whole where it is asked")]
fn fast_path<'a>(filter: &'a impl ColumnLookup, body: &'a [u8], hash: KeyHash) -> FastPath<'a> {
    if filter.is_mixed() {
        filter.fast_path::<true>(0, body, hash)
    } else {
        filter.fast_path::<false>(0, body, hash)
    }
}

/// Looks a key up that the first layer bumped. Not inlined, so that what comes first stays short.
#[cold]
#[inline(never)]
fn look_up_bumped(
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    matching: impl MatchColumns,
) -> bool {
    match filter.fast_path::<true>(1, body, hash) {
        FastPath::Columns(columns) => {
            columns.first_match(matching)
                && (!columns.has_second() || others_match(&columns, filter, body, hash, matching))
        }
        FastPath::Bumped | FastPath::Slow => look_up_any(filter, body, hash, matching),
    }
}

/// Looks any key up.
#[cold]
#[inline(never)]
fn look_up_any(
    filter: &impl ColumnLookup,
    body: &[u8],
    hash: KeyHash,
    matching: impl MatchColumns,
) -> bool {
    filter.look_up(body, hash, |columns| all_match(columns, &matching))
}
