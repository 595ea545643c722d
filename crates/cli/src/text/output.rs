//! Reports of verbs (subcommands) on stdout: as text, or with `--json` as one JSON object per line.

use std::io::{self, BufWriter, StdoutLock, Write};

use anyhow::Context;
use cells::ndjson;
use serde::Serialize;
use serde_json::value::RawValue;
use sstable::Cell;

use crate::answer::Answer;
use crate::text::printable::{Printable, as_line};
use crate::text::stderr::print_message_lines;

/// The result of a verb. Its JSON form comes from [`Serialize`], its text form from `write_text`.
pub(crate) trait Report: Serialize {
    /// Writes the text form.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()>;

    /// Returns the answer of the verb that prints this report.
    fn answer(&self) -> Answer {
        Answer::Positive
    }
}

// The format of a verb's report: text or JSON. No doc comment: clap would show it as the description
// of a verb.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ReportFormat {
    /// Print JSON, one object per line.
    #[arg(long)]
    json: bool,
}

impl ReportFormat {
    /// Whether to print reports as JSON.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Prints a report to stderr, for verbs whose output file goes to stdout.
    pub(crate) fn print_on_stderr(self, report: &impl Report) -> anyhow::Result<Answer> {
        let mut text = Vec::new();
        if self.json {
            serde_json::to_writer(&mut text, report)?;
        } else {
            report.write_text(&mut text)?;
        }
        print_message_lines(&String::from_utf8_lossy(&text));
        Ok(report.answer())
    }

    /// Prints a report to stdout, and returns its answer.
    pub(crate) fn print(self, report: &impl Report) -> anyhow::Result<Answer> {
        let mut out = stdout();
        if self.json {
            serde_json::to_writer(&mut out, report)
                .map_err(io::Error::from)
                .and_then(|()| writeln!(out))
        } else {
            report.write_text(&mut Printable(&mut out))
        }
        .and_then(|()| out.flush())
        .context(STDOUT)?;
        Ok(report.answer())
    }

    /// Prints a report as [`print`](Self::print) does; in text, with an empty line between reports.
    pub(crate) fn print_next(
        self,
        report: &impl Report,
        is_first: &mut bool,
    ) -> anyhow::Result<Answer> {
        if !std::mem::take(is_first) && !self.json {
            writeln!(stdout()).context(STDOUT)?;
        }
        self.print(report)
    }
}

/// The error context of a failed write to stdout, by which [`crate::failure`] recognizes it.
pub(crate) const STDOUT: &str = "cannot write to stdout";

/// Stdout, locked, with a buffer of 64 KiB.
pub(crate) type Stdout = BufWriter<StdoutLock<'static>>;

/// Returns buffered stdout.
///
/// The caller must flush it: dropping the buffer flushes too, but ignores errors.
pub(crate) fn stdout() -> Stdout {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Writes a table whose columns are as wide as their longest entry.
///
/// Columns that contain only numbers, with or without a unit, (or `-` for no number) are aligned
/// right, all others left. Escapes control characters.
pub(crate) fn write_table(
    out: &mut dyn Write,
    heading: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> io::Result<()> {
    let mut lines = Vec::<Vec<String>>::new();
    for row in rows {
        lines.push(row.iter().map(|cell| as_line(cell).into_owned()).collect());
    }
    let mut columns: Vec<(usize, bool)> = Vec::new();
    for (at, title) in heading.iter().enumerate() {
        let (mut width, mut is_right) = (title.chars().count(), true);
        for cell in lines.iter().filter_map(|row| row.get(at)) {
            width = width.max(cell.chars().count());
            is_right &= is_number(cell);
        }
        columns.push((width, is_right));
    }
    let titles: Vec<String> = heading.iter().map(|&title| title.to_owned()).collect();
    for row in std::iter::once(&titles).chain(&lines) {
        let mut line = String::new();
        for (cell, &(width, right)) in row.iter().zip(&columns) {
            let padding = " ".repeat(width - cell.chars().count().min(width));
            let (before, after) =
                if right { (padding, String::new()) } else { (String::new(), padding) };
            line.push_str(&before);
            line.push_str(cell);
            line.push_str(&after);
            line.push_str("  ");
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Returns a cell as JSON, in the form of the format `cells`.
pub(crate) fn cell_json(cell: &Cell) -> anyhow::Result<Box<RawValue>> {
    let mut bytes = Vec::new();
    ndjson::write_cell(&mut bytes, &cell.as_ref())?;
    let line = String::from_utf8(bytes)?;
    Ok(RawValue::from_string(line.trim_end().to_owned())?)
}

/// Returns the text of a number in a table: `-` if there is none.
pub(crate) fn or_dash<T>(number: Option<T>, show: impl FnOnce(T) -> String) -> String {
    number.map_or_else(|| "-".to_owned(), show)
}

/// Whether a text is a number such as `1,200` or `+4.9%`, or has a unit such as `4.8 MiB`.
fn is_number(text: &str) -> bool {
    const UNITS: [&str; 12] =
        ["B", "KiB", "MiB", "GiB", "TiB", "ns", "µs", "ms", "s", "k", "M", "G"];
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    number.chars().all(|c| c.is_ascii_digit() || ".,+-%e".contains(c))
        && (unit.is_empty() || UNITS.contains(&unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_right_and_words_left() {
        let mut out = Vec::new();
        let rows = [
            vec!["none".into(), "16.0".into(), "4.8 MiB".into()],
            vec!["hbase-bloom".into(), "-".into(), "64 KiB".into()],
        ];
        write_table(&mut out, &["filter", "n", "size"], rows).expect("memory takes it");
        let text = String::from_utf8(out).expect("text");
        let lines = [
            "filter          n     size",
            "none         16.0  4.8 MiB",
            "hbase-bloom     -   64 KiB",
            "",
        ];
        assert_eq!(text, lines.join("\n"));
    }
}
