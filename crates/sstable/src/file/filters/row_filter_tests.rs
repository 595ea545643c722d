use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cells::{BlockOffset, CellRef, FileName, Timestamp};
use filter::engine::KeyHash;

use super::*;
use crate::block::filter_index::Partition;
use crate::block::{BlockHeader, BloomType};
use crate::file::file_info::FileInfo;
use crate::file::filters::filter_answer::FilterAnswer;
use crate::file::options::ReaderOptions;
use crate::limits::Limits;
use crate::reader::Reader;
use crate::reader::tests::{ROWS, SEED, cached, look_up_all, open, row, with_filter, write};
use crate::source::ReadAt;
use crate::trace::{BlockKind, BlockSource};
use crate::verify;
use crate::write::{Writer, WriterOptions};

/// Options for a file with about ten partitions.
fn in_partitions() -> WriterOptions {
    with_filter().filter_block_size(512)
}

/// A source that counts its reads.
struct Counted(Bytes, AtomicU64);

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        ReadAt::len(&self.0)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_exact_at(buffer, offset)
    }
}

/// Returns the META blocks of a file, in file order.
fn meta_blocks(bytes: &[u8]) -> Vec<(BlockOffset, BlockHeader)> {
    let reader = open(bytes, ReaderOptions::default());
    let is_meta = |(_, header): &(_, BlockHeader)| header.block_type == BlockType::Meta;
    reader.blocks().headers().map(|block| block.expect("our own file")).filter(is_meta).collect()
}

fn problems(bytes: &[u8]) -> Vec<String> {
    let source = Arc::new(Bytes::copy_from_slice(bytes));
    let found = verify(source, FileName::new("rows"), Limits::default(), |_| {});
    found.expect("memory can be read").problems.iter().map(ToString::to_string).collect()
}

/// A META block with the name of a filter can be anybody's: without the id in the file info it denies no row.
#[test]
fn blocks_without_an_id_in_the_file_info_are_no_filter() {
    let other = open(&write(with_filter()), ReaderOptions::default());
    let trace = &mut ReadTrace::default();
    let filter = other.blocks().meta(b"filter.row", trace).unwrap().expect("it has a filter");
    let options = WriterOptions::default().bloom_type(BloomType::None);
    let mut writer = Writer::new(Vec::new(), FileName::new("rows"), options).unwrap();
    writer.append(CellRef::put(b"another row", b"f", b"q", Timestamp::new(1), b"v")).unwrap();
    writer.append_meta("filter.row", filter.to_vec()).unwrap();
    let (bytes, _) = writer.finish().unwrap();

    let reader = open(&bytes, ReaderOptions::default());
    assert_eq!(reader.filters().row_filter().unwrap(), None);
    let found = reader.look_up(&RowProbe::new(b"another row", SEED)).unwrap();
    assert!(found.cell().is_some(), "the filter of another file denied the row");
    let source = Arc::new(Bytes::from(bytes));
    let checked = verify(source, FileName::new("rows"), Limits::default(), |_| {}).unwrap();
    assert!(checked.is_sound());
    assert!(checked.unused_filter.unwrap().contains("ROW_FILTER_ID"));
}

#[test]
fn a_partitioned_filter_answers_like_a_whole_one() {
    let bytes = write(in_partitions());
    let reader = open(&bytes, cached());
    let names: Vec<_> = reader.blocks().meta_names().collect();
    assert_eq!(names[..2], [&b"filter.row.00000000"[..], b"filter.row.00000001"]);
    assert_eq!(names.last(), Some(&&b"filter.row.index"[..]));
    assert!(names.len() > 8, "{names:?}");

    let trace = look_up_all(&reader);
    assert_eq!(
        trace.filter_checks,
        u64::from(2 * ROWS) - 1,
        "every lookup but the one after the last row"
    );
    assert!(trace.files_skipped_by_filter > u64::from(ROWS) * 97 / 100);
    assert_eq!(trace.blocks(BlockKind::Meta, BlockSource::File), names.len() as u64);
    assert_eq!(trace.filters_unreadable, 0);

    let whole = open(&write(with_filter()), cached()).filters().row_filter().unwrap().unwrap();
    let summary = reader.filters().row_filter().unwrap().unwrap();
    assert_eq!((summary.kind, summary.key_count), (whole.kind, whole.key_count));
    assert_eq!((summary.block_count, whole.block_count), (names.len() - 1, 1));
    assert!((summary.bits_per_key / whole.bits_per_key - 1.0).abs() < 0.1);
    assert!((0.005..=0.01).contains(&summary.error_rate), "{}", summary.error_rate);
    assert_eq!(problems(&bytes), [""; 0]);
}

#[test]
fn a_row_loads_the_index_and_its_own_partition() {
    let reader = open(&write(in_partitions()), cached());
    let mut trace = ReadTrace::default();
    for (number, blocks_read) in [(1001, 2), (1003, 2), (5001, 3)] {
        let row = row(number);
        reader.ask_filter(&RowProbe::new(&row, SEED), &mut trace);
        assert_eq!(trace.blocks(BlockKind::Meta, BlockSource::File), blocks_read, "{number}");
    }
    assert_eq!(trace.filter_checks, 3);
}

