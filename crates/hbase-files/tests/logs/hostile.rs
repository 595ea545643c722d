//! Hostile write-ahead logs, and full dictionaries: files that these tests write.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use hbase_files::wal::{End, Error, LogEntry, LogPart, Reader};
use sstable::FileName;

use crate::writer::{Writer, field, header, varint};

fn open(bytes: Vec<u8>) -> Result<Reader, Error> {
    Reader::open(Arc::new(Bytes::from(bytes)), FileName::new("log"))
}

/// Reads a file whose first entry cannot be read; returns the error.
fn refused(bytes: Vec<u8>) -> Error {
    let mut reader = open(bytes).expect("the header is sound");
    let error = reader.next().expect("there is an entry").expect_err("it is damaged");
    assert!(reader.next().is_none() && reader.end().is_none());
    error
}

#[test]
fn encrypted_logs_and_unknown_codecs_are_refused_by_name() {
    let secure = "org.apache.hadoop.hbase.regionserver.wal.SecureWALCellCodec";
    let phoenix = "org.apache.hadoop.hbase.regionserver.wal.IndexedWALEditCodec";
    for (message, expected) in [
        (
            field(5, secure.as_bytes()),
            "an encrypted log (written by \"org.apache.hadoop.hbase.regionserver.wal.SecureWALCellCodec\")",
        ),
        (field(2, b"key"), "an encrypted log"),
        (
            field(4, b"SecureProtobufLogWriter"),
            "an encrypted log (written by \"SecureProtobufLogWriter\")",
        ),
        (field(4, b"OtherWriter"), "the writer \"OtherWriter\""),
        (field(5, b"OtherCodec"), "the cell codec \"OtherCodec\""),
        (
            [&[0x08, 1][..], &field(5, phoenix.as_bytes())].concat(),
            "the cell codec \"org.apache.hadoop.hbase.regionserver.wal.IndexedWALEditCodec\" with dictionaries",
        ),
        (vec![0x08, 1, 0x30, 1, 0x38, 6], "values compressed by ZSTD"),
        (vec![0x08, 1, 0x30, 1, 0x38, 99], "values compressed by the unknown codec 99"),
    ] {
        let Err(error) = open(header(&message)) else { panic!("{expected}") };
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert_eq!(error.to_string(), format!("log: unsupported: {expected}, at offset 0"));
    }
    // HBase uses its own codec if the header names none.
    assert!(open(header(b"")).is_ok_and(|reader| reader.header().is_some()));
}

#[test]
fn other_files_are_told_apart() {
    for (bytes, is_hfile) in
        [(&b"DATABLK*........"[..], true), (b"PBUF....", false), (b"SEQ\x06", false), (b"x", false)]
    {
        match open(bytes.to_vec()) {
            Err(Error::NotALog { is_hfile: found, .. }) => assert_eq!(found, is_hfile),
            _ => panic!("{bytes:?}"),
        }
    }
    for bytes in [&b""[..], b"PW", b"PWAL", b"PWAL\x50\x08"] {
        let reader = open(bytes.to_vec()).expect("a torn log");
        let len = bytes.len() as u64;
        assert_eq!(reader.end(), Some(&End::Torn { offset: 0, bytes: len, part: LogPart::Header }));
    }
}

/// Cells that use more families, qualifiers and rows than the dictionaries hold, in no order.
fn many_columns() -> Vec<[Vec<u8>; 3]> {
    let mut random: u32 = 7;
    let mut next = |count: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % count
    };
    let cells = (0..120_000).map(|_| {
        // Small numbers are frequent, so that entries are used again.
        let mut number = |count| next(count).min(next(count)).to_string().into_bytes();
        [number(60_000), number(300), number(200)]
    });
    cells.collect()
}

#[test]
fn full_dictionaries_replace_their_least_recently_used_entries() {
    let cells = many_columns();
    let mut writer = Writer::new();
    for chunk in cells.chunks(1000) {
        writer.entry(b"r", b"t", chunk);
    }
    assert!(writer.replaced > 10_000, "{}", writer.replaced);
    let entries: Vec<LogEntry> =
        open(writer.finish()).expect("a log").collect::<Result<_, _>>().expect("sound");
    let found = entries.iter().flat_map(|entry| &entry.cells);
    let found = found.map(|cell| [cell.row(), cell.family(), cell.qualifier()].map(<[u8]>::to_vec));
    assert!(found.eq(cells), "a cell differs");
}

