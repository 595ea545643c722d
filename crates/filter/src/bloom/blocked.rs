//! The blocked Bloom filter: all bits of a key are in one cache line, so a lookup has one cache
//! miss.
//!
//! ```text
//! hash ──upper bits──▶ line of 512 bits     hash × odd constant ──▶ k bits in that line
//!
//! lines   [················][··1···1·1··1····][················]
//!                                 ▲ one load
//! ```
//!
//! This takes about 4 % more bits at 1 %, because keys are unevenly distributed over the lines
//! ([`theory::blocked_bloom_error_rate`](crate::theory::blocked_bloom_error_rate)). The number of
//! lines need not be a power of two.
//!
//! The stored form and the lookup are in `lines.rs`.
//!
//! Putze, Sanders, Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007; the layout of
//! a line follows `FastLocalBloom` of `RocksDB`.

use alloc::vec::Vec;

use super::lines::{LineFilter, LineView, Shape};
use crate::bisect::least;
use crate::error::{BuildError, Full};
use crate::hash::{KeyHash, Seed};
use crate::header::Header;
use crate::kernel::{self, LINE_PROBES_MAX};
use crate::membership::{FilterStats, Insert};
use crate::memory::AlignedBytes;
use crate::methods::{filter_methods, from_hashes_by_inserts};
use crate::sizing::Sizing;
use crate::stored_view::{StoredView, membership_of_view};
use crate::theory;

/// Returns the best shape for a number of keys.
fn shape(sizing: Sizing, keys: u64) -> Result<Shape, BuildError> {
    let best = |lines| theory::blocked_bloom_best(keys, lines, LINE_PROBES_MAX);
    let smallest = |rate| {
        // With one line per key the length of the hash limits the error rate. More lines do not
        // help.
        if best(keys).error_rate > rate {
            return None;
        }
        let lines = least(0, keys, |lines| best(lines).error_rate <= rate); // The rate falls with every line.
        Some(Shape { lines, probes: best(lines).count })
    };
    Shape::new(sizing, keys, smallest, |lines| best(lines).count)
}

/// A blocked Bloom filter in memory, to which keys can be added.
///
/// ```
/// use filter::{Blocked, Sizing, StoredFilter};
///
/// let mut seen = Blocked::new(Sizing::error_rate(0.001)?, 1_000)?;
/// for page in 0..1_000 {
///     seen.insert(&format!("/page/{page}"))?;
/// }
/// assert!(seen.may_contain("/page/7"));
///
/// let stored = StoredFilter::parse(seen.to_stored())?; // To a file and back.
/// assert!(stored.may_contain("/page/7"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Blocked {
    body: AlignedBytes,
    view: BlockedView,
    keys: u64,
    seed: Seed,
}

/// A view of a stored blocked Bloom filter.
pub(crate) type BlockedView = LineView<1>;

impl Blocked {
    /// Creates an empty filter sized for `keys` keys, which it hashes with `seed`.
    ///
    /// It takes more keys than that, at a higher error rate. A filter sized for no keys has no
    /// bits: it takes no keys and denies all.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if there is no filter of that sizing.
    pub fn with_seed(sizing: Sizing, keys: u64, seed: Seed) -> Result<Self, BuildError> {
        let shape = shape(sizing, keys)?;
        let body = AlignedBytes::zeroed(shape.len()?)?;
        Ok(Self { body, view: LineView::new(shape.probes), keys: 0, seed })
    }

    /// Returns the expected size and error rate of a filter of `keys` keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        let shape = shape(sizing, keys)?;
        Ok(BlockedView::stats_of(keys, shape.len()?, shape.probes))
    }

    /// Returns the stored form, for [`StoredFilter`](crate::StoredFilter).
    pub fn to_stored(&self) -> Vec<u8> {
        let header = Header {
            kind: BlockedView::CODE,
            seed: self.seed,
            keys: self.keys,
            parameters: [self.view.probe_count().into(), 0, 0],
        };
        header.write(&[&self.body])
    }
}

from_hashes_by_inserts!(Blocked);
filter_methods!(Blocked, inserts);
membership_of_view!(Blocked);

