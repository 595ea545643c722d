//! The message of a failure, and the exit status of the process.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use super::classification::{classify, is_usage};
use super::option_words::message;
use crate::answer::Answer;
use crate::text::fold::fold;
use crate::text::output::STDOUT;
use crate::text::printable::as_line;
use crate::text::stderr::print_message_lines;

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
    let other = std::env::args_os().find(|argument| argument.to_str().is_none());
    match other {
        Some(other) if error.kind() == clap::error::ErrorKind::InvalidUtf8 => {
            let shown = cells::escape(other.as_encoded_bytes()).to_string();
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

/// Returns the message of a failure: what failed, and the next step.
pub(crate) fn failure_message(error: &anyhow::Error) -> String {
    let mut shown = fold(&format!("hfile: {}", as_line(&message(error))));
    if let Some(next) = classify(error).next {
        let _ = write!(shown, "\nnext: {next}");
    }
    shown
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
    use cells::error_line;
    use sstable::{BlockOffset, BlockType, Damage, FileName};

    use super::*;
    use crate::failure::UsageError;

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
        assert_eq!(status(&corrupt()), 1);
        assert_eq!(status(&io::Error::from(io::ErrorKind::NotFound).into()), 3);
        assert_eq!(status(&UsageError("no".into()).into()), 2);
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
