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
//!
//! ```text
//! kinds.rs            the failures that the command line finds itself
//! classification.rs   the status of each error, and the next step
//! option_words.rs     the errors of `transfer`, with the names of options
//! exit.rs             the message, and the end of the process
//! ```

mod classification;
mod exit;
mod kinds;
mod option_words;

pub(crate) use self::classification::is_usage;
pub(crate) use self::exit::{
    exit_code, exit_of_arguments, failure_message, is_of_output_or_usage, status,
};
pub(crate) use self::kinds::{Failure, Unsalvageable, UsageError, refuse};
pub(crate) use self::option_words::{in_words, name as option_name, record_words};
pub(crate) use crate::answer::Answer;
