//! Writes that depend on stored cells: increments, appends, and conditional writes.
//!
//! Each operation reads its row and writes the new cells while it holds the lock of the log's
//! writer, so no other write comes between. HBase locks the row instead. Every write of this store
//! takes the writer's lock anyway, so row locks would only make plain puts slower.
//!
//! Before it takes the lock, an operation reads the row once to load its blocks into the cache.
//! That keeps the read under the lock short.

use std::collections::BTreeMap;

use cells::view::QueryTimes;
use sstable::{Cell, CellRef, CellType, SequenceId, Timestamp};

use crate::error::{Error, Result};
use crate::options::Durability;
use crate::read::query::Get;
use crate::read::view::ReadView;
use crate::write::accepted_batch::put_without_columns;
use crate::write::mutation::{Delete, Put, WriteBatch};
use crate::write::row_times::{RowTimes, after};

/// Family and qualifier.
type Column = (Box<[u8]>, Box<[u8]>);

/// Amounts to add to columns of one row.
///
/// Numbers are stored as in HBase: i64 BE. A missing column counts as 0; sums wrap around.
///
/// ```
/// use store::Increment;
///
/// let visit = Increment::new("page").column("f", "visits", 1);
/// # let _ = visit;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Increment {
    row: Box<[u8]>,
    amounts: BTreeMap<Column, i64>,
    pub(crate) durability: Option<Durability>,
}

impl Increment {
    /// Creates an increment of `row` without columns.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self { row: row.as_ref().into(), amounts: BTreeMap::new(), durability: None }
    }

    /// Adds `amount` to a column; amounts for the same column add up.
    pub fn column(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        amount: i64,
    ) -> Self {
        let column = (family.as_ref().into(), qualifier.as_ref().into());
        let sum = self.amounts.entry(column).or_default();
        *sum = sum.wrapping_add(amount);
        self
    }

    /// Acknowledges the write at this level. Default: [`StoreOptions::durability`].
    ///
    /// [`StoreOptions::durability`]: crate::StoreOptions::durability
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = Some(durability);
        self
    }
}

/// Bytes to append to the values of columns of one row. A missing column counts as empty.
///
/// ```
/// use store::Append;
///
/// let line = Append::new("log").column("f", "text", "one more line\n");
/// # let _ = line;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Append {
    row: Box<[u8]>,
    suffixes: BTreeMap<Column, Vec<u8>>,
    pub(crate) durability: Option<Durability>,
}

impl Append {
    /// Creates an append to `row` without columns.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self { row: row.as_ref().into(), suffixes: BTreeMap::new(), durability: None }
    }

    /// Appends `suffix` to a column; suffixes for the same column are concatenated.
    pub fn column(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        suffix: impl AsRef<[u8]>,
    ) -> Self {
        let column = (family.as_ref().into(), qualifier.as_ref().into());
        self.suffixes.entry(column).or_default().extend_from_slice(suffix.as_ref());
        self
    }

    /// Acknowledges the write at this level. Default: [`StoreOptions::durability`].
    ///
    /// [`StoreOptions::durability`]: crate::StoreOptions::durability
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = Some(durability);
        self
    }
}

/// The comparison of a condition's value with the stored value.
///
/// Values are compared byte by byte, as unsigned numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CompareOperator {
    /// The condition's value is less than the stored value.
    Less,
    /// The condition's value is less than or equal to the stored value.
    LessOrEqual,
    /// The values are equal.
    Equal,
    /// The values differ.
    NotEqual,
    /// The condition's value is greater than or equal to the stored value.
    GreaterOrEqual,
    /// The condition's value is greater than the stored value.
    Greater,
}

impl CompareOperator {
    const fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::GreaterOrEqual => ordering.is_ge(),
            Self::Greater => ordering.is_gt(),
        }
    }
}

/// A write to one row under a condition on one of the row's columns.
///
/// As in HBase, the condition's value is the left operand: `if_matches(…, CompareOperator::Less,
/// "5")` holds if "5" is less than the stored value.
///
/// An empty value in the condition asks whether a value is stored: `NotEqual` holds if the stored
/// value is not empty; every other operator holds if the column is missing or its value is empty.
/// Any other value in the condition is compared with the stored value; if the column is missing,
/// the condition does not hold, not even with `NotEqual`.
///
/// ```
/// use store::{CheckAndMutate, CompareOperator, Put};
///
/// let first = CheckAndMutate::new("user").if_not_exists("f", "name")
///     .put(Put::new("user").column("f", "name", "Ada"));
/// let swap = CheckAndMutate::new("user").if_matches("f", "state", CompareOperator::Equal, "new")
///     .put(Put::new("user").column("f", "state", "known"));
/// # let _ = (first, swap);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct CheckAndMutate {
    row: Box<[u8]>,
    condition: Option<ColumnCondition>,
    time_range: QueryTimes,
    mutations: WriteBatch,
    pub(crate) durability: Option<Durability>,
}

