//! The stored form of every filter: a header of 64 bytes, then the body of its kind.
//!
//! All numbers are little-endian. The header is as long as a cache line, so that a body of lines is
//! aligned wherever the whole is; nothing depends on it, any alignment is read.
//!
//! | at | bytes | field          | meaning                                                          |
//! |---:|------:|----------------|------------------------------------------------------------------|
//! |  0 |     8 | `magic`        | `89` `FILTER` `1a`                                               |
//! |  8 |     1 | `version`      | 1                                                                |
//! |  9 |     1 | `kind`         | the [`FilterKind`]                                               |
//! | 10 |     1 | `hash`         | 1: XXH3-64 with `seed`                                           |
//! | 11 |     1 | (reserved)     | 0                                                                |
//! | 12 |     4 | `parameter_0`  | what the kind wants, as are the other two; see its module        |
//! | 16 |     8 | `seed`         | the [`Seed`] of the key hashes                                   |
//! | 24 |     8 | `keys`         | keys inserted, copies counted                                    |
//! | 32 |     8 | `body_len`     | bytes after the header, to the end                               |
//! | 40 |     8 | `parameter_1`  |                                                                  |
//! | 48 |     8 | `parameter_2`  |                                                                  |
//! | 56 |     8 | `checksum`     | XXH3-64 of bytes 0 to 55, seeded with the XXH3-64 of the body    |
//!
//! A reader allocates nothing: it checks the header once, and then looks into the bytes it was given.
#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use alloc::vec::Vec;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::bloom::{BlockedView, ClassicView, SplitBlockView};
use crate::counting::CountingView;
use crate::cuckoo::CuckooView;
use crate::dleft::DLeftView;
use crate::fuse::FuseView;
use crate::kernel::ColumnLookup;
use crate::ribbon::RibbonView;
use crate::{
    AlignedBytes, BuildError, FilterKind, FilterStats, KeyHash, Membership, Seed, membership,
};

/// Bytes of the header of a stored filter.
pub const HEADER_LEN: usize = 64;

const MAGIC: [u8; 8] = *b"\x89FILTER\x1a";
const VERSION: u8 = 1;
const HASH_XXH3: u8 = 1;
/// Where the checksum stands; it covers what is before it.
const CHECKSUM_AT: usize = 56;

/// Why bytes are not a stored filter.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The bytes do not begin as a filter does.
    #[error("not a stored filter")]
    Magic,
    /// A later release wrote it.
    #[error("filter format version {0} is not known")]
    Version(u8),
    /// A later release wrote it, or the bytes are no filter of ours.
    #[error("filter kind {0} is not known")]
    Kind(u8),
    /// A later release wrote it.
    #[error("filter hash {0} is not known")]
    Hash(u8),
    /// The bytes end too early or too late.
    #[error("a filter of {expected} bytes in {found} bytes")]
    Length {
        /// What the header says, or the length of a header.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// Some bytes are not what was written.
    #[error("the filter's checksum is wrong")]
    Checksum,
    /// The checksum holds, and yet the numbers contradict each other.
    #[error("impossible filter parameters: {0}")]
    Parameters(&'static str),
}

/// What stands in front of every body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Header {
    pub(crate) kind: FilterKind,
    pub(crate) seed: Seed,
    pub(crate) keys: u64,
    /// The first is stored in 32 bits.
    pub(crate) parameters: [u64; 3],
}

