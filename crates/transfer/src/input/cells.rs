//! Reads cells from files, a pipe or a program: the cells format, CSV or record batches.

use std::cell::RefCell;
use std::fmt;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cells::{check_family_name, ndjson};
use sstable::{Cell, Error, FileName, Timestamp};

use super::file::{display_name, open_counted};
use super::limited_lines::LimitedLines;
#[cfg(feature = "arrow")]
use crate::batches::{BatchCells, BatchContext, BatchSource};
use crate::columns::{BadRecord, ColumnFamily, ColumnOptions};
use crate::csv::{CsvCells, CsvContext, CsvOptions};
use crate::error::{Error as TransferError, Result};
use crate::option_problem::OptionProblem;
use crate::progress::{Observer, Phase};
use crate::read_bytes::ReadBytes;
use crate::record_cells::RecordCells;
use crate::record_problem::RecordProblem;

/// The maximum length of a line of cells, in sizes of a CSV field: hex doubles a value, and a cell has
/// other parts.
const LINE_SIZE_FACTOR: u64 = 8;

/// A format of input cells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum InputFormat {
    /// One JSON object per line, byte strings in hex.
    Cells,
    /// Comma-separated values.
    Csv,
    /// Parquet files.
    Parquet,
}

/// An input of cells.
#[derive(Clone, Debug)]
pub struct InputOptions {
    /// The format.
    pub format: InputFormat,
    /// A file, plain or compressed with gzip or Zstandard; `-` is stdin. Of Parquet also several files, whose
    /// columns have the same names.
    pub paths: Vec<PathBuf>,
    /// Whether the cells are only looked at: bad lines then end nothing, and are not copied.
    pub is_dry_run: bool,
    /// How the columns of CSV and Parquet become cells.
    pub columns: ColumnOptions,
    /// How the text of CSV is read.
    pub csv: CsvOptions,
}

impl InputOptions {
    /// Returns the input's name for messages.
    pub fn name(&self) -> FileName {
        match &self.paths[..] {
            [path] => FileName::new(display_name(path)),
            paths => FileName::new(format!("{} files", paths.len())),
        }
    }

