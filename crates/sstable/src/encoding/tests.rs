//! Encoded blocks from the format description, and all data blocks of the HBase files.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;

use super::delta::DeltaCells;
use super::*;
use crate::buffers::{Body, Buffers};
use crate::compression;
use crate::compression::Compression;
use ::cells::{Cell, CellRef, CellType, Comparator, SequenceId, Timestamp};

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn put(row: &str, qualifier: &str, timestamp: i64, value: &str, sequence_id: u64) -> Cell {
    CellRef {
        row: row.as_bytes(),
        family: b"f",
        qualifier: qualifier.as_bytes(),
        timestamp: Timestamp::new(timestamp),
        cell_type: CellType::Put,
        value: value.as_bytes(),
        tags: b"",
        sequence_id: SequenceId::new(sequence_id),
    }
    .to_cell()
}

/// The cells of a block that HBase wrote in each encoding.
fn five_cells() -> Vec<Cell> {
    let deleted = put("row2", "", 2000, "", 5);
    let deleted = CellRef { cell_type: CellType::DeleteFamily, ..deleted.as_ref() }.to_cell();
    vec![
        put("row1", "a", 1000, "v1", 3),
        put("row1", "b", 1000, "v1", 3),
        deleted,
        put("row2", "a", 1500, "value2", 200),
        put("rows", "ab", 1_700_000_000_000, "", 4),
    ]
}

const FIVE: CellLayout =
    CellLayout { tags: false, mvcc: true, compressed_tags: false, order: Comparator::Bytes };

const PLAIN: &str = "
    00000012 00000002 0004726f7731016661 00000000000003e804 7631 03
    00000012 00000002 0004726f7731016662 00000000000003e804 7631 03
    00000011 00000000 0004726f77320166 00000000000007d00e 05
    00000012 00000006 0004726f7732016661 00000000000005dc04 76616c756532 8fc8
    00000013 00000000 0004726f777301666162 0000018bcfe5680004 04";

const ENCODED: [(DataBlockEncoding, &str); 3] = [
    (
        DataBlockEncoding::Prefix,
        "0002 00000092 12 02 00 0004726f773101666100000000000003e804 7631 03
         0a 02 08 6200000000000003e804 7631 03 0c 00 05 32016600000000000007d00e 05
         0a 06 08 6100000000000005dc04 76616c756532 8fc8 0e 00 05 730166616200 00018bcfe5680004 04",
    ),
    (
        DataBlockEncoding::Diff,
        "0003 00000092 01 66 10 12 02 00 0004726f7731 61 e803 04 7631 03 0f 08 62 00 7631 03
         10 11 00 05 32 d007 0e 05 10 12 06 08 61 dc05 04 76616c756532 8fc8
         54 13 00 05 73 6162 0068e5cf8b01 04",
    ),
    (
        DataBlockEncoding::FastDiff,
        "0004 00000092 00 12 02 00 0004726f773101666100000000000003e804 7631 03
         7f 08 62 e8 03 06 11 00 05 32 07d0 0e 05 06 12 06 08 61 05dc 04 76616c756532 8fc8
         22 13 00 05 73 6162 018bcfe56800 04",
    ),
];

fn encode(encoding: DataBlockEncoding, layout: CellLayout, cells: &[Cell]) -> Vec<u8> {
    let mut encoder = BlockEncoder::new(encoding, layout);
    for cell in cells {
        encoder.append(&cell.as_ref());
    }
    encoder.finish().to_vec()
}

fn decode_all(
    encoding: DataBlockEncoding,
    layout: CellLayout,
    body: &[u8],
) -> Result<Vec<Cell>, DamageReason> {
    let cells = Cells::open(encoding, Body::from(body.to_vec()), 1 << 30)?;
    let from_cursor = match &cells {
        Cells::Plain(_) => None,
        Cells::Delta(delta) => Some(read_delta_cells(delta, layout)),
    };
    let found = plain(cells, layout).and_then(|plain| read_plain_cells(&plain, layout));
    if let Some(from_cursor) = from_cursor {
        assert_eq!(from_cursor, found, "a delta cursor and a cursor over decoded cells");
    }
    found
}

/// Decodes all cells; checks the row offsets against the offsets of the plain cells.
fn plain(cells: Cells, layout: CellLayout) -> Result<PlainCells, DamageReason> {
    let deltas = match cells {
        Cells::Plain(plain) => return Ok(plain),
        Cells::Delta(delta) => delta,
    };
    let (plain, starts) = decode_delta(&deltas, layout, &mut Buffers::default())?;
    assert_eq!(RowStarts::from_plain(&plain, layout), Ok(starts));
    Ok(plain)
}

