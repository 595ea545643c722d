//! The parameters of reads: gets of one row, and scans over many.

use std::sync::Arc;

use cells::cell_filter::CellCondition;
use cells::view::{FamilySelection, NamedColumns, QueryTimes, ShortBytes, View, short};
use smallvec::SmallVec;
use sstable::{CellRef, Timestamp};

/// A read of one row. By default it returns the newest version of each column.
///
/// ```
/// use store::Get;
///
/// let whole_row = Get::row("row1");
/// let history = Get::row("row1").column("f", "name").versions(10);
/// # let _ = (whole_row, history);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Get {
    pub(crate) row: ShortBytes,
    /// Sorted by family; empty means all families.
    pub(crate) families: SmallVec<[FamilyQuery; 1]>,
    pub(crate) view: View,
    /// Whether the columns of all families are in order.
    pub(crate) is_sorted: bool,
}

/// The columns of one family that a get reads.
#[derive(Clone, Debug)]
pub(crate) struct FamilyQuery {
    pub(crate) family: ShortBytes,
    pub(crate) columns: NamedColumns,
}

impl Get {
    /// Creates a get of `row` that reads all families.
    pub fn row(row: impl AsRef<[u8]>) -> Self {
        let (families, view) = (SmallVec::new(), View::default());
        Self { row: short(row.as_ref()), families, view, is_sorted: true }
    }

    /// Reads all columns of a family.
    pub fn family(mut self, family: impl AsRef<[u8]>) -> Self {
        self.family_query(family.as_ref()).columns = NamedColumns::default();
        self
    }

    /// Reads one column. Call it again to read further columns.
    #[inline]
    pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        let columns = &mut self.family_query(family.as_ref()).columns;
        columns.add(qualifier.as_ref());
        let is_in_order = columns.is_sorted();
        self.is_sorted &= is_in_order;
        self
    }

    /// Sets the maximum number of versions of each column, which the family's own maximum limits
    /// too. Default: 1.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.view.versions = versions;
        self
    }

    /// Shows only versions whose timestamp is in `min..max`. Default: all.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        self.view.time_range = QueryTimes { min, max };
        self
    }

    /// Returns the get with the columns of each family in order.
    pub(crate) fn sorted(&self) -> Self {
        let mut sorted = Self { is_sorted: true, ..self.clone() };
        sorted.families.iter_mut().for_each(|family| family.columns.sort());
        sorted
    }

    #[inline]
    fn family_query(&mut self, family: &[u8]) -> &mut FamilyQuery {
        let index = self.families.binary_search_by(|known| known.family[..].cmp(family));
        let index = index.unwrap_or_else(|index| {
            let columns = NamedColumns::default();
            self.families.insert(index, FamilyQuery { family: short(family), columns });
            index
        });
        &mut self.families[index]
    }
}

/// A read of a range of rows of one family, in order. By default it reads all rows.
///
/// ```
/// use store::Scan;
///
/// let scan = Scan::family("f").start("row1").stop("row5").versions(3);
/// # let _ = scan;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Scan {
    pub(crate) family: Box<[u8]>,
    pub(crate) columns: NamedColumns,
    pub(crate) start: Option<Box<[u8]>>,
    pub(crate) stop: Option<Box<[u8]>>,
    pub(crate) reverse: bool,
    pub(crate) prefix: Option<Box<[u8]>>,
    pub(crate) rows_max: Option<u64>,
    pub(crate) cells_per_row_max: Option<u64>,
    pub(crate) conditions: Vec<CellCondition>,
    pub(crate) view: View,
}

impl Scan {
    /// Creates a scan over all rows of `family`.
    pub fn family(family: impl AsRef<[u8]>) -> Self {
        Self {
            family: family.as_ref().into(),
            columns: NamedColumns::default(),
            start: None,
            stop: None,
            reverse: false,
            prefix: None,
            rows_max: None,
            cells_per_row_max: None,
            conditions: Vec::new(),
            view: View::default(),
        }
    }

    /// Shows only this column. Call it again to show further columns.
    pub fn column(mut self, qualifier: impl AsRef<[u8]>) -> Self {
        self.columns.add(qualifier.as_ref());
        self
    }

