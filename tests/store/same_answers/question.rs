//! Reads with any options together, and what they show of a list of all cells.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use sstable::{Cell, CellRef};
use store::{Get, Scan, Timestamp};

use super::{COLUMNS, NOW, NUMBER, ROWS};

#[derive(Clone, Debug)]
pub(super) struct Question {
    versions: u32,
    range: Option<(i64, i64)>,
    pub(super) raw: bool,
    reverse: bool,
    start: Option<Vec<u8>>,
    stop: Option<Vec<u8>>,
    prefix: Option<Vec<u8>>,
    rows_max: Option<u64>,
    cells_per_row_max: Option<u64>,
    pub(super) columns: Vec<&'static str>,
    qualifier_prefix: Option<&'static str>,
    value_contains: Option<&'static str>,
    has_predicate: bool,
}

/// Half of the cells meet it.
fn predicate(cell: &CellRef<'_>) -> bool {
    (cell.timestamp.get() + cell.qualifier.len() as i64) % 2 == 0
}

impl Question {
    /// A scan that shows every cell that this question may show, limited by the time range only.
    pub(super) fn widest(&self) -> Scan {
        let scan = Scan::family("f").versions(u32::MAX).raw(self.raw);
        self.range.map_or(scan.clone(), |(min, max)| {
            scan.time_range(Timestamp::new(min), Timestamp::new(max))
        })
    }

    pub(super) fn scan(&self) -> Scan {
        let mut scan = self.widest().versions(self.versions).reverse(self.reverse);
        scan = self.start.iter().fold(scan, Scan::start);
        scan = self.stop.iter().fold(scan, Scan::stop);
        scan = self.prefix.iter().fold(scan, Scan::prefix);
        scan = self.columns.iter().fold(scan, Scan::column);
        scan = self.qualifier_prefix.iter().fold(scan, Scan::qualifier_prefix);
        scan = self.value_contains.iter().fold(scan, Scan::value_contains);
        scan = self.rows_max.into_iter().fold(scan, Scan::rows_max);
        scan = self.cells_per_row_max.into_iter().fold(scan, Scan::cells_per_row_max);
        if self.has_predicate { scan.filter(predicate) } else { scan }
    }

    /// A get with the options that a get has.
    pub(super) fn get(&self, row: &[u8]) -> Get {
        let get = Get::row(row).versions(self.versions);
        let get = self.columns.iter().fold(get, |get, column| get.column("f", column));
        self.range.map_or(get.clone(), |(min, max)| {
            get.time_range(Timestamp::new(min), Timestamp::new(max))
        })
    }

    fn has_row(&self, row: &[u8]) -> bool {
        let is_after_start = self
            .start
            .as_deref()
            .is_none_or(|start| if self.reverse { row <= start } else { start <= row });
        let is_before_stop = self
            .stop
            .as_deref()
            .is_none_or(|stop| if self.reverse { stop < row } else { row < stop });
        let has_prefix = self.prefix.as_ref().is_none_or(|prefix| row.starts_with(prefix));
        is_after_start && is_before_stop && has_prefix
    }

    fn has_column(&self, cell: &Cell) -> bool {
        let is_named = |column: &&str| column.as_bytes() == cell.qualifier();
        self.columns.is_empty() || self.columns.iter().any(is_named)
    }

    fn meets_conditions(&self, cell: &Cell) -> bool {
        let contains = |part: &str| String::from_utf8_lossy(cell.value()).contains(part);
        self.qualifier_prefix.is_none_or(|prefix| cell.qualifier().starts_with(prefix.as_bytes()))
            && self.value_contains.is_none_or(contains)
            && (!self.has_predicate || predicate(&cell.as_ref()))
    }

    /// The newest versions of each column, up to the maximum. Markers are not versions.
    fn newest(&self, cells: impl Iterator<Item = Cell>) -> Vec<Cell> {
        let (mut column, mut count) = (None, 0);
        let mut shown = Vec::new();
        for cell in cells {
            let of = Some((cell.row().to_vec(), cell.qualifier().to_vec()));
            if column != of {
                (column, count) = (of, 0);
            }
            count += u32::from(!cell.cell_type().is_delete());
            if count <= self.versions {
                shown.push(cell);
            }
        }
        shown
    }

    /// What the scan shows of all cells.
    pub(super) fn answer(&self, all: &[Cell]) -> Vec<Cell> {
        let wanted = all.iter().filter(|cell| {
            self.has_row(cell.row()) && self.has_column(cell) && self.meets_conditions(cell)
        });
        let shown = self.newest(wanted.cloned());
        let mut rows: Vec<&[Cell]> =
            shown.chunk_by(|one, other| one.row() == other.row()).collect();
        if self.reverse {
            rows.reverse();
        }
        let cells_max = self.cells_per_row_max.unwrap_or(u64::MAX) as usize;
        if cells_max == 0 {
            return Vec::new();
        }
        let rows = rows.into_iter().take(self.rows_max.unwrap_or(u64::MAX) as usize);
        rows.flat_map(|row| row.iter().take(cells_max).cloned()).collect()
    }

    /// What the get of a row shows of all cells.
    pub(super) fn answer_of_get(&self, all: &[Cell], row: &[u8]) -> Vec<Cell> {
        self.newest(all.iter().filter(|cell| cell.row() == row && self.has_column(cell)).cloned())
    }
}

/// A row, or a place before, between or behind rows.
fn place() -> impl Strategy<Value = Option<Vec<u8>>> {
    let end = select(vec![&b""[..], b"\0", b"\xff"]);
    let place = (select(&ROWS[..]), end).prop_map(|(row, end)| [row, end].concat());
    prop::option::weighted(0.3, place)
}

pub(super) fn question() -> impl Strategy<Value = Question> {
    let range = prop::option::weighted(0.3, (NOW - 9..NOW + 9, 0..12_i64));
    let prefix = select(vec![&b""[..], b"a", b"a\xff", b"b", b"bbbbbbbbbbbbbbb", b"\xff", b"d"]);
    let prefix = prop::option::weighted(0.3, prefix.prop_map(<[u8]>::to_vec));
    let names: Vec<_> = COLUMNS.into_iter().chain([NUMBER]).collect();
    let columns = prop_oneof![2 => Just(Vec::new()), 1 => vec(select(names), 1..4)];
    let limit = || prop::option::weighted(0.2, 0..4_u64);
    let conditions = (
        prop::option::weighted(0.1, select(vec!["", "p", "x"])),
        prop::option::weighted(0.1, select(vec!["", "v1", "2"])),
        prop::bool::weighted(0.2),
    );
    let what = (1..4_u32, range, prop::bool::weighted(0.2), any::<bool>(), columns);
    (what, (place(), place(), prefix), (limit(), limit()), conditions).prop_map(
        |((versions, range, raw, reverse, columns), places, limits, conditions)| {
            let ((start, stop, prefix), (rows_max, cells_per_row_max)) = (places, limits);
            let (qualifier_prefix, value_contains, has_predicate) = conditions;
            let range = range.map(|(min, len)| (min, min + len));
            Question {
                versions,
                range,
                raw,
                reverse,
                start,
                stop,
                prefix,
                rows_max,
                cells_per_row_max,
                columns,
                qualifier_prefix,
                value_contains,
                has_predicate,
            }
        },
    )
}
