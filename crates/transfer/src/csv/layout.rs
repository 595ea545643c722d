//! Converts records of CSV to cells by a mapping of their columns.

use std::collections::VecDeque;

use cells::{ValueType, parse_time, unescape};
use sstable::{Cell, CellRef, Timestamp};

use super::options::CsvOptions;
use super::records::Record;
use crate::columns::{
    ColumnOptions, Mapping, TimestampSource, ValueColumn, check_row, in_column, timestamp_source,
};
use crate::option_problem::{InputOption, OptionProblem};

/// The names in `ImportTsv`'s notation of columns that do not become cells.
const IMPORTTSV_ROW: &str = "HBASE_ROW_KEY";
const IMPORTTSV_TIMESTAMP: &str = "HBASE_TS_KEY";

/// How the records of a CSV input become cells.
pub(super) struct Layout {
    mapping: Mapping,
    null: Option<Vec<u8>>,
    /// Reused buffers.
    row_bytes: Vec<u8>,
    value_bytes: Vec<u8>,
}

impl Layout {
    /// Creates the layout of mapped columns.
    pub(super) fn new(options: &CsvOptions, mapping: Mapping) -> Self {
        let null = options.null.as_ref().map(|text| text.clone().into_bytes());
        Self { mapping, null, row_bytes: Vec::new(), value_bytes: Vec::new() }
    }

    /// Returns the mapping of the columns.
    pub(super) const fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Appends the cells of a record, or none if one is invalid.
    pub(super) fn cells(
        &mut self,
        record: &Record<'_>,
        cells: &mut VecDeque<Cell>,
    ) -> Result<(), String> {
        let mapping = &self.mapping;
        check_width(record, &mapping.names)?;
        let timestamp = match mapping.timestamp {
            TimestampSource::Fixed(timestamp) => timestamp,
            TimestampSource::Column(at) => {
                parse_time(record.field(at)).map_err(|what| in_column(&mapping.names[at], what))?
            }
        };
        self.read_row(record)?;
        let before = cells.len();
        for value in &self.mapping.values {
            let text = record.field(value.at);
            if self.null.as_deref() == Some(text) {
                continue;
            }
            self.value_bytes.clear();
            let value_type = value.value_type.unwrap_or(ValueType::String);
            if let Err(what) = value_type.encode(text, &mut self.value_bytes) {
                cells.truncate(before);
                return Err(in_column(&self.mapping.names[value.at], what));
            }
            let (row, bytes) = (&self.row_bytes, &self.value_bytes);
            let cell = CellRef::put(row, &value.family, &value.qualifier, timestamp, bytes);
            cells.push_back(cell.to_cell());
        }
        Ok(())
    }

    /// Builds the row key.
    fn read_row(&mut self, record: &Record<'_>) -> Result<(), String> {
        let Mapping { names, row, row_separator, .. } = &self.mapping;
        let row_type = self.mapping.row_type.unwrap_or(ValueType::String);
        self.row_bytes.clear();
        for (index, &at) in row.iter().enumerate() {
            let text = record.field(at);
            if self.null.as_deref() == Some(text) {
                return Err(in_column(&names[at], "the row key is null"));
            }
            if index > 0 {
                self.row_bytes.extend_from_slice(row_separator);
            }
            row_type
                .encode(text, &mut self.row_bytes)
                .map_err(|what| in_column(&names[at], what))?;
        }
        let name = &names[row[0]];
        check_row(&self.row_bytes).map_err(|what| in_column(name, what))
    }
}

/// Maps the columns of `options.columns`.
///
/// # Errors
///
/// If the options do not match the columns.
pub(super) fn from_importtsv(
    options: &CsvOptions,
    columns: &ColumnOptions,
    now: Timestamp,
) -> Result<Mapping, OptionProblem> {
    let wrong = |what: String| Err(OptionProblem::value(InputOption::Columns, what));
    let names: Vec<String> = (1..=options.columns.len()).map(|at| at.to_string()).collect();
    let (mut row, mut timestamps, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (at, column) in options.columns.iter().enumerate() {
        match column.as_str() {
            IMPORTTSV_ROW => row.push(at),
            IMPORTTSV_TIMESTAMP => timestamps.push(at),
            "" => {}
            name if name.starts_with("HBASE_") => {
                return wrong(format!(
                    "{name} is not supported; known are {IMPORTTSV_ROW} and {IMPORTTSV_TIMESTAMP}"
                ));
            }
            name => {
                let (family, qualifier) = name.split_once(':').unwrap_or((name, ""));
                values.push(ValueColumn::new(at, &unescape(family), &unescape(qualifier)));
            }
        }
    }
    if row.len() != 1 || timestamps.len() > 1 {
        return wrong(format!(
            "{IMPORTTSV_ROW} must occur once, and {IMPORTTSV_TIMESTAMP} at most once"
        ));
    }
    let timestamp = match timestamps[..] {
        [] => timestamp_source(columns, &names, now)?,
        [at, ..] if columns.timestamp.is_none() => TimestampSource::Column(at),
        _ => return Err(OptionProblem::TwoTimestamps(IMPORTTSV_TIMESTAMP)),
    };
    Mapping::new(columns, names, row, timestamp, values)
}

/// Refuses a record whose number of fields differs from the number of columns.
pub(super) fn check_width(record: &Record<'_>, names: &[String]) -> Result<(), String> {
    let (found, expected) = (record.len(), names.len());
    match names.get(found) {
        Some(missing) => {
            let them = if expected - found == 1 { "is" } else { "and all columns after it are" };
            Err(format!("column {missing:?} {them} missing: {found} of {expected} fields"))
        }
        None if found > expected => Err(format!("{found} fields, expected {expected}")),
        None => Ok(()),
    }
}
