//! What the three kinds share: size, probes, the head of the serialised form, errors.

use alloc::vec::Vec;
use core::f64::consts::LN_2;

use crate::hash::{hadoop_murmur, jenkins};
use crate::sizing::ErrorRate;

/// The version that Hadoop writes.
const VERSION: i32 = -1;

/// The most probes a key. A filter with more would err less often than once in 10^300, and every lookup
/// in bytes from outside would cost whatever their author likes.
const HASH_COUNT_MAX: u32 = 1_024;

/// Which hash a filter uses: `org.apache.hadoop.util.hash.Hash`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Hash {
    /// `JENKINS_HASH`, 0.
    Jenkins,
    /// `MURMUR_HASH`, 1: what Hadoop's `MapFile` and Hudi use.
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

    fn hash(self, key: &[u8], seed: u32) -> u32 {
        match self {
            Self::Jenkins => jenkins(key, seed),
            Self::Murmur => hadoop_murmur(key, seed),
        }
    }
}

/// The parameters of a filter: bits (or counters), probes a key, hash.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Shape {
    /// `vectorSize`, 1 ..= 2^31 − 1.
    bits: u32,
    /// `nbHash`, 1 ..= [`HASH_COUNT_MAX`].
    hash_count: u32,
    hash: Hash,
}

impl Shape {
    /// Takes `vectorSize`, `nbHash` and the hash as Hadoop's constructors do.
    ///
    /// # Errors
    ///
    /// [`InvalidShape`] unless there are 1 to 2^31 − 1 bits and 1 to 1,024 probes.
    pub fn new(bits: u32, hash_count: u32, hash: Hash) -> Result<Self, InvalidShape> {
        let is_valid = i32::try_from(bits).is_ok_and(|bits| bits > 0)
            && (1..=HASH_COUNT_MAX).contains(&hash_count);
        is_valid.then_some(Self { bits, hash_count, hash }).ok_or(InvalidShape { bits, hash_count })
    }

    /// Returns the shape for so many keys at that error rate: ⌈−n · ln p / (ln 2)²⌉ bits and
    /// ⌈ln 2 · bits / n⌉ probes. Hadoop itself leaves the choice to its caller.
    ///
    /// # Errors
    ///
    /// [`InvalidShape`] if that is more than 2^31 − 1 bits or 1,024 probes.
    pub fn for_keys(keys: u32, rate: ErrorRate, hash: Hash) -> Result<Self, InvalidShape> {
        let keys = f64::from(keys.max(1));
        let bits = libm::ceil(keys * -libm::log(rate.get()) / (LN_2 * LN_2)).max(1.0);
        let hash_count = libm::ceil(LN_2 * bits / keys);
        Self::new(saturating_u32(bits), saturating_u32(hash_count), hash)
    }

    /// Returns `vectorSize`: bits, or counters.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Returns `nbHash`: probes a key.
    pub const fn hash_count(self) -> u32 {
        self.hash_count
    }

    /// Returns the hash.
    pub const fn hash(self) -> Hash {
        self.hash
    }

    /// The positions of a key, in Hadoop's order; some may be equal.
    pub(super) fn probes(self, key: &[u8]) -> impl Iterator<Item = usize> {
        let bits = self.bits.cast_signed();
        let mut seed = 0;
        (0..self.hash_count).map(move |_| {
            seed = self.hash.hash(key, seed);
            // `bits` is positive, so the remainder is defined and its amount is below `bits`.
            let remainder = seed.cast_signed().checked_rem(bits).expect("a filter has bits");
            usize::try_from(remainder.unsigned_abs()).expect("below the length in memory")
        })
    }

    pub(super) fn write_header(self, bytes: &mut Vec<u8>) {
        bytes.extend(VERSION.to_be_bytes());
        bytes.extend(self.hash_count.to_be_bytes());
        bytes.push(self.hash.code());
        bytes.extend(self.bits.to_be_bytes());
    }

    /// Reads the head and takes it off `bytes`.
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

/// Takes a field off the front.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], NotHadoop> {
    let (field, rest) = bytes.split_first_chunk().ok_or(NotHadoop::Cut)?;
    *bytes = rest;
    Ok(*field)
}

/// Takes a Java `int` off the front.
pub(super) fn read_i32(bytes: &mut &[u8]) -> Result<i32, NotHadoop> {
    take(bytes).map(i32::from_be_bytes)
}

/// Takes so many bytes off the front.
pub(super) fn take_slice<'a>(bytes: &mut &'a [u8], len: usize) -> Result<&'a [u8], NotHadoop> {
    let (field, rest) = bytes.split_at_checked(len).ok_or(NotHadoop::Cut)?;
    *bytes = rest;
    Ok(field)
}

/// Nothing may follow a filter.
pub(super) const fn expect_end(bytes: &[u8]) -> Result<(), NotHadoop> {
    if bytes.is_empty() { Ok(()) } else { Err(NotHadoop::Excess(bytes.len())) }
}

#[expect(
    clippy::as_conversions,
    reason = "Rust's conversion saturates, and what is too large is refused"
)]
const fn saturating_u32(number: f64) -> u32 {
    number as u32
}

/// Parameters that Hadoop's classes do not take, or that no filter needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a Hadoop filter has 1 to 2^31 - 1 bits and 1 to 1024 probes, not {bits} and {hash_count}")]
pub struct InvalidShape {
    /// The bits asked for.
    pub bits: u32,
    /// The probes asked for.
    pub hash_count: u32,
}

/// Hadoop's filters refuse the empty key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a Hadoop filter cannot hold the empty key")]
pub struct EmptyKey;

/// Two filters that differ in bits, probes or hash cannot be united.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the filters differ in bits, number of probes or hash")]
pub struct ShapesDiffer;

/// Bytes that Hadoop never writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotHadoop {
    /// They end too early.
    #[error("ends within a Hadoop filter")]
    Cut,
    /// They go on after the filter.
    #[error("{0} bytes follow the Hadoop filter")]
    Excess(usize),
    /// The version is neither −1 nor, in the old form, a number of probes.
    #[error("Hadoop filter version {0} is not known")]
    Version(i32),
    /// The hash is neither Jenkins nor Murmur.
    #[error("Hadoop filter hash {0} is not known")]
    Hash(u8),
    /// Bits or probes are out of range.
    #[error("impossible parameters: {0}")]
    Shape(InvalidShape),
    /// A bit or a counter is set that the filter does not have.
    #[error("a bit is set beyond the {0} of the Hadoop filter")]
    StrayBit(u32),
    /// Rows of a dynamic filter are missing, differ from each other or hold more keys than they take.
    #[error("impossible rows of a dynamic Hadoop filter: {0}")]
    Rows(&'static str),
}
