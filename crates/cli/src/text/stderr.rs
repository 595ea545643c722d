//! Messages on stderr, for everything that is not a result.

use std::fmt;
use std::io::{self, Write};

use cells::shorten;

use crate::text::printable::{as_line, as_lines};

/// Prints a line on stderr. Escapes control characters, line feeds too.
///
/// If stderr cannot be written (closed pipe, full disk), the message is dropped: the command's work and
/// exit status do not depend on it. `eprintln!` would panic.
pub(crate) fn print_message(message: impl fmt::Display) {
    print(&as_line(&message.to_string()));
}

/// Prints several lines on stderr as [`print_message`] does. Names in the text must have no line feeds.
pub(crate) fn print_message_lines(text: &str) {
    print(&as_lines(text.trim_end()));
}

fn print(text: &str) {
    let short = shorten(text);
    // A single write, so that lines of several threads or processes do not interleave.
    let line = format!("{short}\n");
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(line.as_bytes()).and_then(|()| stderr.flush());
}
