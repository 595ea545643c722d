//! The kinds of filters by name and number, and the one function that builds any of them.

use alloc::vec::Vec;
use core::fmt;

use crate::bloom::{Blocked, Classic, SplitBlock};
use crate::membership::PREFETCH_DISTANCE;
use crate::{
    BinaryFuse, CountingBloom, Cuckoo, DLeft, FilterStats, Full, Insert, KeyHash, Ribbon, Seed,
    Sizing,
};

/// A kind of filter that has a stored form.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FilterKind {
    /// [`bloom::Blocked`](crate::bloom::Blocked): one cache line a key.
    BlockedBloom,
    /// [`CountingBloom`]: counters in one cache line a key; keys can be removed and counted.
    CountingBloom,
    /// [`DLeft`]: remainders in buckets of eight; keys can be removed and counted.
    DLeft,
    /// [`Cuckoo`]: fingerprints in buckets of four; keys can be removed.
    Cuckoo,
    /// [`Ribbon`]: linear equations; built of all keys at once.
    Ribbon,
    /// [`BinaryFuse`]: three or four fingerprints a key; built of all keys at once.
    BinaryFuse,
    /// [`bloom::Classic`](crate::bloom::Classic): bits anywhere.
    ClassicBloom,
    /// [`bloom::SplitBlock`](crate::bloom::SplitBlock): eight words a key, as in Parquet.
    SplitBlock,
}

impl FilterKind {
    /// All kinds.
    pub const ALL: &[Self] = &[
        Self::ClassicBloom,
        Self::BlockedBloom,
        Self::SplitBlock,
        Self::CountingBloom,
        Self::DLeft,
        Self::Cuckoo,
        Self::Ribbon,
        Self::BinaryFuse,
    ];

    /// Returns the name that the command line, documents and figures use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BlockedBloom => "blocked-bloom",
            Self::CountingBloom => "counting-bloom",
            Self::DLeft => "d-left",
            Self::Cuckoo => "cuckoo",
            Self::Ribbon => "ribbon",
            Self::BinaryFuse => "binary-fuse",
            Self::ClassicBloom => "classic-bloom",
            Self::SplitBlock => "split-block",
        }
    }

    /// Returns the kind with that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns the number that stands in the header of the stored form.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::BlockedBloom => 1,
            Self::CountingBloom => 4,
            Self::DLeft => 5,
            Self::Cuckoo => 6,
            // 7 was a ribbon whose equations followed from the hash in another way.
            Self::Ribbon => 9,
            Self::BinaryFuse => 8,
            Self::SplitBlock => 2,
            Self::ClassicBloom => 3,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for FilterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why a filter could not be built.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The kind cannot err so seldom.
    #[error("no filter of this kind errs as seldom as {0}")]
    ErrorRate(f64),
    /// Bits per key must be a positive number.
    #[error("a filter cannot have {0} bits per key")]
    BitsPerKey(f64),
    /// There are no fingerprints or remainders of that length.
    #[error("there are no fingerprints of {0} bits")]
    FingerprintBits(u32),
    /// Buckets have 1, 2, 4 or 8 slots.
    #[error("a bucket has 1, 2, 4 or 8 slots, not {0}")]
    SlotCount(u32),
    /// A key cannot set so many bits.
    #[error("a key sets 1 to 64 bits, not {0}")]
    ProbeCount(u32),
    /// The budget of bytes does not suffice for the smallest filter.
    #[error("the smallest filter takes {needed} bytes, the budget is {budget}")]
    Budget {
        /// What the smallest filter takes.
        needed: u64,
        /// What was allowed.
        budget: u64,
    },
    /// The keys do not fit into a filter of that size.
    #[error("the keys do not fit into a filter of that size")]
    Full,
    /// The filter does not fit into memory.
    #[error("the filter does not fit into memory")]
    Memory,
}

