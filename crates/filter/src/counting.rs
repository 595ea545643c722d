//! The counting Bloom filter: counters in place of bits, so that keys can be taken out again.
//!
//! ```text
//! hash ──upper bits──▶ line of 128 counters     hash, mixed again ──▶ k different ones in that line
//!
//! lines   [· · · · · · · ·][· 2 · · 1 3 · · 1][· · · · · · · ·]       insert: +1   remove: −1
//!                             ▲     ▲ ▲     one load                 a member: none is 0
//! ```
//!
//! A counter has 4 bits. At 15 it *saturates*: from then on nobody knows how many keys it stands for,
//! so it is neither raised nor lowered again, and what it says, "maybe", stays right. That makes false
//! positives of keys that were removed, and never a false negative. In a filter of the best size it
//! hardly happens ([`theory::counting_bloom_overflow_bound`](crate::theory::counting_bloom_overflow_bound)):
//! only a key that is itself inserted 15 times brings it about.
//!
//! All counters of a key lie in one cache line, so that a lookup waits for memory once. That costs
//! 12 % at an error rate of 1 %: some lines get more keys than others. A key's counters are different ones, drawn
//! until there are k; then each counter is raised by a key or not, which makes the estimate of
//! [`CountingBloom::count_estimate`] and the
//! [error rate](crate::theory::counting_bloom_error_rate) exact, and costs fewer bits.
//!
//! Body of the stored form: the lines, 64 bytes each; counter c of a line is byte c / 2, the lower
//! four bits if c is even. Header parameter 0 is the number of counters a key.
//!
//! Fan, Cao, Almeida, Broder: "Summary Cache: A Scalable Wide-Area Web Cache Sharing Protocol", 2000.

use alloc::vec::Vec;

use crate::format::{self, Header};
use crate::kind::allocate;
use crate::{
    Absent, BuildError, FilterKind, FilterStats, FormatError, Full, HEADER_LEN, Insert, KeyHash,
    Membership, Remove, Seed, Sizing, StoredFilter, kernel, theory,
};

/// A cache line of 128 counters.
type Line = [u8; 64];

/// Bytes of a line.
const LINE_LEN: u64 = size_of::<Line>() as u64;
/// Bits of a line.
const LINE_BITS: u32 = 512;
/// The most counters that a key raises.
const PROBES_MAX: u32 = 32;
/// A counter that has come this far stays there.
const SATURATED: u8 = 15;

/// How many lines, and how many counters each key raises in one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Shape {
    lines: u64,
    probes: u32,
}

impl Shape {
    /// Finds the best shape for so many keys. No keys take no lines.
    fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        let lines = match sizing {
            _ if keys == 0 => return Ok(Self { lines: 0, probes: 1 }),
            Sizing::ErrorRate(rate) => {
                // Four lines a key are more than anyone could want.
                let lines_max = keys.saturating_mul(4);
                let rate = rate.get();
                return theory::counting_bloom_fewest_lines(keys, rate, lines_max, PROBES_MAX)
                    .map(|(lines, probes)| Self { lines, probes })
                    .ok_or(BuildError::ErrorRate(rate));
            }
            Sizing::BitsPerKey(bits) if bits > 0.0 && bits.is_finite() => {
                (bits * keys as f64 / f64::from(LINE_BITS)).max(1.0) as u64
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
        let (probes, _) = theory::counting_bloom_best(keys, lines, PROBES_MAX);
        Ok(Self { lines, probes })
    }
}

/// The counters of a key in its line: `count` different numbers below 128.
///
/// They are drawn, seven bits of a mixed hash each, until there are enough that differ. That ends:
/// the mixer is a permutation of all 64-bit numbers, applied to one after the other.
struct Counters {
    state: u64,
    drawn: u64,
    draws: u32,
    seen: u128,
    left: u32,
}

impl Counters {
    const fn new(hash: KeyHash, count: u32) -> Self {
        Self { state: hash.get(), drawn: 0, draws: 0, seen: 0, left: count }
    }
}

impl Iterator for Counters {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        loop {
            if self.draws == 0 {
                // SplitMix64 (Steele, Lea, Flood 2014). The upper bits of the hash have already
                // picked the line; here all its bits count again.
                self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                (self.drawn, self.draws) = (mixed ^ (mixed >> 31), 9);
            }
            let counter = (self.drawn & 127) as u32;
            self.drawn >>= 7;
            self.draws -= 1;
            let bit = 1 << counter;
            if self.seen & bit == 0 {
                self.seen |= bit;
                return Some(counter);
            }
        }
    }
}

/// Returns a counter of a line.
const fn counter(line: &Line, counter: u32) -> u8 {
    // A counter is below 128.
    (line[counter as usize / 2] >> (counter % 2 * 4)) & 15
}