/// Returns a log with dictionaries and one entry that begins with these bytes of a cell.
fn with_cell(value_compression: bool, cell: &[u8]) -> Vec<u8> {
    let mut message = vec![0x08, 1];
    if value_compression {
        message.extend([0x30, 1, 0x38, 1]);
    }
    let mut bytes = header(&message);
    bytes.extend(crate::writer::key(b"\xff\x01r", b"\xff\x01t", 1));
    bytes.extend(cell);
    bytes.extend(b"\0\0\0\0LAWP");
    bytes
}

#[test]
fn hostile_lengths_are_errors() {
    let names = b"\xff\x01r\xff\x01f\xff\x01q";
    let names = &names[..];
    let rest = &b"\0\0\0\0\0\0\0\x01\x04"[..];
    let cell = |lengths: [usize; 3], rest: &[&[u8]]| {
        [lengths.map(varint).concat(), rest.concat()].concat()
    };
    for (bytes, expected) in [
        (with_cell(false, &cell([16, 0, 0], &[names, rest])), "the parts of a key do not have"),
        (with_cell(false, &cell([11, 0, 0], &[names, rest])), "the parts of a key do not have"),
        (with_cell(false, &cell([13, 0, 0], &[names, rest])), "a part of a cell is longer than"),
        (with_cell(false, &cell([15, 1 << 30, 0], &[names, rest])), "an entry reaches into"),
        (
            with_cell(false, &cell([15, 0, 1 << 30], &[names, rest])),
            "the tags of a cell are longer",
        ),
        (
            with_cell(false, &cell([15, 0, 3], &[names, rest, b"\0\x09t"])),
            "the tags of a cell are mal",
        ),
        (with_cell(false, &cell([15, 0, 0], &[b"\x00\x00"])), "no dictionary entry has number 0"),
        (
            with_cell(false, &cell([15, 0, 0], &[b"\x80\x00"])),
            "no dictionary entry has number 32768",
        ),
        (with_cell(false, b"\xff\xff\xff\xff\x0f"), "a length is negative"),
        (with_cell(false, b"\xff\xff\xff\xff\xff\x01"), "a length has more than 5 bytes"),
        (
            with_cell(true, &cell([15, 4, 0], &[names, rest, b"\x02hi"])),
            "a compressed value is not a",
        ),
        (
            with_cell(true, &cell([15, 1 << 30, 0], &[names, rest, b"\x02hi"])),
            "a compressed value is too",
        ),
    ] {
        let error = refused(bytes).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_compressed_value_must_have_the_length_of_its_cell() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; 1 << 20]).expect("memory takes it");
    let stored = encoder.finish().expect("memory takes it");
    let cell = |len: usize| {
        let mut cell = [varint(15), varint(len), varint(0)].concat();
        cell.extend(b"\xff\x01r\xff\x01f\xff\x01q\0\0\0\0\0\0\0\x01\x04");
        cell.extend(varint(stored.len()));
        cell.extend(&stored);
        with_cell(true, &cell)
    };
    let entry = open(cell(1 << 20)).expect("a log").next().expect("an entry").expect("sound");
    assert_eq!(entry.cells[0].value().len(), 1 << 20);
    for len in [0, 5, (1 << 20) - 1, (1 << 20) + 1] {
        let error = refused(cell(len)).to_string();
        assert!(error.contains("a compressed value has the wrong length"), "{len}: {error}");
    }
}

#[test]
fn a_value_above_the_limit_is_refused_as_unsupported() {
    // 300 KiB may decompress to 257 MiB, so the length is possible.
    let mut cell = [varint(15), varint(257 << 20), varint(0)].concat();
    cell.extend(b"\xff\x01r\xff\x01f\xff\x01q\0\0\0\0\0\0\0\x01\x04");
    cell.extend(varint(300 << 10));
    cell.extend(vec![0; 300 << 10]);
    let error = refused(with_cell(true, &cell));
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}
