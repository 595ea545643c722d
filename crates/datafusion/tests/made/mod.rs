//! Files that the tests make.

use std::ops::Range;
use std::sync::Arc;

use sstable::{
    BlockKind, BlockSource, Caching, CellRef, FileName, KeyRef, ReadTrace, Reader, ReaderOptions,
    Timestamp, Writer, WriterOptions,
};

fn row(number: usize) -> Vec<u8> {
    format!("row{number:05}").into_bytes()
}

fn bytes(rows: Range<usize>) -> Vec<u8> {
    let options = WriterOptions::default().block_size(1024);
    let mut writer = Writer::new(Vec::new(), FileName::new("made.hfile"), options).expect("memory");
    for number in rows {
        let row = row(number);
        writer.append(CellRef::put(&row, b"f", b"q", Timestamp::new(5), &row)).expect("in order");
    }
    writer.finish().expect("memory").0
}

fn open(bytes: Vec<u8>) -> Reader {
    let name = FileName::new("made.hfile");
    Reader::open(Arc::new(bytes::Bytes::from(bytes)), name, ReaderOptions::default()).expect("ours")
}

/// Returns a file with one cell in each row, in small blocks.
pub(crate) fn hfile(rows: Range<usize>) -> Reader {
    open(bytes(rows))
}

/// Returns a file of 5,000 rows with a damaged data block in its middle.
pub(crate) fn damaged_hfile() -> Reader {
    let mut bytes = bytes(0..5000);
    let middle = bytes.windows(8).position(|text| text == row(2500)).expect("plain text");
    bytes[middle + 2] ^= 1;
    open(bytes)
}

/// Returns the cells of a range of rows as the file's scanner has them, and its counters.
pub(crate) fn rows_of(reader: &Reader, start: usize, stop: usize) -> (usize, ReadTrace) {
    let mut scanner = reader.scanner(Caching::Bypass);
    scanner.seek(KeyRef::before_row(&row(start))).expect("sound");
    let mut cells = 0;
    while scanner.cell().is_some_and(|cell| cell.row < &row(stop)[..]) {
        cells += 1;
        scanner.advance().expect("sound");
    }
    let trace = scanner.take_trace();
    assert!(trace.blocks(BlockKind::Data, BlockSource::File) > 0);
    (cells, trace)
}
