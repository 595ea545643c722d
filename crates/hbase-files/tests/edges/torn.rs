//! Torn logs: a sound entry after the unfinished one is found, whatever its key's length and place.

use std::sync::Arc;

use bytes::Bytes;
use hbase_files::wal::{End, Reader};
use sstable::FileName;

use super::made::{Log, put};

/// The region of the entries.
const REGION: &str = "0123456789abcdef0123456789abcdef";
/// The bytes that are searched at a time.
const CHUNK_LEN: usize = 256 << 10;

/// Returns a log whose first entry claims more bytes than follow: its first `len` bytes, then `rest`.
fn with_wrong_length(rest: &[u8], len: usize) -> (Vec<u8>, usize) {
    let value = "v".repeat(len);
    let log = Log::new();
    let begin = log.0.len();
    let mut bytes = log.entry(REGION, 1, 9, &[put("r", "q", 1, 1, &value)]).0;
    // The length of the cell, after the key and its length, which takes a byte.
    let at = begin + 1 + usize::from(bytes[begin]);
    bytes[at] = 0x01;
    let next = bytes.len();
    bytes.extend_from_slice(rest);
    (bytes, next)
}

/// Returns the message of the error, or how the log ends.
fn end_of(bytes: Vec<u8>) -> String {
    let mut reader =
        Reader::open(Arc::new(Bytes::from(bytes)), FileName::new("log")).expect("sound");
    match reader.next() {
        Some(Ok(_)) => "an entry".to_owned(),
        Some(Err(error)) => error.to_string(),
        None => match reader.end() {
            Some(End::Torn { part, .. }) => format!("torn in {part}"),
            end => format!("{end:?}"),
        },
    }
}

/// Returns the bytes of an entry.
fn entry() -> Vec<u8> {
    let header = Log::new().0.len();
    Log::new().entry(REGION, 2, 9, &[put("r", "q", 1, 2, "v")]).0.split_off(header)
}

#[track_caller]
fn check_found(what: &str, rest: &[u8], len: usize) {
    let (bytes, next) = with_wrong_length(rest, len);
    let end = end_of(bytes);
    assert!(end.ends_with(&format!("a sound one is at {next}")), "{what}: {end}");
}

#[test]
fn an_entry_at_the_end_of_a_chunk_is_found() {
    let entry = entry();
    // Where the search begins: the first key can be 2 bytes after the start of the unfinished entry, and a
    // length has up to 4 bytes.
    let (bytes, next) = with_wrong_length(&[], 0);
    let begin = bytes.len() - (next - Log::new().0.len()) - 2;
    for chunks in [1, 2] {
        for before in 0..entry.len() + 40 {
            let len = begin + chunks * CHUNK_LEN - next - before + 10;
            check_found(&format!("{before} before the end of chunk {chunks}"), &entry, len);
        }
    }
}

#[test]
fn what_only_begins_as_an_entry_is_none() {
    let whole = entry();
    // A cut entry, one of another form, and a key without cells.
    for len in 0..whole.len() {
        assert_eq!(end_of(with_wrong_length(&whole[..len], 10).0), "torn in an entry", "{len}");
    }
    for at in [1, 2, 3, 20, 34, 35] {
        let mut changed = whole.clone();
        changed[at] ^= 0x40;
        assert_eq!(end_of(with_wrong_length(&changed, 10).0), "torn in an entry", "{at}");
    }
    let header = Log::new().0.len();
    let empty = Log::new().entry(REGION, 2, 9, &[]).0.split_off(header);
    assert_eq!(end_of(with_wrong_length(&empty, 10).0), "torn in an entry");
}

#[test]
fn entries_of_hbase_meta_are_found() {
    let header = Log::new().0.len();
    let cell = put("r", "q", 1, 2, "v");
    let entry = Log::new().entry("1588230740", 2, 9, &[cell]).0.split_off(header);
    check_found("meta", &entry, 10);
}

#[test]
fn an_entry_is_found_after_many_bytes_that_look_like_keys() {
    let candidate = [&b"\x0a\x20"[..], REGION.as_bytes(), &[0x12]].concat();
    let whole = entry();
    let (bytes, _) = with_wrong_length(&[], 0);
    for candidates in [1, 64, 5000] {
        let rest = [candidate.repeat(candidates), whole.clone()].concat();
        let next = bytes.len() + candidates * candidate.len();
        let end = end_of(with_wrong_length(&rest, 0).0);
        assert!(end.ends_with(&format!("a sound one is at {next}")), "{candidates}: {end}");
    }
}

#[test]
fn a_trailer_with_a_message_of_up_to_a_mebibyte_ends_the_entries() {
    let header = Log::new().0.len();
    let log = Log::new().entry(REGION, 2, 9, &[put("r", "q", 1, 2, "v")]).0;
    for (len, is_trailer) in [(0, true), (1, true), (1 << 20, true), ((1 << 20) + 1, false)] {
        let trailer = [&vec![b'x'; len][..], &(len as u32).to_be_bytes(), b"LAWP"].concat();
        let read = |log: &[u8]| {
            let bytes = Bytes::from([log, &trailer].concat());
            let mut reader = Reader::open(Arc::new(bytes), FileName::new("log")).expect("sound");
            let entries = reader.by_ref().flatten().count();
            (entries, reader.is_closed() && reader.end() == Some(&End::Closed))
        };
        assert_eq!(read(&log), (1, is_trailer), "{len}");
        assert_eq!(read(&log[..header]), (0, is_trailer), "{len}");
    }
    // Its length reaches into the header.
    let trailer = [&100_000_u32.to_be_bytes()[..], b"LAWP"].concat();
    let bytes = Bytes::from([&log[..], &trailer].concat());
    assert!(!Reader::open(Arc::new(bytes), FileName::new("log")).expect("sound").is_closed());
}

#[test]
fn a_sequence_id_is_at_most_the_greatest_number_of_hbase() {
    for (sequence, is_sound) in [(i64::MAX as u64, true), (i64::MAX as u64 + 1, false)] {
        let log = Log::new().entry(REGION, sequence, 9, &[put("r", "q", 1, 1, "v")]).0;
        let mut reader =
            Reader::open(Arc::new(Bytes::from(log)), FileName::new("log")).expect("sound");
        let entry = reader.next().expect("an entry");
        assert_eq!(entry.is_ok_and(|entry| entry.sequence == sequence), is_sound);
    }
}

#[test]
fn only_the_first_bytes_of_a_trailer_are_an_unfinished_one() {
    let header = Log::new().0;
    for len in 1..8 {
        let begun = [&header[..], &b"\0\0\0\0LAWP"[..len]].concat();
        assert_eq!(end_of(begun), "torn in the trailer", "{len}");
    }
    for other in [&b"\0\x01"[..], b"\0\0\0\0X", b"\0\0\0\0LAWX", b"\0\0\0\0LAW\0"] {
        let end = end_of([&header[..], other].concat());
        assert!(end.ends_with("the key of an entry has no bytes"), "{other:?}: {end}");
    }
}
