//! Filters in which each key uses one cache line: sizing and lookup.
//!
//! A line consists of fields: bits in a blocked Bloom filter, counters in a counting one.
//!
//! ```text
//! hash ──upper bits──▶ line of 512 bits     hash × odd constant ──▶ k fields of that line
//!
//! lines   [················][··1···1·1··1····][················]
//!                                 ▲ one load
//! ```
//!
//! A line has 512 fields of 1 bit, or 128 of 4 bits. The body of the stored form consists of the
//! lines, 64 bytes each. Bit b of a line is in byte b / 8, with mask 1 << (b % 8). A counter starts
//! at its lowest bit. Header parameter 0 is k, the number of fields per key (probes).

use core::fmt::Debug;

use crate::error::{BuildError, FormatError};
use crate::hash::KeyHash;
use crate::header::Header;
use crate::kernel::{self, InstructionSet, LINE_PROBES_MAX, Line, Probes};
use crate::membership::FilterStats;
use crate::sizing::{Demand, Sizing};
use crate::stored_view::StoredView;

/// Bytes of a line.
pub(crate) const LINE_LEN: u64 = size_of::<Line>() as u64;

/// The number of lines, and the number of fields (probes) that a key has in its line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Shape {
    pub(crate) lines: u64,
    pub(crate) probes: u32,
}

impl Shape {
    /// Returns the smallest shape for an error rate, or the shape of lowest error rate for a size.
    ///
    /// A filter without keys has no lines. `smallest` returns the smallest shape that reaches an
    /// error rate. `best_probes` returns the number of probes with the lowest error rate for a
    /// number of lines.
    pub(crate) fn new(
        sizing: Sizing,
        keys: u64,
        smallest: impl FnOnce(f64) -> Option<Self>,
        best_probes: impl FnOnce(u64) -> u32,
    ) -> Result<Self, BuildError> {
        if keys == 0 {
            return Ok(Self { lines: 0, probes: 1 });
        }
        match sizing.demand(keys, LINE_LEN)? {
            Demand::ErrorRate(rate) => smallest(rate).ok_or(BuildError::ErrorRate(rate)),
            Demand::Bytes(bytes) => {
                let lines = (bytes / LINE_LEN).max(1);
                Ok(Self { lines, probes: best_probes(lines) })
            }
        }
    }

    /// Returns the bytes of all lines.
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if the number of bytes exceeds 64 bits.
    pub(crate) fn len(self) -> Result<u64, BuildError> {
        self.lines.checked_mul(LINE_LEN).ok_or(BuildError::Memory)
    }
}

/// The code and the error rate of a kind of filter that consists of lines.
pub(crate) trait LineFilter: Copy + Debug {
    /// The code of the kind in the header.
    const KIND: u8;

    /// Returns the expected false-positive rate.
    fn error_rate(keys: u64, lines: u64, probes: u32) -> f64;

    /// Returns the stats of a filter of `bytes` bytes.
    fn stats_of(keys: u64, bytes: u64, probes: u32) -> FilterStats {
        FilterStats { keys, bytes, error_rate: Self::error_rate(keys, bytes / LINE_LEN, probes) }
    }
}

/// A view of a filter whose lines have fields of `FIELD_BITS` bits: 1 for bits, 4 for counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineView<const FIELD_BITS: u32> {
    probes: Probes,
    instructions: InstructionSet,
}

impl<const FIELD_BITS: u32> LineView<FIELD_BITS> {
    pub(crate) fn new(probes: u32) -> Self {
        Self { probes: Probes::new(probes), instructions: InstructionSet::detect() }
    }

    /// Checks the parameters in the header against the body.
    pub(crate) fn from_header(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let wrong_probes = FormatError::Parameters("a key must have 1 to 32 fields in a line");
        let [probes, 0, 0] = header.parameters else { return Err(wrong_probes) };
        let probes = u32::try_from(probes).map_err(|_| wrong_probes)?;
        if !(1..=LINE_PROBES_MAX).contains(&probes) {
            return Err(wrong_probes);
        }
        if !body.len().is_multiple_of(size_of::<Line>()) {
            return Err(FormatError::Parameters("the body is not a whole number of lines"));
        }
        if body.is_empty() && header.keys != 0 {
            return Err(FormatError::Parameters("there are keys but no lines"));
        }
        Ok(Self::new(probes))
    }

    /// Returns the number of fields of a key.
    pub(crate) const fn probe_count(self) -> u32 {
        self.probes.count()
    }

    /// Returns the number of fields of a key, in the form that the kernels take.
    pub(crate) const fn probes(self) -> Probes {
        self.probes
    }

    /// Returns the line of a key; `None` if there are no lines.
    fn line(body: &[u8], hash: KeyHash) -> Option<&Line> {
        let (lines, _) = body.as_chunks();
        lines.get(kernel::line_index(hash, lines.len()))
    }

    /// Returns the line of a key; `None` if there are no lines.
    pub(crate) fn line_mut(body: &mut [u8], hash: KeyHash) -> Option<&mut Line> {
        let (lines, _) = body.as_chunks_mut();
        let index = kernel::line_index(hash, lines.len());
        lines.get_mut(index)
    }

    /// Returns the values of a key's fields.
    pub(crate) fn field_values(self, body: &[u8], hash: KeyHash) -> impl Iterator<Item = u8> {
        Self::line(body, hash).into_iter().flat_map(move |line| {
            kernel::line_positions(FIELD_BITS, hash.get(), self.probes)
                .map(|bit| line[bit / 8] >> (bit % 8) & ((1 << FIELD_BITS) - 1))
        })
    }

    /// Returns whether all fields of a key are nonzero, as they are for every member.
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

    pub(crate) fn prefetch_line(body: &[u8], hash: KeyHash) {
        if let Some(line) = Self::line(body, hash) {
            kernel::prefetch_unit(line);
        }
    }
}

impl<const FIELD_BITS: u32> StoredView for LineView<FIELD_BITS>
where
    Self: LineFilter,
{
    const CODE: u8 = Self::KIND;

    fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        Self::from_header(header, body)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs a quarter of a cached lookup")]
    fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
        self.contains(body, hash)
    }

    #[inline]
    fn prefetch(&self, body: &[u8], hash: KeyHash) {
        Self::prefetch_line(body, hash);
    }

    fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        self.contains_batch(body, hashes, answers);
    }

    fn stats(&self, body: &[u8], keys: u64) -> FilterStats {
        Self::stats_of(keys, body.len() as u64, self.probe_count())
    }
}
