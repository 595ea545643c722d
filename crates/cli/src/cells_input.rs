//! Reads cells from a file or a pipe: the cells format or CSV, compressed or not.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sstable::{Cell, Error, FileName, Timestamp, check_family_name, ndjson};

use crate::csv_input::{ColumnFamily, CsvCells, CsvContext, CsvOptions, Problem};
use crate::failure::UsageError;
use crate::input_file::open_counted;
pub(crate) use crate::input_file::{display_name, open_keys};
use crate::limited_lines::LimitedLines;
use crate::progress::Progress;
use crate::read_bytes::ReadBytes;
use crate::size_text::show_number;
use crate::stderr::print_message;

/// The maximum length of a line of cells, in sizes of a CSV field: hex doubles a value, and a cell has
/// other parts.
const LINE_SIZE_FACTOR: u64 = 8;
const LINE_HINT: &str =
    "raise --field-size-max for longer lines: a line of cells has at most 8 times as much";

/// A format of input cells.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum CellsFormat {
    /// One JSON object per line, byte strings in hex.
    Cells,
    /// Comma-separated values.
    Csv,
}

/// The options of an input of cells.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct InputOptions {
    /// Choose the input format
    #[arg(long, value_enum, ignore_case = true, value_name = "FORMAT")]
    from: CellsFormat,
    /// Input file, plain or compressed with gzip or Zstandard; - is stdin
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Show the first cells, counts and problems without writing anything
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    csv: CsvOptions,
}

impl InputOptions {
    /// Returns the options of a verb that also takes other arguments than an input file.
    pub(crate) const fn new(
        from: CellsFormat,
        input: PathBuf,
        dry_run: bool,
        csv: CsvOptions,
    ) -> Self {
        Self { from, input, dry_run, csv }
    }

    /// Whether `--dry-run` is given.
    pub(crate) const fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Refuses a file for bad lines that is the output or inside of it.
    pub(crate) fn check_output(&self, output: &Path) -> Result<(), UsageError> {
        let Some(bad_lines) = self.csv.bad_lines_path() else { return Ok(()) };
        if resolved(bad_lines).starts_with(resolved(output)) {
            let (bad_lines, output) = (bad_lines.display(), output.display());
            return Err(UsageError(format!(
                "--bad-lines {bad_lines} and --output {output} are the same path; choose another file for the bad lines"
            )));
        }
        Ok(())
    }

    /// Returns the input's name for messages.
    pub(crate) fn name(&self) -> FileName {
        FileName::new(display_name(&self.input))
    }

    /// Opens the input.
    ///
    /// CSV columns that name no family get `family`. CSV cells without a timestamp get `now`, and a message
    /// on stderr says so.
    pub(crate) fn cells(&self, family: ColumnFamily<'_>, now: Timestamp) -> anyhow::Result<Input> {
        self.cells_from(family, now, 1)
    }

    /// Like [`cells`](Self::cells), but skips the records that begin before `from_line`.
    pub(crate) fn cells_from(
        &self,
        family: ColumnFamily<'_>,
        now: Timestamp,
        from_line: u64,
    ) -> anyhow::Result<Input> {
        let name = self.name();
        let bytes = ReadBytes::default();
        let source = match self.from {
            CellsFormat::Cells => {
                let family = family.is_option().then_some("--family");
                if let Some(given) = self.csv.first_csv_option().or(family) {
                    return Err(UsageError(format!("{given} needs --from csv")).into());
                }
                let input = open_counted(&self.input, &bytes)?;
                let len_max = LINE_SIZE_FACTOR * self.csv.field_size_max()? as u64;
                let input = LimitedLines::new(input, len_max, LINE_HINT);
                let mut cells = ndjson::Reader::new(input, name);
                cells.skip_to_line(from_line)?;
                Source::Cells(cells)
            }
            CellsFormat::Csv => {
                let context = CsvContext { name, family, now, is_dry_run: self.dry_run, from_line };
                let input = open_counted(&self.input, &bytes)?;
                Source::Csv(Box::new(CsvCells::new(input, &self.csv, context)?))
            }
        };
        let input = Input {
            source,
            name: self.name(),
            from_line,
            record_count: 0,
            line_number: LineNumber::default(),
            bytes,
        };
        if let Source::Csv(csv) = &input.source
            && csv.fixed_timestamp() == Some(now)
        {
            print_message(format_args!(
                "hfile: the cells get the timestamp {now}, the start of this run; --timestamp sets another"
            ));
        }
        Ok(input)
    }
}

