//! What is asked: gets of one row, and scans over many.

use smallvec::{SmallVec, smallvec};
use sstable::Timestamp;

/// A row, family or qualifier in a question: asking should not cost five allocations.
type ShortBytes = SmallVec<[u8; 24]>;

#[inline]
fn short(bytes: &[u8]) -> ShortBytes {
    SmallVec::from_slice(bytes)
}

/// Asks for cells of one row. Without a further word, for the newest version of all its columns.
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
    /// Sorted by family; no families means all of them.
    pub(crate) families: SmallVec<[FamilyQuery; 1]>,
    pub(crate) view: View,
}

/// The columns of one family that a get asks for.
#[derive(Clone, Debug)]
pub(crate) struct FamilyQuery {
    pub(crate) family: ShortBytes,
    pub(crate) columns: Columns,
}

/// Which columns of a family: all, or these, sorted and each once.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) enum Columns {
    #[default]
    All,
    Only(SmallVec<[ShortBytes; 1]>),
}

impl Columns {
    /// The column, if just one is asked for.
    pub(crate) fn single(&self) -> Option<&[u8]> {
        match self {
            Self::Only(columns) if columns.len() == 1 => Some(&columns[0]),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, qualifier: &[u8]) {
        match self {
            Self::All => *self = Self::Only(smallvec![short(qualifier)]),
            Self::Only(columns) => {
                if let Err(place) = columns.binary_search_by(|known| known[..].cmp(qualifier)) {
                    columns.insert(place, short(qualifier));
                }
            }
        }
    }
}

/// How much of the past a read shows, and whether it shows what was deleted. Without a further word,
/// the newest version of each column.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct View {
    pub(crate) versions: u32,
    pub(crate) time_range: TimeRange,
    pub(crate) raw: bool,
}

impl Default for View {
    fn default() -> Self {
        Self { versions: 1, time_range: TimeRange::ALL, raw: false }
    }
}

impl View {
    /// Shows up to this many versions of each column, as far as the family keeps so many.
    /// Default: 1.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.versions = versions;
        self
    }

    /// Shows versions from `min` up to but without `max`. Default: all.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        self.time_range = TimeRange { min, max };
        self
    }

    /// Shows what is stored: delete markers, what they hide and what has expired. Default: no.
    pub const fn raw(mut self, raw: bool) -> Self {
        self.raw = raw;
        self
    }
}

/// Timestamps from `min` up to but without `max`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TimeRange {
    pub(crate) min: Timestamp,
    pub(crate) max: Timestamp,
}

impl TimeRange {
    pub(crate) const ALL: Self = Self { min: Timestamp::new(0), max: Timestamp::LATEST };
}

impl Get {
    /// Asks for `row`.
    #[inline]
    pub fn row(row: impl AsRef<[u8]>) -> Self {
        Self { row: short(row.as_ref()), families: SmallVec::new(), view: View::default() }
    }

    /// Asks for all columns of a family.
    pub fn family(mut self, family: impl AsRef<[u8]>) -> Self {
        self.query(family.as_ref()).columns = Columns::All;
        self
    }

    /// Asks for one column.
    #[inline]
    pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.query(family.as_ref()).columns.add(qualifier.as_ref());
        self
    }

    /// Shows up to this many versions of each column, as far as the family keeps so many.
    /// Default: 1.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.view.versions = versions;
        self
    }

    /// Shows versions from `min` up to but without `max`. Default: all.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        self.view.time_range = TimeRange { min, max };
        self
    }

    #[inline]
    fn query(&mut self, family: &[u8]) -> &mut FamilyQuery {
        let place = self.families.binary_search_by(|known| known.family[..].cmp(family));
        let place = place.unwrap_or_else(|place| {
            let columns = Columns::default();
            self.families.insert(place, FamilyQuery { family: short(family), columns });
            place
        });
        &mut self.families[place]
    }
}

/// Asks for the rows of one family, in order. Without a further word, for all of them.
///
/// ```
/// use store::Scan;
///
/// let some = Scan::family("f").start("row1").stop("row5").versions(3);
/// # let _ = some;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Scan {
    pub(crate) family: Box<[u8]>,
    pub(crate) columns: Columns,
    pub(crate) start: Option<Box<[u8]>>,
    pub(crate) stop: Option<Box<[u8]>>,
    pub(crate) reverse: bool,
    pub(crate) prefix: Option<Box<[u8]>>,
    pub(crate) rows_max: Option<u64>,
    pub(crate) cells_per_row_max: Option<u64>,
    pub(crate) view: View,
}

impl Scan {
    /// Asks for the rows of `family`.
    pub fn family(family: impl AsRef<[u8]>) -> Self {
        Self {
            family: family.as_ref().into(),
            columns: Columns::All,
            start: None,
            stop: None,
            reverse: false,
            prefix: None,
            rows_max: None,
            cells_per_row_max: None,
            view: View::default(),
        }
    }

    /// Shows this column only; said again, these columns.
    pub fn column(mut self, qualifier: impl AsRef<[u8]>) -> Self {
        self.columns.add(qualifier.as_ref());
        self
    }

    /// Begins with this row, or the next in the scan's direction. Default: the first.
    pub fn start(mut self, row: impl AsRef<[u8]>) -> Self {
        self.start = Some(row.as_ref().into());
        self
    }

    /// Ends before this row. Default: ends with the last.
    pub fn stop(mut self, row: impl AsRef<[u8]>) -> Self {
        self.stop = Some(row.as_ref().into());
        self
    }

    /// Goes from greater rows to smaller ones; the cells of each row keep their order. The start
    /// is then the greatest row asked for, and the stop lies below the smallest. Default: no.
    pub const fn reverse(mut self, reverse: bool) -> Self {
        self.reverse = reverse;
        self
    }

    /// Shows only rows that begin with this. Files whose Bloom filter is over prefixes as long or
    /// shorter are asked whether they hold such a row. Default: all rows.
    pub fn prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        self.prefix = Some(prefix.as_ref().into());
        self
    }

    /// Shows at most this many cells of each row, the first ones. Default: all.
    pub const fn cells_per_row_max(mut self, cells: u64) -> Self {
        self.cells_per_row_max = Some(cells);
        self
    }

    /// Ends after this many rows. Default: no limit.
    pub const fn rows_max(mut self, rows: u64) -> Self {
        self.rows_max = Some(rows);
        self
    }

    /// Shows up to this many versions of each column, as far as the family keeps so many.
    /// Default: 1.
    pub const fn versions(mut self, versions: u32) -> Self {
        self.view.versions = versions;
        self
    }

    /// Shows versions from `min` up to but without `max`. Default: all.
    pub const fn time_range(mut self, min: Timestamp, max: Timestamp) -> Self {
        self.view.time_range = TimeRange { min, max };
        self
    }

    /// Shows what is stored: delete markers, what they hide and what has expired. Default: no.
    pub const fn raw(mut self, raw: bool) -> Self {
        self.view.raw = raw;
        self
    }
}