/// Adds to a counter modulo 16; the caller has made sure that it neither overflows nor underflows.
const fn change(line: &mut Line, counter: u32, by: u8) {
    let byte = &mut line[counter as usize / 2];
    let shift = counter % 2 * 4;
    let value = (*byte >> shift).wrapping_add(by) & 15;
    *byte = *byte & !(15 << shift) | value << shift;
}

/// Returns whether no counter of a key is nought.
fn line_contains(line: &Line, hash: KeyHash, probes: u32) -> bool {
    Counters::new(hash, probes).all(|index| counter(line, index) != 0)
}

/// A Bloom filter in memory that keys can be added to and taken out of.
///
/// ```
/// use filter::{CountingBloom, ErrorRate, Insert, KeyHash, Membership, Remove, Seed, Sizing};
///
/// let seed = Seed::new(42);
/// let key = |name: &str| KeyHash::new(seed, name.as_bytes());
/// let mut online = CountingBloom::new(Sizing::ErrorRate(ErrorRate::HBASE), 1_000)?;
/// online.insert(key("alice"))?;
/// online.insert(key("bob"))?;
/// online.insert(key("bob"))?; // From a second device.
/// assert_eq!(online.count_estimate(key("bob")), 2);
///
/// online.remove(key("alice"))?;
/// online.remove(key("bob"))?;
/// assert!(!online.may_contain(key("alice")));
/// assert!(online.may_contain(key("bob")));
/// assert!(online.remove(key("carol")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountingBloom {
    lines: Vec<AlignedLine>,
    probes: u32,
    keys: u64,
}

/// A line where the processor has its lines, so that a lookup touches one of them and not two.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct AlignedLine(Line);

/// Two filters that differ in size or in the number of counters a key cannot be united.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("only filters of the same shape can be united")]
pub struct ShapesDiffer;

impl CountingBloom {
    /// Makes an empty filter, sized for so many keys. It takes more, and then errs more often.
    ///
    /// A filter sized for no keys has no counters: it takes none, and denies all.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made.
    pub fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        let shape = Shape::new(sizing, keys)?;
        let lines = allocate(shape.lines, AlignedLine([0; 64]))?;
        Ok(Self { lines, probes: shape.probes, keys: 0 })
    }

    /// Takes a stored filter back into memory, to be changed there.
    ///
    /// # Errors
    ///
    /// [`FormatError::Parameters`] if the filter is of another kind.
    pub fn from_stored<B: AsRef<[u8]>>(stored: &StoredFilter<B>) -> Result<Self, FormatError> {
        let (header, body) = stored.parts();
        if header.kind != FilterKind::CountingBloom {
            return Err(FormatError::Parameters("the filter is not a counting Bloom filter"));
        }
        let view = CountingView::parse(header, body)?;
        let (lines, _) = body.as_chunks();
        let lines = lines.iter().copied().map(AlignedLine).collect();
        Ok(Self { lines, probes: view.probes, keys: header.keys })
    }

    /// What a filter will cost and how often it will err once it holds so many keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        let shape = Shape::new(sizing, keys)?;
        Ok(stats(keys, shape.lines, shape.probes))
    }

    /// Returns how many counters each key raises.
    pub const fn probe_count(&self) -> u32 {
        self.probes
    }

    /// Returns how often the key was inserted, as far as can be told: the least of its counters.
    ///
    /// That is never too low, unless it is 15, which stands for 15 or more. It is too high for as few
    /// keys as the filter errs about.
    pub fn count_estimate(&self, hash: KeyHash) -> u8 {
        let Some(line) = self.lines.get(self.line_index(hash)) else { return 0 };
        let counters = Counters::new(hash, self.probes).map(|index| counter(&line.0, index));
        counters.min().unwrap_or(0)
    }

    /// Returns how many counters have reached 15 and stay there.
    ///
    /// They are worth watching where keys come and go: what saturates is not freed by removing keys,
    /// only by making the filter anew.
    pub fn saturated_count(&self) -> u64 {
        let saturated = |byte: &u8| u64::from(byte & 15 == 15) + u64::from(byte >> 4 == 15);
        self.lines.iter().flat_map(|line| &line.0).map(saturated).sum()
    }

    /// Adds all keys of another filter: afterwards this one is as if it had taken them itself.
    ///
    /// Both must have been made for the same sizing and number of keys, and filled with hashes of the
    /// same seed.
    ///
    /// # Errors
    ///
    /// [`ShapesDiffer`] if the filters differ in size or in counters a key; nothing has changed then.
    pub fn unite(&mut self, other: &Self) -> Result<(), ShapesDiffer> {
        if (self.lines.len(), self.probes) != (other.lines.len(), other.probes) {
            return Err(ShapesDiffer);
        }
        let bytes = self.lines.iter_mut().flat_map(|line| &mut line.0);
        for (byte, other) in bytes.zip(other.lines.iter().flat_map(|line| &line.0)) {
            let low = ((*byte & 15) + (other & 15)).min(SATURATED);
            let high = ((*byte >> 4) + (other >> 4)).min(SATURATED);
            *byte = low | high << 4;
        }
        self.keys = self.keys.saturating_add(other.keys);
        Ok(())
    }

    /// Returns the stored form, to be read back by [`StoredFilter`](crate::StoredFilter).
    pub fn to_stored(&self, seed: Seed) -> Vec<u8> {
        let header = Header {
            kind: FilterKind::CountingBloom,
            seed,
            keys: self.keys,
            parameters: [self.probes.into(), 0, 0],
        };
        let lines = self.lines.iter().map(|line| line.0.as_slice());
        format::write(&header, self.lines.len() * size_of::<Line>(), lines)
    }

    fn line_index(&self, hash: KeyHash) -> usize {
        // A slot is below the count of lines, which is a `usize`.
        hash.slot(self.lines.len() as u64) as usize
    }
}

