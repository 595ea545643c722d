//! The counting Bloom filter in memory and as stored.

use alloc::vec::Vec;

use crate::bloom::{LINE_LEN, LineView, Shape};
use crate::error::{Absent, BuildError, FormatError, Full};
use crate::hash::{KeyHash, Seed};
use crate::header::Header;
use crate::kernel::{self, LINE_PROBES_MAX};
use crate::membership::{FilterStats, Insert, Membership, Remove, insert_all};
use crate::memory::AlignedBytes;
use crate::sizing::Sizing;
use crate::slices::BitPositions;
use crate::stored_view::StoredView;
use crate::theory;

/// A counter that has come this far stays there.
const SATURATED: u8 = 15;

/// Finds the best shape for so many keys.
fn shape(sizing: Sizing, keys: u64) -> Result<Shape, BuildError> {
    let fewest = |rate| {
        // More than four lines a key are of no use.
        let lines_max = keys.min(u64::MAX / 4) * 4;
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
    pub(super) lines: AlignedBytes,
    view: CountingView,
    keys: u64,
}

/// A view of a stored counting Bloom filter.
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
        let lines = AlignedBytes::zeroed(shape.len()?)?;
        Ok(Self { lines, view: LineView::new(shape.probes), keys: 0 })
    }

    /// Copies the body of a stored filter into memory.
    pub(crate) fn from_body(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        if header.kind != CountingView::CODE {
            return Err(FormatError::Parameters("the filter is not a counting Bloom filter"));
        }
        let view = CountingView::parse(header, body)?;
        let lines = AlignedBytes::copy_of(body)
            .map_err(|_| FormatError::Parameters("the filter does not fit into memory"))?;
        Ok(Self { lines, view, keys: header.keys })
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
        // Either count may come from a file that claims 2^64 − 1 keys.
        self.keys = self.keys.saturating_add(other.keys);
        for (byte, other) in self.lines.iter_mut().zip(other.lines.iter()) {
            let low = ((*byte & 15) + (other & 15)).min(SATURATED);
            let high = ((*byte >> 4) + (other >> 4)).min(SATURATED);
            *byte = low | high << 4;
        }
        Ok(())
    }

    /// Returns the stored form, to be read back by [`StoredFilter`](crate::StoredFilter).
    pub fn to_stored(&self, seed: Seed) -> Vec<u8> {
        let header = Header {
            kind: CountingView::CODE,
            seed,
            keys: self.keys,
            parameters: [self.probe_count().into(), 0, 0],
        };
        header.write(&[&self.lines])
    }
}

impl Membership for CountingBloom {
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

impl Insert for CountingBloom {
    /// Adds a key. Only a filter that was sized for no keys is ever full.
    #[inline]
    fn insert(&mut self, hash: KeyHash) -> Result<(), Full> {
        // The count may come from a file that claims 2^64 − 1 keys.
        let keys = self.keys.checked_add(1).ok_or(Full)?;
        let line = CountingView::line_mut(&mut self.lines, hash).ok_or(Full)?;
        kernel::counters_raise(line, hash.get(), self.view.probes());
        self.keys = keys;
        Ok(())
    }
}

impl Remove for CountingBloom {
    /// Takes one copy of a key out. Counters that have saturated stay as they are.
    fn remove(&mut self, hash: KeyHash) -> Result<(), Absent> {
        let keys = self.keys.checked_sub(1).ok_or(Absent)?;
        if !self.may_contain(hash) {
            return Err(Absent);
        }
        let line = CountingView::line_mut(&mut self.lines, hash).ok_or(Absent)?;
        kernel::counters_lower(line, hash.get(), self.view.probes());
        self.keys = keys;
        Ok(())
    }
}

impl StoredView for CountingView {
    const CODE: u8 = 4;

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

impl BitPositions for CountingView {
    #[inline]
    fn positions(self, body_len: usize, hash: KeyHash) -> impl Iterator<Item = usize> {
        self.field_positions(body_len, hash)
    }

    /// A bit for each counter of four bits.
    fn bits_len(body_len: usize) -> usize {
        body_len / 4
    }

    /// Returns which of eight counters, from number 8 · `index` on, are above zero: the first in the lowest
    /// bit.
    #[inline]
    fn bits(body: &[u8], index: usize) -> u8 {
        let counters = u32::from_le_bytes(body.as_chunks().0[index]);
        // Whether any bit of a counter is set moves to its lowest, and these move together.
        let any = counters | counters >> 1;
        let any = (any | any >> 2) & 0x1111_1111;
        let pairs = (any | any >> 3) & 0x0303_0303;
        let fours = (pairs | pairs >> 6) & 0x000f_000f;
        (fours | fours >> 12) as u8
    }
}

fn stats(keys: u64, bytes: u64, probes: u32) -> FilterStats {
    let error_rate = theory::counting_bloom_error_rate(keys, bytes / LINE_LEN, probes);
    FilterStats { keys, bytes, error_rate }
}
