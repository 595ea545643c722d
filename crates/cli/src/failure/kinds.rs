//! The failures that the command line finds itself.

use sstable::Damage;

/// Invalid arguments that clap cannot detect.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// Returns a [`UsageError`] from the function, with a message as of `format!`.
macro_rules! refuse {
    ($($message:tt)+) => {
        return Err($crate::failure::UsageError(format!($($message)+)).into())
    };
}

pub(crate) use refuse;

/// A failure that the command line finds itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A directory without store files.
    #[error("{0}")]
    NoStoreFiles(String),
    /// A directory without write-ahead logs.
    #[error("{0}")]
    NoLogs(String),
    /// A table that is gone but has left archived files, MOB files or recovered edits.
    #[error("{what}")]
    FormerTable {
        /// What is left.
        what: String,
        /// The verb that reads it.
        next: String,
    },
    /// A read returned wrong data: a defect of this program, not of its input.
    #[error("{0}")]
    ReadMismatch(String),
    /// The written output is damaged: by a defect of this program, or by damage copied from the input.
    #[error("{name}: the output is damaged: {damage}")]
    DamagedOutput {
        /// The final name of the output.
        name: String,
        /// The first problem of the output.
        damage: Damage,
    },
}

/// A file that cannot be salvaged, because a part that salvage needs is damaged.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unsalvageable(#[source] sstable::Error);

impl Unsalvageable {
    /// Wraps the error if it reports damage; returns other errors unchanged.
    pub(crate) fn from_error(error: sstable::Error) -> anyhow::Error {
        match error {
            error @ sstable::Error::Corrupt { .. } => Self(error).into(),
            error => error.into(),
        }
    }
}