impl Membership for CountingBloom {
    fn may_contain(&self, hash: KeyHash) -> bool {
        let line = self.lines.get(self.line_index(hash));
        line.is_some_and(|line| line_contains(&line.0, hash, self.probes))
    }

    fn prefetch(&self, hash: KeyHash) {
        if let Some(line) = self.lines.get(self.line_index(hash)) {
            kernel::prefetch(&line.0);
        }
    }

    fn stats(&self) -> FilterStats {
        stats(self.keys, self.lines.len() as u64, self.probes)
    }
}

impl Insert for CountingBloom {
    /// Adds a key. Only a filter that was sized for no keys is ever full.
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        let index = self.line_index(hash);
        let line = &mut self.lines.get_mut(index).ok_or(Full)?.0;
        for index in Counters::new(hash, self.probes) {
            if counter(line, index) != SATURATED {
                change(line, index, 1);
            }
        }
        self.keys = self.keys.saturating_add(1);
        Ok(())
    }
}

impl Remove for CountingBloom {
    /// Takes one copy of a key out. Counters that have saturated stay as they are.
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent> {
        let index = self.line_index(hash);
        let line = &mut self.lines.get_mut(index).ok_or(Absent)?.0;
        if !line_contains(line, hash, self.probes) {
            return Err(Absent);
        }
        for index in Counters::new(hash, self.probes) {
            if counter(line, index) != SATURATED {
                change(line, index, u8::MAX);
            }
        }
        self.keys = self.keys.saturating_sub(1);
        Ok(())
    }
}

fn stats(keys: u64, lines: u64, probes: u32) -> FilterStats {
    FilterStats {
        keys,
        bytes: lines.saturating_mul(LINE_LEN),
        error_rate: theory::counting_bloom_error_rate(keys, lines, probes),
    }
}

/// A counting Bloom filter in bytes that are not ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountingView {
    probes: u32,
}

impl CountingView {
    /// Checks what the header says against the length of the body.
    pub(crate) fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let probes = match header.parameters {
            [probes, 0, 0] if (1..=PROBES_MAX.into()).contains(&probes) => probes as u32,
            _ => return Err(FormatError::Parameters("a key has 1 to 32 counters")),
        };
        if !body.len().is_multiple_of(size_of::<Line>()) {
            return Err(FormatError::Parameters("the body is not made of whole lines"));
        }
        if body.is_empty() && header.keys != 0 {
            return Err(FormatError::Parameters("there are keys, and no counters"));
        }
        Ok(Self { probes })
    }

    fn line(body: &[u8], hash: KeyHash) -> Option<&Line> {
        let (lines, _) = body.as_chunks();
        // A slot is below the count of lines, which is a `usize`.
        lines.get(hash.slot(lines.len() as u64) as usize)
    }

    pub(crate) fn may_contain(self, body: &[u8], hash: KeyHash) -> bool {
        Self::line(body, hash).is_some_and(|line| line_contains(line, hash, self.probes))
    }

    pub(crate) fn prefetch(body: &[u8], hash: KeyHash) {
        if let Some(line) = Self::line(body, hash) {
            kernel::prefetch(line);
        }
    }

    pub(crate) fn stats(self, body: &[u8], keys: u64) -> FilterStats {
        stats(keys, body.len() as u64 / LINE_LEN, self.probes)
    }
}

#[cfg(test)]
mod tests;
