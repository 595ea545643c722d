//! The instruction sets that filters have code for, and the choice of one.
//!
//! A filter chooses the best set of the processor when it is made ([`InstructionSet::detect`]); a
//! lookup then takes one predictable branch.

use super::block::Block;
use super::cells::{CellLanes, CellTarget};
use super::columns::{ColumnLookup, LANES, look_up};
use super::line::{Line, Probes};
use super::operations::Operations;
use super::portable::Portable;
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
    /// Returns the best set that every processor of this target has.
    pub(crate) fn baseline() -> Self {
        Sse2::detect().map_or(Self::Portable(Portable), Self::Sse2)
    }

    /// Returns the best set of this processor.
    pub(crate) fn detect() -> Self {
        Self::available().last().expect("every processor runs portable code")
    }

    /// Iterates over the sets of this processor, the best last.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        let sets = [
            Some(Self::Portable(Portable)),
            Sse2::detect().map(Self::Sse2),
            Avx2::detect().map(Self::Avx2),
            Avx512::detect().map(Self::Avx512),
        ];
        sets.into_iter().flatten()
    }

    /// Returns whether no field of a key is zero in a line of fields of `FIELD_BITS` bits, 1 or 4.
    ///
    /// SSE2 has no code of this operation. Three calls take two branches, four take a jump table.
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

    /// Answers for many keys as [`line_contains`](Self::line_contains); without lines, with no.
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

    /// Returns whether a split block has all eight bits of a key; dispatches as
    /// [`line_contains`](Self::line_contains).
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

    /// Answers for many keys as [`block_contains`](Self::block_contains); without blocks, with no.
    pub(crate) fn blocks_contain(self, blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
        dispatch!(self, operations => operations.blocks_contain(blocks, hashes, answers));
    }

    /// Returns whether any of the buckets has a cell in use with its target's remainder.
    ///
    /// Calls `portable` where no vector code is faster.
    #[inline]
    pub(crate) fn cells_contain(
        self,
        table: &[u8],
        targets: &[CellTarget],
        lanes: &CellLanes,
        portable: impl FnOnce() -> bool,
    ) -> bool {
        match self {
            Self::Avx512(avx512) => avx512.call(
                table,
                targets,
                lanes,
                #[inline(always)]
                move |table, targets, lanes| avx512.cells_contain(table, targets, lanes, portable),
            ),
            Self::Portable(_) | Self::Sse2(_) | Self::Avx2(_) => portable(),
        }
    }

    /// Looks up a key in a filter of columns.
    ///
    /// The code of the target's baseline is inlined into the caller, and that of another set is
    /// called.
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

    /// Looks up many keys in a filter of columns.
    pub(crate) fn look_up_all(
        self,
        filter: &impl ColumnLookup,
        body: &[u8],
        hashes: &[KeyHash],
        answers: &mut [bool],
    ) {
        dispatch!(self, operations => operations.look_up_all(filter, body, hashes, answers));
    }

    /// Substitutes back through rows, the last first, for groups of [`LANES`] columns.
    ///
    /// A slot without a row, which may have any value, has neither coefficients nor a fingerprint,
    /// and becomes zero.
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
