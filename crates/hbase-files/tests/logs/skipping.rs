//! Reading on after damage inside a log, and the search for the next sound entries.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use hbase_files::wal::{End, Error, LogEntry, LogPart, Reader, SkipEnd, SkippedBytes};
use sstable::{CellRef, FileName, ReadAt};

use crate::files::{bytes, open, read};
use support::cells::PUT;
use support::plain_log::{EntryKey, PlainLog};

const REGION: &str = "0123456789abcdef0123456789abcdef";

/// Reads all entries, and skips damage.
fn read_on(bytes: Vec<u8>) -> (Vec<LogEntry>, Vec<SkippedBytes>) {
    let mut reader = open(bytes).expect("a log");
    let (mut entries, mut skipped) = (Vec::new(), Vec::new());
    while let Some(entry) = reader.next() {
        match entry {
            Ok(entry) => entries.push(entry),
            Err(_) => skipped.extend(reader.skip_damage().expect("memory")),
        }
    }
    assert_eq!(reader.skip_damage().expect("memory"), None, "there was no error");
    (entries, skipped)
}

fn key(sequence: u64) -> EntryKey<'static> {
    EntryKey { region: REGION, table: "t", sequence, write_time: 1, padding: 0 }
}

fn put(value: &[u8]) -> CellRef<'_> {
    CellRef { row: b"row", value, ..PUT }
}

/// Returns a log of entries with these sequence ids, and their offsets.
fn log(sequences: &[u64]) -> (PlainLog, Vec<usize>) {
    let mut log = PlainLog::new();
    let offsets = sequences.iter().map(|sequence| log.entry(key(*sequence), &[put(b"value")]));
    let offsets = offsets.collect();
    (log, offsets)
}

fn sequences(entries: &[LogEntry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.sequence).collect()
}

#[test]
fn a_log_without_dictionaries_is_read_on_after_a_damaged_entry() {
    for name in ["plain.open", "plain.meta"] {
        let whole = bytes(name);
        let (entries, _) = read(whole.clone()).expect("a log");
        for (index, damaged) in entries.iter().enumerate() {
            let mut changed = whole.clone();
            let at = damaged.offset as usize;
            changed[at..at + 6].fill(0xff);
            let (found, skipped) = read_on(changed);
            let expected: Vec<&LogEntry> =
                entries.iter().filter(|entry| *entry != damaged).collect();
            assert!(found.iter().eq(expected), "{name}, entry {index}");
            let is_last = index + 1 == entries.len();
            let end = if is_last { SkipEnd::NoEntries } else { SkipEnd::Entries };
            let expected = SkippedBytes { offset: damaged.offset, bytes: damaged.len, end };
            assert_eq!(skipped, [expected], "{name}, entry {index}");
        }
    }
}

#[test]
fn a_log_with_dictionaries_ends_at_a_damaged_entry() {
    let whole = bytes("dictionary.open");
    let (entries, _) = read(whole.clone()).expect("a log");
    let offset = entries[5].offset;
    let mut changed = whole.clone();
    changed[offset as usize..][..6].fill(0xff);
    let (found, skipped) = read_on(changed);
    assert_eq!(found, entries[..5]);
    let bytes = whole.len() as u64 - offset;
    assert_eq!(skipped, [SkippedBytes { offset, bytes, end: SkipEnd::Dictionaries }]);
    let text = skipped[0].to_string();
    assert!(text.contains("because its entries need the dictionaries of those before"), "{text}");
}

#[test]
fn entries_of_a_copy_of_a_log_in_a_value_are_not_read() {
    let copied = log(&[1, 2, 3, 4, 5]).0.bytes;
    let mut log = PlainLog::new();
    log.entry(key(6), &[put(b"value")]);
    let damaged = log.entry(key(7), &[put(&copied)]);
    for sequence in 8..12 {
        log.entry(key(sequence), &[put(b"value")]);
    }
    log.bytes[damaged] = 0xff;
    log.bytes[damaged + 1] = 0xff;
    let (found, skipped) = read_on(log.bytes);
    assert_eq!(sequences(&found), [6, 8, 9, 10, 11]);
    assert_eq!(skipped.len(), 1);
}

/// A log that is cut off in a value which holds the log so far is torn, not damaged.
#[test]
fn a_log_cut_off_in_a_copy_of_itself_is_torn() {
    let (mut log, _) = log(&[1, 2, 3, 4, 5]);
    let copied = log.bytes.repeat(2);
    let offset = log.entry(key(6), &[put(&copied)]) as u64;
    log.bytes.pop();
    let bytes = log.bytes.len() as u64 - offset;
    let (entries, end) = read(log.bytes).expect("a log");
    assert_eq!(sequences(&entries), [1, 2, 3, 4, 5]);
    assert_eq!(end.expect("torn"), End::Torn { offset, bytes, part: LogPart::Entry });
}

/// After `restore_snapshot`, the sequence ids of a region begin again at the id of the snapshot.
#[test]
fn a_log_of_a_restored_region_is_read_on() {
    let (mut log, offsets) = log(&[8, 9, 3, 4, 5, 6, 7]);
    log.bytes[offsets[3]] = 0;
    assert_eq!(sequences(&read_on(log.bytes).0), [8, 9, 3, 5, 6, 7]);
}

#[test]
fn fewer_than_three_entries_are_enough_only_before_a_sound_end() {
    let (log, offsets) = log(&[1, 2, 3, 4]);
    let mut damaged = log.bytes.clone();
    damaged[offsets[1]] = 0;
    assert_eq!(sequences(&read_on(damaged.clone()).0), [1, 3, 4]);
    let closed = [&damaged[..], b"\0\0\0\0LAWP"].concat();
    assert_eq!(sequences(&read_on(closed).0), [1, 3, 4]);
    damaged.pop();
    let (found, skipped) = read_on(damaged);
    assert_eq!(sequences(&found), [1]);
    assert_eq!(skipped[0].end, SkipEnd::NoEntries);
}

