//! How the command ends: its exit status, and what a failure says.
//!
//! | status | meaning                                             |
//! |-------:|-----------------------------------------------------|
//! |      0 | done; what was looked at is sound                   |
//! |      1 | the answer is no: damaged, different, absent        |
//! |      2 | wrong usage                                         |
//! |      3 | input or output failed                              |
//!
//! A failure is two lines on stderr: what happened, with file and offset, and what to do next. A
//! reader that closes the pipe (`hfile cat … | head`) has what it wanted: that ends quietly.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use sstable::Damage;

use crate::output::STDOUT;
use crate::stderr::print_message;

/// How a verb that did its work ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    /// Done, and nothing speaks against it.
    Positive,
    /// Done, and the answer is no.
    Negative,
}

impl Answer {
    /// `Sound` if `sound`.
    pub(crate) const fn from_bool(sound: bool) -> Self {
        if sound { Self::Positive } else { Self::Negative }
    }

    /// `Sound` if both are.
    pub(crate) const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Positive, Self::Positive) => Self::Positive,
            _ => Self::Negative,
        }
    }
}

/// The arguments do not fit together in a way that clap cannot know.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// The output is there already and may not be replaced.
#[derive(Debug, thiserror::Error)]
#[error("{0} already exists")]
pub(crate) struct OutputExists(pub(crate) String);

/// A read gave what it must not give: a defect of this program, not of its input.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ReadMismatch(pub(crate) String);

/// What was written the output is damaged: a defect of this program, or copied from its input.
#[derive(Debug, thiserror::Error)]
#[error("{name}: the output is damaged: {damage}")]
pub(crate) struct DamagedOutput {
    /// The file that was to be written.
    pub(crate) name: String,
    /// The first thing that is wrong with it.
    pub(crate) damage: Damage,
}

/// A file of which nothing can be saved.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unsalvageable(#[source] sstable::Error);

impl Unsalvageable {
    /// The error, if it is damage to what salvage needs.
    pub(crate) fn from_error(error: sstable::Error) -> anyhow::Error {
        match error {
            error @ sstable::Error::Corrupt { .. } => Self(error).into(),
            error => error.into(),
        }
    }
}

/// A file's error for which the verb knows a better next step than the error itself shows.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(crate) struct WithNextStep {
    /// What happened.
    #[source]
    pub(crate) error: sstable::Error,
    /// What to do next.
    pub(crate) next: &'static str,
}

/// Prints a failure to stderr and gives the exit status that goes with it.
pub(crate) fn exit_code(result: anyhow::Result<Answer>) -> ExitCode {
    match result {
        Ok(Answer::Positive) => ExitCode::SUCCESS,
        Ok(Answer::Negative) => ExitCode::from(1),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            print_message(failure_message(&error));
            ExitCode::from(status(&error))
        }
    }
}

/// The exit status of a failure.
pub(crate) fn status(error: &anyhow::Error) -> u8 {
    classify(error).status
}

/// Whether a failure is about the results' reader or the arguments, and not about an input.
pub(crate) fn is_of_output_or_usage(error: &anyhow::Error) -> bool {
    is_closed_pipe(error)
        || error.chain().any(|cause| cause.is::<UsageError>() || cause.to_string() == STDOUT)
}

/// What a failure says: what happened, and what to do next.
pub(crate) fn failure_message(error: &anyhow::Error) -> String {
    let mut message = format!("hfile: {}", one_line(error));
    if let Some(next) = classify(error).next {
        let _ = write!(message, "\nnext: {next}");
    }
    message
}

/// The messages of an error and all its sources in one line.
///
/// A store's error wraps the file's error and may show it too; what is said already is not said
/// again.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let message = cause.to_string();
        if line.ends_with(&message) {
            continue;
        }
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(&message);
    }
    line
}

struct Classification {
    status: u8,
    next: Option<&'static str>,
}

fn classify(error: &anyhow::Error) -> Classification {
    error.chain().find_map(classify_cause).unwrap_or(Classification { status: 3, next: None })
}