/// Writes a stored filter whose body has `body_len` bytes, in pieces.
///
/// # Panics
///
/// If the pieces are not as long as announced, or the first parameter takes more than 32 bits.
pub(crate) fn write<'a>(
    header: &Header,
    body_len: usize,
    body: impl Iterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let [small, ref large @ ..] = header.parameters;
    let small = u32::try_from(small).expect("a kind's first parameter fits its field");

    let mut bytes = Vec::with_capacity(HEADER_LEN.saturating_add(body_len));
    bytes.extend(MAGIC);
    bytes.extend([VERSION, header.kind.code(), HASH_XXH3, 0]);
    bytes.extend(small.to_le_bytes());
    bytes.extend(header.seed.get().to_le_bytes());
    bytes.extend(header.keys.to_le_bytes());
    bytes.extend(u64::try_from(body_len).expect("a length fits 64 bits").to_le_bytes());
    bytes.extend(large.iter().flat_map(|parameter| parameter.to_le_bytes()));
    bytes.extend([0; 8]); // The checksum, once the body is there.
    for piece in body {
        bytes.extend_from_slice(piece);
    }

    let (head, written) = bytes.split_at_mut(HEADER_LEN);
    assert_eq!(written.len(), body_len, "the body is as long as announced");
    let (head, place) = head.split_at_mut(CHECKSUM_AT);
    place.copy_from_slice(&checksum(head, written).to_le_bytes());
    bytes
}

fn checksum(head: &[u8], body: &[u8]) -> u64 {
    xxh3_64_with_seed(head, xxh3_64(body))
}

/// Takes numbers off the front of a slice whose length was checked.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let (field, rest) = self.0.split_first_chunk().ok_or(FormatError::Magic)?;
        self.0 = rest;
        Ok(*field)
    }

    fn u64(&mut self) -> Result<u64, FormatError> {
        self.take().map(u64::from_le_bytes)
    }
}

/// Splits bytes into a header and its body, every length and the checksum checked.
fn parse(bytes: &[u8]) -> Result<(Header, &[u8]), FormatError> {
    // A length fits 64 bits on every machine there is; if not, it is wrong anyhow.
    let length = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
    let found = length(bytes.len());
    let (head, body) = bytes
        .split_at_checked(HEADER_LEN)
        .ok_or(FormatError::Length { expected: length(HEADER_LEN), found })?;

    let mut fields = Fields(head);
    if fields.take()? != MAGIC {
        return Err(FormatError::Magic);
    }
    // Only the magic and the version mean the same in every version to come.
    let [version, kind, hash, reserved] = fields.take()?;
    if version != VERSION {
        return Err(FormatError::Version(version));
    }
    let small = u32::from_le_bytes(fields.take()?);
    let (seed, keys, body_len) = (fields.u64()?, fields.u64()?, fields.u64()?);
    let parameters = [small.into(), fields.u64()?, fields.u64()?];
    if length(body.len()) != body_len {
        let expected = body_len.saturating_add(length(HEADER_LEN));
        return Err(FormatError::Length { expected, found });
    }
    let covered = head.get(..CHECKSUM_AT).unwrap_or_default();
    if fields.u64()? != checksum(covered, body) {
        return Err(FormatError::Checksum);
    }

    let kind = FilterKind::from_code(kind).ok_or(FormatError::Kind(kind))?;
    if hash != HASH_XXH3 {
        return Err(FormatError::Hash(hash));
    }
    if reserved != 0 {
        return Err(FormatError::Parameters("a reserved byte is not zero"));
    }
    Ok((Header { kind, seed: Seed::new(seed), keys, parameters }, body))
}

/// A filter in its stored form, of any kind, in any bytes: borrowed, owned or shared.
///
/// Parsing checks every length and the checksum, once, and allocates nothing. The lookups of a
/// parsed filter never fail.
///
/// ```
/// use filter::{ErrorRate, FilterKind, KeyHash, Membership, Seed, Sizing, StoredFilter, build};
///
/// let seed = Seed::new(2026);
/// let keys = [KeyHash::new(seed, b"row1"), KeyHash::new(seed, b"row2")];
/// let bytes = build(FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::HBASE), seed, &keys)?;
///
/// let filter = StoredFilter::parse(bytes.as_slice())?;
/// assert_eq!((filter.kind(), filter.seed(), filter.key_count()), (FilterKind::BlockedBloom, seed, 2));
/// assert!(filter.may_contain(KeyHash::new(filter.seed(), b"row1")));
/// assert!(StoredFilter::parse(&bytes[..bytes.len() - 1]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StoredFilter<B> {
    bytes: B,
    header: Header,
    view: View,
}

