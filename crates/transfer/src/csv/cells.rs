//! Converts CSV records to cells, one record at a time.

use std::collections::VecDeque;
use std::io::Read;

use sstable::{Cell, Error, FileName, Timestamp};

use super::cat_form::CatForm;
use super::layout::{Layout, from_importtsv};
use super::options::CsvOptions;
use super::records::{Record, Records};
use crate::columns::{BadLines, ColumnFamily, ColumnOptions, Mapping};
use crate::error::{Error as TransferError, Result};
use crate::option_problem::OptionProblem;
use crate::record_cells::RecordCells;
use crate::record_problem::RecordProblem;

/// The parameters of a CSV input besides its options.
pub(crate) struct CsvContext<'a> {
    /// The input's name for messages.
    pub(crate) name: FileName,
    /// The family of columns whose names include no family.
    pub(crate) family: ColumnFamily<'a>,
    /// The timestamp of cells for which the CSV has none.
    pub(crate) now: Timestamp,
    /// Whether this is a dry run, which writes no cells.
    pub(crate) is_dry_run: bool,
    /// Records that begin before this line are skipped, even if they are invalid.
    pub(crate) from_line: u64,
}

/// An iterator over the cells of a CSV input.
pub(crate) struct CsvCells<R> {
    records: Records<R>,
    form: Form,
    name: FileName,
    bad_lines: BadLines,
    /// The remaining cells of the current record.
    cells: VecDeque<Cell>,
    /// The line on which the last returned cell's record begins.
    line: u64,
    from_line: u64,
    /// The number of records read, without bad lines.
    record_count: u64,
    has_failed: bool,
    /// Whether no record after the header has been read.
    is_at_first: bool,
}

/// How the columns of a record map to cells.
enum Form {
    /// The columns that `hfile cat` prints: one cell per record.
    Cat(CatForm),
    /// Columns that the options or the header name.
    Layout(Layout),
}

impl<R: Read> CsvCells<R> {
    /// Reads the header, if there is one, and maps the columns to cells.
    pub(crate) fn new(
        input: R,
        options: &CsvOptions,
        columns: &ColumnOptions,
        context: CsvContext<'_>,
    ) -> Result<Self> {
        let CsvContext { name, family, now, is_dry_run, from_line } = context;
        let usage = |problem| TransferError::InputOptions { input: name.clone(), problem };
        let mut records = Records::new(input, options.dialect()?, options.field_size_max()?);
        let form = if options.columns.is_empty() {
            let names = read_names(&mut records, &name, options.no_header)?;
            match CatForm::recognise(&names).map_err(|problem| in_line(&name, 1, problem)) {
                Ok(Some(form)) if columns.row.is_empty() => {
                    let of_text = options.first_layout_option();
                    let given = columns.first_layout_option().or(of_text).or(family.option());
                    if let Some(given) = given {
                        return Err(usage(OptionProblem::CsvOfCells(given)));
                    }
                    Form::Cat(form)
                }
                Err(error) if columns.row.is_empty() => return Err(error),
                _ => {
                    let mapping =
                        Mapping::from_names(columns, names, family.name(), now, |qualifier| {
                            qualifier.as_bytes().to_vec()
                        });
                    Form::Layout(Layout::new(options, mapping.map_err(usage)?))
                }
            }
        } else {
            if family.option().is_some() {
                return Err(usage(OptionProblem::FamilyOfColumns));
            }
            if options.header {
                read_names(&mut records, &name, false)?;
            }
            let mapping = from_importtsv(options, columns, now).map_err(usage)?;
            Form::Layout(Layout::new(options, mapping))
        };
        let bad_lines = BadLines::new(columns.bad_lines.as_ref(), is_dry_run)?;
        Ok(Self {
            records,
            form,
            name,
            bad_lines,
            cells: VecDeque::new(),
            line: 0,
            from_line,
            record_count: 0,
            has_failed: false,
            is_at_first: true,
        })
    }
}

impl<R: Read> RecordCells for CsvCells<R> {
    fn line(&self) -> u64 {
        self.line
    }

    fn is_between_records(&self) -> bool {
        self.cells.is_empty()
    }

    fn mapping(&self) -> Option<&Mapping> {
        match &self.form {
            Form::Cat(_) => None,
            Form::Layout(layout) => Some(layout.mapping()),
        }
    }

