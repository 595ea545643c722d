//! Messages on stderr, for everything that is not a result.

use std::fmt;
use std::io::{self, Write};

use crate::printable::printable;

/// Prints a line on stderr, with control characters escaped.
///
/// If stderr cannot be written (closed pipe, full disk), the message is dropped: the command's work and
/// exit status do not depend on it. `eprintln!` would panic.
pub(crate) fn print_message(message: impl fmt::Display) {
    // A single write, so that lines of several threads or processes do not interleave.
    let line = format!("{message}\n");
    let line = printable(&line);
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(line.as_bytes()).and_then(|()| stderr.flush());
}
