//! The vector instructions of this processor, and the lookups that use them.
//!
//! Each lookup exists in plain Rust, and where it pays again in vector instructions. A filter asks for
//! the best set once, when it is made ([`Vector::detect`]), so that a lookup does not.

use super::batch::in_batches;
use super::cells::{CellLanes, CellTarget};
use super::portable::{self, Block, Line, Probes, block_index, line_index};
#[cfg(all(target_arch = "x86_64", feature = "std"))]
use super::x86;
use crate::hash::KeyHash;

/// The instructions that a filter's lookups use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Vector {
    /// Plain Rust.
    Portable,
    /// 128-bit vectors, which every such processor has; plain Rust where those would gain nothing.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Sse2,
    /// 256-bit vectors; made by [`Self::detect`] alone, on a processor that has them.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2(x86::Avx2),
    /// 512-bit vectors; likewise.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512(x86::Avx512),
}

impl Vector {
    /// Returns what every processor of this target has.
    pub(crate) const fn baseline() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        let baseline = Self::Sse2;
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let baseline = Self::Portable;
        baseline
    }

    /// Returns the best that this processor has.
    pub(crate) fn detect() -> Self {
        Self::all().last().expect("plain Rust is always there")
    }

    /// Iterates over all that this processor has, the best last.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        let vectors = [
            Some(Self::Portable),
            Some(Self::baseline()),
            x86::Avx2::detect().map(Self::Avx2),
            x86::Avx512::detect().map(Self::Avx512),
        ];
        #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
        let vectors = [Some(Self::Portable), Some(Self::baseline())];
        vectors.into_iter().flatten()
    }

    /// Returns whether no field of a key is zero in a line of fields of so many bits, 1 or 4.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(crate) fn line_contains<const FIELD_BITS: u32>(
        self,
        line: &Line,
        hash: u64,
        probes: Probes,
    ) -> bool {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if let Self::Avx512(avx512) = self
            && probes.count_is_small()
        {
            return avx512.line_contains::<FIELD_BITS>(line, hash, probes);
        }
        self.line_contains_out_of_line::<FIELD_BITS>(line, hash, probes)
    }

    /// As [`line_contains`](Self::line_contains), for what cannot stand where it is asked; one call, so
    /// that it does not disturb what can.
    #[inline(never)]
    fn line_contains_out_of_line<const FIELD_BITS: u32>(
        self,
        line: &Line,
        hash: u64,
        probes: Probes,
    ) -> bool {
        match self {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.line_contains::<FIELD_BITS>(line, hash, probes),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => {
                avx512.line_contains_out_of_line::<FIELD_BITS>(line, hash, probes)
            }
            _ => portable::line_contains::<FIELD_BITS>(line, hash, probes),
        }
    }

    /// Says for each of many keys whether none of its fields is zero; no lines, no fields.
    pub(crate) fn lines_contain<const FIELD_BITS: u32>(
        self,
        lines: &[Line],
        hashes: &[KeyHash],
        probes: Probes,
        answers: &mut [bool],
    ) {
        match self {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.lines_contain::<FIELD_BITS>(lines, hashes, probes, answers),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => {
                avx512.lines_contain::<FIELD_BITS>(lines, hashes, probes, answers);
            }
            _ => in_batches(lines, hashes, answers, line_index, |line, hash| {
                portable::line_contains::<FIELD_BITS>(line, hash, probes)
            }),
        }
    }

    /// Returns whether any of the buckets has a cell in use with the remainder looked for there; or
    /// nothing, where plain Rust is the fastest there is.
    #[inline]
    pub(crate) fn cells_contain(
        self,
        table: &[u8],
        targets: &[CellTarget],
        lanes: &CellLanes,
    ) -> Option<bool> {
        match self {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => Some(avx512.cells_contain(table, targets, lanes)),
            _ => {
                let _ = (table, targets, lanes);
                None
            }
        }
    }

    /// Returns whether a split block has all eight bits of a key.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    pub(crate) fn block_contains(self, block: &Block, hash: u64) -> bool {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if let Self::Avx512(avx512) = self {
            return avx512.block_contains(block, hash);
        }
        self.block_contains_out_of_line(block, hash)
    }

    /// As [`block_contains`](Self::block_contains), for what cannot stand where it is asked.
    #[inline(never)]
    fn block_contains_out_of_line(self, block: &Block, hash: u64) -> bool {
        match self {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.block_contains(block, hash),
            _ => portable::block_contains(block, hash),
        }
    }

    /// Says for each of many keys whether its block has all its bits; no blocks, no bits.
    pub(crate) fn blocks_contain(self, blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
        match self {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.blocks_contain(blocks, hashes, answers),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => avx512.blocks_contain(blocks, hashes, answers),
            _ => in_batches(blocks, hashes, answers, block_index, portable::block_contains),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::portable::{
        LINE_PROBES_MAX, block_insert, counters_lower, counters_raise, line_insert, line_places,
    };
    use super::*;

    /// All vector code says of any line what the plain code says; `line` is `full`, which holds the
    /// members, with something missing.
    fn lines_agree<const FIELD_BITS: u32>(
        (full, line): (&Line, &Line),
        (members, hashes): (&[KeyHash], &[KeyHash]),
        probes: Probes,
    ) -> Result<(), TestCaseError> {
        let lines = [*line, [0x55; 64], [0xff; 64]];
        let mut plain = vec![true; hashes.len()];
        Vector::Portable.lines_contain::<FIELD_BITS>(&lines, hashes, probes, &mut plain);
        for vector in Vector::all() {
            for member in members {
                prop_assert!(vector.line_contains::<FIELD_BITS>(full, member.get(), probes));
            }
            for hash in hashes {
                prop_assert_eq!(
                    vector.line_contains::<FIELD_BITS>(line, hash.get(), probes),
                    portable::line_contains::<FIELD_BITS>(line, hash.get(), probes),
                    "{:?}",
                    vector
                );
            }
            let mut answers = vec![false; hashes.len()];
            vector.lines_contain::<FIELD_BITS>(&lines, hashes, probes, &mut answers);
            prop_assert_eq!(&answers, &plain, "{:?}", vector);
        }
        Ok(())
    }

    fn hashes() -> impl Strategy<Value = Vec<KeyHash>> {
        vec(any::<u64>().prop_map(KeyHash::from_u64), 1..60)
    }

    proptest! {
        /// Of absent keys, of members, and of members that lack one bit.
        #[test]
        fn lines_are_read_alike(
            fill in prop_oneof![Just(0_u8), Just(0xff), any::<u8>()],
            members in hashes(),
            strangers in hashes(),
            probes in (1..=LINE_PROBES_MAX).prop_map(Probes::new),
            cleared in 0..512_usize,
        ) {
            let mut full = [fill; 64];
            for member in &members {
                line_insert(&mut full, member.get(), probes);
            }
            let mut line = full;
            line[cleared / 8] &= !(1 << (cleared % 8));
            let all = [members.as_slice(), &strangers].concat();
            lines_agree::<1>((&full, &line), (&members, &all), probes)?;
        }

        /// Of absent keys, of members, and of members one of whose counters is zero.
        #[test]
        fn counters_are_read_alike(
            fill in prop_oneof![Just(0_u8), Just(0xff), any::<u8>()],
            members in hashes(),
            strangers in hashes(),
            probes in (1..=LINE_PROBES_MAX).prop_map(Probes::new),
            cleared in 0..128_usize,
        ) {
            let mut full = [fill; 64];
            for member in &members {
                counters_raise(&mut full, member.get(), probes);
            }
            let mut line = full;
            line[cleared / 2] &= 0xf0 >> (cleared % 2 * 4);
            let all = [members.as_slice(), &strangers].concat();
            lines_agree::<4>((&full, &line), (&members, &all), probes)?;
        }

        /// One addition to the line is what counting one counter after the other would be.
        #[test]
        fn counters_are_raised_and_lowered_one_by_one(
            bytes in vec(any::<u8>(), 64),
            hash in any::<u64>(),
            probes in (1..=LINE_PROBES_MAX).prop_map(Probes::new),
        ) {
            let before: Line = bytes.try_into().expect("64 bytes");
            let mut expected = before;
            let mut places: Vec<usize> = line_places(4, hash, probes).collect();
            places.sort_unstable();
            places.dedup();
            for bit in places {
                let byte = &mut expected[bit / 8];
                *byte += u8::from(*byte >> (bit % 8) & 15 != 15) << (bit % 8);
            }
            let mut line = before;
            counters_raise(&mut line, hash, probes);
            prop_assert_eq!(line, expected);

            // Back again, but for what has saturated.
            counters_lower(&mut line, hash, probes);
            for (at, (after, before)) in line.iter().zip(before).enumerate() {
                for shift in [0, 4] {
                    let (raised, before) = (expected[at] >> shift & 15, before >> shift & 15);
                    let is_back = after >> shift & 15 == before;
                    prop_assert!(is_back || raised == 15 && after >> shift & 15 == 15);
                }
            }
        }

        #[test]
        fn blocks_are_read_alike(
            members in hashes(),
            strangers in hashes(),
            cleared in 0..256_usize,
        ) {
            let mut full = [0; 32];
            for member in &members {
                block_insert(&mut full, member.get());
            }
            let mut block = full;
            block[cleared / 8] &= !(1 << (cleared % 8));
            let all = [members.as_slice(), &strangers].concat();
            let blocks = [block, [0xff; 32], [0x55; 32], full];
            let mut plain = vec![true; all.len()];
            Vector::Portable.blocks_contain(&blocks, &all, &mut plain);
            for vector in Vector::all() {
                for member in &members {
                    prop_assert!(vector.block_contains(&full, member.get()));
                }
                for hash in &all {
                    prop_assert_eq!(
                        vector.block_contains(&block, hash.get()),
                        portable::block_contains(&block, hash.get()),
                        "{:?}", vector
                    );
                }
                let mut answers = vec![false; all.len()];
                vector.blocks_contain(&blocks, &all, &mut answers);
                prop_assert_eq!(&answers, &plain, "{:?}", vector);
            }
        }
    }
}