/// What the header said of each kind's body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View {
    Blocked(BlockedView),
    Counting(CountingView),
    DLeft(DLeftView),
    Cuckoo(CuckooView),
    Classic(ClassicView),
    SplitBlock(SplitBlockView),
    Ribbon(RibbonView),
    BinaryFuse(FuseView),
}

impl<B: AsRef<[u8]>> StoredFilter<B> {
    /// Reads a filter that [`build`](crate::build) or a filter's `to_stored` wrote.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if the bytes are not a whole filter of a known kind, or are damaged.
    pub fn parse(bytes: B) -> Result<Self, FormatError> {
        let (header, body) = parse(bytes.as_ref())?;
        let view = match header.kind {
            FilterKind::BlockedBloom => View::Blocked(BlockedView::parse(&header, body)?),
            FilterKind::CountingBloom => View::Counting(CountingView::parse(&header, body)?),
            FilterKind::DLeft => View::DLeft(DLeftView::parse(&header, body)?),
            FilterKind::Cuckoo => View::Cuckoo(CuckooView::parse(&header, body)?),
            FilterKind::ClassicBloom => View::Classic(ClassicView::parse(&header, body)?),
            FilterKind::SplitBlock => View::SplitBlock(SplitBlockView::parse(&header, body)?),
            FilterKind::Ribbon => View::Ribbon(RibbonView::parse(&header, body)?),
            FilterKind::BinaryFuse => View::BinaryFuse(FuseView::parse(&header, body)?),
        };
        Ok(Self { bytes, header, view })
    }

    /// Returns which kind of filter it is.
    pub fn kind(&self) -> FilterKind {
        self.header.kind
    }

    /// Returns the seed that keys must be hashed with to be looked up here.
    pub fn seed(&self) -> Seed {
        self.header.seed
    }

    /// Returns how many keys were inserted, copies counted.
    pub fn key_count(&self) -> u64 {
        self.header.keys
    }

    /// Returns how many bits each key takes, without the header; 0 for a filter without keys.
    pub fn bits_per_key(&self) -> f64 {
        self.stats().bits_per_key()
    }

    /// Returns how often the filter is expected to say "maybe" about a stranger: what
    /// [`theory`](crate::theory) says of a filter of this shape with so many keys.
    pub fn error_rate(&self) -> f64 {
        self.stats().error_rate
    }

    /// Returns the checksum in the header, which covers header and body. It identifies the filter among several
    /// that are stored together.
    ///
    /// # Panics
    ///
    /// Never: a parsed filter has a header.
    pub fn checksum(&self) -> u64 {
        let stored = self.as_bytes().get(CHECKSUM_AT..).and_then(<[u8]>::first_chunk);
        u64::from_le_bytes(*stored.expect("a parsed filter has a header"))
    }

    /// Returns the stored form.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Gives back what was parsed.
    pub fn into_inner(self) -> B {
        self.bytes
    }

    /// Returns the header and the body, for a kind that can be taken back into memory.
    pub(crate) fn parts(&self) -> (&Header, &[u8]) {
        (&self.header, self.body())
    }

    /// Returns how its kind looks keys up in the body.
    pub(crate) const fn view(&self) -> &View {
        &self.view
    }

    /// Returns a copy in memory of its own.
    pub(crate) fn copied(&self) -> Result<StoredFilter<AlignedBytes>, BuildError> {
        let bytes = AlignedBytes::copy_of(self.as_bytes())?;
        Ok(StoredFilter { bytes, header: self.header, view: self.view })
    }

    #[inline]
    fn body(&self) -> &[u8] {
        self.bytes.as_ref().get(HEADER_LEN..).unwrap_or_default()
    }
}

