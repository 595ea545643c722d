use filter::{ErrorRate, FilterKind, Seed, Sizing};

use super::*;
use crate::{
    BlockCache, BlockKind, BlockSource, CellRef, CellType, FilterOptions, Timestamp, Writer,
    WriterOptions,
};

pub(super) const SEED: Seed = Seed::new(0x5eed);
pub(super) const ROWS: u32 = 3000;

pub(super) fn with_filter() -> WriterOptions {
    let sizing = Sizing::ErrorRate(ErrorRate::new(0.01).unwrap());
    WriterOptions::default().filter(FilterOptions {
        kind: FilterKind::BlockedBloom,
        sizing,
        seed: SEED,
    })
}

/// A file with rows of even numbers.
pub(super) fn write(options: WriterOptions) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), FileName::new("rows"), options).unwrap();
    for number in 0..ROWS {
        let row = row(number * 2);
        for qualifier in [b"a", b"b"] {
            let cell = CellRef {
                row: &row,
                family: b"f",
                qualifier,
                timestamp: Timestamp::new(1),
                cell_type: CellType::Put,
                value: b"value",
                tags: b"",
                sequence_id: SequenceId::new(1),
            };
            writer.append(cell).unwrap();
        }
    }
    writer.finish().unwrap().0
}

pub(super) fn row(number: u32) -> Vec<u8> {
    format!("row{number:06}").into_bytes()
}

pub(super) fn open(bytes: &[u8], options: ReaderOptions) -> Reader {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    Reader::open(source, FileName::new("rows"), options).unwrap()
}

pub(super) fn cached() -> ReaderOptions {
    ReaderOptions::default().cache(Arc::new(BlockCache::new(8 << 20)))
}

/// Looks all rows up, those that are there and those between them.
pub(super) fn look_up_all(reader: &Reader) -> ReadTrace {
    let mut trace = ReadTrace::default();
    for number in 0..2 * ROWS {
        let row = row(number);
        let probe = RowProbe::new(&row, SEED);
        let found = reader.seek_row(&probe, &mut trace).unwrap();
        assert_eq!(found.is_some(), number % 2 == 0, "row {number}");
        if let Some(scanner) = found {
            let cell = scanner.cell().unwrap();
            assert_eq!((cell.row, cell.qualifier), (&row[..], &b"a"[..]));
        }
    }
    assert_eq!(trace.files_considered, u64::from(2 * ROWS));
    trace
}

#[test]
fn a_filter_of_ours_is_asked_before_any_other_block() {
    let reader = open(&write(with_filter()), cached());
    let summary = reader.filter().unwrap().unwrap();
    assert_eq!((summary.kind, summary.key_count), (FilterKind::BlockedBloom, ROWS.into()));
    let trace = look_up_all(&reader);
    let absent = u64::from(ROWS);
    // The last absent row is behind the file's last.
    assert_eq!(trace.files_skipped_by_range, 1);
    assert_eq!(trace.files_skipped_by_filter + trace.filter_false_positives, absent - 1);
    assert!(trace.filter_false_positives < absent / 40, "{}", trace.filter_false_positives);
    assert_eq!(trace.filter_checks, 2 * absent - 1);
    assert_eq!(trace.blocks(BlockKind::Meta, BlockSource::Cache), 2 * absent - 1);
    assert_eq!(trace.blocks(BlockKind::Bloom, BlockSource::Cache), 0);
    assert_eq!(trace.data_blocks(), absent + trace.filter_false_positives);
}

#[test]
fn filters_can_be_chosen() {
    let bytes = write(with_filter());
    let uses = [FilterUse::Best, FilterUse::HBaseBloom, FilterUse::MetaFilter, FilterUse::None];
    for filter_use in uses {
        let trace = look_up_all(&open(&bytes, cached().filter_use(filter_use)));
        let from_cache = |kind| trace.blocks(kind, BlockSource::Cache) > 0;
        let is_ours = matches!(filter_use, FilterUse::Best | FilterUse::MetaFilter);
        assert_eq!(from_cache(BlockKind::Meta), is_ours, "{filter_use:?}");
        assert_eq!(from_cache(BlockKind::Bloom), filter_use == FilterUse::HBaseBloom);
        assert_eq!(trace.filter_checks == 0, filter_use == FilterUse::None, "{filter_use:?}");
    }
}

#[test]
fn indexes_of_any_height_find_every_row() {
    for (index_block_size, levels) in [(1 << 20, 1), (4096, 2), (600, 3)] {
        let options = WriterOptions::default()
            .block_size(300)
            .index_block_size(index_block_size)
            .index_min_entries(4);
        let bytes = write(options);
        let reader = open(&bytes, cached());
        assert_eq!(reader.index_levels(), levels);
        let trace = look_up_all(&reader);
        let index_blocks = trace.blocks(BlockKind::Index, BlockSource::Cache)
            + trace.blocks(BlockKind::Index, BlockSource::File);
        let looked_into = u64::from(ROWS) + trace.filter_false_positives;
        assert_eq!(index_blocks, looked_into * u64::from(levels - 1));
        // Without a cache all the same, with every block from the file.
        let trace = look_up_all(&open(&bytes, ReaderOptions::default()));
        assert_eq!(trace.blocks_from(BlockSource::Cache), 0);
    }
}

