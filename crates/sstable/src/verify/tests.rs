use bytes::Bytes;
use cells::{CellRef, CellType, SequenceId, Timestamp};
use filter::{ErrorRate, FilterKind, Sizing};

use super::*;
use crate::block::BloomType;
use crate::checksum::ChecksumType;
use crate::file::trailer::Trailer;
use crate::write::{FilterOptions, HBaseVersion, Writer, WriterOptions};

const FILES: [&[u8]; 5] = [
    include_bytes!("../../testdata/s02-empty.hfile"),
    include_bytes!("../../testdata/s15-extra-file-info.hfile"),
    include_bytes!("../../testdata/p11-prefix-none-row.hfile"),
    include_bytes!("../../testdata/p25-none-none-row.hfile"),
    // A part of a file that a bulk load cut in two, with the times of the whole file.
    include_bytes!("../../testdata/bulk-loaded-part.hfile"),
];

fn check(bytes: impl Into<Bytes>) -> Verification {
    let source = Arc::new(bytes.into());
    verify(source, FileName::new("file"), Limits::default(), |_| {}).unwrap()
}

/// Returns the headers of a file's blocks, with their offsets.
fn headers(bytes: &[u8]) -> Vec<(usize, BlockHeader)> {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    let reader = Reader::open(source, FileName::new("file"), ReaderOptions::default()).unwrap();
    reader
        .blocks()
        .headers()
        .map(|block| block.unwrap())
        .map(|(at, header)| (at.get() as usize, header))
        .collect()
}

/// Returns the file with a block changed, and the block's checksums updated.
fn changed(
    bytes: &[u8],
    at: usize,
    header: &BlockHeader,
    change: impl FnOnce(&mut [u8]),
) -> Vec<u8> {
    let data_len = header.on_disk_data_size_with_header as usize;
    let mut block = bytes[at..at + data_len].to_vec();
    change(&mut block);
    header.checksum_type.append(&mut block, 0, header.bytes_per_checksum);
    let mut changed = bytes.to_vec();
    changed[at..at + block.len()].copy_from_slice(&block);
    changed
}

#[test]
fn files_of_hbase_are_sound() {
    for file in FILES {
        let found = check(file);
        assert_eq!(found.problems, []);
        assert_eq!(found.blocks, headers(file).len() as u64);
    }
}

#[test]
fn the_longest_cell_of_hbase_2_6_is_checked() {
    let options = WriterOptions::default().hbase_version(HBaseVersion::V2_6);
    let mut writer = Writer::new(Vec::new(), FileName::new("file"), options).unwrap();
    for (row, value) in [("r1", &b"long"[..]), ("r2", b"as l"), ("r3", b"")] {
        let cell = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(7), value);
        writer.append(cell).unwrap();
    }
    let (file, _) = writer.finish().unwrap();
    assert_eq!(check(file.clone()).problems, []);
    let (at, header) = block(&file, BlockType::FileInfo, 0);
    let problems = |key: &str, offset: usize, byte: u8| {
        let change = |block: &mut [u8]| {
            let start = block.windows(key.len()).position(|window| window == key.as_bytes());
            block[start.unwrap() + key.len() + offset] = byte;
        };
        let found = check(changed(&file, at, &header, change));
        found.problems.into_iter().map(|damage| damage.what).collect::<Vec<_>>()
    };
    // A tag and the length of the value come before it.
    let len = problems("hfile.LEN_OF_BIGGEST_CELL", 2 + 7, 77);
    assert_eq!(len, ["hfile.LEN_OF_BIGGEST_CELL is 77 and should be 32"]);
    let row = 2 + 2;
    let key = problems("hfile.KEY_OF_BIGGEST_CELL", row + 1, b'2');
    let expected = "hfile.KEY_OF_BIGGEST_CELL is r2/f:q/7/Put and should be r1/f:q/7/Put";
    assert_eq!(key, [expected]);
    let no_key = problems("hfile.KEY_OF_BIGGEST_CELL", 2, 0x7f);
    assert!(no_key[0].starts_with("hfile.KEY_OF_BIGGEST_CELL is 16 bytes, \\x7F"), "{no_key:?}");
}

