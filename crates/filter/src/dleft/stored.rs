//! The stored form of a d-left filter.
//!
//! | header parameter | what it is                                                                 |
//! |------------------|----------------------------------------------------------------------------|
//! | 0                | subtables; bits of a remainder × 2^8; bits of a counter × 2^16             |
//! | 1                | buckets of a subtable                                                      |
//! | 2                | cells in use and keys in the stash together                                |
//!
//! Body: the subtables, one after the other, each bucket as in [`super::cells`]; then the stash, eight
//! bytes a key: number × 2^6 + copies, little-endian, ascending. The multipliers of the permutations
//! follow from the number of buckets and the bits of a remainder.
#![warn(clippy::indexing_slicing, clippy::as_conversions, clippy::arithmetic_side_effects)]

use alloc::vec::Vec;

use crate::format::{self, Header};
use crate::{FilterKind, FilterStats, FormatError, KeyHash, Seed, StoredFilter};

use super::filter::{Aside, CounterBits, DLeft};
use super::layout::Layout;
use super::shape::{BUCKETS_MAX, CELLS, REMAINDER_BITS, SUBTABLES, Shape};

/// Bits of the copies of a key in the stash; above them stands its number.
const COPIES_BITS: u32 = 6;

impl Aside {
    /// Bytes of a key in the stash.
    pub(super) const LEN: u64 = 8;

    const fn to_word(self) -> u64 {
        self.number << COPIES_BITS | u64::from_le_bytes(widened(self.copies.to_le_bytes()))
    }

    fn from_word(word: u64) -> Self {
        let copies = word & 0x3f;
        Self { number: word >> COPIES_BITS, copies: u32::try_from(copies).unwrap_or_default() }
    }
}

const fn widened([a, b, c, d]: [u8; 4]) -> [u8; 8] {
    [a, b, c, d, 0, 0, 0, 0]
}

impl DLeft {
    /// Returns the stored form, to be read back by [`StoredFilter`](crate::StoredFilter).
    pub fn to_stored(&self, seed: Seed) -> Vec<u8> {
        let shape = self.layout.shape;
        let bits = shape.remainder_bits << 8 | shape.counter_bits.get() << 16;
        let header = Header {
            kind: FilterKind::DLeft,
            seed,
            keys: self.keys,
            parameters: [u64::from(shape.subtables | bits), shape.buckets, self.entries()],
        };
        let stash: Vec<[u8; 8]> =
            self.stash.iter().map(|aside| aside.to_word().to_le_bytes()).collect();
        let stash = stash.as_flattened();
        let len = self.table.len().saturating_add(stash.len());
        format::write(&header, len, [self.table.as_slice(), stash].into_iter())
    }

    /// Takes a stored filter back into memory, to be changed there.
    ///
    /// # Errors
    ///
    /// [`FormatError::Parameters`] if the filter is of another kind.
    pub fn from_stored<B: AsRef<[u8]>>(stored: &StoredFilter<B>) -> Result<Self, FormatError> {
        let (header, body) = stored.parts();
        if header.kind != FilterKind::DLeft {
            return Err(FormatError::Parameters("the filter is not a d-left filter"));
        }
        let view = DLeftView::parse(header, body)?;
        let (table, stash) = view.split(body);
        let used = view.layout.count_used(table);
        let stash = stash.iter().map(|word| Aside::from_word(u64::from_le_bytes(*word))).collect();
        Ok(Self { layout: view.layout, table: table.to_vec(), stash, used, keys: header.keys })
    }
}

/// A d-left filter in bytes that are not ours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DLeftView {
    layout: Layout,
    /// Bytes of the subtables; the stash comes after them.
    table_len: usize,
    entries: u64,
}

impl DLeftView {
    /// Checks what the header says against the length of the body, and that the stash is in order.
    pub(crate) fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let wrong = FormatError::Parameters;
        let [bits, buckets, entries] = header.parameters;
        let bits = u32::try_from(bits).map_err(|_| wrong("too many bits"))?;
        let [subtables, remainder_bits, counter_bits, 0] = bits.to_le_bytes() else {
            return Err(wrong("a reserved byte is not zero"));
        };
        let counter_bits = match counter_bits {
            2 => CounterBits::Two,
            4 => CounterBits::Four,
            _ => return Err(wrong("a counter has 2 or 4 bits")),
        };
        let (subtables, remainder_bits) = (subtables.into(), remainder_bits.into());
        if !SUBTABLES.contains(&subtables) || !REMAINDER_BITS.contains(&remainder_bits) {
            return Err(wrong("a d-left filter has 2 to 8 subtables, remainders of 4 to 26 bits"));
        }
        if buckets > BUCKETS_MAX || buckets == 0 && !(body.is_empty() && header.keys == 0) {
            return Err(wrong("there are keys if and only if there are buckets"));
        }
        let shape = Shape { subtables, buckets, remainder_bits, counter_bits };
        let table_len = usize::try_from(shape.table_len()).ok().filter(|len| *len <= body.len());
        let table_len = table_len.ok_or(wrong("there are fewer buckets than announced"))?;

