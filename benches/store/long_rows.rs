//! Reads and writes beside many unflushed cells: in as many rows, as versions of one cell, or as columns
//! of one row.
//!
//! An LSM store keeps all unflushed versions of a cell. A get that looked at them all, or at all columns
//! of its row, would become slower with each write, and so would every write that has to wait for it.
//! The put of another row runs beside a thread that reads the long row. Writes skip the log, so that only the
//! memstore counts. With the feature `store-peers`, fjall runs the same gets; it keeps all versions of a key, too.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use store::{Append, Durability, Get, Increment, Put, WriteBatch};
use workload::Random;

use crate::{FAMILY, SEED, in_memory};

/// Cells per batch when a store is filled.
const BATCH: u64 = 1_000;
/// The cells that are asked for in turn.
const PLACES: usize = 2_000;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// Where the cells are.
#[derive(Clone, Copy)]
enum Shape {
    Rows,
    Versions,
    Columns,
}

impl Shape {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Rows, "rows"),
        (Self::Versions, "versions of a cell"),
        (Self::Columns, "columns of a row"),
    ];

    /// Row and column of a cell. Both have the same lengths in all shapes.
    fn place(self, cell: u64) -> (String, String) {
        let (row, column) = match self {
            Self::Rows => (cell, 0),
            Self::Versions => (0, 0),
            Self::Columns => (0, cell),
        };
        (format!("row{row:08}"), format!("column{column:08}"))
    }

    /// Returns the places of random cells.
    fn places(self, cells: u64) -> Vec<(String, String)> {
        let mut random = Random::new(SEED);
        (0..PLACES).map(|_| self.place(random.below(cells as usize) as u64)).collect()
    }
}

pub(crate) fn run(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("long-rows");
    let cells_max = workload::size(1_000_000);
    let sizes = std::iter::successors(Some(100), |cells| Some(cells * 100));
    for cells in sizes.take_while(|cells| *cells <= cells_max) {
        for (shape, name) in Shape::ALL {
            measure(&mut group, &format!("{cells} {name}"), shape, cells);
            #[cfg(feature = "store-peers")]
            peer(&mut group, &format!("{cells} {name}"), shape, cells);
        }
    }
    for (name, with_snapshot) in [("one cell", false), ("one cell, with a snapshot open", true)] {
        let directory = tempfile::tempdir().expect("there is a place for files");
        let store = in_memory(directory.path());
        let _snapshot = with_snapshot.then(|| store.snapshot());
        let increment = Increment::new("row").column(FAMILY, "q", 1);
        group.bench_function(format!("increments of {name}"), |bencher| {
            bencher.iter(|| store.increment(&increment).expect("a number"));
        });
    }
}

/// Times a get, a put beside a reader, an increment and an append.
fn measure(group: &mut Group<'_>, name: &str, shape: Shape, cells: u64) {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = in_memory(directory.path());
    for first in (0..cells).step_by(BATCH as usize) {
        let mut batch = WriteBatch::new();
        for cell in first..cells.min(first + BATCH) {
            let (row, column) = shape.place(cell);
            batch.put(Put::new(row).column(FAMILY, column, 0_u64.to_be_bytes()));
        }
        store.write(batch, Durability::Skip).expect("there is memory");
    }
    let places = shape.places(cells);
    let gets: Vec<_> =
        places.iter().map(|(row, column)| Get::row(row).column(FAMILY, column)).collect();
    each(group, &format!("{name}, get"), &gets, |get| {
        assert_eq!(store.get(get).expect("sound").len(), 1, "every cell is there");
    });
    let (is_over, others) = (AtomicBool::new(false), (0..PLACES).collect::<Vec<_>>());
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for get in &gets {
                    drop(store.get(get).expect("sound"));
                }
            }
        });
        each(group, &format!("{name}, put of another row beside a reader"), &others, |at| {
            let put = Put::new(format!("other{at:06}")).column(FAMILY, "q", 0_u64.to_be_bytes());
            store.put(put).expect("there is memory");
        });
        is_over.store(true, Ordering::Relaxed);
    });
    let increments: Vec<_> =
        places.iter().map(|(row, column)| Increment::new(row).column(FAMILY, column, 1)).collect();
    each(group, &format!("{name}, increment"), &increments, |increment| {
        drop(store.increment(increment).expect("a number"));
    });
    let appends: Vec<_> =
        places.iter().map(|(row, column)| Append::new(row).column(FAMILY, column, b"")).collect();
    each(group, &format!("{name}, append"), &appends, |append| {
        drop(store.append(append).expect("there is memory"));
    });
}

/// Times an operation on each of `items` in turn.
fn each<T>(group: &mut Group<'_>, name: &str, items: &[T], operation: impl Fn(&T)) {
    let mut next = items.iter().cycle();
    group.bench_function(name, |bencher| {
        bencher.iter(|| operation(next.next().expect("an endless cycle")));
    });
}

/// Times a get of fjall.
#[cfg(feature = "store-peers")]
fn peer(group: &mut Group<'_>, name: &str, shape: Shape, cells: u64) {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let database = fjall::Database::builder(directory.path())
        .max_journaling_size(8 << 30)
        .open()
        .expect("a writable directory");
    let options = || fjall::KeyspaceCreateOptions::default().max_memtable_size(8 << 30);
    let keyspace = database.keyspace("rows", options).expect("a writable directory");
    for cell in 0..cells {
        let (row, column) = shape.place(cell);
        keyspace.insert(row + &column, 0_u64.to_be_bytes()).expect("the disk has room");
    }
    let places = shape.places(cells).into_iter();
    let keys: Vec<_> = places.map(|(row, column)| row + &column).collect();
    each(group, &format!("{name}, get of fjall"), &keys, |key| {
        assert!(keyspace.get(key).expect("sound").is_some(), "written");
    });
}
