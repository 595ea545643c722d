use bytes::Bytes;
use cells::{CellRef, Comparator, KeyRef, SequenceId, Timestamp};
use filter::{ErrorRate, FilterKind, Seed, Sizing};

use super::*;
use crate::block::BloomType;
use crate::block::bloom::BloomBits;
use crate::block::cached::CachedBlock;
use crate::block::index_entry::BlockHandle;
use crate::block::meta::MetaBlock;
use crate::buffers::Buffers;
use crate::cache::{BlockCache, CacheKey};
use crate::encoding::DataBlockEncoding;
use crate::error::BlockType;
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::options::FilterUse;
use crate::file::read_context::ReadContext;
use crate::probe::RowProbe;
use crate::trace::{BlockKind, BlockSource};
use crate::write::{FilterOptions, Writer, WriterOptions};

pub(crate) const SEED: Seed = Seed::new(0x5eed);
pub(crate) const ROWS: u32 = 3000;

pub(crate) fn with_filter() -> WriterOptions {
    let sizing = Sizing::ErrorRate(ErrorRate::new(0.01).unwrap());
    WriterOptions::default().filter(FilterOptions::new(FilterKind::BlockedBloom, sizing).seed(SEED))
}

/// Writes a file with rows of even numbers.
pub(crate) fn write(options: WriterOptions) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), FileName::new("rows"), options).unwrap();
    for number in 0..ROWS {
        let row = row(number * 2);
        for qualifier in [b"a", b"b"] {
            let cell = CellRef::put(&row, b"f", qualifier, Timestamp::new(1), b"value");
            writer.append(CellRef { sequence_id: SequenceId::new(1), ..cell }).unwrap();
        }
    }
    writer.finish().unwrap().0
}

pub(crate) fn row(number: u32) -> Vec<u8> {
    format!("row{number:06}").into_bytes()
}

pub(crate) fn open(bytes: &[u8], options: ReaderOptions) -> Reader {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    Reader::open(source, FileName::new("rows"), options).unwrap()
}

pub(crate) fn cached() -> ReaderOptions {
    ReaderOptions::default().cache(Arc::new(BlockCache::new(8 << 20)))
}

/// Returns a scanner at the first cell of a row, and the counters of the lookup.
pub(crate) fn scanner_at(reader: &Reader, probe: &RowProbe<'_>) -> (Option<Scanner>, ReadTrace) {
    let files = [reader.lookup_file()];
    let mut lookup = RowLookup::new(&files, probe, LookupLimits::default());
    let found = lookup.next_file().unwrap();
    (found.map(RowInFile::into_scanner), *lookup.trace())
}

/// Looks up all rows of the file, and the absent rows between them.
pub(crate) fn look_up_all(reader: &Reader) -> ReadTrace {
    let mut trace = ReadTrace::default();
    for number in 0..2 * ROWS {
        let row = row(number);
        let found = reader.look_up(&RowProbe::new(&row, SEED)).unwrap();
        trace.add(&found.trace());
        assert_eq!(found.cell().is_some(), number % 2 == 0, "row {number}");
        if let Some(cell) = found.cell() {
            assert_eq!((cell.row, cell.qualifier), (&row[..], &b"a"[..]));
        }
    }
    assert_eq!(trace.files_considered, u64::from(2 * ROWS));
    trace
}

#[test]
fn our_filter_is_asked_before_other_blocks_are_read() {
    let reader = open(&write(with_filter()), cached());
    let summary = reader.filters().row_filter().unwrap().unwrap();
    assert_eq!((summary.kind, summary.key_count), (FilterKind::BlockedBloom, ROWS.into()));
    let trace = look_up_all(&reader);
    let absent = u64::from(ROWS);
    // The last absent row is after the file's last row.
    assert_eq!(trace.files_skipped_by_range, 1);
    assert_eq!(trace.files_skipped_by_filter + trace.filter_false_positives, absent - 1);
    assert!(trace.filter_false_positives < absent / 40, "{}", trace.filter_false_positives);
    assert_eq!(trace.filter_checks, 2 * absent - 1);
    assert_eq!(trace.blocks(BlockKind::Meta, BlockSource::Cache), 2 * absent - 1);
    assert_eq!(trace.blocks(BlockKind::Bloom, BlockSource::Cache), 0);
    assert_eq!(trace.data_blocks(), absent + trace.filter_false_positives);
}

