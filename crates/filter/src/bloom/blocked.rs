//! The blocked Bloom filter: all bits of a key lie in one cache line, so a lookup waits for memory
//! once.
//!
//! ```text
//! hash ──upper bits──▶ line of 512 bits     hash × odd constant ──▶ k bits in that line
//!
//! lines   [················][··1···1·1··1····][················]
//!                                 ▲ one load
//! ```
//!
//! The price is about 4 % more bits at 1 %, since some lines get more keys than others
//! ([`theory::blocked_bloom_error_rate`](crate::theory::blocked_bloom_error_rate)). Any number of lines and any number of probes will do,
//! so the size follows the error rate without steps.
//!
//! Body of the stored form: the lines, 64 bytes each; bit b of a line is byte b / 8, mask
//! 1 << (b % 8). Header parameter 0 is the number of probes.
//!
//! Putze, Sanders, Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007; the layout of
//! a line follows `FastLocalBloom` of `RocksDB`.

use alloc::vec::Vec;

use crate::format::{self, Header};
use crate::kernel::{self, LINE_PROBES_MAX, Line, Vector};
use crate::kind::allocate;
use crate::{
    BuildError, FilterKind, FilterStats, FormatError, Full, HEADER_LEN, Insert, KeyHash,
    Membership, Seed, Sizing, theory,
};

/// Bits of a line.
const LINE_BITS: u32 = 512;
/// Bytes of a line.
const LINE_LEN: u64 = 64;

/// How many lines, and how many bits each key sets in one.
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
            Sizing::ErrorRate(rate) => return Self::for_error_rate(rate.get(), keys),
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
        let (probes, _) = theory::blocked_bloom_best(keys, lines, LINE_PROBES_MAX);
        Ok(Self { lines, probes })
    }

    /// Finds the fewest lines that err no more often than `rate`.
    fn for_error_rate(rate: f64, keys: u64) -> Result<Self, BuildError> {
        let best = |lines| theory::blocked_bloom_best(keys, lines, LINE_PROBES_MAX);
        // A line a key is as much as anyone could want; what errs too often then, errs because of
        // the length of the hash.
        if best(keys).1 > rate {
            return Err(BuildError::ErrorRate(rate));
        }
        let (mut too_few, mut enough) = (0, keys); // The rate falls with every line.
        while enough - too_few > 1 {
            let middle = too_few.midpoint(enough);
            if best(middle).1 <= rate { enough = middle } else { too_few = middle }
        }
        Ok(Self { lines: enough, probes: best(enough).0 })
    }
}

/// A blocked Bloom filter in memory, to which keys can be added.
///
/// ```
/// use filter::bloom::Blocked;
/// use filter::{ErrorRate, Insert, KeyHash, Membership, Seed, Sizing, StoredFilter};
///
/// let seed = Seed::new(42);
/// let mut seen = Blocked::new(Sizing::ErrorRate(ErrorRate::new(0.001)?), 1_000)?;
/// for page in 0..1_000 {
///     seen.insert(KeyHash::new(seed, format!("/page/{page}").as_bytes()))?;
/// }
/// assert!(seen.may_contain(KeyHash::new(seed, b"/page/7")));
/// assert!(!seen.may_contain(KeyHash::new(seed, b"/elsewhere")));
///
/// let stored = StoredFilter::parse(seen.to_stored(seed))?; // To a file and back.
/// assert!(stored.may_contain(KeyHash::new(seed, b"/page/7")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Blocked {
    lines: Vec<AlignedLine>,
    probes: u32,
    keys: u64,
    vector: Vector,
}

/// A line where the processor has its lines, so that a lookup touches one of them and not two.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct AlignedLine(Line);

