//! The operations of the filters' inner loops: a trait that each instruction set implements.

use super::batch::contains_batch;
use super::block::{Block, block_index};
use super::cells::{CellLanes, CellTarget};
use super::columns::{BlockEquation, ColumnLookup, ColumnMask, ColumnVectors, look_up_all};
use super::line::{Line, Probes, line_index};
use super::portable;
use super::substitution::Slots;
use crate::hash::KeyHash;

/// The operations of the filters' inner loops in one instruction set.
///
/// A value is a proof that the processor has the set. The provided methods are the portable code; a
/// set overrides those for which its instructions pay.
pub(super) trait Operations: Copy {
    /// Calls `function` out of line, in a function compiled for this set.
    ///
    /// The compiler inlines an operation of the set only into such a function. A loop over
    /// operations must therefore run in one call. The three arguments are passed in registers,
    /// which the captures of a closure are not.
    #[inline(never)]
    fn call<A, B, C, R>(self, a: A, b: B, c: C, function: impl FnOnce(A, B, C) -> R) -> R {
        function(a, b, c)
    }

    /// Returns whether no field of a key is zero in a line of fields of `FIELD_BITS` bits, 1 or 4.
    #[inline]
    fn line_contains<const FIELD_BITS: u32>(self, line: &Line, hash: u64, probes: Probes) -> bool {
        portable::line_contains::<FIELD_BITS>(line, hash, probes)
    }

    /// Returns whether a split block has all eight bits of a key.
    #[inline]
    fn block_contains(self, block: &Block, hash: u64) -> bool {
        portable::block_contains(block, hash)
    }

    /// Returns whether any of the buckets has a cell in use with its target's remainder.
    ///
    /// The portable code is the caller's `portable`, which knows how cells are stored.
    #[inline]
    fn cells_contain(
        self,
        _table: &[u8],
        _targets: &[CellTarget],
        _lanes: &CellLanes,
        portable: impl FnOnce() -> bool,
    ) -> bool {
        portable()
    }

    /// Returns whether the columns in `mask` give their bits of the fingerprint.
    #[inline]
    fn columns_match(
        self,
        columns: ColumnVectors<'_>,
        mask: &ColumnMask,
        equation: BlockEquation,
    ) -> bool {
        portable::columns_match(columns, mask, equation)
    }

    /// Substitutes back through rows, the last first, for the columns from `first_column` on.
    ///
    /// A slot without a row has neither coefficients nor a fingerprint, and becomes zero.
    fn substitute(
        self,
        slots: &mut Slots,
        coefficients: &[u64],
        fingerprints: &[u32],
        first_column: u32,
    ) {
        portable::substitute(slots, coefficients, fingerprints, first_column);
    }

    /// Answers for many keys as [`line_contains`](Self::line_contains); without lines, with no.
    fn lines_contain<const FIELD_BITS: u32>(
        self,
        lines: &[Line],
        hashes: &[KeyHash],
        probes: Probes,
        answers: &mut [bool],
    ) {
        self.call(
            lines,
            hashes,
            answers,
            #[inline(always)]
            move |lines, hashes, answers| {
                contains_batch(
                    lines,
                    hashes,
                    answers,
                    line_index,
                    #[inline(always)]
                    move |line, hash| self.line_contains::<FIELD_BITS>(line, hash, probes),
                );
            },
        );
    }

    /// Answers for many keys as [`block_contains`](Self::block_contains); without blocks, with no.
    fn blocks_contain(self, blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
        self.call(
            blocks,
            hashes,
            answers,
            #[inline(always)]
            move |blocks, hashes, answers| {
                contains_batch(
                    blocks,
                    hashes,
                    answers,
                    block_index,
                    #[inline(always)]
                    move |block, hash| self.block_contains(block, hash),
                );
            },
        );
    }

    /// Looks up many keys in a filter of columns.
    fn look_up_all(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        self.call(
            body,
            hashes,
            answers,
            #[inline(always)]
            move |body, hashes, answers| {
                look_up_all(filter, body, hashes, answers, self);
            },
        );
    }
}