#[test]
fn lookups_query_our_filter_or_else_hbases_or_none() {
    let ours = with_filter();
    let hbases = WriterOptions { filter: None, ..ours.clone() };
    for (options, has_ours) in
        [(ours.clone(), true), (ours.bloom_type(BloomType::None), true), (hbases, false)]
    {
        let bytes = write(options);
        for filter_use in [FilterUse::Best, FilterUse::None] {
            let trace = look_up_all(&open(&bytes, cached().filter_use(filter_use)));
            let from_cache = |kind| trace.blocks(kind, BlockSource::Cache) > 0;
            let is_used = filter_use == FilterUse::Best;
            assert_eq!(from_cache(BlockKind::Meta), is_used && has_ours, "{filter_use:?}");
            assert_eq!(from_cache(BlockKind::Bloom), is_used && !has_ours, "{filter_use:?}");
            assert_eq!(trace.filter_checks > 0, is_used, "{filter_use:?}");
        }
    }
}

#[test]
fn indexes_of_one_to_three_levels_find_every_row() {
    for (index_block_size, levels) in [(1 << 20, 1), (4096, 2), (600, 3)] {
        let options = WriterOptions::default()
            .block_size(300)
            .index_block_size(index_block_size)
            .index_min_entries(4);
        let bytes = write(options);
        let reader = open(&bytes, cached());
        assert_eq!(reader.index().levels(), levels);
        let trace = look_up_all(&reader);
        let index_blocks = trace.blocks(BlockKind::Index, BlockSource::Cache)
            + trace.blocks(BlockKind::Index, BlockSource::File);
        let looked_into = u64::from(ROWS) + trace.filter_false_positives;
        // Once for each leaf but the first: reading the leaf's first data block looks up the
        // block before it.
        let leaves = reader.blocks().headers().filter(|block| {
            block.as_ref().is_ok_and(|(_, header)| header.block_type == BlockType::LeafIndex)
        });
        let steps_back = (leaves.count() as u64).saturating_sub(1);
        let extra = index_blocks - looked_into * u64::from(levels - 1);
        let least = steps_back * u64::from(levels);
        assert!((least..=least + steps_back).contains(&extra), "{extra} of {steps_back} leaves");
        // Without a cache every block comes from the file.
        let trace = look_up_all(&open(&bytes, ReaderOptions::default()));
        assert_eq!(trace.blocks_from(BlockSource::Cache), 0);
    }
}

/// The deepest index that a file can have: index blocks of two or three entries, 2^16 leaves.
#[test]
fn an_index_of_sixteen_levels_finds_rows_and_is_scanned() {
    let options = WriterOptions::default()
        .bloom_type(BloomType::None)
        .block_size(1)
        .index_block_size(1)
        .index_min_entries(2);
    let mut writer = Writer::new(Vec::new(), FileName::new("deep"), options).unwrap();
    let count = 70_000;
    for number in 0..count {
        let row = row(number * 2);
        writer.append(CellRef::put(&row, b"f", b"q", Timestamp::new(1), b"")).unwrap();
    }
    let reader = open(&writer.finish().unwrap().0, cached());
    assert_eq!(reader.index().levels(), 16);
    for number in (0..count).step_by(997) {
        for (row, is_there) in [(row(number * 2), true), (row(number * 2 + 1), false)] {
            let found = reader.look_up(&RowProbe::new(&row, SEED)).unwrap();
            assert_eq!(found.cell().is_some_and(|cell| cell.row == row), is_there);
        }
    }
    let mut scanner = reader.scanner(Caching::Bypass);
    scanner.seek_to_first().unwrap();
    while scanner.cell().is_some() {
        scanner.advance().unwrap();
    }
}

/// Returns the file with its trailer changed, in the format of its version.
fn with_trailer(bytes: &[u8], change: impl FnOnce(&mut Trailer)) -> Vec<u8> {
    let trailer_at = bytes.len() as u64 - Trailer::LEN;
    let (blocks, end) = bytes.split_at(trailer_at as usize);
    let mut trailer = Trailer::read(end, trailer_at).unwrap();
    change(&mut trailer);
    let mut changed = blocks.to_vec();
    trailer.write(&mut changed);
    changed
}

