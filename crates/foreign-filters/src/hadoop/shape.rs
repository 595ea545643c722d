//! The common parameters, probes, serialised header and errors of Hadoop's filters.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::f64::consts::LN_2;

use filter::ErrorRate;
use filter::hbase::HashType;

/// The version in the header. Filters of the old form have none, see [`Shape::read_header`].
const VERSION: i32 = -1;

/// The maximum number of probes per key, enough for an error rate of 10^−300.
///
/// Limits the cost of a lookup in a filter that was parsed from untrusted bytes.
const HASH_COUNT_MAX: u32 = 1_024;

/// The hash of a filter (`org.apache.hadoop.util.hash.Hash`).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Hash {
    /// `JENKINS_HASH`, 0.
    Jenkins,
    /// `MURMUR_HASH`, 1: used by Hadoop's `MapFile` and by Hudi.
    #[default]
    Murmur,
}

impl Hash {
    const fn code(self) -> u8 {
        match self {
            Self::Jenkins => 0,
            Self::Murmur => 1,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Jenkins),
            1 => Some(Self::Murmur),
            _ => None,
        }
    }

    /// Returns HBase's hash of the same name.
    const fn of_hbase(self) -> HashType {
        match self {
            Self::Jenkins => HashType::Jenkins,
            Self::Murmur => HashType::Murmur,
        }
    }

    /// Returns the bytes that HBase's hash takes in place of a key.
    ///
    /// Hadoop's `MurmurHash` takes the last one to three bytes of a key in the other order.
    fn key_for_hbase(self, key: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Jenkins => Cow::Borrowed(key),
            Self::Murmur => {
                let (words, tail) = key.as_chunks::<4>();
                words.as_flattened().iter().chain(tail.iter().rev()).copied().collect()
            }
        }
    }
}

/// The parameters of a filter: bits (or counters), probes per key, hash.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shape {
    /// The number of bits or counters: `vectorSize`, 1 ..= 2^31 − 1.
    bits: u32,
    /// The number of probes per key: `nbHash`, 1 ..= [`HASH_COUNT_MAX`].
    hash_count: u32,
    hash: Hash,
}

impl Shape {
    /// Creates a shape from `vectorSize`, `nbHash` and the hash, as Hadoop's constructors do.
    ///
    /// # Errors
    ///
    /// [`InvalidShape`] unless there are 1 to 2^31 − 1 bits and 1 to 1,024 probes.
    pub fn new(bits: u32, hash_count: u32, hash: Hash) -> Result<Self, InvalidShape> {
        let is_valid = i32::try_from(bits).is_ok_and(|bits| bits > 0)
            && (1..=HASH_COUNT_MAX).contains(&hash_count);
        is_valid.then_some(Self { bits, hash_count, hash }).ok_or(InvalidShape { bits, hash_count })
    }

    /// Returns the shape for a number of keys and an error rate.
    ///
    /// It has ⌈−n · ln p / (ln 2)²⌉ bits and ⌈ln 2 · bits / n⌉ probes. Hadoop has no such method.
    ///
    /// # Errors
    ///
    /// [`InvalidShape`] if the shape needs more than 2^31 − 1 bits or 1,024 probes.
    pub fn for_keys(keys: u32, rate: ErrorRate, hash: Hash) -> Result<Self, InvalidShape> {
        let keys = f64::from(keys.max(1));
        let bits = libm::ceil(keys * -libm::log(rate.get()) / (LN_2 * LN_2)).max(1.0);
        let hash_count = libm::ceil(LN_2 * bits / keys);
        Self::new(saturating_u32(bits), saturating_u32(hash_count), hash)
    }

    /// Returns `vectorSize`: the number of bits, or of counters.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Returns `nbHash`: the number of probes per key.
    pub const fn hash_count(self) -> u32 {
        self.hash_count
    }

    /// Returns the hash function.
    pub const fn hash(self) -> Hash {
        self.hash
    }

    /// Returns the positions of a key's bits or counters in Hadoop's order, possibly with repeats.
    pub(super) fn probes(self, key: &[u8]) -> impl Iterator<Item = usize> {
        let bits = self.bits.cast_signed();
        let (hash_type, key) = (self.hash.of_hbase(), self.hash.key_for_hbase(key));
        // Each hash is the seed of the next.
        let mut hash = 0;
        (0..self.hash_count).map(move |_| {
            hash = hash_type.hash(&key, hash);
            // `bits` is positive, so the remainder is defined and its magnitude is below `bits`.
            let remainder = hash.checked_rem(bits).expect("a filter has bits");
            usize::try_from(remainder.unsigned_abs())
                .expect("less than the number of bits in memory")
        })
    }

