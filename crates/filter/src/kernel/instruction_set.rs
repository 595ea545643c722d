//! The instruction sets for which the kernel has code, and the choice between them at run time.
//!
//! A filter stores the best set of the processor when it is created ([`InstructionSet::detect`]).
//! A lookup branches on the stored set. The set does not change, so the branch is predictable.

use super::block::Block;
use super::column_vectors::LANES;
use super::columns::{ColumnLookup, look_up, look_up_all};
use super::line::{Line, Probes};
use super::operations::{Operations, Portable};
use super::substitution::Slots;
use super::{avx2::Avx2, avx512::Avx512, sse2::Sse2};
use crate::hash::KeyHash;

/// The instruction set of a filter's lookups.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum InstructionSet {
    Portable(Portable),
    Sse2(Sse2),
    Avx2(Avx2),
    Avx512(Avx512),
}

/// Evaluates an expression with the [`Operations`] of an instruction set.
macro_rules! dispatch {
    ($set:expr, $operations:ident => $value:expr) => {
        match $set {
            InstructionSet::Avx512($operations) => $value,
            InstructionSet::Avx2($operations) => $value,
            InstructionSet::Sse2($operations) => $value,
            InstructionSet::Portable($operations) => $value,
        }
    };
}

impl InstructionSet {
    /// Returns the best set that all processors of the compilation target have.
    pub(crate) fn baseline() -> Self {
        Sse2::detect().map_or(Self::Portable(Portable), Self::Sse2)
    }

    /// Returns the best set that this processor has.
    pub(crate) fn detect() -> Self {
        Self::available().last().expect("every processor runs portable code")
    }

    /// Iterates over the sets that this processor has, from the simplest to the best.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        let sets = [
            Some(Self::Portable(Portable)),
            Sse2::detect().map(Self::Sse2),
            Avx2::detect().map(Self::Avx2),
            Avx512::detect().map(Self::Avx512),
        ];
        sets.into_iter().flatten()
    }

    /// Returns whether all fields of a key in a line are nonzero.
    ///
    /// A line consists of bits (`FIELD_BITS` = 1) or of counters of 4 bits (`FIELD_BITS` = 4). SSE2
    /// has no code of its own for this operation and shares the portable arm: three arms compile to
    /// two branches, four to a jump table.
    #[inline]
    pub(crate) fn line_contains<const FIELD_BITS: u32>(
        self,
        line: &Line,
        hash: u64,
        probes: Probes,
    ) -> bool {
        match self {
            Self::Avx512(avx512) => avx512.call(
                line,
                hash,
                probes,
                #[inline(always)]
                move |line, hash, probes| avx512.line_contains::<FIELD_BITS>(line, hash, probes),
            ),
            Self::Avx2(avx2) => avx2.call(
                line,
                hash,
                probes,
                #[inline(always)]
                move |line, hash, probes| avx2.line_contains::<FIELD_BITS>(line, hash, probes),
            ),
            Self::Sse2(_) | Self::Portable(_) => Portable.call(
                line,
                hash,
                probes,
                #[inline(always)]
                |line, hash, probes| Portable.line_contains::<FIELD_BITS>(line, hash, probes),
            ),
        }
    }

    /// Looks up many keys, each in its line; without lines the answer is no for all keys.
    ///
    /// [`line_contains`](Self::line_contains) describes the lookup of a key.
    pub(crate) fn lines_contain<const FIELD_BITS: u32>(
        self,
        lines: &[Line],
        hashes: &[KeyHash],
        probes: Probes,
        answers: &mut [bool],
    ) {
        dispatch!(self, operations => {
            operations.lines_contain::<FIELD_BITS>(lines, hashes, probes, answers);
        });
    }

    /// Returns whether all eight bits of a key are set in a block of a split-block Bloom filter.
    ///
    /// Has three arms for the same reason as [`line_contains`](Self::line_contains).
    #[inline]
    pub(crate) fn block_contains(self, block: &Block, hash: u64) -> bool {
        match self {
            Self::Avx512(avx512) => avx512.call(
                block,
                hash,
                (),
                #[inline(always)]
                move |block, hash, ()| avx512.block_contains(block, hash),
            ),
            Self::Avx2(avx2) => avx2.call(
                block,
                hash,
                (),
                #[inline(always)]
                move |block, hash, ()| avx2.block_contains(block, hash),
            ),
            Self::Sse2(_) | Self::Portable(_) => Portable.call(
                block,
                hash,
                (),
                #[inline(always)]
                |block, hash, ()| Portable.block_contains(block, hash),
            ),
        }
    }

    /// Looks up many keys, each in its block; without blocks the answer is no for all keys.
    ///
    /// [`block_contains`](Self::block_contains) describes the lookup of a key.
    pub(crate) fn blocks_contain(self, blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
        dispatch!(self, operations => operations.blocks_contain(blocks, hashes, answers));
    }

    /// Looks up a key in a filter that compares columns.
    ///
    /// The code of the target's baseline is inlined into the caller. AVX2 uses that code too: a call
    /// costs more than its wider vectors save for one key. AVX-512 is called out of line.
    #[inline(always)]
    pub(crate) fn look_up(self, filter: &impl ColumnLookup, body: &[u8], hash: KeyHash) -> bool {
        match (self, Self::baseline()) {
            (Self::Avx512(avx512), _) => avx512.call(
                filter,
                body,
                hash,
                #[inline(always)]
                move |filter, body, hash| look_up(filter, body, hash, avx512),
            ),
            // A test on a target with SSE2 asked for the portable code.
            (Self::Portable(portable), Self::Sse2(_)) => portable.call(
                filter,
                body,
                hash,
                #[inline(always)]
                move |filter, body, hash| look_up(filter, body, hash, portable),
            ),
            (_, Self::Sse2(sse2)) => look_up(filter, body, hash, sse2),
            _ => look_up(filter, body, hash, Portable),
        }
    }

    /// Looks up many keys in a filter that compares columns.
    pub(crate) fn look_up_all(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        dispatch!(self, operations => operations.call(
            body,
            hashes,
            answers,
            #[inline(always)]
            move |body, hashes, answers| look_up_all(filter, body, hashes, answers, operations),
        ));
    }

    /// Computes slots by back substitution, from the last row to the first.
    ///
    /// Each element of `columns` has the slots of [`LANES`] columns. A slot that no
    /// equation determines becomes zero.
    pub(crate) fn substitute(
        self,
        columns: &mut [Slots],
        coefficients: &[u64],
        fingerprints: &[u32],
    ) {
        for (slots, first_column) in columns.iter_mut().zip((0..).step_by(LANES)) {
            dispatch!(self, operations => {
                operations.substitute(slots, coefficients, fingerprints, first_column);
            });
        }
    }
}