#[test]
fn a_filter_without_room_in_the_budget_is_read_and_not_kept() {
    let cache = Arc::new(BlockCache::new(1024));
    let reader = open(&write(with_filter()), ReaderOptions::default().cache(Arc::clone(&cache)));
    let trace = look_up_all(&reader);
    assert_eq!(cache.stats().reserved_bytes, 0);
    assert_eq!(trace.blocks(BlockKind::Meta, BlockSource::File), u64::from(2 * ROWS - 1));
}

#[test]
fn a_damaged_filter_of_ours_hides_nothing() {
    let bytes = write(with_filter().bloom_type(crate::BloomType::None));
    let meta = bytes.windows(8).position(|magic| magic == b"METABLKc").unwrap();
    let mut damaged = bytes;
    damaged[meta + 40] ^= 1;
    let reader = open(&damaged, cached());
    assert!(reader.filter().is_err());
    let trace = look_up_all(&reader);
    assert_eq!(trace.filters_unreadable, u64::from(2 * ROWS - 1));
    assert_eq!((trace.filter_checks, trace.filter_false_positives), (0, 0));
}

#[test]
fn meta_blocks_are_found_by_name() {
    let mut writer =
        Writer::new(Vec::new(), FileName::new("metas"), WriterOptions::default()).unwrap();
    for (name, body) in [("one", "first"), ("two", "second")] {
        writer.append_meta(name, body).unwrap();
    }
    let reader = open(&writer.finish().unwrap().0, cached());
    assert!(reader.meta_block_names().eq([b"one", b"two"]));
    let mut trace = ReadTrace::default();
    assert_eq!(reader.meta_block(b"two", &mut trace).unwrap().unwrap(), &b"second"[..]);
    assert_eq!(reader.meta_block(b"three", &mut trace).unwrap(), None);
    assert_eq!(trace.blocks(BlockKind::Meta, BlockSource::File), 1);
}

#[test]
fn opening_reads_the_end_of_the_file_and_nothing_else() {
    struct Counted(Bytes, std::sync::Mutex<Vec<(u64, usize)>>);
    impl ReadAt for Counted {
        fn len(&self) -> u64 {
            ReadAt::len(&self.0)
        }
        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
            self.1.lock().unwrap().push((offset, buffer.len()));
            self.0.read_exact_at(buffer, offset)
        }
    }
    let bytes = write(with_filter());
    let counted = Arc::new(Counted(Bytes::from(bytes), std::sync::Mutex::default()));
    let source: Arc<dyn ReadAt> = counted.clone();
    Reader::open(source, FileName::new("rows"), ReaderOptions::default()).unwrap();
    assert_eq!(counted.1.lock().unwrap().len(), 1);
}

#[test]
fn filter_blocks_start_where_cache_lines_do() {
    let reader = open(&write(with_filter()), cached());
    let filter = reader.meta_block(b"filter.row", &mut ReadTrace::default()).unwrap().unwrap();
    assert_eq!(filter.as_ptr().align_offset(64), 0);
}

/// A file of version 3 without tags differs from one of version 2.3 in its trailer alone.
#[test]
fn files_of_version_2_3_are_read() {
    let bytes = write(WriterOptions::default());
    let reader = open(&bytes, cached());
    let trailer = Trailer { major_version: 2, ..reader.trailer().clone() };
    let mut old = bytes[..bytes.len() - 4096].to_vec();
    trailer.write(&mut old);
    assert_eq!(old.len(), bytes.len() - 4096 + 212);
    let old = open(&old, cached());
    assert_eq!((old.trailer().major_version, old.trailer().minor_version), (2, 3));
    assert_eq!(old.blocks().count(), reader.blocks().count());
    look_up_all(&old);
}

/// HBase itself denies rows of such files: it looks for the chunk by the order of bytes.
#[test]
fn bloom_filters_of_hbase_meta_are_not_asked() {
    let rows = [&b"t,,1"[..], b"t,\x00,1", b"t,b,1", b"t\x01,,1", b"t\x01,,2", b"t1,,1"];
    let options = WriterOptions::default()
        .comparator(Comparator::Meta)
        .block_size(1)
        .bloom_block_size(2)
        .bloom_max_fold(0);
    let mut writer = Writer::new(Vec::new(), FileName::new("meta"), options).unwrap();
    for row in rows {
        let cell = CellRef {
            row,
            family: b"info",
            qualifier: b"q",
            timestamp: Timestamp::new(1),
            cell_type: CellType::Put,
            value: b"",
            tags: b"",
            sequence_id: SequenceId::new(1),
        };
        writer.append(cell).unwrap();
    }
    let reader = open(&writer.finish().unwrap().0, cached());
    assert_eq!((reader.bloom(), reader.bloom_problem()), (None, None));
    let mut trace = ReadTrace::default();
    for row in rows {
        assert!(reader.seek_row(&RowProbe::new(row, SEED), &mut trace).unwrap().is_some());
    }
    assert!(reader.seek_row(&RowProbe::new(b"t,a,1", SEED), &mut trace).unwrap().is_none());
    assert_eq!((trace.filter_checks, trace.files_skipped_by_range), (0, 0));
    // As bytes the first of these would stand before all rows of the file, and is among them.
    for (row, skipped) in [(&b"t+,,1"[..], 0), (b"t2,,1", 1)] {
        assert!(reader.seek_row(&RowProbe::new(row, SEED), &mut trace).unwrap().is_none());
        assert_eq!(trace.files_skipped_by_range, skipped);
    }
}