impl Blocked {
    /// Makes an empty filter, sized for so many keys. It takes more, and then errs more often.
    ///
    /// A filter sized for no keys has no bits: it takes none, and denies all.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made.
    pub fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        let shape = Shape::new(sizing, keys)?;
        let lines = allocate(shape.lines, AlignedLine([0; 64]))?;
        Ok(Self { lines, probes: shape.probes, keys: 0, vector: Vector::detect() })
    }

    /// What a filter will cost and how often it will err once it holds so many keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        let shape = Shape::new(sizing, keys)?;
        Ok(stats(keys, shape.lines, shape.probes))
    }

    /// Returns how many bits each key sets.
    pub const fn probe_count(&self) -> u32 {
        self.probes
    }

    /// Returns the stored form, to be read back by [`StoredFilter`](crate::StoredFilter).
    pub fn to_stored(&self, seed: Seed) -> Vec<u8> {
        let header = Header {
            kind: FilterKind::BlockedBloom,
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

impl Membership for Blocked {
    fn may_contain(&self, hash: KeyHash) -> bool {
        let line = self.lines.get(self.line_index(hash));
        line.is_some_and(|line| self.vector.line_contains(&line.0, hash.get(), self.probes))
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

impl Insert for Blocked {
    /// Adds a key. Only a filter that was sized for no keys is ever full.
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        let index = self.line_index(hash);
        let line = self.lines.get_mut(index).ok_or(Full)?;
        kernel::line_insert(&mut line.0, hash.get(), self.probes);
        self.keys = self.keys.saturating_add(1);
        Ok(())
    }
}

fn stats(keys: u64, lines: u64, probes: u32) -> FilterStats {
    FilterStats {
        keys,
        bytes: lines.saturating_mul(LINE_LEN),
        error_rate: theory::blocked_bloom_error_rate(keys, lines, probes),
    }
}

/// A blocked Bloom filter in bytes that are not ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockedView {
    probes: u32,
    vector: Vector,
}

impl BlockedView {
    /// Checks what the header says against the length of the body.
    pub(crate) fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let probes = match header.parameters {
            [probes, 0, 0] if (1..=LINE_PROBES_MAX.into()).contains(&probes) => probes as u32,
            _ => return Err(FormatError::Parameters("a line takes 1 to 32 bits of a key")),
        };
        if !body.len().is_multiple_of(size_of::<Line>()) {
            return Err(FormatError::Parameters("the body is not made of whole lines"));
        }
        if body.is_empty() != (header.keys == 0) {
            return Err(FormatError::Parameters("there are lines if and only if there are keys"));
        }
        Ok(Self { probes, vector: Vector::detect() })
    }

    #[inline]
    fn line(body: &[u8], hash: KeyHash) -> Option<&Line> {
        let (lines, _) = body.as_chunks();
        // A slot is below the count of lines, which is a `usize`.
        lines.get(hash.slot(lines.len() as u64) as usize)
    }

    #[inline]
    pub(crate) fn may_contain(self, body: &[u8], hash: KeyHash) -> bool {
        let line = Self::line(body, hash);
        line.is_some_and(|line| self.vector.line_contains(line, hash.get(), self.probes))
    }

    pub(crate) fn may_contain_batch(self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        self.vector.lines_contain(body.as_chunks().0, hashes, self.probes, answers);
    }

    #[inline]
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
mod tests {
    use super::*;
    use crate::{ErrorRate, StoredFilter};

    /// Hashes of the numbers from nought; streams with different numbers share none.
    fn keys(stream: u64, count: u64) -> impl Iterator<Item = KeyHash> {
        let seed = Seed::new(stream);
        (0..count).map(move |key| KeyHash::new(seed, &key.to_le_bytes()))
    }

    fn filled(sizing: Sizing, count: u64) -> Blocked {
        let mut filter = Blocked::new(sizing, count).expect("possible");
        for key in keys(1, count) {
            filter.insert(key).expect("never full");
        }
        filter
    }

    #[test]
    fn ten_bits_a_key_err_less_than_ninety_seven_times_in_ten_thousand() {
        let filter = filled(Sizing::BitsPerKey(10.0), 1_000_000);
        let stats = filter.stats();
        assert!(stats.bits_per_key() <= 10.0);
        assert!(stats.error_rate <= 0.0097, "{}", stats.error_rate);

        let probes = 4_000_000_u32;
        let strangers = keys(2, probes.into());
        let passed = strangers.filter(|stranger| filter.may_contain(*stranger)).count() as f64;
        let expected = stats.error_rate * f64::from(probes);
        eprintln!(
            "{} % promised, {} % measured",
            stats.error_rate * 100.0,
            passed / f64::from(probes) * 100.0
        );
        assert!((passed - expected).abs() < 3.0 * expected.sqrt(), "{passed}, not {expected}");
    }

    #[test]
    fn an_error_rate_is_kept_with_no_line_to_spare() {
        for (rate, count) in [(0.3, 5_000), (0.01, 1), (0.01, 100_000), (1e-4, 3_000), (1e-9, 70)] {
            let rate = ErrorRate::new(rate).expect("a rate");
            let shape = Shape::new(Sizing::ErrorRate(rate), count).expect("possible");
            let best = |lines| theory::blocked_bloom_best(count, lines, LINE_PROBES_MAX).1;
            assert!(best(shape.lines) <= rate.get());
            assert!(shape.lines == 1 || best(shape.lines - 1) > rate.get());
        }
    }

    #[test]
    fn fractions_of_a_bit_count() {
        let bits = |wanted| filled(Sizing::BitsPerKey(wanted), 100_000).stats().bits_per_key();
        for wanted in [7.25, 9.9, 10.0, 10.9] {
            assert!((wanted - 0.01..=wanted).contains(&bits(wanted)), "{wanted}");
        }
    }

    #[test]
    fn a_budget_is_kept_to_the_byte() {
        for budget in [128, 1_000, 4_096] {
            let stored = filled(Sizing::Bytes(budget), 300).to_stored(Seed::new(1));
            assert!((budget - 63..=budget).contains(&(stored.len() as u64)));
        }
        let error = Blocked::new(Sizing::Bytes(127), 1).expect_err("no room for a line");
        assert_eq!(error, BuildError::Budget { needed: 128, budget: 127 });
    }

    #[test]
    fn a_filter_for_no_keys_takes_no_bits_and_no_keys() {
        let mut filter = filled(Sizing::BitsPerKey(10.0), 0);
        assert!(keys(1, 1_000).all(|key| !filter.may_contain(key)));
        assert_eq!(filter.insert(KeyHash::from_u64(1)), Err(Full));

        let stored = StoredFilter::parse(filter.to_stored(Seed::new(1))).expect("sound");
        assert_eq!(stored.as_bytes().len(), HEADER_LEN);
        assert!(keys(1, 1_000).all(|key| !stored.may_contain(key)));
    }

    #[test]
    fn what_cannot_be_made_is_an_error() {
        for bits in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                Blocked::new(Sizing::BitsPerKey(bits), 1),
                Err(BuildError::BitsPerKey(_))
            ));
        }
        assert!(matches!(Blocked::new(Sizing::BitsPerKey(1e18), 1 << 40), Err(BuildError::Memory)));
        let rate = ErrorRate::new(1e-30).expect("a rate");
        assert!(matches!(
            Blocked::new(Sizing::ErrorRate(rate), 1_000),
            Err(BuildError::ErrorRate(_))
        ));
    }
}
