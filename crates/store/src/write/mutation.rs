//! Puts, deletes, and batches of them.

use sstable::{Cell, CellRef, CellType, Timestamp};

/// A write of one or more columns to one row.
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
    /// Creates a put of `row` without columns, which the store refuses until it has one.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self { row: row.as_ref().into(), cells: Vec::new() }
    }

    /// Sets a column; the timestamp is the time of the commit.
    pub fn column(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> Self {
        self.column_at(family, qualifier, Timestamp::LATEST, value)
    }

    /// Sets a column at `timestamp`; [`Timestamp::LATEST`] means the time of the commit.
    pub fn column_at(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
        value: impl AsRef<[u8]>,
    ) -> Self {
        let (family, qualifier, value) = (family.as_ref(), qualifier.as_ref(), value.as_ref());
        let cell = CellRef::put(&self.row, family, qualifier, timestamp, value);
        self.cells.push(cell.to_cell());
        self
    }
}

/// A delete in one row: of the whole row unless families or columns are named.
///
/// As in HBase, a delete writes a marker with a timestamp. Until a major compaction removes the
/// marker, it hides all cells with the same or an older timestamp, even if they are written later.
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
    /// Creates a delete of the whole row; the other methods restrict it to families or columns.
    pub fn row(row: impl AsRef<[u8]>) -> Self {
        Self { row: row.as_ref().into(), cells: Vec::new() }
    }

    /// Deletes the cells of a family with timestamps up to the time of the commit.
    pub fn family(self, family: impl AsRef<[u8]>) -> Self {
        self.family_at(family, Timestamp::LATEST)
    }

    /// Deletes the cells of a family with timestamps up to and including `timestamp`.
    pub fn family_at(self, family: impl AsRef<[u8]>, timestamp: Timestamp) -> Self {
        self.add_marker(CellType::DeleteFamily, family.as_ref(), b"", timestamp)
    }

    /// Deletes the cells of a family with exactly `timestamp`.
    pub fn family_version(self, family: impl AsRef<[u8]>, timestamp: Timestamp) -> Self {
        self.add_marker(CellType::DeleteFamilyVersion, family.as_ref(), b"", timestamp)
    }

    /// Deletes the versions of a column with timestamps up to the time of the commit.
    pub fn column(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.column_at(family, qualifier, Timestamp::LATEST)
    }

    /// Deletes the versions of a column with timestamps up to and including `timestamp`.
    pub fn column_at(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
    ) -> Self {
        self.add_marker(CellType::DeleteColumn, family.as_ref(), qualifier.as_ref(), timestamp)
    }

    /// Deletes the version of a column with exactly `timestamp`.
    pub fn version(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
    ) -> Self {
        self.add_marker(CellType::Delete, family.as_ref(), qualifier.as_ref(), timestamp)
    }

    fn add_marker(
        mut self,
        cell_type: CellType,
        family: &[u8],
        qualifier: &[u8],
        timestamp: Timestamp,
    ) -> Self {
        let marker =
            CellRef { cell_type, ..CellRef::put(&self.row, family, qualifier, timestamp, b"") };
        self.cells.push(marker.to_cell());
        self
    }

    fn into_cells(mut self) -> Vec<Cell> {
        if self.cells.is_empty() {
            // The empty family means all families: `AcceptedBatch::new` adds a marker for each.
            self = self.family("");
        }
        self.cells
    }
}

/// Puts and deletes that are written atomically, also across rows and families.
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
    /// Whether the batch is refused if one of its families is no key-value family.
    pub(crate) only_keys: bool,
    /// The row of a put without columns, which the store refuses as HBase does.
    pub(crate) empty_put: Option<Box<[u8]>>,
}

impl WriteBatch {
    /// Creates an empty batch.
    pub const fn new() -> Self {
        Self { cells: Vec::new(), only_keys: false, empty_put: None }
    }

    /// Sets the value of a key of a key-value family: a put of the column with the empty name.
    ///
    /// ```
    /// use store::{Durability, FamilyOptions, Put, Store, StoreOptions, WriteBatch};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let store = Store::open(directory, StoreOptions::default())?;
    /// store.create_family("people", FamilyOptions::default())?;
    /// let by_name = store.create_map("by name")?;
    /// let mut batch = WriteBatch::new();
    /// batch.put(Put::new("1815").column("people", "name", "Ada"));
    /// batch.insert("by name", "Ada", "1815");
    /// batch.remove("by name", "Augusta");
    /// store.write(batch, Durability::Synced)?; // All of it, or nothing after a crash.
    /// assert_eq!(by_name.get("Ada")?.as_deref(), Some(&b"1815"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The last write of a key in a batch wins.
    pub fn insert(
        &mut self,
        family: impl AsRef<[u8]>,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) {
        self.put(Put::new(key).column(family, b"", value));
    }

    /// Removes a key of a key-value family; a missing key is not an error.
    pub fn remove(&mut self, family: impl AsRef<[u8]>, key: impl AsRef<[u8]>) {
        self.delete(Delete::row(key).column(family, b""));
    }

    /// Adds the cells of a put. A put without columns makes the whole batch invalid.
    pub fn put(&mut self, put: Put) {
        if put.cells.is_empty() {
            self.empty_put = Some(put.row);
        } else {
            self.append(put.cells);
        }
    }

    /// Adds the markers of a delete.
    pub fn delete(&mut self, delete: Delete) {
        self.append(delete.into_cells());
    }

    /// Adds a cell of any type, including its tags.
    ///
    /// [`Timestamp::LATEST`] means the time of the commit. The cell's sequence id is ignored,
    /// because the store assigns one to the whole batch.
    pub fn cell(&mut self, cell: &CellRef<'_>) {
        self.cells.push(cell.to_cell());
    }

    /// Returns the number of cells, including delete markers.
    pub const fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns whether the batch has no cells.
    pub const fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    fn append(&mut self, mut cells: Vec<Cell>) {
        if self.cells.is_empty() {
            // Most batches hold one put. Taking over its vector avoids a copy of the cells.
            self.cells = cells;
        } else {
            self.cells.append(&mut cells);
        }
    }
}

impl From<Put> for WriteBatch {
    fn from(put: Put) -> Self {
        Self { empty_put: put.cells.is_empty().then_some(put.row), cells: put.cells, ..Self::new() }
    }
}

impl From<Delete> for WriteBatch {
    fn from(delete: Delete) -> Self {
        Self { cells: delete.into_cells(), ..Self::new() }
    }
}
