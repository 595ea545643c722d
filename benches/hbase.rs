//! Our reader beside HBase's on the same files: scans, and lookups of present and absent rows.
//!
//! Cells have keys of 16 bytes and values of 100 bytes, half of them compressible. Scans read every block
//! from the file (from the page cache), verify and decode it. Lookups have all blocks in the cache and a
//! Bloom filter of 1 %. Both sides run as many warm-up rounds as timed rounds, and the median counts.
//! The two sides take turns several times, because the load of the machine varies; a ratio is taken in
//! each turn, and the median over the turns is printed.
//!
//! Our rows are looked up one by one, and in the columns "batch" by [`begin_together`], in batches. HBase's reader has no counterpart: its `get` of many rows reads one after another.
//!
//! Both sides use one thread, except in the column "ahead": there our side is a [`bulk_scanner`], which
//! reads, verifies and decompresses on a second thread. Beside each of our scans, the table shows the
//! processor time per cell of all threads, in nanoseconds, from the kernel's ticks of 10 ms.
//!
//! [`begin_together`]: sstable::engine::begin_together
//! [`bulk_scanner`]: sstable::Reader::bulk_scanner
//!
//! HBase does less here than for a client: there is no region, memstore or network, and the `Scan` that
//! HBase makes of each `Get` is made beforehand.
//!
//! Run with `cargo bench -p benches --bench hbase [-- [CELLS] [alone] [ENCODING…]]`. CELLS defaults to a
//! million. `alone` leaves HBase out; otherwise the program needs what `tests/hbase-judge/README.md`
//! names. Without an ENCODING it measures all.
#![expect(clippy::print_stdout, reason = "the program prints a table")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use filter::Seed;
use serde_json::Value;
use sstable::engine::LookupFiles;
use sstable::{
    BlockCache, Caching, CellRef, Compression, DataBlockEncoding, FileName, ReadTrace, Reader,
    ReaderOptions, RowProbe, Scanner, SequenceId, Timestamp, Writer, WriterOptions,
};
use support::judge;
use support::lookup::look_up_together;
use workload::cpu_time::cpu_nanos_of_all;
use workload::{KEY_LEN, Random};
use workload::{median, write_hex};

const VALUE_LEN: usize = 100;
const LOOKUPS: usize = 20_000;
const ROUNDS: usize = 5;
/// Turns of each side per file.
const TURNS: usize = 7;

type Row = [u8; KEY_LEN];

/// Cells or rows per second, of one file and reader.
struct Speed {
    cells: f64,
    hits: f64,
    misses: f64,
}

/// Our figures for one file.
struct Ours {
    speed: Speed,
    /// Cells per second of a scan that reads ahead.
    cells_ahead: f64,
    /// Rows per second, looked up [`BATCH`] at a time.
    hits_at_once: f64,
    misses_at_once: f64,
    /// Processor nanoseconds per cell, of a scan without and with read-ahead.
    cpu: [f64; 2],
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let cells = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let alone = arguments.iter().any(|argument| argument == "alone");
    let mut encodings = DataBlockEncoding::ALL.to_vec();
    encodings.retain(|encoding| arguments.iter().any(|argument| argument == encoding.name()));
    if encodings.is_empty() {
        encodings = DataBlockEncoding::ALL.to_vec();
    }

    let mut rows: Vec<(Row, u64)> =
        (0..cells).map(|index| (workload::key(1, index), index)).collect();
    rows.sort_unstable();
    let mut present: Vec<Row> = rows.iter().map(|(row, _)| *row).collect();
    Random::new(2).shuffle(&mut present);
    present.truncate(LOOKUPS);
    let absent: Vec<Row> = (0..LOOKUPS as u64).map(|index| workload::key(9, index)).collect();

    let dir = tempfile::tempdir().expect("there is a place for files");
    let key_files = [("present", &present), ("absent", &absent)].map(|(name, rows)| {
        let path = dir.path().join(name);
        write_hex(&path, rows).expect("the disk has room");
        path.to_str().expect("the name is ours").to_owned()
    });
    print_head(alone);
    for encoding in encodings {
        for compression in [Compression::None, Compression::Lz4] {
            let path = dir.path().join("file");
            let options =
                WriterOptions::default().data_block_encoding(encoding).compression(compression);
            let turns = [(); TURNS].map(|()| {
                let written = write_file(&path, options.clone(), &rows);
                let ours = measure(&path, &present, &absent);
                let theirs = (!alone).then(|| ask_hbase(&path, &key_files));
                figures(written, &ours, theirs.as_ref())
            });
            print_row(&format!("{encoding} | {compression}"), &turns);
        }
    }
}

fn print_head(alone: bool) {
    let scan = "scan M cells/s | CPU ns | ahead M cells/s | CPU ns";
    let scan = format!("{scan} |{}", if alone { "" } else { " HBase | × | ahead × |" });
    let names = if alone { "" } else { " HBase | × | batch × |" };
    let lookups =
        ["hits M/s", "misses M/s"].map(|column| format!(" {column} | batch |{names}")).concat();
    let head = format!("| encoding | codec | write MB/s | {scan}{lookups}");
    println!("{head}\n|---|---|{}", "--:|".repeat(head.matches('|').count() - 3));
}