fn error_of(bytes: Vec<u8>) -> String {
    let opened = Reader::open(Arc::new(Bytes::from(bytes)), FileName::new("f"), cached());
    opened.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn errors_name_a_version_older_than_2_3() {
    let version = |major, minor| {
        with_trailer(&write(WriterOptions::default()), |trailer| {
            (trailer.major_version, trailer.minor_version) = (major, minor);
        })
    };
    let reader = open(&version(2, 3), cached());
    assert_eq!(reader.trailer().major_version, 2);
    look_up_all(&reader);
    assert_eq!(error_of(version(2, 2)), "f: unsupported version of HFile: 2.2");
    assert_eq!(error_of(version(2, 0)), "f: unsupported version of HFile: 2.0");
}

#[test]
fn encrypted_files_are_unsupported() {
    let mut bytes = write(WriterOptions::default());
    let start = bytes.len() - Trailer::LEN as usize;
    // The trailer's message gets a field 13 of three bytes.
    let end = start + 9 + usize::from(bytes[start + 8]);
    bytes[end..end + 5].copy_from_slice(&[13 << 3 | 2, 3, b'k', b'e', b'y']);
    bytes[start + 8] += 5;
    assert_eq!(error_of(bytes), "f: unsupported encryption: yes");
}

/// As HBase, skips a file by its first and last row, and asks no chunk past the filter's last key.
#[test]
fn rows_out_of_range_or_past_the_last_key_of_the_filter_touch_no_block() {
    for bloom_type in [BloomType::Row, BloomType::RowCol] {
        let options = WriterOptions::default().bloom_type(bloom_type);
        let reader = open(&write(options), cached());
        let last = row(2 * (ROWS - 1));
        for (row, qualifier) in [(&b"a"[..], b"a"), (b"z", b"a"), (&last[..], b"c")] {
            let probe = RowProbe::new(row, SEED).with_column(qualifier);
            let is_inside = row == last;
            let mut trace = ReadTrace::default();
            if !is_inside {
                let found = reader.look_up(&probe).unwrap();
                assert!(found.cell().is_none());
                trace = found.trace();
                assert_eq!((trace.files_skipped_by_range, trace.filter_checks), (1, 0));
                assert_eq!(reader.ask_filter(&probe, &mut trace), FilterAnswer::No);
            } else if bloom_type == BloomType::RowCol {
                // Not `ask`, which also asks for the row's family deletes, a key before the last
                // one.
                let filters = reader.file().filters();
                let bloom = filters.bloom.as_ref().unwrap();
                let answer = bloom.ask_exact_key(&reader.file().blocks, &probe, &mut trace);
                assert_eq!(answer, FilterAnswer::No);
            }
            assert_eq!(trace.blocks_from(BlockSource::File), 0, "{bloom_type:?} {row:?}");
        }
    }
}

/// Gets columns of each row, which are there or not, and checks that each wrong "maybe" is counted.
fn check_false_positives(reader: &Reader, columns: &[(&[u8], bool)]) -> ReadTrace {
    let (mut trace, mut wrong) = (ReadTrace::default(), 0);
    for number in 0..ROWS {
        let row = row(number * 2);
        for &(qualifier, is_there) in columns {
            let probe = RowProbe::new(&row, SEED).with_column(qualifier);
            let answer = reader.ask_filter(&probe, &mut ReadTrace::default());
            wrong += u64::from(!is_there && answer == FilterAnswer::Maybe);
            trace.add(&reader.look_up(&probe).unwrap().trace());
        }
    }
    assert!(wrong > 100, "{wrong}");
    assert_eq!(trace.filter_false_positives, wrong);
    trace
}

#[test]
fn false_positives_of_a_filter_over_columns_are_counted() {
    let rate = ErrorRate::new(0.2).unwrap();
    let options = WriterOptions::default().bloom_type(BloomType::RowCol).bloom_error_rate(rate);
    let reader = open(&write(options), cached());
    check_false_positives(&reader, &[(b"a", true), (b"ab", false), (b"b", true), (b"c", false)]);
}

#[test]
fn a_filter_without_room_in_the_budget_is_not_resident() {
    let cache = Arc::new(BlockCache::new(1024));
    let reader = open(&write(with_filter()), ReaderOptions::default().cache(Arc::clone(&cache)));
    let trace = look_up_all(&reader);
    assert_eq!(cache.stats().reserved_bytes, 0);
    assert_eq!(trace.blocks(BlockKind::Meta, BlockSource::File), u64::from(2 * ROWS - 1));
}

#[test]
fn a_damaged_filter_of_ours_hides_no_row() {
    let bytes = write(with_filter().bloom_type(crate::block::BloomType::None));
    let meta = bytes.windows(8).position(|magic| magic == b"METABLKc").unwrap();
    let mut damaged = bytes;
    damaged[meta + 40] ^= 1;
    let reader = open(&damaged, cached());
    assert!(reader.filters().row_filter().is_err());
    let trace = look_up_all(&reader);
    assert_eq!(trace.filters_unreadable, u64::from(2 * ROWS - 1));
    assert_eq!((trace.filter_checks, trace.filter_false_positives), (0, 0));
}

#[test]
fn false_positives_of_a_filter_in_place_of_an_unreadable_one_are_counted() {
    let options = || with_filter().bloom_type(BloomType::RowCol);
    let mut bytes = write(options().bloom_error_rate(ErrorRate::new(0.2).unwrap()));
    let meta = bytes.windows(8).position(|magic| magic == b"METABLKc").unwrap();
    bytes[meta + 40] ^= 1;
    let reader = open(&bytes, cached());
    let trace = check_false_positives(&reader, &[(b"a", true), (b"c", false)]);
    assert_eq!(trace.filters_unreadable, u64::from(2 * ROWS));
}

#[test]
fn meta_blocks_are_found_by_name() {
    let mut writer =
        Writer::new(Vec::new(), FileName::new("metas"), WriterOptions::default()).unwrap();
    for (name, body) in [("one", "first"), ("two", "second")] {
        writer.append_meta(name, body).unwrap();
    }
    let reader = open(&writer.finish().unwrap().0, cached());
    assert!(reader.blocks().meta_names().eq([b"one", b"two"]));
    let mut trace = ReadTrace::default();
    assert_eq!(reader.blocks().meta(b"two", &mut trace).unwrap().unwrap(), &b"second"[..]);
    assert_eq!(reader.blocks().meta(b"three", &mut trace).unwrap(), None);
    assert_eq!(trace.blocks(BlockKind::Meta, BlockSource::File), 1);
}

#[test]
fn opening_reads_only_the_end_of_the_file() {
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
fn filter_blocks_are_aligned_to_cache_lines() {
    let reader = open(&write(with_filter()), cached());
    let filter = reader.blocks().meta(b"filter.row", &mut ReadTrace::default()).unwrap().unwrap();
    assert_eq!(filter.as_ptr().align_offset(64), 0);
}

/// Without tags, files of version 3 and 2.3 differ only in the trailer.
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
    assert_eq!(old.blocks().headers().count(), reader.blocks().headers().count());
    look_up_all(&old);
}

/// HBase denies rows of such files, because it searches chunks in byte order.
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
        writer.append(CellRef::put(row, b"info", b"q", Timestamp::new(1), b"")).unwrap();
    }
    let reader = open(&writer.finish().unwrap().0, cached());
    assert_eq!((reader.filters().bloom(), reader.filters().bloom_problem()), (None, None));
    let present = rows.map(|row| (row, true, 0));
    // In byte order the second of the absent rows is before the range, in meta order within it.
    let absent = [(&b"t,a,1"[..], false, 0), (b"t+,,1", false, 0), (b"t2,,1", false, 1)];
    for (row, is_there, skipped) in present.into_iter().chain(absent) {
        let found = reader.row(row).unwrap();
        assert_eq!(found.cell().is_some(), is_there, "{row:?}");
        let trace = found.trace();
        assert_eq!((trace.filter_checks, trace.files_skipped_by_range), (0, skipped), "{row:?}");
    }
}