#[test]
fn two_damaged_entries_are_skipped_one_by_one() {
    let (log, offsets) = log(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let mut damaged = log.bytes;
    damaged[offsets[1]] = 0;
    damaged[offsets[5]] = 0;
    let (found, skipped) = read_on(damaged);
    assert_eq!(sequences(&found), [1, 3, 4, 5, 7, 8, 9]);
    let at: Vec<u64> = skipped.iter().map(|skipped| skipped.offset).collect();
    assert_eq!(at, [offsets[1] as u64, offsets[5] as u64]);
}

/// The length of a key has from one to four bytes.
#[test]
fn an_entry_with_a_key_of_any_length_is_found() {
    for padding in [0, 1, 60, 70, 80, 90, 200, 16_300, 16_384, 20_000, 3 << 20, 15 << 20] {
        let mut log = PlainLog::new();
        let damaged = log.entry(key(1), &[put(b"value")]);
        let next = log.entry(EntryKey { padding, ..key(2) }, &[put(b"value")]);
        // The length of the cell of the first entry: more than the file has left.
        let key_len = usize::from(log.bytes[damaged]);
        log.bytes[damaged + 1 + key_len] = 0x01;
        let (entries, end) = read(log.bytes.clone()).expect("a log");
        assert_eq!(entries, []);
        let error = end.map_or_else(|error| error.to_string(), |end| format!("{end:?}"));
        assert!(error.ends_with(&format!("but a sound one is at {next}")), "{padding}: {error}");
        assert_eq!(sequences(&read_on(log.bytes).0), [2], "{padding}");
    }
}

/// A log in memory that counts the bytes that are read.
struct Counted(Bytes, AtomicU64);

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        ReadAt::len(&self.0)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.1.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.0.read_exact_at(buffer, offset)
    }
}

/// The beginning of a key without a length before it costs nothing.
#[test]
fn a_value_of_the_beginnings_of_keys_is_read_once() {
    let (mut log, _) = log(&[1]);
    log.entry(key(2), &[put(&b"\x80\x0a\x0a1588230740\x12".repeat(100_000))]);
    log.bytes.pop();
    let len = log.bytes.len() as u64;
    let source = Arc::new(Counted(Bytes::from(log.bytes), AtomicU64::new(0)));
    let mut reader = Reader::open(Arc::clone(&source) as Arc<dyn ReadAt>, FileName::new("log"));
    let reader = reader.as_mut().expect("a log");
    assert_eq!(reader.by_ref().map(|entry| entry.expect("sound").sequence).sum::<u64>(), 1);
    assert!(matches!(reader.end(), Some(End::Torn { .. })), "{:?}", reader.end());
    let read = source.1.load(Ordering::Relaxed);
    assert!(read < 3 * len, "{read} bytes of {len}");
}

#[test]
fn the_search_of_a_log_that_is_made_to_be_searched_for_long_is_given_up() {
    // Each cell ends with the key of an entry whose cells are all cells that follow, and more.
    let mut inner = PlainLog::new();
    inner.entry(key(9), &[]);
    let mut message = inner.bytes[6..].to_vec();
    assert_eq!(message.pop(), Some(0));
    message.extend([0xff, 0xff, 0x7f]);
    let value = [&[message.len() as u8][..], &message].concat();
    let mut cells = PlainLog::new();
    cells.entry(key(1), &vec![put(&value); 20_001]);
    let mut bytes = cells.bytes;
    // The tags of each cell have no length, so that the key is at its end.
    let cell = [&[0, 0, 0, value.len() as u8 + 25][..], &[0, 0, 0, 17, 0, 0, 0, value.len() as u8]]
        .concat();
    bytes.truncate(5 + 1 + usize::from(bytes[5]));
    for _ in 0..20_000 {
        bytes.extend(&cell);
        bytes.extend(b"\0\x03row\x01fq\0\0\0\0\0\0\0\x01\x04");
        bytes.extend(&value);
    }
    bytes.extend([0x7f, 0xff, 0xff, 0xff]);
    let (entries, end) = read(bytes.clone()).expect("a log");
    assert_eq!(entries, []);
    let error = end.expect_err("not known to be torn");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let what =
        "the search for sound entries was given up, because too many bytes look like entries";
    assert!(error.to_string().contains(what), "{error}");
    let (entries, skipped) = read_on(bytes);
    assert_eq!(entries, []);
    assert!(skipped[0].to_string().ends_with(what), "{}", skipped[0]);
}

#[test]
fn an_index_cell_of_phoenix_is_refused_by_name() {
    let codec = b"org.apache.hadoop.hbase.regionserver.wal.IndexedWALEditCodec";
    let header = [b"PWAL", &[codec.len() as u8 + 2, 0x2a, codec.len() as u8][..], codec].concat();
    let mut entry = PlainLog::new();
    entry.entry(key(1), &[put(b"value")]);
    let key_end = 6 + usize::from(entry.bytes[5]);
    let bytes = [&header, &entry.bytes[5..key_end], &[0xff; 4]].concat();
    let (entries, end) = read(bytes).expect("a log");
    assert_eq!(entries, []);
    let error = end.expect_err("refused");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let expected = format!(
        "log: unsupported: a cell of an index that Phoenix encodes (length -1), at offset {}",
        header.len()
    );
    assert_eq!(error.to_string(), expected);
    // HBase's own codec has no such cell.
    let (_, end) = read([&entry.bytes[..key_end], &[0xff; 4]].concat()).expect("a log");
    assert!(end.expect_err("damaged").to_string().contains("the length of a cell is negative"));
}