/// Returns a canonical path for comparisons, of an existing or a new file.
fn resolved(path: &Path) -> PathBuf {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let canonical = path.canonicalize().ok();
    let in_directory = || Some(directory.canonicalize().ok()?.join(path.file_name()?));
    canonical.or_else(in_directory).unwrap_or_else(|| path.to_owned())
}

/// An iterator over the cells of an input.
pub(crate) struct Input {
    source: Source,
    name: FileName,
    from_line: u64,
    record_count: u64,
    line_number: LineNumber,
    bytes: ReadBytes,
}

/// A shared handle to the line of an input's last cell, usable while the input is borrowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineNumber(Rc<std::cell::Cell<u64>>);

impl LineNumber {
    /// Returns the line on which the last returned cell's record begins.
    pub(crate) fn get(&self) -> u64 {
        self.0.get()
    }
}

enum Source {
    Cells(ndjson::Reader<LimitedLines<Box<dyn BufRead>>>),
    Csv(Box<CsvCells<Box<dyn BufRead>>>),
}

impl Input {
    /// Returns the line on which the last returned cell's record begins.
    pub(crate) fn line(&self) -> u64 {
        match &self.source {
            Source::Cells(cells) => cells.line_number(),
            Source::Csv(csv) => csv.line(),
        }
    }

    /// Returns a handle to the line of the last returned cell.
    pub(crate) fn line_number(&self) -> LineNumber {
        self.line_number.clone()
    }

    /// Shows how much of the input is read, until the returned value is dropped.
    pub(crate) fn show_progress(&self, phase: &'static str) -> Rc<Progress> {
        self.bytes.show(phase)
    }

    /// Whether the last returned cell ends its record.
    pub(crate) fn is_between_records(&self) -> bool {
        match &self.source {
            Source::Cells(_) => true,
            Source::Csv(csv) => csv.is_between_records(),
        }
    }

    /// Returns the families of all cells, if the columns determine them.
    pub(crate) fn families(&self) -> Option<Vec<Vec<u8>>> {
        match &self.source {
            Source::Cells(_) => None,
            Source::Csv(csv) => csv.families(),
        }
    }

    /// Returns the number of records read, without bad lines.
    pub(crate) fn record_count(&self) -> u64 {
        match &self.source {
            Source::Cells(_) => self.record_count,
            Source::Csv(csv) => csv.record_count(),
        }
    }

    /// Returns the number of skipped lines that could not be read.
    pub(crate) fn bad_line_count(&self) -> u64 {
        match &self.source {
            Source::Cells(_) => 0,
            Source::Csv(csv) => csv.bad_line_count(),
        }
    }

    /// Refuses `--from-line` if no record begins on that line or later. Call this at the end of the input.
    pub(crate) fn check_from_line(&self) -> Result<(), UsageError> {
        if self.from_line > 1 && self.record_count() + self.bad_line_count() == 0 {
            let line = self.from_line;
            return Err(UsageError(format!(
                "--from-line {line}: no record of the input begins on that line or a later one"
            )));
        }
        Ok(())
    }

    /// Keeps the file for bad lines, which is otherwise removed when the input is dropped.
    pub(crate) fn keep_bad_lines(&mut self) {
        if let Source::Csv(csv) = &mut self.source {
            csv.keep_bad_lines();
        }
    }

    /// Returns the first bad lines.
    pub(crate) fn first_bad_lines(&self) -> &[Problem] {
        match &self.source {
            Source::Cells(_) => &[],
            Source::Csv(csv) => csv.first_bad_lines(),
        }
    }

