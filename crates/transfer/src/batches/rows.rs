//! The rows of a batch as cells, by a mapping of their columns.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use cells::{ValueType, parse_time};
use hfile_arrow::{RecordBatch, TimeColumn, TimeValue, ValueArray};
use sstable::{Cell, CellRef, Timestamp};

use crate::columns::{Mapping, TimestampSource, check_row, in_column};
use crate::record_problem::RecordProblem;

/// A batch with one row for each row of a table.
pub(super) struct BatchRows {
    /// The columns of the row key.
    row: Vec<ValueArray>,
    /// The column of the timestamps, if there is one.
    times: Option<TimeColumn>,
    /// The columns of the cells, in the order of the mapping.
    values: Vec<ValueArray>,
    row_bytes: Vec<u8>,
    value_bytes: Vec<u8>,
}

impl BatchRows {
    /// # Errors
    ///
    /// If a column is missing, or has values that cannot become what the mapping says, or
    /// values of another type than in the batches before.
    ///
    /// `types` has the types of the columns in the batches before, by their places in the mapping.
    pub(super) fn new(
        batch: &RecordBatch,
        mapping: &Mapping,
        types: &mut BTreeMap<usize, ValueType>,
    ) -> Result<Self, RecordProblem> {
        let mut row = Vec::new();
        for &at in &mapping.row {
            let array = find_array(batch, &mapping.names[at])?;
            let values = values_of(array, mapping.row_type, types.entry(at))
                .map_err(|what| in_column(&mapping.names[at], what))?;
            check_row_type(at, array, &values, mapping)?;
            row.push(values);
        }
        let times = match mapping.timestamp {
            TimestampSource::Fixed(_) => None,
            TimestampSource::Column(at) => {
                let name = &mapping.names[at];
                let column = TimeColumn::new(find_array(batch, name)?);
                Some(column.map_err(|what| in_column(name, what))?)
            }
        };
        let mut values = Vec::new();
        for value in &mapping.values {
            let name = &mapping.names[value.at];
            let array = find_array(batch, name)?;
            values.push(
                values_of(array, value.value_type, types.entry(value.at))
                    .map_err(|what| in_column(name, what))?,
            );
        }
        Ok(Self { row, times, values, row_bytes: Vec::new(), value_bytes: Vec::new() })
    }

    /// Appends the cells of a row, or none if one is invalid. Null makes no cell.
    pub(super) fn cells(
        &mut self,
        index: usize,
        mapping: &Mapping,
        cells: &mut VecDeque<Cell>,
    ) -> Result<(), String> {
        self.read_row(index, mapping)?;
        let timestamp = self.timestamp(index, mapping)?;
        let before = cells.len();
        for (array, value) in self.values.iter().zip(&mapping.values) {
            if array.is_null(index) {
                continue;
            }
            self.value_bytes.clear();
            if let Err(what) = array.encode(index, &mut self.value_bytes) {
                cells.truncate(before);
                return Err(in_column(&mapping.names[value.at], what));
            }
            let (row, bytes) = (&self.row_bytes, &self.value_bytes);
            let cell = CellRef::put(row, &value.family, &value.qualifier, timestamp, bytes);
            cells.push_back(cell.to_cell());
        }
        Ok(())
    }

    /// Returns the row key that the last call of [`cells`](Self::cells) read; it may be incomplete.
    pub(super) fn row(&self) -> &[u8] {
        &self.row_bytes
    }

    /// Builds the row key.
    fn read_row(&mut self, index: usize, mapping: &Mapping) -> Result<(), String> {
        self.row_bytes.clear();
        for (number, (array, &at)) in self.row.iter().zip(&mapping.row).enumerate() {
            let name = &mapping.names[at];
            if array.is_null(index) {
                return Err(in_column(name, "the row key is null"));
            }
            if number > 0 {
                self.row_bytes.extend_from_slice(&mapping.row_separator);
            }
            array.encode(index, &mut self.row_bytes).map_err(|what| in_column(name, what))?;
        }
        check_row(&self.row_bytes).map_err(|what| in_column(&mapping.names[mapping.row[0]], what))
    }

    fn timestamp(&self, index: usize, mapping: &Mapping) -> Result<Timestamp, String> {
        let (times, at) = match (&self.times, mapping.timestamp) {
            (_, TimestampSource::Fixed(timestamp)) => return Ok(timestamp),
            (Some(times), TimestampSource::Column(at)) => (times, at),
            (None, TimestampSource::Column(_)) => unreachable!("the column has an array"),
        };
        let timestamp = match times.value(index) {
            None => Err("the timestamp is null".to_owned()),
            Some(TimeValue::Text(text)) => parse_time(text),
            Some(TimeValue::TooFar) => {
                Err("a time that milliseconds in 64 bits cannot hold".to_owned())
            }
            Some(TimeValue::Millis(millis @ 0..)) => Ok(Timestamp::new(millis)),
            Some(TimeValue::Millis(millis)) => Err(format!(
                "{millis} milliseconds are a time before 1970, which HBase does not accept"
            )),
        };
        timestamp.map_err(|what| in_column(&mapping.names[at], what))
    }
}

fn find_array<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef, String> {
    batch.column_by_name(name).ok_or_else(|| format!("no column is named {name:?}"))
}

/// Returns the values of a column, encoded as a type; `before` is the type in the batches before.
fn values_of(
    array: &ArrayRef,
    value_type: Option<ValueType>,
    before: Entry<'_, usize, ValueType>,
) -> Result<ValueArray, String> {
    let values = ValueArray::new(array, value_type)?;
    check_same_type(array, values.value_type(), before)?;
    Ok(values)
}

/// Refuses values of another type than in the batches before: one column would have two encodings.
///
/// Text and bytes have one encoding, and an array of type null has no values.
fn check_same_type(
    array: &ArrayRef,
    found: ValueType,
    before: Entry<'_, usize, ValueType>,
) -> Result<(), String> {
    if *array.data_type() == DataType::Null {
        return Ok(());
    }
    let known = *before.or_insert(found);
    let are_as_is = [known, found]
        .iter()
        .all(|value_type| matches!(value_type, ValueType::String | ValueType::BinaryHex));
    if known == found || are_as_is {
        return Ok(());
    }
    Err(format!(
        "values of type {}, but {} in a file before; give the column one type",
        found.name(),
        known.name()
    ))
}

/// Refuses numbers and times as row keys without a type: text sorts in another order than their bytes.
fn check_row_type(
    at: usize,
    array: &ArrayRef,
    values: &ValueArray,
    mapping: &Mapping,
) -> Result<(), RecordProblem> {
    let is_as_is = matches!(values.value_type(), ValueType::String | ValueType::BinaryHex);
    if mapping.row_type.is_some() || is_as_is {
        return Ok(());
    }
    let (column, found) = (mapping.names[at].clone(), array.data_type().to_string());
    Err(RecordProblem::NoRowType { column, found, natural: values.value_type().name() })
}
