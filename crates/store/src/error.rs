//! Why a store refused or failed.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a store refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system failed us; trying again may help.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// The file or directory it happened to.
        path: PathBuf,
        /// What was being done, as in "write".
        action: Cow<'static, str>,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },

    /// The log or the manifest contradicts its format, or a store file the manifest; trying again
    /// will not help. [`verify`](crate::verify) says all that is wrong with a store, and
    /// [`salvage`](crate::salvage) makes another of what is sound.
    #[error("{}: at {at:#x}: {what}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Bytes from its start to the damage.
        at: u64,
        /// What is wrong.
        what: Cow<'static, str>,
    },

    /// A store file could not be read or written.
    #[error(transparent)]
    StoreFile(#[from] sstable::Error),

    /// The caller asked for something that this store cannot do.
    #[error("{what}")]
    Invalid {
        /// Which rule was broken, and by what.
        what: String,
    },

    /// There is no store in the directory, and none was to be made.
    #[error("{}: there is no store here", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },

    /// A salvage into the directory has not come to its end, so the store there may lack anything.
    #[error("{}: is what a salvage under way, or an interrupted one, has made so far", path.display())]
    Unfinished {
        /// The directory.
        path: PathBuf,
    },

    /// Another opener holds the store.
    #[error("{}: the store is open already, in {}", path.display(), process_text(*process))]
    Locked {
        /// The store's directory.
        path: PathBuf,
        /// The id of the process that has it open, if `LOCK` says.
        process: Option<u32>,
    },

    /// A writer has changed the store's files each time it was tried to open it for reading only; trying
    /// again may help.
    #[error("{}: a writer changes the store faster than it can be opened; try again", path.display())]
    Changing {
        /// The store's directory.
        path: PathBuf,
    },

    /// The store is open for reading only, and takes no change; see
    /// [`Store::open_read_only`](crate::Store::open_read_only).
    #[error("{}: the store is open for reading only", path.display())]
    ReadOnly {
        /// The store's directory.
        path: PathBuf,
    },

    /// Flushes do not keep up with writes, and the wait for them was as long as is allowed. Nothing
    /// was written; trying again later helps, if the disk works.
    #[error("the memstores take {bytes} bytes and were not flushed for {seconds:.1} s")]
    Busy {
        /// Memory of all memstores.
        bytes: usize,
        /// How long the write waited.
        seconds: f64,
    },

    /// An earlier failure left it open what is on disk. The store reads no more writes; opening it
    /// again recovers what was acknowledged.
    #[error("the store stopped after a failure, open it again: {why}")]
    Poisoned {
        /// The failure, with its causes.
        why: Arc<str>,
    },
}

impl Error {
    /// Adds the path and the action to what the operating system said.
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

    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }

    /// The message with those of its causes, for whoever meets the store after it stopped.
    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

fn process_text(process: Option<u32>) -> String {
    match process {
        Some(id) if id == std::process::id() => "this process".to_owned(),
        Some(id) => format!("process {id}"),
        None => "this process or another".to_owned(),
    }
}
