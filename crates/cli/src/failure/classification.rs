//! The exit status of each error, and what the user can do next.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use hbase_files::SkipReason;
use hfile_cli::workload::WrongAnswer;
use sstable::BlockType;
use transfer::CellProblem;

use super::kinds::{Failure, Unsalvageable, UsageError};
use crate::text::running::{verb, verify_verb};

/// The exit status of a failure, and the advice printed after `next:`.
pub(super) struct Classification {
    pub(super) status: u8,
    pub(super) next: Option<Cow<'static, str>>,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "an arm of the matches below, some of which are `None`"
)]
fn class(status: u8, next: impl Into<Cow<'static, str>>) -> Option<Classification> {
    Some(Classification { status, next: Some(next.into()) })
}

/// Classifies a failure by the first known error in its chain; otherwise the status is 3.
pub(super) fn classify(error: &anyhow::Error) -> Classification {
    error.chain().find_map(classify_cause).unwrap_or(Classification { status: 3, next: None })
}

fn classify_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    if is_usage(cause) {
        return class(2, format!("see hfile {} --help", verb()));
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
        Failure::FormerTable { next, .. } => class(3, next.clone()),
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
        sstable::Error::TooLarge { ratio, .. } => class(
            3,
            format!(
                "if there is memory for the block, raise the limit: --inflate-ratio-max {ratio}, for verbs that \
                 read HFiles and tables"
            ),
        ),
        // `classify` continues with the source: the operating system's error.
        _ => None,
    }
}

fn classify_table_damage(error: &hbase_files::Error) -> Option<Classification> {
    match error {
        hbase_files::Error::Missing { .. } => class(
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
        | hbase_files::Error::File(sstable::Error::Corrupt { .. }) => class(
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
        hbase_files::Error::Incomplete { source, .. } if is_refused(source) => {
            classify_directory_error(source)
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
                "restore a sound copy of the tracker file, or make one of the files that are there: hfile table filelist; \
                 single files can be read by their own paths",
            )
        }
        hbase_files::Error::Damaged { .. } => class(
            1,
            "restore a sound copy of this file (replica, backup, HBase's root directory); HFiles can be read without \
             it: hfile verify, hfile cat",
        ),
        hbase_files::Error::KeyRanges { .. } => class(
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

/// Whether a part of a table needs what this build lacks, which is no damage.
fn is_refused(error: &hbase_files::Error) -> bool {
    matches!(
        error,
        hbase_files::Error::Unsupported { .. }
            | hbase_files::Error::File(sstable::Error::Unsupported { .. })
            | hbase_files::Error::Log(hbase_files::wal::Error::Unsupported { .. })
    )
}

fn classify_log_error(error: &hbase_files::wal::Error) -> Option<Classification> {
    use hbase_files::wal::Error;

    match error {
        Error::Damaged { .. } => class(
            1,
            "restore a sound copy of the log (replica, backup), or print the entries that can be read with hfile wal \
             cat --skip-damaged; hfile wal verify lists all damage",
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

/// Whether the arguments are the cause.
pub(crate) fn is_usage(cause: &(dyn std::error::Error + 'static)) -> bool {
    let error = cause.downcast_ref();
    let is_of_options =
        matches!(error, Some(transfer::Error::Options(_) | transfer::Error::InputOptions { .. }));
    is_of_options || cause.is::<UsageError>()
}
