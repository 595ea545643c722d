//! Batches with one row for each cell.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use cells::ValueType;
use sstable::CellRef;

use crate::columns::CellColumn;
use crate::error::{Error, Result};
use crate::typed_builder::TypedBuilder;

/// Collects cells, one row each.
#[derive(Debug)]
pub(crate) struct CellsBuilder {
    schema: SchemaRef,
    columns: Vec<PartBuilder>,
    cells: usize,
    bytes: usize,
}

/// The builder of one column.
#[derive(Debug)]
enum PartBuilder {
    Row(TypedBuilder),
    Family(BinaryBuilder),
    Qualifier(BinaryBuilder),
    Timestamp(Int64Builder),
    Type(StringBuilder),
    Value(BinaryBuilder),
    Tags(BinaryBuilder),
    SequenceId(Int64Builder),
}

impl CellsBuilder {
    pub(crate) fn new(columns: &[CellColumn], row_type: ValueType) -> Self {
        let fields: Vec<_> = columns.iter().map(|column| column.field(row_type)).collect();
        let builders = columns.iter().map(|column| match column {
            CellColumn::Row => PartBuilder::Row(TypedBuilder::new(row_type)),
            CellColumn::Family => PartBuilder::Family(BinaryBuilder::new()),
            CellColumn::Qualifier => PartBuilder::Qualifier(BinaryBuilder::new()),
            CellColumn::Timestamp => PartBuilder::Timestamp(Int64Builder::new()),
            CellColumn::Type => PartBuilder::Type(StringBuilder::new()),
            CellColumn::Value => PartBuilder::Value(BinaryBuilder::new()),
            CellColumn::Tags => PartBuilder::Tags(BinaryBuilder::new()),
            CellColumn::SequenceId => PartBuilder::SequenceId(Int64Builder::new()),
        });
        let schema = Arc::new(Schema::new(fields));
        Self { schema, columns: builders.collect(), cells: 0, bytes: 0 }
    }

    pub(crate) const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of rows.
    pub(crate) const fn rows(&self) -> usize {
        self.cells
    }

    /// Returns the bytes of the cells: an upper bound of the contents of each column.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Appends a cell of `bytes` bytes.
    pub(crate) fn append(&mut self, cell: &CellRef<'_>, bytes: usize) -> Result<()> {
        for column in &mut self.columns {
            match column {
                PartBuilder::Row(builder) => builder.append(cell.row).map_err(|row_type| {
                    Error::value(cell.row, "the row key".to_owned(), cell.row, row_type)
                })?,
                PartBuilder::Family(builder) => builder.append_value(cell.family),
                PartBuilder::Qualifier(builder) => builder.append_value(cell.qualifier),
                PartBuilder::Timestamp(builder) => builder.append_value(cell.timestamp.get()),
                PartBuilder::Type(builder) => builder.append_value(cell.cell_type.name()),
                PartBuilder::Value(builder) => builder.append_value(cell.value),
                PartBuilder::Tags(builder) if cell.tags.is_empty() => builder.append_null(),
                PartBuilder::Tags(builder) => builder.append_value(cell.tags),
                PartBuilder::SequenceId(builder) => {
                    let id = i64::try_from(cell.sequence_id.get());
                    builder.append_value(
                        id.map_err(|_| Error::Internal("a sequence id exceeds 2^63".to_owned()))?,
                    );
                }
            }
        }
        self.cells += 1;
        self.bytes += bytes;
        Ok(())
    }

    /// Returns the batch, and begins the next one.
    pub(crate) fn finish(&mut self) -> Result<RecordBatch> {
        let arrays = self.columns.iter_mut().map(|column| -> ArrayRef {
            match column {
                PartBuilder::Row(builder) => builder.finish(),
                PartBuilder::Family(builder)
                | PartBuilder::Qualifier(builder)
                | PartBuilder::Value(builder)
                | PartBuilder::Tags(builder) => Arc::new(builder.finish()),
                PartBuilder::Timestamp(builder) | PartBuilder::SequenceId(builder) => {
                    Arc::new(builder.finish())
                }
                PartBuilder::Type(builder) => Arc::new(builder.finish()),
            }
        });
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays.collect());
        (self.cells, self.bytes) = (0, 0);
        batch.map_err(|error| Error::Internal(error.to_string()))
    }
}
