//! A fill with and without a family map, and the time to build the map of a store beside that of reading its rows.

use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, Throughput};
use sstable::{Caching, Reader, ReaderOptions};
use store::{FamilyOptions, MapMode, Store, StoreOptions};

use crate::{FAMILY, SEED, VALUE_LEN};

pub(crate) fn run(criterion: &mut Criterion) {
    let rows = workload::size(1_000_000);
    let mut group = criterion.benchmark_group("map");
    group.throughput(Throughput::Elements(rows));
    for map in [MapMode::Off, MapMode::Files, MapMode::Wide, MapMode::Auto] {
        group.bench_function(format!("fill, map {}", map.name()), |bencher| {
            let new = || {
                let directory = tempfile::tempdir().expect("there is a place for files");
                let store = open(directory.path(), map, true);
                (directory, store)
            };
            let fill = |(directory, store): (_, Store)| {
                write_all(&store, rows);
                (directory, store)
            };
            bencher.iter_batched(new, fill, BatchSize::PerIteration);
        });
    }
    let directory = tempfile::tempdir().expect("there is a place for files");
    let store = open(directory.path(), MapMode::Off, false);
    write_all(&store, rows);
    store.flush().expect("the disk has room");
    let files = store.stats().families[0].files;
    group.bench_function("read the rows", |bencher| {
        bencher.iter(|| read_all(&directory.path().join(FAMILY)));
    });
    for form in [MapMode::Files, MapMode::Wide] {
        group.bench_function(format!("read the rows and build, map {}", form.name()), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| build(&store, form, files)).sum());
        });
    }
}

fn open(directory: &Path, map: MapMode, compacts: bool) -> Store {
    let options = StoreOptions::default()
        .memstore_flush_bytes(16 << 20)
        .cache_bytes(1 << 30)
        .auto_compaction(compacts);
    let store = Store::open(directory, options).expect("an empty directory");
    store.create_family(FAMILY, FamilyOptions::default().family_map(map)).expect("a new store");
    store
}

fn write_all(store: &Store, rows: u64) {
    let keys = store.keys(FAMILY).expect("the family exists");
    let mut value = [0; VALUE_LEN];
    for index in 0..rows {
        workload::fill_value(SEED, index, &mut value);
        keys.insert(workload::key(SEED, index), value).expect("the disk has room");
    }
}

/// Drops the map, and returns the time until a new one covers all files.
fn build(store: &Store, form: MapMode, files: u64) -> Duration {
    let wait_until_covered = |wanted: u64| {
        let covered = || store.stats().families[0].map.map_or(0, |map| map.covered_files);
        while covered() != wanted {
            std::thread::sleep(Duration::from_micros(100));
        }
    };
    let alter = |map| {
        let options = FamilyOptions::default().family_map(map);
        store.alter_family(FAMILY, options).expect("the disk has room");
    };
    alter(MapMode::Off);
    wait_until_covered(0);
    let start = Instant::now();
    alter(form);
    wait_until_covered(files.min(64));
    start.elapsed()
}

/// Reads all cells of the files in a directory, past all caches of this program.
fn read_all(directory: &Path) -> usize {
    let mut sum = 0;
    for file in std::fs::read_dir(directory).expect("a directory") {
        let path = file.expect("a directory").path();
        let reader = Reader::open_file(path, ReaderOptions::default()).expect("sound");
        let mut cells = reader.scanner(Caching::Bypass);
        cells.seek_to_first().expect("sound");
        while let Some(cell) = cells.cell() {
            sum += cell.row.len();
            cells.advance().expect("sound");
        }
    }
    assert!(sum > 0, "the files have rows");
    sum
}
