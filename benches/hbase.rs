//! Our writer and reader beside HBase's reader on the same files: scans, and lookups of present and absent rows.
//!
//! Cells have keys of 16 bytes and values of 100 bytes, half of them compressible. Scans read every block
//! from the file (from the page cache), verify and decode it. Lookups have all blocks in the cache and a
//! Bloom filter of 1 %. HBase's side, a JVM of its own, is asked once for each file and prints its figures.
//!
//! Our rows are looked up one by one, and in "together" by [`begin_together`]. HBase's reader has no counterpart: its
//! `get` of many rows reads one after another. Both sides use one thread, except in "scan ahead": there our side is a
//! [`bulk_scanner`], which reads, verifies and decompresses on a second thread.
//!
//! [`begin_together`]: sstable::lookup::begin_together
//! [`bulk_scanner`]: sstable::Reader::bulk_scanner
//!
//! HBase does less here than for a client: there is no region, memstore or network, and the `Scan` that
//! HBase makes of each `Get` is made beforehand.
//!
//! ```text
//! cargo bench -p benches --bench hbase                            a million cells, and HBase
//! SIZE=50000 ALONE=1 cargo bench -p benches --bench hbase -- FAST_DIFF     without HBase, one encoding
//! ```
//!
//! HBase needs what `tests/hbase-judge/README.md` names.
#![expect(clippy::print_stdout, reason = "the figures of HBase stand beside ours")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use filter::Seed;
use serde_json::Value;
use sstable::lookup::LookupFiles;
use sstable::{
    BlockCache, Caching, CellRef, Compression, DataBlockEncoding, FileName, ReadTrace, Reader,
    ReaderOptions, RowProbe, Scanner, SequenceId, Timestamp, Writer, WriterOptions,
};
use support::judge;
use support::lookup::look_up_together;
use workload::{KEY_LEN, Random, write_hex};

const VALUE_LEN: usize = 100;
const LOOKUPS: usize = 20_000;

type Row = [u8; KEY_LEN];
type Group<'a> = BenchmarkGroup<'a, WallTime>;

fn main() {
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    let mut rows: Vec<(Row, u64)> =
        (0..workload::size(1_000_000)).map(|index| (workload::key(1, index), index)).collect();
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
    let is_alone = std::env::var_os("ALONE").is_some();
    for encoding in DataBlockEncoding::ALL {
        for compression in [Compression::None, Compression::Lz4] {
            let name = format!("{encoding} {compression}");
            let path = dir.path().join("file");
            let options =
                WriterOptions::default().data_block_encoding(encoding).compression(compression);
            let mut group = criterion.benchmark_group(&name);
            group.throughput(Throughput::Elements(rows.len() as u64));
            write_file(&path, options.clone(), &rows);
            group.bench_function("write", |bencher| {
                bencher.iter(|| write_file(&path, options.clone(), &rows));
            });
            scan(&mut group, &path);
            group.throughput(Throughput::Elements(LOOKUPS as u64));
            look_up(&mut group, &path, [("present", &present), ("absent", &absent)]);
            if !is_alone {
                println!("{name}, HBase: {}", ask_hbase(&path, &key_files));
            }
        }
    }
    criterion.final_summary();
}

fn write_file(path: &Path, options: WriterOptions, rows: &[(Row, u64)]) {
    let file = File::create(path).expect("the directory is ours");
    let mut writer = Writer::new(file, FileName::new("bench"), options).expect("sound options");
    let mut value = [0; VALUE_LEN];
    for (row, index) in rows {
        workload::fill_value(1, *index, &mut value);
        let cell = CellRef::put(row, b"f", b"q", Timestamp::new(1_700_000_000_000), &value);
        writer.append(CellRef { sequence_id: SequenceId::new(1), ..cell }).expect("in order");
    }
    writer.finish().expect("the disk has room");
}

fn scan(group: &mut Group<'_>, path: &Path) {
    let reader = Reader::open_file(path, ReaderOptions::default()).expect("sound");
    let scan = |mut scanner: Scanner| {
        scanner.seek_to_first().expect("sound");
        let mut bytes = 0;
        while let Some(cell) = scanner.cell() {
            bytes += cell.value.len();
            scanner.advance().expect("sound");
        }
        assert_eq!(bytes as u64, reader.trailer().entry_count * VALUE_LEN as u64);
    };
    group.bench_function("scan", |bencher| {
        bencher.iter(|| scan(reader.scanner(Caching::Bypass)));
    });
    group.bench_function("scan ahead", |bencher| bencher.iter(|| scan(reader.bulk_scanner())));
}

fn look_up(group: &mut Group<'_>, path: &Path, kinds: [(&str, &Vec<Row>); 2]) {
    let cache = Arc::new(BlockCache::new(1 << 30));
    let cached = Reader::open_file(path, ReaderOptions::default().cache(cache)).expect("sound");
    let files = LookupFiles::new(vec![cached.lookup_file()]).expect("one file");
    for (kind, rows) in kinds {
        let expected = if kind == "present" { rows.len() } else { 0 };
        group.bench_function(format!("{kind} rows"), |bencher| {
            bencher.iter(|| {
                let mut trace = ReadTrace::default();
                let is_found = |row: &&Row| {
                    let found = cached.look_up(&probe(row)).expect("sound");
                    trace.add(&found.trace());
                    found.cell().is_some()
                };
                assert_eq!(rows.iter().filter(is_found).count(), expected);
            });
        });
        group.bench_function(format!("{kind} rows together"), |bencher| {
            bencher.iter(|| {
                let probes: Vec<_> = rows.iter().map(probe).collect();
                let mut found = 0;
                look_up_together(&files, &probes, |_, row| {
                    row.expect("sound").into_scanner();
                    found += 1;
                });
                assert_eq!(found, expected);
            });
        });
    }
}

fn probe(row: &Row) -> RowProbe<'_> {
    RowProbe::new(row, Seed::new(0))
}

/// Returns HBase's figures in words.
fn ask_hbase(path: &Path, [present, absent]: &[String; 2]) -> String {
    let path = path.to_str().expect("the name is ours");
    let answer =
        judge::ask(&["bench", path, "--present", present, "--absent", absent, "--rounds", "5"]);
    assert_eq!(answer["ok"], true, "{answer:#}");
    assert_eq!((&answer["presentFound"], &answer["absentFound"]), (&LOOKUPS.into(), &0.into()));
    let [scan, present, absent] =
        ["scanCellsPerSecond", "presentGetsPerSecond", "absentGetsPerSecond"]
            .map(|name| Value::as_f64(&answer[name]).expect(name) / 1e6);
    format!("scan {scan:.2} M cells/s, present rows {present:.2} M/s, absent rows {absent:.2} M/s")
}