/// The cache subtracts a block's size at eviction, so no use of a scanner may make the block grow.
#[test]
fn the_cache_counts_the_actual_sizes_of_its_blocks() {
    for encoding in DataBlockEncoding::ALL {
        let bytes = write(WriterOptions::default().data_block_encoding(encoding).block_size(2000));
        for (start, touches) in [(0, 1), (0, 2), (3000, 1), (5990, 1)] {
            for go in [
                |_: &mut Scanner, _: &[u8]| Ok(()),
                |scanner: &mut Scanner, _: &[u8]| scanner.retreat(),
                |scanner: &mut Scanner, row: &[u8]| scanner.seek(KeyRef::after_row(row)),
                |scanner: &mut Scanner, row: &[u8]| scanner.seek_before(KeyRef::before_row(row)),
                |scanner: &mut Scanner, _: &[u8]| (0..400).try_for_each(|_| scanner.advance()),
            ] {
                let cache = Arc::new(BlockCache::new(1 << 20));
                // A full cache, so that blocks are inserted encoded.
                for offset in 0..120 {
                    let key = CacheKey { file: u64::MAX, offset, is_preferred: false };
                    let chunk = CachedBlock::Bloom(Arc::new(BloomBits::new(&[0; 10_000])));
                    cache.insert(key, chunk);
                }
                let reader = open(&bytes, ReaderOptions::default().cache(Arc::clone(&cache)));
                let row = row(start);
                for _ in 0..touches {
                    let probe = RowProbe::new(&row, SEED);
                    let mut scanner = scanner_at(&reader, &probe).0.unwrap();
                    go(&mut scanner, &row).unwrap();
                    let _ = go(&mut scanner, &row);
                }
                assert_eq!(cache.stats().block_bytes, cache.bytes_now(), "{encoding}");
            }
        }
    }
}

