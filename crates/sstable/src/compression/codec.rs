//! The codecs: names, codes, and whether this build supports them.

use std::fmt;

/// The codec of a file.
///
/// Lists all codecs of HBase; [`is_supported`](Self::is_supported) tells whether this build can read
/// and write a codec.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// One gzip member per block.
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

    /// The codec's code in the trailer.
    #[doc(hidden)]
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

    /// Returns the codec with this code.
    #[doc(hidden)]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.code() == code)
    }

    /// HBase's name of the codec, as in `LZ4`.
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

    /// Returns the codec with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Whether this build can read and write the codec.
    pub const fn is_supported(self) -> bool {
        match self {
            Self::None | Self::Gz | Self::Snappy | Self::Lz4 => true,
            Self::Zstd => cfg!(feature = "zstd"),
            Self::Lzo | Self::Bzip2 | Self::Lzma | Self::Brotli => false,
        }
    }

    /// The text of an error about an unsupported codec: the name, and how to get support.
    pub(crate) fn refusal(self) -> String {
        match self {
            Self::Zstd => format!("{self}, which needs a build with the feature `zstd`"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The layout of ZSTD blocks.
///
/// HBase has two kinds of codec classes, which cannot read each other's files, and a file does not
/// name its codec class. This crate reads both layouts.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ZstdFraming {
    /// One bare Zstandard frame per block, as from Hadoop's native `ZStandardCodec`: HBase's
    /// default.
    #[default]
    Frame,
    /// Hadoop's block framing around frames, as from HBase's `ZstdCodec` classes (zstd-jni and
    /// aircompressor).
    Blocks,
}

impl ZstdFraming {
    /// Both layouts.
    pub const ALL: [Self; 2] = [Self::Frame, Self::Blocks];

    /// Our name of the layout; HBase has none.
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

/// Detects the ZSTD layout of a file from the stored body of one of its blocks.
pub(crate) fn zstd_framing(stored: &[u8]) -> ZstdFraming {
    #[cfg(feature = "zstd")]
    if !super::zstd::is_frame(stored) {
        return ZstdFraming::Blocks;
    }
    let _ = stored; // Unused without the feature.
    ZstdFraming::default()
}
