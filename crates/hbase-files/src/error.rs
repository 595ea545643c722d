//! The errors of this crate.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cells::{RowsBetween, escape};

use crate::names::TableName;
use crate::names::skip_reason::SkipReason;
use crate::tree::root_tree::LinkOutOfRoot;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a directory, a table, a snapshot or a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O error; a retry may help.
    #[error("{}: cannot {action}: {source}", path.display())]
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

    /// A file that a link, a reference, a tracker, a manifest or a cell names does not exist, or a
    /// part that a region, a table or a snapshot must have.
    #[error("{}: {what} is missing; looked for {}", path.display(), show_paths(searched))]
    Missing {
        /// The file or directory that names the missing file, or must have it.
        path: PathBuf,
        /// What is missing, as in "the description of the region".
        what: String,
        /// The places that were searched.
        searched: Vec<PathBuf>,
    },

    /// A link leads to another table, and the root directory cannot be found.
    #[error(
        "{}: {what} cannot be found: the file is not in the directory tree of an HBase root, ROOT/data/NAMESPACE/TABLE/REGION/FAMILY",
        path.display()
    )]
    NoRoot {
        /// The link.
        path: PathBuf,
        /// What cannot be found, as in "the file … of family …, to which the link leads,".
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

    /// The regions of a table leave a gap between them, or overlap.
    #[error("{}: {what}: {rows}", path.display())]
    KeyRanges {
        /// The manifest or the directory of the table.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// The rows that are in no region, or in two.
        rows: Box<RowsBetween>,
    },

    /// The table has no such family.
    #[error("table {table} has no family {}; it has {}", escape(family), show_names(known))]
    NoFamily {
        /// The table.
        table: TableName,
        /// The name that was asked for.
        family: Vec<u8>,
        /// The families that the table has.
        known: Vec<Vec<u8>>,
    },

    /// A limit is exceeded: of the files or the depth of a directory.
    #[error("{}: {what}", path.display())]
    TooMany {
        /// The directory.
        path: PathBuf,
        /// The limit that is exceeded, as in "has more than …".
        what: String,
    },

    /// Unflushed cells that exceed [`TableScan::log_bytes_max`](crate::TableScan::log_bytes_max) could
    /// not be written to a temporary file.
    #[error("{}: cannot keep cells of logs in a temporary file: {source}", directory.display())]
    Temporary {
        /// The directory of the temporary file.
        directory: PathBuf,
        /// Why not.
        #[source]
        source: Box<sstable::Error>,
    },

    /// A part of a table could not be read, so that a scan would miss cells.
    #[error("{}: a part of the table cannot be read, and its cells are missing: {source}", path.display())]
    Incomplete {
        /// The manifest or the directory of the table.
        path: PathBuf,
        /// What cannot be read.
        #[source]
        source: Arc<Error>,
    },

    /// A split of a scan cannot be written as bytes, or the bytes are no split.
    #[error("a split of a scan: {what}")]
    InvalidSplit {
        /// What is wrong.
        what: String,
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

    /// Creates the error of a read of logs without a directory of logs.
    pub(crate) fn logs_missing(root: &Path, searched: &Path) -> Self {
        let what = "the directory of write-ahead logs; if hbase.wal.dir is set, pass that directory as the WAL root; it";
        Self::Missing {
            path: root.to_owned(),
            what: what.to_owned(),
            searched: vec![searched.to_owned()],
        }
    }

    /// Creates the error of a temporary file.
    pub(crate) fn temporary(directory: &Path, source: sstable::Error) -> Self {
        Self::Temporary { directory: directory.to_owned(), source: Box::new(source) }
    }

    /// Returns the path of an error about a file or directory of a table.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Missing { path, .. }
            | Self::Io { path, .. }
            | Self::Damaged { path, .. }
            | Self::Unsupported { path, .. }
            | Self::TooMany { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns whether a part is damaged or missing, so that a scan may go on without it.
    ///
    /// An I/O error such as a refused permission, an exceeded limit and a defect of this program are
    /// no loss: the cells are there.
    pub(crate) fn is_loss(&self) -> bool {
        match self {
            Self::Io { source, .. } | Self::Log(crate::wal::Error::Io { source, .. }) => {
                is_gone(source)
            }
            Self::File(error) => is_file_loss(error),
            Self::Incomplete { source, .. } => source.is_loss(),
            // A header or a trailer has no checksum, so damage can look like an unknown feature.
            Self::Unsupported { .. }
            | Self::Log(_)
            | Self::NotAStoreFile { .. }
            | Self::Missing { .. }
            | Self::NoRoot { .. }
            | Self::Damaged { .. }
            | Self::KeyRanges { .. } => true,
            Self::NotFound { .. }
            | Self::NoFamily { .. }
            | Self::TooMany { .. }
            | Self::InvalidSplit { .. }
            | Self::Temporary { .. } => false,
        }
    }

    /// Returns whether a part is known to be damaged or missing. A part that needs a feature which this
    /// build lacks is neither, unless no release of HBase has the feature.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::File(error @ sstable::Error::Unsupported { .. }) => {
                unheard_feature(error).is_some()
            }
            Self::Unsupported { .. } | Self::Log(crate::wal::Error::Unsupported { .. }) => false,
            Self::Incomplete { source, .. } => source.is_damage(),
            error => error.is_loss(),
        }
    }

    /// Creates the error of a failed action on a file or directory: [`Damaged`](Self::Damaged) for a
    /// symbolic link out of the root.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| match LinkOutOfRoot::cause(source) {
            Ok(out) => Self::damaged(&out.link, out.to_string()),
            Err(source) => Self::Io { path: path.to_owned(), action, source },
        }
    }
}

/// Returns whether an HFile is damaged or missing; see [`Error::is_loss`].
pub(crate) fn is_file_loss(error: &sstable::Error) -> bool {
    match error {
        sstable::Error::Io { source, .. } => is_gone(source),
        sstable::Error::Corrupt { .. } | sstable::Error::Unsupported { .. } => true,
        _ => false,
    }
}

/// Returns what a file needs, if it is a codec or an order of rows that no release of HBase has.
///
/// The trailer names both without a checksum, so a changed byte of the name is more likely.
pub(crate) fn unheard_feature(error: &sstable::Error) -> Option<String> {
    match error {
        sstable::Error::Unsupported { feature, found, .. }
            if *feature == "comparator" || found.starts_with("code ") =>
        {
            Some(format!("unsupported {feature}: {found}"))
        }
        _ => None,
    }
}

/// Returns whether a file, or its end, is not there.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
}

/// Formats names of families as a list.
fn show_names(names: &[Vec<u8>]) -> String {
    let shown: Vec<String> = names.iter().map(|name| escape(name).to_string()).collect();
    shown.join(", ")
}

/// Formats paths as a list.
pub(crate) fn show_paths(paths: &[PathBuf]) -> String {
    let Some((first, others)) = paths.split_first() else { return String::new() };
    let others = match others.len() {
        0 => String::new(),
        1 => ", and in 1 more place".to_owned(),
        count => format!(", and in {count} more places"),
    };
    format!("{}{others}", first.display())
}