/// The read must fail, not return a wrong result or no row.
#[test]
fn a_block_of_another_type_in_the_cache_is_an_internal_error() {
    let bytes =
        write(WriterOptions::default().block_size(300).index_block_size(600).index_min_entries(4));
    let sound = open(&bytes, ReaderOptions::default());
    let places: Vec<_> = sound
        .blocks()
        .headers()
        .map(|found| found.expect("our own file"))
        .filter(|(_, header)| !matches!(header.block_type, BlockType::BloomChunk))
        .collect();
    let row = row(3000);
    let mut failures = 0;
    for (at, header) in &places {
        let cache = Arc::new(BlockCache::new(1 << 20));
        let reader = open(&bytes, ReaderOptions::default().cache(Arc::clone(&cache)));
        let place = BlockHandle { offset: *at, len: header.len() as u32 };
        let other = CachedBlock::Bloom(Arc::new(BloomBits::new(b"other")));
        cache.insert(reader.file().blocks.cache_key(place), other);
        let probe = RowProbe::new(&row, SEED);
        match reader.look_up(&probe) {
            Ok(found) => assert_eq!(found.cell().expect("it is there").row, row),
            Err(error) => {
                assert!(matches!(error, Error::Internal { at: found, .. } if found == *at));
                let text = error.to_string();
                let expected = format!(
                    "at {at}: the cache has a block of kind bloom where the file has {}; \
                     this is a bug in the program, please report it",
                    header.block_type
                );
                assert!(text.contains(&expected), "{text}");
                failures += 1;
            }
        }
    }
    // A lookup reads one block on each level.
    assert_eq!(failures, sound.index().levels(), "of {} blocks", places.len());
}

/// In a damaged file two index entries can point to one block, whichever entry was used first.
#[test]
fn a_block_of_another_type_in_the_file_is_damage_whatever_the_cache_holds() {
    let bytes = write(WriterOptions::default().block_size(300));
    let cache = Arc::new(BlockCache::new(1 << 20));
    let reader = open(&bytes, ReaderOptions::default().cache(cache));
    let blocks = &reader.file().blocks;
    let trace = &mut ReadTrace::default();
    let (at, header) = reader.blocks().headers().next().expect("a block").expect("our own file");
    let place = BlockHandle { offset: at, len: header.len() as u32 };
    let (caching, buffers) = (Caching::Use, &mut Buffers::default());
    let context = &mut ReadContext { caching, buffers, trace };
    reader.file().first_data_block(context).expect("a data block");
    let wanted = place.of_type(BlockType::Meta);
    let wrong = blocks.load::<MetaBlock>(wanted, caching, context.trace, |_, _| Ok(()));
    let error = wrong.expect_err("no META block");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("where the index has META"), "{error}");
}
