//! Changes that depend on what is there: increments, appends, and writes under a condition.
//!
//! Each reads its row and writes it while nobody else writes, so that of two at the same time one
//! sees what the other wrote. (HBase locks the row; here it is the end of the log, which every write
//! needs anyhow, and plain puts pay nothing.) A read without that lock goes before, so that the one
//! under it finds its blocks in the cache.

use std::collections::BTreeMap;

use sstable::{Cell, CellRef, CellType, SequenceId, Timestamp};

use crate::error::{Error, Result};
use crate::read::get::ReadView;
use crate::read::query::{Get, TimeRange};
use crate::write::mutation::{Delete, Put, WriteBatch};

/// Family and qualifier.
type Column = (Box<[u8]>, Box<[u8]>);

/// Numbers to add to columns of one row. A number is stored as HBase does: i64 BE. A column that
/// is not there counts as 0; sums wrap around.
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
}

impl Increment {
    /// Adds to columns of `row`.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self { row: row.as_ref().into(), amounts: BTreeMap::new() }
    }

    /// Adds `amount` to a column; said twice of one column, both amounts.
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
}

/// Bytes to put behind the values of columns of one row. A column that is not there counts as
/// empty.
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
}

impl Append {
    /// Appends to columns of `row`.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self { row: row.as_ref().into(), suffixes: BTreeMap::new() }
    }

    /// Appends `suffix` to a column; said twice of one column, both behind each other.
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
}

/// How the value of a condition is compared with the one stored, byte for byte.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CompareOperator {
    /// The condition's value is less than the stored one.
    Less,
    /// It is less or the same.
    LessOrEqual,
    /// It is the same.
    Equal,
    /// It is another.
    NotEqual,
    /// It is greater or the same.
    GreaterOrEqual,
    /// It is greater.
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

/// A write to one row that happens only if a column of that row is as expected.
///
/// As in HBase the operator stands between the condition's value and the stored one, in this
/// order: `if_matches(…, CompareOperator::Less, "5")` holds where 5 is less than what is stored. A
/// column that is not there matches the empty value, and else nothing.
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
    condition: Option<Condition>,
    time_range: TimeRange,
    then: WriteBatch,
}

#[derive(Clone, Debug)]
struct Condition {
    column: Column,
    operator: CompareOperator,
    value: Box<[u8]>,
}

impl CheckAndMutate {
    /// Looks at a column of `row`, which the following calls name.
    pub fn new(row: impl AsRef<[u8]>) -> Self {
        Self {
            row: row.as_ref().into(),
            condition: None,
            time_range: TimeRange::ALL,
            then: WriteBatch::new(),
        }
    }

    /// Writes only if the column is not there, or its value is empty.
    pub fn if_not_exists(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.if_matches(family, qualifier, CompareOperator::Equal, b"")
    }

    /// Writes only if `value`, compared with that of the column, is as the operator says.
    pub fn if_matches(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        operator: CompareOperator,
        value: impl AsRef<[u8]>,
    ) -> Self {
        let column = (family.as_ref().into(), qualifier.as_ref().into());
        self.condition = Some(Condition { column, operator, value: value.as_ref().into() });
        self
    }

    /// Looks only at versions from `min` up to but without `max`. Default: all.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        self.time_range = TimeRange { min, max };
        self
    }

    /// Writes this put of the same row.
    pub fn put(mut self, put: Put) -> Self {
        self.then.put(put);
        self
    }

    /// Writes this delete of the same row.
    pub fn delete(mut self, delete: Delete) -> Self {
        self.then.delete(delete);
        self
    }
}

impl Increment {
    /// Asks for what the new numbers depend on; `None` if there is nothing to add.
    pub(crate) fn get(&self) -> Option<Get> {
        get_columns(&self.row, self.amounts.keys())
    }

    /// The new cells, as the store is in `view`.
    pub(crate) fn cells(&self, view: &ReadView) -> Result<Vec<Cell>> {
        replace_columns(view, self.get(), &self.row, &self.amounts, |column, amount, current| {
            let current = current.map_or(Ok(0), |cell| {
                let number = <[u8; 8]>::try_from(cell.value).map(i64::from_be_bytes);
                number.map_err(|_| {
                    let (row, len) = (sstable::escape(&self.row), cell.value.len());
                    let name = sstable::escape(&column.1);
                    let what = format!("row \"{row}\": column \"{name}\" has {len} bytes");
                    Error::invalid(format!("{what}, and a number has 8"))
                })
            })?;
            Ok(current.wrapping_add(*amount).to_be_bytes().to_vec())
        })
    }
}

