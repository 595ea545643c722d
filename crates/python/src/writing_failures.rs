//! The errors of `write_hfiles` as failures, in the words of the package: with the names of its arguments.

use cells::error_line;
use transfer::{CellProblem, Error, InputOption, OptionProblem};

use crate::failure::{Failure, FailureKind};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match &error {
            // What is invalid is in the data.
            Error::Record { .. } | Error::File(sstable::Error::Invalid { .. }) => {
                Self::new(FailureKind::ValueType, error.to_string())
            }
            Error::Cell { error, problem: CellProblem::Tags } => {
                Self::invalid(format!("{error}; tags=True keeps tags"))
            }
            Error::Cell { error, problem: CellProblem::OutOfOrder } => Self::invalid(format!(
                "{error}; sort the data, as sort=True and pyhfile.spark.for_bulk_load do"
            )),
            Error::File(error) | Error::Cell { error, .. } => error.into(),
            Error::Store(error) => error.into(),
            Error::Options(problem) => Self::invalid(words(problem)),
            Error::InputOptions { input, problem } => {
                Self::invalid(format!("{input}: {}", words(problem)))
            }
            Error::Io { file, source, .. } => Self::io(error_line(&error), source).at_path(file),
            error => Self::new(FailureKind::Other, error_line(error)),
        }
    }
}

/// Returns the message of options that do not fit. Most arguments have the library's names.
fn words(problem: &OptionProblem) -> String {
    let argument = |option: InputOption| match option {
        // Columns that `columns` does not name are left out.
        InputOption::Column | InputOption::Ignore => "columns".to_owned(),
        option => option.to_string(),
    };
    match problem {
        OptionProblem::Value { option, what } => format!("{}: {what}", argument(*option)),
        OptionProblem::BatchesOfCells(given) => format!(
            "{} cannot be combined with the columns row, family and timestamp, of which each row is a cell; row reads \
             them as columns of a table",
            argument(*given)
        ),
        OptionProblem::UnnamedColumn(_) => {
            format!("{problem}; name the columns to write with columns")
        }
        OptionProblem::NoFamily(_) => format!(
            "{problem}: set one with columns, as {{\"name\": \"info:name\"}}, or one for all with family; columns \
             leaves out what it does not name"
        ),
        OptionProblem::HeaderFamily { .. } => format!("{problem} with columns"),
        problem => problem.to_string(),
    }
}
