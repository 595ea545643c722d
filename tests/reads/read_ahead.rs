//! Scans with read-ahead return the same cells, the same errors at the same cell and the same
//! counts as scans without, also after seeks and if the read-ahead thread dies.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use bytes::Bytes;
use sstable::{
    BlockOffset, BlockType, Caching, Cell, CellRef, ChecksumType, Compression, DataBlockEncoding,
    FileName, KeyRef, ReadAt, ReadTrace, Reader, ReaderOptions, Result, Scanner, Timestamp, Writer,
    WriterOptions,
};
use support::fixtures::Fixture;
use support::{Random, say};

const ROWS: usize = 2000;

/// Returns a file of small blocks and three index levels, so that index blocks lie between data
/// blocks.
fn file(encoding: DataBlockEncoding, options: WriterOptions) -> Bytes {
    let options = options.data_block_encoding(encoding).block_size(600).index_block_size(500);
    let mut writer = Writer::new(Vec::new(), FileName::new("written"), options).unwrap();
    for row in 0..ROWS {
        let (key, value) = (row_key(row), vec![b'v'; row % 50]);
        let put = |qualifier| CellRef::put(&key, b"f", qualifier, Timestamp::new(9), &value);
        writer.append(put(b"a")).unwrap();
        writer.append(put(b"b")).unwrap();
    }
    writer.finish().unwrap().0.into()
}

fn row_key(row: usize) -> Vec<u8> {
    format!("row{row:06}").into_bytes()
}

fn open(source: impl ReadAt + 'static) -> Result<Reader> {
    Reader::open(Arc::new(source), FileName::new("file"), ReaderOptions::default())
}

/// Returns a file for each encoding and each supported codec.
fn files() -> Vec<(String, Bytes)> {
    let codecs = || Compression::ALL.into_iter().filter(|codec| codec.is_supported());
    let both = DataBlockEncoding::ALL
        .into_iter()
        .flat_map(|encoding| codecs().map(move |of| (encoding, of)));
    both.map(|(encoding, codec)| {
        let file = file(encoding, WriterOptions::default().compression(codec));
        (format!("{encoding} {codec}"), file)
    })
    .collect()
}

/// Scans a whole file; returns its cells, the first error, and the trace.
fn scan(mut scanner: Scanner) -> (Vec<Cell>, Option<String>, ReadTrace) {
    let (mut cells, mut outcome) = (Vec::new(), scanner.seek_to_first());
    while let Some(cell) = scanner.cell().filter(|_| outcome.is_ok()) {
        cells.push(cell.to_cell());
        outcome = scanner.advance();
        if cells.len() % 500 == 100 {
            // Gives the thread time to start and to read ahead.
            thread::sleep(Duration::from_micros(200));
        }
    }
    (cells, outcome.err().map(|error| format!("{error:?}")), scanner.take_trace())
}

/// Compares scans with and without read-ahead; returns the cells and the error.
fn scan_both(reader: &Reader, what: &str) -> (Vec<Cell>, Option<String>) {
    let (cells, error, trace) = scan(reader.scanner(Caching::Bypass));
    let (cells_ahead, error_ahead, trace_ahead) = scan(reader.bulk_scanner());
    assert_eq!((cells_ahead.len(), &error_ahead), (cells.len(), &error), "{what}");
    assert!(cells_ahead == cells, "{what}");
    assert_eq!(trace_ahead, trace, "{what}");
    (cells, error)
}

#[test]
fn read_ahead_changes_no_cell_and_no_count_in_any_encoding_and_codec() {
    let files = files();
    for (name, bytes) in &files {
        let reader = open(bytes.clone()).unwrap();
        assert!(reader.index().levels() >= 3, "{name}: {} levels", reader.index().levels());
        let (cells, error) = scan_both(&reader, name);
        assert_eq!((cells.len(), error), (2 * ROWS, None), "{name}");
    }
    let mut long = 0;
    for fixture in Fixture::all() {
        let reader = Reader::open_file(&fixture.path, ReaderOptions::default()).unwrap();
        let (cells, error) = scan_both(&reader, &fixture.name);
        assert_eq!(error, None, "{}", fixture.name);
        assert!(cells == fixture.cells(), "{}", fixture.name);
        long += u64::from(data_blocks(&reader).len() > 3);
    }
    assert!(long > 10, "only {long} files of HBase are long enough to be read ahead");
    say(&format!("ahead: {} files of ours, {long} of HBase's", files.len()));
}

