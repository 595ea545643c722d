//! The errors of this crate, and the block types that they name.

use std::borrow::Cow;
use std::{fmt, io};

use cells::{BlockOffset, FileName, show_count};

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O error; a retry may help.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file.
        file: FileName,
        /// The failed action, as in "read a block at 0x40".
        action: Cow<'static, str>,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },

    /// The bytes contradict the format; a retry will not help.
    #[error("{file}: {damage}")]
    Corrupt {
        /// The damaged file.
        file: FileName,
        /// The location and the reason.
        damage: Damage,
    },

    /// The file is sound, but needs a feature that this build lacks.
    #[error("{file}: unsupported {feature}: {found}")]
    Unsupported {
        /// The file.
        file: FileName,
        /// The kind of feature, as in "compression codec".
        feature: &'static str,
        /// The value found in the file.
        found: String,
    },

    /// A block is larger once decompressed than the [limits](crate::Limits) allow in a file of this size.
    ///
    /// Its checksums are right. With a higher limit the file can be read.
    #[error(
        "{file}: {block} block at {at}: its {} bytes of data exceed the limit of {} in a file of this size",
        show_count(*len),
        show_count(*limit)
    )]
    TooLarge {
        /// The file.
        file: FileName,
        /// The offset of the block.
        at: BlockOffset,
        /// The type of the block.
        block: BlockType,
        /// The size of the decompressed block.
        len: u64,
        /// The limit that it exceeds.
        limit: u64,
        /// The least [`inflate_ratio_max`](crate::Limits::inflate_ratio_max) that allows the block.
        ratio: u32,
    },

    /// The caller passed a value that the file format does not allow.
    #[error("{file}: {what}")]
    Invalid {
        /// The file to be written or read.
        file: FileName,
        /// The violated rule and the invalid value.
        what: String,
    },

    /// An invariant of this crate is broken: a bug in the program, not in the file.
    ///
    /// The request has no answer; callers must not take the error for an absent row.
    #[error("{file}: at {at}: {what}; this is a bug in the program, please report it")]
    Internal {
        /// The file being read.
        file: FileName,
        /// The block being read.
        at: BlockOffset,
        /// The invariant and the state that violates it.
        what: String,
    },
}

/// A place where the bytes of a file contradict the format.
///
/// Decoders return a `Damage`. The reader adds the name of the file, as an [`Error::Corrupt`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Damage {
    /// The offset of the damaged block, or of the damage itself if it is in no block.
    pub at: BlockOffset,
    /// The type of the block; `None` if it is unknown or the damage is in no block.
    pub block: Option<BlockType>,
    /// The reason.
    pub what: Cow<'static, str>,
}

impl Damage {
    /// Creates the description of damage in a block of a known type.
    pub(crate) fn in_block(
        block: BlockType,
        at: BlockOffset,
        what: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { at, block: Some(block), what: what.into() }
    }

    /// Adds the name of the file.
    pub(crate) fn in_file(self, file: &FileName) -> Error {
        Error::Corrupt { file: file.clone(), damage: self }
    }
}

/// An error of a decoder that does not know the name of the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum DecodeError {
    /// The bytes contradict the format.
    Damage(Damage),
    /// The bytes are sound, but need a feature that this build lacks.
    Unsupported {
        /// The kind of feature.
        feature: &'static str,
        /// The value found in the file.
        found: String,
    },
    /// The block is sound, but exceeds a limit; see [`Error::TooLarge`].
    TooLarge { at: BlockOffset, block: BlockType, len: u64, limit: u64, ratio: u32 },
}

impl DecodeError {
    /// Adds the name of the file.
    pub(crate) fn in_file(self, file: &FileName) -> Error {
        match self {
            Self::Damage(damage) => damage.in_file(file),
            Self::Unsupported { feature, found } => {
                Error::Unsupported { file: file.clone(), feature, found }
            }
            Self::TooLarge { at, block, len, limit, ratio } => {
                Error::TooLarge { file: file.clone(), at, block, len, limit, ratio }
            }
        }
    }
}

