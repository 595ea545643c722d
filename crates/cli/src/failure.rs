//! Exit statuses and error messages.
//!
//! | status | meaning                                             |
//! |-------:|-----------------------------------------------------|
//! |      0 | success                                             |
//! |      1 | negative answer: damaged, different, not found      |
//! |      2 | wrong usage                                         |
//! |      3 | input or output failed                              |
//!
//! A failure prints two lines to stderr: what failed, with file and offset, and what the user can do
//! next. A closed stdout pipe (`hfile cat … | head`) is no failure: the command ends silently with
//! status 0.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use hbase_files::SkipReason;
use sstable::{BlockType, Damage, error_line};
use transfer::CellProblem;
use workload::harness::WrongAnswer;

pub(crate) use crate::answer::Answer;
use crate::text::fold::fold;
use crate::text::output::STDOUT;
use crate::text::printable::as_line;
use crate::text::running::{verb, verify_verb};
use crate::text::stderr::print_message_lines;

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
    /// A table of which only files in the archive or among the MOB files are left.
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

/// Returns the exit status of a verb's result; prints a failure to stderr.
pub(crate) fn exit_code(result: anyhow::Result<Answer>) -> ExitCode {
    match result {
        Ok(Answer::Positive) => ExitCode::SUCCESS,
        Ok(Answer::Negative) => ExitCode::from(1),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            print_message_lines(&failure_message(&error));
            ExitCode::from(status(&error))
        }
    }
}

/// Ends the process because of its arguments, or prints the help for which they ask.
pub(crate) fn exit_of_arguments(error: &clap::Error) -> ! {
    let is_text = |argument: &std::ffi::OsString| argument.to_str().is_some();
    let other = std::env::args_os().find(|argument| !is_text(argument));
    match other {
        Some(other) if error.kind() == clap::error::ErrorKind::InvalidUtf8 => {
            let shown = sstable::escape(other.as_encoded_bytes()).to_string();
            print_message_lines(&format!(
                "hfile: an argument is not UTF-8: {}\nnext: write such bytes as \\xNN, or the key as hex:…",
                as_line(&shown)
            ));
            std::process::exit(2)
        }
        _ => error.exit(),
    }
}

/// Returns the exit status of a failure.
pub(crate) fn status(error: &anyhow::Error) -> u8 {
    classify(error).status
}

/// Whether a failure concerns stdout or the arguments rather than an input file.
pub(crate) fn is_of_output_or_usage(error: &anyhow::Error) -> bool {
    is_closed_pipe(error)
        || error.chain().any(|cause| is_usage(cause) || cause.to_string() == STDOUT)
}

/// Whether the arguments are the cause.
pub(crate) fn is_usage(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<UsageError>() || matches!(cause.downcast_ref(), Some(transfer::Error::Options(_)))
}

/// Returns the message of a failure: what failed, and the next step.
pub(crate) fn failure_message(error: &anyhow::Error) -> String {
    let mut message = fold(&format!("hfile: {}", as_line(&error_line(&**error))));
    if let Some(next) = classify(error).next {
        let _ = write!(message, "\nnext: {next}");
    }
    message
}

/// The exit status of a failure, and the advice printed after `next:`.
struct Classification {
    status: u8,
    next: Option<Cow<'static, str>>,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "an arm of the matches below, others of which are `None`"
)]
const fn class(status: u8, next: &'static str) -> Option<Classification> {
    Some(Classification { status, next: Some(Cow::Borrowed(next)) })
}

/// Returns a classification whose next step names the verb that runs, or one that belongs to it.
#[expect(clippy::unnecessary_wraps, reason = "as `class`")]
fn class_with_verb(status: u8, next: String) -> Option<Classification> {
    Some(Classification { status, next: Some(Cow::Owned(next)) })
}

/// Classifies a failure by the first known error in its chain; otherwise the status is 3.
fn classify(error: &anyhow::Error) -> Classification {
    error.chain().find_map(classify_cause).unwrap_or(Classification { status: 3, next: None })
}

fn classify_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    if is_usage(cause) {
        return class_with_verb(2, format!("see hfile {} --help", verb()));
    }
    if cause.is::<Unsalvageable>() {
        return class(
            1,
            "restore a sound copy of the file (replica, snapshot, backup): salvage needs a sound trailer, file \
             info and index root to read the blocks",
        );
    }
    if let Some(error) = cause.downcast_ref::<transfer::Error>() {
        return classify_transfer_error(error);
    }
    if cause.is::<WrongAnswer>() {
        return class(1, DEFECT);
    }
    if let Some(failure) = cause.downcast_ref::<Failure>() {
        return classify_failure(failure);
    }
    if let Some(error) = cause.downcast_ref::<store::Error>() {
        return classify_store_error(error);
    }
    if let Some(error) = cause.downcast_ref::<hbase_files::Error>() {
        return classify_directory_error(error);
    }
    if let Some(error) = cause.downcast_ref::<hbase_files::wal::Error>() {
        return classify_log_error(error);
    }
    if let Some(error) = cause.downcast_ref::<sstable::Error>() {
        return classify_file_error(error);
    }
    match cause.downcast_ref::<io::Error>()?.kind() {
        io::ErrorKind::NotFound => class(3, "check the path"),
        io::ErrorKind::NotADirectory => class(
            3,
            "check the path: a store is a directory; hfile info, verify, cat and get read single HFiles",
        ),
        io::ErrorKind::PermissionDenied => class(3, "check its owner and permissions"),
        io::ErrorKind::StorageFull => class(3, "free space on that file system and try again"),
        _ => None,
    }
}

