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
//! The stored form and the lookup: `lines.rs`.
//!
//! Putze, Sanders, Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007; the layout of
//! a line follows `FastLocalBloom` of `RocksDB`.

use alloc::vec::Vec;

use super::lines::{LINE_LEN, LineView, Shape};
use crate::error::{BuildError, FormatError, Full};
use crate::hash::{KeyHash, Seed};
use crate::header::Header;
use crate::kernel::{self, LINE_PROBES_MAX};
use crate::membership::{FilterStats, Insert, Membership, insert_all};
use crate::memory::AlignedBytes;
use crate::sizing::Sizing;
use crate::slices::BitPositions;
use crate::stored_view::StoredView;
use crate::theory;

/// Finds the best shape for so many keys.
fn shape(sizing: Sizing, keys: u64) -> Result<Shape, BuildError> {
    let best = |lines| theory::blocked_bloom_best(keys, lines, LINE_PROBES_MAX);
    let fewest = |rate| {
        // A line a key is as much as anyone could want; what errs too often then, errs because of
        // the length of the hash.
        if best(keys).1 > rate {
            return None;
        }
        let (mut too_few, mut enough) = (0, keys); // The rate falls with every line.
        while enough - too_few > 1 {
            let middle = too_few.midpoint(enough);
            if best(middle).1 <= rate { enough = middle } else { too_few = middle }
        }
        Some(Shape { lines: enough, probes: best(enough).0 })
    };
    Shape::new(sizing, keys, fewest, |lines| best(lines).0)
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
    lines: AlignedBytes,
    view: BlockedView,
    keys: u64,
}

/// A view of a stored blocked Bloom filter.
pub(crate) type BlockedView = LineView<1>;

impl Blocked {
    /// Makes an empty filter, sized for so many keys. It takes more, and then errs more often.
    ///
    /// A filter sized for no keys has no bits: it takes none, and denies all.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter of that sizing can be made.
    pub fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        let shape = shape(sizing, keys)?;
        let lines = AlignedBytes::zeroed(shape.len()?)?;
        Ok(Self { lines, view: LineView::new(shape.probes), keys: 0 })
    }

    /// Builds a filter of these keys.
    pub(crate) fn from_keys(sizing: Sizing, keys: &[KeyHash]) -> Result<Self, BuildError> {
        let mut filter = Self::new(sizing, keys.len() as u64)?;
        insert_all(&mut filter, keys)?;
        Ok(filter)
    }

    /// Returns what a filter will cost and how often it will err once it holds so many keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        let shape = shape(sizing, keys)?;
        Ok(stats(keys, shape.len()?, shape.probes))
    }

    /// Returns how many bits each key sets.
    pub const fn probe_count(&self) -> u32 {
        self.view.probe_count()
    }

    /// Returns the stored form, to be read back by [`StoredFilter`](crate::StoredFilter).
    pub fn to_stored(&self, seed: Seed) -> Vec<u8> {
        let header = Header {
            kind: BlockedView::CODE,
            seed,
            keys: self.keys,
            parameters: [self.view.probe_count().into(), 0, 0],
        };
        header.write(&[&self.lines])
    }
}

impl Membership for Blocked {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call costs a quarter of a cached lookup")]
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.view.may_contain(&self.lines, hash)
    }

    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        self.view.prefetch(&self.lines, hash);
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        self.view.may_contain_batch(&self.lines, hashes, answers);
    }

    fn stats(&self) -> FilterStats {
        self.view.stats(&self.lines, self.keys)
    }
}

impl Insert for Blocked {
    /// Adds a key. Only a filter that was sized for no keys is ever full.
    #[inline]
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        let line = BlockedView::line_mut(&mut self.lines, hash).ok_or(Full)?;
        kernel::line_insert(line, hash.get(), self.view.probes());
        self.keys += 1;
        Ok(())
    }
}

impl StoredView for BlockedView {
    const CODE: u8 = 1;

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
        stats(keys, body.len() as u64, self.probe_count())
    }
}

impl BitPositions for BlockedView {
    #[inline]
    fn positions(self, body_len: usize, hash: KeyHash) -> impl Iterator<Item = usize> {
        self.field_positions(body_len, hash)
    }
}

fn stats(keys: u64, bytes: u64, probes: u32) -> FilterStats {
    let error_rate = theory::blocked_bloom_error_rate(keys, bytes / LINE_LEN, probes);
    FilterStats { keys, bytes, error_rate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorRate, HEADER_LEN, StoredFilter};

    /// Hashes of the numbers from zero; streams with different numbers share none.
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
            let shape = shape(Sizing::ErrorRate(rate), count).expect("possible");
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