impl From<Damage> for DecodeError {
    fn from(damage: Damage) -> Self {
        Self::Damage(damage)
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.block {
            Some(block) => write!(f, "{block} block at {}: {}", self.at, self.what),
            None => write!(f, "at {}: {}", self.at, self.what),
        }
    }
}

/// The type of a block in an HFile, as in HBase's `BlockType`.
///
/// A full scan reads the scanned section; opening a file reads the load-on-open section. An inline
/// block is written between data blocks. The trailer is not a block, but starts with a magic too.
///
/// | type                     | magic      | location in the file                     |
/// |--------------------------|------------|------------------------------------------|
/// | `Data`                   | `DATABLK*` | scanned section                          |
/// | `EncodedData`            | `DATABLKE` | scanned section                          |
/// | `LeafIndex`              | `IDXLEAF2` | scanned section, inline                  |
/// | `BloomChunk`             | `BLMFBLK2` | scanned section, inline                  |
/// | `Meta`                   | `METABLKc` | after the data                           |
/// | `IntermediateIndex`      | `IDXINTE2` | after the data                           |
/// | `RootIndex`              | `IDXROOT2` | load-on-open section                     |
/// | `FileInfo`               | `FILEINF2` | load-on-open section                     |
/// | `GeneralBloomMeta`       | `BLMFMET2` | load-on-open section                     |
/// | `DeleteFamilyBloomMeta`  | `DFBLMET2` | load-on-open section                     |
/// | `Trailer`                | `TRABLK"$` | the last 4,096 bytes (v2: 212)           |
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[allow(missing_docs, reason = "described by the table above")]
pub enum BlockType {
    Data,
    EncodedData,
    LeafIndex,
    BloomChunk,
    Meta,
    IntermediateIndex,
    RootIndex,
    FileInfo,
    GeneralBloomMeta,
    DeleteFamilyBloomMeta,
    Trailer,
}

impl BlockType {
    /// All types, each with its magic and HBase's name for the type.
    const TABLE: [(Self, [u8; 8], &'static str); 11] = [
        (Self::Data, *b"DATABLK*", "DATA"),
        (Self::EncodedData, *b"DATABLKE", "ENCODED_DATA"),
        (Self::LeafIndex, *b"IDXLEAF2", "LEAF_INDEX"),
        (Self::BloomChunk, *b"BLMFBLK2", "BLOOM_CHUNK"),
        (Self::Meta, *b"METABLKc", "META"),
        (Self::IntermediateIndex, *b"IDXINTE2", "INTERMEDIATE_INDEX"),
        (Self::RootIndex, *b"IDXROOT2", "ROOT_INDEX"),
        (Self::FileInfo, *b"FILEINF2", "FILE_INFO"),
        (Self::GeneralBloomMeta, *b"BLMFMET2", "GENERAL_BLOOM_META"),
        (Self::DeleteFamilyBloomMeta, *b"DFBLMET2", "DELETE_FAMILY_BLOOM_META"),
        (Self::Trailer, *b"TRABLK\"$", "TRAILER"),
    ];

    /// Returns the type with this magic.
    #[doc(hidden)]
    pub fn from_magic(magic: [u8; 8]) -> Option<Self> {
        Self::TABLE.iter().find(|(_, known, _)| *known == magic).map(|(found, _, _)| *found)
    }

    /// Returns the magic of the type: the 8 bytes with which its blocks start.
    #[doc(hidden)]
    pub fn magic(self) -> [u8; 8] {
        self.entry().1
    }

    /// Returns HBase's name for the type, such as `BLOOM_CHUNK`.
    pub fn name(self) -> &'static str {
        self.entry().2
    }

    fn entry(self) -> &'static (Self, [u8; 8], &'static str) {
        Self::TABLE
            .iter()
            .find(|(known, _, _)| *known == self)
            .expect("the table lists every block type")
    }
}

impl fmt::Display for BlockType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