#[test]
fn pinned_filters_are_read_when_the_file_is_opened_and_never_again() {
    for options in [with_filter(), in_partitions()] {
        let source = Counted(write(options).into(), AtomicU64::new(0));
        let counted = Arc::new(source);
        let source: Arc<dyn ReadAt> = counted.clone();
        // A cache without room for reservations.
        let cache = Arc::new(crate::cache::BlockCache::new(1000));
        let options = ReaderOptions::default().cache(Arc::clone(&cache)).pin_filters(true);
        let reader = Reader::open(source, FileName::new("rows"), options).unwrap();
        let reads = counted.1.load(Ordering::Relaxed);
        assert!(reads > 1);
        let mut trace = ReadTrace::default();
        for number in (1..2 * ROWS - 2).step_by(2) {
            let row = row(number);
            reader.ask_filter(&RowProbe::new(&row, SEED), &mut trace);
        }
        assert_eq!(counted.1.load(Ordering::Relaxed), reads);
        assert_eq!(trace.filter_checks, u64::from(ROWS) - 1);
        assert!(cache.stats().reserved_bytes > 3000);
        drop(reader);
        assert_eq!(cache.stats().reserved_bytes, 0);
    }
}

/// Damages each META block of a file in turn. The file has HBase's filter too.
#[test]
fn a_damaged_filter_is_read_once_and_hbases_filter_is_asked_instead() {
    for options in [with_filter(), in_partitions()] {
        let sound = write(options.bloom_type(BloomType::Row));
        for (at, _) in meta_blocks(&sound) {
            let mut bytes = sound.clone();
            bytes[usize::try_from(at.get()).unwrap() + 40] ^= 1;
            let counted = Arc::new(Counted(bytes.clone().into(), AtomicU64::new(0)));
            let source: Arc<dyn ReadAt> = counted.clone();
            let options = cached();
            let reader = Reader::open(source, FileName::new("rows"), options).unwrap();
            assert_eq!(reader.filters().row_filter_problem(), None);
            let trace = look_up_all(&reader);
            let reads = counted.1.load(Ordering::Relaxed);
            let again = look_up_all(&reader);
            assert_eq!(counted.1.load(Ordering::Relaxed), reads, "no block is read again");

            assert!(trace.filters_unreadable > 100, "{trace:?}");
            assert_eq!(again.filters_unreadable, trace.filters_unreadable);
            assert_eq!(trace.filter_checks, u64::from(2 * ROWS) - 1);
            assert!(trace.files_skipped_by_filter > u64::from(ROWS) * 97 / 100);
            assert_eq!(reader.filters().row_filter_problem().map(|damage| damage.at), Some(at));
            let named = format!("META block at {at}");
            assert!(problems(&bytes).iter().any(|what| what.contains(&named)), "{at}");
        }
    }
}

/// Writes a file of four rows with the given META blocks, and the id of the index among them.
fn with_metas(metas: Vec<(String, Vec<u8>)>) -> Vec<u8> {
    let (_, index) = metas.iter().find(|(name, _)| name == FILTER_INDEX_NAME).unwrap();
    let id = [4_u64, index_checksum(index)].map(u64::to_be_bytes).concat();
    let options =
        WriterOptions::default().bloom_type(BloomType::None).file_info(FileInfo::ROW_FILTER_ID, id);
    let mut writer = Writer::new(Vec::new(), FileName::new("rows"), options).unwrap();
    for row in [b"a", b"b", b"c", b"d"] {
        writer.append(CellRef::put(row, b"f", b"q", Timestamp::new(1), b"value")).unwrap();
    }
    for (name, body) in metas {
        writer.append_meta(&name, body).unwrap();
    }
    writer.finish().unwrap().0
}