/// Writes a file with a block for each of forty rows, named by `letter` and two digits.
///
/// The file has a row filter, and a family delete in every fourth row.
fn rows(letter: char) -> Vec<u8> {
    let options = WriterOptions::default()
        .block_size(1)
        .index_min_entries(1000)
        .create_time(Timestamp::new(1))
        .filter(FilterOptions::new(
            FilterKind::BlockedBloom,
            Sizing::ErrorRate(ErrorRate::new(0.001).unwrap()),
        ));
    let mut writer = Writer::new(Vec::new(), FileName::new("rows"), options).unwrap();
    for number in 0..40 {
        let row = format!("{letter}{number:02}");
        let deletes = number % 4 == 0;
        let qualifier: &[u8] = if deletes { b"" } else { b"q" };
        let cell_type = if deletes { CellType::DeleteFamily } else { CellType::Put };
        let cell = CellRef::put(row.as_bytes(), b"f", qualifier, Timestamp::new(7), b"");
        writer.append(CellRef { cell_type, sequence_id: SequenceId::new(1), ..cell }).unwrap();
    }
    writer.finish().unwrap().0
}

/// Returns the `number`th block of a type.
fn block(bytes: &[u8], wanted: BlockType, number: usize) -> (usize, BlockHeader) {
    let mut of_type = headers(bytes).into_iter().filter(|(_, header)| header.block_type == wanted);
    of_type.nth(number).unwrap()
}

/// Replaces the first `old` in a block by `new`.
fn replace(block: &mut [u8], old: &[u8], new: &[u8]) {
    let at = block.windows(old.len()).position(|window| window == old).unwrap();
    block[at..at + new.len()].copy_from_slice(new);
}

/// Changes a block of [`rows`], updates its checksums, and expects a problem that contains `what`.
fn expect(wanted: BlockType, number: usize, change: impl FnOnce(&mut [u8]), what: &str) {
    let file = rows('r');
    assert!(check(file.clone()).is_sound());
    let (at, header) = block(&file, wanted, number);
    let found = check(changed(&file, at, &header, change));
    let says = |damage: &Damage| damage.what.contains(what);
    assert!(found.problems.iter().any(says), "{what} in {:#?}", found.problems);
    assert!(found.totals_checked, "{what}");
}

#[test]
fn a_damaged_block_is_the_only_problem() {
    for file in FILES.into_iter().map(<[u8]>::to_vec).chain([rows('r')]) {
        for (at, header) in headers(&file) {
            if header.is_empty() || header.checksum_type == ChecksumType::Null {
                continue;
            }
            // A byte of the body, and of each field of the header.
            for byte in [33, 0, 7, 8, 11, 12, 15, 16, 23, 24, 25, 28, 29, 32] {
                let mut bytes = file.clone();
                bytes[at + byte] ^= 4;
                let found = check(bytes);
                let [damage] = &found.problems[..] else {
                    panic!("byte {byte} of the block at {at:#x}: {:#?}", found.problems)
                };
                assert_eq!(damage.at.get(), at as u64, "{damage}");
                assert!(!found.totals_checked);
                if byte == 33 {
                    assert_eq!(damage.block, Some(header.block_type), "{damage}");
                }
            }
        }
    }
}

/// Writes a file with a data block for each of 200 rows, `row000` and so on.
///
/// It also has leaf index blocks, Bloom chunks and a row filter.
fn deep() -> Vec<u8> {
    let options = WriterOptions::default()
        .block_size(1)
        .index_block_size(400)
        .index_min_entries(2)
        .bloom_type(BloomType::Row)
        .bloom_block_size(64)
        .filter(FilterOptions::new(
            FilterKind::BlockedBloom,
            Sizing::ErrorRate(ErrorRate::new(0.001).unwrap()),
        ));
    let mut writer = Writer::new(Vec::new(), FileName::new("deep"), options).unwrap();
    for number in 0..200 {
        let row = format!("row{number:03}");
        writer.append(CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(7), b"v")).unwrap();
    }
    writer.finish().unwrap().0
}

