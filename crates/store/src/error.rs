//! The error type of the crate.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(unix)]
use rustix::io::Errno;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on a store was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operating system call failed; a retry may help.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The failed action, such as "write".
        action: Cow<'static, str>,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },

    /// The log or the manifest is damaged, or a store file does not match the manifest.
    ///
    /// A retry does not help. `hfile store verify` reports all damage of a store, and
    /// `hfile store salvage` copies the sound data into a new store.
    #[error("{}: at {at:#x}: {what}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// The offset of the damage in bytes.
        at: u64,
        /// A description of the damage.
        what: Cow<'static, str>,
    },

    /// An error of a store file: a failed read or write, damage, or an unsupported feature.
    #[error(transparent)]
    StoreFile(#[from] sstable::Error),

    /// The request is invalid for this store.
    #[error("{what}")]
    Invalid {
        /// The violated rule and the offending value.
        what: String,
    },

    /// The directory has no store, and the operation may not create one.
    #[error("{}: there is no store here", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },

    /// A salvage into the directory is running or was interrupted.
    ///
    /// Any part of the store may be missing.
    #[error("{}: the store is the incomplete output of a running or interrupted salvage", path.display())]
    Unfinished {
        /// The directory.
        path: PathBuf,
    },

    /// The store is open already, in this process or another.
    #[error("{}: the store is open already, in {}", path.display(), process_text(*process))]
    Locked {
        /// The store's directory.
        path: PathBuf,
        /// The id of the process that has the store open, if the file `LOCK` names it.
        process: Option<u32>,
    },

    /// A writer changed the files during each attempt to open the store for reading only.
    ///
    /// A retry may help.
    #[error("{}: a writer changes the store faster than it can be opened; try again", path.display())]
    Changing {
        /// The store's directory.
        path: PathBuf,
    },

    /// A change was refused: the store is open for reading only.
    ///
    /// See [`Store::open_read_only`](crate::Store::open_read_only).
    #[error("{}: the store is open for reading only", path.display())]
    ReadOnly {
        /// The store's directory.
        path: PathBuf,
    },

    /// This process is a fork of the one that opened the store.
    ///
    /// The store belongs to the process that opened it, which still writes its files. A fork can open the store
    /// for reading only ([`Store::open_read_only`](crate::Store::open_read_only)), or for writing once the other
    /// process has closed it.
    #[error(
        "the store was opened by the process that this one was forked from; open it in this process"
    )]
    Forked,

    /// Flushes do not keep up with writes, and the write waited too long for memory.
    ///
    /// The maximum wait is [`stall_max`](crate::StoreOptions::stall_max). Nothing was written. A
    /// retry helps once flushes catch up.
    #[error("the memstores take {bytes} bytes and were not flushed for {seconds:.1} s")]
    Busy {
        /// Memory of all memstores in bytes.
        bytes: usize,
        /// How long the write waited, in seconds.
        seconds: f64,
    },

    /// A flush cannot write the file of a family, because of its settings or its cells.
    ///
    /// A flush returns this; the cells of the family stay in memory and in the log. So does a write
    /// to the family once its memstore is full; nothing was written then. Writes to other families
    /// go on. [`alter_family`](crate::Store::alter_family) can change the setting that is at fault.
    #[error("the family \"{family}\" cannot be flushed; alter the family: {why}")]
    FlushFailed {
        /// The name of the family.
        family: String,
        /// The error of the flush, with its causes.
        why: Arc<str>,
    },

    /// An earlier failure left the state on disk unknown, so the store accepts no more changes.
    ///
    /// Opening the store again recovers all acknowledged writes.
    #[error("the store stopped after a failure, open it again: {why}")]
    Poisoned {
        /// The failure, with its causes.
        why: Arc<str>,
    },
}

impl Error {
    /// Returns a function for `map_err` that adds the path and the failed action to an I/O error.
    pub(crate) fn io(
        path: &Path,
        action: impl Into<Cow<'static, str>>,
    ) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { path: path.to_path_buf(), action, source }
    }

    pub(crate) fn corrupt(path: &Path, at: u64, what: impl Into<Cow<'static, str>>) -> Self {
        Self::Corrupt { path: path.to_path_buf(), at, what: what.into() }
    }

    /// Returns whether a call of the operating system failed.
    pub(crate) const fn is_io(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::StoreFile(sstable::Error::Io { .. }))
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// Returns the error for a lock whose holder panicked.
    pub(crate) fn panicked() -> Self {
        Self::Poisoned { why: "a thread of the store panicked".into() }
    }

    /// Returns whether there was no space, no quota or no descriptor for a call.
    ///
    /// The call may succeed later. A failed sync is never a shortage: see
    /// [`ReservedFiles`](crate::files::file_access::reserve::ReservedFiles).
    pub(crate) fn is_shortage(&self) -> bool {
        let (Self::Io { source, .. } | Self::StoreFile(sstable::Error::Io { source, .. })) = self
        else {
            return false;
        };
        is_full(source) || is_without_descriptor(source)
    }

    /// Returns the same error again, for another write that failed with it.
    pub(crate) fn copy_of_shortage(&self) -> Self {
        let Self::Io { path, action, source } = self else {
            unreachable!("the log's shortages are I/O errors");
        };
        let source = match source.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(source.kind(), source.to_string()),
        };
        Self::Io { path: path.clone(), action: action.clone(), source }
    }
}

/// Returns whether the file system is full, or the user's share of it.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Returns whether the process or the system had no descriptor left.
pub(crate) fn is_without_descriptor(error: &io::Error) -> bool {
    #[cfg(unix)]
    let codes = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    #[cfg(not(unix))]
    let codes = [4]; // ERROR_TOO_MANY_OPEN_FILES
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

fn process_text(process: Option<u32>) -> String {
    match process {
        Some(id) if id == std::process::id() => "this process".to_owned(),
        Some(id) => format!("process {id}"),
        None => "this process or another".to_owned(),
    }
}