impl<B: AsRef<[u8]>> Membership for StoredFilter<B> {
    #[inline]
    fn may_contain(&self, hash: KeyHash) -> bool {
        match &self.view {
            View::Blocked(view) => view.may_contain(self.body(), hash),
            View::Counting(view) => view.may_contain(self.body(), hash),
            View::DLeft(view) => view.may_contain(self.body(), hash),
            View::Classic(view) => view.may_contain(self.body(), hash),
            View::SplitBlock(view) => view.may_contain(self.body(), hash),
            View::Cuckoo(view) => view.may_contain(self.body(), hash),
            View::Ribbon(view) => view.may_contain(self.body(), hash),
            View::BinaryFuse(view) => view.may_contain(self.body(), hash),
        }
    }

    #[inline]
    fn prefetch(&self, hash: KeyHash) {
        match &self.view {
            View::Blocked(_) => BlockedView::prefetch(self.body(), hash),
            View::Classic(_) => ClassicView::prefetch(self.body(), hash),
            View::Counting(_) => CountingView::prefetch(self.body(), hash),
            View::SplitBlock(_) => SplitBlockView::prefetch(self.body(), hash),
            View::DLeft(view) => view.prefetch(self.body(), hash),
            View::Cuckoo(view) => view.prefetch(self.body(), hash),
            View::Ribbon(view) => view.prefetch(self.body(), hash),
            View::BinaryFuse(view) => view.prefetch(self.body(), hash),
        }
    }

    #[inline]
    fn prefetch_next(&self, hash: KeyHash) -> bool {
        match &self.view {
            View::Classic(view) => view.prefetch_next(self.body(), hash),
            _ => true,
        }
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        match &self.view {
            View::Blocked(view) => view.may_contain_batch(self.body(), hashes, answers),
            View::Counting(view) => view.may_contain_batch(self.body(), hashes, answers),
            View::SplitBlock(view) => view.may_contain_batch(self.body(), hashes, answers),
            View::DLeft(view) => view.may_contain_batch(self.body(), hashes, answers),
            View::Cuckoo(view) => view.may_contain_batch(self.body(), hashes, answers),
            View::Ribbon(view) => view.may_contain_batch(self.body(), hashes, answers),
            View::BinaryFuse(view) => view.may_contain_batch(self.body(), hashes, answers),
            View::Classic(_) => membership::batch(self, hashes, answers),
        }
    }

    fn stats(&self) -> FilterStats {
        match &self.view {
            View::Blocked(view) => view.stats(self.body(), self.header.keys),
            View::Counting(view) => view.stats(self.body(), self.header.keys),
            View::DLeft(view) => view.stats(self.body(), self.header.keys),
            View::Classic(view) => view.stats(self.body(), self.header.keys),
            View::SplitBlock(_) => SplitBlockView::stats(self.body(), self.header.keys),
            View::Cuckoo(view) => view.stats(self.body(), self.header.keys),
            View::Ribbon(view) => view.stats(self.body(), self.header.keys),
            View::BinaryFuse(view) => view.stats(self.header.keys),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the kind stands.
    const KIND_AT: usize = 9;

    /// The number of a ribbon whose equations followed from the hash in another way among them: asked in
    /// this way, it would deny its keys.
    #[test]
    fn numbers_that_are_no_kind_are_refused() {
        let known: Vec<u8> = FilterKind::ALL.iter().map(|kind| kind.code()).collect();
        let header =
            Header { kind: FilterKind::Ribbon, seed: Seed::new(1), keys: 0, parameters: [0; 3] };
        for kind in (0..=u8::MAX).filter(|kind| !known.contains(kind)) {
            let mut bytes = write(&header, 0, core::iter::empty());
            *bytes.get_mut(KIND_AT).expect("a header") = kind;
            let (covered, place) = bytes.split_at_mut(CHECKSUM_AT);
            place.copy_from_slice(&checksum(covered, &[]).to_le_bytes());
            let refused = StoredFilter::parse(&bytes).expect_err("not a kind");
            assert_eq!(refused, FormatError::Kind(kind));
        }
        assert!(!known.contains(&7));
    }
}