/// The next step after a wrong answer.
const DEFECT: &str = "this is a defect of hfile: please report it, with the command and its input";

fn classify_failure(failure: &Failure) -> Option<Classification> {
    match failure {
        Failure::NoStoreFiles(_) => class(
            3,
            "give the directory of a family, region, table or namespace, an HBase root directory, or any directory \
             of HFiles",
        ),
        Failure::FormerTable { next, .. } => class_with_verb(3, next.clone()),
        Failure::NoLogs(_) => class(
            3,
            "give a write-ahead log of HBase, or a directory of them, such as ROOT/WALs or ROOT/oldWALs",
        ),
        Failure::ReadMismatch(_) => class(1, DEFECT),
        Failure::DamagedOutput { .. } => class(
            1,
            "check the input with hfile verify: hfile filter rebuild replaces a damaged filter; if the input \
             is sound, please report this, with the command and its input",
        ),
    }
}

fn classify_transfer_error(error: &transfer::Error) -> Option<Classification> {
    match error {
        transfer::Error::Exists(_) => class(3, "give another --output, or --force to replace it"),
        transfer::Error::Cell { problem, .. } => class(
            3,
            match problem {
                CellProblem::OtherFamily => {
                    "use --bulk-load to write a directory with a file for each family"
                }
                CellProblem::OutOfOrder => {
                    "use --sort to sort cells in HBase's order: row, family, qualifier, newest first"
                }
                CellProblem::Tags => "use --includes-tags true to write tags",
            },
        ),
        transfer::Error::NotADirectory(_) => {
            class(3, "give another --output: a new directory (for hfile store export, OUT)")
        }
        transfer::Error::Table(error) => classify_table_damage(error),
        // `classify` continues with the source.
        _ => None,
    }
}

fn classify_store_error(error: &store::Error) -> Option<Classification> {
    match error {
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
            class(3, "check the path, or create a store with hfile store create DIR FAMILY")
        }
        store::Error::Unfinished { .. } => class(
            1,
            "if no salvage is running there, remove the directory and run hfile store salvage again",
        ),
        store::Error::Changing { .. } => {
            class(3, "try again, or make a checkpoint with hfile store checkpoint and read that")
        }
        store::Error::Locked { .. } => {
            class(3, "wait for the other process, or end it; verbs that only read need no lock")
        }
        store::Error::FlushFailed { .. } => class(
            3,
            "change the setting that is at fault with hfile store alter DIR FAMILY; nothing is lost, the \
             cells are in the log",
        ),
        // `classify` continues with the source: the operating system's error.
        _ => None,
    }
}

/// Whether a directory without a manifest is nevertheless a store: it has a log directory.
fn has_store_files(directory: &Path) -> bool {
    directory.join("wal").is_dir()
}

fn classify_file_error(error: &sstable::Error) -> Option<Classification> {
    match error {
        sstable::Error::Corrupt { damage, .. } if damage.block == Some(BlockType::Trailer) => {
            class(
                1,
                "check that this is an HFile, and compare its size with the original: without a sound end, neither \
             hfile salvage nor HBase can read it; restore a sound copy (replica, snapshot, backup)",
            )
        }
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
        // `classify` continues with the source: the operating system's error.
        _ => None,
    }
}

fn classify_table_damage(error: &hbase_files::Error) -> Option<Classification> {
    match error {
        hbase_files::Error::Missing { .. } => class_with_verb(
            3,
            format!(
                "copy the missing file from HBase's root directory to that place, or read what is left with \
                 --skip-damaged; hfile {} lists all that is missing, and the rows that are lost",
                verify_verb()
            ),
        ),
        hbase_files::Error::Log(hbase_files::wal::Error::Damaged { .. }) => class(
            1,
            "restore a sound copy of the log (replica, backup), or read what is left with --skip-damaged; hfile wal \
             verify lists all damage",
        ),
        hbase_files::Error::Damaged { .. }
        | hbase_files::Error::File(sstable::Error::Corrupt { .. }) => class_with_verb(
            1,
            format!(
                "restore a sound copy of the file (replica, backup), or read what is left with --skip-damaged; hfile \
                 {} lists all damage and the affected rows, hfile verify FILE that of one HFile",
                verify_verb()
            ),
        ),
        // `classify` continues with the error itself, which is none of damage.
        _ => None,
    }
}