impl Insert for Blocked {
    /// Inserts a key. The filter is full only if it was sized for no keys.
    #[inline]
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        let line = BlockedView::line_mut(&mut self.body, hash).ok_or(Full)?;
        kernel::line_insert(line, hash.get(), self.view.probes());
        self.keys += 1;
        Ok(())
    }
}

impl LineFilter for BlockedView {
    const KIND: u8 = 1;

    fn error_rate(keys: u64, lines: u64, probes: u32) -> f64 {
        theory::blocked_bloom_error_rate(keys, lines, probes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::HEADER_LEN;
    use crate::sizing::ErrorRate;
    use crate::stored::StoredFilter;

    /// Returns hashes of the numbers from zero on. Streams with different numbers have no hash in
    /// common.
    fn keys(stream: u64, count: u64) -> impl Iterator<Item = KeyHash> {
        let seed = Seed::new(stream);
        (0..count).map(move |key| KeyHash::new(seed, &key.to_le_bytes()))
    }

    fn filled(sizing: Sizing, count: u64) -> Blocked {
        let mut filter = Blocked::with_seed(sizing, count, Seed::new(1)).expect("possible");
        for key in keys(1, count) {
            filter.insert(key).expect("never full");
        }
        filter
    }

    #[test]
    fn the_error_rate_at_ten_bits_per_key_is_below_0_97_per_cent() {
        let filter = filled(Sizing::BitsPerKey(10.0), 1_000_000);
        let stats = filter.stats();
        assert!(stats.bits_per_key() <= 10.0);
        assert!(stats.error_rate <= 0.0097, "{}", stats.error_rate);

        let probes = 4_000_000_u32;
        let absent_keys = keys(2, probes.into());
        let false_positives = absent_keys.filter(|key| filter.may_contain(*key)).count() as f64;
        let expected = stats.error_rate * f64::from(probes);
        eprintln!(
            "{} % promised, {} % measured",
            stats.error_rate * 100.0,
            false_positives / f64::from(probes) * 100.0
        );
        let deviation = (false_positives - expected).abs();
        assert!(deviation < 3.0 * expected.sqrt(), "{false_positives}, not {expected}");
    }

    #[test]
    fn a_filter_has_the_fewest_lines_that_reach_the_error_rate() {
        for (rate, count) in [(0.3, 5_000), (0.01, 1), (0.01, 100_000), (1e-4, 3_000), (1e-9, 70)] {
            let rate = ErrorRate::new(rate).expect("in range");
            let shape = shape(Sizing::ErrorRate(rate), count).expect("possible");
            let best = |lines| theory::blocked_bloom_best(count, lines, LINE_PROBES_MAX).error_rate;
            assert!(best(shape.lines) <= rate.get());
            assert!(shape.lines == 1 || best(shape.lines - 1) > rate.get());
        }
    }

    #[test]
    fn a_fraction_of_a_bit_per_key_changes_the_size() {
        let bits = |wanted| filled(Sizing::BitsPerKey(wanted), 100_000).stats().bits_per_key();
        for wanted in [7.25, 9.9, 10.0, 10.9] {
            assert!((wanted - 0.01..=wanted).contains(&bits(wanted)), "{wanted}");
        }
    }

    #[test]
    fn a_filter_fills_its_budget_up_to_the_last_whole_line() {
        for budget in [128, 1_000, 4_096] {
            let stored = filled(Sizing::Bytes(budget), 300).to_stored();
            assert!((budget - 63..=budget).contains(&(stored.len() as u64)));
        }
        let error = Blocked::with_seed(Sizing::Bytes(127), 1, Seed::new(1))
            .expect_err("no room for a line");
        assert_eq!(error, BuildError::Budget { needed: 128, budget: 127 });
    }

    #[test]
    fn a_filter_sized_for_no_keys_has_no_bits_and_takes_no_keys() {
        let mut filter = filled(Sizing::BitsPerKey(10.0), 0);
        assert!(keys(1, 1_000).all(|key| !filter.may_contain(key)));
        assert_eq!(filter.insert(KeyHash::from_u64(1)), Err(Full));

        let stored = StoredFilter::parse(filter.to_stored()).expect("our own bytes");
        assert_eq!(stored.as_bytes().len(), HEADER_LEN);
        assert!(keys(1, 1_000).all(|key| !stored.may_contain(key)));
    }
}