#[derive(Clone, Debug)]
struct ColumnCondition {
    column: Column,
    operator: CompareOperator,
    value: Box<[u8]>,
}

impl CheckAndMutate {
    /// Creates a conditional write to `row`, with neither a condition nor mutations.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self {
            row: row.as_ref().into(),
            condition: None,
            time_range: QueryTimes::ALL,
            mutations: WriteBatch::new(),
            durability: None,
        }
    }

    /// Writes only if the column is missing or its value is empty.
    pub fn if_not_exists(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.if_matches(family, qualifier, CompareOperator::Equal, b"")
    }

    /// Writes only if the comparison of `value` with the stored value holds.
    pub fn if_matches(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        operator: CompareOperator,
        value: impl AsRef<[u8]>,
    ) -> Self {
        let column = (family.as_ref().into(), qualifier.as_ref().into());
        self.condition = Some(ColumnCondition { column, operator, value: value.as_ref().into() });
        self
    }

    /// Applies the condition to the newest version with a timestamp in `min..max`.
    ///
    /// Default: to the newest version.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        self.time_range = QueryTimes { min, max };
        self
    }

    /// Adds a put to the same row.
    pub fn put(mut self, put: Put) -> Self {
        self.mutations.put(put);
        self
    }

    /// Adds a delete in the same row.
    pub fn delete(mut self, delete: Delete) -> Self {
        self.mutations.delete(delete);
        self
    }

    /// Acknowledges the write at this level. Default: [`StoreOptions::durability`].
    ///
    /// [`StoreOptions::durability`]: crate::StoreOptions::durability
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = Some(durability);
        self
    }
}

impl Increment {
    /// Returns the get that reads the current numbers; `None` if the increment has no columns.
    pub(crate) fn read_query(&self) -> Option<Get> {
        get_of_columns(&self.row, self.amounts.keys())
    }

    /// Computes the new cells from the current ones.
    pub(crate) fn compute_cells(
        &self,
        read_view: &ReadView,
        times: &mut RowTimes,
    ) -> Result<Vec<Cell>> {
        compute_columns(
            read_view,
            times,
            self.read_query(),
            &self.row,
            &self.amounts,
            |column, amount, current| {
                let current = current.map_or(Ok(0), |cell| {
                    let number = <[u8; 8]>::try_from(cell.value).map(i64::from_be_bytes);
                    number.map_err(|_| {
                        let (row, len) = (cells::escape(&self.row), cell.value.len());
                        let name = cells::escape(&column.1);
                        let what = format!("row \"{row}\": column \"{name}\" has {len} bytes");
                        Error::invalid(format!("{what}, but a number must have 8"))
                    })
                })?;
                Ok(current.wrapping_add(*amount).to_be_bytes().to_vec())
            },
        )
    }
}

impl Append {
    /// Returns the get that reads the current values; `None` if the append has no columns.
    pub(crate) fn read_query(&self) -> Option<Get> {
        get_of_columns(&self.row, self.suffixes.keys())
    }

    /// Computes the new cells from the current ones.
    pub(crate) fn compute_cells(
        &self,
        read_view: &ReadView,
        times: &mut RowTimes,
    ) -> Result<Vec<Cell>> {
        compute_columns(
            read_view,
            times,
            self.read_query(),
            &self.row,
            &self.suffixes,
            |_, suffix, current| {
                let current = current.map_or(&b""[..], |cell| cell.value);
                Ok([current, suffix].concat())
            },
        )
    }
}

/// Returns a get of the given columns; `None` if none are given.
///
/// A get without columns would read the whole row.
fn get_of_columns<'c>(row: &[u8], columns: impl Iterator<Item = &'c Column>) -> Option<Get> {
    let mut columns = columns.peekable();
    columns.peek()?;
    Some(columns.fold(Get::row(row), |get, (family, column)| get.column(family, column)))
}