/// The figures of one turn in their order, each with its number of printed digits.
fn figures(written: f64, ours: &Ours, theirs: Option<&Speed>) -> Vec<(f64, usize)> {
    let mut figures = vec![(written, 0)];
    let mut compare = |ours: [f64; 2], cpu: Option<[f64; 2]>, theirs: Option<f64>| {
        for (number, per_second) in ours.into_iter().enumerate() {
            figures.push((per_second / 1e6, 2));
            figures.extend(cpu.map(|cpu| (cpu[number], 0)));
        }
        if let Some(theirs) = theirs {
            figures.push((theirs / 1e6, 2));
            figures.extend(ours.map(|ours| (ours / theirs, 1)));
        }
    };
    compare([ours.speed.cells, ours.cells_ahead], Some(ours.cpu), theirs.map(|speed| speed.cells));
    compare([ours.speed.hits, ours.hits_at_once], None, theirs.map(|speed| speed.hits));
    compare([ours.speed.misses, ours.misses_at_once], None, theirs.map(|speed| speed.misses));
    figures
}

/// Prints the median of each figure over the turns.
fn print_row(name: &str, turns: &[Vec<(f64, usize)>; TURNS]) {
    print!("| {name} |");
    for (column, (_, digits)) in turns[0].iter().enumerate() {
        print!(" {:.digits$} |", median(turns.iter().map(|turn| turn[column].0)));
    }
    println!();
}

/// Writes the file. Returns unencoded megabytes of cells per second.
fn write_file(path: &Path, options: WriterOptions, rows: &[(Row, u64)]) -> f64 {
    let start = Instant::now();
    let file = File::create(path).expect("the directory is ours");
    let mut writer = Writer::new(file, FileName::new("bench"), options).expect("sound options");
    let (mut value, mut bytes) = ([0; VALUE_LEN], 0);
    for (row, index) in rows {
        workload::fill_value(1, *index, &mut value);
        let cell = CellRef::put(row, b"f", b"q", Timestamp::new(1_700_000_000_000), &value);
        let cell = CellRef { sequence_id: SequenceId::new(1), ..cell };
        bytes += 9 + cell.key().flat_len() + VALUE_LEN;
        writer.append(cell).expect("in order");
    }
    writer.finish().expect("the disk has room");
    bytes as f64 / 1e6 / start.elapsed().as_secs_f64()
}

fn measure(path: &Path, present: &[Row], absent: &[Row]) -> Ours {
    let uncached = Reader::open_file(path, ReaderOptions::default()).expect("sound");
    let cells = uncached.trailer().entry_count as f64;
    let scan = |mut scanner: Scanner| {
        scanner.seek_to_first().expect("sound");
        let mut bytes = 0;
        while let Some(cell) = scanner.cell() {
            bytes += cell.value.len();
            scanner.advance().expect("sound");
        }
        assert_eq!(bytes as u64, uncached.trailer().entry_count * VALUE_LEN as u64);
    };
    let (by_itself, cpu_by_itself) = time(|| scan(uncached.scanner(Caching::Bypass)));
    let (ahead, cpu_ahead) = time(|| scan(uncached.bulk_scanner()));
    let cache = Arc::new(BlockCache::new(1 << 30));
    let cached = Reader::open_file(path, ReaderOptions::default().cache(cache)).expect("sound");
    let look_up = |rows: &[Row], expected: usize| {
        let mut trace = ReadTrace::default();
        let is_found = |row: &&Row| {
            let probe = RowProbe::new(&row[..], Seed::new(0));
            let found = cached.get_row(&probe, &mut trace).expect("sound");
            found.is_some_and(|scanner| scanner.cell().is_some())
        };
        assert_eq!(rows.iter().filter(is_found).count(), expected);
    };
    let files = LookupFiles::new(vec![cached.lookup_file()]);
    let at_once = |rows: &[Row], expected: usize| {
        let probes: Vec<_> = rows.iter().map(|row| RowProbe::new(&row[..], Seed::new(0))).collect();
        let mut found = 0;
        look_up_together(&files, &probes, |_, row| {
            row.expect("sound").into_scanner();
            found += 1;
        });
        assert_eq!(found, expected);
    };
    let per_second = |rows: &[Row], look_up: &dyn Fn(&[Row], usize), expected: usize| {
        rows.len() as f64 / time(|| look_up(rows, expected)).0
    };
    let hits_at_once = per_second(present, &at_once, present.len());
    let misses_at_once = per_second(absent, &at_once, 0);
    let speed = Speed {
        cells: cells / by_itself,
        hits: per_second(present, &look_up, present.len()),
        misses: per_second(absent, &look_up, 0),
    };
    let cpu = [cpu_by_itself, cpu_ahead].map(|nanos| nanos / cells);
    Ours { speed, cells_ahead: cells / ahead, hits_at_once, misses_at_once, cpu }
}

/// Returns the median seconds of the timed rounds, and their mean processor time in nanoseconds.
fn time(mut round: impl FnMut()) -> (f64, f64) {
    let mut time = || {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).for_each(|_| _ = time());
    let before = cpu_nanos_of_all();
    let rounds: Vec<f64> = (0..ROUNDS).map(|_| time()).collect();
    let cpu = cpu_nanos_of_all() - before;
    (median(rounds), cpu as f64 / ROUNDS as f64)
}

fn ask_hbase(path: &Path, [present, absent]: &[String; 2]) -> Speed {
    let path = path.to_str().expect("the name is ours");
    let rounds = ROUNDS.to_string();
    let question = ["bench", path, "--present", present, "--absent", absent, "--rounds", &rounds];
    let answer = judge::ask(&question);
    assert_eq!(answer["ok"], true, "{answer:#}");
    assert_eq!((&answer["presentFound"], &answer["absentFound"]), (&LOOKUPS.into(), &0.into()));
    let number = |name: &str| Value::as_f64(&answer[name]).expect(name);
    Speed {
        cells: number("scanCellsPerSecond"),
        hits: number("presentGetsPerSecond"),
        misses: number("absentGetsPerSecond"),
    }
}
