//! Every combination of a scan's options shows what each option alone takes from the plain scan.

use sstable::{Cell, CellType};
use store::{Delete, FamilyOptions, Put, Scan, Store, StoreOptions, Timestamp};
use support::Random;
use support::test_store::TestStore;

/// Rows that are prefixes of one another, and of the greatest byte.
const ROWS: [&[u8]; 9] = [b"a", b"ab", b"abc", b"abd", b"b", b"ba", b"\xff", b"\xff\xff", b"\xffa"];
const BOUNDS: [&[u8]; 8] = [b"a", b"ab", b"abb", b"abc", b"b", b"bb", b"\xff", b"\xff\xff"];
const QUALIFIERS: [&str; 3] = ["p", "pq", "q"];

/// Returns a store with puts and all delete markers in files and in the memstore.
fn filled(random: &mut Random) -> TestStore {
    let options = StoreOptions::default().background(false).auto_compaction(false);
    let store = TestStore::with_family(options, FamilyOptions::default().versions(100));
    for step in 0..250 {
        let row = ROWS[random.below(ROWS.len())];
        let qualifier = QUALIFIERS[random.below(QUALIFIERS.len())];
        let time = Timestamp::new(1 + random.below(8) as i64);
        let delete = Delete::row(row);
        match random.below(16) {
            0 => store.delete(delete.family_at("f", time)),
            1 => store.delete(delete.family_version("f", time)),
            2 => store.delete(delete.column_at("f", qualifier, time)),
            3 | 4 => store.delete(delete.version("f", qualifier, time)),
            _ => store.put(Put::new(row).column_at("f", qualifier, time, format!("{step}"))),
        }
        .unwrap();
        if step % 60 == 59 {
            store.flush().unwrap();
        }
    }
    store
}

/// The options of a scan that the model applies.
#[derive(Clone, Debug, Default)]
struct Chosen {
    start: Option<&'static [u8]>,
    stop: Option<&'static [u8]>,
    prefix: Option<&'static [u8]>,
    reverse: bool,
    versions: Option<u32>,
    rows_max: Option<u64>,
    cells_per_row_max: Option<u64>,
    qualifier_prefix: Option<&'static str>,
    value_contains: Option<&'static str>,
    even_values: bool,
    // These options are also set in the plain scan.
    raw: bool,
    column: Option<&'static str>,
    times: Option<(i64, i64)>,
}

/// Returns one of `all` in a third of the calls.
fn maybe<T: Copy>(random: &mut Random, all: &[T]) -> Option<T> {
    (random.below(3) == 0).then(|| all[random.below(all.len())])
}

fn is_even(value: &[u8]) -> bool {
    value.last().is_none_or(|digit| digit % 2 == 0)
}

impl Chosen {
    fn draw(random: &mut Random) -> Self {
        Self {
            start: maybe(random, &BOUNDS),
            stop: maybe(random, &BOUNDS),
            prefix: maybe(random, &BOUNDS),
            reverse: random.below(3) == 0,
            versions: maybe(random, &[1, 2, 3]),
            rows_max: maybe(random, &[0, 1, 2, 4]),
            cells_per_row_max: maybe(random, &[0, 1, 2, 5]),
            qualifier_prefix: maybe(random, &["p", "pq", "", "x"]),
            value_contains: maybe(random, &["1", "22", ""]),
            even_values: random.below(4) == 0,
            raw: random.below(3) == 0,
            column: maybe(random, &QUALIFIERS),
            times: maybe(random, &[(2, 7), (3, 4), (1, 9)]),
        }
    }

    fn plain_scan(&self) -> Scan {
        let mut scan = Scan::family("f").raw(self.raw).versions(u32::MAX);
        if let Some(column) = self.column {
            scan = scan.column(column);
        }
        if let Some((min, max)) = self.times {
            scan = scan.time_range(Timestamp::new(min), Timestamp::new(max));
        }
        scan
    }