impl Append {
    /// Asks for what the new values depend on; `None` if there is nothing to append.
    pub(crate) fn get(&self) -> Option<Get> {
        get_columns(&self.row, self.suffixes.keys())
    }

    /// The new cells, as the store is in `view`.
    pub(crate) fn cells(&self, view: &ReadView) -> Result<Vec<Cell>> {
        replace_columns(view, self.get(), &self.row, &self.suffixes, |_, suffix, current| {
            let current = current.map_or(&b""[..], |cell| cell.value);
            Ok([current, suffix].concat())
        })
    }
}

/// Asks for columns of a row; `None` if there are none, for a get of no column is one of all.
fn get_columns<'c>(row: &[u8], columns: impl Iterator<Item = &'c Column>) -> Option<Get> {
    let mut columns = columns.peekable();
    columns.peek()?;
    Some(columns.fold(Get::row(row), |get, (family, column)| get.column(family, column)))
}

/// The newest version of columns anew; `compute` makes the value from the present cell.
fn replace_columns<A>(
    view: &ReadView,
    get: Option<Get>,
    row: &[u8],
    columns: &BTreeMap<Column, A>,
    compute: impl Fn(&Column, &A, Option<CellRef<'_>>) -> Result<Vec<u8>>,
) -> Result<Vec<Cell>> {
    let present = get.map_or(Ok(Vec::new()), |get| view.get(&get))?;
    let now = view.now();
    let replace = |(column, argument): (&Column, &A)| {
        let is_of =
            |cell: &&Cell| cell.family() == &column.0[..] && cell.qualifier() == &column.1[..];
        let current = present.iter().find(is_of).map(Cell::as_ref);
        let value = compute(column, argument, current)?;
        Ok(CellRef {
            row,
            family: &column.0,
            qualifier: &column.1,
            timestamp: current.map_or(now, |cell| after(cell.timestamp, now)),
            cell_type: CellType::Put,
            value: &value,
            tags: current.map_or(b"", |cell| cell.tags),
            sequence_id: SequenceId::default(),
        }
        .to_cell())
    };
    columns.iter().map(replace).collect()
}

/// The time of a cell that replaces one of time `current`: newer, whatever the clock says.
fn after(current: Timestamp, now: Timestamp) -> Timestamp {
    Timestamp::new(current.get().saturating_add(1)).max(now)
}

impl Condition {
    /// HBase's `HRegion.checkAndMutateInternal`, which treats the empty value as none at all.
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
    /// Asks for the column that it looks at.
    ///
    /// # Errors
    ///
    /// If it names no condition, nothing to write, or another row.
    pub(crate) fn get(&self) -> Result<Get> {
        let (family, qualifier) = &self.checked()?.column;
        let TimeRange { min, max } = self.time_range;
        Ok(Get::row(&self.row).column(family, qualifier).time_range(min, max))
    }

    /// The condition, if there is one and what is to be written goes with it.
    fn checked(&self) -> Result<&Condition> {
        let Some(condition) = &self.condition else {
            return Err(Error::invalid("a check names the column that it looks at"));
        };
        if self.then.is_empty() {
            return Err(Error::invalid("a check has something to write if it holds"));
        }
        if let Some(cell) = self.then.cells.iter().find(|cell| cell.row() != &self.row[..]) {
            let (found, row) = (sstable::escape(cell.row()), sstable::escape(&self.row));
            let what = format!("a check of row \"{row}\" cannot write row \"{found}\"");
            return Err(Error::invalid(what));
        }
        Ok(condition)
    }

    /// The cells to write, as the store is in `view`: none if the condition does not hold. Puts as of
    /// now are not to be older than the cell that was looked at.
    pub(crate) fn cells(&self, view: &ReadView) -> Result<Vec<Cell>> {
        let present = view.get(&self.get()?)?;
        let current = present.first();
        if !self.checked()?.holds(current) {
            return Ok(Vec::new());
        }
        let now = view.now();
        let now = current.map_or(now, |cell| cell.timestamp().max(now));
        let mut cells = self.then.cells.clone();
        for cell in &mut cells {
            if cell.timestamp() == Timestamp::LATEST && cell.cell_type() == CellType::Put {
                cell.set_timestamp(now);
            }
        }
        Ok(cells)
    }
}
