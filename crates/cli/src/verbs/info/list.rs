//! The table of `hfile info --list`: one line for each file.

use std::io::{self, Write};

use serde::Serialize;

use super::report::DescribedFile;
use crate::inputs::{Target, add_target_column};
use crate::text::output::{Report, or_dash, write_table};
use crate::text::size_text::{show_count, show_number, show_size};

/// The table of the files, with the totals of their sizes and cells.
#[derive(Default, Serialize)]
pub(super) struct FileList {
    #[serde(skip)]
    rows: Vec<Vec<String>>,
    #[serde(skip)]
    targets: Vec<Target>,
    #[serde(skip)]
    size: u64,
    #[serde(skip)]
    cells: u64,
}

impl FileList {
    pub(super) fn add(&mut self, report: DescribedFile) {
        self.size += report.size;
        self.cells += report.cells;
        let row = |row| or_dash(row, shorten);
        self.rows.push(vec![
            show_size(report.size),
            show_count(report.cells),
            row(report.first_row),
            row(report.last_row),
            report.file,
        ]);
        self.targets.push(report.target);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Report for FileList {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut heading = vec!["size", "cells", "first row", "last row", "file"];
        let mut rows = self.rows.clone();
        add_target_column(&mut heading, &mut rows, self.targets.iter());
        write_table(out, &heading, rows)?;
        let (files, cells) =
            (show_number(self.rows.len() as u64, "file"), show_number(self.cells, "cell"));
        write!(out, "\n{files}, {}, {cells}", show_size(self.size))?;
        let halves = self.targets.iter().filter(|target| target.is_half()).count() as u64;
        if halves > 0 {
            let references = show_number(halves, "reference");
            write!(out, "; {references} counted as the whole file")?;
        }
        writeln!(out)
    }
}

/// The most characters of a row that the table shows.
const ROW_CHARS_MAX: usize = 24;

/// Shortens a long row, so that a line of the table stays readable.
fn shorten(row: String) -> String {
    match row.char_indices().nth(ROW_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &row[..end]),
        None => row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_rows_are_shortened() {
        let longest = "é".repeat(ROW_CHARS_MAX);
        assert_eq!(shorten(longest.clone()), longest);
        assert_eq!(shorten(format!("{longest}x")), format!("{longest}…"));
    }
}
