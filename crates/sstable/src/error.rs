//! Why a file could not be read or written.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::Arc;

use crate::BlockOffset;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system failed us; trying again may help.
    #[error("{file}: cannot {action}")]
    Io {
        /// The file it happened to.
        file: FileName,
        /// What was being done, as in "read a block at 0x40".
        action: Cow<'static, str>,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },

    /// The bytes contradict the format; trying again will not help.
    #[error("{file}: {damage}")]
    Corrupt {
        /// The damaged file.
        file: FileName,
        /// Where and what.
        damage: Damage,
    },

    /// The file is sound, and needs something this build does not have.
    #[error("{file}: unsupported {feature}: {found}")]
    Unsupported {
        /// The file that needs it.
        file: FileName,
        /// What it needs, as in "compression codec".
        feature: &'static str,
        /// What the file says.
        found: String,
    },

    /// The caller asked for something that no file can hold.
    #[error("{file}: {what}")]
    Invalid {
        /// The file that was to be written or read.
        file: FileName,
        /// Which rule was broken, and by what.
        what: String,
    },

    /// An invariant of this crate does not hold: a defect of the program, not of the file. What was asked
    /// for is not known.
    #[error("{file}: at {at}: {what}; this is a bug in the program, please report it")]
    Internal {
        /// The file that was read.
        file: FileName,
        /// The block that was read.
        at: BlockOffset,
        /// Which invariant, and what was found instead.
        what: String,
    },
}

/// Where the bytes of a file contradict the format, and how.
///
/// Decoders return it; the reader, which knows the file, makes it an [`Error::Corrupt`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Damage {
    /// The block that holds the damage, or the place of the damage where there is no block.
    pub at: BlockOffset,
    /// What the block is, as far as that could be told.
    pub block: Option<BlockType>,
    /// What is wrong.
    pub what: Cow<'static, str>,
}

impl Damage {
    /// Damage in a block whose type is known.
    pub(crate) fn in_block(
        block: BlockType,
        at: BlockOffset,
        what: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { at, block: Some(block), what: what.into() }
    }

    /// Makes it an error about a file.
    pub(crate) fn in_file(self, file: &FileName) -> Error {
        Error::Corrupt { file: file.clone(), damage: self }
    }
}

/// Why a part of a file cannot be used, found by a decoder that does not know the file's name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum DecodeError {
    /// The bytes contradict the format.
    Damage(Damage),
    /// The bytes are sound, and ask for something this build does not have.
    Unsupported {
        /// What they ask for.
        feature: &'static str,
        /// What they say.
        found: String,
    },
}

impl DecodeError {
    /// Makes it an error about a file.
    pub(crate) fn in_file(self, file: &FileName) -> Error {
        match self {
            Self::Damage(damage) => damage.in_file(file),
            Self::Unsupported { feature, found } => {
                Error::Unsupported { file: file.clone(), feature, found }
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

/// The kinds of block in an HFile, named as HBase names them (`BlockType`).
///
/// | type                     | magic      | where                                    |
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
/// | `Trailer`                | `TRABLK"$` | the last 4,096 bytes (v2: 212), no block |
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[allow(missing_docs, reason = "the table above says what each is")]
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
    /// Every type with the eight bytes that announce it, and HBase's name for it.
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

    /// The type that `magic` announces.
    pub fn from_magic(magic: [u8; 8]) -> Option<Self> {
        Self::TABLE.iter().find(|(_, known, _)| *known == magic).map(|(found, _, _)| *found)
    }

    /// The eight bytes that announce this type.
    pub fn magic(self) -> [u8; 8] {
        self.entry().1
    }

    /// HBase's name for this type, as in `BLOOM_CHUNK`.
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

/// The name of a file as errors show it. Cloning it is cheap.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct FileName(Arc<str>);

impl FileName {
    /// The name that errors about this file will carry.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
