//! The family map during and after a fill, and the time to build it.
//!
//! Fills a store with and without a map, in alternating rounds, at the full speed of one writer.
//! With the map, the table shows the share of files that the map covers when the last write is
//! acknowledged, and the time until it covers all. Then the map is built from the rows of all files,
//! and this time is compared with that of reading these rows.

use std::path::Path;
use std::time::{Duration, Instant};

use sstable::{Caching, Reader, ReaderOptions};
use store::{FamilyOptions, Get, MapMode, Store, StoreOptions};
use workload::cpu_time::{PROCESS, THREAD, cpu_nanos};

use crate::{FAMILY, SEED, VALUE_LEN};

const ROUNDS: usize = 3;
/// The longest wait until all files are covered.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Measures fills with and without a map.
pub(crate) fn run_fills(rows: u64) {
    println!(
        "| map | fill s | CPU s | files | covered at the end % | all covered after ms | builds | build ms | bits/row |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|"
    );
    for _ in 0..ROUNDS {
        for map in [MapMode::Off, MapMode::Files, MapMode::Wide, MapMode::Auto] {
            let directory = tempfile::tempdir().expect("there is a place for files");
            fill(directory.path(), rows, map);
        }
    }
}

/// Measures how long a map of all files takes to build.
pub(crate) fn run_builds(rows: u64) {
    println!(
        "| map | rows | files | reading CPU ns/row | reading and building CPU ns/row | wall ns/row | longest get us meanwhile |\n\
         |---|--:|--:|--:|--:|--:|--:|"
    );
    let directory = tempfile::tempdir().expect("there is a place for files");
    build(directory.path(), rows);
}

fn options() -> StoreOptions {
    StoreOptions::default().memstore_flush_bytes(16 << 20).cache_bytes(1 << 30)
}

fn write_all(store: &Store, rows: u64) {
    let keys = store.keys(FAMILY).expect("the family exists");
    let mut value = [0; VALUE_LEN];
    for index in 0..rows {
        workload::fill_value(SEED, index, &mut value);
        keys.insert(workload::key(SEED, index), value).expect("the disk has room");
    }
}

/// Returns the covered files and all files.
fn covered(store: &Store) -> (u64, u64) {
    let family = &store.stats().families[0];
    (family.map.map_or(0, |map| map.covered_files), family.files)
}

fn fill(directory: &Path, rows: u64, map: MapMode) {
    let store = Store::open(directory, options()).expect("an empty directory");
    let family = FamilyOptions::default().family_map(map);
    store.create_family(FAMILY, family).expect("a new store");
    let (start, cpu) = (Instant::now(), cpu_nanos(PROCESS));
    write_all(&store, rows);
    let (filled, cpu) = (start.elapsed(), cpu_nanos(PROCESS) - cpu);
    let (at_end, files) = covered(&store);
    let end = Instant::now();
    // Flushes and compactions go on: all of their files must be covered, too.
    while !matches!(map, MapMode::Off | MapMode::Auto) && end.elapsed() < WAIT_MAX {
        let (now, files) = covered(&store);
        if now == files {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let waited = end.elapsed();
    let stats = store.stats();
    println!(
        "| {map:?} | {:.2} | {:.2} | {files} | {:.0} | {:.0} | {} | {:.0} | {:.1} |",
        filled.as_secs_f64(),
        cpu as f64 / 1e9,
        at_end as f64 * 100.0 / files.max(1) as f64,
        waited.as_secs_f64() * 1e3,
        stats.map_builds,
        stats.map_build_time.as_secs_f64() * 1e3,
        stats.families[0].map.map_or(0, |map| map.bytes) as f64 * 8.0 / rows as f64,
    );
}

/// Reads all files of a store, without and with building the map in each form.
fn build(directory: &Path, rows: u64) {
    let merging = options().auto_compaction(false).memstore_flush_bytes(64 << 20);
    let store = Store::open(directory, merging).expect("an empty directory");
    let without = FamilyOptions::default().family_map(MapMode::Off);
    store.create_family(FAMILY, without.clone()).expect("a new store");
    write_all(&store, rows);
    store.flush().expect("the disk has room");
    let files = store.stats().families[0].files;
    for form in [MapMode::Files, MapMode::Wide].repeat(ROUNDS) {
        let reading = read_all(&directory.join(FAMILY));
        store.alter_family(FAMILY, without.clone()).expect("the disk has room");
        while covered(&store).0 > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let before = store.stats().map_build_time;
        let cpu = cpu_nanos(PROCESS);
        store.alter_family(FAMILY, without.clone().family_map(form)).expect("the disk has room");
        let (mut longest, mut number) = (Duration::ZERO, 0);
        while covered(&store).0 < files {
            // Gets of the row's family go on while the map is built.
            number = (number + 7_919) % rows;
            let start = Instant::now();
            let cells = store.get(&Get::row(workload::key(SEED, number))).expect("sound");
            longest = longest.max(start.elapsed());
            assert_eq!(cells.len(), 1, "the row is there");
            std::thread::sleep(Duration::from_millis(1));
        }
        let cpu = cpu_nanos(PROCESS) - cpu;
        let building = store.stats().map_build_time.saturating_sub(before);
        println!(
            "| {form:?} | {rows} | {files} | {:.1} | {:.1} | {:.1} | {:.0} |",
            reading as f64 / rows as f64,
            cpu as f64 / rows as f64,
            building.as_secs_f64() * 1e9 / rows as f64,
            longest.as_secs_f64() * 1e6,
        );
    }
}

/// Reads all cells of the files in a directory, past all caches of this program. Returns the
/// nanoseconds of processor time.
fn read_all(directory: &Path) -> u64 {
    let start = cpu_nanos(THREAD);
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
    cpu_nanos(THREAD) - start
}
