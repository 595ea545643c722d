//! Which error of the crates becomes which failure, and where it happened.

use std::path::Path;

use cells::error_line;

use crate::failure::{Failure, FailureKind};

impl From<&sstable::Error> for Failure {
    fn from(error: &sstable::Error) -> Self {
        use sstable::Error;
        let message = error_line(error);
        match error {
            Error::Io { file, source, .. } => Self::io(message, source).at_path(file),
            Error::Corrupt { file, damage } => {
                Self::new(FailureKind::Damaged, message).at_path(file).at_offset(damage.at.get())
            }
            Error::Unsupported { file, .. } => {
                Self::new(FailureKind::Unsupported, message).at_path(file)
            }
            Error::TooLarge { file, at, .. } => {
                Self::new(FailureKind::Unsupported, message).at_path(file).at_offset(at.get())
            }
            Error::Invalid { .. } => Self::invalid(message),
            Error::Internal { file, at, .. } => {
                Self::new(FailureKind::Other, message).at_path(file).at_offset(at.get())
            }
            _ => Self::new(FailureKind::Other, message),
        }
    }
}

impl From<&hbase_files::wal::Error> for Failure {
    fn from(error: &hbase_files::wal::Error) -> Self {
        use hbase_files::wal::Error;
        let message = error_line(error);
        match error {
            Error::Io { file, offset, source } => {
                Self::io(message, source).at_path(file).at_offset(*offset)
            }
            Error::Damaged { file, offset, .. } => {
                Self::new(FailureKind::Damaged, message).at_path(file).at_offset(*offset)
            }
            Error::NotALog { file, .. } => Self::new(FailureKind::Damaged, message).at_path(file),
            Error::Unsupported { file, .. } => {
                Self::new(FailureKind::Unsupported, message).at_path(file)
            }
            _ => Self::new(FailureKind::Other, message),
        }
    }
}

impl From<&hbase_files::Error> for Failure {
    fn from(error: &hbase_files::Error) -> Self {
        use hbase_files::Error;
        let message = error_line(error);
        let at = |kind, path: &Path| Self::new(kind, message.clone()).at_path(path.display());
        match error {
            Error::File(error) => error.into(),
            Error::Log(error) => error.into(),
            Error::Io { path, source, .. } => {
                Self::io(message.clone(), source).at_path(path.display())
            }
            Error::NotFound { path, .. } => at(FailureKind::NotFound, path),
            Error::NoFamily { .. } => Self::new(FailureKind::NotFound, message),
            // The second is a limit of the reader, which hostile directories exceed.
            Error::Unsupported { path, .. } | Error::TooMany { path, .. } => {
                at(FailureKind::Unsupported, path)
            }
            Error::Temporary { source, directory } => {
                let cause = Self::from(&**source);
                Self { message, path: Some(directory.display().to_string()), ..cause }
            }
            Error::NotAStoreFile { path, .. }
            | Error::Missing { path, .. }
            | Error::NoRoot { path, .. }
            | Error::Damaged { path, .. }
            | Error::KeyRanges { path, .. } => at(FailureKind::Damaged, path),
            // The file to look at is the file of the cause. For a table, a missing file is damage.
            Error::Incomplete { path, source } => {
                let cause = Self::from(&**source);
                let path = cause.path.unwrap_or_else(|| path.display().to_string());
                let kind = match cause.kind {
                    FailureKind::Unsupported => FailureKind::Unsupported,
                    _ => FailureKind::Damaged,
                };
                Self { kind, message, path: Some(path), ..cause }
            }
            _ => Self::new(FailureKind::Other, message),
        }
    }
}

impl From<&store::Error> for Failure {
    fn from(error: &store::Error) -> Self {
        use store::Error;
        let message = error_line(error);
        let at = |kind, path: &Path| Self::new(kind, message.clone()).at_path(path.display());
        match error {
            Error::StoreFile(error) => error.into(),
            Error::Io { path, source, .. } => {
                Self::io(message.clone(), source).at_path(path.display())
            }
            Error::Corrupt { path, at: offset, .. } => {
                at(FailureKind::Damaged, path).at_offset(*offset)
            }
            Error::Invalid { .. } => Self::invalid(message),
            Error::Missing { path } => at(FailureKind::NotFound, path),
            Error::Unfinished { path } => at(FailureKind::Damaged, path),
            Error::Changing { path } => at(FailureKind::Other, path),
            _ => Self::new(FailureKind::Other, message),
        }
    }
}

impl From<&hfile_arrow::Error> for Failure {
    fn from(error: &hfile_arrow::Error) -> Self {
        use hfile_arrow::Error;
        let message = error_line(error);
        match error {
            Error::File(error) => error.into(),
            Error::Store(error) => error.into(),
            Error::Directories(error) => error.into(),
            // In this package the type of any bytes is called binary.
            Error::Value { row, part, len, type_name } => Self::new(
                FailureKind::ValueType,
                format!(
                    "row {row}, {part}: {len} bytes are no {type_name}; choose another type, or binary"
                ),
            ),
            Error::Invalid(_) => Self::invalid(message),
            _ => Self::new(FailureKind::Other, message),
        }
    }
}

/// Makes `?` turn the errors of the crates into failures.
macro_rules! owned {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::from(&error)
            }
        })*
    };
}

owned!(sstable::Error, hbase_files::Error, store::Error, hfile_arrow::Error);
