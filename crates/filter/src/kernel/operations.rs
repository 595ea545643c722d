//! The trait of the operations in the filters' inner loops, which each instruction set implements.

use super::batch::contains_batch;
use super::block::{Block, block_index};
use super::column_vectors::{BlockEquation, ColumnMask, ColumnVectors};
use super::line::{Line, Probes, line_index};
use super::portable;
use super::substitution::Slots;
use crate::hash::KeyHash;

/// The operations of the filters' inner loops in one instruction set.
///
/// A value of a type with this trait proves that the processor has the instruction set. The
/// provided methods are the portable code. A type overrides those that its instructions make
/// faster.
pub(super) trait Operations: Copy {
    /// Calls `function` within an out-of-line function that is compiled for this instruction set.
    ///
    /// The compiler inlines an operation of the set only into such a function, so a loop over
    /// operations must run within one call. The three arguments are passed in registers, whereas
    /// captures of the closure would be passed in memory.
    #[inline(never)]
    fn call<A, B, C, R>(self, a: A, b: B, c: C, function: impl FnOnce(A, B, C) -> R) -> R {
        function(a, b, c)
    }

    /// Returns whether all fields of a key in a line are nonzero.
    ///
    /// A line consists of bits (`FIELD_BITS` = 1) or of counters of 4 bits (`FIELD_BITS` = 4).
    #[inline]
    fn line_contains<const FIELD_BITS: u32>(self, line: &Line, hash: u64, probes: Probes) -> bool {
        portable::line_contains::<FIELD_BITS>(line, hash, probes)
    }

    /// Returns whether all eight bits of a key are set in a block of a split-block Bloom filter.
    #[inline]
    fn block_contains(self, block: &Block, hash: u64) -> bool {
        portable::block_contains(block, hash)
    }

    /// Returns whether the parity of each column in `mask` equals its bit of the fingerprint.
    #[inline]
    fn columns_match(
        self,
        columns: ColumnVectors<'_>,
        mask: &ColumnMask,
        equation: BlockEquation,
    ) -> bool {
        portable::columns_match(columns, mask, equation)
    }

    /// Computes slots of a group of columns by back substitution, from the last row to the first.
    ///
    /// The group starts with `first_column`. A slot without a row becomes zero, because its
    /// coefficients and its fingerprint are zero.
    fn substitute(
        self,
        slots: &mut Slots,
        coefficients: &[u64],
        fingerprints: &[u32],
        first_column: u32,
    ) {
        portable::substitute(slots, coefficients, fingerprints, first_column);
    }

    /// Looks up many keys, each in its line; without lines the answer is no for all keys.
    ///
    /// [`line_contains`](Self::line_contains) describes the lookup of a key.
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

    /// Looks up many keys, each in its block; without blocks the answer is no for all keys.
    ///
    /// [`block_contains`](Self::block_contains) describes the lookup of a key.
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
}

/// The instruction set of every processor. Overrides nothing: the provided methods are its code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Portable;

impl Operations for Portable {}
