//! The classic Bloom filter: the bits of a key are spread over the whole filter.
//!
//! ```text
//! position i of a key = (hash + i·step) scaled to 0..bits       step = hash × odd constant
//!
//! bits   [..1.....1..........1.....................1....................1....1..]
//! ```
//!
//! The classic filter has the lowest error rate per bit of all Bloom filters here, but a lookup
//! costs several cache misses. [`Blocked`](super::Blocked) costs one miss per lookup, and 3 % more
//! bits at an error rate of 1 %.
//!
//! Two hashes suffice for all positions (Kirsch and Mitzenmacher: "Less Hashing, Same Performance",
//! 2006). Both are derived from one 64-bit hash. Positions are scaled by a multiplication instead
//! of a division, which works for any number of bits. If the step is close to zero, or to a fraction
//! of the filter such as a half or a third, positions coincide. In a filter of few bits that
//! happens often, so few keys at a low error rate get more bits
//! ([`theory::classic_bloom_error_rate`](crate::theory::classic_bloom_error_rate)).
//!
//! Stored form: the body holds the bits. Bit b is in byte b / 8, with mask 1 << (b % 8). The
//! header's parameter 0 is the number of probes, the bits that a key sets.

use alloc::vec::Vec;

use crate::bisect::least;
use crate::error::{BuildError, FormatError, Full};
use crate::hash::{KeyHash, Seed};
use crate::header::Header;
use crate::membership::{FilterStats, Insert};
use crate::memory::allocate;
use crate::methods::{filter_methods, from_hashes_by_inserts};
use crate::sizing::{Demand, Sizing};
use crate::stored_view::{StoredView, membership_of_view};
use crate::{kernel, theory};

/// The most bits that a key can set: enough for an error rate of 2^−64, the limit of a 64-bit hash.
const PROBES_MAX: u32 = 64;

/// The largest filter for an error rate that 128 bits per key do not reach, in bytes.
///
/// It suffices for 10^−9 at any number of keys: few keys at a low rate take √(2n/ε) bits.
const FEW_KEYS_BYTES_MAX: u64 = 2 << 20;

/// Returns the positions of a key's bits, below `bits`.
fn positions(hash: KeyHash, probes: u32, bits: u64) -> impl Iterator<Item = u64> {
    let step = hash.get().wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32) | 1;
    (0..u64::from(probes))
        .map(move |probe| hash.get().wrapping_add(probe.wrapping_mul(step)))
        .map(move |hash| KeyHash::from_u64(hash).slot(bits))
}

/// The size of the bits, and the number of bits that a key sets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Shape {
    bytes: u64,
    probes: u32,
}

impl Shape {
    /// Returns the shape with the lowest error rate; zero bytes if there are no keys.
    fn new(sizing: Sizing, keys: u64) -> Result<Self, BuildError> {
        if keys == 0 {
            return Ok(Self { bytes: 0, probes: 1 });
        }
        let bytes = match sizing.demand(keys, 1)? {
            Demand::ErrorRate(rate) => Self::bytes_for(rate, keys)?,
            Demand::Bytes(bytes) => bytes.max(1),
        };
        Ok(Self { bytes, probes: Self::best_probes(keys, bytes).count })
    }

    /// Returns the smallest size in bytes at which the error rate is at most `rate`.
    fn bytes_for(rate: f64, keys: u64) -> Result<u64, BuildError> {
        let exceeds_rate = |bytes| Self::best_probes(keys, bytes).error_rate > rate;
        // At 128 bits per key nearly all errors are collisions of the 64-bit hashes. More bits do
        // not prevent them.
        let enough = keys.checked_mul(16).ok_or(BuildError::Memory)?;
        let enough = enough.max(FEW_KEYS_BYTES_MAX);
        if exceeds_rate(enough) {
            return Err(BuildError::ErrorRate(rate));
        }
        Ok(least(0, enough, |bytes| !exceeds_rate(bytes)))
    }