/// The cells of a plain block.
fn read_plain_cells(plain: &PlainCells, layout: CellLayout) -> Result<Vec<Cell>, DamageReason> {
    let mut cursor = CheckingCursor::begin(plain, layout)?;
    let mut cells = Vec::new();
    loop {
        cells.push(cursor.cell(plain).to_cell());
        if cursor.step(plain, layout)? == CursorMove::End {
            return Ok(cells);
        }
    }
}

/// The cells of a delta-encoded block.
fn read_delta_cells(delta: &DeltaCells, layout: CellLayout) -> Result<Vec<Cell>, DamageReason> {
    let mut cursor = DeltaCursor::begin(delta, layout)?;
    let mut cells = Vec::new();
    loop {
        let cell = cursor.cell(delta);
        assert_eq!(cursor.cell_len(), plain::cell_len(&cell, layout));
        cells.push(cell.to_cell());
        if cursor.step(delta)? == CursorMove::End {
            return Ok(cells);
        }
    }
}

#[test]
fn five_cells_are_encoded_as_by_hbase_and_decoded() {
    let cells = five_cells();
    let plain = unhex(PLAIN);
    let row_index = unhex("00000003 00000000 0000003a 00000076 00000092");
    let row_index = [&unhex("0007"), &plain[..], &row_index].concat();
    let others = [(DataBlockEncoding::None, plain), (DataBlockEncoding::RowIndexV1, row_index)];
    let deltas = ENCODED.map(|(encoding, body)| (encoding, unhex(body)));
    for (encoding, body) in others.into_iter().chain(deltas) {
        assert_eq!(encode(encoding, FIVE, &cells), body, "{encoding}");
        assert_eq!(decode_all(encoding, FIVE, &body).as_ref(), Ok(&cells), "{encoding}");
    }
}

#[test]
fn tags_follow_the_value_literally_or_by_reference() {
    let tags = unhex("0003407467 00044178797a");
    let cells = five_cells();
    let first = CellRef { tags: &tags, ..cells[0].as_ref() }.to_cell();
    let second = CellRef { tags: &tags[..5], ..cells[1].as_ref() }.to_cell();
    for (compressed_tags, ends) in [
        (false, ["0b 0003 40 7467 0004 41 78797a 03", "05 0003407467 03"]),
        (true, ["0b ff 03 407467 ff 04 4178797a 03", "05 0000 03"]),
    ] {
        let layout =
            CellLayout { tags: true, mvcc: true, compressed_tags, order: Comparator::Bytes };
        let cells = [first.clone(), second.clone()];
        let body = encode(DataBlockEncoding::Prefix, layout, &cells);
        let [first, second] = ends.map(unhex);
        let found = body.windows(first.len()).any(|window| window == first);
        assert!(found && body.ends_with(&second), "{body:02x?}");
        assert_eq!(decode_all(DataBlockEncoding::Prefix, layout, &body), Ok(cells.to_vec()));
    }
}

/// `DIFF` stores negative and wrapping timestamp differences.
#[test]
fn distant_timestamps_round_trip() {
    let times = [i64::MAX, 0, i64::MAX - 1, 1, 255, 256, 1 << 40, (1 << 40) + 1, 0, 0];
    let cells: Vec<_> =
        (0..).zip(times).map(|(row, time)| put(&format!("r{row}"), "q", time, "v", 0)).collect();
    for encoding in DataBlockEncoding::ALL {
        let body = encode(encoding, FIVE, &cells);
        assert_eq!(decode_all(encoding, FIVE, &body).as_ref(), Ok(&cells), "{encoding}");
    }
}

/// One body per encoding and tag format; the cells use every kind of reference to previous cells.
fn sound_bodies() -> Vec<(DataBlockEncoding, CellLayout, Vec<u8>)> {
    let tags = unhex("0003407467 00044178797a");
    let mut cells: Vec<_> = five_cells()
        .iter()
        .map(|cell| CellRef { tags: &tags, ..cell.as_ref() }.to_cell())
        .collect();
    cells.push(CellRef { timestamp: Timestamp::new(9), ..cells[4].as_ref() }.to_cell());
    let layouts = [false, true].map(|compressed_tags| CellLayout {
        tags: true,
        mvcc: true,
        compressed_tags,
        order: Comparator::Bytes,
    });
    DataBlockEncoding::ALL
        .into_iter()
        .flat_map(|encoding| layouts.map(|layout| (encoding, layout)))
        .map(|(encoding, layout)| (encoding, layout, encode(encoding, layout, &cells)))
        .collect()
}

