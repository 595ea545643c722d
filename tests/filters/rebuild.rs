//! Row filters added to files of HBase: data blocks keep their bytes and offsets, the rest stays
//! valid, and removing the filter restores the original file.

use std::sync::Arc;

use bytes::Bytes;
use filter::{ErrorRate, FilterKind, Seed, Sizing};
use sstable::tools::rebuild_filter;
use sstable::{
    BlockType, Comparator, FileInfo, FileName, FilterOptions, Limits, ReadAt, Reader,
    ReaderOptions, Timestamp, Writer, WriterOptions, verify,
};
use support::cells::{Shape, cells, read_all};
use support::fixtures::Fixture;

fn filter(kind: FilterKind, error_rate: f64) -> FilterOptions {
    let rate = ErrorRate::new(error_rate).expect("a rate");
    FilterOptions::new(kind, Sizing::ErrorRate(rate)).seed(Seed::new(3))
}

fn rebuilt(bytes: &[u8], filter: impl Into<Option<FilterOptions>>) -> Vec<u8> {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    let name = FileName::new("file");
    let filter = filter.into();
    let (bytes, len) = rebuild_filter(source, name, Limits::default(), filter, &[], Vec::new())
        .expect("a sound file");
    assert_eq!(len, bytes.len() as u64);
    bytes
}

fn open(bytes: &[u8]) -> Reader {
    let source: Arc<dyn ReadAt> = Arc::new(Bytes::copy_from_slice(bytes));
    Reader::open(source, FileName::new("file"), ReaderOptions::default()).expect("a sound file")
}

/// Returns the end of the data section: data blocks, leaf indexes and Bloom chunks.
fn data_end(reader: &Reader) -> usize {
    let is_data = |block_type| {
        use BlockType::{BloomChunk, Data, EncodedData, LeafIndex};
        matches!(block_type, Data | EncodedData | LeafIndex | BloomChunk)
    };
    let blocks = reader.blocks().headers().map(|block| block.expect("a sound file"));
    let data = blocks.take_while(|(_, header)| is_data(header.block_type));
    data.last().map_or(0, |(at, header)| usize::try_from(at.get() + header.len()).expect("small"))
}

fn assert_sound(bytes: &[u8], what: &str) {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    let found = verify(source, FileName::new("file"), Limits::default(), |_| {});
    assert_eq!(found.expect("memory can be read").problems, [], "{what}");
}

#[test]
fn adding_and_removing_a_filter_restores_files_of_hbase() {
    for (index, fixture) in Fixture::all().iter().enumerate() {
        let theirs = fixture.bytes();
        let reader = open(&theirs);
        // Row filters require rows in byte order.
        if reader.trailer().comparator == Comparator::Meta {
            continue;
        }
        let kind = FilterKind::IN_FILES[index % FilterKind::IN_FILES.len()];
        let ours = rebuilt(&theirs, filter(kind, 0.01));
        let name = &fixture.name;
        let end = data_end(&reader);
        assert!(ours[..end] == theirs[..end], "{name}: the data section differs");
        assert_sound(&ours, name);
        let with = open(&ours);
        assert_eq!(data_end(&with), end, "{name}");
        assert_eq!(read_all(&with), read_all(&reader), "{name}");
        let summary = with.filters().row_filter().expect("a sound file").expect("the file has one");
        assert_eq!(summary.kind, kind, "{name}");
        let entries = with.file_info().iter().filter(|(key, _)| *key != FileInfo::ROW_FILTER_ID);
        assert!(entries.eq(reader.file_info().iter()), "{name}");
        assert_eq!(with.file_info().value(FileInfo::ROW_FILTER_ID).map(<[u8]>::len), Some(16));

        // Another kind replaces the filter, then none.
        let other = rebuilt(&ours, filter(FilterKind::BlockedBloom, 0.1));
        assert_eq!(other, rebuilt(&theirs, filter(FilterKind::BlockedBloom, 0.1)), "{name}");
        // The META index is rewritten, and our codecs may compress it differently from HBase's.
        if fixture.setting("compression") == "NONE" {
            assert!(rebuilt(&ours, None) == theirs, "{name}: not the original file");
        }
    }
}

/// Four index levels, whose upper levels move; foreign META blocks; partitions.
#[test]
fn a_rebuild_moves_a_deep_index_and_keeps_foreign_meta_blocks() {
    let shape = Shape { rows: 9000, columns: 1, versions: 1, ..Shape::default() };
    let cells = cells(1, shape);
    for kind in FilterKind::IN_FILES.iter().copied() {
        let options = WriterOptions::default()
            .block_size(300)
            .index_block_size(300)
            .index_min_entries(4)
            .create_time(Timestamp::new(1))
            .filter(filter(kind, 0.01));
        let write = |options| {
            let name = FileName::new("file");
            let mut writer = Writer::new(Vec::new(), name, options).expect("sound options");
            for cell in &cells {
                writer.append(cell.as_ref()).expect("sound cells");
            }
            writer.append_meta("a note", "foreign text").expect("a new name");
            writer.append_meta("note", "other text").expect("a new name");
            writer.finish().expect("in memory").0
        };
        let finer = filter(kind, 1e-4);
        let written = write(options.clone());
        let reader = open(&written);
        assert!(reader.index().levels() >= 4, "{}", reader.index().levels());
        let again = rebuilt(&written, finer);
        assert!(again == write(options.filter(finer)), "{kind}: the bytes differ");
        assert_sound(&again, kind.name());
    }
}
