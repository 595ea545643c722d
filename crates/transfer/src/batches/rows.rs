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
        let array = |at: usize| -> Result<&ArrayRef, String> {
            let name = &mapping.names[at];
            batch.column_by_name(name).ok_or_else(|| format!("no column is named {name:?}"))
        };
        let mut values_of = |at: usize, value_type: Option<ValueType>| {
            let array = array(at)?;
            let values = ValueArray::new(array, value_type).and_then(|values| {
                check_same_type(array, values.value_type(), types.entry(at))?;
                Ok(values)
            });
            values.map_err(|what| in_column(&mapping.names[at], what))
        };
        let row = mapping.row.iter().map(|&at| {
            let values = values_of(at, mapping.row_type)?;
            check_row_type(at, array(at)?, &values, mapping)?;
            Ok(values)
        });
        let row = row.collect::<Result<_, RecordProblem>>()?;
        let times = match mapping.timestamp {
            TimestampSource::Fixed(_) => None,
            TimestampSource::Column(at) => {
                let times = TimeColumn::new(array(at)?);
                Some(times.map_err(|what| in_column(&mapping.names[at], what))?)
            }
        };
        let values = mapping.values.iter().map(|value| values_of(value.at, value.value_type));
        Ok(Self {
            row,
            times,
            values: values.collect::<Result<_, _>>()?,
            row_bytes: Vec::new(),
            value_bytes: Vec::new(),
        })
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
            let in_row = |what| in_column(&mapping.names[at], what);
            if array.is_null(index) {
                return Err(in_row("the row key is null".to_owned()));
            }
            if number > 0 {
                self.row_bytes.extend_from_slice(&mapping.row_separator);
            }
            array.encode(index, &mut self.row_bytes).map_err(in_row)?;
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
    let before = *before.or_insert(found);
    let is_as_is = |known| matches!(known, ValueType::String | ValueType::BinaryHex);
    if before == found || (is_as_is(before) && is_as_is(found)) {
        return Ok(());
    }
    let (before, found) = (before.name(), found.name());
    Err(format!("values of type {found}, but {before} in a file before; give the column one type"))
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