fn partitions(rows: [&'static str; 2], keys: [&[&str]; 2]) -> Vec<(String, Vec<u8>)> {
    let (kind, rate) = (filter::FilterKind::BlockedBloom, filter::ErrorRate::HBASE);
    let mut metas = Vec::new();
    let mut listed = Vec::new();
    for (number, (first_row, keys)) in rows.into_iter().zip(keys).enumerate() {
        let hashes: Vec<_> = keys.iter().map(|key| KeyHash::new(SEED, key.as_bytes())).collect();
        let sizing = filter::Sizing::ErrorRate(rate);
        let body = filter::engine::build(kind, sizing, SEED, &hashes).unwrap();
        let (keys, len) = (keys.len() as u64, u32::try_from(body.len()).unwrap());
        let checksum = StoredFilter::parse(&body[..]).unwrap().checksum();
        listed.push(Partition { keys, len, checksum, first_row: first_row.into() });
        metas.push((partition_name(number), body));
    }
    let mut body = Vec::new();
    FilterIndex::new(kind, 0.01, listed).write(&mut body);
    metas.push((FILTER_INDEX_NAME.into(), body));
    metas
}

#[test]
fn a_filter_index_that_contradicts_the_file_hides_no_row_and_is_reported() {
    let sound = partitions(["a", "c"], [&["a", "b"], &["c", "d"]]);
    assert_eq!(problems(&with_metas(sound.clone())), [""; 0]);
    let begins_late = partitions(["b", "c"], [&["a", "b"], &["c", "d"]]);
    let mut one_is_missing = sound.clone();
    one_is_missing.remove(1);
    let mut no_index = sound.clone();
    no_index[2].1.truncate(20);
    let cases = [
        (begins_late, "begin with the first row"),
        (one_is_missing, "2 partitions in the filter index, but 1 in the file"),
        (no_index, "ends in the filter index"),
    ];
    for (metas, what) in cases {
        let bytes = with_metas(metas);
        let reader = open(&bytes, cached());
        let mut trace = ReadTrace::default();
        for row in [b"a", b"b", b"c", b"d"] {
            let answer = reader.ask_filter(&RowProbe::new(row, SEED), &mut trace);
            assert_eq!(answer, FilterAnswer::Unreadable, "{what}");
        }
        assert_eq!((trace.filters_unreadable, trace.filter_checks), (4, 0));
        assert!(reader.filters().row_filter().is_err());
        let problems = problems(&bytes);
        assert!(problems.iter().any(|problem| problem.contains(what)), "{problems:?}");
    }
    // Only a full check finds rows in the wrong partition.
    let misplaced = partitions(["a", "c"], [&["a"], &["b", "c", "d"]]);
    assert!(problems(&with_metas(misplaced)).iter().any(|problem| problem.contains("denied")));
}

/// Exchanges two blocks of the same length, each with its header.
fn exchange(
    bytes: &mut [u8],
    one: &(BlockOffset, BlockHeader),
    other: &(BlockOffset, BlockHeader),
) {
    let range = |(at, header): &(BlockOffset, BlockHeader)| {
        let start = usize::try_from(at.get()).unwrap();
        start..start + usize::try_from(header.len()).unwrap()
    };
    let (one, other) = (range(one), range(other));
    let (front, back) = bytes.split_at_mut(other.start);
    front[one].swap_with_slice(&mut back[..other.len()]);
}

/// Sets the `previous` offset of a block, and updates its checksums.
fn set_previous(bytes: &mut [u8], (at, header): &(BlockOffset, BlockHeader), previous: &[u8]) {
    let start = usize::try_from(at.get()).unwrap();
    bytes[start + 16..start + 24].copy_from_slice(previous);
    let end = start + header.on_disk_data_size_with_header as usize;
    let mut sums = bytes[start..end].to_vec();
    header.checksum_type.append(&mut sums, 0, header.bytes_per_checksum);
    bytes[end..end + sums.len() - (end - start)].copy_from_slice(&sums[end - start..]);
}

#[test]
fn exchanged_partitions_deny_no_row_even_with_corrected_previous_offsets() {
    let sound = write(in_partitions());
    let parts = meta_blocks(&sound);
    let (one, other) = (parts[2], parts[5]);
    assert_eq!(one.1.len(), other.1.len());
    let mut exchanged = sound.clone();
    exchange(&mut exchanged, &one, &other);
    let mut chained = exchanged.clone();
    for (at, _) in [one, other] {
        let previous = usize::try_from(at.get()).unwrap() + 16;
        set_previous(&mut chained, &(at, one.1), &sound[previous..previous + 8]);
    }
    for (bytes, what) in [(exchanged, "previous"), (chained, "another filter")] {
        let reader = open(&bytes, cached());
        let trace = look_up_all(&reader);
        assert!(trace.filters_unreadable > 100, "{trace:?}");
        let problem = reader.filters().row_filter_problem().expect("it was found out").to_string();
        assert!(problem.contains(what), "{problem}");
        assert!(problems(&bytes).iter().any(|found| found.contains(what)), "{what}");
    }
}

/// Replaces a filter by another one with right checksums. Only the file info reveals it.
#[test]
fn the_file_info_reveals_the_filter_of_another_file() {
    let sound = write(with_filter());
    let [block] = meta_blocks(&sound)[..] else { panic!("one META block") };
    let start = usize::try_from(block.0.get()).unwrap();
    let body = start + 33..start + block.1.on_disk_data_size_with_header as usize;
    let filter = StoredFilter::parse(&sound[body.clone()]).unwrap();
    let hashes: Vec<_> =
        (0..filter.len()).map(|key| KeyHash::new(SEED, &key.to_be_bytes())).collect();
    let rate = filter::Sizing::ErrorRate(filter::ErrorRate::HBASE);
    let other = filter::engine::build(filter.kind(), rate, SEED, &hashes).unwrap();
    let mut bytes = sound.clone();
    bytes[body].copy_from_slice(&other);
    set_previous(&mut bytes, &block, &[0xff; 8]);
    let reader = open(&bytes, cached());
    let trace = look_up_all(&reader);
    assert_eq!(trace.filters_unreadable, trace.filter_checks, "HBase's filter is asked instead");
    let problem = reader.filters().row_filter_problem().expect("it was found out").to_string();
    assert!(problem.contains("another filter than the file has"), "{problem}");
}
