//! A row to look up in many files, with cached hashes.

use std::cell::OnceCell;

use cells::{RowHead, row_head};
use filter::Seed;
use filter::engine::KeyHash;
use filter::hbase::{HashPair, HashType};

use cells::{KeyRef, Timestamp};

/// A row to look up. Caches the hashes that filters need, across all files.
///
/// ```
/// use filter::Seed;
/// use sstable::RowProbe;
///
/// let probe = RowProbe::new(b"row1", Seed::new(7));
/// assert_eq!(probe.row(), b"row1");
/// ```
#[derive(Clone, Debug)]
pub struct RowProbe<'k> {
    row: &'k [u8],
    head: RowHead,
    qualifier: Option<&'k [u8]>,
    seed: Seed,
    key_hash: OnceCell<KeyHash>,
    row_pairs: [OnceCell<HashPair>; 3],
    /// Boxed, to keep the probe small: few filters need it.
    column: OnceCell<Box<ColumnKeys>>,
}

/// The keys for a `ROWCOL` filter: the column, and the family deletes of the row.
#[derive(Clone, Debug)]
struct ColumnKeys {
    keys: [Vec<u8>; 2],
    pairs: [OnceCell<[HashPair; 2]>; 3],
}

impl<'k> RowProbe<'k> {
    /// Returns a probe for a row; `seed` is the one shared by the filters of a store's files.
    pub fn new(row: &'k [u8], seed: Seed) -> Self {
        Self::of_column(row, None, seed)
    }

    /// Returns a probe for a row or, if `qualifier` is given, [for that column](Self::with_column).
    #[doc(hidden)]
    #[inline]
    pub fn of_column(row: &'k [u8], qualifier: Option<&'k [u8]>, seed: Seed) -> Self {
        Self {
            row,
            head: row_head(row),
            qualifier,
            seed,
            key_hash: OnceCell::new(),
            row_pairs: Default::default(),
            column: OnceCell::new(),
        }
    }

    /// Restricts the probe to the column with this qualifier, so that column filters can be used.
    ///
    /// If a column filter says no, the file has neither the column nor a delete of its whole
    /// family.
    #[must_use]
    pub fn with_column(self, qualifier: &'k [u8]) -> Self {
        Self::of_column(self.row, Some(qualifier), self.seed)
    }

    /// The row.
    pub const fn row(&self) -> &'k [u8] {
        self.row
    }

    /// The head of the row.
    pub(crate) const fn head(&self) -> RowHead {
        self.head
    }

    /// The qualifier, if the probe is restricted to a column.
    pub(crate) const fn qualifier(&self) -> Option<&'k [u8]> {
        self.qualifier
    }

    /// Returns the row's hash for row filters with this seed.
    #[inline]
    pub fn key_hash(&self, seed: Seed) -> KeyHash {
        let compute = || KeyHash::new(seed, self.row);
        if seed == self.seed { *self.key_hash.get_or_init(compute) } else { compute() }
    }

    /// Returns the row's hashes for HBase's row filters.
    #[inline]
    pub(crate) fn hash_pair(&self, hash_type: HashType) -> HashPair {
        *self.row_pairs[slot(hash_type)].get_or_init(|| HashPair::new(hash_type, self.row))
    }

    /// Returns keys and hashes for HBase's column filters, if the probe is restricted to a column.
    pub(crate) fn column_keys(&self, hash_type: HashType) -> Option<[(&[u8], HashPair); 2]> {
        let qualifier = self.qualifier?;
        let column = self.column.get_or_init(|| {
            let keys = [column_key(self.row, qualifier), column_key(self.row, b"")];
            Box::new(ColumnKeys { keys, pairs: Default::default() })
        });
        let [key, deletes] = &column.keys;
        let compute = || [HashPair::new(hash_type, key), HashPair::new(hash_type, deletes)];
        let pairs = column.pairs[slot(hash_type)].get_or_init(compute);
        Some([(key, pairs[0]), (deletes, pairs[1])])
    }
}

/// The array index of a hash type.
fn slot(hash_type: HashType) -> usize {
    usize::try_from(hash_type.code()).expect("the codes of hashes are 0, 1, 2")
}

/// The key of a column in a `ROWCOL` filter: a flat key without family and timestamp.
fn column_key(row: &[u8], qualifier: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    if row.len() <= KeyRef::ROW_LEN_MAX {
        let type_code = KeyRef::MAXIMUM;
        KeyRef { row, family: b"", qualifier, timestamp: Timestamp::LATEST, type_code }
            .write_flat(&mut key);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_the_seed_and_hbase() {
        let probe = RowProbe::new(b"row1", Seed::new(7)).with_column(b"a");
        for seed in [7, 8] {
            let seed = Seed::new(seed);
            assert_eq!(probe.key_hash(seed), KeyHash::new(seed, b"row1"));
        }
        for _ in 0..2 {
            let pair = probe.hash_pair(HashType::Murmur);
            assert_eq!((pair.h1, pair.h2), (0x0944_4512, 0xa1be_7502_u32.cast_signed()));
            let [(key, pair), (deletes, _)] = probe.column_keys(HashType::Murmur).unwrap();
            assert_eq!(key, b"\0\x04row1\0a\x7f\xff\xff\xff\xff\xff\xff\xff\xff");
            assert_eq!(pair.h1, 0x89b0_96c5_u32.cast_signed());
            assert_eq!(deletes, b"\0\x04row1\0\x7f\xff\xff\xff\xff\xff\xff\xff\xff");
        }
        assert!(RowProbe::new(b"row1", Seed::new(7)).column_keys(HashType::Murmur).is_none());
    }
}
