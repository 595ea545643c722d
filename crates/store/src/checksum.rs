//! CRC-32C, the checksum of the log's records, of the manifest and of whole files.

use crc_fast::{CrcAlgorithm, Digest};

/// Returns the CRC-32C of `bytes`.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// The CRC-32C of bytes that arrive in pieces.
#[derive(Debug)]
pub(crate) struct Crc32c(Digest);

impl Crc32c {
    /// Starts with no bytes, whose checksum is 0.
    pub(crate) fn new() -> Self {
        Self(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }

    /// Appends a piece.
    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Returns the checksum of all pieces so far.
    pub(crate) fn value(&self) -> u32 {
        // The digest has room for checksums of 64 bits; this one has 32.
        self.0.finalize() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_check_value_comes_out_however_the_bytes_are_split() {
        let bytes = b"123456789";
        assert_eq!(crc32c(bytes), 0xe306_9283);
        assert_eq!((crc32c(b""), Crc32c::new().value()), (0, 0));
        for split in 0..=bytes.len() {
            let (first, second) = bytes.split_at(split);
            let mut pieces = Crc32c::new();
            pieces.update(first);
            assert_eq!(pieces.value(), crc32c(first), "{split}");
            pieces.update(second);
            assert_eq!(pieces.value(), 0xe306_9283, "{split}");
        }
    }
}
