//! The cost of writing a file, scanning it and looking a row up, by encoding and codec.
//!
//! A million cells with keys of 16 bytes and values of 100 bytes, half of them compressible. Files are
//! in memory, so that no disk is measured. Lookups have all blocks in the cache and HBase's Bloom filter
//! at 1 %; hits and misses are measured separately.
//!
//! Run with `cargo bench -p benches --bench sstable`. The same work in one table, from a file:
//! `cargo bench -p benches --bench hbase -- alone`.

use std::sync::Arc;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use filter::Seed;
use sstable::{
    BlockCache, Caching, CellRef, Compression, DataBlockEncoding, FileName, ReadTrace, Reader,
    ReaderOptions, RowProbe, SequenceId, Timestamp, Writer, WriterOptions,
};
use workload::{KEY_LEN, Random};

const CELLS: u64 = 1_000_000;
const VALUE_LEN: usize = 100;

type Row = [u8; KEY_LEN];

/// Returns keys in order, with their values.
fn cells() -> Vec<(Row, [u8; VALUE_LEN])> {
    let mut cells: Vec<_> = (0..CELLS)
        .map(|index| {
            let mut value = [0; VALUE_LEN];
            workload::fill_value(1, index, &mut value);
            (workload::key(1, index), value)
        })
        .collect();
    cells.sort_unstable();
    cells
}

/// Returns every encoding with every codec that is measured.
fn every_file() -> impl Iterator<Item = (DataBlockEncoding, Compression)> {
    DataBlockEncoding::ALL.into_iter().flat_map(|encoding| {
        [Compression::None, Compression::Lz4].map(|compression| (encoding, compression))
    })
}

fn options(encoding: DataBlockEncoding, compression: Compression) -> WriterOptions {
    WriterOptions::default().data_block_encoding(encoding).compression(compression)
}

fn every_option() -> impl Iterator<Item = (BenchmarkId, WriterOptions)> {
    every_file().map(|(encoding, compression)| {
        (BenchmarkId::new(encoding.name(), compression), options(encoding, compression))
    })
}

fn write_file(options: WriterOptions, cells: &[(Row, [u8; VALUE_LEN])]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), FileName::new("bench"), options).expect("sound");
    for (row, value) in cells {
        let cell = CellRef::put(row, b"f", b"q", Timestamp::new(1_700_000_000_000), value);
        writer.append(CellRef { sequence_id: SequenceId::new(1), ..cell }).expect("in order");
    }
    writer.finish().expect("memory takes it").0
}

fn open(file: &[u8], options: ReaderOptions) -> Reader {
    let source = Arc::new(Bytes::copy_from_slice(file));
    Reader::open(source, FileName::new("bench"), options).expect("sound")
}

fn write(c: &mut Criterion) {
    let cells = cells();
    let mut group = c.benchmark_group("sstable/write");
    // Unencoded bytes, so that encodings can be compared.
    let plain = write_file(WriterOptions::default(), &cells).len() as u64;
    group.throughput(Throughput::Bytes(plain)).sample_size(10);
    for (id, options) in every_option() {
        group.bench_function(id, |b| b.iter(|| write_file(options.clone(), &cells)));
    }
    group.finish();
}

/// Scans all cells; every block is read from the file, verified and decoded.
fn scan(c: &mut Criterion) {
    let cells = cells();
    let mut group = c.benchmark_group("sstable/scan");
    group.throughput(Throughput::Elements(CELLS)).sample_size(10);
    for (id, options) in every_option() {
        let reader = open(&write_file(options, &cells), ReaderOptions::default());
        group.bench_function(id, |b| {
            b.iter(|| {
                let mut scanner = reader.scanner(Caching::Bypass);
                scanner.seek_to_first().expect("sound");
                let mut bytes = 0;
                while let Some(cell) = scanner.cell() {
                    bytes += cell.value.len();
                    scanner.advance().expect("sound");
                }
                assert_eq!(bytes as u64, CELLS * VALUE_LEN as u64);
            });
        });
    }
    group.finish();
}

fn get(c: &mut Criterion) {
    let cells = cells();
    let mut members: Vec<Row> = cells.iter().map(|(row, _)| *row).collect();
    Random::new(2).shuffle(&mut members);
    members.truncate(10_000);
    let absent: Vec<Row> = (0..10_000).map(|index| workload::key(9, index)).collect();
    let mut group = c.benchmark_group("sstable/get");
    group.throughput(Throughput::Elements(members.len() as u64)).sample_size(10);
    for (encoding, compression) in every_file() {
        let options = options(encoding, compression);
        let cache = Arc::new(BlockCache::new(1 << 30));
        let reader = open(&write_file(options, &cells), ReaderOptions::default().cache(cache));
        for (name, rows) in [("hit", &members), ("miss", &absent)] {
            let look_up = || {
                let mut trace = ReadTrace::default();
                let is_found = |row: &&Row| {
                    let probe = RowProbe::new(&row[..], Seed::new(0));
                    let found = reader.get_row(&probe, &mut trace).expect("sound");
                    found.is_some_and(|scanner| scanner.cell().is_some())
                };
                rows.iter().filter(is_found).count()
            };
            assert_eq!(look_up(), if name == "hit" { rows.len() } else { 0 });
            let id = BenchmarkId::new(format!("{name}/{encoding}"), compression);
            group.bench_function(id, |b| b.iter(look_up));
        }
    }
    group.finish();
}

criterion_group!(benches, write, scan, get);
criterion_main!(benches);
