//! The stored form of a d-left filter.
//!
//! | header parameter | meaning                                                                   |
//! |------------------|---------------------------------------------------------------------------|
//! | 0                | subtables + bits of a remainder × 2^8 + bits of a counter × 2^16          |
//! | 1                | buckets of a subtable                                                     |
//! | 2                | entries: cells in use + keys in the stash                                 |
//!
//! Body: the subtables, with buckets as in [`super::cells`]; then the stash, as in
//! [`super::stash`]. The multipliers of the permutations are not stored: they follow from the
//! number of buckets and the bits of a remainder.

use alloc::vec::Vec;

use super::filter::DLeft;
use super::layout::Layout;
use super::options::{CounterBits, REMAINDER_BITS, SUBTABLES};
use super::shape::{BUCKETS_MAX, Shape};
use super::stash::{self, Stashed};
use crate::error::FormatError;
use crate::hash::KeyHash;
use crate::header::{Header, widened};
use crate::membership::FilterStats;
use crate::stored_view::StoredView;

impl DLeft {
    /// Returns the stored form, which [`StoredFilter`](crate::StoredFilter) reads.
    pub fn to_stored(&self) -> Vec<u8> {
        let shape = self.layout.shape;
        let bits = shape.remainder_bits << 8 | shape.counter_bits.get() << 16;
        let header = Header {
            kind: DLeftView::CODE,
            seed: self.seed,
            keys: self.keys,
            parameters: [u64::from(shape.subtables | bits), shape.buckets, self.entries()],
        };
        let stash: Vec<[u8; 8]> = self.stash.iter().map(|stashed| stashed.to_bytes()).collect();
        let stash = stash.as_flattened();
        header.write(&[&self.table, stash])
    }

    /// Copies the body of a stored filter into memory.
    pub(crate) fn from_body(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        if header.kind != DLeftView::CODE {
            return Err(FormatError::OtherKind("d-left"));
        }
        let view = DLeftView::parse(header, body)?;
        let (table, stash) = view.split(body);
        let used = view.layout.count_used(table);
        let stash = stash.iter().map(|bytes| Stashed::from_bytes(*bytes)).collect();
        let (layout, table, keys) = (view.layout, table.to_vec(), header.keys);
        Ok(Self { layout, table, stash, used, keys, seed: header.seed })
    }
}

/// A view of a stored d-left filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DLeftView {
    layout: Layout,
    /// Bytes of the subtables; the stash follows.
    table_len: usize,
    /// Number of cells in use and of keys in the stash.
    entries: u64,
}

impl StoredView for DLeftView {
    const CODE: u8 = 5;

    /// Checks the header against the length of the body, and the order of the stash.
    fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let invalid = FormatError::Parameters;
        let [bits, buckets, entries] = header.parameters;
        let bits = u32::try_from(bits).map_err(|_| invalid("a reserved byte is not zero"))?;
        let [subtables, remainder_bits, counter_bits, 0] = bits.to_le_bytes() else {
            return Err(invalid("a reserved byte is not zero"));
        };
        let counter_bits = match counter_bits {
            2 => CounterBits::Two,
            4 => CounterBits::Four,
            _ => return Err(invalid("a counter does not have 2 or 4 bits")),
        };
        let (subtables, remainder_bits) = (subtables.into(), remainder_bits.into());
        if !SUBTABLES.contains(&subtables) || !REMAINDER_BITS.contains(&remainder_bits) {
            return Err(invalid("not 2 to 8 subtables, or not remainders of 4 to 26 bits"));
        }
        if buckets > BUCKETS_MAX || buckets == 0 && !(body.is_empty() && header.keys == 0) {
            return Err(invalid("too many buckets, or keys without buckets"));
        }
        let shape = Shape { subtables, buckets, remainder_bits, counter_bits };
        let table_len = usize::try_from(shape.table_len()).ok().filter(|len| *len <= body.len());
        let table_len = table_len.ok_or(invalid("the body is shorter than its buckets"))?;

        let view = Self { layout: Layout::new(shape), table_len, entries };
        let (_, rest) = body.split_at(table_len);
        if !rest.len().is_multiple_of(size_of::<u64>()) {
            return Err(invalid("the length of the stash is not a multiple of 8"));
        }
        if !view.stash_is_sound(body) {
            return Err(invalid("the stash is not sorted or has an invalid entry"));
        }
        Ok(view)
    }

    fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
        let number = self.layout.permutations.number(hash);
        let (table, stash) = self.split(body);
        self.layout.contains(table, number) || stash::contains(stash, number)
    }

    fn prefetch(&self, body: &[u8], hash: KeyHash) {
        let (table, _) = self.split(body);
        self.layout.prefetch(table, self.layout.permutations.number(hash));
    }

    fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        let (table, stash) = self.split(body);
        self.layout.contains_batch(table, hashes, answers);
        if !stash.is_empty() {
            for (hash, answer) in hashes.iter().zip(answers) {
                let number = self.layout.permutations.number(*hash);
                *answer = *answer || stash::contains(stash, number);
            }
        }
    }

    fn stats(&self, body: &[u8], keys: u64) -> FilterStats {
        FilterStats {
            keys,
            bytes: widened(body.len()),
            error_rate: self.layout.shape.held_rate(self.entries),
        }
    }
}

impl DLeftView {
    /// Returns whether the stash is sorted, without duplicates and with valid numbers and copies.
    fn stash_is_sound(&self, body: &[u8]) -> bool {
        let shape = self.layout.shape;
        let (_, stash) = self.split(body);
        let mut stash = stash.iter().map(|bytes| Stashed::from_bytes(*bytes));
        let copies = 1..=shape.counter_bits.copies_max();
        let mut next = 0; // The lowest valid number of the next key.
        stash.all(|stashed| {
            let is_next = stashed.number >= next;
            next = stashed.number.wrapping_add(1); // Never wraps: a number has 58 bits.
            is_next
                && copies.contains(&stashed.copies)
                && stashed.number >> shape.remainder_bits < shape.buckets
        })
    }

    /// Splits the body into the subtables and the stash; both empty if the body is too short.
    fn split<'a>(&self, body: &'a [u8]) -> (&'a [u8], &'a [[u8; 8]]) {
        let (table, stash) = body.split_at_checked(self.table_len).unwrap_or_default();
        (table, stash.as_chunks().0)
    }
}
