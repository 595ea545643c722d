//! The errors of this crate.

use std::io;
use std::path::{Path, PathBuf};

use sstable::FileName;
use store::Store;

use crate::option_problem::OptionProblem;
use crate::record_problem::RecordProblem;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why cells cannot be read, sorted or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output exists, and replacing it was not requested.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),

    /// The operation was refused; the message says why.
    #[error("{0}")]
    Refused(String),

    /// The observer ended the operation.
    #[error("cancelled")]
    Cancelled,

    /// The directory may not be replaced: it has other things than HFiles by family.
    #[error(
        "{}: force replaces only a directory of HFiles by family, and {} is not a part of one; name another directory, \
         or remove this one",
        directory.display(), path.display()
    )]
    NotReplaceable {
        /// The directory.
        directory: PathBuf,
        /// What is no part of a directory of HFiles by family.
        path: PathBuf,
    },

    /// Options that do not fit the output or each other.
    #[error("{0}")]
    Options(#[from] OptionProblem),

    /// Options that do not fit the input.
    #[error("{input}: {problem}")]
    InputOptions {
        /// The name of the input.
        input: FileName,
        /// What is wrong.
        problem: OptionProblem,
    },

    /// A record of an input, or its header, cannot be read.
    #[error("{input}: {}{problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Record {
        /// The name of the input.
        input: FileName,
        /// The line; `None` of record batches, whose records are named in the problem.
        line: Option<u64>,
        /// What is wrong.
        problem: RecordProblem,
        /// Whether a [`BadLinePolicy`](crate::BadLinePolicy) can skip the record.
        is_skippable: bool,
    },

    /// A cell that the file cannot take.
    #[error("{error}")]
    Cell {
        /// The error of the writer, with the position in the input.
        #[source]
        error: sstable::Error,
        /// The cause.
        problem: CellProblem,
    },

    /// An HFile, or an input of cells, cannot be read or written.
    #[error("{0}")]
    File(
        #[source]
        #[from]
        sstable::Error,
    ),

    /// A store, or its HFiles, cannot be read or written.
    #[error("{0}")]
    Store(
        #[source]
        #[from]
        store::Error,
    ),

    /// The cells of a table or a snapshot cannot be read.
    ///
    /// Not [`StoreFile`](Self::StoreFile): what helps against damage differs.
    #[error("{0}")]
    Table(#[source] hbase_files::Error),

    /// A store file of HBase cannot be read.
    #[error("{0}")]
    StoreFile(
        #[source]
        #[from]
        hbase_files::Error,
    ),

    /// Record batches cannot be made or written.
    #[cfg(feature = "arrow")]
    #[error("{0}")]
    Batches(
        #[source]
        #[from]
        hfile_arrow::Error,
    ),

    /// `manifest.json` in the output is not the manifest of an export.
    #[error("{}: not the manifest of an export; give another directory: {source}", file.display())]
    Manifest {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },

    /// The directory for the output cannot be created: its path or a parent is a file.
    #[error("{}: cannot create: it is not a directory, or not in one", .0.display())]
    NotADirectory(PathBuf),

    /// An I/O error; a retry may help.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file or directory, or `stdin`.
        file: String,
        /// The failed action, as in "create a directory in it".
        action: &'static str,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
}

impl Error {
    /// Returns the error for a family that the store does not have; it lists the families there are.
    pub fn unknown_family(store: &Store, wanted: &str) -> Self {
        let known: Vec<String> = store.families().into_iter().map(|(family, _)| family).collect();
        Self::other(match &known[..] {
            [] => format!("the store has no family {wanted}, and no other"),
            [one] => format!("the store has no family {wanted}; its family is {one}"),
            many => {
                format!("the store has no family {wanted}; its families are {}", many.join(", "))
            }
        })
    }

    /// Returns the error for a problem of the input or the output that no option solves.
    pub(crate) const fn other(what: String) -> Self {
        Self::Options(OptionProblem::Other(what))
    }
}

/// Why a file cannot take a cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CellProblem {
    /// Its family differs from the previous cell's: a file has one family.
    OtherFamily,
    /// It sorts before the previous cell.
    OutOfOrder,
    /// It has tags, and the settings leave them out.
    Tags,
}

/// Adds to an I/O error what failed.
pub(crate) trait Doing<T> {
    /// Names the path and the action, as in "create".
    fn doing(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { file: path.display().to_string(), action, source })
    }
}

/// A line of cells that is not read or not valid; the message names its file and its number.
impl From<cells::ndjson::Error> for Error {
    fn from(error: cells::ndjson::Error) -> Self {
        use cells::ndjson::Error as LineError;
        Self::from(match error {
            LineError::Io { file, line, source } => {
                sstable::Error::Io { file, action: format!("read line {line}").into(), source }
            }
            LineError::Invalid { file, line, what } => {
                sstable::Error::Invalid { file, what: format!("line {line}: {what}") }
            }
        })
    }
}
