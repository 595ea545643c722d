//! The errors of this crate.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::names::other::SkipReason;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a directory could not be listed, or a file not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O error; a retry may help.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The failed action, as in "list it".
        action: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },

    /// The file exists, but is not a store file.
    #[error("{}: {}", path.display(), reason.description())]
    NotAStoreFile {
        /// The file.
        path: PathBuf,
        /// Why it is not a store file.
        reason: SkipReason,
    },

    /// A link, a reference or a tracker leads to a file that does not exist.
    #[error("{}: {what} is missing; looked for {}", path.display(), show_paths(looked))]
    Missing {
        /// The link, the reference or the tracker file.
        path: PathBuf,
        /// What is missing, as in "the target of the link, …".
        what: String,
        /// The places that were searched.
        looked: Vec<PathBuf>,
    },

    /// A link leads to another table, and the root directory cannot be found.
    #[error(
        "{}: {what} cannot be found: the file is not in the directory tree of an HBase root, ROOT/data/NAMESPACE/TABLE/REGION/FAMILY",
        path.display()
    )]
    NoRoot {
        /// The link.
        path: PathBuf,
        /// What is missing, as in "the target of the link, …".
        what: String,
    },

    /// The bytes of a tracker file, a description or a manifest contradict the format.
    ///
    /// A retry will not help.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },

    /// The file uses a feature or a version of HBase that this crate does not read.
    #[error("{}: unsupported: {what}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The feature.
        what: String,
    },

    /// There is no such snapshot, table or root directory.
    #[error("{}: {what}", path.display())]
    NotFound {
        /// The directory that was searched.
        path: PathBuf,
        /// What is not there, and what is.
        what: String,
    },

    /// A directory has more files, or is deeper, than the limits allow.
    #[error("{}: {what}", path.display())]
    TooMany {
        /// The directory.
        path: PathBuf,
        /// The limit that is exceeded, as in "has more than …".
        what: String,
    },

    /// A part of a table could not be read, so that a scan would miss cells.
    #[error("{}: a part of the table cannot be read, and its cells are missing", path.display())]
    Incomplete {
        /// The manifest or the directory of the table.
        path: PathBuf,
        /// What cannot be read.
        #[source]
        source: Arc<Error>,
    },

    /// An HFile or a reference cannot be read.
    #[error(transparent)]
    File(#[from] sstable::Error),

    /// A write-ahead log cannot be read.
    #[error(transparent)]
    Log(#[from] crate::wal::Error),
}

impl Error {
    /// Creates the error of bytes that contradict the format.
    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }

    /// Creates the error of a failed action on a file or directory.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }
}

/// Formats paths as a list.
fn show_paths(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    shown.join(", ")
}
