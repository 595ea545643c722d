//! Reads cells from a file or a pipe: the cells format or CSV, compressed or not.

use std::io::BufRead;
use std::path::PathBuf;
use std::rc::Rc;

use sstable::{Cell, Error, FileName, Timestamp, check_family_name, ndjson};

use super::file::{display_name, open_counted};
use super::limited_lines::LimitedLines;
use super::read_bytes::ReadBytes;
use crate::csv::{ColumnFamily, CsvCells, CsvContext, CsvOptions, Problem};
use crate::error::{Error as TransferError, Result};
use crate::progress::{Observer, Phase};

/// The maximum length of a line of cells, in sizes of a CSV field: hex doubles a value, and a cell has
/// other parts.
const LINE_SIZE_FACTOR: u64 = 8;
const LINE_HINT: &str =
    "raise --field-size-max for longer lines: a line of cells has at most 8 times as much";

/// A format of input cells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum InputFormat {
    /// One JSON object per line, byte strings in hex.
    Cells,
    /// Comma-separated values.
    Csv,
}

/// An input of cells.
#[derive(Clone, Debug)]
pub struct InputOptions {
    /// The format.
    pub format: InputFormat,
    /// A file, plain or compressed with gzip or Zstandard; `-` is stdin.
    pub path: PathBuf,
    /// Whether the cells are only looked at: bad lines then end nothing, and are not copied.
    pub is_dry_run: bool,
    /// How CSV becomes cells.
    pub csv: CsvOptions,
}

impl InputOptions {
    /// Returns the input's name for messages.
    pub fn name(&self) -> FileName {
        FileName::new(display_name(&self.path))
    }

    /// Opens the input, and skips the records that begin before `from_line`; the first line is 1.
    ///
    /// CSV columns that name no family get `family`. CSV cells without a timestamp get `now`.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, and if its header or the options do not say what its columns are.
    ///
    /// ```no_run
    /// use transfer::{ColumnFamily, CsvOptions, InputFormat, InputOptions};
    ///
    /// let options = InputOptions {
    ///     format: InputFormat::Csv,
    ///     path: "users.csv.gz".into(),
    ///     is_dry_run: false,
    ///     csv: CsvOptions { row: vec!["id".to_owned()], ..Default::default() },
    /// };
    /// let now = sstable::Timestamp::new(1_700_000_000_000);
    /// for cell in options.open(ColumnFamily::Option("f"), now, 1)? {
    ///     println!("{:?}", cell?);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self, family: ColumnFamily<'_>, now: Timestamp, from_line: u64) -> Result<Input> {
        let name = self.name();
        let bytes = ReadBytes::default();
        let source = match self.format {
            InputFormat::Cells => {
                let family = family.is_option().then_some("--family");
                if let Some(given) = self.csv.first_csv_option().or(family) {
                    return Err(TransferError::Options(format!("{given} needs --from csv")));
                }
                let input = open_counted(&self.path, &bytes)?;
                let len_max = LINE_SIZE_FACTOR * self.csv.field_size_max()? as u64;
                let input = LimitedLines::new(input, len_max, LINE_HINT);
                let mut cells = ndjson::Reader::new(input, name);
                cells.skip_to_line(from_line)?;
                Source::Cells(cells)
            }
            InputFormat::Csv => {
                let is_dry_run = self.is_dry_run;
                let context = CsvContext { name, family, now, is_dry_run, from_line };
                let input = open_counted(&self.path, &bytes)?;
                Source::Csv(Box::new(CsvCells::new(input, &self.csv, context)?))
            }
        };
        Ok(Input {
            source,
            name: self.name(),
            from_line,
            record_count: 0,
            line_number: LineNumber::default(),
            bytes,
        })
    }
}

/// An iterator over the cells of an input.
pub struct Input {
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
    /// Returns the input's name for messages.
    pub(crate) const fn name(&self) -> &FileName {
        &self.name
    }

    /// Returns the line on which the last returned cell's record begins.
    pub fn line(&self) -> u64 {
        match &self.source {
            Source::Cells(cells) => cells.line_number(),
            Source::Csv(csv) => csv.line,
        }
    }

    /// Returns a handle to the line of the last returned cell.
    pub(crate) fn line_number(&self) -> LineNumber {
        self.line_number.clone()
    }

    /// Shows how much of the input is read, until the returned value is dropped.
    pub fn show_progress(&self, phase: &'static str, observer: &dyn Observer) -> Rc<dyn Phase> {
        self.bytes.show(phase, observer)
    }

    /// Whether the last returned cell ends its record.
    pub fn is_between_records(&self) -> bool {
        self.csv().is_none_or(CsvCells::is_between_records)
    }

    /// Returns the families of all cells, if the columns determine them.
    pub fn families(&self) -> Option<Vec<Vec<u8>>> {
        self.csv()?.families()
    }

    /// Returns the number of records read, without bad lines.
    pub fn record_count(&self) -> u64 {
        self.csv().map_or(self.record_count, |csv| csv.record_count)
    }

    /// Returns the number of skipped lines that could not be read.
    pub fn bad_line_count(&self) -> u64 {
        self.csv().map_or(0, |csv| csv.bad_lines.count)
    }

    /// Checks, at the end of the input, that a record began on the line from which it was read, or later.
    ///
    /// # Errors
    ///
    /// [`TransferError::Options`] if none did.
    pub fn check_from_line(&self) -> Result<()> {
        if self.from_line > 1 && self.record_count() + self.bad_line_count() == 0 {
            let line = self.from_line;
            return Err(TransferError::Options(format!(
                "--from-line {line}: no record of the input begins on that line or a later one"
            )));
        }
        Ok(())
    }

    /// Keeps the file for bad lines, which is otherwise removed when the input is dropped.
    pub fn keep_bad_lines(&mut self) {
        if let Source::Csv(csv) = &mut self.source {
            csv.bad_lines.keep();
        }
    }

    /// Returns the first bad lines.
    pub fn first_bad_lines(&self) -> &[Problem] {
        self.csv().map_or(&[], |csv| &csv.bad_lines.first)
    }

    /// Returns the name of the file to which bad lines are copied.
    pub fn bad_lines_file(&self) -> Option<&FileName> {
        self.csv()?.bad_lines.file_name()
    }

    /// Returns the timestamp of all cells, if the columns and options determine it.
    pub fn fixed_timestamp(&self) -> Option<Timestamp> {
        self.csv()?.fixed_timestamp()
    }

    fn csv(&self) -> Option<&CsvCells<Box<dyn BufRead>>> {
        match &self.source {
            Source::Csv(csv) => Some(csv),
            Source::Cells(_) => None,
        }
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
        let csv = CsvOptions::default();
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
            Err(TransferError::File(error)) => vec![Err(error)],
            Err(error) => panic!("{error}: not about the file"),
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