#[test]
fn a_truncated_block_is_an_error() {
    for (encoding, layout, body) in sound_bodies() {
        // A plain block truncated between cells is a shorter plain block.
        for len in 0..body.len() {
            let cells = decode_all(encoding, layout, &body[..len]);
            let between_cells = encoding == DataBlockEncoding::None
                && cells.as_ref().is_ok_and(|cells| cells.len() < 6);
            assert!(cells.is_err() || between_cells, "{encoding} truncated to {len}");
        }
    }
}

/// Checksums detect damage; decoding must only not panic and stay within the stated size.
#[test]
fn a_damaged_block_never_panics_or_grows_past_its_stated_size() {
    for (encoding, layout, body) in sound_bodies() {
        for bit in 0..body.len() * 8 {
            let mut flipped = body.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            for byte in [0x00, 0x7f, 0x80, 0xff] {
                let mut changed = flipped.clone();
                changed[bit / 8] = if bit % 8 == 0 { byte } else { flipped[bit / 8] };
                let changed = Body::from(changed);
                let Ok(cells) = Cells::open(encoding, changed, 1 << 20) else { continue };
                let mut from_cursor = None;
                if let Cells::Delta(delta) = &cells {
                    from_cursor = read_delta_cells(delta, layout).ok();
                    check_row_seeks(delta, layout, from_cursor.as_deref());
                }
                let Ok(plain) = plain(cells, layout) else { continue };
                let len = plain.body().len();
                assert!(len <= 1 << 20);
                let found = read_plain_cells(&plain, layout).ok();
                assert!(found.as_ref().is_none_or(|cells| cells.len() <= len / 20 + 1));
                assert!(
                    from_cursor.is_none() || from_cursor == found,
                    "a delta cursor and a cursor over decoded cells"
                );
            }
        }
    }
}

/// Checks `go_to_row` of a sound block against all its cells; a damaged one must only not panic.
fn check_row_seeks(delta: &DeltaCells, layout: CellLayout, from_cursor: Option<&[Cell]>) {
    for row in [&b"row1"[..], b"row2", b"row15", b"s"] {
        let found = DeltaCursor::begin(delta, layout).and_then(|mut cursor| {
            let order = cursor.go_to_row(delta, row)?;
            Ok((order, Some(cursor.cell(delta).to_cell())))
        });
        let Some(cells) = from_cursor else { continue };
        let compare = |cell: &Cell| layout.order.compare_rows(cell.row(), row);
        let expected = cells.iter().find(|cell| compare(cell).is_ge()).or(cells.last());
        assert_eq!(found, Ok((expected.map_or(Ordering::Less, compare), expected.cloned())));
    }
}

#[test]
fn errors_name_the_fault() {
    use DataBlockEncoding::{Diff, FastDiff, Prefix, RowIndexV1};
    let body = |encoding| encode(encoding, FIVE, &five_cells());
    let changed = |encoding, at: usize, byte: u8| {
        let mut body = body(encoding);
        body[at] = byte;
        decode_all(encoding, FIVE, &body).expect_err("damaged").into_owned()
    };
    for (encoding, at, byte, what) in [
        (Prefix, 1, 3, "encoding id 3 in a file of PREFIX"),
        (Prefix, 2, 0x7f, "2130706578 bytes of cells exceed the limit of 1073741824"),
        (Prefix, 5, 0x91, "cell at 83 in the encoded block: the cells exceed the 145 bytes stated"),
        (Prefix, 5, 0x93, "146 bytes of cells where 147 are stated"),
        (Prefix, 8, 1, "cell at 6 in the encoded block: shares 1 bytes with a key of 0 bytes"),
        (Prefix, 6, 11, "cell at 6 in the encoded block: the key has only 11 bytes"),
        (Diff, 6, 0xff, "the family exceeds the block"),
        (Diff, 8, 0x18, "cell at 8 in the encoded block: the first cell refers to a previous cell"),
        (FastDiff, 6, 0x80, "cell at 6 in the encoded block: unknown flags 0x80"),
        (RowIndexV1, 159, 0x3b, "the row index contradicts the rows"),
        (RowIndexV1, 151, 0x04, "4 rows in 12 bytes of row offsets"),
    ] {
        assert_eq!(changed(encoding, at, byte), what, "{encoding} {at}");
    }
}

