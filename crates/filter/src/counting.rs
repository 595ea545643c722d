//! The counting Bloom filter: counters in place of bits, so that keys can be taken out again.
//!
//! ```text
//! hash ──upper bits──▶ line of 128 counters     hash × odd constant ──▶ k counters of that line
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
//! 13 % at an error rate of 1 %: some lines get more keys than others. Where two probes of a key
//! meet in one counter, the key raises it once; so a key adds 0 or 1 to each counter of its line, and
//! one addition to the whole line does it.
//!
//! The stored form, and how lines are asked: `lines.rs`; a counter is a field of 4 bits.
//!
//! Fan, Cao, Almeida, Broder: "Summary Cache: A Scalable Wide-Area Web Cache Sharing Protocol", 2000.

use alloc::vec::Vec;

use crate::aligned::AlignedBytes;
use crate::format::{self, Header};
use crate::kernel::{self, LINE_PROBES_MAX};
use crate::lines::{LINE_LEN, LineView, Shape};
use crate::{
    Absent, BuildError, FilterKind, FilterStats, FormatError, Full, Insert, KeyHash, Membership,
    Remove, Seed, Sizing, StoredFilter, theory,
};

/// A counter that has come this far stays there.
const SATURATED: u8 = 15;

/// Finds the best shape for so many keys.
fn shape(sizing: Sizing, keys: u64) -> Result<Shape, BuildError> {
    let fewest = |rate| {
        // Four lines a key are more than anyone could want.
        let lines_max = keys.saturating_mul(4);
        theory::counting_bloom_fewest_lines(keys, rate, lines_max, LINE_PROBES_MAX)
            .map(|(lines, probes)| Shape { lines, probes })
    };
    let best = |lines| theory::counting_bloom_best(keys, lines, LINE_PROBES_MAX).0;
    Shape::new(sizing, keys, fewest, best)
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
    lines: AlignedBytes,
    view: CountingView,
    keys: u64,
}

/// A counting Bloom filter in bytes that are not ours.
pub(crate) type CountingView = LineView<4>;

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
        let shape = shape(sizing, keys)?;
        let lines = AlignedBytes::zeroed(shape.len())?;
        Ok(Self { lines, view: LineView::new(shape.probes), keys: 0 })
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
        let lines = AlignedBytes::copy_of(body)
            .map_err(|_| FormatError::Parameters("the filter does not fit into memory"))?;
        Ok(Self { lines, view, keys: header.keys })
    }

    /// What a filter will cost and how often it will err once it holds so many keys.
    pub(crate) fn plan(sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
        let shape = shape(sizing, keys)?;
        Ok(stats(keys, shape.len(), shape.probes))
    }

    /// Returns how many counters each key raises, or fewer where two probes meet.
    pub const fn probe_count(&self) -> u32 {
        self.view.probe_count()
    }

    /// Returns how often the key was inserted, as far as can be told: the least of its counters.
    ///
    /// That is never too low, unless it is 15, which stands for 15 or more. It is too high for as few
    /// keys as the filter errs about.
    pub fn count_estimate(&self, hash: KeyHash) -> u8 {
        self.view.fields(&self.lines, hash).min().unwrap_or(0)
    }

    /// Returns how many counters have reached 15 and stay there.
    ///
    /// They are worth watching where keys come and go: what saturates is not freed by removing keys,
    /// only by making the filter anew.
    pub fn saturated_count(&self) -> u64 {
        let saturated = |byte: &u8| u64::from(byte & 15 == 15) + u64::from(byte >> 4 == 15);
        self.lines.iter().map(saturated).sum()
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
        if (self.lines.len(), self.probe_count()) != (other.lines.len(), other.probe_count()) {
            return Err(ShapesDiffer);
        }
        for (byte, other) in self.lines.iter_mut().zip(other.lines.iter()) {
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
            parameters: [self.probe_count().into(), 0, 0],
        };
        format::write(&header, self.lines.len(), core::iter::once(&*self.lines))
    }
}

impl Membership for CountingBloom {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "assembly looks larger to the compiler than it is")]
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.view.may_contain(&self.lines, hash)
    }

    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        CountingView::prefetch(&self.lines, hash);
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        self.view.may_contain_batch(&self.lines, hashes, answers);
    }

    fn stats(&self) -> FilterStats {
        self.view.stats(&self.lines, self.keys)
    }
}

impl Insert for CountingBloom {
    /// Adds a key. Only a filter that was sized for no keys is ever full.
    #[inline]
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        let line = CountingView::line_mut(&mut self.lines, hash).ok_or(Full)?;
        kernel::counters_raise(line, hash.get(), self.view.probes());
        self.keys = self.keys.saturating_add(1);
        Ok(())
    }
}

impl Remove for CountingBloom {
    /// Takes one copy of a key out. Counters that have saturated stay as they are.
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent> {
        if !self.may_contain(hash) {
            return Err(Absent);
        }
        let line = CountingView::line_mut(&mut self.lines, hash).ok_or(Absent)?;
        kernel::counters_lower(line, hash.get(), self.view.probes());
        self.keys = self.keys.saturating_sub(1);
        Ok(())
    }
}

impl CountingView {
    /// Returns for how many bytes of counters [`used`](Self::used) says which are above nought.
    pub(crate) const fn used_len(body_len: usize) -> usize {
        body_len / 4
    }

    /// Returns for eight counters, those from number 8 · `index` on, which are above nought: the first
    /// in the lowest bit.
    #[inline]
    pub(crate) fn used(body: &[u8], index: usize) -> u8 {
        let counters = body.as_chunks().0.get(index).copied().map_or(0, u32::from_le_bytes);
        // Whether any bit of a counter is set moves to its lowest, and these move together.
        let any = counters | counters >> 1;
        let any = (any | any >> 2) & 0x1111_1111;
        let pairs = (any | any >> 3) & 0x0303_0303;
        let fours = (pairs | pairs >> 6) & 0x000f_000f;
        (fours | fours >> 12) as u8
    }

    pub(crate) fn stats(self, body: &[u8], keys: u64) -> FilterStats {
        stats(keys, body.len() as u64, self.probe_count())
    }
}

fn stats(keys: u64, bytes: u64, probes: u32) -> FilterStats {
    let error_rate = theory::counting_bloom_error_rate(keys, bytes / LINE_LEN, probes);
    FilterStats { keys, bytes, error_rate }
}

#[cfg(test)]
mod tests;
