//! The codecs: their names and codes, and which of them this build has.

use std::fmt;

/// The codec of a file. HBase knows them all; [`is_supported`](Self::is_supported) says which this
/// build can read and write.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Compression {
    /// Bodies as they are.
    #[default]
    None,
    /// A gzip member a block.
    Gz,
    /// Snappy in Hadoop's framing.
    Snappy,
    /// LZ4 in Hadoop's framing.
    Lz4,
    /// Zstandard, with the feature `zstd`; see [`ZstdFraming`].
    Zstd,
    /// LZO, which needs a codec that HBase does not ship.
    Lzo,
    /// bzip2.
    Bzip2,
    /// LZMA, since HBase 2.5.
    Lzma,
    /// Brotli, since HBase 2.5.
    Brotli,
}

impl Compression {
    /// Every codec, the supported ones first.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Gz,
        Self::Snappy,
        Self::Lz4,
        Self::Zstd,
        Self::Lzo,
        Self::Bzip2,
        Self::Lzma,
        Self::Brotli,
    ];

    /// The code in the trailer.
    pub const fn code(self) -> u32 {
        match self {
            Self::Lzo => 0,
            Self::Gz => 1,
            Self::None => 2,
            Self::Snappy => 3,
            Self::Lz4 => 4,
            Self::Bzip2 => 5,
            Self::Zstd => 6,
            Self::Lzma => 7,
            Self::Brotli => 8,
        }
    }

    /// The codec that a trailer's code stands for.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.code() == code)
    }

    /// HBase's name for it, as in `LZ4`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Gz => "GZ",
            Self::Snappy => "SNAPPY",
            Self::Lz4 => "LZ4",
            Self::Zstd => "ZSTD",
            Self::Lzo => "LZO",
            Self::Bzip2 => "BZIP2",
            Self::Lzma => "LZMA",
            Self::Brotli => "BROTLI",
        }
    }

    /// The codec of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Whether this build reads and writes it.
    pub const fn is_supported(self) -> bool {
        match self {
            Self::None | Self::Gz | Self::Snappy | Self::Lz4 => true,
            Self::Zstd => cfg!(feature = "zstd"),
            Self::Lzo | Self::Bzip2 | Self::Lzma | Self::Brotli => false,
        }
    }

    /// What an error says that refuses a file for its codec: the name, and what helps.
    pub(crate) fn refusal(self) -> String {
        match self {
            Self::Zstd => format!("{self}, which only a build with the feature `zstd` has"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How ZSTD blocks are laid out. HBase has two codec classes for them, which do not read each
/// other's files, and nothing in a file says which one wrote it. We read both.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ZstdFraming {
    /// A bare Zstandard frame a block, as Hadoop's native `ZStandardCodec` has it: HBase's default.
    #[default]
    Frame,
    /// Hadoop's block framing around frames, as HBase's own `ZstdCodec`s have it, the one over
    /// zstd-jni and the one over aircompressor.
    Blocks,
}

impl ZstdFraming {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Frame, Self::Blocks];

    /// Our name for it: HBase has none.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Blocks => "blocks",
        }
    }
}

impl fmt::Display for ZstdFraming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a file lays ZSTD out one of whose blocks is stored so.
pub(crate) fn zstd_framing(stored: &[u8]) -> ZstdFraming {
    #[cfg(feature = "zstd")]
    if !super::zstd::is_frame(stored) {
        return ZstdFraming::Blocks;
    }
    let _ = stored; // Without the feature nothing will be laid out.
    ZstdFraming::default()
}