/// Makes the headers at `damaged` unreadable, each in its own way.
fn with_damaged_headers(file: &[u8], damaged: &[usize]) -> Verification {
    let mut bytes = file.to_vec();
    for (number, &at) in damaged.iter().enumerate() {
        match number % 3 {
            0 => bytes[at] ^= 1,
            1 => bytes[at..at + 33].fill(0xff),
            _ => bytes[at + 11] ^= 4,
        }
    }
    check(bytes)
}

/// Returns the offset of each lost block, with the numbers of the rows around it.
fn lost(found: &Verification) -> Vec<(usize, Option<usize>, Option<usize>)> {
    let number = |row: &Option<Vec<u8>>| {
        row.as_ref().map(|row| std::str::from_utf8(&row[3..]).unwrap().parse().unwrap())
    };
    let lost = found.lost_rows.iter();
    lost.map(|lost| (lost.at.get() as usize, number(&lost.rows.first), number(&lost.rows.last)))
        .collect()
}

fn problem_offsets(found: &Verification) -> Vec<usize> {
    found.problems.iter().map(|damage| damage.at.get() as usize).collect()
}

#[test]
fn verification_resumes_at_the_block_after_an_unreadable_header() {
    let file = deep();
    assert!(check(file.clone()).is_sound());
    let data = |number| block(&file, BlockType::Data, number).0;
    // The rows of the damaged blocks. Row N is in block N.
    for rows in [&[0][..], &[100], &[199], &[20, 150], &[70, 71], &[0, 1, 2], &[197, 198, 199]] {
        let damaged: Vec<usize> = rows.iter().map(|row| data(*row)).collect();
        let found = with_damaged_headers(&file, &damaged);
        assert_eq!(problem_offsets(&found), damaged, "{rows:?}: {:#?}", found.problems);
        let is_lost = |row: &usize| rows.contains(row);
        let expected = rows.iter().zip(&damaged).map(|(&row, &at)| {
            let before = (0..row).rev().find(|row| !is_lost(row));
            (at, before, (row + 1..200).find(|row| !is_lost(row)))
        });
        assert_eq!(lost(&found), expected.collect::<Vec<_>>(), "{rows:?}");
        assert_eq!(found.cells, 200 - rows.len() as u64);
        assert!(!found.totals_checked);
    }
}

#[test]
fn an_unreadable_header_of_a_block_without_cells_costs_no_rows() {
    let file = deep();
    for (block_type, number) in [
        (BlockType::LeafIndex, 0),
        (BlockType::LeafIndex, 3),
        (BlockType::BloomChunk, 0),
        (BlockType::BloomChunk, 1),
        (BlockType::Meta, 0),
        (BlockType::IntermediateIndex, 1),
    ] {
        let at = block(&file, block_type, number).0;
        let found = with_damaged_headers(&file, &[at]);
        assert_eq!(problem_offsets(&found), [at], "{block_type}: {:#?}", found.problems);
        assert_eq!((found.cells, lost(&found)), (200, Vec::new()), "{block_type}");
    }
}

/// No index states the length of an index block, so the next sound block is searched for.
#[test]
fn an_unreadable_block_that_no_index_lists_ends_at_the_next_sound_block() {
    let file = deep();
    let blocks = headers(&file);
    let leaf =
        blocks.iter().position(|(_, header)| header.block_type == BlockType::LeafIndex).unwrap();
    let leaf_at = blocks[leaf].0;
    // Data blocks that this leaf lists.
    let data = |number| block(&file, BlockType::Data, number).0;
    assert!(data(4) < leaf_at);
    let found = with_damaged_headers(&file, &[data(2), leaf_at]);
    assert_eq!(problem_offsets(&found), [data(2), leaf_at], "{:#?}", found.problems);
    assert_eq!((found.cells, lost(&found)), (199, vec![(data(2), Some(1), Some(3))]));
    // Two neighbour blocks are one lost range.
    let found = with_damaged_headers(&file, &[data(2), data(3), leaf_at]);
    assert_eq!(problem_offsets(&found), [data(2), leaf_at], "{:#?}", found.problems);
    assert_eq!((found.cells, lost(&found)), (198, vec![(data(2), Some(1), Some(4))]));
}

