//! What all verbs that get rows say of an absent row.

use std::fmt;

use crate::text::stderr::print_message;

/// Prints to stderr that a row was not found; `is_whole` unless a part could not be read.
pub(crate) fn print_row_not_found(row: impl fmt::Display, is_whole: bool) {
    let place = if is_whole { "" } else { " in what can be read" };
    print_message(format_args!("hfile: row not found{place}: {row}"));
}

/// Prints to stderr that no cell of a row is shown, but cells or delete markers are stored.
pub(crate) fn print_row_is_hidden(row: impl fmt::Display, is_whole: bool) {
    let place = if is_whole { "" } else { " in what can be read" };
    print_message(format_args!(
        "hfile: row not found{place}: {row}; deleted or expired cells of it are stored: see them with --raw"
    ));
}