/// Builds a filter over the keys and returns its stored form, which
/// [`StoredFilter`](crate::StoredFilter) reads.
///
/// A key may occur more than once. No keys give a filter of [`HEADER_LEN`](crate::HEADER_LEN) bytes
/// that denies everything.
///
/// # Errors
///
/// [`BuildError`] if no filter of that kind and sizing can be made.
pub fn build(
    kind: FilterKind,
    sizing: Sizing,
    seed: Seed,
    keys: &[KeyHash],
) -> Result<Vec<u8>, BuildError> {
    let count = keys.len() as u64;
    match kind {
        FilterKind::BlockedBloom => {
            let mut filter = Blocked::new(sizing, count)?;
            insert_all(&mut filter, keys)?;
            Ok(filter.to_stored(seed))
        }
        FilterKind::ClassicBloom => {
            let mut filter = Classic::new(sizing, count)?;
            insert_all(&mut filter, keys)?;
            Ok(filter.to_stored(seed))
        }
        FilterKind::SplitBlock => {
            let mut filter = SplitBlock::new(sizing, count)?;
            insert_all(&mut filter, keys)?;
            Ok(filter.to_stored(seed))
        }
        FilterKind::CountingBloom => {
            let mut filter = CountingBloom::new(sizing, count)?;
            insert_all(&mut filter, keys)?;
            Ok(filter.to_stored(seed))
        }
        FilterKind::DLeft => Ok(DLeft::from_keys(sizing, keys)?.to_stored(seed)),
        FilterKind::Cuckoo => Ok(Cuckoo::from_keys(sizing, keys)?.to_stored(seed)),
        FilterKind::Ribbon => Ok(Ribbon::from_keys(sizing, keys)?.to_stored(seed)),
        FilterKind::BinaryFuse => Ok(BinaryFuse::from_keys(sizing, keys)?.to_stored(seed)),
    }
}

/// Says what a filter of so many different keys will cost and how often it will err, without making
/// it.
///
/// ```
/// use filter::{ErrorRate, FilterKind, Sizing, plan};
///
/// let sizing = Sizing::ErrorRate(ErrorRate::new(0.01)?);
/// let billion = plan(FilterKind::BlockedBloom, sizing, 1_000_000_000)?;
/// assert!((9.9..10.0).contains(&billion.bits_per_key()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`BuildError`] if no filter of that kind and sizing can be made.
pub fn plan(kind: FilterKind, sizing: Sizing, keys: u64) -> Result<FilterStats, BuildError> {
    match kind {
        FilterKind::BlockedBloom => Blocked::plan(sizing, keys),
        FilterKind::ClassicBloom => Classic::plan(sizing, keys),
        FilterKind::SplitBlock => SplitBlock::plan(sizing, keys),
        FilterKind::CountingBloom => CountingBloom::plan(sizing, keys),
        FilterKind::DLeft => DLeft::plan(sizing, keys),
        FilterKind::Cuckoo => Cuckoo::plan(sizing, keys),
        FilterKind::Ribbon => Ribbon::plan(sizing, keys),
        FilterKind::BinaryFuse => BinaryFuse::plan(sizing, keys),
    }
}

/// Makes room for so many lines, blocks or bytes, all empty. Sizes come from callers, so what does not
/// fit is an error and not the end of the program.
pub(crate) fn allocate<T: Clone>(count: u64, empty: T) -> Result<Vec<T>, BuildError> {
    let count = usize::try_from(count).map_err(|_| BuildError::Memory)?;
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| BuildError::Memory)?;
    room.resize(count, empty);
    Ok(room)
}

/// Inserts keys whose places are loaded some keys ahead.
fn insert_all(filter: &mut impl Insert, keys: &[KeyHash]) -> Result<(), BuildError> {
    for (index, key) in keys.iter().enumerate() {
        if let Some(later) = keys.get(index + PREFETCH_DISTANCE) {
            filter.prefetch(*later);
        }
        filter.insert(*key).map_err(|Full| BuildError::Full)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorRate, Membership, StoredFilter};

    #[test]
    fn what_is_planned_is_what_is_built() {
        let keys: Vec<_> =
            (0..50_000_u32).map(|key| KeyHash::new(Seed::new(1), &key.to_le_bytes())).collect();
        for &kind in FilterKind::ALL {
            let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
            let planned = plan(kind, sizing, keys.len() as u64).expect("possible");
            let built = build(kind, sizing, Seed::new(1), &keys).expect("possible");
            let built = StoredFilter::parse(built).expect("our own bytes").stats();
            assert_eq!(planned.keys, built.keys, "{kind}");
            // A few keys that found no place in their buckets may stand aside.
            assert!(built.bytes.abs_diff(planned.bytes) <= planned.bytes / 100, "{kind}");
            assert!((planned.error_rate / built.error_rate - 1.0).abs() < 0.01, "{kind}");
            assert!(planned.error_rate <= 0.01, "{kind}");
        }
    }
}