fn classify_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    let class = |status, next| Some(Classification { status, next: Some(next) });
    if cause.is::<UsageError>() {
        return class(2, "see hfile --help or hfile VERB --help");
    }
    if let Some(WithNextStep { next, .. }) = cause.downcast_ref() {
        return class(3, next);
    }
    if cause.is::<Unsalvageable>() {
        return class(
            1,
            "restore a sound copy of the file (replica, snapshot, backup): salvage needs a sound trailer, file \
             info and index root to read the blocks",
        );
    }
    if cause.is::<OutputExists>() {
        return class(3, "give another --output, or --force to replace it");
    }
    if cause.is::<ReadMismatch>() {
        return class(
            1,
            "this is a defect of hfile: please report it, with the command and its input",
        );
    }
    if cause.is::<DamagedOutput>() {
        return class(
            1,
            "check the input with hfile verify: hfile filter rebuild replaces a damaged filter; if the input \
             is sound, please report this, with the command and its input",
        );
    }
    if let Some(error) = cause.downcast_ref::<store::Error>() {
        return match error {
            store::Error::StoreFile(sstable::Error::Corrupt { .. }) => class(
                1,
                "list all damage with hfile store verify DIR, or with hfile verify FILE for a file to import; \
                 save the sound parts with hfile store salvage DIR NEW, or hfile salvage FILE --output NEW",
            ),
            store::Error::StoreFile(error) => classify_file_error(error),
            store::Error::Corrupt { .. } => class(
                1,
                "list all damage with hfile store verify DIR; restore a sound copy, or make a new store of the \
                 sound parts with hfile store salvage DIR NEW",
            ),
            store::Error::Missing { path } if has_store_files(path) => class(
                1,
                "the MANIFEST is missing but other parts of a store exist: list them with hfile store verify DIR, \
                 and make a new store of them with hfile store salvage DIR NEW",
            ),
            store::Error::Missing { .. } => {
                class(3, "create a store with hfile store create DIR FAMILY")
            }
            store::Error::Unfinished { .. } => class(
                1,
                "if no salvage is running there, remove the directory and run hfile store salvage again",
            ),
            store::Error::Changing { .. } => class(
                3,
                "try again, or make a checkpoint with hfile store checkpoint and read that",
            ),
            store::Error::Locked { .. } => {
                class(3, "wait for the other process, or end it; verbs that only read need no lock")
            }
            // The operating system's reason is the next cause.
            _ => None,
        };
    }
    if let Some(error) = cause.downcast_ref::<sstable::Error>() {
        return classify_file_error(error);
    }
    match cause.downcast_ref::<io::Error>()?.kind() {
        io::ErrorKind::NotFound => class(3, "check the path"),
        io::ErrorKind::PermissionDenied => class(3, "check its owner and permissions"),
        io::ErrorKind::StorageFull => class(3, "free space on that file system and try again"),
        _ => None,
    }
}

/// Whether there is what only a store has, beside its manifest.
fn has_store_files(directory: &Path) -> bool {
    directory.join("wal").is_dir()
}

fn classify_file_error(error: &sstable::Error) -> Option<Classification> {
    let class = |status, next| Some(Classification { status, next: Some(next) });
    match error {
        sstable::Error::Corrupt { .. } => class(
            1,
            "list all damage and the affected rows with hfile verify FILE; restore a sound copy of the file (replica, \
             snapshot, backup), or save the cells of sound blocks with hfile salvage FILE --output NEW",
        ),
        sstable::Error::Unsupported { .. } => class(
            3,
            "let HBase rewrite the file with options that this build supports, or use a build that supports \
             these",
        ),
        // The operating system's reason is the next cause.
        _ => None,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use sstable::{BlockOffset, BlockType, FileName};

    use super::*;

    fn corrupt() -> anyhow::Error {
        anyhow::Error::new(sstable::Error::Corrupt {
            file: FileName::new("a.hfile"),
            damage: Damage {
                at: BlockOffset::new(64),
                block: Some(BlockType::Data),
                what: "checksum differs".into(),
            },
        })
    }

    #[test]
    fn damage_is_an_answer_and_a_missing_file_a_failure() {
        assert_eq!(classify(&corrupt()).status, 1);
        assert_eq!(classify(&io::Error::from(io::ErrorKind::NotFound).into()).status, 3);
        assert_eq!(classify(&UsageError("no".into()).into()).status, 2);
    }

    #[test]
    fn a_failure_names_file_offset_and_block_once() {
        let error =
            Err::<(), _>(corrupt()).context("a.hfile: DATA block at 0x40: checksum differs");
        let line = one_line(&error.expect_err("made above"));
        assert_eq!(line, "a.hfile: DATA block at 0x40: checksum differs");
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(is_closed_pipe(&error.context("write to stdout")));
        assert!(!is_closed_pipe(&corrupt()));
    }
}
