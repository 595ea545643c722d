//! Histories of one row with as many cells as a constant of the store, one fewer and one more.
//!
//! Reads step over a few cells and seek past more, take cells from a memstore in batches, and fetch
//! several rows or files at once. On both sides of each limit the answers are those of the model.

use sstable::CellType;
use store::{Get, MapMode, Scan};

use super::{Family, Pair, Question, Step, shown};

/// The limits are 16, 64 and 256: steps before a seek, cells of a batch, cells passed without a seek.
const COUNTS: [i64; 9] = [15, 16, 17, 63, 64, 65, 255, 256, 257];

type Cells = Vec<(String, String, i64, CellType)>;

/// Returns `count` cells, in the order in which they are written.
type Shape = fn(count: i64) -> Cells;

fn cell(
    row: &str,
    column: &str,
    time: i64,
    cell_type: CellType,
) -> (String, String, i64, CellType) {
    (row.to_owned(), column.to_owned(), time, cell_type)
}

const SHAPES: [(&str, Shape); 7] = [
    ("versions", |count| times(count, |time| cell("b", "p", time, CellType::Put))),
    ("columns", |count| times(count, |time| cell("b", &format!("p{time:04}"), 5, CellType::Put))),
    ("version markers", |count| times(count, |time| cell("b", "p", time, CellType::Delete))),
    ("column markers", |count| times(count, |time| cell("b", "p", time, CellType::DeleteColumn))),
    ("deleted columns", |count| {
        times(count, |time| cell("b", &format!("p{time:04}"), 5, CellType::DeleteColumn))
    }),
    ("family markers", |count| {
        times(count, |time| cell("b", "", time, CellType::DeleteFamilyVersion))
    }),
    ("deleted rows", |count| {
        times(count, |time| cell(&format!("ab{time:04}"), "", 5, CellType::DeleteFamily))
    }),
];

fn times(
    count: i64,
    cell_at: impl Fn(i64) -> (String, String, i64, CellType),
) -> Vec<(String, String, i64, CellType)> {
    (1..=count).map(cell_at).collect()
}

/// The cells around: before and behind the many, some of them hidden by markers.
fn around() -> Cells {
    let mut cells = Vec::new();
    for row in ["ab", "b", "c"] {
        for column in ["p", "q"] {
            cells.extend([3, 900].map(|time| cell(row, column, time, CellType::Put)));
        }
    }
    cells
}

/// In the memstore, in one file, in the middle of both, and in two files.
const FLUSHES: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

#[test]
fn rows_with_as_many_cells_as_a_limit_are_answered_as_by_the_model() {
    for (name, shape) in SHAPES {
        for count in COUNTS {
            for (number, flushes) in FLUSHES.into_iter().enumerate() {
                let versions = [1, 1_000][number % 2];
                let map = [MapMode::Off, MapMode::Wide][number / 2];
                let (min_versions, ttl, keeps_deleted) = (0, None, number == 3);
                let family = Family { versions, min_versions, ttl, keeps_deleted, map };
                let mut pair = Pair::new(family);
                let many = shape(count);
                let (first, second) = many.split_at(many.len() / 2);
                pair.step(&Step::Write(around()));
                let snapshot = (pair.store.snapshot(), pair.model.clone());
                for (cells, is_flushed) in [first, second].into_iter().zip(flushes) {
                    pair.step(&Step::Write(cells.to_vec()));
                    if is_flushed {
                        pair.step(&Step::Flush);
                    }
                }
                for (versions, range) in
                    [(1, None), (1_000, None), (2, Some((0, 5))), (1, Some((4, 300)))]
                {
                    for reverse in [false, true] {
                        let question = Question { versions, range, raw: false, reverse };
                        pair.check(question);
                    }
                }
                let (snapshot, model) = snapshot;
                let question = Question { versions: 9, range: None, raw: false, reverse: false };
                let expected = ["ab", "b", "c"].map(|row| model.answer(row, question));
                for reverse in [false, true] {
                    let scan = Scan::family("f").versions(9).reverse(reverse);
                    let found = snapshot.scan(scan).unwrap();
                    let found: Vec<_> = found.map(|cell| shown(&cell.unwrap().as_ref())).collect();
                    let mut rows = expected.clone();
                    if reverse {
                        rows.reverse();
                    }
                    assert_eq!(found, rows.concat(), "{count} {name}: the snapshot");
                }
                let found = snapshot.get(&Get::row("b").versions(9)).unwrap();
                let found: Vec<_> = found.iter().map(|cell| shown(&cell.as_ref())).collect();
                assert_eq!(found, expected[1], "{count} {name}: the snapshot");
            }
        }
    }
}

/// As many files as a lookup asks at once, as a family map has numbers for, and one more.
#[test]
fn rows_of_as_many_files_as_a_limit_are_answered_as_by_the_model() {
    for (number, files) in [15, 16, 17, 31, 32, 33, 63, 64, 65, 66].into_iter().enumerate() {
        let map = MapMode::ALL[number % MapMode::ALL.len()];
        let (versions, min_versions, ttl, keeps_deleted) = (3, 0, None, false);
        let family = Family { versions, min_versions, ttl, keeps_deleted, map };
        let mut pair = Pair::new(family);
        for file in 0..files {
            // Each row is in some files, and the last ones have one that no other has.
            let row = ["a", "ab", "b"][file % 3];
            let row = if file + 1 == files { "c" } else { row };
            let cell_type = if file % 7 == 5 { CellType::DeleteColumn } else { CellType::Put };
            let column = ["p", "q"][file / 3 % 2];
            pair.step(&Step::Write(vec![cell(row, column, file as i64, cell_type)]));
            pair.step(&Step::Flush);
        }
        assert_eq!(pair.store.stats().families[0].files, files as u64);
        for reopens in [false, true] {
            if reopens {
                pair.step(&Step::Reopen);
            }
            for versions in [1, 3] {
                pair.check(Question { versions, range: None, raw: false, reverse: reopens });
            }
        }
    }
}