    fn record_count(&self) -> u64 {
        self.record_count
    }

    fn bad_records(&self) -> &BadLines {
        &self.bad_lines
    }

    fn bad_records_mut(&mut self) -> &mut BadLines {
        &mut self.bad_lines
    }
}

impl<R: Read> Iterator for CsvCells<R> {
    type Item = Result<Cell>;

    /// Returns the next cell. An error ends the iteration.
    fn next(&mut self) -> Option<Self::Item> {
        while self.cells.is_empty() && !self.has_failed {
            match self.read_record() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.has_failed = true;
                    return Some(Err(error));
                }
            }
        }
        self.cells.pop_front().map(Ok)
    }
}

impl<R: Read> CsvCells<R> {
    /// Converts the next record to zero or more cells. Returns `false` at the end of the input.
    fn read_record(&mut self) -> Result<bool> {
        let Self { records, form, name, bad_lines, cells, is_at_first, from_line, .. } = self;
        let read = records.read().map_err(|source| {
            let action = format!("read CSV after line {}", self.line).into();
            Error::Io { file: name.clone(), action, source }
        })?;
        let (line, problem, bytes) = match read {
            None => return Ok(false),
            Some(Err(bad)) if bad.line < *from_line => return Ok(true),
            Some(Err(bad)) => (bad.line, Some(bad.problem), bad.bytes),
            Some(Ok(record)) => {
                if *is_at_first && let Err(what) = check_line_ends(&record) {
                    return Err(in_line(name, record.line, what));
                }
                *is_at_first = false;
                if record.line < *from_line {
                    return Ok(true);
                }
                let made = form.cells(&record, cells);
                let bytes = if made.is_err() { record.bytes.to_vec() } else { Vec::new() };
                (record.line, made.err().map(RecordProblem::Invalid), bytes)
            }
        };
        self.line = line;
        self.is_at_first = false;
        match problem {
            None => self.record_count += 1,
            Some(problem) => bad_lines.take(name, line, problem, &bytes)?,
        }
        Ok(true)
    }
}

impl Form {
    fn cells(&mut self, record: &Record<'_>, cells: &mut VecDeque<Cell>) -> Result<(), String> {
        match self {
            Self::Cat(form) => form.cell(record).map(|cell| cells.push_back(cell)),
            Self::Layout(layout) => layout.cells(record, cells),
        }
    }
}

/// Returns the column names of the header or, if there is no header, the numbers from 1.
///
/// Consumes the header, but not a record.
fn read_names<R: Read>(
    records: &mut Records<R>,
    name: &FileName,
    has_no_header: bool,
) -> Result<Vec<String>> {
    let read = if has_no_header { records.peek() } else { records.read() };
    let record = match read {
        Ok(Some(Ok(record))) => record,
        Ok(Some(Err(bad))) => return Err(in_line(name, bad.line, bad.problem)),
        Ok(None) => return Err(in_line(name, 1, "no columns: the input is empty".to_owned())),
        Err(source) => {
            let action = "read the CSV header".into();
            return Err(Error::Io { file: name.clone(), action, source }.into());
        }
    };
    check_line_ends(&record).map_err(|what| in_line(name, record.line, what))?;
    if has_no_header {
        return Ok((1..=record.len()).map(|number| number.to_string()).collect());
    }
    let mut names = Vec::with_capacity(record.len());
    for field in record.fields() {
        let text = std::str::from_utf8(field).map_err(|error| {
            let at = error.valid_up_to() + 1;
            let what = format!("header: a name of a column is not UTF-8 from its byte {at} on");
            in_line(name, record.line, what)
        })?;
        names.push(text.to_owned());
    }
    Ok(names)
}

/// Rejects lines that end in a lone carriage return: the whole file would be one record.
fn check_line_ends(record: &Record<'_>) -> Result<(), String> {
    if record.has_lone_return() {
        let what = "a carriage return without a line feed outside quotes; lines must end with \\n or \\r\\n: \
                    convert the file with tr '\\r' '\\n'";
        return Err(what.to_owned());
    }
    Ok(())
}

fn in_line(name: &FileName, line: u64, problem: impl Into<RecordProblem>) -> TransferError {
    TransferError::Record {
        input: name.clone(),
        line: Some(line),
        problem: problem.into(),
        is_skippable: false,
    }
}