/// A value may hold a whole HFile, whose sound blocks are not blocks of this file.
#[test]
fn verification_does_not_resume_at_a_block_inside_a_value() {
    let inner = rows('s');
    let options = WriterOptions::default();
    let mut writer = Writer::new(Vec::new(), FileName::new("outer"), options).unwrap();
    for row in ["a", "b", "c"] {
        // Longer than a block, so that each row has its own block.
        let value = [&inner[..], &vec![0; 70_000]].concat();
        let cell = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(7), &value);
        writer.append(cell).unwrap();
    }
    let file = writer.finish().unwrap().0;
    let at = block(&file, BlockType::Data, 1).0;
    let found = with_damaged_headers(&file, &[at]);
    assert_eq!(problem_offsets(&found), [at], "{:#?}", found.problems);
    assert_eq!(found.cells, 2);
    let rows = &found.lost_rows[0].rows;
    assert_eq!((rows.first.as_deref(), rows.last.as_deref()), (Some(&b"a"[..]), Some(&b"c"[..])));
}

#[test]
fn further_problems_of_a_file_with_a_damaged_block_are_reported() {
    let file = rows('r');
    let (at, header) = block(&file, BlockType::RootIndex, 0);
    let mut bytes = changed(&file, at, &header, |block| replace(block, b"r21", b"r22"));
    let (damaged, _) = block(&file, BlockType::Data, 5);
    bytes[damaged + 40] ^= 1;
    let found = check(bytes);
    let [first, second] = &found.problems[..] else { panic!("{:#?}", found.problems) };
    assert_eq!((first.at.get(), second.at.get()), (damaged as u64, at as u64));
    assert!(second.what.contains("is greater than the first key of its block"), "{second}");
}

#[test]
fn an_index_that_contradicts_the_blocks_is_reported() {
    let root = BlockType::RootIndex;
    expect(
        root,
        0,
        |block| replace(block, b"r21", b"r22"),
        "is greater than the first key of its block",
    );
    expect(
        root,
        0,
        |block| replace(block, b"r21", b"r20"),
        "is less than the last key of the previous",
    );
    expect(root, 0, |block| replace(block, b"r00", b"q00"), "is not the first key of the file");
    let file = rows('r');
    let (at, header) = block(&file, BlockType::Data, 7);
    let place = |at: usize, len: u64| {
        [&(at as u64).to_be_bytes()[..], &(len as u32).to_be_bytes()].concat()
    };
    let stated = place(at, header.len());
    let elsewhere = place(at + 1, header.len());
    expect(
        root,
        0,
        |block| replace(block, &stated, &elsewhere),
        "which is not the next data block",
    );
    let longer = place(at, header.len() + 1);
    expect(root, 0, |block| replace(block, &stated, &longer), "bytes for the block at");
}

#[test]
fn the_order_of_cells_is_checked_across_blocks() {
    expect(BlockType::Data, 9, |block| replace(block, b"r09", b"r07"), "is less than r08");
}

#[test]
fn counts_of_keys_and_averages_are_checked() {
    let add_one = |block: &mut [u8], at: usize| block[at] += 1;
    let general = BlockType::GeneralBloomMeta;
    expect(general, 0, |block| add_one(block, 33 + 27), "41 keys and should have 40");
    let deletes = BlockType::DeleteFamilyBloomMeta;
    expect(deletes, 0, |block| add_one(block, 33 + 27), "11 keys and should have 10");
    for (key, value_len) in [
        ("hfile.AVG_KEY_LEN", 4),
        ("MAX_MEMSTORE_TS_KEY", 8),
        ("DELETE_FAMILY_COUNT", 8),
        ("EARLIEST_PUT_TS", 8),
    ] {
        let add_one = |block: &mut [u8]| {
            let at = block.windows(key.len()).position(|window| window == key.as_bytes()).unwrap();
            block[at + key.len() + 1 + value_len] += 1;
        };
        expect(BlockType::FileInfo, 0, add_one, &format!("{key} is"));
    }
    let last_key = |block: &mut [u8]| replace(block, b"\0\x03r39", b"\0\x03r40");
    expect(BlockType::FileInfo, 0, last_key, "LASTKEY is not the key");
}