    /// Opens the input, and skips the records that begin before `from_line`; the first line, or record of
    /// Parquet, is 1.
    ///
    /// Columns that name no family get `family`. Cells without a timestamp get `now`.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, and if its header or the options do not say what its columns are.
    ///
    /// ```no_run
    /// use transfer::{ColumnFamily, ColumnOptions, CsvOptions, InputFormat, InputOptions};
    ///
    /// let options = InputOptions {
    ///     format: InputFormat::Csv,
    ///     paths: vec!["users.csv.gz".into()],
    ///     is_dry_run: false,
    ///     columns: ColumnOptions { row: vec!["id".to_owned()], ..Default::default() },
    ///     csv: CsvOptions::default(),
    /// };
    /// let now = sstable::Timestamp::new(1_700_000_000_000);
    /// for cell in options.open(ColumnFamily::Option("f"), now, 1)? {
    ///     println!("{:?}", cell?);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self, family: ColumnFamily<'_>, now: Timestamp, from_line: u64) -> Result<Input> {
        let bytes = ReadBytes::default();
        let source = match self.format {
            InputFormat::Cells => self.open_cells(family, from_line, &bytes)?,
            InputFormat::Csv => {
                let (name, is_dry_run) = (self.name(), self.is_dry_run);
                let context = CsvContext { name, family, now, is_dry_run, from_line };
                let input = open_counted(self.only_path()?, &bytes)?;
                Source::Records(Box::new(CsvCells::new(input, &self.csv, &self.columns, context)?))
            }
            InputFormat::Parquet => self.open_parquet(family, now, from_line, &bytes)?,
        };
        let unit = if self.format == InputFormat::Parquet { RECORD } else { LINE };
        Ok(Input::new(source, self.name(), from_line, unit, bytes))
    }

    fn open_cells(
        &self,
        family: ColumnFamily<'_>,
        from_line: u64,
        bytes: &ReadBytes,
    ) -> Result<Source> {
        if let Some(given) = self.columns.first_option().or(family.option()) {
            return Err(OptionProblem::NeedsColumns(given).into());
        }
        if let Some(given) = self.csv.first_option() {
            return Err(OptionProblem::NeedsCsv(given).into());
        }
        let input = open_counted(self.only_path()?, bytes)?;
        let len_max = LINE_SIZE_FACTOR * self.csv.field_size_max()? as u64;
        let lines = LimitedLines::new(input, len_max, RecordProblem::LineTooLong);
        let mut cells = ndjson::Reader::new(lines, self.name());
        cells.skip_to_line(from_line)?;
        Ok(Source::Cells(cells))
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(
        &self,
        family: ColumnFamily<'_>,
        now: Timestamp,
        from_record: u64,
        bytes: &ReadBytes,
    ) -> Result<Source> {
        if let Some(given) = self.csv.first_option() {
            return Err(OptionProblem::NeedsCsv(given).into());
        }
        let source = BatchSource::parquet(&self.paths, bytes.clone())?;
        let (name, is_dry_run) = (self.name(), self.is_dry_run);
        let context = BatchContext { name, family, now, is_dry_run, from_record };
        Ok(Source::Records(Box::new(BatchCells::new(source, &self.columns, context)?)))
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(
        &self,
        _family: ColumnFamily<'_>,
        _now: Timestamp,
        _from_record: u64,
        _bytes: &ReadBytes,
    ) -> Result<Source> {
        let what = "this build does not read Parquet; it needs the feature parquet".to_owned();
        Err(TransferError::InputOptions { input: self.name(), problem: OptionProblem::Other(what) })
    }

    /// Returns the one file of an input that is not in Parquet.
    fn only_path(&self) -> Result<&Path> {
        match &self.paths[..] {
            [path] => Ok(path),
            paths => Err(TransferError::other(format!(
                "{} input files: only Parquet is read from several; concatenate the others to stdin",
                paths.len()
            ))),
        }
    }
}

/// An iterator over the cells of an input.
pub struct Input {
    source: Source,
    name: FileName,
    from_line: u64,
    record_count: u64,
    /// What [`line`](Self::line) counts.
    unit: &'static str,
    line_number: LineNumber,
    bytes: ReadBytes,
}

const LINE: &str = "line";
const RECORD: &str = "record";

/// A shared handle to the line of an input's last cell, usable while the input is borrowed.
#[derive(Clone, Debug)]
pub(crate) struct LineNumber {
    number: Rc<std::cell::Cell<u64>>,
    unit: &'static str,
    /// The file, if there are several.
    file: Rc<RefCell<Option<FileName>>>,
}

impl LineNumber {
    /// Returns the file of the last returned cell, if there are several.
    pub(crate) fn file(&self) -> Option<FileName> {
        self.file.borrow().clone()
    }
}

impl fmt::Display for LineNumber {
    /// Writes where the last returned cell's record begins, such as `line 5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.unit, self.number.get())
    }
}

enum Source {
    Cells(ndjson::Reader<LimitedLines<Box<dyn BufRead>>>),
    Records(Box<dyn RecordCells>),
}

impl Input {
    fn new(
        source: Source,
        name: FileName,
        from_line: u64,
        unit: &'static str,
        bytes: ReadBytes,
    ) -> Self {
        let line_number = LineNumber { number: Rc::default(), unit, file: Rc::default() };
        Self { source, name, from_line, record_count: 0, unit, line_number, bytes }
    }

    /// Returns the cells of record batches, which `name` stands for in messages.
    ///
    /// A batch has one row for each cell, with the columns of [`CellColumn`](hfile_arrow::CellColumn), or one for
    /// each row of a table: `columns` then says what its columns are. Null makes no cell. Columns that name no
    /// family get `family`; cells without a timestamp get `now`.
    ///
    /// # Errors
    ///
    /// [`TransferError::InputOptions`] if the options do not say what the columns are.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
    /// use sstable::{FileName, Timestamp};
    /// use transfer::{ColumnFamily, ColumnOptions, Input};
    ///
    /// let ids: ArrayRef = Arc::new(StringArray::from(vec!["ann", "bob"]));
    /// let ages: ArrayRef = Arc::new(Int64Array::from(vec![Some(41), None]));
    /// let batch = RecordBatch::try_from_iter([("id", ids), ("info:age", ages)])?;
    /// let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    ///
    /// let columns = ColumnOptions { row: vec!["id".to_owned()], ..Default::default() };
    /// let now = Timestamp::new(1_700_000_000_000);
    /// let input = Input::batches(FileName::new("data"), reader, &columns, ColumnFamily::Unknown, now)?;
    /// let cells = input.collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!((cells[0].row(), cells[0].value()), (&b"ann"[..], &41_i64.to_be_bytes()[..]));
    /// assert_eq!(cells.len(), 1, "bob has no age");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "arrow")]
    pub fn batches(
        name: FileName,
        batches: impl hfile_arrow::RecordBatchReader + 'static,
        columns: &ColumnOptions,
        family: ColumnFamily<'_>,
        now: Timestamp,
    ) -> Result<Self> {
        let bytes = ReadBytes::default();
        let source = BatchSource::stream(name.clone(), batches, bytes.clone());
        let context =
            BatchContext { name: name.clone(), family, now, is_dry_run: false, from_record: 1 };
        let cells = BatchCells::new(source, columns, context)?;
        Ok(Self::new(Source::Records(Box::new(cells)), name, 1, RECORD, bytes))
    }

