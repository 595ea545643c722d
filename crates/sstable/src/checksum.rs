//! Checksums over what stands on disk of a block, header included.

use std::fmt;

/// The algorithm that guards the blocks of a file.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ChecksumType {
    /// None; the places for checksums are there all the same, filled with zeros.
    Null,
    /// CRC-32 as in zlib.
    Crc32,
    /// CRC-32C (Castagnoli), HBase's default.
    #[default]
    Crc32c,
}

impl ChecksumType {
    /// Every algorithm, by code.
    pub const ALL: [Self; 3] = [Self::Null, Self::Crc32, Self::Crc32c];

    /// The code in the block header.
    pub const fn code(self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Crc32 => 1,
            Self::Crc32c => 2,
        }
    }

    /// The algorithm that a header's code stands for.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.code() == code)
    }

    /// HBase's name for it, as in `CRC32C`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
        }
    }

    /// The algorithm of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

impl fmt::Display for ChecksumType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
