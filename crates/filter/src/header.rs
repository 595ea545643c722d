//! The stored form of every filter: a 64-byte header, then a body whose format depends on the kind.
//!
//! All numbers are little-endian. The header is one cache line long: in a buffer that is aligned to
//! 64 bytes, the 64-byte lines and blocks of the body are aligned as well, and a lookup in one of
//! them reads a single cache line. Unaligned buffers are read correctly too.
//!
//! | at | bytes | field          | meaning                                                        |
//! |---:|------:|----------------|----------------------------------------------------------------|
//! |  0 |     8 | `magic`        | `89` `FILTER` `1a`                                             |
//! |  8 |     1 | `version`      | 1                                                              |
//! |  9 |     1 | `kind`         | the code of the kind, see [`kinds`](crate::kinds)              |
//! | 10 |     1 | `hash`         | 1: XXH3-64 with `seed`                                         |
//! | 11 |     1 | (reserved)     | 0                                                              |
//! | 12 |     4 | `parameter_0`  | defined by the kind, see the kind's module                     |
//! | 16 |     8 | `seed`         | the [`Seed`] of the key hashes                                 |
//! | 24 |     8 | `keys`         | keys inserted, duplicates counted                              |
//! | 32 |     8 | `body_len`     | bytes after the header                                         |
//! | 40 |     8 | `parameter_1`  | defined by the kind                                            |
//! | 48 |     8 | `parameter_2`  | defined by the kind                                            |
//! | 56 |     8 | `checksum`     | XXH3-64 of bytes 0 to 55, seeded with the XXH3-64 of the body  |
//!
//! Parsing verifies the checksum, which covers header and body, and returns a reference to the
//! body. It allocates nothing.

use alloc::vec::Vec;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::error::FormatError;
use crate::hash::Seed;

/// The length of the header of a stored filter, in bytes.
pub const HEADER_LEN: usize = 64;

const MAGIC: [u8; 8] = *b"\x89FILTER\x1a";
const VERSION: u8 = 1;
const HASH_XXH3: u8 = 1;
/// The offset of the checksum, which covers the bytes before it and the body.
const CHECKSUM_AT: usize = 56;

/// The fields of a header that differ between filters; the others are constant or computed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Header {
    /// The code of the kind. After parsing it may be a code that no kind has.
    pub(crate) kind: u8,
    pub(crate) seed: Seed,
    pub(crate) keys: u64,
    /// `parameter_0` to `parameter_2`, of which the first must fit into 32 bits.
    pub(crate) parameters: [u64; 3],
}

impl Header {
    /// Returns the stored form of a filter: this header, then the pieces of the body in order.
    ///
    /// # Panics
    ///
    /// If the first parameter does not fit into 32 bits.
    pub(crate) fn write(&self, body: &[&[u8]]) -> Vec<u8> {
        let [parameter_0, ref other_parameters @ ..] = self.parameters;
        let parameter_0 =
            u32::try_from(parameter_0).expect("a kind's first parameter fits its field");
        let body_len = body.iter().try_fold(0_usize, |sum, piece| sum.checked_add(piece.len()));
        let body_len = body_len.expect("all pieces are in memory");
        let len = HEADER_LEN.checked_add(body_len).expect("a body leaves room for a header");

        let mut bytes = Vec::with_capacity(len);
        bytes.extend(MAGIC);
        bytes.extend([VERSION, self.kind, HASH_XXH3, 0]);
        bytes.extend(parameter_0.to_le_bytes());
        bytes.extend(self.seed.get().to_le_bytes());
        bytes.extend(self.keys.to_le_bytes());
        bytes.extend(widened(body_len).to_le_bytes());
        bytes.extend(other_parameters.iter().flat_map(|parameter| parameter.to_le_bytes()));
        bytes.extend([0; 8]); // The checksum, written below.
        for piece in body {
            bytes.extend_from_slice(piece);
        }

        let (header, body) = bytes.split_at_mut(HEADER_LEN);
        let (covered, checksum_field) = header.split_at_mut(CHECKSUM_AT);
        checksum_field.copy_from_slice(&checksum(covered, body).to_le_bytes());
        bytes
    }

    /// Splits a stored filter into its header and its body, and checks the lengths and the
    /// checksum.
    ///
    /// # Errors
    ///
    /// [`FormatError`] if a length, the checksum or a field is wrong. The kind and its parameters
    /// are left to the caller to check.
    pub(crate) fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), FormatError> {
        let found = widened(bytes.len());
        let header_len = widened(HEADER_LEN);
        let (header, body) = bytes
            .split_first_chunk::<HEADER_LEN>()
            .ok_or(FormatError::Length { expected: header_len, found })?;
        let (covered, _) = header.split_at(CHECKSUM_AT);

        let mut fields = Fields(header);
        if fields.take()? != MAGIC {
            return Err(FormatError::Magic);
        }
        // Checked before the fields after it, because other versions may arrange those differently.
        let [version, kind, hash, reserved] = fields.take()?;
        if version != VERSION {
            return Err(FormatError::Version(version));
        }
        let parameter_0 = u32::from_le_bytes(fields.take()?);
        let (seed, keys, body_len) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let parameters = [parameter_0.into(), fields.u64()?, fields.u64()?];
        if widened(body.len()) != body_len {
            // Saturates, because `body_len` can have any value in damaged bytes.
            let expected = body_len.saturating_add(header_len);
            return Err(FormatError::Length { expected, found });
        }
        if fields.u64()? != checksum(covered, body) {
            return Err(FormatError::Checksum);
        }
        if hash != HASH_XXH3 {
            return Err(FormatError::Hash(hash));
        }
        if reserved != 0 {
            return Err(FormatError::Parameters("a reserved byte is not zero"));
        }
        Ok((Self { kind, seed: Seed::new(seed), keys, parameters }, body))
    }
}

/// Returns the stored checksum of a filter; `None` if the bytes are shorter than a header.
pub(crate) fn stored_checksum(bytes: &[u8]) -> Option<u64> {
    bytes.get(CHECKSUM_AT..)?.first_chunk().map(|stored| u64::from_le_bytes(*stored))
}

/// Converts a length or a count to a `u64`, which loses nothing on any target.
#[expect(clippy::as_conversions, reason = "no target has a `usize` of more than 64 bits")]
pub(crate) const fn widened(len: usize) -> u64 {
    const { assert!(usize::BITS <= u64::BITS) };
    len as u64
}

fn checksum(header: &[u8], body: &[u8]) -> u64 {
    xxh3_64_with_seed(header, xxh3_64(body))
}

/// A cursor over the fields of a header.
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