/// Computes a new cell for each column of `columns`, with the tags of the current cell.
///
/// `compute` returns the new value. Its arguments are the column, the amount or suffix for the
/// column, and the current cell; `None` if the column is missing.
fn compute_columns<A>(
    read_view: &ReadView,
    times: &mut RowTimes,
    get: Option<Get>,
    row: &[u8],
    columns: &BTreeMap<Column, A>,
    compute: impl Fn(&Column, &A, Option<CellRef<'_>>) -> Result<Vec<u8>>,
) -> Result<Vec<Cell>> {
    let current_cells = get.map_or(Ok(Vec::new()), |get| read_view.get(&get))?;
    let now = read_view.now();
    let replace = |(column, argument): (&Column, &A)| {
        let is_of =
            |cell: &&Cell| cell.family() == &column.0[..] && cell.qualifier() == &column.1[..];
        let current = current_cells.iter().find(is_of).map(Cell::as_ref);
        let value = compute(column, argument, current)?;
        Ok(CellRef {
            row,
            family: &column.0,
            qualifier: &column.1,
            timestamp: if read_view.version.is_key_value(&column.0) {
                Timestamp::LATEST // It gets its sequence id.
            } else {
                times.of_put(row, now, current.map_or(now, |cell| after(cell.timestamp, 1)))
            },
            cell_type: CellType::Put,
            value: &value,
            tags: current.map_or(b"", |cell| cell.tags),
            sequence_id: SequenceId::default(),
        }
        .to_cell())
    };
    columns.iter().map(replace).collect()
}

impl ColumnCondition {
    /// Evaluates the condition as HBase's `HRegion.checkAndMutateInternal` does.
    ///
    /// If the condition's value is empty, a stored empty value counts as a missing column.
    fn holds(&self, current: Option<&Cell>) -> bool {
        match current {
            _ if self.value.is_empty() => {
                let is_empty = current.is_none_or(|cell| cell.value().is_empty());
                is_empty == (self.operator != CompareOperator::NotEqual)
            }
            None => false,
            Some(cell) => self.operator.holds(self.value[..].cmp(cell.value())),
        }
    }
}

impl CheckAndMutate {
    /// Returns the get that reads the column of the condition.
    ///
    /// # Errors
    ///
    /// If there is no condition or no mutation, or if a mutation is for another row.
    pub(crate) fn read_query(&self) -> Result<Get> {
        let (family, qualifier) = &self.validated_condition()?.column;
        let QueryTimes { min, max } = self.time_range;
        Ok(Get::row(&self.row).column(family, qualifier).time_range(min, max))
    }

    /// Checks the conditional write, and returns its condition.
    ///
    /// It must have a condition and at least one mutation, and all mutations must be in its row.
    fn validated_condition(&self) -> Result<&ColumnCondition> {
        let Some(condition) = &self.condition else {
            return Err(Error::invalid("the conditional write has no condition"));
        };
        if let Some(row) = &self.mutations.empty_put {
            return Err(put_without_columns(row));
        }
        if self.mutations.is_empty() {
            return Err(Error::invalid("the conditional write has no put or delete"));
        }
        if let Some(cell) = self.mutations.cells.iter().find(|cell| cell.row() != &self.row[..]) {
            let (found, row) = (cells::escape(cell.row()), cells::escape(&self.row));
            let what =
                format!("a conditional write to row \"{row}\" has a cell of row \"{found}\"");
            return Err(Error::invalid(what));
        }
        Ok(condition)
    }

    /// Returns the cells to write; no cells if the condition does not hold.
    ///
    /// A put without a timestamp gets the current time, or the checked cell's timestamp if that is
    /// later.
    pub(crate) fn compute_cells(
        &self,
        read_view: &ReadView,
        times: &mut RowTimes,
    ) -> Result<Vec<Cell>> {
        let current_cells = read_view.get(&self.read_query()?)?;
        let current = current_cells.first();
        if !self.validated_condition()?.holds(current) {
            return Ok(Vec::new());
        }
        let (now, version) = (read_view.now(), &read_view.version);
        // Timestamps of key-value families are no times.
        let has_time = |cell: &Cell| !version.is_key_value(cell.family());
        let current = current.filter(|cell| has_time(cell));
        let mut cells = self.mutations.cells.clone();
        let of_the_clock = cells.iter_mut().filter(|cell| has_time(cell));
        times.assign(of_the_clock, now, current.map_or(now, Cell::timestamp));
        Ok(cells)
    }
}
