//! The inner loops of the filters: the bits of a key in a cache line or a block.
//!
//! Each exists in plain Rust, and where it pays once more in the processor's vector instructions,
//! which is the only `unsafe` code of the workspace. A filter asks for the best once, when it is made
//! ([`Vector::detect`]), so that a lookup does not.

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod avx512;
mod portable;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86;

use crate::KeyHash;
use crate::membership::PREFETCH_DISTANCE;

pub(crate) use portable::{Block, LINE_PROBES_MAX, Line, block_insert, line_insert};

/// The instructions that a filter's lookups use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Vector {
    /// Plain Rust.
    Portable,
    /// 256-bit vectors; made by [`Self::detect`] alone, on a processor that has them.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx2(x86::Avx2),
    /// 512-bit vectors; likewise.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Avx512(x86::Avx512),
}

impl Vector {
    /// Returns the best that this processor has.
    pub(crate) fn detect() -> Self {
        Self::all().last().unwrap_or(Self::Portable)
    }

    /// Goes over all that this processor has, the best last.
    fn all() -> impl Iterator<Item = Self> {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        let vectors = [
            Some(Self::Portable),
            x86::Avx2::detect().map(Self::Avx2),
            x86::Avx512::detect().map(Self::Avx512),
        ];
        #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
        let vectors = [Some(Self::Portable)];
        vectors.into_iter().flatten()
    }

    /// Returns whether a line has all bits of a key.
    #[inline]
    pub(crate) fn line_contains(self, line: &Line, hash: u64, probes: u32) -> bool {
        match self {
            Self::Portable => portable::line_contains(line, hash, probes),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.line_contains(line, hash, probes),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => avx512.line_contains(line, hash, probes),
        }
    }

    /// Says for each of many keys whether its line has all its bits; no lines, no bits.
    pub(crate) fn lines_contain(
        self,
        lines: &[Line],
        hashes: &[KeyHash],
        probes: u32,
        answers: &mut [bool],
    ) {
        match self {
            Self::Portable => in_batches(lines, hashes, answers, |line, hash| {
                portable::line_contains(line, hash, probes)
            }),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.lines_contain(lines, hashes, probes, answers),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => avx512.lines_contain(lines, hashes, probes, answers),
        }
    }

    /// Returns whether a split block has all eight bits of a key.
    #[inline]
    pub(crate) fn block_contains(self, block: &Block, hash: u64) -> bool {
        match self {
            Self::Portable => portable::block_contains(block, hash),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx2(avx2) => avx2.block_contains(block, hash),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Avx512(avx512) => avx512.block_contains(block, hash),
        }
    }
}

/// Finds each key's line and asks `contains` of it, with the lines of later keys on their way.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a vector kernel must be inlined into its own loop")]
fn in_batches(
    lines: &[Line],
    hashes: &[KeyHash],
    answers: &mut [bool],
    contains: impl Fn(&Line, u64) -> bool,
) {
    assert_eq!(hashes.len(), answers.len(), "one answer for each hash");
    // A slot is below the count of lines, which is a `usize`.
    let line_of = |hash: KeyHash| lines.get(hash.slot(lines.len() as u64) as usize);
    for (index, (hash, answer)) in hashes.iter().zip(answers).enumerate() {
        let later = hashes.get(index + PREFETCH_DISTANCE);
        if let Some(line) = later.and_then(|later| line_of(*later)) {
            prefetch(line);
        }
        *answer = line_of(*hash).is_some_and(|line| contains(line, hash.get()));
    }
}

/// Asks the processor to load some bytes, up to a line's worth, and does not wait for them.
#[inline]
pub(crate) fn prefetch<const N: usize>(bytes: &[u8; N]) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    x86::prefetch(bytes);
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    let _ = bytes; // No other target has a stable way to ask.
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// All vector code says of any line what the plain code says: of strangers, of members, and
        /// of members that lack one bit.
        #[test]
        fn lines_are_read_alike(
            fill in prop_oneof![Just(0_u8), Just(0xff), any::<u8>()],
            members in vec(any::<u64>(), 1..60),
            strangers in vec(any::<u64>(), 0..60),
            probes in 1..=LINE_PROBES_MAX,
            cleared in 0..512_usize,
        ) {
            let mut line = [fill; 64];
            for member in &members {
                line_insert(&mut line, *member, probes);
            }
            let full = line;
            line[cleared / 8] &= !(1 << (cleared % 8));
            let hashes: Vec<KeyHash> =
                members.iter().chain(&strangers).copied().map(KeyHash::from_u64).collect();
            let lines = [line, [0x55; 64], [0xff; 64]];
            let mut plain = vec![true; hashes.len()];
            Vector::Portable.lines_contain(&lines, &hashes, probes, &mut plain);
            for vector in Vector::all() {
                for member in &members {
                    prop_assert!(vector.line_contains(&full, *member, probes));
                }
                for hash in members.iter().chain(&strangers) {
                    prop_assert_eq!(
                        vector.line_contains(&line, *hash, probes),
                        portable::line_contains(&line, *hash, probes),
                        "{:?}", vector
                    );
                }
                let mut answers = vec![false; hashes.len()];
                vector.lines_contain(&lines, &hashes, probes, &mut answers);
                prop_assert_eq!(&answers, &plain, "{:?}", vector);
            }
        }

        #[test]
        fn blocks_are_read_alike(
            members in vec(any::<u64>(), 1..30),
            strangers in vec(any::<u64>(), 0..60),
            cleared in 0..256_usize,
        ) {
            let mut block = [0; 32];
            for member in &members {
                block_insert(&mut block, *member);
            }
            let full = block;
            block[cleared / 8] &= !(1 << (cleared % 8));
            for vector in Vector::all() {
                for member in &members {
                    prop_assert!(vector.block_contains(&full, *member));
                }
                for hash in members.iter().chain(&strangers) {
                    prop_assert_eq!(
                        vector.block_contains(&block, *hash),
                        portable::block_contains(&block, *hash),
                        "{:?}", vector
                    );
                }
            }
        }
    }
}