    /// Returns the input's name for messages.
    pub(crate) const fn name(&self) -> &FileName {
        &self.name
    }

    /// Returns the line on which the last returned cell's record begins; of record batches, its number.
    pub fn line(&self) -> u64 {
        match &self.source {
            Source::Cells(cells) => cells.line_number(),
            Source::Records(records) => records.line(),
        }
    }

    /// Returns the file of the last returned cell, if there are several.
    pub fn file(&self) -> Option<&FileName> {
        self.records()?.file()
    }

    /// Returns what [`line`](Self::line) counts: `line`, or `record` of record batches.
    pub const fn unit(&self) -> &'static str {
        self.unit
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
        self.records().is_none_or(RecordCells::is_between_records)
    }

    /// Returns the families of all cells, if the columns determine them.
    pub fn families(&self) -> Option<Vec<Vec<u8>>> {
        self.records()?.families()
    }

    /// Returns the number of records read, without bad lines.
    pub fn record_count(&self) -> u64 {
        self.records().map_or(self.record_count, RecordCells::record_count)
    }

    /// Returns the number of skipped lines that could not be read.
    pub fn bad_line_count(&self) -> u64 {
        self.records().map_or(0, |records| records.bad_records().count)
    }

    /// Checks, at the end of the input, that a record began on the line from which it was read, or later.
    ///
    /// # Errors
    ///
    /// [`TransferError::Options`] if none did.
    pub fn check_from_line(&self) -> Result<()> {
        if self.from_line > 1 && self.record_count() + self.bad_line_count() == 0 {
            return Err(OptionProblem::FromLine(self.from_line).into());
        }
        Ok(())
    }

    /// Keeps the file for bad lines, which is otherwise removed when the input is dropped.
    pub fn keep_bad_lines(&mut self) {
        if let Source::Records(records) = &mut self.source {
            records.bad_records_mut().keep();
        }
    }

    /// Returns the first bad lines.
    pub fn first_bad_lines(&self) -> &[BadRecord] {
        self.records().map_or(&[], |records| &records.bad_records().first)
    }

    /// Returns the name of the file to which bad lines are copied.
    pub fn bad_lines_file(&self) -> Option<&FileName> {
        self.records()?.bad_records().file_name()
    }

    /// Returns the timestamp of all cells, if the columns and options determine it.
    pub fn fixed_timestamp(&self) -> Option<Timestamp> {
        self.records()?.fixed_timestamp()
    }

    fn records(&self) -> Option<&dyn RecordCells> {
        match &self.source {
            Source::Records(records) => Some(&**records),
            Source::Cells(_) => None,
        }
    }
}

impl Iterator for Input {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        let cell = match &mut self.source {
            Source::Records(records) => records.next(),
            Source::Cells(cells) => {
                let checked = cells
                    .next()
                    .map(|read| Ok(check_cell(read?, &self.name, cells.line_number())?));
                self.record_count += u64::from(matches!(checked, Some(Ok(_))));
                checked
            }
        };
        self.line_number.number.set(self.line());
        if let Some(file) = self.file() {
            self.line_number.file.replace(Some(file.clone()));
        }
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
    use sstable::CellType;

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
        match CsvCells::new(text.as_bytes(), &csv, &ColumnOptions::default(), context) {
            Ok(cells) => cells.collect(),
            Err(error) => vec![Err(error)],
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
