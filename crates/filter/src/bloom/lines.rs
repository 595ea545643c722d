//! Filters in which all fields of a key, bits or counters, are in one cache line: how large they are, and
//! lookups in them.
//!
//! ```text
//! hash ──upper bits──▶ line of 512 bits     hash × odd constant ──▶ k fields of that line
//!
//! lines   [················][··1···1·1··1····][················]
//!                                 ▲ one load
//! ```
//!
//! A line has 512 fields of 1 bit, or 128 of 4. Stored, the lines follow each other, 64 bytes each;
//! bit b of a line is byte b / 8, mask 1 << (b % 8), and a field has its lowest bit first. Header
//! parameter 0 is the number of fields a key, its probes.

use crate::error::{BuildError, FormatError};
use crate::hash::KeyHash;
use crate::header::{HEADER_LEN, Header};
use crate::kernel::{self, InstructionSet, LINE_PROBES_MAX, Line, Probes};
use crate::sizing::Sizing;

/// Bytes of a line.
pub(crate) const LINE_LEN: u64 = size_of::<Line>() as u64;

/// How many lines, and how many fields each key has in one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Shape {
    pub(crate) lines: u64,
    pub(crate) probes: u32,
}

impl Shape {
    /// Finds the best shape for so many keys: `fewest` says what an error rate takes, `best` how many
    /// probes so many lines want. No keys take no lines.
    pub(crate) fn new(
        sizing: Sizing,
        keys: u64,
        fewest: impl FnOnce(f64) -> Option<Self>,
        best: impl FnOnce(u64) -> u32,
    ) -> Result<Self, BuildError> {
        let lines = match sizing {
            _ if keys == 0 => return Ok(Self { lines: 0, probes: 1 }),
            Sizing::ErrorRate(rate) => {
                return fewest(rate.get()).ok_or(BuildError::ErrorRate(rate.get()));
            }
            Sizing::BitsPerKey(bits) if bits > 0.0 && bits.is_finite() => {
                (bits * keys as f64 / (LINE_LEN * 8) as f64).max(1.0) as u64
            }
            Sizing::BitsPerKey(bits) => return Err(BuildError::BitsPerKey(bits)),
            Sizing::Bytes(budget) => {
                let needed = HEADER_LEN as u64 + LINE_LEN;
                if budget < needed {
                    return Err(BuildError::Budget { needed, budget });
                }
                (budget - HEADER_LEN as u64) / LINE_LEN
            }
        };
        Ok(Self { lines, probes: best(lines) })
    }

    /// Returns the bytes of all lines.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if they are more than 64 bits count.
    pub(crate) fn len(self) -> Result<u64, BuildError> {
        self.lines.checked_mul(LINE_LEN).ok_or(BuildError::Memory)
    }
}

/// A view of lines of fields of `FIELD_BITS` bits, wherever their bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineView<const FIELD_BITS: u32> {
    probes: Probes,
    instructions: InstructionSet,
}

impl<const FIELD_BITS: u32> LineView<FIELD_BITS> {
    pub(crate) fn new(probes: u32) -> Self {
        Self { probes: Probes::new(probes), instructions: InstructionSet::detect() }
    }

    /// Checks what the header says against the length of the body.
    pub(crate) fn from_header(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let wrong = FormatError::Parameters("a key has 1 to 32 places in a line");
        let [probes, 0, 0] = header.parameters else { return Err(wrong) };
        let probes = u32::try_from(probes).map_err(|_| wrong)?;
        if !(1..=LINE_PROBES_MAX).contains(&probes) {
            return Err(wrong);
        }
        if !body.len().is_multiple_of(size_of::<Line>()) {
            return Err(FormatError::Parameters("the body is not made of whole lines"));
        }
        if body.is_empty() && header.keys != 0 {
            return Err(FormatError::Parameters("there are keys, and no lines"));
        }
        Ok(Self::new(probes))
    }

    /// Returns how many fields a key has.
    pub(crate) const fn probe_count(self) -> u32 {
        self.probes.count()
    }

    /// Returns them as the kernels take them.
    pub(crate) const fn probes(self) -> Probes {
        self.probes
    }

    /// Finds the line of a key; none if there are no lines.
    #[inline]
    fn line(body: &[u8], hash: KeyHash) -> Option<&Line> {
        let (lines, _) = body.as_chunks();
        lines.get(kernel::line_index(hash, lines.len()))
    }

    #[inline]
    pub(crate) fn line_mut(body: &mut [u8], hash: KeyHash) -> Option<&mut Line> {
        let (lines, _) = body.as_chunks_mut();
        let index = kernel::line_index(hash, lines.len());
        lines.get_mut(index)
    }

    /// Returns which fields a key has, of those of all lines of a body of so many bytes.
    #[inline]
    pub(crate) fn field_positions(
        self,
        body_len: usize,
        hash: KeyHash,
    ) -> impl Iterator<Item = usize> {
        const LINE_BITS: usize = size_of::<Line>() * 8;
        let first = kernel::line_index(hash, body_len / size_of::<Line>()) * LINE_BITS;
        kernel::line_places(FIELD_BITS, hash.get(), self.probes)
            .map(move |bit| (first + bit) / FIELD_BITS as usize)
    }

    /// Returns how large each field of a key is.
    pub(crate) fn fields(self, body: &[u8], hash: KeyHash) -> impl Iterator<Item = u8> {
        Self::line(body, hash).into_iter().flat_map(move |line| {
            kernel::line_places(FIELD_BITS, hash.get(), self.probes)
                .map(|bit| line[bit / 8] >> (bit % 8) & ((1 << FIELD_BITS) - 1))
        })
    }

    /// Returns whether no field of a key is zero.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs a quarter of a cached lookup")]
    pub(crate) fn contains(self, body: &[u8], hash: KeyHash) -> bool {
        Self::line(body, hash).is_some_and(|line| {
            self.instructions.line_contains::<FIELD_BITS>(line, hash.get(), self.probes)
        })
    }

    pub(crate) fn contains_batch(self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        let (lines, _) = body.as_chunks();
        self.instructions.lines_contain::<FIELD_BITS>(lines, hashes, self.probes, answers);
    }

    #[inline]
    pub(crate) fn prefetch_line(body: &[u8], hash: KeyHash) {
        if let Some(line) = Self::line(body, hash) {
            kernel::prefetch(line);
        }
    }
}
