//! The counting Bloom filter, in memory and as stored.
//!
//! The filter is an array of 64-byte lines of 128 counters each, 4 bits per counter. A key selects
//! one line and some counters in it; the filter may contain the key if all of them are above zero.

use alloc::vec::Vec;

use crate::bloom::{LineFilter, LineView, Shape};
use crate::error::{Absent, BuildError, FormatError, Full};
use crate::hash::{Key, KeyHash, Seed};
use crate::header::Header;
use crate::kernel::{self, LINE_PROBES_MAX};
use crate::membership::{FilterStats, Insert, Remove};
use crate::memory::AlignedBytes;
use crate::methods::{filter_methods, from_hashes_by_inserts};
use crate::sizing::Sizing;
use crate::stored_view::{StoredView, membership_of_view};
use crate::theory;

/// The value at which a counter saturates: the greatest value of 4 bits.
const SATURATED: u8 = 15;

/// Returns the number of lines and of probes per key that suits a sizing and a number of keys.
fn shape(sizing: Sizing, keys: u64) -> Result<Shape, BuildError> {
    let smallest = |rate| {
        // More than four lines per key do not lower the error rate.
        let lines_max = keys.min(u64::MAX / 4) * 4;
        theory::counting_bloom_fewest_lines(keys, rate, lines_max, LINE_PROBES_MAX)
            .map(|(lines, probes)| Shape { lines, probes })
    };
    let best_probes = |lines| theory::counting_bloom_best(keys, lines, LINE_PROBES_MAX).count;
    Shape::new(sizing, keys, smallest, best_probes)
}

/// A Bloom filter in memory to which keys can be added and from which they can be removed.
///
/// ```
/// use filter::{CountingBloom, Seed, Sizing};
///
/// let mut online = CountingBloom::with_seed(Sizing::error_rate(0.01)?, 1_000, Seed::new(42))?;
/// online.insert("alice")?;
/// online.insert("bob")?;
/// online.insert("bob")?; // From a second device.
/// assert_eq!(online.copies("bob"), 2);
///
/// online.remove("alice")?;
/// online.remove("bob")?;
/// assert!(!online.may_contain("alice"));
/// assert!(online.may_contain("bob"));
/// assert!(online.remove("carol").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountingBloom {
    pub(super) body: AlignedBytes,
    view: CountingView,
    keys: u64,
    seed: Seed,
}

/// A view of a stored counting Bloom filter.
pub(crate) type CountingView = LineView<4>;

/// Why two filters cannot be united.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnionError {
    /// The filters differ in size or in probes per key.
    #[error("only filters of the same shape can be united")]
    Shapes,
    /// The filters have different seeds, so the hashes of a key differ.
    #[error("only filters of the same seed can be united: {} and {} differ", .0.get(), .1.get())]
    Seeds(Seed, Seed),
}

impl CountingBloom {
    /// Creates an empty filter sized for `keys` keys, which it hashes with `seed`.
    ///
    /// More keys can be inserted, at a higher error rate. A filter sized for zero keys has no
    /// counters: every insert fails, and every lookup returns `false`.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if no filter fits the sizing.
    pub fn with_seed(sizing: Sizing, keys: u64, seed: Seed) -> Result<Self, BuildError> {
        let shape = shape(sizing, keys)?;
        let body = AlignedBytes::zeroed(shape.len()?)?;
        Ok(Self { body, view: LineView::new(shape.probes), keys: 0, seed })
    }

    /// Copies the body of a stored filter into memory.
    pub(crate) fn from_body(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        if header.kind != CountingView::CODE {
            return Err(FormatError::OtherKind("counting Bloom"));
        }
        let view = CountingView::parse(header, body)?;
        let body = AlignedBytes::copy_of(body)
            .map_err(|_| FormatError::Parameters("the filter does not fit into memory"))?;
        Ok(Self { body, view, keys: header.keys, seed: header.seed })
    }

