//! What a read of a table reports although it is no error.

use std::fmt;
use std::path::PathBuf;

/// A part of a directory that another reader could understand differently.
///
/// The cells are those that HBase returns, as far as the files show it. The warning names the file or
/// the directory that raises a doubt: a copy of `hbase:meta` without its log, the directory of a
/// region that `hbase:meta` does not list, a log without bytes.
///
/// [`Table::warnings`](crate::Table::warnings) has the warnings about the table's directories, and
/// [`TableCells::warnings`](crate::TableCells::warnings) also the warnings about the logs that the scan has read.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Warning {
    /// The file or directory.
    pub path: PathBuf,
    /// What is in doubt, and what was read.
    pub what: String,
}

impl Warning {
    /// Creates a warning about a file or directory.
    pub(crate) fn new(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into() }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}
