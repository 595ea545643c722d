use std::ops::Range;
use std::sync::Arc;

use cells::{CellRef, FileName, Timestamp};

use super::*;
use crate::block::BloomType;
use crate::block::bloom::BloomBits;
use crate::block::cached::CachedBlock;
use crate::cache::{BlockCache, CacheKey};
use crate::encoding::DataBlockEncoding;
use crate::error::{BlockType, Error};
use crate::file::options::{FilterUse, ReaderOptions};
use crate::probe::RowProbe;
use crate::reader::Reader;
use crate::reader::tests::{ROWS, SEED, cached, open, row, scanner_at, with_filter, write};
use crate::scan::position::ScanPosition;
use crate::scan::scanner::Scanner;
use crate::trace::{BlockKind, BlockSource, ReadTrace};
use crate::write::{Writer, WriterOptions};

/// Returns the numbers of present and absent rows, in no order.
fn numbers() -> impl Iterator<Item = u32> {
    (0..2 * ROWS).map(|number| number * 2477 % (2 * ROWS))
}

/// Looks up the rows one by one. Returns the same as [`batched`].
fn one_by_one(reader: &Reader, probes: &[RowProbe<'_>]) -> (Vec<(usize, Vec<u8>)>, ReadTrace) {
    let (mut found, mut trace) = (Vec::new(), ReadTrace::default());
    for (number, probe) in probes.iter().enumerate() {
        let (scanner, of_row) = scanner_at(reader, probe);
        trace.add(&of_row);
        found.extend(scanner.map(|scanner| (number, first_cell(&scanner))));
    }
    (found, trace)
}

fn batched(reader: &Reader, probes: &[RowProbe<'_>]) -> (Vec<(usize, Vec<u8>)>, ReadTrace) {
    let files = LookupFiles::new(vec![reader.lookup_file()]).unwrap();
    let mut rows = Vec::new();
    let trace = look_up_together(&files, probes, |number, found| {
        rows.push((number, first_cell(&found.unwrap().into_scanner())));
    });
    (rows, trace)
}

/// Looks up rows in batches. Calls `visit` with the number of the row for each file that has it, and
/// for each that cannot be read.
fn look_up_together(
    files: &LookupFiles,
    probes: &[RowProbe<'_>],
    mut visit: impl FnMut(usize, crate::error::Result<RowInFile<'_>>),
) -> ReadTrace {
    let mut trace = ReadTrace::default();
    for (batch, probes) in probes.chunks(BATCH_MAX).enumerate() {
        let limits = LookupLimits::default();
        let mut lookups: Vec<_> =
            probes.iter().map(|probe| RowLookup::new(files, probe, limits)).collect();
        begin_together(&mut lookups);
        for (number, lookup) in (batch * BATCH_MAX..).zip(&mut lookups) {
            while let Some(found) = lookup.next_file().transpose() {
                visit(number, found);
            }
            trace.add(lookup.trace());
        }
    }
    trace
}

fn first_cell(scanner: &Scanner) -> Vec<u8> {
    let cell = scanner.cell().unwrap();
    [cell.row, cell.qualifier].concat()
}

#[test]
fn a_batch_finds_and_counts_the_same_as_single_lookups() {
    let rows: Vec<_> = numbers().map(row).collect();
    let probes: Vec<_> = rows.iter().map(|row| RowProbe::new(row, SEED)).collect();
    for encoding in DataBlockEncoding::ALL {
        // The second has an index of three levels.
        for (block_size, index_block_size) in [(4000, 1 << 20), (300, 600)] {
            let options = with_filter()
                .data_block_encoding(encoding)
                .block_size(block_size)
                .index_block_size(index_block_size)
                .index_min_entries(4);
            let bytes = write(options.clone());
            let with_bloom_only = write(WriterOptions { filter: None, ..options });
            let small = || ReaderOptions::default().cache(Arc::new(BlockCache::new(20_000)));
            for (cache, options) in [("none", ReaderOptions::default()), ("large", cached())] {
                for (bytes, filter_use) in [
                    (&bytes, FilterUse::Best),
                    (&with_bloom_only, FilterUse::Best),
                    (&bytes, FilterUse::None),
                ] {
                    let reader = open(bytes, options.clone().filter_use(filter_use));
                    // Fills the cache, if there is one.
                    one_by_one(&reader, &probes);
                    let (expected, expected_trace) = one_by_one(&reader, &probes);
                    let (found, trace) = batched(&reader, &probes);
                    assert_eq!(found.len(), ROWS as usize);
                    assert_eq!(found, expected, "{encoding} {block_size} {cache} {filter_use:?}");
                    assert_eq!(trace, expected_trace, "{encoding} {cache} {filter_use:?}");
                }
            }
            let (found, _) = batched(&open(&bytes, small()), &probes);
            assert_eq!(found.len(), ROWS as usize, "{encoding} {block_size}");
        }
    }
}

#[test]
fn a_batch_counts_absent_columns_like_single_lookups() {
    let bytes = write(WriterOptions::default().bloom_type(crate::block::BloomType::RowCol));
    let rows: Vec<_> = numbers().map(row).collect();
    let qualifiers = [&b"a"[..], b"b", b"c"].into_iter().cycle();
    let probes = rows.iter().zip(qualifiers);
    let probes: Vec<_> =
        probes.map(|(row, column)| RowProbe::new(row, SEED).with_column(column)).collect();
    let reader = open(&bytes, ReaderOptions::default());
    let (expected, expected_trace) = one_by_one(&reader, &probes);
    assert_eq!(batched(&reader, &probes), (expected, expected_trace));
    assert!(expected_trace.filter_false_positives > 0);
}

#[test]
fn a_damaged_block_fails_only_its_own_rows() {
    let mut bytes = write(WriterOptions::default().block_size(4000));
    let damaged = bytes.windows(9).position(|window| window == b"row000500").unwrap();
    bytes[damaged] ^= 1;
    let rows: Vec<_> = (0..ROWS).map(|number| row(number * 2)).collect();
    let probes: Vec<_> = rows.iter().map(|row| RowProbe::new(row, SEED)).collect();
    let reader = open(&bytes, ReaderOptions::default());
    let expected: Vec<_> = probes.iter().map(|probe| reader.look_up(probe).is_ok()).collect();
    let files = LookupFiles::new(vec![reader.lookup_file()]).unwrap();
    let mut is_found = Vec::new();
    look_up_together(&files, &probes, |_, found| is_found.push(found.is_ok()));
    assert_eq!(is_found, expected);
    let failed = is_found.iter().filter(|is_found| !**is_found).count();
    assert!(failed > 16 && failed < 100, "{failed}");
}

#[test]
fn slots_bypass_the_cache_while_it_has_room_and_the_block_is_in_memory() {
    let row = row(4000);
    let probe = RowProbe::new(&row, SEED);
    let bytes = write(WriterOptions::default());
    for has_room in [true, false] {
        let cache = Arc::new(BlockCache::new(8 << 20));
        let reader = open(&bytes, ReaderOptions::default().cache(Arc::clone(&cache)));
        let seek = || {
            let (scanner, trace) = scanner_at(&reader, &probe);
            (scanner.unwrap(), BlockSource::ALL.map(|source| trace.blocks(BlockKind::Data, source)))
        };
        let (held, sources) = seek();
        assert_eq!(sources, [0, 1]);
        let Some(ScanPosition::Decoded { block, .. }) = held.position() else {
            panic!("not decoded")
        };
        let handle = block.origin().handle;
        let other = |offset| CacheKey { file: u64::MAX, offset, is_preferred: false };
        for offset in 0..1600 {
            let chunk = CachedBlock::Bloom(Arc::new(BloomBits::new(&[0; 10_000])));
            cache.insert(other(offset), chunk);
        }
        if has_room {
            (0..1600).for_each(|offset| cache.remove(other(offset)));
        }
        let _ = seek(); // Reads the block again if it was evicted.
        assert_eq!(seek().1, [1, 0]);
        cache.remove(reader.file().blocks.cache_key(handle));
        // The scanner still holds the block, but a full cache must see every access.
        assert_eq!(seek().1, if has_room { [1, 0] } else { [0, 1] });
        drop(held);
        assert_eq!(seek().1, if has_room { [0, 1] } else { [1, 0] });
        assert_eq!(seek().1, [1, 0]);

        // A slot of an evicted block still takes memory, so a full cache must not fill slots.
        let reader = open(&bytes, ReaderOptions::default().cache(cache));
        let _held = reader.look_up(&probe).unwrap();
        let root = &reader.file().index.as_ref().unwrap().root;
        let remembered = (0..root.len()).filter(|entry| root.slot(*entry).block().is_some());
        assert_eq!(remembered.count(), usize::from(has_room));
    }
}

/// A lookup stops at the first file that is too old, and would miss a newer one after it.
#[test]
fn files_that_are_not_newest_first_are_refused() {
    let reader = open(&write(WriterOptions::default()), ReaderOptions::default());
    let list = |newest: &[i64]| {
        let files = newest
            .iter()
            .map(|time| reader.lookup_file().times(Timestamp::OLDEST, Timestamp::new(*time)));
        LookupFiles::new(files.collect())
    };
    for newest in [&[][..], &[1], &[3, 2, 2, 1]] {
        assert_eq!(list(newest).unwrap().len(), newest.len());
    }
    for newest in [&[2, 1, 3][..], &[1, 2]] {
        let error = list(newest).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("newest first"), "{error}");
    }
}

/// Writes the rows of `numbers` to a file whose only filter is ours.
fn write_rows(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    let options = with_filter().bloom_type(BloomType::None);
    let mut writer = Writer::new(Vec::new(), FileName::new("rows"), options).unwrap();
    for number in numbers {
        let row = row(number);
        writer.append(CellRef::put(&row, b"f", b"q", Timestamp::new(1), b"value")).unwrap();
    }
    writer.finish().unwrap().0
}

/// Returns the byte range of the only filter block of a file.
fn filter_range(bytes: &[u8]) -> Range<usize> {
    let reader = open(bytes, ReaderOptions::default());
    let blocks = reader.blocks().headers().map(|block| block.expect("our own file"));
    let metas: Vec<_> = blocks.filter(|(_, header)| header.block_type == BlockType::Meta).collect();
    let [(at, header)] = metas[..] else { panic!("one META block") };
    let start = usize::try_from(at.get()).unwrap();
    start..start + usize::try_from(header.len()).unwrap()
}

/// Each filter is sound and has the right kind, length and offset. Only the file info reveals that
/// it belongs to the other file. A lookup that used the filter would miss every row of the file.
#[test]
fn filters_exchanged_between_two_files_of_a_lookup_deny_no_row_and_are_counted() {
    let rows_each = 300;
    let mut files =
        [0, 1, 2].map(|first| write_rows((0..rows_each).map(move |number| 3 * number + first)));
    let [one, other, _] = files.each_ref().map(|bytes| filter_range(bytes));
    let [first, second, _] = &mut files;
    first[one].swap_with_slice(&mut second[other]);

    let rows: Vec<_> = (0..3 * rows_each).map(row).collect();
    let probes: Vec<_> = rows.iter().map(|row| RowProbe::new(row, SEED)).collect();
    let expected: Vec<_> = (0..rows.len()).map(|number| (number, number % 3)).collect();
    for options in [ReaderOptions::default(), cached(), cached().pin_filters(true)] {
        let readers = files.each_ref().map(|bytes| open(bytes, options.clone()));
        let list = LookupFiles::new(readers.iter().map(Reader::lookup_file).collect()).unwrap();

        let (mut found, mut trace) = (Vec::new(), ReadTrace::default());
        for (number, probe) in probes.iter().enumerate() {
            let mut lookup = RowLookup::new(&list, probe, LookupLimits::default());
            while let Some(row) = lookup.next_file().unwrap() {
                let (file, scanner) = (row.file(), row.into_scanner());
                assert_eq!(scanner.cell().unwrap().row, probe.row());
                found.push((number, file));
            }
            trace.add(lookup.trace());
        }
        assert_eq!(found, expected, "each row is only in its own file");
        // The row range of a file has all but two rows of the three files.
        let asked = u64::from(3 * rows_each - 2);
        let counted = |trace: &ReadTrace| (trace.filters_unreadable, trace.filter_checks);
        assert_eq!(counted(&trace), (2 * asked, asked));

        let mut found = Vec::new();
        let together = look_up_together(&list, &probes, |number, row| {
            found.push((number, row.unwrap().file()));
        });
        assert_eq!(found, expected);
        assert_eq!(counted(&together), counted(&trace));
        for (reader, is_sound) in readers.iter().zip([false, false, true]) {
            let problem = reader.filters().row_filter_problem().map(ToString::to_string);
            assert_eq!(problem.is_none(), is_sound, "{problem:?}");
            assert!(is_sound || problem.is_some_and(|what| what.contains("another filter")));
        }
    }
}

fn by_map(covered: u64, named: u64) -> LookupLimits {
    LookupLimits { map: Some(MapAnswer::from_masks(covered, named)), ..LookupLimits::default() }
}

/// Three files with all rows: the map covers the first two. Each file is counted once.
#[test]
fn a_file_that_the_map_covers_and_does_not_name_is_skipped() {
    let bytes = write(with_filter());
    let readers = [(); 3].map(|()| open(&bytes, cached()));
    let list = LookupFiles::new(readers.iter().map(Reader::lookup_file).collect()).unwrap();
    let (present, absent) = (row(2), row(3));
    for named in 0..8_u64 {
        for (row, is_present) in [(&present, true), (&absent, false)] {
            let probe = RowProbe::new(row, SEED);
            let mut lookup = RowLookup::new(&list, &probe, by_map(0b011, named));
            lookup.record_outcomes();
            begin_together([&mut lookup]);
            let mut found = Vec::new();
            while let Some(file) = lookup.next_file().unwrap().map(|found| found.file()) {
                found.push(file);
            }
            assert_outcomes_are_counted(&lookup);
            let searched = [named & 1 == 1, named & 2 == 2, true];
            let expected: Vec<_> = (0..3).filter(|file| is_present && searched[*file]).collect();
            assert_eq!(found, expected, "{named}");
            let trace = lookup.trace();
            let candidates = u64::from((named & 3).count_ones());
            assert_eq!((trace.map_lookups, trace.map_candidates), (1, candidates));
            assert_eq!(trace.files_skipped_by_map, 2 - candidates);
            let is_false = u64::from(!is_present);
            assert_eq!(trace.map_false_files, candidates * is_false);
            let by_filter = trace.files_skipped_by_filter + trace.filter_false_positives;
            assert_eq!((trace.filter_checks, by_filter), (1, is_false));
        }
    }
}

/// A list of more files than an answer has bits.
#[test]
fn files_after_the_64th_are_asked_whatever_the_map_says() {
    let bytes = write(with_filter());
    let reader = open(&bytes, cached());
    let list = LookupFiles::new((0..70).map(|_| reader.lookup_file()).collect()).unwrap();
    let row = row(2);
    let probe = RowProbe::new(&row, SEED);
    let mut lookup = RowLookup::new(&list, &probe, by_map(u64::MAX, 1 << 40));
    let found = std::iter::from_fn(|| lookup.next_file().unwrap().map(|found| found.file()));
    assert_eq!(found.collect::<Vec<_>>(), [40, 64, 65, 66, 67, 68, 69]);
    let trace = lookup.trace();
    assert_eq!((trace.files_skipped_by_map, trace.filter_checks), (63, 6));
    let mut lookup = RowLookup::new(&list[..3], &probe, by_map(u64::MAX, 1 << 40));
    assert!(lookup.next_file().unwrap().is_none());
    assert_eq!((lookup.trace().files_skipped_by_map, lookup.trace().map_candidates), (3, 0));
}

/// A caller that has several columns needs older files for one of them than for another.
#[test]
fn a_lookup_goes_on_once_its_stop_rule_is_lowered() {
    let file_of = |time: i64| {
        let mut writer =
            Writer::new(Vec::new(), FileName::new("file"), WriterOptions::default()).unwrap();
        writer.append(CellRef::put(b"row", b"f", b"q", Timestamp::new(time), b"")).unwrap();
        open(&writer.finish().unwrap().0, cached())
    };
    let times = [9, 7, 5, 3, 2];
    let readers = times.map(file_of);
    let files = readers.iter().zip(times.map(Timestamp::new));
    let files = files.map(|(reader, time)| reader.lookup_file().times(time, time));
    let list = LookupFiles::new(files.collect()).unwrap();
    let probe = RowProbe::new(b"row", SEED);
    let mut lookup = RowLookup::new(&list, &probe, LookupLimits::default());
    lookup.record_outcomes();
    let found = |lookup: &mut RowLookup<'_>, stop| {
        lookup.stop_below(Timestamp::new(stop));
        let found = || lookup.next_file().unwrap().map(|found| found.file());
        std::iter::from_fn(found).collect::<Vec<_>>()
    };
    assert_eq!(found(&mut lookup, 8), [0]);
    assert!(found(&mut lookup, 9).is_empty());
    assert_eq!(lookup.trace().files_skipped_by_time, 0, "the others may be needed yet");
    assert_eq!(found(&mut lookup, 5), [1, 2]);
    lookup.end();
    let fates: Vec<_> = lookup.outcomes().iter().map(|outcome| outcome.fate).collect();
    let (read, old) = (FileFate::Read, FileFate::TooOld);
    assert_eq!(fates, [read, read, read, old, old]);
    assert_outcomes_are_counted(&lookup);
    assert!(lookup.next_file().unwrap().is_none());
}

/// Asserts that each file has an outcome, in order, and that the outcomes have the counters of the
/// lookup.
fn assert_outcomes_are_counted(lookup: &RowLookup<'_>) {
    let (trace, outcomes) = (lookup.trace(), lookup.outcomes());
    let mut sum = ReadTrace::default();
    sum.files_considered = outcomes.len() as u64;
    (sum.map_lookups, sum.map_candidates) = (trace.map_lookups, trace.map_candidates);
    for (index, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.file, index, "files in order, each once");
        sum.add(&outcome.trace);
    }
    assert_eq!(sum, *trace);
    let count = |counted: &[FileFate]| {
        outcomes.iter().filter(|outcome| counted.contains(&outcome.fate)).count() as u64
    };
    assert_eq!(trace.files_skipped_by_time, count(&[FileFate::TooOld, FileFate::TooNew]));
    assert_eq!(trace.files_skipped_by_range, count(&[FileFate::OutOfRange]));
    assert_eq!(trace.files_skipped_by_filter, count(&[FileFate::Denied]));
    assert_eq!(trace.files_skipped_by_map, count(&[FileFate::DeniedByMap]));
}

/// A filter over columns counts its false positives by a search of the row, which must not read what
/// the get itself does not need.
#[test]
fn a_damaged_block_before_the_wanted_column_does_not_fail_the_lookup() {
    let options = WriterOptions::default().block_size(1000).bloom_type(BloomType::RowCol);
    let mut writer = Writer::new(Vec::new(), FileName::new("rows"), options).unwrap();
    for number in 0..1000 {
        let qualifier = format!("column{number:06}");
        let cell = CellRef::put(b"wide", b"f", qualifier.as_bytes(), Timestamp::new(1), b"a value");
        writer.append(cell).unwrap();
    }
    let mut bytes = writer.finish().unwrap().0;
    let damaged = bytes.windows(12).position(|window| window == b"column000500").unwrap();
    bytes[damaged] ^= 1;
    let reader = open(&bytes, ReaderOptions::default());
    for wanted in ["column000000", "column000010", "column000499", "column000500", "column000900"] {
        let probe = RowProbe::new(b"wide", SEED).with_column(wanted.as_bytes());
        let found = scanner_at(&reader, &probe).0.expect("there");
        assert_eq!(first_cell(&found), b"widecolumn000000", "the row's first cell for {wanted}");
    }
}