#[test]
fn read_ahead_reports_damage_at_the_same_cell() {
    let (mut errors, mut inside) = (0, 0);
    for encoding in DataBlockEncoding::ALL {
        // Without checksums damage is found in the cells, if at all.
        for checksum in [ChecksumType::Crc32c, ChecksumType::Null] {
            let bytes = file(encoding, WriterOptions::default().checksum(checksum));
            let reader = open(bytes.clone()).unwrap();
            let first_cells = first_cells(&reader);
            for (at, len) in data_blocks(&reader).into_iter().step_by(23) {
                for place in [3, 12, 20, 26, 33, 35, 40, len / 2, len - 5] {
                    let mut damaged = bytes.to_vec();
                    damaged[at.get() as usize + place as usize] ^= 0x81;
                    let what = format!("{encoding} {checksum}, byte {place} of the block at {at}");
                    let (cells, error) = scan_both(&open(Bytes::from(damaged)).unwrap(), &what);
                    errors += u64::from(error.is_some());
                    inside += u64::from(error.is_some() && !first_cells.contains(&cells.len()));
                }
            }
        }
    }
    assert!(errors > 400 && inside > 50, "{errors} errors, {inside} of them within a block");
    say(&format!("ahead: {errors} damaged files, {inside} of them within a block"));
}

/// Returns the numbers of the first cells of all blocks.
fn first_cells(reader: &Reader) -> HashSet<usize> {
    let mut scanner = reader.scanner(Caching::Bypass);
    scanner.seek_to_first().unwrap();
    let (mut starts, mut blocks) = (HashSet::new(), 0);
    for number in 0.. {
        if scanner.cell().is_none() {
            break;
        }
        let now = scanner.trace().data_blocks();
        if now != blocks {
            starts.insert(number);
            blocks = now;
        }
        scanner.advance().unwrap();
    }
    starts
}

/// Returns the offsets and lengths of the data blocks.
fn data_blocks(reader: &Reader) -> Vec<(BlockOffset, u64)> {
    let is_data = |block_type| matches!(block_type, BlockType::Data | BlockType::EncodedData);
    let blocks = reader.blocks().headers().map(Result::unwrap);
    blocks
        .filter(|(_, header)| is_data(header.block_type))
        .map(|(at, header)| (at, header.len()))
        .collect()
}

/// A source that can fail and records the reading threads.
struct Watched {
    bytes: Bytes,
    fails_at: Option<u64>,
    /// If set, reads in other threads panic.
    only_thread: Option<ThreadId>,
    threads: Arc<Mutex<HashSet<ThreadId>>>,
}

impl Watched {
    fn new(bytes: Bytes) -> Self {
        Self { bytes, fails_at: None, only_thread: None, threads: Arc::default() }
    }
}

impl ReadAt for Watched {
    fn len(&self) -> u64 {
        ReadAt::len(&self.bytes)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let thread = thread::current().id();
        assert!(
            self.only_thread.is_none_or(|only| only == thread),
            "a panic of the read-ahead thread"
        );
        self.threads.lock().unwrap().insert(thread);
        let end = offset + buffer.len() as u64;
        if self.fails_at.is_some_and(|fails| (offset..end).contains(&fails)) {
            return Err(io::Error::other("a bad sector"));
        }
        self.bytes.read_exact_at(buffer, offset)
    }
}

#[test]
fn read_ahead_reports_a_failing_source_at_the_same_cell() {
    let bytes = file(DataBlockEncoding::None, WriterOptions::default());
    let mut blocks = data_blocks(&open(bytes.clone()).unwrap());
    // The last 32 KiB are read when the file is opened.
    blocks.retain(|(at, len)| at.get() + len + (33 << 10) < bytes.len() as u64);
    assert!(blocks.len() > 100);
    for (at, len) in blocks.into_iter().step_by(11) {
        let source = Watched { fails_at: Some(at.get() + len / 2), ..Watched::new(bytes.clone()) };
        let (cells, error) = scan_both(&open(source).unwrap(), &format!("sector at {at}"));
        assert!(cells.len() < 2 * ROWS && error.unwrap().contains("a bad sector"));
    }
}

#[test]
fn a_scan_continues_without_a_dead_read_ahead_thread() {
    let bytes = file(DataBlockEncoding::FastDiff, WriterOptions::default());
    let source = Watched { only_thread: Some(thread::current().id()), ..Watched::new(bytes) };
    let reader = open(source).unwrap();
    let (cells, error, trace) = scan(reader.bulk_scanner());
    let (expected, _, once) = scan(reader.scanner(Caching::Bypass));
    assert!(cells == expected && error.is_none(), "{} cells, {error:?}", cells.len());
    // Blocks that the thread had read are read again.
    assert!(trace.data_blocks() >= once.data_blocks());
}

