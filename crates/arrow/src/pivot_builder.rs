//! Batches with one row for each row of the table: the row key and the wanted columns.
//!
//! ```text
//! cells   row1/info:age/5 = 41,  row1/info:name/7 = Ada,  row2/info:name/7 = Alan
//! batch   row   info:age  info:name          with times: info:age:timestamp, info:name:timestamp
//!         row1        41  Ada
//!         row2      null  Alan
//! ```
//!
//! The source must show at most one version of each column and no delete markers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::Int64Builder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use cells::ValueType;
use sstable::CellRef;

use crate::columns::{PivotColumn, data_type};
use crate::error::{Error, Result};
use crate::typed_builder::TypedBuilder;

/// Collects the cells of rows.
#[derive(Debug)]
pub(crate) struct PivotBuilder {
    schema: SchemaRef,
    row: TypedBuilder,
    columns: Vec<ColumnBuilder>,
    /// The indexes in `columns` by family and qualifier.
    by_name: HashMap<Vec<u8>, HashMap<Vec<u8>, usize>>,
    /// The key of the current row, if `has_row`.
    key: Vec<u8>,
    has_row: bool,
    rows: usize,
    bytes: usize,
    /// Whether a value that is not of its column's type becomes null, in place of an error.
    bad_as_null: bool,
    /// The number of such values.
    bad_values: u64,
}

/// The builder of one column, and of its times if they are wanted.
#[derive(Debug)]
struct ColumnBuilder {
    column: PivotColumn,
    values: TypedBuilder,
    times: Option<Int64Builder>,
    /// Whether the current row has a value.
    is_set: bool,
}

impl PivotBuilder {
    /// Returns a builder for columns that differ.
    pub(crate) fn new(columns: &[PivotColumn], times: bool, row_type: ValueType) -> Result<Self> {
        let mut fields = vec![Field::new("row", data_type(row_type), false)];
        let mut by_name = HashMap::<_, HashMap<_, _>>::new();
        let mut builders = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            let family = by_name.entry(column.family.clone()).or_default();
            if family.insert(column.qualifier.clone(), index).is_some() {
                return Err(Error::Invalid(format!("the column {column} is given twice")));
            }
            let name = column.to_string();
            fields.push(Field::new(&name, data_type(column.value_type), true));
            if times {
                fields.push(Field::new(format!("{name}:timestamp"), DataType::Int64, true));
            }
            builders.push(ColumnBuilder {
                values: TypedBuilder::new(column.value_type),
                times: times.then(Int64Builder::new),
                column: column.clone(),
                is_set: false,
            });
        }
        for (index, field) in fields.iter().enumerate() {
            if fields[..index].iter().any(|other| other.name() == field.name()) {
                let name = field.name();
                return Err(Error::Invalid(format!(
                    "two columns of a batch would be called {name}"
                )));
            }
        }
        Ok(Self {
            schema: Arc::new(Schema::new(fields)),
            row: TypedBuilder::new(row_type),
            columns: builders,
            by_name,
            key: Vec::new(),
            has_row: false,
            rows: 0,
            bytes: 0,
            bad_as_null: false,
            bad_values: 0,
        })
    }

    /// Sets whether a value that is not of its column's type becomes null.
    pub(crate) const fn bad_as_null(mut self, wanted: bool) -> Self {
        self.bad_as_null = wanted;
        self
    }

    /// Returns the number of values that became null so far, because they are not of their column's type.
    pub(crate) const fn bad_values(&self) -> u64 {
        self.bad_values
    }

    pub(crate) const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of complete rows.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the bytes of the cells, and of the entries of rows without them.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether a cell of this row would begin a new row.
    pub(crate) fn begins_row(&self, row: &[u8]) -> bool {
        !self.has_row || self.key != row
    }

    /// Appends a cell of `bytes` bytes.
    pub(crate) fn append(&mut self, cell: &CellRef<'_>, bytes: usize) -> Result<()> {
        if cell.cell_type.is_delete() {
            return Err(Error::Invalid(format!("cannot pivot the delete marker {cell:?}")));
        }
        if self.begins_row(cell.row) {
            self.end_row();
            self.row.append(cell.row).map_err(|row_type| {
                Error::value(cell.row, "the row key".to_owned(), cell.row, row_type)
            })?;
            self.key.clear();
            self.key.extend_from_slice(cell.row);
            self.has_row = true;
            self.bytes += 8 * self.columns.len();
        }
        let index = self.by_name.get(cell.family).and_then(|family| family.get(cell.qualifier));
        let Some(index) = index else { return Ok(()) };
        let column = &mut self.columns[*index];
        if std::mem::replace(&mut column.is_set, true) {
            let name = &column.column;
            return Err(Error::Internal(format!("two versions of {name} in a pivoted row")));
        }
        match column.values.append(cell.value) {
            Ok(()) => {}
            Err(_) if self.bad_as_null => {
                column.values.append_null();
                self.bad_values += 1;
            }
            Err(value_type) => {
                let name = format!("column {}", column.column);
                return Err(Error::value(cell.row, name, cell.value, value_type));
            }
        }
        if let Some(times) = &mut column.times {
            times.append_value(cell.timestamp.get());
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Completes the current row: columns without a value are null.
    pub(crate) fn end_row(&mut self) {
        if !std::mem::take(&mut self.has_row) {
            return;
        }
        for column in &mut self.columns {
            if !std::mem::take(&mut column.is_set) {
                column.values.append_null();
                if let Some(times) = &mut column.times {
                    times.append_null();
                }
            }
        }
        self.rows += 1;
    }

    /// Returns the batch of complete rows, and begins the next one.
    pub(crate) fn finish(&mut self) -> Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> = vec![self.row.finish()];
        for column in &mut self.columns {
            arrays.push(column.values.finish());
            if let Some(times) = &mut column.times {
                arrays.push(Arc::new(times.finish()));
            }
        }
        (self.rows, self.bytes) = (0, 0);
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
            .map_err(|error| Error::Internal(error.to_string()))
    }
}
