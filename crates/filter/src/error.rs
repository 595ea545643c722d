//! Errors of building a filter, of parsing its stored form, and of changing it.

/// Why a filter could not be built.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The kind cannot reach an error rate this low.
    #[error("this kind of filter cannot reach an error rate of {0}")]
    ErrorRate(f64),
    /// Bits per key must be a positive number.
    #[error("a filter cannot have {0} bits per key")]
    BitsPerKey(f64),
    /// Fingerprints (or remainders) cannot have this length.
    #[error("a fingerprint cannot have {0} bits")]
    FingerprintBits(u32),
    /// Buckets have 1, 2, 4 or 8 slots.
    #[error("a bucket has 1, 2, 4 or 8 slots, not {0}")]
    SlotCount(u32),
    /// A key sets 1 to 64 bits.
    #[error("a key sets 1 to 64 bits, not {0}")]
    ProbeCount(u32),
    /// The budget is smaller than the smallest filter.
    #[error("the smallest filter takes {needed} bytes, the budget is {budget}")]
    Budget {
        /// Bytes of the smallest filter.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// The keys do not fit into a filter of the requested size.
    #[error("the keys do not fit into a filter of that size")]
    Full,
    /// The filter does not fit into memory.
    #[error("the filter does not fit into memory")]
    Memory,
}

/// Why bytes are not a stored filter.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The bytes do not begin with the magic number of a stored filter.
    #[error("not a stored filter")]
    Magic,
    /// The format version is unknown: a later release wrote the filter.
    #[error("filter format version {0} is not known")]
    Version(u8),
    /// The kind is unknown: a later release wrote the filter, or another program.
    #[error("filter kind {0} is not known")]
    Kind(u8),
    /// The hash function is unknown: a later release wrote the filter.
    #[error("filter hash {0} is not known")]
    Hash(u8),
    /// The filter is sound, but not of the kind that was asked for.
    #[error("the stored filter is of another kind, not a {0} filter")]
    OtherKind(&'static str),
    /// The number of bytes does not match the header.
    #[error("a stored filter of {expected} bytes was expected, {found} bytes were found")]
    Length {
        /// The length according to the header, or the length of a header.
        expected: u64,
        /// The number of bytes passed in.
        found: u64,
    },
    /// The checksum does not match the bytes: they are damaged.
    #[error("the filter's checksum is wrong")]
    Checksum,
    /// The checksum matches, but the parameters contradict each other or the body's length.
    #[error("impossible filter parameters: {0}")]
    Parameters(&'static str),
}

/// The filter cannot take another key. It is unchanged.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filter is full")]
pub struct Full;

/// The filter does not hold the key to be removed. It is unchanged.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filter does not hold the key")]
pub struct Absent;
