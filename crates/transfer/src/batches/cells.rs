//! Converts record batches to cells, one record at a time.

use std::collections::{BTreeMap, VecDeque};

use cells::{ValueType, check_family_name, escape, unescape};
use hfile_arrow::{CellRows, RecordBatch};
use sstable::{Cell, FileName, Timestamp};

use super::rows::BatchRows;
use super::source::BatchSource;
use crate::columns::{
    BadLinePolicy, BadLines, ColumnFamily, ColumnOptions, Mapping, check_row, in_column,
};
use crate::error::{Error, Result};
use crate::option_problem::OptionProblem;
use crate::record_cells::RecordCells;
use crate::record_problem::RecordProblem;

/// The parameters of an input of batches besides its options.
pub(crate) struct BatchContext<'a> {
    /// The input's name for messages.
    pub(crate) name: FileName,
    /// The family of columns whose names include no family.
    pub(crate) family: ColumnFamily<'a>,
    /// The timestamp of cells for which the batches have none.
    pub(crate) now: Timestamp,
    /// Whether this is a dry run, which writes no cells.
    pub(crate) is_dry_run: bool,
    /// Records before this one are skipped, even if they are invalid.
    pub(crate) from_record: u64,
}

/// After how many records without cells [`BatchCells`] asks whether the work is cancelled.
const RECORDS_PER_QUESTION: u64 = 1024;

/// An iterator over the cells of record batches.
pub(crate) struct BatchCells {
    source: BatchSource,
    form: Form,
    /// The types of the columns in the batches read so far, by their places in the mapping.
    types: BTreeMap<usize, ValueType>,
    name: FileName,
    bad_records: BadLines,
    batch: Option<CurrentBatch>,
    /// The remaining cells of the current record.
    cells: VecDeque<Cell>,
    /// The number of the last record in its file, from 1.
    record: u64,
    from_record: u64,
    record_count: u64,
    has_failed: bool,
}

/// Returns a row key as HBase prints it; of a long one only the start.
fn shown_row(row: &[u8]) -> String {
    /// The bytes of a row that are shown.
    const SHOWN_MAX: usize = 100;
    match row.get(..SHOWN_MAX) {
        Some(start) if row.len() > SHOWN_MAX => {
            format!("{}… ({} bytes)", escape(start), row.len())
        }
        _ => escape(row).to_string(),
    }
}

/// How the rows of a batch map to cells.
enum Form {
    /// A row is a cell.
    Cells,
    /// A row is a row of the table.
    Rows(Mapping),
}

/// The batch whose records are read.
struct CurrentBatch {
    records: BatchRecords,
    next: usize,
    count: usize,
}

/// The records of a batch.
enum BatchRecords {
    Cells(Box<CellRows>),
    Rows(Box<BatchRows>),
}

impl BatchCells {
    /// Maps the columns of the batches to cells.
    pub(crate) fn new(
        mut source: BatchSource,
        columns: &ColumnOptions,
        context: BatchContext<'_>,
    ) -> Result<Self> {
        let BatchContext { name, family, now, is_dry_run, from_record } = context;
        let usage = |problem| Error::InputOptions { input: name.clone(), problem };
        if let Some(BadLinePolicy::Copy(_)) = &columns.bad_lines {
            return Err(usage(OptionProblem::BadLinesFile));
        }
        let names = source.names().to_vec();
        let has_cells = CellRows::are_in(names.iter().map(String::as_str));
        let form = if has_cells && columns.row.is_empty() {
            if let Some(given) = columns.first_layout_option().or(family.option()) {
                return Err(usage(OptionProblem::BatchesOfCells(given)));
            }
            // Of two columns of a name, one would be left out without a word.
            if let Some((_, name)) =
                names.iter().enumerate().find(|(at, name)| names[..*at].contains(name))
            {
                return Err(usage(OptionProblem::Other(format!("two columns are named {name:?}"))));
            }
            source.set_wanted(names);
            Form::Cells
        } else {
            // As the columns of our own batches are named.
            let mapping =
                Mapping::from_names(columns, names, family.name(), now, unescape).map_err(usage)?;
            source.set_wanted(mapping.used_names());
            Form::Rows(mapping)
        };
        let bad_records = BadLines::new(columns.bad_lines.as_ref(), is_dry_run)?;
        Ok(Self {
            source,
            form,
            types: BTreeMap::new(),
            name,
            bad_records,
            batch: None,
            cells: VecDeque::new(),
            record: 0,
            from_record,
            record_count: 0,
            has_failed: false,
        })
    }

