//! `DynamicBloomFilter`: a list of Bloom filters ("rows") that grows with the number of keys.
//!
//! Names in parentheses, such as (`nr`), are names of Hadoop's class.

use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use filter::BuildError;

use super::bits::BloomFilter;
use super::shape::{EmptyKey, NotHadoop, Shape, expect_end, read_i32};

/// Hadoop's `DynamicBloomFilter`, with the same bits and the same serialised form.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use filter::ErrorRate;
/// use foreign_filters::hadoop::{DynamicBloomFilter, Hash, Shape};
///
/// let row_keys = NonZeroU32::new(100).expect("not zero");
/// let shape = Shape::for_keys(row_keys.get(), ErrorRate::new(0.001)?, Hash::Murmur)?;
/// let mut filter = DynamicBloomFilter::new(shape, row_keys)?;
/// for number in 0..250_u32 {
///     filter.insert(&number.to_be_bytes())?;
/// }
/// assert_eq!(filter.row_count(), 3);
/// assert!((0..250_u32).all(|number| filter.may_contain(&number.to_be_bytes())));
/// assert_eq!(DynamicBloomFilter::from_bytes(&filter.to_bytes())?, filter);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DynamicBloomFilter {
    shape: Shape,
    /// The capacity of a row in keys (`nr`), at most 2^31 − 1.
    row_keys: NonZeroU32,
    /// Keys counted in the last row (`currentNbRecord`). Exceeds `row_keys` only in Hudi's filters.
    last_keys: u32,
    /// At least one row.
    rows: Vec<BloomFilter>,
}

impl DynamicBloomFilter {
    /// Creates a filter of one empty row. Each row holds up to `row_keys` keys (`nr`).
    ///
    /// # Errors
    ///
    /// [`BuildError::Memory`] if a row does not fit into memory, and if `row_keys` exceeds
    /// 2^31 − 1, the maximum of a Java `int`.
    pub fn new(shape: Shape, row_keys: NonZeroU32) -> Result<Self, BuildError> {
        i32::try_from(row_keys.get()).map_err(|_| BuildError::Memory)?;
        Ok(Self { shape, row_keys, last_keys: 0, rows: vec![BloomFilter::new(shape)?] })
    }

    /// Inserts a key into the last row, or into a new row if the last one is full (`add`).
    ///
    /// # Errors
    ///
    /// [`InsertError`] if the key is empty or a new row does not fit into memory. The filter is
    /// then unchanged.
    pub fn insert(&mut self, key: &[u8]) -> Result<(), InsertError> {
        if key.is_empty() {
            return Err(EmptyKey.into());
        }
        if self.last_keys >= self.row_keys.get() {
            self.rows.push(BloomFilter::new(self.shape)?);
            self.last_keys = 0;
        }
        self.rows.last_mut().expect("there is a row").insert(key)?;
        self.last_keys = self.last_keys.checked_add(1).expect("at most `row_keys`");
        Ok(())
    }

    /// Returns false if the key was certainly never inserted, true if it may have been.
    ///
    /// Hadoop calls it `membershipTest`. Returns false for the empty key, which cannot be inserted.
    pub fn may_contain(&self, key: &[u8]) -> bool {
        self.rows.iter().any(|row| row.may_contain(key))
    }

    /// Returns the parameters that all rows share.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the capacity of a row in keys (`nr`).
    pub const fn row_keys(&self) -> NonZeroU32 {
        self.row_keys
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of insertions, insertions of duplicate keys included.
    ///
    /// It is computed from the number of rows and the count of the last row. It is too low for a
    /// union of filters that Hadoop wrote.
    pub fn len(&self) -> u64 {
        let rows = u64::try_from(self.rows.len()).expect("no target has longer lengths");
        let full = rows.checked_sub(1).expect("there is a row");
        // Saturates, because deserialised bytes may state any capacity.
        full.saturating_mul(self.row_keys.get().into()).saturating_add(self.last_keys.into())
    }

    /// Returns whether [`len`](Self::len) is zero.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the error rate: the probability that at least one row has a false positive.
    pub fn error_rate(&self) -> f64 {
        1.0 - self.rows.iter().map(|row| 1.0 - row.error_rate()).product::<f64>()
    }

    /// Returns the serialised form (`write`).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.shape.write_header(&mut bytes);
        bytes.extend(self.row_keys.get().to_be_bytes());
        bytes.extend(self.last_keys.to_be_bytes());
        let rows = i32::try_from(self.rows.len()).expect("fewer rows than 2^31 fit into memory");
        bytes.extend(rows.to_be_bytes());
        for row in &self.rows {
            row.write(&mut bytes);
        }
        bytes
    }

    /// Parses the serialised form as `readFields` does, including the old form without a version.
    ///
    /// # Errors
    ///
    /// [`NotHadoop`] if the length does not match the header, or a field has a value that Hadoop
    /// never writes.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, NotHadoop> {
        let shape = Shape::read_header(&mut bytes)?;
        let wrong_rows = NotHadoop::Rows;
        let positive = |number| u32::try_from(number).ok().and_then(NonZeroU32::new);
        let row_keys = positive(read_i32(&mut bytes)?).ok_or(wrong_rows("a row holds no keys"))?;
        // May exceed `row_keys`: once a filter of Hudi has its maximum number of rows, it counts
        // all further keys in the last row.
        let last_keys = u32::try_from(read_i32(&mut bytes)?)
            .map_err(|_| wrong_rows("the last row holds a negative number of keys"))?;
        let count = positive(read_i32(&mut bytes)?).ok_or(wrong_rows("there is no row"))?;
        // Not preallocated, because the bytes may hold fewer rows than they state.
        let mut rows = Vec::new();
        for _ in 0..count.get() {
            let row = BloomFilter::read(&mut bytes)?;
            if row.shape() != shape {
                return Err(wrong_rows("a row differs from the filter in bits, probes or hash"));
            }
            rows.push(row);
        }
        expect_end(bytes)?;
        Ok(Self { shape, row_keys, last_keys, rows })
    }
}

/// Why a key could not be inserted into a dynamic filter.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The key is empty, which Hadoop's filters reject.
    #[error(transparent)]
    EmptyKey(#[from] EmptyKey),
    /// A new row does not fit into memory.
    #[error(transparent)]
    Memory(#[from] BuildError),
}