    /// Returns the number of probes with the lowest error rate.
    fn best_probes(keys: u64, bytes: u64) -> theory::BestProbes {
        // With few keys, coincident probes make fewer probes better than (m/n)·ln 2.
        let bits_per_key = bytes as f64 * 8.0 / keys as f64;
        let most = theory::bloom_best_probe_count(bits_per_key) as u32;
        (1..=most.saturating_add(1).min(PROBES_MAX))
            .map(|probes| theory::BestProbes {
                count: probes,
                error_rate: rate(keys, bytes, probes),
            })
            .fold(theory::BestProbes { count: 1, error_rate: 1.0 }, |best, other| {
                if other.error_rate < best.error_rate { other } else { best }
            })
    }
}

fn rate(keys: u64, bytes: u64, probes: u32) -> f64 {
    // Avoids an overflow for 2^61 bytes, a size that can be planned but not built.
    let bits = bytes.min(u64::MAX / 8) * 8;
    theory::classic_bloom_error_rate(keys, bits, probes)
}

fn stats(keys: u64, bytes: u64, probes: u32) -> FilterStats {
    FilterStats { keys, bytes, error_rate: rate(keys, bytes, probes) }
}

/// The number of a key's bits that `prefetch` loads. They deny three of four absent keys.
const PROBES_FIRST: u32 = 2;

/// A classic Bloom filter in memory, to which keys can be added.
///
/// ```
/// use filter::{Classic, Sizing};
///
/// let mut filter = Classic::new(Sizing::error_rate(0.01)?, 1_000)?;
/// for key in 0..1_000_u32 {
///     filter.insert(&key.to_le_bytes())?;
/// }
/// assert!(filter.may_contain(&7_u32.to_le_bytes()));
/// assert!((filter.stats().bits_per_key() - 9.6).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Classic {
    /// The bits.
    body: Vec<u8>,
    view: ClassicView,
    keys: u64,
    seed: Seed,
}

impl Classic {
    /// Creates an empty filter sized for `keys` keys, which it hashes with `seed`.
    ///
    /// More keys can be inserted, at a higher error rate. A filter sized for no keys has no bits:
    /// no key can be inserted, and it denies all keys.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if there is no filter of that sizing.
    pub fn with_seed(sizing: Sizing, keys: u64, seed: Seed) -> Result<Self, BuildError> {
        let shape = Shape::new(sizing, keys)?;
        let body = allocate(shape.bytes, 0)?;
        Ok(Self { body, view: ClassicView { probes: shape.probes }, keys: 0, seed })
    }

    /// Creates an empty filter of `bytes` bytes in which a key sets `probes` bits, 1 to 64.
    ///
    /// Use it for a given layout; [`with_seed`](Self::with_seed) chooses the number of probes with the lowest
    /// error rate.
    ///
    /// ```
    /// use filter::{Classic, Seed};
    ///
    /// let filter = Classic::with_probe_count(6, 200_000, Seed::random())?;
    /// assert_eq!(filter.stats().bytes, 200_000);
    /// # Ok::<(), filter::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError::ProbeCount`] if `probes` is out of range, [`BuildError::Memory`] if the bytes
    /// do not fit into memory.
    pub fn with_probe_count(probes: u32, bytes: u64, seed: Seed) -> Result<Self, BuildError> {
        if !(1..=PROBES_MAX).contains(&probes) {
            return Err(BuildError::ProbeCount(probes));
        }
        Ok(Self { body: allocate(bytes, 0)?, view: ClassicView { probes }, keys: 0, seed })
    }

    /// Returns the expected size and error rate of a filter of `keys` keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        let shape = Shape::new(sizing, keys)?;
        Ok(stats(keys, shape.bytes, shape.probes))
    }

    /// Returns the number of bits that a key sets.
    pub(crate) const fn probe_count(&self) -> u32 {
        self.view.probes
    }

    /// Returns the stored form, for [`StoredFilter`](crate::StoredFilter).
    pub fn to_stored(&self) -> Vec<u8> {
        let header = Header {
            kind: ClassicView::CODE,
            seed: self.seed,
            keys: self.keys,
            parameters: [self.probe_count().into(), 0, 0],
        };
        header.write(&[&self.body])
    }
}