    /// Shows only columns whose qualifier begins with `prefix`. Default: all columns.
    ///
    /// This is a condition as of [`filter`](Self::filter).
    pub fn qualifier_prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        self.conditions.push(CellCondition::QualifierPrefix(prefix.as_ref().into()));
        self
    }

    /// Shows only cells whose value contains these bytes. Default: all cells.
    ///
    /// This is a condition as of [`filter`](Self::filter).
    pub fn value_contains(mut self, part: impl AsRef<[u8]>) -> Self {
        self.conditions.push(CellCondition::ValueContains(part.as_ref().into()));
        self
    }

    /// Shows only cells that meet a condition. Call it again to add further conditions: a cell must
    /// meet them all. Default: all cells.
    ///
    /// Conditions are checked on the cells that are neither deleted nor expired, and that have the
    /// wanted timestamps and columns. As in HBase, the family's maximum of versions applies before
    /// the conditions and the scan's maximum after them: a scan for one version shows the newest
    /// of the family's versions that meets the conditions, even if a newer version does not. The
    /// limits of rows and of cells per row count the cells that are shown.
    ///
    /// ```
    /// # use store::{FamilyOptions, Put, Scan, Store, StoreOptions};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), StoreOptions::default())?;
    /// # store.create_family("f", FamilyOptions::default())?;
    /// store.put(Put::new("row1").column("f", "name", "Ada").column("f", "born", "1815"))?;
    /// let long = Scan::family("f").filter(|cell| cell.value.len() > 3);
    /// let cells = store.scan(long)?.collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(cells.len(), 1);
    /// assert_eq!(cells[0].qualifier(), b"born");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn filter(
        mut self,
        condition: impl Fn(&CellRef<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.conditions.push(CellCondition::Predicate(Arc::new(condition)));
        self
    }

    /// Creates a scan of what a selection has of a family.
    #[doc(hidden)]
    pub fn of_selection(family: impl AsRef<[u8]>, selection: &FamilySelection) -> Self {
        let FamilySelection { start, stop, prefix, qualifiers, view } = selection;
        let mut scan = Self::family(family).start(start);
        if !prefix.is_empty() {
            scan = scan.prefix(prefix);
        }
        (scan.stop, scan.view) = (stop.as_deref().map(Into::into), *view);
        qualifiers.iter().fold(scan, Self::column)
    }

    /// Begins at this row, or at the next row in the scan's direction. Default: the first.
    pub fn start(mut self, row: impl AsRef<[u8]>) -> Self {
        self.start = Some(row.as_ref().into());
        self
    }

    /// Ends before this row. Default: ends after the last row.
    pub fn stop(mut self, row: impl AsRef<[u8]>) -> Self {
        self.stop = Some(row.as_ref().into());
        self
    }

    /// Scans the rows in descending order; the cells of each row keep their order.
    ///
    /// The start row is then the greatest row, and the scan ends above the stop row. Default: no.
    pub const fn reverse(mut self, reverse: bool) -> Self {
        self.reverse = reverse;
        self
    }

    /// Shows only rows that begin with `prefix`. Default: all rows.
    ///
    /// Files whose Bloom filter is over row prefixes of at most this length are skipped if the
    /// filter says that they hold no such row.
    pub fn prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        self.prefix = Some(prefix.as_ref().into());
        self
    }

    /// Shows at most the first `cells` cells of each row. Default: all.
    pub const fn cells_per_row_max(mut self, cells: u64) -> Self {
        self.cells_per_row_max = Some(cells);
        self
    }

    /// Ends after this many rows. Default: no limit.
    pub const fn rows_max(mut self, rows: u64) -> Self {
        self.rows_max = Some(rows);
        self
    }

    /// Sets the maximum number of versions of each column, which the family's own maximum limits
    /// too. Default: 1.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.view.versions = versions;
        self
    }

    /// Shows only versions whose timestamp is in `min..max`. Default: all.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        self.view.time_range = QueryTimes { min, max };
        self
    }

    /// Shows all stored cells: delete markers, deleted cells and expired cells. Default: no.
    pub const fn raw(mut self, raw: bool) -> Self {
        self.view.raw = raw;
        self
    }
}
