//! Messages on stderr, for everything that is not a result.

use std::fmt;
use std::io::{self, Write};

/// Prints a line on stderr.
///
/// A stderr that takes nothing (a closed pipe, a full disk) changes neither what the command does nor its exit
/// status; `eprintln!` would panic.
pub(crate) fn print_message(message: impl fmt::Display) {
    // One write, so that lines of several threads or processes do not mix.
    let line = format!("{message}\n");
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(line.as_bytes()).and_then(|()| stderr.flush());
}
