//! The stored form of a cuckoo filter.
//!
//! Header parameter 0 is f, the number of bits of a fingerprint (4 to 16). Parameter 1 is the
//! number of buckets. Parameter 2 is the number of overflow entries. The body:
//!
//! | bytes            | content                                                                  |
//! |-----------------:|--------------------------------------------------------------------------|
//! | buckets · f / 2, | the buckets: four fingerprints of f bits, the first in the lowest bits   |
//! | rounded up       | of a little-endian word; 0 is an empty slot. If f is odd, every second   |
//! |                  | bucket begins at bit 4 of a byte. If the number of buckets is odd, too,  |
//! |                  | the upper half of the last byte is 0                                     |
//! | overflow · 16    | the entries, in ascending order of `identity`. An entry has two u64 LE:  |
//! |                  | `identity`, the lower of the key's two buckets times 2^16, plus the      |
//! |                  | fingerprint; `copies`, the copies beyond those in slots, at least 1      |
//!
//! The computation of the fingerprint and of the two buckets is part of the format, see
//! [`KeyBuckets`].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::bucket::{Buckets, KeyBuckets};
use super::filter::{Cuckoo, OVERFLOW_ENTRY_LEN};
use super::shape;
use crate::error::FormatError;
use crate::hash::KeyHash;
use crate::header::{Header, widened};
use crate::membership::FilterStats;
use crate::stored_view::StoredView;
use crate::theory;

/// A view of a stored cuckoo filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CuckooView {
    buckets: Buckets,
    /// Number of buckets.
    count: usize,
    /// Bytes of all buckets.
    table_len: usize,
    /// The number of copies that the overflow counts, over all its entries.
    overflow_keys: u64,
}

impl StoredView for CuckooView {
    const CODE: u8 = 6;

    /// Checks the parameters against the body, and the overflow entries against the buckets.
    ///
    /// The key of an overflow entry must also be in a bucket: lookups read only the buckets.
    fn parse(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        let invalid = FormatError::Parameters;
        let [bits, count, overflow] = header.parameters;
        let buckets =
            shape::layout(bits).ok_or(invalid("a fingerprint does not have 4 to 16 bits"))?;
        let table_len = usize::try_from(buckets.table_len(count)).ok();
        let overflow_len = usize::try_from(overflow)
            .ok()
            .and_then(|overflow| overflow.checked_mul(OVERFLOW_ENTRY_LEN));
        let table_and_overflow =
            table_len.zip(overflow_len).and_then(|(table, overflow)| table.checked_add(overflow));
        let (Some(table_len), true) = (table_len, table_and_overflow == Some(body.len())) else {
            return Err(invalid("the length of the body does not match its buckets and overflow"));
        };
        let count = usize::try_from(count).map_err(|_| invalid("too many buckets"))?;

        let (table, overflow) = body.split_at(table_len);
        if !buckets.is_padding_zero(table, count) {
            return Err(invalid("the bits after the last bucket are not zero"));
        }
        let (mut overflow_keys, mut previous) = (0_u64, None);
        for (identity, copies) in entries(overflow) {
            let key = KeyBuckets::from_identity(identity, buckets, count);
            if previous >= Some(identity)
                || copies == 0
                || !key.is_some_and(|key| buckets.holds(table, key))
            {
                return Err(invalid("an overflow entry is invalid or matches no key in a bucket"));
            }
            overflow_keys = overflow_keys
                .checked_add(copies)
                .ok_or(invalid("more overflow copies than keys"))?;
            previous = Some(identity);
        }
        if overflow_keys > header.keys {
            return Err(invalid("more overflow copies than keys"));
        }
        Ok(Self { buckets, count, table_len, overflow_keys })
    }

    fn may_contain(&self, body: &[u8], hash: KeyHash) -> bool {
        // The overflow after the table is not read: both buckets of a key are inside the table.
        self.buckets.contains(body, self.count, hash)
    }

    fn prefetch(&self, body: &[u8], hash: KeyHash) {
        self.buckets.prefetch(body, self.count, hash);
    }

    fn may_contain_batch(&self, body: &[u8], hashes: &[KeyHash], answers: &mut [bool]) {
        self.buckets.contains_batch(body, self.count, hashes, answers);
    }

    fn stats(&self, body: &[u8], keys: u64) -> FilterStats {
        let bits = self.buckets.fingerprint_bits();
        let in_slots = keys.checked_sub(self.overflow_keys).expect("checked when it was parsed");
        FilterStats {
            keys,
            bytes: widened(body.len()),
            error_rate: theory::cuckoo_error_rate(in_slots, widened(self.count), bits),
        }
    }
}

/// Iterates over the overflow entries, as pairs of identity and copies.
fn entries(overflow: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let (entries, _) = overflow.as_chunks::<OVERFLOW_ENTRY_LEN>();
    entries.iter().map(|entry| {
        let (numbers, _) = entry.as_chunks::<8>();
        let mut numbers = numbers.iter().copied().map(u64::from_le_bytes);
        let mut number = || numbers.next().expect("an entry has two numbers");
        (number(), number())
    })
}

impl Cuckoo {
    /// Returns the stored form, for [`StoredFilter`](crate::StoredFilter) and
    /// [`from_stored`](Self::from_stored).
    pub fn to_stored(&self) -> Vec<u8> {
        let header = Header {
            kind: CuckooView::CODE,
            seed: self.seed,
            keys: self.keys,
            parameters: [
                self.buckets.fingerprint_bits().into(),
                widened(self.count),
                widened(self.overflow.len()),
            ],
        };
        let mut overflow = Vec::new();
        for (identity, copies) in &self.overflow {
            overflow.extend(identity.to_le_bytes());
            overflow.extend(copies.to_le_bytes());
        }
        header.write(&[&self.table, &overflow])
    }

    /// Copies the body of a stored filter into memory.
    ///
    /// Checks more than the view does: the number of keys in the header must be the sum of the
    /// slots in use and the copies in the overflow.
    pub(crate) fn from_body(header: &Header, body: &[u8]) -> Result<Self, FormatError> {
        if header.kind != CuckooView::CODE {
            return Err(FormatError::OtherKind("cuckoo"));
        }
        let CuckooView { buckets, count, table_len, overflow_keys } =
            CuckooView::parse(header, body)?;
        let (table, overflow) = body.split_at(table_len);
        let overflow: BTreeMap<u64, u64> = entries(overflow).collect();

        let taken =
            |bucket| buckets.slots().abs_diff(buckets.count(buckets.word(table, bucket), 0));
        let taken: u64 = (0..count).map(|bucket| u64::from(taken(bucket))).sum();
        if taken.checked_add(overflow_keys) != Some(header.keys) {
            return Err(FormatError::Parameters("the number of keys does not match the buckets"));
        }
        Ok(Self {
            buckets,
            count,
            table: table.to_vec(),
            keys: header.keys,
            overflow,
            overflow_keys,
            seed: header.seed,
        })
    }
}
