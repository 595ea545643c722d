//! The progress of a long operation, and its warnings.

use hbase_files::{MissingCells, TornLog};

/// Receives progress and warnings of a long operation.
///
/// `()` is an observer that ignores everything.
pub trait Observer: Sync {
    /// A phase such as "reading" begins; it ends when the returned value is dropped.
    fn begin(&self, phase: &'static str, extent: Extent) -> Box<dyn Phase>;

    /// Warns of cells that are left out or in doubt. The operation goes on.
    fn warn(&self, _warning: Warning<'_>) {}

    /// Whether the operation should end, with [`Error::Cancelled`](crate::Error::Cancelled) and without output.
    ///
    /// Called for each cell, and for each MiB that is written. Exports do not ask.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Cells that an operation leaves out, or that are in doubt.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Warning<'w> {
    /// Cells are left out, because files are damaged or missing.
    Missing(&'w [MissingCells]),
    /// An earlier run of the export left out cells.
    MissingBefore {
        /// What the export calls the part, such as "region", and its name.
        part: [&'w str; 2],
        /// The file.
        file: &'w str,
        /// What is wrong with it.
        what: &'w str,
        /// The rows that may be missing or incomplete.
        rows: &'w str,
    },
    /// Logs end within an entry, which is not read.
    TornLogs(&'w [TornLog]),
    /// Cells that are in doubt because of the logs.
    Logs(&'w [hbase_files::Warning]),
    /// The requested columns without any cell, as `FAMILY:QUALIFIER`; may be empty.
    UnseenColumns(&'w [String]),
}

/// The length of a phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Extent {
    /// A number of steps, such as cells.
    Steps(u64),
    /// A number of bytes.
    Bytes(u64),
    /// Bytes whose number is not known, as of a pipe.
    UnknownBytes,
}

/// A phase of an operation. The methods are called often, by several threads, and should be cheap.
pub trait Phase: Send + Sync {
    /// Sets the name of the phase; the steps go on.
    fn rename(&self, _phase: &'static str) {}

    /// Sets the number of steps or bytes that are done.
    fn set(&self, _done: u64) {}

    /// Adds to the steps or bytes that are done.
    fn advance(&self, _count: u64) {}

    /// Sets the number of steps or bytes that an earlier run did; they do not count for the rate.
    fn skip(&self, _done: u64) {}

    /// Whether the operation should end, as [`Observer::is_cancelled`]. Asked for each batch of records, which may have no cells.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {
    fn begin(&self, _phase: &'static str, _extent: Extent) -> Box<dyn Phase> {
        Box::new(())
    }
}

impl Phase for () {}