#[test]
fn each_filter_is_asked_about_each_key() {
    let clear = |block: &mut [u8]| block[33..].fill(0);
    let chunks = BlockType::BloomChunk;
    expect(chunks, 0, clear, "is denied by the Bloom filter");
    expect(chunks, 1, clear, "is denied by the Bloom filter over family deletes");
    let others = rows('s');
    let (at, header) = block(&others, BlockType::Meta, 0);
    let other = &others[at..at + header.on_disk_data_size_with_header as usize];
    let exchange = |block: &mut [u8]| block[33..].copy_from_slice(&other[33..]);
    expect(BlockType::Meta, 0, exchange, "is another filter than the file has here");
}

#[test]
fn a_block_without_checksums_in_a_file_with_checksums_is_reported() {
    let file = rows('r');
    for (at, _) in headers(&file) {
        let mut bytes = file.clone();
        bytes[at + 24] = ChecksumType::Null.code();
        bytes[at + 35] ^= 1;
        let found = check(bytes);
        let [damage] = &found.problems[..] else { panic!("{:#?}", found.problems) };
        assert!(damage.what.contains("unlike the rest of the file"), "{damage}");
        // The first root sets the checksum type of the file, so damage to it shows at the second.
        let (root, header) = block(&file, BlockType::RootIndex, 0);
        let named = if at == root { at + header.len() as usize } else { at };
        assert_eq!(damage.at.get(), named as u64);
    }
}

#[test]
fn a_wrong_previous_offset_is_reported_for_each_block_type() {
    for file in FILES {
        for (at, header) in headers(file) {
            let bytes = changed(file, at, &header, |block| {
                // Only the first block of a chain has no `previous` offset.
                let broken = if header.previous_block.is_some() { -1_i64 } else { 0 };
                block[16..24].copy_from_slice(&broken.to_be_bytes());
            });
            assert!(!check(bytes).is_sound(), "{} at {at:#x}", header.block_type);
        }
    }
}

#[test]
fn wrong_numbers_in_the_trailer_are_reported() {
    let file = FILES[3];
    let start = file.len() - Trailer::LEN as usize;
    let trailer = Trailer::read(&file[start..], start as u64).unwrap();
    let wrong: [fn(&mut Trailer); 4] = [
        |trailer| trailer.entry_count += 1,
        |trailer| trailer.total_uncompressed_bytes += 1,
        |trailer| trailer.uncompressed_data_index_size -= 1,
        |trailer| trailer.last_data_block_offset = Some(BlockOffset::default()),
    ];
    for change in wrong {
        let mut trailer = trailer.clone();
        change(&mut trailer);
        let mut bytes = file[..start].to_vec();
        trailer.write(&mut bytes);
        let found = check(bytes);
        let [damage] = &found.problems[..] else { panic!("{:?}", found.problems) };
        assert_eq!(damage.block, Some(BlockType::Trailer), "{damage}");
    }
}

#[test]
fn a_cell_out_of_order_with_correct_checksums_is_reported() {
    let file = FILES[3];
    let (at, header) = headers(file)[0];
    // The first byte of the first row, which is then greater than all others.
    let bytes = changed(file, at, &header, |block| block[33 + 10] = 0xff);
    let found = check(bytes);
    assert!(!found.is_sound());
    assert!(found.problems.iter().any(|damage| damage.at == BlockOffset::default()), "{found:?}");
}