fn classify_directory_error(error: &hbase_files::Error) -> Option<Classification> {
    match error {
        hbase_files::Error::File(error) => classify_file_error(error),
        hbase_files::Error::Log(error) => classify_log_error(error),
        // `classify` continues with the source: an error of the operating system is no damage.
        hbase_files::Error::Incomplete { source, .. }
            if matches!(**source, hbase_files::Error::Io { .. }) =>
        {
            None
        }
        hbase_files::Error::Temporary { .. } => class(
            3,
            "choose a directory with more room by --wal-directory, or keep more cells in memory by --wal-memory",
        ),
        hbase_files::Error::Incomplete { .. } => class(
            1,
            "restore what is missing (replica, backup), or scan what is left with --skip-damaged",
        ),
        hbase_files::Error::NotAStoreFile { reason: SkipReason::Empty, .. } => class(
            1,
            "restore a sound copy of the file (replica, snapshot, backup): an HFile is never empty; the name of a \
             link is TABLE=REGION-FILE",
        ),
        hbase_files::Error::NotAStoreFile { reason: SkipReason::WriteAheadLog, .. } => {
            class(3, "read it with hfile wal info or hfile wal cat")
        }
        hbase_files::Error::NotAStoreFile { reason: SkipReason::StoreFiles, .. } => class(
            3,
            "check and read a store with hfile store: hfile store verify DIR, hfile store scan DIR",
        ),
        hbase_files::Error::NotAStoreFile { .. } => {
            class(3, "give an HFile, or the directory of a family, region or table")
        }
        hbase_files::Error::Missing { .. } => class(
            3,
            "copy the missing file from HBase's root directory to that place; its path from data or archive \
             on must stay the same",
        ),
        hbase_files::Error::NoRoot { .. } => class(
            3,
            "copy both files from HBase's root directory with their paths from data or archive on, as in \
             ROOT/data/default/TABLE/REGION/FAMILY/FILE, and read the link there",
        ),
        hbase_files::Error::Damaged { path, .. }
            if path.to_string_lossy().contains(".filelist") =>
        {
            class(
                1,
                "restore a sound copy of the tracker file; without it only HBase's logs tell which files of the family \
                 are live; single files can be read by their own paths",
            )
        }
        hbase_files::Error::Damaged { .. } => class(
            1,
            "restore a sound copy of this file (replica, backup, HBase's root directory); HFiles can be read without \
             it: hfile verify, hfile cat",
        ),
        hbase_files::Error::KeyRanges { .. } => class_with_verb(
            1,
            format!(
                "list what is wrong with hfile {}; a scan with --skip-damaged reads the regions that are there",
                verify_verb()
            ),
        ),
        // The name of a family is an option, so it is checked as one: as for files and stores.
        hbase_files::Error::NoFamily { .. } => {
            class(2, "give one of the families that the table has")
        }
        hbase_files::Error::NotFound { .. } => class(3, "check the path and the name"),
        hbase_files::Error::Unsupported { .. } => {
            class(3, "let HBase read it, or take a new snapshot")
        }
        hbase_files::Error::TooMany { .. } => class(3, "give a directory below this one"),
        // `classify` continues with the source: the operating system's error.
        _ => None,
    }
}

fn classify_log_error(error: &hbase_files::wal::Error) -> Option<Classification> {
    use hbase_files::wal::Error;

    match error {
        Error::Damaged { .. } => class(
            1,
            "the entries before that offset are sound, and hfile wal cat prints them; restore a sound copy of the \
             log (replica, backup) for those after it",
        ),
        Error::NotALog { is_hfile: true, .. } => class(3, "read it with hfile info or hfile cat"),
        Error::NotALog { .. } => class(
            3,
            "give a write-ahead log of HBase, or a directory of them, such as ROOT/WALs or ROOT/oldWALs",
        ),
        Error::Unsupported { .. } => class(3, "let HBase read the log: hbase wal FILE prints it"),
        // `classify` continues with the source: the operating system's error.
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
    fn damage_has_status_1_and_a_missing_file_status_3() {
        assert_eq!(classify(&corrupt()).status, 1);
        assert_eq!(classify(&io::Error::from(io::ErrorKind::NotFound).into()).status, 3);
        assert_eq!(classify(&UsageError("no".into()).into()).status, 2);
    }

    #[test]
    fn a_failure_names_file_offset_and_block_once() {
        let error =
            Err::<(), _>(corrupt()).context("a.hfile: DATA block at 0x40: checksum differs");
        let line = error_line(&*error.expect_err("made above"));
        assert_eq!(line, "a.hfile: DATA block at 0x40: checksum differs");
    }

    #[test]
    fn a_closed_pipe_is_recognized() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(is_closed_pipe(&error.context("write to stdout")));
        assert!(!is_closed_pipe(&corrupt()));
    }
}
