//! Reads and writes beside many unflushed cells: in as many rows, as versions of one cell, or as columns
//! of one row.
//!
//! An LSM store keeps all unflushed versions of a cell. A get that looked at them all, or at all columns
//! of its row, would become slower with each write, and so would every write that has to wait for it.
//! One thread runs each operation; the put of another row runs beside a thread that reads the long row.
//! Writes skip the log, so that only the memstore counts. With the feature `store-peers`, fjall runs the
//! same gets and puts; it keeps all versions of a key, too.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use store::{Append, Durability, FamilyOptions, Get, Increment, Put, Store, WriteBatch};
use workload::Random;
use workload::{median, unmerged};

use crate::{FAMILY, SEED};

/// Cells per batch when a store is filled.
const BATCH: u64 = 1_000;
const OPERATIONS: usize = 2_000;
const ROUNDS: usize = 9;
/// The increments after which one is as fast as after the first hundred.
const INCREMENTS: usize = 16_000;

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
}

pub(crate) fn run(cells_max: u64) {
    println!(
        "| unflushed | get | increment | append | put of another row beside a reader | fjall: get | fjall: put \
         beside a reader |\n|---|--:|--:|--:|--:|--:|--:|"
    );
    let mut cells = 100;
    while cells <= cells_max {
        for (shape, name) in Shape::ALL {
            let ours = measure(shape, cells);
            let peer = peer(shape, cells);
            let ours: Vec<String> = ours.iter().map(u64::to_string).collect();
            let [get, put] = peer.map_or_else(
                || [(); 2].map(|()| "–".to_owned()),
                |peer| peer.map(|peer| peer.to_string()),
            );
            println!("| {cells} {name} | {} | {get} | {put} |", ours.join(" | "));
        }
        cells *= 100;
    }
    println!("\n| increments so far | ns per increment | with a snapshot open |\n|---|--:|--:|");
    let [alone, beside] = [false, true].map(increments);
    for (at, (alone, beside)) in [100, INCREMENTS].iter().zip(alone.into_iter().zip(beside)) {
        println!("| {at} | {alone} | {beside} |");
    }
}

/// Returns the nanoseconds of a get, an increment, an append, and a put beside a reader.
fn measure(shape: Shape, cells: u64) -> [u64; 4] {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = open(directory.path());
    for first in (0..cells).step_by(BATCH as usize) {
        let mut batch = WriteBatch::new();
        for cell in first..cells.min(first + BATCH) {
            let (row, column) = shape.place(cell);
            batch.put(Put::new(row).column(FAMILY, column, 0_u64.to_be_bytes()));
        }
        store.write(batch, Durability::SkipWal).expect("there is memory");
    }
    let mut random = Random::new(SEED);
    let places: Vec<_> =
        (0..OPERATIONS).map(|_| shape.place(random.below(cells as usize) as u64)).collect();
    let gets: Vec<_> =
        places.iter().map(|(row, column)| Get::row(row).column(FAMILY, column)).collect();
    let get = time(|at| {
        assert_eq!(store.get(&gets[at]).expect("sound").len(), 1, "every cell is there");
    });
    let beside = AtomicBool::new(false);
    let put = thread::scope(|scope| {
        scope.spawn(|| {
            while !beside.load(Ordering::Relaxed) {
                for get in &gets {
                    drop(store.get(get).expect("sound"));
                }
            }
        });
        let put = time(|at| {
            let put = Put::new(format!("other{at:06}")).column(FAMILY, "q", 0_u64.to_be_bytes());
            store.put(put).expect("there is memory");
        });
        beside.store(true, Ordering::Relaxed);
        put
    });
    let increments: Vec<_> =
        places.iter().map(|(row, column)| Increment::new(row).column(FAMILY, column, 1)).collect();
    let increment = time(|at| drop(store.increment(&increments[at]).expect("a number")));
    let appends: Vec<_> =
        places.iter().map(|(row, column)| Append::new(row).column(FAMILY, column, b"")).collect();
    let append = time(|at| drop(store.append(&appends[at]).expect("there is memory")));
    [get, increment, append, put]
}

fn open(directory: &std::path::Path) -> Store {
    let options = unmerged(256 << 20).durability(Durability::SkipWal);
    let store = Store::open(directory, options).expect("an empty directory");
    store.create_family(FAMILY, FamilyOptions::default()).expect("a new store");
    store
}

/// Returns the nanoseconds of one of [`OPERATIONS`]: the median of the rounds after the first.
fn time(mut operation: impl FnMut(usize)) -> u64 {
    let nanos = (0..=ROUNDS).map(|_| {
        let before = Instant::now();
        (0..OPERATIONS).for_each(&mut operation);
        before.elapsed().as_nanos() as f64 / OPERATIONS as f64
    });
    median(nanos.skip(1)) as u64
}

/// Returns the nanoseconds of an increment of one cell, after 100 and after [`INCREMENTS`]: the median
/// of a hundred.
fn increments(with_snapshot: bool) -> [u64; 2] {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = open(directory.path());
    let _snapshot = with_snapshot.then(|| store.snapshot());
    let increment = Increment::new("row").column(FAMILY, "q", 1);
    let nanos: Vec<f64> = (0..INCREMENTS + 100)
        .map(|_| {
            let before = Instant::now();
            store.increment(&increment).expect("a number");
            before.elapsed().as_nanos() as f64
        })
        .collect();
    [100, INCREMENTS].map(|at| median(nanos[at..at + 100].iter().copied()) as u64)
}

/// Returns the nanoseconds of a get and of a put beside a reader in fjall.
#[cfg(feature = "store-peers")]
fn peer(shape: Shape, cells: u64) -> Option<[u64; 2]> {
    let directory = tempfile::tempdir().expect("there is a place for files");
    let database = fjall::Database::builder(directory.path())
        .max_journaling_size(8 << 30)
        .open()
        .expect("a writable directory");
    let options = || fjall::KeyspaceCreateOptions::default().max_memtable_size(8 << 30);
    let keyspace = database.keyspace("rows", options).expect("a writable directory");
    let key = |cell| {
        let (row, column) = shape.place(cell);
        row + &column
    };
    for cell in 0..cells {
        keyspace.insert(key(cell), 0_u64.to_be_bytes()).expect("the disk has room");
    }
    let mut random = Random::new(SEED);
    let keys: Vec<_> = (0..OPERATIONS).map(|_| key(random.below(cells as usize) as u64)).collect();
    let read = |at: usize| assert!(keyspace.get(&keys[at]).expect("sound").is_some(), "written");
    let get = time(read);
    let beside = AtomicBool::new(false);
    let put = thread::scope(|scope| {
        scope.spawn(|| {
            while !beside.load(Ordering::Relaxed) {
                (0..OPERATIONS).for_each(read);
            }
        });
        let put = time(|at| {
            keyspace.insert(format!("other{at:06}"), 0_u64.to_be_bytes()).expect("room");
        });
        beside.store(true, Ordering::Relaxed);
        put
    });
    Some([get, put])
}

#[cfg(not(feature = "store-peers"))]
fn peer(_: Shape, _: u64) -> Option<[u64; 2]> {
    None
}