#[test]
fn cells_of_one_key_are_ordered_by_descending_sequence_id() {
    let file = |sequence_ids: [u64; 3]| {
        let options = WriterOptions::default().includes_mvcc(true);
        let mut writer = Writer::new(Vec::new(), FileName::new("rows"), options).unwrap();
        for id in sequence_ids {
            let cell = CellRef::put(b"row", b"f", b"q", Timestamp::new(1), b"value");
            let cell = CellRef { sequence_id: SequenceId::new(id), ..cell };
            writer.append(cell).unwrap();
        }
        writer.finish().unwrap().0
    };
    assert_eq!(check(file([9, 9, 3])).problems, []);
    let found = check(file([9, 3, 5])).problems;
    let [damage] = &found[..] else { panic!("{found:#?}") };
    assert!(damage.what.contains("has sequence id 5 after 3 of the same key"), "{damage}");
}

/// Returns the rows that the only problem of a file costs, as text; `None` if it costs none.
fn cost(found: &Verification) -> Option<String> {
    let [problem] = &found.problems[..] else { panic!("{:#?}", found.problems) };
    found.rows_lost(problem).map(|rows| rows.to_string())
}

#[test]
fn what_reads_do_not_need_costs_no_rows() {
    let file = deep();
    let flipped = |at: usize| {
        let mut bytes = file.clone();
        bytes[at] ^= 4;
        check(bytes)
    };
    let padding = file.len() - 10;
    let found = flipped(padding);
    assert!(found.problems[0].what.contains("the padding is damaged"), "{:?}", found.problems);
    assert_eq!(cost(&found), None);
    // A byte of the body, and one of the header. No index lists the last block, so its damaged header does not tell
    // what it was.
    for (unneeded, bytes) in [
        (BlockType::BloomChunk, &[33, 0][..]),
        (BlockType::Meta, &[33, 0]),
        (BlockType::GeneralBloomMeta, &[33]),
    ] {
        let at = block(&file, unneeded, 0).0;
        for byte in bytes {
            let found = flipped(at + byte);
            assert_eq!(cost(&found), None, "{unneeded}, byte {byte}");
            assert_eq!(found.cells, 200, "{unneeded}");
        }
    }
    let at = block(&file, BlockType::Data, 100).0;
    assert_eq!(cost(&flipped(at + 33)).as_deref(), Some("rows from row099 to row101"));
    let trailer = file.len() - Trailer::LEN as usize;
    assert_eq!(cost(&flipped(trailer)).as_deref(), Some("all rows"));
}

#[test]
fn a_leaf_of_the_index_costs_the_rows_to_which_it_leads() {
    let file = deep();
    let leaf = |number| block(&file, BlockType::LeafIndex, number).0;
    let data_before = |at| {
        headers(&file)
            .iter()
            .filter(|(block, header)| *block < at && header.block_type == BlockType::Data)
            .count()
    };
    for (number, first) in [(0, 0), (2, data_before(leaf(1)))] {
        let mut bytes = file.clone();
        bytes[leaf(number) + 33] ^= 4;
        let last = data_before(leaf(number)) - 1;
        let rows = format!("rows from row{first:03} to row{last:03}");
        assert_eq!(cost(&check(bytes)), Some(rows), "leaf {number}");
    }
}

#[test]
fn wrong_cells_cost_the_rows_of_their_block_and_wrong_averages_none() {
    let file = FILES[3];
    let filter = block(file, BlockType::BloomChunk, 0);
    let found = check(changed(file, filter.0, &filter.1, |block| block[33..].fill(0)));
    let denied = found.rows_lost(&found.problems[0]).unwrap();
    assert!(
        denied.first.is_some() && denied.last.is_some() && denied.first < denied.last,
        "{denied}"
    );
    let start = file.len() - Trailer::LEN as usize;
    let trailer = Trailer::read(&file[start..], start as u64).unwrap();
    let wrong: [fn(&mut Trailer); 3] = [
        |trailer| trailer.entry_count += 1,
        |trailer| trailer.total_uncompressed_bytes += 1,
        |trailer| trailer.uncompressed_data_index_size -= 1,
    ];
    for (change, rows) in wrong.into_iter().zip([Some("all rows"), None, None]) {
        let mut trailer = trailer.clone();
        change(&mut trailer);
        let mut bytes = file[..start].to_vec();
        trailer.write(&mut bytes);
        assert_eq!(cost(&check(bytes)).as_deref(), rows);
    }
}