        let view = Self { layout: Layout::new(shape), table_len, entries };
        let (_, rest) = body.split_at_checked(table_len).unwrap_or_default();
        if !rest.len().is_multiple_of(size_of::<u64>()) {
            return Err(wrong("the stash is not made of whole keys"));
        }
        if !view.stash_is_sound(body) {
            return Err(wrong("the stash is not in order"));
        }
        Ok(view)
    }

    fn stash_is_sound(&self, body: &[u8]) -> bool {
        let shape = self.layout.shape;
        let (_, stash) = self.split(body);
        let mut stash = stash.iter().map(|word| Aside::from_word(u64::from_le_bytes(*word)));
        let copies = 1..=shape.counter_bits.copies_max();
        let mut next = 0; // The least number that may follow.
        stash.all(|aside| {
            let is_next = aside.number >= next;
            next = aside.number.saturating_add(1);
            is_next
                && copies.contains(&aside.copies)
                && aside.number >> shape.remainder_bits < shape.buckets
        })
    }

    /// Splits the body into the subtables and the stash.
    fn split<'a>(&self, body: &'a [u8]) -> (&'a [u8], &'a [[u8; 8]]) {
        let (table, stash) = body.split_at_checked(self.table_len).unwrap_or_default();
        (table, stash.as_chunks().0)
    }

    pub(crate) fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
        let number = self.layout.permutations.number(hash);
        let (table, stash) = self.split(body);
        self.layout.contain(table, number) || is_aside(stash, number)
    }

    pub(crate) fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        let (table, stash) = self.split(body);
        self.layout.contain_batch(table, hashes, answers);
        if !stash.is_empty() {
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer = *answer || is_aside(stash, self.layout.permutations.number(*hash));
            }
        }
    }

    /// Returns the number of buckets of all subtables.
    pub(crate) fn buckets(&self) -> usize {
        let Shape { subtables, buckets, .. } = self.layout.shape;
        // There are fewer than bytes in the body.
        usize::try_from(buckets.saturating_mul(subtables.into())).unwrap_or(usize::MAX)
    }

    /// Returns how many bits a remainder has.
    pub(crate) const fn remainder_bits(&self) -> u32 {
        self.layout.shape.remainder_bits
    }

    /// Returns the remainders in a bucket, those of the cells in use.
    pub(crate) fn remainders(&self, body: &[u8], bucket: usize) -> [Option<u32>; CELLS] {
        self.layout.remainders(body, bucket)
    }

    /// Returns the number that stands for a key.
    #[inline]
    pub(crate) const fn number(&self, hash: KeyHash) -> u64 {
        self.layout.permutations.number(hash)
    }

    /// Goes over the places of a number: in which bucket, and the remainder that it has there.
    #[inline]
    pub(crate) fn places(&self, number: u64) -> impl Iterator<Item = (usize, u32)> {
        self.layout.places(number)
    }

    /// Goes over the numbers that found no cell.
    pub(crate) fn stash(&self, body: &[u8]) -> impl Iterator<Item = u64> {
        let (_, stash) = self.split(body);
        stash.iter().map(|word| Aside::from_word(u64::from_le_bytes(*word)).number)
    }

    pub(crate) fn prefetch(&self, body: &[u8], hash: KeyHash) {
        let (table, _) = self.split(body);
        self.layout.prefetch(table, self.layout.permutations.number(hash));
    }

    pub(crate) fn stats(&self, body: &[u8], keys: u64) -> FilterStats {
        FilterStats {
            keys,
            bytes: u64::try_from(body.len()).unwrap_or(u64::MAX),
            error_rate: self.layout.shape.held_rate(self.entries),
        }
    }
}

/// Returns whether a number is in the stash.
fn is_aside(stash: &[[u8; 8]], number: u64) -> bool {
    let aside = |word: &[u8; 8]| u64::from_le_bytes(*word) >> COPIES_BITS;
    !stash.is_empty() && stash.binary_search_by_key(&number, aside).is_ok()
}