#[test]
fn only_long_scans_start_a_thread_and_its_unused_blocks_are_counted() {
    let source = Watched::new(file(DataBlockEncoding::None, WriterOptions::default()));
    let threads = Arc::clone(&source.threads);
    let reader = open(source).unwrap();
    let mut scanner = reader.bulk_scanner();
    let go_to_block = |scanner: &mut Scanner, number| {
        while scanner.trace().data_blocks() < number {
            scanner.advance().unwrap();
        }
        thread::sleep(Duration::from_millis(10));
        threads.lock().unwrap().len()
    };
    scanner.seek_to_first().unwrap();
    assert_eq!(go_to_block(&mut scanner, 2), 1, "a scan of two blocks starts no thread");
    let mut block = 3;
    while go_to_block(&mut scanner, block) < 2 {
        block += 1;
        assert!(block < 100, "a scan of a hundred blocks starts no thread");
    }
    assert_eq!(scanner.trace().data_blocks(), block, "blocks count when the scan reaches them");
    scanner.retreat().unwrap();
    // One more is the block that the scan turns back to.
    assert!(
        scanner.trace().data_blocks() > block + 1,
        "unused blocks count when the scan turns back"
    );
    scan(reader.scanner(Caching::Bypass));
    assert_eq!(threads.lock().unwrap().len(), 2, "only long scans start a thread");
}

/// The scanner owns the file; no thread holds it afterwards.
#[test]
fn the_thread_has_ended_when_a_scanner_is_dropped() {
    let bytes =
        file(DataBlockEncoding::Diff, WriterOptions::default().compression(Compression::Gz));
    for cells in [0, 1, 100, 500, 2 * ROWS] {
        let source: Arc<dyn ReadAt> = Arc::new(bytes.clone());
        let name = FileName::new("file");
        let reader = Reader::open(Arc::clone(&source), name, ReaderOptions::default()).unwrap();
        let mut scanner = reader.bulk_scanner();
        drop(reader);
        scanner.seek_to_first().unwrap();
        (0..cells).for_each(|_| scanner.advance().unwrap());
        assert!(Arc::strong_count(&source) > 1);
        drop(scanner);
        assert_eq!(Arc::strong_count(&source), 1, "after {cells} cells");
    }
}

#[test]
fn seeks_and_backward_steps_work_as_without_read_ahead() {
    for (name, bytes) in files() {
        let reader = open(bytes).unwrap();
        let (mut plain, mut ahead) = (reader.scanner(Caching::Bypass), reader.bulk_scanner());
        let mut random = Random::new(7);
        for step in 0..60 {
            let row = row_key(random.below(ROWS));
            let key = KeyRef::before_column(&row, b"f", b"b");
            let way = random.below(6);
            let mut back = random.below(40);
            let go = |scanner: &mut Scanner| match way {
                0 => scanner.seek_to_first(),
                1 => scanner.seek_to_last(),
                2 => scanner.seek_before(key),
                3 => (0..back).try_for_each(|_| scanner.retreat()),
                _ => scanner.seek(key),
            };
            for scanner in [&mut plain, &mut ahead] {
                go(scanner).unwrap();
            }
            back = random.below(400);
            for _ in 0..back {
                assert_eq!(ahead.cell(), plain.cell(), "{name}, step {step}");
                plain.advance().unwrap();
                ahead.advance().unwrap();
            }
            assert_eq!(ahead.cell(), plain.cell(), "{name}, step {step}");
        }
    }
}

#[test]
fn blocks_too_large_for_read_ahead_are_read_when_the_scan_reaches_them() {
    let options = WriterOptions::default().compression(Compression::Lz4).block_size(2000);
    let mut writer = Writer::new(Vec::new(), FileName::new("large"), options).unwrap();
    let value = vec![b'v'; 3 << 20];
    for row in 0..ROWS {
        let value = if row % 500 < 3 { &value[..] } else { &value[..100] };
        let cell = CellRef::put(&row_key(row), b"f", b"q", Timestamp::new(9), value).to_cell();
        writer.append(cell.as_ref()).unwrap();
    }
    let bytes = Bytes::from(writer.finish().unwrap().0);
    let (cells, error) = scan_both(&open(bytes).unwrap(), "large blocks");
    assert_eq!((cells.len(), error), (ROWS, None));
}

#[test]
fn scanners_that_read_ahead_are_send_and_sync() {
    fn is_free<T: Send + Sync>(_: &T) {}
    let reader = open(file(DataBlockEncoding::Prefix, WriterOptions::default())).unwrap();
    let mut scanner = reader.bulk_scanner();
    is_free(&scanner);
    scanner.seek_to_first().unwrap();
    (0..ROWS).for_each(|_| scanner.advance().unwrap());
    let rest = thread::spawn(move || {
        let mut rest = 0;
        while scanner.cell().is_some() {
            rest += 1;
            scanner.advance().unwrap();
        }
        rest
    });
    assert_eq!(rest.join().unwrap(), ROWS);
}