from_hashes_by_inserts!(Classic);
filter_methods!(Classic, inserts);
membership_of_view!(Classic);

impl Insert for Classic {
    /// Inserts a key. The filter is full only if it has no bits.
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        if self.body.is_empty() {
            return Err(Full);
        }
        for bit in positions(hash, self.probe_count(), self.body.len() as u64 * 8) {
            self.body[(bit >> 3) as usize] |= 1 << (bit & 7);
        }
        self.keys += 1;
        Ok(())
    }
}

/// A view of a stored classic Bloom filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassicView {
    probes: u32,
}

impl StoredView for ClassicView {
    const CODE: u8 = 3;

    fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let wrong_probes = FormatError::Parameters("a key must set 1 to 64 bits");
        let [probes, 0, 0] = header.parameters else { return Err(wrong_probes) };
        let probes = u32::try_from(probes).map_err(|_| wrong_probes)?;
        if !(1..=PROBES_MAX).contains(&probes) {
            return Err(wrong_probes);
        }
        if body.is_empty() && header.keys != 0 {
            return Err(FormatError::Parameters("there are keys but no bits"));
        }
        Ok(Self { probes })
    }

    #[inline]
    fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
        // The cast is exact: a position is below the number of bits in memory.
        !body.is_empty()
            && positions(hash, self.probes, body.len() as u64 * 8).all(|bit| {
                body.get((bit >> 3) as usize).is_some_and(|byte| byte & (1 << (bit & 7)) != 0)
            })
    }

    /// Prefetches the first bits of a key.
    fn prefetch(&self, body: &[u8], hash: KeyHash) {
        for bit in positions(hash, PROBES_FIRST, body.len() as u64 * 8) {
            kernel::prefetch_at(body, (bit >> 3) as usize);
        }
    }

    fn stats(&self, body: &[u8], keys: u64) -> FilterStats {
        stats(keys, body.len() as u64, self.probes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the expected and the measured error rate of a filter, each per million.
    fn measure(keys: u64, bits_per_key: u64, probes: u32, absent_count: u64) -> (f64, f64) {
        let len = (keys * bits_per_key / 8) as usize;
        let mut filter =
            Classic::with_probe_count(probes, len as u64, Seed::new(1)).expect("possible");
        let hash = |stream, key: u64| KeyHash::new(Seed::new(stream), &key.to_le_bytes());
        for key in 0..keys {
            filter.insert(hash(1, key)).expect("never full");
        }
        let false_positives =
            (0..absent_count).filter(|key| filter.may_contain(hash(2, *key))).count();
        (filter.stats().error_rate * 1e6, false_positives as f64 / absent_count as f64 * 1e6)
    }

    /// The filters have 20 bits per key.
    ///
    /// For 14 probes the literature often cites 0.014 % expected and 0.006 % measured. The formula
    /// gives (1 − e^(−14/20))^14 = 0.0067 %.
    #[test]
    fn error_rates_at_the_settings_of_the_literature_are_those_of_the_formula() {
        for (probes, expected) in [(6, 303.0), (14, 67.2), (10, 88.9)] {
            let absent_count = 2_000_000;
            let (promised, measured) = measure(100_000, 20, probes, absent_count);
            eprintln!("k = {probes}: {promised:.2} promised, {measured:.2} measured, per million");
            assert!((promised / expected - 1.0).abs() < 0.002, "k = {probes}: {promised}");
            let sigma = (promised / absent_count as f64 * 1e6).sqrt();
            assert!((measured - promised).abs() < 3.0 * sigma, "k = {probes}: {measured}");
        }
    }

    #[test]
    fn a_filter_has_the_fewest_bytes_that_reach_the_error_rate() {
        for (wanted, keys) in [(0.3, 5_000), (0.01, 1), (0.01, 100_000), (1e-9, 70)] {
            let bytes = Shape::bytes_for(wanted, keys).expect("possible");
            assert!(Shape::best_probes(keys, bytes).error_rate <= wanted);
            assert!(bytes == 1 || Shape::best_probes(keys, bytes - 1).error_rate > wanted);
        }
    }
}
