//! Cells of a batch that has one row for each cell: the opposite of `cells_builder`.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, Int64Array, RecordBatch, StringArray};
use arrow_buffer::NullBuffer;
use cells::quoted;
use sstable::{CellRef, CellType, SequenceId, Timestamp};

use crate::byte_array::ByteArray;
use crate::columns::CellColumn;

/// The cells of a batch with the columns of [`CellColumn`].
///
/// `row`, `family` and `timestamp` are needed. Without the others a cell is a `Put` with an empty qualifier, an empty
/// value, no tags and the sequence id 0. Null has the same meaning in these. Text stands for its UTF-8.
///
/// ```
/// use hfile_arrow::{BatchScan, CellRows};
/// use sstable::{CellRef, Timestamp};
///
/// let cell = CellRef::put(b"row1", b"f", b"q", Timestamp::new(5), b"value");
/// let mut builder = BatchScan::cells().builder()?;
/// builder.append(&cell)?;
/// let batch = builder.flush()?.expect("a cell");
/// let rows = CellRows::new(&batch).expect("columns of cells");
/// assert_eq!(rows.cell(0), Ok(cell));
/// # Ok::<(), hfile_arrow::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CellRows {
    row: Bytes,
    family: Bytes,
    timestamp: Int64Array,
    qualifier: Option<Bytes>,
    cell_type: Option<Bytes>,
    value: Option<Bytes>,
    tags: Option<Bytes>,
    sequence_id: Option<Int64Array>,
}

impl CellRows {
    /// Returns whether a batch with these columns has one row for each cell.
    pub fn are_in<'n>(names: impl IntoIterator<Item = &'n str>) -> bool {
        let parts: Vec<_> = names.into_iter().filter_map(CellColumn::from_name).collect();
        let needed = [CellColumn::Row, CellColumn::Family, CellColumn::Timestamp];
        needed.iter().all(|part| parts.contains(part))
    }

    /// Returns the cells of a batch.
    ///
    /// # Errors
    ///
    /// A message if a needed column is missing, a column is unknown, or has values of another type.
    pub fn new(batch: &RecordBatch) -> Result<Self, String> {
        for field in batch.schema_ref().fields() {
            if CellColumn::from_name(field.name()).is_none() {
                let known = CellColumn::ALL.map(CellColumn::name).join(", ");
                let name = field.name();
                return Err(format!("unknown column {name:?}; a batch of cells has only {known}"));
            }
        }
        Ok(Self {
            row: Bytes::find(batch, CellColumn::Row)?.ok_or("no column is named row")?,
            family: Bytes::find(batch, CellColumn::Family)?.ok_or("no column is named family")?,
            timestamp: find_numbers(batch, CellColumn::Timestamp)?
                .ok_or("no column is named timestamp")?,
            qualifier: Bytes::find(batch, CellColumn::Qualifier)?,
            cell_type: Bytes::find(batch, CellColumn::Type)?,
            value: Bytes::find(batch, CellColumn::Value)?,
            tags: Bytes::find(batch, CellColumn::Tags)?,
            sequence_id: find_numbers(batch, CellColumn::SequenceId)?,
        })
    }

    /// Returns the row of a cell; `None` if it is null.
    pub fn row(&self, index: usize) -> Option<&[u8]> {
        self.row.value(index)
    }

    /// Returns a cell. Its row and its family are not checked.
    ///
    /// # Errors
    ///
    /// A message that names the column whose value no cell can have.
    pub fn cell(&self, index: usize) -> Result<CellRef<'_>, String> {
        if self.timestamp.is_null(index) {
            return Err("column \"timestamp\": null".to_owned());
        }
        let timestamp = self.timestamp.value(index);
        if timestamp < 0 {
            return Err(format!(
                "column \"timestamp\": {timestamp} is negative, and HBase cannot read it"
            ));
        }
        Ok(CellRef {
            row: self.row.value(index).ok_or("column \"row\": null")?,
            family: self.family.value(index).ok_or("column \"family\": null")?,
            qualifier: value_or_empty(self.qualifier.as_ref(), index),
            timestamp: Timestamp::new(timestamp),
            cell_type: self.cell_type(index)?,
            value: value_or_empty(self.value.as_ref(), index),
            tags: value_or_empty(self.tags.as_ref(), index),
            sequence_id: self.sequence_id(index)?,
        })
    }

    fn cell_type(&self, index: usize) -> Result<CellType, String> {
        let Some(name) = self.cell_type.as_ref().and_then(|column| column.value(index)) else {
            return Ok(CellType::Put);
        };
        let known = CellType::ALL.into_iter().find(|known| known.name().as_bytes() == name);
        known.ok_or_else(|| format!("column \"type\": unknown cell type {}", quoted(name)))
    }

    fn sequence_id(&self, index: usize) -> Result<SequenceId, String> {
        let column = self.sequence_id.as_ref().filter(|column| !column.is_null(index));
        let Some(id) = column.map(|column| column.value(index)) else {
            return Ok(SequenceId::new(0));
        };
        let known = u64::try_from(id).ok().filter(|id| *id <= SequenceId::MAX.get());
        known
            .map(SequenceId::new)
            .ok_or_else(|| format!("column \"sequence_id\": {id} is not a sequence id"))
    }
}

/// A column of bytes or text.
#[derive(Clone, Debug)]
struct Bytes {
    array: ByteArray,
    nulls: Option<NullBuffer>,
}

impl Bytes {
    fn find(batch: &RecordBatch, part: CellColumn) -> Result<Option<Self>, String> {
        let Some(array) = batch.column_by_name(part.name()) else { return Ok(None) };
        if array.logical_null_count() == array.len() {
            let all_null = StringArray::new_null(array.len());
            return Ok(Some(Self {
                nulls: all_null.logical_nulls(),
                array: ByteArray::Utf8(all_null),
            }));
        }
        let bytes = ByteArray::new(array).ok_or_else(|| {
            let (name, found) = (part.name(), array.data_type());
            format!("column {name:?}: values of type {found}, expected bytes or text")
        })?;
        Ok(Some(Self { array: bytes, nulls: array.logical_nulls() }))
    }

    fn is_null(&self, index: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(index))
    }

    fn value(&self, index: usize) -> Option<&[u8]> {
        (!self.is_null(index)).then(|| self.array.value(index))
    }
}

/// Returns a value of an optional column; empty without the column, and for null.
fn value_or_empty(column: Option<&Bytes>, index: usize) -> &[u8] {
    column.and_then(|column| column.value(index)).unwrap_or_default()
}

fn find_numbers(batch: &RecordBatch, part: CellColumn) -> Result<Option<Int64Array>, String> {
    let Some(array) = batch.column_by_name(part.name()) else { return Ok(None) };
    let numbers = array.as_primitive_opt::<Int64Type>().ok_or_else(|| {
        let (name, found) = (part.name(), array.data_type());
        format!("column {name:?}: values of type {found}, expected int64")
    })?;
    Ok(Some(numbers.clone()))
}