    /// Returns the expected size and error rate of a filter of `keys` keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        let shape = shape(sizing, keys)?;
        Ok(CountingView::stats_of(keys, shape.len()?, shape.probes))
    }

    /// Returns the number of probes per key.
    ///
    /// A key raises that number of counters, or fewer if probes coincide.
    pub(crate) const fn probe_count(&self) -> u32 {
        self.view.probe_count()
    }

    /// Returns an estimate of the number of copies of a key: its lowest counter.
    ///
    /// The estimate is never too low; 15 means 15 or more. The probability that it is too high is
    /// bounded by the error rate.
    ///
    /// # Panics
    ///
    /// If `key` is a [`SeededHash`](crate::SeededHash) with another seed than the filter's.
    pub fn copies(&self, key: impl Key) -> u64 {
        let hash = key.hash_with(self.seed);
        self.view.field_values(&self.body, hash).min().unwrap_or(0).into()
    }

    /// Returns how many counters have saturated at 15.
    ///
    /// The number grows if keys are inserted and removed for a long time, because removing a key
    /// does not lower a saturated counter. Only building a new filter resets these counters.
    #[cfg(test)]
    pub(super) fn saturated_count(&self) -> u64 {
        let saturated = |byte: &u8| u64::from(byte & 15 == 15) + u64::from(byte >> 4 == 15);
        self.body.iter().map(saturated).sum()
    }

    /// Adds all keys of another filter, as if they had been inserted into this one.
    ///
    /// Create both filters with the same sizing, number of keys and seed
    /// ([`with_seed`](Self::with_seed)).
    ///
    /// # Errors
    ///
    /// [`UnionError`] if the filters differ in size, in probes per key or in their seeds. This
    /// filter is then unchanged.
    pub fn union(&mut self, other: &Self) -> Result<(), UnionError> {
        if (self.body.len(), self.probe_count()) != (other.body.len(), other.probe_count()) {
            return Err(UnionError::Shapes);
        }
        if self.seed != other.seed {
            return Err(UnionError::Seeds(self.seed, other.seed));
        }
        // A key count read from a file is not checked, so the sum may overflow.
        self.keys = self.keys.saturating_add(other.keys);
        for (byte, other) in self.body.iter_mut().zip(other.body.iter()) {
            let low = ((*byte & 15) + (other & 15)).min(SATURATED);
            let high = ((*byte >> 4) + (other >> 4)).min(SATURATED);
            *byte = low | high << 4;
        }
        Ok(())
    }

    /// Returns the stored form, for [`StoredFilter`](crate::StoredFilter).
    pub fn to_stored(&self) -> Vec<u8> {
        let header = Header {
            kind: CountingView::CODE,
            seed: self.seed,
            keys: self.keys,
            parameters: [self.probe_count().into(), 0, 0],
        };
        header.write(&[&self.body])
    }
}

from_hashes_by_inserts!(CountingBloom);
filter_methods!(CountingBloom, removes);
membership_of_view!(CountingBloom);

impl Insert for CountingBloom {
    /// Inserts a key.
    ///
    /// Fails only if the filter was sized for zero keys, or if its key count is 2^64 − 1.
    #[inline]
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        // A key count read from a file is not checked, so the sum may overflow.
        let keys = self.keys.checked_add(1).ok_or(Full)?;
        let line = CountingView::line_mut(&mut self.body, hash).ok_or(Full)?;
        kernel::counters_raise(line, hash.get(), self.view.probes());
        self.keys = keys;
        Ok(())
    }
}

impl Remove for CountingBloom {
    /// Removes one copy of a key. Saturated counters are not lowered.
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent> {
        let keys = self.keys.checked_sub(1).ok_or(Absent)?;
        if !self.may_contain(hash) {
            return Err(Absent);
        }
        let line = CountingView::line_mut(&mut self.body, hash).ok_or(Absent)?;
        kernel::counters_lower(line, hash.get(), self.view.probes());
        self.keys = keys;
        Ok(())
    }
}

impl LineFilter for CountingView {
    const KIND: u8 = 4;

    fn error_rate(keys: u64, lines: u64, probes: u32) -> f64 {
        theory::counting_bloom_error_rate(keys, lines, probes)
    }
}