    /// Reads the next batch. Returns `false` at the end of the source.
    fn read_batch(&mut self) -> Result<bool> {
        self.batch = None;
        let Some(next) = self.source.next_batch()? else { return Ok(false) };
        if next.begins_file {
            self.record = 0;
        }
        let records = self
            .form
            .records(&next.batch, &mut self.types)
            .map_err(|problem| self.invalid(problem))?;
        self.batch = Some(CurrentBatch { records, next: 0, count: next.batch.num_rows() });
        Ok(true)
    }

    fn invalid(&self, problem: RecordProblem) -> Error {
        let input = self.source.name().unwrap_or(&self.name).clone();
        Error::Record { input, line: None, problem, is_skippable: false }
    }

    /// Converts the next record to zero or more cells. Returns `false` at the end of the input.
    fn read_record(&mut self) -> Result<bool> {
        let Some(batch) = self.batch.as_mut().filter(|batch| batch.next < batch.count) else {
            return self.read_batch();
        };
        let index = batch.next;
        batch.next += 1;
        self.record += 1;
        if self.record < self.from_record {
            return Ok(true);
        }
        let Err(what) = batch.records.cells(index, &self.form, &mut self.cells) else {
            self.record_count += 1;
            return Ok(true);
        };
        let row = batch.records.row(index);
        let in_row = if row.is_empty() { what } else { format!("row {}, {what}", shown_row(row)) };
        if self.bad_records.ends_run() {
            return Err(self.invalid(format!("record {}: {in_row}", self.record).into()));
        }
        let file = self.source.name().unwrap_or(&self.name);
        let in_file = if self.source.has_files() { format!("{file}: {in_row}") } else { in_row };
        self.bad_records.take(file, self.record, in_file.into(), b"")?;
        Ok(true)
    }
}

impl Form {
    fn records(
        &self,
        batch: &RecordBatch,
        types: &mut BTreeMap<usize, ValueType>,
    ) -> Result<BatchRecords, RecordProblem> {
        Ok(match self {
            Self::Cells => BatchRecords::Cells(Box::new(CellRows::new(batch)?)),
            Self::Rows(mapping) => {
                BatchRecords::Rows(Box::new(BatchRows::new(batch, mapping, types)?))
            }
        })
    }
}

impl BatchRecords {
    /// Appends the cells of a record, or none if one is invalid.
    fn cells(
        &mut self,
        index: usize,
        form: &Form,
        cells: &mut VecDeque<Cell>,
    ) -> Result<(), String> {
        match (self, form) {
            (Self::Cells(rows), Form::Cells) => {
                let cell = rows.cell(index)?;
                check_row(cell.row).map_err(|what| in_column("row", what))?;
                check_family_name(cell.family).map_err(|what| in_column("family", what))?;
                cells.push_back(cell.to_cell());
                Ok(())
            }
            (Self::Rows(rows), Form::Rows(mapping)) => rows.cells(index, mapping, cells),
            (Self::Cells(_), Form::Rows(_)) | (Self::Rows(_), Form::Cells) => {
                unreachable!("the form made the records")
            }
        }
    }

    /// Returns the row key of a record for a message; it may be incomplete or empty.
    fn row(&self, index: usize) -> &[u8] {
        match self {
            Self::Cells(rows) => rows.row(index).unwrap_or_default(),
            Self::Rows(rows) => rows.row(),
        }
    }
}

impl Iterator for BatchCells {
    type Item = Result<Cell>;

    /// Returns the next cell. An error ends the iteration.
    fn next(&mut self) -> Option<Self::Item> {
        let mut records = 0_u64;
        while self.cells.is_empty() && !self.has_failed {
            // The caller asks for each cell, and these records have none.
            records += 1;
            let is_time = records.is_multiple_of(RECORDS_PER_QUESTION);
            let checked = if is_time { self.source.check_cancelled() } else { Ok(()) };
            match checked.map_err(Error::from).and_then(|()| self.read_record()) {
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

impl RecordCells for BatchCells {
    fn line(&self) -> u64 {
        self.record
    }

    fn file(&self) -> Option<&FileName> {
        self.source.name().filter(|_| self.source.has_files())
    }

    fn is_between_records(&self) -> bool {
        self.cells.is_empty()
    }

    fn mapping(&self) -> Option<&Mapping> {
        match &self.form {
            Form::Cells => None,
            Form::Rows(mapping) => Some(mapping),
        }
    }

    fn record_count(&self) -> u64 {
        self.record_count
    }

    fn bad_records(&self) -> &BadLines {
        &self.bad_records
    }

    fn bad_records_mut(&mut self) -> &mut BadLines {
        &mut self.bad_records
    }
}
