use bytes::Bytes;

use super::*;
use crate::{ChecksumType, Trailer};

const FILES: [&[u8]; 4] = [
    include_bytes!("../../../../../tests/data/hfile/s02-empty.hfile"),
    include_bytes!("../../../../../tests/data/hfile/s15-extra-file-info.hfile"),
    include_bytes!("../../../../../tests/data/hfile/p11-prefix-none-row.hfile"),
    include_bytes!("../../../../../tests/data/hfile/p25-none-none-row.hfile"),
];

fn check(bytes: impl Into<Bytes>) -> Verification {
    let source = Arc::new(bytes.into());
    verify(source, FileName::new("file"), Limits::default(), |_| {}).unwrap()
}

/// The headers of a file's blocks, and where they stand.
fn headers(bytes: &[u8]) -> Vec<(usize, Header)> {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    let reader = Reader::open(source, FileName::new("file"), ReaderOptions::default()).unwrap();
    reader.blocks().map(|block| block.unwrap()).map(|(at, it)| (at.get() as usize, it)).collect()
}

/// A file with a block's bytes changed, and its checksums made anew.
fn changed(bytes: &[u8], at: usize, header: &Header, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
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
fn every_block_with_a_flipped_bit_is_named() {
    for file in FILES {
        for (at, header) in headers(file) {
            if header.is_empty() || header.checksum_type == ChecksumType::Null {
                continue;
            }
            let mut bytes = file.to_vec();
            bytes[at + 33] ^= 4;
            let found = check(bytes);
            let named = |damage: &Damage| {
                damage.at.get() == at as u64 && damage.block == Some(header.block_type)
            };
            assert!(found.problems.iter().any(named), "{at:#x}: {:?}", found.problems);
        }
    }
}

#[test]
fn a_broken_chain_of_blocks_is_noticed_in_each_type() {
    for file in FILES {
        for (at, header) in headers(file) {
            let bytes = changed(file, at, &header, |block| {
                // Every block can follow none but the first of its chain, and that one none.
                let broken = if header.previous_block.is_some() { -1_i64 } else { 0 };
                block[16..24].copy_from_slice(&broken.to_be_bytes());
            });
            assert!(!check(bytes).is_sound(), "{} at {at:#x}", header.block_type);
        }
    }
}

#[test]
fn wrong_numbers_in_the_trailer_are_noticed() {
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
fn a_filter_that_denies_a_row_is_noticed() {
    let file = FILES[3];
    let chunk = headers(file).into_iter().find(|it| it.1.block_type == BlockType::BloomChunk);
    let (at, header) = chunk.unwrap();
    let bytes = changed(file, at, &header, |block| block[33..].fill(0));
    let found = check(bytes);
    assert!(found.problems.iter().all(|it| it.what.contains("denied by the Bloom filter")));
    assert!(found.problems.len() > 10);
}

#[test]
fn a_cell_out_of_order_is_noticed_with_its_checksums_right() {
    let file = FILES[3];
    let (at, header) = headers(file)[0];
    // The first letter of the first row: now it is behind all others.
    let bytes = changed(file, at, &header, |block| block[33 + 10] = 0xff);
    let found = check(bytes);
    assert!(!found.is_sound());
    assert!(found.problems.iter().any(|it| it.at == BlockOffset::default()), "{found:?}");
}