/// A data block of an HBase file.
struct HBaseBlock {
    file: String,
    encoding: DataBlockEncoding,
    layout: CellLayout,
    body: Vec<u8>,
}

/// All data blocks of all files in `tests/data/hfile`, and their total number of cells.
fn data_blocks_of_hbase() -> (Vec<HBaseBlock>, u64) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/hfile");
    let manifest = fs::read(dir.join("manifest.json")).expect("the manifest is in the repository");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("it is JSON");
    let (mut blocks, mut cell_count) = (Vec::new(), 0);
    for entry in manifest.as_array().expect("a list of files") {
        let text = |value: &serde_json::Value| value.as_str().expect("a string").to_owned();
        let found = &entry["expect"];
        let file = text(&entry["file"]);
        let codec = Compression::from_name(&text(&found["compression"])).expect("a known codec");
        if !codec.is_supported() {
            continue;
        }
        let encoding = DataBlockEncoding::from_name(&text(&found["encoding"])).expect("known");
        let flag = |name: &str| found[name].as_bool().expect("a flag");
        let layout = CellLayout {
            tags: flag("includesTags"),
            mvcc: flag("includesMvcc"),
            compressed_tags: flag("compressTags"),
            order: Comparator::from_class_name(&text(&found["comparator"])).expect("known"),
        };
        cell_count += found["entries"].as_u64().expect("a count");
        let bytes = fs::read(dir.join(&file)).expect("the file is in the repository");
        let end = found["trailer"]["loadOnOpenDataOffset"].as_u64().expect("an offset") as usize;
        let mut at = 0;
        while at < end {
            let number = |from: usize| {
                let bytes = bytes[at + from..][..4].try_into().expect("four bytes");
                i32::from_be_bytes(bytes) as usize
            };
            if matches!(&bytes[at..at + 8], b"DATABLK*" | b"DATABLKE") {
                let stored = &bytes[at + 33..at + number(29)];
                let body =
                    compression::decompress(codec, stored, number(12), Vec::new()).expect("sound");
                blocks.push(HBaseBlock { file: file.clone(), encoding, layout, body });
            }
            at += 33 + number(8);
        }
    }
    (blocks, cell_count)
}

#[test]
fn every_data_block_from_hbase_round_trips() {
    // The package has a few of the files, in `testdata`; the repository has all.
    if !Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml").exists() {
        eprintln!("skipped: this is the package, without the repository's files");
        return;
    }
    let (blocks, cell_count) = data_blocks_of_hbase();
    let mut cells_found = 0;
    for HBaseBlock { file, encoding, layout, body } in &blocks {
        let cells = decode_all(*encoding, *layout, body).expect(file);
        assert!(encode(*encoding, *layout, &cells) == *body, "{file}: a block differs");
        cells_found += cells.len() as u64;
    }
    assert_eq!(cells_found, cell_count);
    assert!(blocks.len() > 1000, "{} blocks", blocks.len());
}

#[test]
fn an_invalid_plain_cell_is_rejected() {
    let cell = unhex("00000012 00000002 0004726f7731016661 00000000000003e804 7631 03");
    let changed = |at: usize, byte: u8| {
        let mut cell = cell.clone();
        cell[at] = byte;
        let first = decode_all(DataBlockEncoding::None, FIVE, &cell);
        first.map_or_else(DamageReason::into_owned, |cells| cells[0].as_ref().key().to_string())
    };
    for (at, byte, what) in [
        (0, 0x80, "no key length"),
        (3, 0x13, "unknown cell type 118"), // The first byte of the value is now the type.
        (7, 0x40, "the value exceeds the block"),
        (3, 0x40, "the key exceeds the block"),
        (4, 0xff, "no value length"),
        (8, 0x80, "the lengths in the key contradict its length"),
        (9, 0x09, "the lengths in the key contradict its length"),
        (14, 0x0a, "the lengths in the key contradict its length"),
        (17, 0x80, "negative timestamp"),
        (25, 3, "unknown cell type 3"),
        (28, 0xff, "negative sequence id"),
        (28, 0x8f, "no sequence id"),
    ] {
        assert_eq!(changed(at, byte), format!("cell at 0 in the block: {what}"), "{at}");
    }
    assert_eq!(changed(28, 4), "row1/f:a/1000/Put");
}