    fn scan(&self) -> Scan {
        let mut scan = self.plain_scan().reverse(self.reverse).versions(self.versions.unwrap_or(1));
        if let Some(start) = self.start {
            scan = scan.start(start);
        }
        if let Some(stop) = self.stop {
            scan = scan.stop(stop);
        }
        if let Some(prefix) = self.prefix {
            scan = scan.prefix(prefix);
        }
        if let Some(rows) = self.rows_max {
            scan = scan.rows_max(rows);
        }
        if let Some(cells) = self.cells_per_row_max {
            scan = scan.cells_per_row_max(cells);
        }
        if let Some(prefix) = self.qualifier_prefix {
            scan = scan.qualifier_prefix(prefix);
        }
        if let Some(part) = self.value_contains {
            scan = scan.value_contains(part);
        }
        if self.even_values {
            scan = scan.filter(|cell| is_even(cell.value));
        }
        scan
    }

    fn has_row(&self, row: &[u8]) -> bool {
        let (from, to) =
            if self.reverse { (self.stop, self.start) } else { (self.start, self.stop) };
        let is_after = from.is_none_or(|from| if self.reverse { row > from } else { row >= from });
        let is_before = to.is_none_or(|to| if self.reverse { row <= to } else { row < to });
        is_after && is_before && self.prefix.is_none_or(|prefix| row.starts_with(prefix))
    }

    fn meets_conditions(&self, cell: &Cell) -> bool {
        let contains = |part: &str| {
            part.is_empty() || cell.value().windows(part.len()).any(|it| it == part.as_bytes())
        };
        self.qualifier_prefix.is_none_or(|it| cell.qualifier().starts_with(it.as_bytes()))
            && self.value_contains.is_none_or(contains)
            && (!self.even_values || is_even(cell.value()))
    }

    /// Returns what the scan shows of the cells of the plain scan.
    fn model(&self, plain: &[Cell]) -> Vec<Cell> {
        let mut rows: Vec<&[Cell]> = plain.chunk_by(|one, two| one.row() == two.row()).collect();
        if self.reverse {
            rows.reverse();
        }
        let mut shown: Vec<Vec<Cell>> = Vec::new();
        for cells in rows.into_iter().filter(|cells| self.has_row(cells[0].row())) {
            let (mut of_row, mut column, mut count) = (Vec::new(), None, 0);
            for cell in cells.iter().filter(|cell| self.meets_conditions(cell)) {
                if column != Some(cell.qualifier()) {
                    (column, count) = (Some(cell.qualifier()), 0);
                }
                count += u32::from(cell.cell_type() == CellType::Put);
                if count <= self.versions.unwrap_or(1) {
                    of_row.push(cell.clone());
                }
            }
            of_row.truncate(self.cells_per_row_max.map_or(usize::MAX, |max| max as usize));
            shown.extend((!of_row.is_empty()).then_some(of_row));
        }
        shown.truncate(self.rows_max.map_or(usize::MAX, |max| max as usize));
        shown.concat()
    }
}

fn shown(cells: &[Cell]) -> String {
    let line = |cell: &Cell| format!("{:?} = {:?}\n", cell.as_ref(), cell.value());
    cells.iter().map(line).collect()
}

fn cells(store: &Store, scan: Scan) -> Vec<Cell> {
    store.scan(scan).unwrap().map(Result::unwrap).collect()
}

#[test]
fn options_of_a_scan_show_together_what_each_of_them_shows_of_the_plain_scan() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let store = filled(&mut random);
        for _ in 0..800 {
            let chosen = Chosen::draw(&mut random);
            let plain = cells(&store, chosen.plain_scan());
            let (found, expected) = (cells(&store, chosen.scan()), chosen.model(&plain));
            assert!(
                found == expected,
                "seed {seed}: {chosen:?}\nfound:\n{}expected:\n{}",
                shown(&found),
                shown(&expected)
            );
        }
    }
}
