//! What can go wrong: building a filter, reading its stored form, changing it.

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

/// The filter cannot take another key; it has not changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filter is full")]
pub struct Full;

/// The filter does not hold the key that was to be removed; it has not changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filter does not hold the key")]
pub struct Absent;