    /// Prints to stderr how many lines were skipped, and the first one.
    pub(crate) fn report_bad_lines(&self) {
        let count = self.bad_line_count();
        if count == 0 {
            return;
        }
        let file_note = match &self.source {
            Source::Csv(csv) => csv.bad_lines_file().map(|file| format!("; {file} contains them")),
            Source::Cells(_) => None,
        };
        let lines = show_number(count, "line");
        let first = self.first_bad_lines().first();
        let first =
            first.map(|Problem { line, what }| format!("; the first is line {line}: {what}"));
        let (file_note, first) = (file_note.unwrap_or_default(), first.unwrap_or_default());
        print_message(format_args!(
            "hfile: skipped {lines} that could not be read{file_note}{first}"
        ));
    }
}

impl Iterator for Input {
    type Item = sstable::Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        let cell = match &mut self.source {
            Source::Csv(csv) => csv.next(),
            Source::Cells(cells) => {
                let cell =
                    cells.next().map(|cell| check_cell(cell?, &self.name, cells.line_number()));
                self.record_count += u64::from(matches!(cell, Some(Ok(_))));
                cell
            }
        };
        self.line_number.0.set(self.line());
        cell
    }
}

/// Refuses a cell whose family HBase refuses.
fn check_cell(cell: Cell, name: &FileName, line: u64) -> sstable::Result<Cell> {
    check_family_name(cell.family()).map_err(|what| Error::Invalid {
        file: name.clone(),
        what: format!("line {line}: {what}"),
    })?;
    Ok(cell)
}

#[cfg(test)]
mod tests {
    use sstable::{CellType, Result};

    use super::*;

    fn read(text: &'static str) -> Vec<Result<Cell>> {
        #[derive(clap::Parser)]
        struct Parsed {
            #[command(flatten)]
            csv: CsvOptions,
        }
        let Parsed { csv } = clap::Parser::parse_from(["test"]);
        let (name, now) = (FileName::new("x.csv"), Timestamp::new(1));
        let context = CsvContext {
            name,
            family: ColumnFamily::Unknown,
            now,
            is_dry_run: false,
            from_line: 1,
        };
        match CsvCells::new(text.as_bytes(), &csv, context) {
            Ok(cells) => cells.collect(),
            Err(error) => vec![Err(error.downcast().expect("an error about the file"))],
        }
    }

    #[test]
    fn csv_columns_come_in_any_order_and_some_are_optional() {
        let cells = read("value,row,ts,family\n\"a,\"\"b\\x00\",r\\x001,5,f\n");
        let cell = cells[0].as_ref().expect("sound");
        assert_eq!(cell.row(), b"r\x001");
        assert_eq!(cell.value(), b"a,\"b\x00");
        assert_eq!((cell.qualifier(), cell.timestamp()), (&b""[..], Timestamp::new(5)));
        assert_eq!(cell.cell_type(), CellType::Put);
    }

    #[test]
    fn csv_errors_name_line_and_column() {
        for (text, message) in [
            ("row,family,ts,tag\n", "x.csv: line 1: unknown column \"tag\""),
            (
                "row,family,ts\nr,f,1\nr,f,now\n",
                "x.csv: line 3: column \"ts\": \"now\" is not a number",
            ),
            ("row,family,ts\nr,f,-1\n", "x.csv: line 2: column \"ts\": a negative timestamp"),
            ("row,family,ts\n,f,1\n", "x.csv: line 2: column \"row\": the row is empty"),
            ("row,family,ts\nr,,1\n", "x.csv: line 2: column \"family\": the family is empty"),
            ("row,family,ts\nr,f\n", "x.csv: line 2: column \"ts\" is missing: 2 of 3 fields"),
            ("row,family,ts\nr,f,1,2\n", "x.csv: line 2: 4 fields, expected 3"),
            (
                "row,family,ts,type\nr,f,1,Get\n",
                "x.csv: line 2: column \"type\": unknown cell type \"Get\"",
            ),
            (
                "row,family,ts\nr,f,\"1\n",
                "x.csv: line 2: the quote that opens a field on line 2 is not closed",
            ),
        ] {
            let cells = read(text);
            let error = cells.last().expect("one").as_ref().expect_err(text).to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