    pub(super) fn write_header(self, bytes: &mut Vec<u8>) {
        bytes.extend(VERSION.to_be_bytes());
        bytes.extend(self.hash_count.to_be_bytes());
        bytes.push(self.hash.code());
        bytes.extend(self.bits.to_be_bytes());
    }

    /// Parses the header and advances `bytes` past it.
    ///
    /// The old form has no version: its first field is `nbHash`, and its hash is Jenkins.
    pub(super) fn read_header(bytes: &mut &[u8]) -> Result<Self, NotHadoop> {
        let version = read_i32(bytes)?;
        let (hash_count, hash) = match version {
            VERSION => {
                let hash_count = read_i32(bytes)?;
                let [code] = take(bytes)?;
                (hash_count, Hash::from_code(code).ok_or(NotHadoop::Hash(code))?)
            }
            1.. => (version, Hash::Jenkins),
            _ => return Err(NotHadoop::Version(version)),
        };
        let bits = read_i32(bytes)?;
        let (bits, hash_count) = (bits.cast_unsigned(), hash_count.cast_unsigned());
        Self::new(bits, hash_count, hash).map_err(NotHadoop::Shape)
    }
}

/// Reads a field and advances `bytes` past it.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], NotHadoop> {
    let (field, rest) = bytes.split_first_chunk().ok_or(NotHadoop::Cut)?;
    *bytes = rest;
    Ok(*field)
}

/// Reads a Java `int` and advances `bytes` past it.
pub(super) fn read_i32(bytes: &mut &[u8]) -> Result<i32, NotHadoop> {
    take(bytes).map(i32::from_be_bytes)
}

/// Reads `len` bytes and advances `bytes` past them.
pub(super) fn take_slice<'a>(bytes: &mut &'a [u8], len: usize) -> Result<&'a [u8], NotHadoop> {
    let (field, rest) = bytes.split_at_checked(len).ok_or(NotHadoop::Cut)?;
    *bytes = rest;
    Ok(field)
}

/// Checks that no bytes follow a filter.
pub(super) const fn expect_end(bytes: &[u8]) -> Result<(), NotHadoop> {
    if bytes.is_empty() { Ok(()) } else { Err(NotHadoop::Excess(bytes.len())) }
}

#[expect(
    clippy::as_conversions,
    reason = "the conversion saturates, and `Shape::new` refuses numbers that are too large"
)]
const fn saturating_u32(number: f64) -> u32 {
    number as u32
}

/// Parameters out of range: 1 to 2^31 − 1 bits and 1 to 1,024 probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a Hadoop filter has 1 to 2^31 - 1 bits and 1 to 1024 probes, not {bits} and {hash_count}")]
pub struct InvalidShape {
    /// The requested number of bits.
    pub bits: u32,
    /// The requested number of probes.
    pub hash_count: u32,
}

/// Hadoop's filters do not take the empty key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a Hadoop filter cannot hold the empty key")]
pub struct EmptyKey;

/// The union of two filters that differ in bits, probes or hash was requested.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filters differ in bits, number of probes or hash")]
pub struct ShapesDiffer;

/// Why bytes are not a serialised Hadoop filter.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotHadoop {
    /// The bytes end within the filter.
    #[error("ends within a Hadoop filter")]
    Cut,
    /// Bytes follow the filter.
    #[error("{0} bytes follow the Hadoop filter")]
    Excess(usize),
    /// The version is neither −1 nor, in the old form, a number of probes.
    #[error("Hadoop filter version {0} is not known")]
    Version(i32),
    /// The hash is neither Jenkins nor Murmur.
    #[error("Hadoop filter hash {0} is not known")]
    Hash(u8),
    /// The number of bits or probes is out of range.
    #[error("impossible parameters: {0}")]
    Shape(InvalidShape),
    /// A bit or a counter beyond the size of the filter is set.
    #[error("a bit is set beyond the {0} bits or counters of the Hadoop filter")]
    StrayBit(u32),
    /// The rows of a dynamic filter are missing or differ in shape, or their numbers of keys are
    /// invalid.
    #[error("impossible rows of a dynamic Hadoop filter: {0}")]
    Rows(&'static str),
}
