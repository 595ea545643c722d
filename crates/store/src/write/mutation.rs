//! What is written: puts, deletes, and batches of them.

use sstable::{Cell, CellRef, CellType, SequenceId, Timestamp};

/// Values for columns of one row.
///
/// ```
/// use store::Put;
///
/// let put = Put::new("row1").column("f", "name", "Ada").column("f", "born", "1815");
/// # let _ = put;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Put {
    row: Box<[u8]>,
    pub(crate) cells: Vec<Cell>,
}

impl Put {
    /// Values for columns of `row`.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self { row: row.as_ref().into(), cells: Vec::new() }
    }

    /// Sets a column as of now.
    pub fn column(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Self {
        self.column_at(family, qualifier, Timestamp::LATEST, value)
    }

    /// Sets a column as of `timestamp`; [`Timestamp::LATEST`] stands for now.
    pub fn column_at(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
        value: impl AsRef<[u8]>,
    ) -> Self {
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        let cell =
            CellRef { value: value.as_ref(), ..put_cell(&self.row, family, qualifier, timestamp) };
        self.cells.push(cell.to_cell());
        self
    }
}

/// What to delete of one row. Without a further word, all of it.
///
/// As in HBase a delete is a marker with a time: it hides what is older or as old, also what is
/// written later with such a time, until a major compaction takes the marker away.
///
/// ```
/// use store::{Delete, Timestamp};
///
/// let whole_row = Delete::row("row1");
/// let one_column = Delete::row("row1").column("f", "name");
/// let one_version = Delete::row("row1").version("f", "name", Timestamp::new(1000));
/// # let _ = (whole_row, one_column, one_version);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Delete {
    row: Box<[u8]>,
    cells: Vec<Cell>,
}

impl Delete {
    /// Deletes in `row`: what the following calls name, or everything if none follows.
    pub fn row(row: impl AsRef<[u8]>) -> Self {
        Self { row: row.as_ref().into(), cells: Vec::new() }
    }

    /// All columns of a family, up to now.
    pub fn family(self, family: impl AsRef<[u8]>) -> Self {
        self.family_at(family, Timestamp::LATEST)
    }

    /// All columns of a family, up to and with `timestamp`.
    pub fn family_at(self, family: impl AsRef<[u8]>, timestamp: Timestamp) -> Self {
        self.mark(CellType::DeleteFamily, family.as_ref(), b"", timestamp)
    }

    /// Of all columns of a family the versions of exactly `timestamp`.
    pub fn family_version(self, family: impl AsRef<[u8]>, timestamp: Timestamp) -> Self {
        self.mark(CellType::DeleteFamilyVersion, family.as_ref(), b"", timestamp)
    }

    /// All versions of a column, up to now.
    pub fn column(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.column_at(family, qualifier, Timestamp::LATEST)
    }

    /// All versions of a column, up to and with `timestamp`.
    pub fn column_at(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
    ) -> Self {
        self.mark(CellType::DeleteColumn, family.as_ref(), qualifier.as_ref(), timestamp)
    }

    /// The one version of a column of exactly `timestamp`.
    pub fn version(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
    ) -> Self {
        self.mark(CellType::Delete, family.as_ref(), qualifier.as_ref(), timestamp)
    }

    fn mark(
        mut self,
        cell_type: CellType,
        family: &[u8],
        qualifier: &[u8],
        timestamp: Timestamp,
    ) -> Self {
        let marker = CellRef { cell_type, ..put_cell(&self.row, family, qualifier, timestamp) };
        self.cells.push(marker.to_cell());
        self
    }

    fn into_cells(mut self) -> Vec<Cell> {
        if self.cells.is_empty() {
            // The empty family stands for all; whoever writes the batch knows which those are.
            self = self.family("");
        }
        self.cells
    }
}

/// Writes that happen all or none, also across rows and families, also after a crash.
///
/// ```
/// use store::{Delete, Put, WriteBatch};
///
/// let mut batch = WriteBatch::new();
/// batch.put(Put::new("to").column("f", "balance", "70"));
/// batch.delete(Delete::row("from"));
/// assert_eq!(batch.len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct WriteBatch {
    pub(crate) cells: Vec<Cell>,
}

impl WriteBatch {
    /// A batch of nothing.
    pub const fn new() -> Self {
        Self { cells: Vec::new() }
    }

    /// Adds the cells of a put.
    pub fn put(&mut self, put: Put) {
        self.append(put.cells);
    }

    /// Adds the markers of a delete.
    pub fn delete(&mut self, delete: Delete) {
        self.append(delete.into_cells());
    }

    /// Adds a cell as it is, tags and all. [`Timestamp::LATEST`] stands for now; the sequence id
    /// is not looked at: the store gives the whole batch one.
    pub fn cell(&mut self, cell: &CellRef<'_>) {
        self.cells.push(cell.to_cell());
    }

    /// Cells and markers in the batch.
    pub const fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there is nothing to write.
    pub const fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    fn append(&mut self, mut cells: Vec<Cell>) {
        if self.cells.is_empty() {
            self.cells = cells; // The usual batch is one put, and its cells need not move.
        } else {
            self.cells.append(&mut cells);
        }
    }
}

impl From<Put> for WriteBatch {
    fn from(put: Put) -> Self {
        Self { cells: put.cells }
    }
}

impl From<Delete> for WriteBatch {
    fn from(delete: Delete) -> Self {
        Self { cells: delete.into_cells() }
    }
}

const fn put_cell<'a>(
    row: &'a [u8],
    family: &'a [u8],
    qualifier: &'a [u8],
    timestamp: Timestamp,
) -> CellRef<'a> {
    CellRef {
        row,
        family,
        qualifier,
        timestamp,
        cell_type: CellType::Put,
        value: b"",
        tags: b"",
        sequence_id: SequenceId::new(0),
    }
}
