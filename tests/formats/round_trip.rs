//! Round trip: any cells, written with any options, are read back.

use std::sync::Arc;

use bytes::Bytes;
use filter::hbase::HashType;
use filter::{ErrorRate, FilterKind, Seed, Sizing};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use sstable::{
    BloomType, Caching, Cell, CellRef, CellType, ChecksumType, Compression, DataBlockEncoding,
    FileName, FilterOptions, FilterUse, Reader, ReaderOptions, RowProbe, SequenceId, Timestamp,
    Writer, WriterOptions, ZstdFraming,
};
use support::cells::read_all;

/// The parts of a cell, of few different bytes, so that parts are often equal or prefixes.
fn cell() -> impl Strategy<Value = Cell> {
    let bytes =
        |len: std::ops::Range<usize>| vec(select(&[0, 1, b'a', b'b', 0x7f, 0x80, 0xff]), len);
    let row = prop_oneof![9 => bytes(1..5), 1 => bytes(250..300)];
    let timestamp = prop_oneof![
        select(&[0, 1, 255, 256, i64::MAX - 1, i64::MAX]),
        0..i64::MAX,
        1_700_000_000_000..1_700_000_000_300_i64,
    ];
    let value = prop_oneof![8 => bytes(0..5), 1 => bytes(100..3000)];
    let tags = vec((any::<u8>(), bytes(0..4)), 0..4);
    let sequence_id = prop_oneof![Just(0), 0..300_u64, Just(SequenceId::MAX.get())];
    (row, bytes(0..4), timestamp, select(&CellType::ALL), value, tags, sequence_id).prop_map(
        |(row, qualifier, timestamp, cell_type, value, tags, sequence_id)| {
            let tag = |(tag_type, data): (u8, Vec<u8>)| {
                [&(data.len() as u16 + 1).to_be_bytes()[..], &[tag_type], &data].concat()
            };
            let tags: Vec<u8> = tags.into_iter().flat_map(tag).collect();
            let timestamp = Timestamp::new(timestamp);
            let sequence_id = SequenceId::new(sequence_id);
            let (row, value, tags) = (&row[..], &value[..], &tags[..]);
            let qualifier = &qualifier[..];
            CellRef { row, family: b"f", qualifier, timestamp, cell_type, value, tags, sequence_id }
                .to_cell()
        },
    )
}

/// Cells that a file can hold.
fn cells() -> impl Strategy<Value = Vec<Cell>> {
    vec(cell(), 0..120).prop_map(|mut cells| {
        cells.sort_by(|left, right| left.as_ref().compare(&right.as_ref()));
        cells.dedup_by(|left, right| left.as_ref().key() == right.as_ref().key());
        cells
    })
}

/// Returns every codec of this build.
fn codecs() -> Vec<Compression> {
    Compression::ALL.into_iter().filter(|codec| codec.is_supported()).collect()
}

prop_compose! {
    fn options()(
        (encoding, compression, checksum) in (
            select(&DataBlockEncoding::ALL),
            select(codecs()),
            select(&ChecksumType::ALL),
        ),
        bloom in select(&[
            BloomType::None, BloomType::Row, BloomType::RowCol, BloomType::RowPrefixFixedLength(2),
        ]),
        hash in select(HashType::ALL),
        (mvcc, compress_tags, filter) in any::<(bool, bool, bool)>(),
        framing in select(&ZstdFraming::ALL),
        block_size in select(&[0, 1, 100, 1000, 65_536]),
        index_block_size in select(&[1, 100, 1000, 131_072]),
        index_min_entries in 2..20_u32,
        bloom_block_size in select(&[1, 64, 131_072]),
        bytes_per_checksum in select(&[33, 100, 16_384]),
    ) -> WriterOptions {
        let options = WriterOptions::default()
            .data_block_encoding(encoding)
            .compression(compression)
            .zstd_framing(framing)
            .checksum(checksum)
            .bytes_per_checksum(bytes_per_checksum)
            .bloom_type(bloom)
            .bloom_hash(hash)
            .bloom_block_size(bloom_block_size)
            .block_size(block_size)
            .index_block_size(index_block_size)
            .index_min_entries(index_min_entries)
            .includes_mvcc(mvcc)
            .includes_tags(true)
            .compress_tags(compress_tags);
        let rate = Sizing::ErrorRate(ErrorRate::HBASE);
        let kind = FilterKind::BlockedBloom;
        let ours = FilterOptions::new(kind, rate).seed(Seed::new(3));
        if filter { options.filter(ours) } else { options }
    }
}

/// Returns the cells as a file without sequence ids returns them.
fn without_sequence_ids(cells: &[Cell]) -> Vec<Cell> {
    let none = SequenceId::default();
    cells.iter().map(|cell| CellRef { sequence_id: none, ..cell.as_ref() }.to_cell()).collect()
}

proptest! {
    #[test]
    fn written_cells_are_read_back(cells in cells(), options in options()) {
        let mut writer =
            Writer::new(Vec::new(), FileName::new("written"), options).expect("sound options");
        for cell in &cells {
            writer.append(cell.as_ref()).expect("cells in order");
        }
        let (bytes, summary) = writer.finish().expect("writable");
        prop_assert_eq!(summary.cell_count, cells.len() as u64);
        prop_assert_eq!(summary.first_row.as_deref(), cells.first().map(Cell::row));
        prop_assert_eq!(summary.last_row.as_deref(), cells.last().map(Cell::row));

        for filter_use in [FilterUse::Best, FilterUse::None] {
            let source = Arc::new(Bytes::from(bytes.clone()));
            let reading = ReaderOptions::default().filter_use(filter_use);
            let reader = Reader::open(source, FileName::new("written"), reading).expect("sound");
            let keeps_ids = reader.file_info().includes_mvcc();
            let expected =
                if keeps_ids { cells.clone() } else { without_sequence_ids(&cells) };
            prop_assert_eq!(&read_all(&reader), &expected);

            for cell in &cells {
                let probe = RowProbe::new(cell.row(), Seed::new(3));
                let found = reader.look_up(&probe).expect("sound");
                let first = expected.iter().find(|first| first.row() == cell.row());
                prop_assert_eq!(found.cell(), first.map(Cell::as_ref));
                let mut scanner = reader.scanner(Caching::Bypass);
                scanner.seek(cell.as_ref().key()).expect("sound");
                prop_assert_eq!(scanner.cell().map(|found| found.key()), Some(cell.as_ref().key()));
            }
        }
    }
}
