//! What a read leaves out or leaves in doubt, on stderr.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use hbase_files::wal::LogPart;
use hbase_files::{MissingCells, OldLogCells, Table, TornLog, Warning};

use crate::text::fold::fold;
use crate::text::printable::as_line;
use crate::text::size_text::{show_count, show_number};
use crate::text::stderr::{print_message, print_message_lines};

/// Prints to stderr what was left out.
pub(crate) fn print_missing(missing: &[MissingCells]) {
    for MissingCells { region, family, file, what, rows } in missing {
        let place = match (&**region, &family[..]) {
            ("", _) => String::new(),
            // The path of a store file begins with its region and family.
            (region, _) if file.starts_with(region) => String::new(),
            (region, b"") => format!(" (region {region})"),
            (region, family) => format!(" (region {region}, family {})", cells::escape(family)),
        };
        print_missing_line(file, &place, what, rows);
    }
}

/// Prints to stderr what was left out of a file.
pub(crate) fn print_missing_line(file: &str, place: &str, what: &str, rows: impl fmt::Display) {
    // An error of a file begins with the file's name.
    let problem = what.strip_prefix(&format!("{file}: ")).unwrap_or(what);
    let first = fold(&as_line(&format!(
        "hfile: missing: {rows} may be missing or incomplete: {file}{place}"
    )));
    print_message_lines(&format!("{first}\n  {}", fold(&as_line(problem))));
}

/// Prints to stderr which cells of logs were left out because they are older than the region's files.
pub(crate) fn print_old_log_cells(old: &[OldLogCells]) {
    for OldLogCells { region, cells, oldest, newest } in old {
        let count = show_number(*cells, "cell");
        print_message(format_args!(
            "hfile: warning: region {region}: left out {count} of logs (sequence ids {oldest} to {newest}): written \
             before HBase last opened the region, and in no store file. A restored snapshot takes them back; \
             HBase returns them if it replays the logs after a crash"
        ));
    }
}

/// Prints to stderr what a table leaves in doubt.
pub(crate) fn print_warnings(warnings: &[Warning]) {
    for warning in warnings {
        print_message(format_args!("hfile: warning: {warning}"));
    }
}

/// The messages on stderr about the tables of a run. Each is printed once: tables share logs and `hbase:meta`.
#[derive(Debug, Default)]
pub(crate) struct PrintedWarnings(BTreeSet<String>);

impl PrintedWarnings {
    /// Prints a message, unless it was printed before.
    pub(crate) fn print(&mut self, message: String) {
        if !self.0.contains(&message) {
            print_message(&message);
            self.0.insert(message);
        }
    }

    /// Prints which logs end within an entry.
    pub(crate) fn warn_of_torn(&mut self, torn: &[TornLog]) {
        for TornLog { path, offset, bytes, part } in torn {
            self.print(torn_line(path, *offset, *bytes, *part));
        }
    }

    /// Prints what a table leaves in doubt.
    pub(crate) fn warn(&mut self, warnings: &[Warning]) {
        for warning in warnings {
            self.print(format!("hfile: warning: {warning}"));
        }
    }
}

/// Prints to stderr what the logs that a scan of a table has read leave in doubt.
///
/// The warnings of the table itself are printed when it is opened.
pub(crate) fn print_log_warnings(table: &Table, warnings: &[Warning]) {
    print_warnings(warnings.get(table.warnings.len()..).unwrap_or_default());
}

/// Prints to stderr the columns that a scan names and for which no cell was found.
pub(crate) fn print_unseen_columns(names: &[String]) {
    let columns = match names {
        [] => return,
        [name] => format!("the column {name}"),
        names => format!("the columns {}", names.join(", ")),
    };
    print_message(format_args!(
        "hfile: warning: no cell of {columns} was found: hfile stats lists the columns of files"
    ));
}

/// Prints to stderr which logs end within an entry.
pub(crate) fn print_torn_logs(torn: &[TornLog]) {
    for TornLog { path, offset, bytes, part } in torn {
        print_torn(path, *offset, *bytes, *part);
    }
}

/// Prints to stderr that a log ends within a part.
pub(crate) fn print_torn(path: &Path, offset: u64, bytes: u64, part: LogPart) {
    print_message(torn_line(path, offset, bytes, part));
}

fn torn_line(path: &Path, offset: u64, bytes: u64, part: LogPart) -> String {
    let (at, size) = (show_count(offset), show_number(bytes, "byte"));
    let file = path.display();
    format!("hfile: {file}: torn: {part} at offset {at} is not finished; {size} not read")
}
