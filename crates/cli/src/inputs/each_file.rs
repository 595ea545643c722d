//! The combined outcome of a subcommand's work on its files, which continues after a file that fails.

use anyhow::bail;
use cells::error_line;
use serde::Serialize;

use crate::failure::{Answer, failure_message, is_of_output_or_usage, status};
use crate::text::size_text::show_number;
use crate::text::stderr::print_message_lines;

/// A file or directory that could not be read, or not to its end.
#[derive(Serialize)]
pub(crate) struct FailedFile {
    file: String,
    pub(crate) what: String,
}

impl FailedFile {
    /// Returns the report of an error of `file`.
    pub(crate) fn new(file: String, error: &anyhow::Error) -> Self {
        Self { file, what: error_line(&**error) }
    }
}

/// The combined outcome of the files so far.
#[derive(Default)]
pub(crate) struct Outcomes {
    /// Whether the answer for a file was negative.
    has_no: bool,
    /// The number of files that failed with another exit status than 1 (a negative answer).
    unread_count: u64,
    /// The next step of the last printed failure that had one.
    last_next_step: Option<String>,
}

impl Outcomes {
    /// Records the outcome of a file; prints the error of a file that failed.
    ///
    /// # Errors
    ///
    /// If stdout or an argument is the cause, because the other files would fail too.
    pub(crate) fn record(&mut self, outcome: anyhow::Result<Answer>) -> anyhow::Result<()> {
        match outcome {
            Ok(answer) => self.has_no |= answer == Answer::Negative,
            Err(error) if is_of_output_or_usage(&error) => return Err(error),
            Err(error) => {
                self.print_failure(&failure_message(&error));
                match status(&error) {
                    1 => self.has_no = true,
                    _ => self.unread_count += 1,
                }
            }
        }
        Ok(())
    }

    /// Prints a failure. Omits the next step if the last failure had the same.
    fn print_failure(&mut self, message: &str) {
        match message.split_once("\nnext: ") {
            Some((what, next)) if self.last_next_step.as_deref() == Some(next) => {
                print_message_lines(what);
            }
            Some((_, next)) => {
                print_message_lines(message);
                self.last_next_step = Some(next.to_owned());
            }
            None => print_message_lines(message),
        }
    }

    /// Returns the answer for all `count` files, or whatever `unit` calls them: negative if it is negative for any.
    ///
    /// # Errors
    ///
    /// If a file could not be read, even if another file has a negative answer.
    pub(crate) fn conclude(self, count: usize, unit: &str) -> anyhow::Result<Answer> {
        if self.unread_count > 0 {
            bail!("{} of {} could not be read", self.unread_count, show_number(count as u64, unit));
        }
        Ok(Answer::from_bool(!self.has_no))
    }
}
