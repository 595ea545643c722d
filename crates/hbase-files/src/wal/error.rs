//! The errors of the reader of write-ahead logs.

use std::io;

use sstable::FileName;

/// The result type of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a write-ahead log, or the rest of it, cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O error; a retry may help.
    #[error("{file}: cannot read at offset {offset}: {source}")]
    Io {
        /// The file.
        file: FileName,
        /// The offset in the file, in bytes.
        offset: u64,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },

    /// The file is not a write-ahead log.
    #[error("{file}: {}", if *.is_hfile { "is an HFile, not a write-ahead log" } else { "is not a write-ahead log of HBase: it does not start with PWAL" })]
    NotALog {
        /// The file.
        file: FileName,
        /// Whether it is an HFile.
        is_hfile: bool,
    },

    /// The file uses a feature that this crate does not read, or exceeds one of its limits.
    #[error("{file}: unsupported: {what}")]
    Unsupported {
        /// The file.
        file: FileName,
        /// The feature or the limit.
        what: String,
    },

    /// The bytes contradict the format; a retry will not help.
    #[error("{file}: damaged at offset {offset}: {what}")]
    Damaged {
        /// The file.
        file: FileName,
        /// Where the damaged header or entry begins.
        offset: u64,
        /// What is wrong.
        what: String,
    },
}

/// Why a part of a file could not be decoded.
#[derive(Debug)]
pub(super) enum Stop {
    /// The file, or the bytes before its trailer, ends before the part does.
    Ends,
    /// The bytes contradict the format.
    Wrong(String),
    /// A limit of this reader is exceeded, or a feature is not supported.
    Unsupported(String),
    /// An I/O error at this offset.
    Io(u64, io::Error),
}

impl Stop {
    /// Returns the reason for bytes that contradict the format.
    pub(super) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong(what.into())
    }

    /// Returns an error if a length exceeds a limit.
    pub(super) fn check_limit(what: &str, len: usize, limit: usize) -> Result<(), Self> {
        if len > limit {
            let problem = format!("{what} has {len} bytes; the limit is {} MiB", limit >> 20);
            return Err(Self::Unsupported(problem));
        }
        Ok(())
    }
}
