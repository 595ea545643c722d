//! Checksums over the on-disk bytes of a block, including the header.
//!
//! The data of a block is followed by `n` checksums, u32 BE each. With `b` = `bytes_per_checksum`
//! from the header, checksum `i` covers bytes `i · b .. (i + 1) · b` of header and data; the last
//! one may cover fewer. With [`ChecksumType::Null`], the `n` checksums are zeros.

use std::fmt;

/// The checksum algorithm of a block.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ChecksumType {
    /// No checksums: the fields are present and hold zeros.
    Null,
    /// CRC-32 as in zlib.
    Crc32,
    /// CRC-32C (Castagnoli), HBase's default.
    #[default]
    Crc32c,
}

impl ChecksumType {
    /// Every algorithm, by ascending code.
    pub const ALL: [Self; 3] = [Self::Null, Self::Crc32, Self::Crc32c];

    /// The algorithm's code in the block header.
    #[doc(hidden)]
    pub const fn code(self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Crc32 => 1,
            Self::Crc32c => 2,
        }
    }

    /// Returns the algorithm with this code.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.code() == code)
    }

    /// HBase's name of the algorithm, such as `CRC32C`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
        }
    }

    /// Returns the algorithm with this HBase name, in upper case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

impl fmt::Display for ChecksumType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ChecksumType {
    fn compute(self, bytes: &[u8]) -> u32 {
        match self {
            Self::Null => 0,
            Self::Crc32 => crc_fast::crc32_iso_hdlc(bytes),
            Self::Crc32c => crc_fast::crc32_iscsi(bytes),
        }
    }

    /// Appends the checksums of the bytes of `out` from `start` on, a block's header and data.
    ///
    /// # Panics
    ///
    /// If `bytes_per_checksum` is 0 or `start` exceeds the length of `out`.
    pub(crate) fn append(self, out: &mut Vec<u8>, start: usize, bytes_per_checksum: u32) {
        let covered = out.get(start..).expect("the block starts within the bytes");
        let len = usize::try_from(bytes_per_checksum).expect("at least 32-bit addresses");
        let sums: Vec<u8> =
            covered.chunks(len).flat_map(|chunk| self.compute(chunk).to_be_bytes()).collect();
        out.extend_from_slice(&sums);
    }

    /// Verifies header and data (`covered`) against their checksums.
    ///
    /// # Errors
    ///
    /// The index of the first checksum that does not match; 0 if there are too few or too many.
    pub(crate) fn verify(
        self,
        covered: &[u8],
        sums: &[u8],
        bytes_per_checksum: u32,
    ) -> Result<(), usize> {
        if self == Self::Null {
            return Ok(());
        }
        let len = usize::try_from(bytes_per_checksum).unwrap_or(usize::MAX).max(1);
        let (sums, []) = sums.as_chunks::<4>() else { return Err(0) };
        if sums.len() != covered.len().div_ceil(len) {
            return Err(0);
        }
        let mismatch =
            |(chunk, sum): (&[u8], &[u8; 4])| self.compute(chunk) != u32::from_be_bytes(*sum);
        covered.chunks(len).zip(sums).position(mismatch).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_algorithms_match_their_published_check_values() {
        assert_eq!(ChecksumType::Crc32.compute(b"123456789"), 0xcbf4_3926);
        assert_eq!(ChecksumType::Crc32c.compute(b"123456789"), 0xe306_9283);
        assert_eq!(ChecksumType::Null.compute(b"123456789"), 0);
    }

    #[test]
    fn a_flipped_bit_fails_the_checksum_that_covers_it() {
        for kind in ChecksumType::ALL {
            for bytes_per_checksum in [1, 33, 64, 99, 100, 101, 16_384] {
                let data: Vec<u8> = (0..100).collect();
                let mut block = [b"before", &data[..]].concat();
                kind.append(&mut block, 6, bytes_per_checksum);
                let sums = block.split_off(106);
                assert_eq!(sums.len(), data.len().div_ceil(bytes_per_checksum as usize) * 4);
                assert_eq!(kind.verify(&data, &sums, bytes_per_checksum), Ok(()));
                for at in 0..data.len() {
                    let mut flipped = data.clone();
                    flipped[at] ^= 0x10;
                    let chunk = at / bytes_per_checksum as usize;
                    let expected = if kind == ChecksumType::Null { Ok(()) } else { Err(chunk) };
                    assert_eq!(kind.verify(&flipped, &sums, bytes_per_checksum), expected);
                }
            }
        }
    }

    #[test]
    fn without_an_algorithm_the_checksums_are_zeros() {
        let mut block = vec![7; 65];
        ChecksumType::Null.append(&mut block, 0, 64);
        assert_eq!(block[65..], [0; 8]);
    }

    #[test]
    fn missing_checksums_are_a_mismatch() {
        assert_eq!(ChecksumType::Crc32.verify(&[1; 65], &[0; 4], 64), Err(0));
        assert_eq!(ChecksumType::Crc32.verify(&[1; 65], &[0; 7], 64), Err(0));
    }
}
