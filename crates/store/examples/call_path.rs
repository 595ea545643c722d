//! The workloads whose called functions `docs/call-path` lists: gets, scans, puts and flushes.
//!
//! Repeats a workload COUNT times. `docs/call-path` runs this with two counts and subtracts the
//! results, so that opening, warming and closing the store cancel out.
//!
//! ```text
//! call_path DIRECTORY get 1000            1,000 cached gets; one file with HBase's Bloom filter
//! call_path DIRECTORY filtered-get 1000   the same with a blocked Bloom filter
//! call_path DIRECTORY map-get 1000        the same over 16 files with a family map, and 1,000 gets of absent rows
//! call_path DIRECTORY scan 3              3 scans over all rows of that file
//! call_path DIRECTORY put 1000            1,000 puts, and a flush at the end
//! call_path DIRECTORY flush 3             3 times 100 puts and a flush
//! ```

use std::error::Error;
use std::path::Path;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::BloomType;
use store::{Durability, FamilyOptions, Get, Put, Scan, Store, StoreOptions, WriteBatch};

type Failure = Box<dyn Error + Send + Sync>;

/// Rows of the store: some 40 blocks of 64 KiB, one index level.
const ROWS: u64 = 20_000;
/// Files of `map-get`; each has every sixteenth row.
const MAP_FILES: u64 = 16;
/// The first read of a block caches it; further reads decode it for searches.
const WARM_ROUNDS: usize = 3;
/// Puts before each counted flush.
const PUTS: u64 = 100;

fn row(number: u64) -> String {
    format!("row{number:013}")
}

fn value(number: u64) -> Vec<u8> {
    number.to_be_bytes().repeat(12)
}

fn open(directory: &Path, work: &str) -> Result<Store, Failure> {
    let store = Store::open(directory, StoreOptions::default().auto_compaction(false))?;
    if store.families().is_empty() {
        let family = FamilyOptions::default();
        let family = match work {
            "filtered-get" => family
                .bloom_type(BloomType::None)
                .filter(FilterKind::BlockedBloom, Sizing::ErrorRate(ErrorRate::HBASE)),
            _ => family,
        };
        store.create_family("f", family)?;
    }
    Ok(store)
}

/// Fills the store with `files` files that overlap, unless it is filled already.
fn fill(store: &Store, files: u64) -> Result<(), Failure> {
    if !store.get(&Get::row(row(0)).column("f", "q"))?.is_empty() {
        return Ok(());
    }
    for file in 0..files {
        let mut batch = WriteBatch::new();
        for number in (file..ROWS).step_by(usize::try_from(files)?) {
            batch.put(Put::new(row(number)).column("f", "q", value(number)));
        }
        store.write(batch, Durability::Skip)?;
        store.flush()?;
    }
    Ok(())
}

/// Fills the cache with the rows of `queries`, and checks that each is as written.
fn warm_up(store: &Store, queries: &[Get]) -> Result<(), Failure> {
    for _ in 0..WARM_ROUNDS {
        for (number, query) in (0..).zip(queries) {
            let cells = store.get(query)?;
            assert!(
                cells.len() == 1 && cells[0].value() == value(number),
                "row {number} as written"
            );
        }
    }
    Ok(())
}

/// A get whose answer has `count` cells.
fn get(store: &Store, query: &Get, count: usize) -> Result<(), Failure> {
    assert_eq!(store.get(query)?.len(), count, "cells of the answer");
    Ok(())
}

fn gets(store: &Store, count: u64) -> Result<(), Failure> {
    fill(store, 1)?;
    // Built in advance, because the construction of a get is not part of the read path.
    let queries: Vec<Get> =
        (0..ROWS).map(|number| Get::row(row(number)).column("f", "q")).collect();
    warm_up(store, &queries)?;
    // A step that is coprime to the number of rows visits all rows out of order.
    (0..count).try_for_each(|number| get(store, &queries[(number * 7919 % ROWS) as usize], 1))
}

/// One round is a get of a present row and a get of an absent row.
fn map_gets(store: &Store, count: u64) -> Result<(), Failure> {
    fill(store, MAP_FILES)?;
    store.build_family_maps();
    let map = store.stats().family("f").and_then(|family| family.map);
    let covered = map.map_or(0, |map| map.covered_files);
    assert_eq!(covered, MAP_FILES, "the map covers all files");
    let query = |row: String| Get::row(row).column("f", "q");
    let present: Vec<Get> = (0..ROWS).map(|number| query(row(number))).collect();
    let absent: Vec<Get> = (0..ROWS).map(|number| query(row(number) + "x")).collect();
    warm_up(store, &present)?;
    (0..count).map(|number| (number * 7919 % ROWS) as usize).try_for_each(|number| {
        get(store, &present[number], 1)?;
        get(store, &absent[number], 0)
    })
}

fn scans(store: &Store, count: u64) -> Result<(), Failure> {
    fill(store, 1)?;
    // The first scan fills the cache.
    for _ in 0..=count {
        let mut cells = store.scan(Scan::family("f"))?;
        let mut number = 0;
        while let Some(cell) = cells.next_ref()? {
            assert!(cell.row == row(number).as_bytes(), "row {number} is next");
            number += 1;
        }
        assert_eq!(number, ROWS, "all rows");
    }
    Ok(())
}

fn put(store: &Store, numbers: std::ops::Range<u64>) -> Result<(), Failure> {
    for number in numbers {
        store.put(Put::new(row(number)).column("f", "q", value(number)))?;
    }
    Ok(store.flush()?)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: call_path DIRECTORY get|filtered-get|map-get|scan|put|flush COUNT";
    let [directory, work, count] = &arguments[..] else { return Err(usage.into()) };
    let store = open(Path::new(directory), work)?;
    match &work[..] {
        "get" | "filtered-get" => gets(&store, count.parse()?),
        "map-get" => map_gets(&store, count.parse()?),
        "scan" => scans(&store, count.parse()?),
        "put" => put(&store, 0..count.parse()?),
        "flush" => {
            let rounds = 0..count.parse()?;
            rounds
                .map(|round| round * PUTS..(round + 1) * PUTS)
                .try_for_each(|numbers| put(&store, numbers))
        }
        _ => Err(usage.into()),
    }
}
