//! Files that HBase wrote: we read every cell, and find present rows and no absent ones.

mod file;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use filter::Seed;
use sstable::{
    BlockCache, BlockKind, BlockSource, BloomType, Caching, Compression, FileName, FilterAnswer,
    FilterUse, KeyRef, Limits, ReadTrace, Reader, ReaderOptions, RowProbe,
};
use support::cells::scan_all;
use support::fixtures::Fixture;
use support::sound::Sound;
use support::ways::{Answer, Questions, Way};
use support::{hex, say};

use file::Golden;

#[test]
fn every_way_of_reading_returns_what_hbase_read() {
    let (mut files, mut cells, mut answered) = (0, 0, 0);
    for golden in Golden::all() {
        let bytes = std::fs::read(&golden.path).unwrap();
        files += 1;
        cells += golden.cells.len();
        let questions = Questions::new(Sound::new(&golden.name, bytes.clone(), golden.cells));
        let bytes = Bytes::from(bytes);
        // `hbase:meta`, whose rows have an order of their own, is never split.
        let can_be_split = questions.sound().cells.is_sorted_by_key(|cell| cell.row().to_vec());
        for way in Way::ALL.into_iter().filter(|way| can_be_split || *way != Way::Halves) {
            for Answer { question, expected, found, failed, .. } in
                questions.ask(way, &bytes).unwrap()
            {
                assert!(!failed && found == expected, "{}: {way}: {question}", golden.name);
                answered += 1;
            }
        }
    }
    say(&format!("golden: {cells} cells of {files} files are read exactly, {answered} questions"));
}

#[test]
fn properties_of_files_equal_those_that_hbase_reports() {
    for fixture in Fixture::all() {
        let name = &fixture.name;
        let reader = Reader::open_file(&fixture.path, ReaderOptions::default()).unwrap();
        let (expect, trailer) = (&fixture.expect, reader.trailer());
        let number = |name: &str| expect["trailer"][name].as_u64();
        let offset = |offset: Option<sstable::BlockOffset>| offset.map(sstable::BlockOffset::get);
        assert_eq!(Some(reader.trailer().entry_count), expect["entries"].as_u64(), "{name}");
        assert_eq!(Some(reader.len()), expect["size"].as_u64(), "{name}");
        assert_eq!(Some(reader.index().levels().into()), number("numDataIndexLevels"), "{name}");
        assert_eq!(Some(trailer.data_index_count.into()), number("dataIndexCount"), "{name}");
        assert_eq!(Some(trailer.meta_index_count.into()), number("metaIndexCount"), "{name}");
        assert_eq!(offset(Some(trailer.file_info_offset)), number("fileInfoOffset"), "{name}");
        assert_eq!(offset(trailer.last_data_block_offset), number("lastDataBlockOffset"), "{name}");
        assert_eq!(
            Some(reader.blocks().compression().name()),
            expect["compression"].as_str(),
            "{name}"
        );
        assert_eq!(Some(reader.blocks().encoding().name()), expect["encoding"].as_str(), "{name}");

        let entries = expect["fileInfo"].as_object().unwrap();
        let ours = reader
            .file_info()
            .iter()
            .map(|(key, value)| (String::from_utf8_lossy(key).into_owned(), hex(value)));
        let theirs =
            entries.iter().map(|(key, value)| (key.clone(), value["hex"].as_str().unwrap().into()));
        assert_eq!(ours.collect::<Vec<_>>(), theirs.collect::<Vec<_>>(), "{name}");

        let mut kinds = std::collections::BTreeMap::new();
        for block in reader.blocks().headers() {
            *kinds.entry(block.unwrap().1.block_type.name()).or_insert(0_u64) += 1;
        }
        let theirs = expect["blocks"].as_object().unwrap();
        let theirs = theirs.iter().map(|(kind, count)| (kind.as_str(), count.as_u64().unwrap()));
        assert!(kinds.into_iter().eq(theirs), "{name}");
    }
}

#[test]
fn bloom_filter_fields_equal_those_that_hbase_reports() {
    let mut seen = 0;
    for fixture in Fixture::all() {
        let name = &fixture.name;
        let reader = Reader::open_file(&fixture.path, ReaderOptions::default()).unwrap();
        assert_eq!(reader.filters().bloom_problem(), None, "{name}");
        let expect = &fixture.expect["bloom"];
        let Some(bloom) = reader.filters().bloom() else {
            assert!(expect.is_null(), "{name} has a Bloom filter");
            continue;
        };
        seen += 1;
        assert_eq!(Some(bloom.bloom_type.name()), fixture.expect["bloomType"].as_str(), "{name}");
        assert_eq!(Some(bloom.hash_type.code().into()), expect["hashType"].as_i64(), "{name}");
        assert_eq!(Some(bloom.hash_count.into()), expect["hashCount"].as_u64(), "{name}");
        assert_eq!(Some(bloom.chunk_count as u64), expect["chunks"].as_u64(), "{name}");
        assert_eq!(Some(bloom.key_count), expect["keys"].as_u64(), "{name}");
        assert_eq!(Some(bloom.max_keys), expect["maxKeys"].as_u64(), "{name}");
        assert_eq!(Some(bloom.byte_size), expect["bytes"].as_u64(), "{name}");
    }
    assert!(seen >= 25, "only {seen} Bloom filters");
}

#[test]
fn every_row_passes_each_filter_and_is_found_whole() {
    let mut rows = 0;
    for golden in Golden::all() {
        let cache = Arc::new(BlockCache::new(1 << 20));
        for filter_use in [FilterUse::Best, FilterUse::None] {
            let options = ReaderOptions::default().cache(Arc::clone(&cache)).filter_use(filter_use);
            let reader = golden.open(options);
            for row in golden.rows() {
                let mut cells = reader.row(row[0].row()).unwrap();
                let mut found = Vec::new();
                while let Some(cell) = cells.cell() {
                    found.push(cell.to_cell());
                    cells.advance().unwrap();
                }
                assert_eq!(found, row, "{}", golden.name);
                let trace = cells.trace();
                assert_eq!(trace.files_skipped_by_filter, 0, "{}", golden.name);
                assert_eq!(trace.filter_false_positives, 0, "{}", golden.name);
                rows += 1;
            }
        }
    }
    say(&format!("golden: {rows} gets of present rows"));
}

#[test]
fn every_column_passes_the_filters_over_columns() {
    let mut columns = 0;
    for golden in Golden::all() {
        let reader =
            golden.open(ReaderOptions::default().cache(Arc::new(BlockCache::new(1 << 20))));
        if reader.filters().bloom().map(|bloom| bloom.bloom_type) != Some(BloomType::RowCol) {
            continue;
        }
        for cell in &golden.cells {
            let mut trace = ReadTrace::default();
            let probe = RowProbe::new(cell.row(), Seed::default()).with_column(cell.qualifier());
            assert_ne!(reader.ask_filter(&probe, &mut trace), FilterAnswer::No, "{}", golden.name);
            assert_eq!(trace.filter_checks, 1);
            columns += 1;
        }
        let mut trace = ReadTrace::default();
        for cell in &golden.cells {
            let probe = RowProbe::new(cell.row(), Seed::default()).with_column(b"no such column");
            reader.ask_filter(&probe, &mut trace);
        }
        // Cells that a family delete covers pass by design; almost no others do.
        let deletes = golden.cells.iter().any(|cell| cell.qualifier().is_empty());
        assert!(deletes || trace.files_skipped_by_filter * 10 > trace.filter_checks * 9);
    }
    assert!(columns > 3000, "only {columns} columns");
}

#[test]
fn absent_rows_are_not_found_and_filters_skip_most_of_their_blocks() {
    let (mut asked, mut passed, mut promised) = (0_u64, 0_u64, 0.0);
    for golden in Golden::all() {
        let cache = Arc::new(BlockCache::new(4 << 20));
        let reader = golden.open(ReaderOptions::default().cache(cache));
        let is_row_bloom =
            reader.filters().bloom().is_some_and(|bloom| bloom.bloom_type == BloomType::Row);
        for row in golden.rows() {
            // A row between two rows of the file, unless the file has it.
            let absent = [row[0].row(), b"\x00"].concat();
            if golden.cells.iter().any(|cell| cell.row() == absent) {
                continue;
            }
            let found = reader.row(&absent).unwrap();
            assert!(found.cell().is_none(), "{}", golden.name);
            let trace = found.trace();
            if trace.files_skipped_by_range == 1 {
                assert_eq!(trace.filter_checks + trace.data_blocks(), 0);
                continue;
            }
            if is_row_bloom {
                asked += trace.filter_checks;
                passed += trace.filter_false_positives;
                promised += reader.filters().bloom().map_or(0.0, |bloom| bloom.error_rate());
                assert_eq!(trace.filter_checks, 1, "{}", golden.name);
                // A row that could start the next block is searched in both blocks.
                assert!(trace.data_blocks() <= 2 * trace.filter_false_positives);
            }
        }
    }
    let expected = promised.round() as u64;
    say(&format!("golden: {passed} of {asked} absent rows passed a filter, {expected} expected"));
    assert!(asked > 5000, "{asked}");
    assert!(passed < 2 * expected + 20, "{passed} of {asked} passed");
}

/// A seek ends on the first cell that is not before the key, and the other one on the cell before
/// that; both go on in either direction.
#[test]
fn seeks_end_next_to_every_kind_of_key() {
    for golden in Golden::all() {
        let reader =
            golden.open(ReaderOptions::default().cache(Arc::new(BlockCache::new(1 << 20))));
        let mut scanner = reader.scanner(Caching::Use);
        let step = golden.cells.len() / 97 + 1;
        let some = golden.cells.iter().rev().step_by(step);
        for cell in some.chain(golden.cells.iter().step_by(step)) {
            let cell = cell.as_ref();
            for key in [
                cell.key(),
                KeyRef::before_row(cell.row),
                KeyRef::after_row(cell.row),
                KeyRef::before_column(cell.row, cell.family, cell.qualifier),
                KeyRef::after_column(cell.row, cell.family, cell.qualifier),
            ] {
                let at = golden.before(&reader, &key);
                let first = golden.cells.get(at).map(|cell| cell.as_ref());
                let before = at.checked_sub(1).map(|at| golden.cells[at].as_ref());
                scanner.seek(key).unwrap();
                assert_eq!(scanner.cell(), first, "{} {key}", golden.name);
                scanner.seek_before(key).unwrap();
                assert_eq!(scanner.cell(), before, "{} {key}", golden.name);
                if before.is_some() {
                    scanner.advance().unwrap();
                    assert_eq!(scanner.cell(), first, "{} {key}", golden.name);
                }
            }
        }
    }
}

#[test]
fn the_middle_key_of_a_file_is_near_its_middle() {
    for golden in Golden::all() {
        let reader = golden.open(ReaderOptions::default());
        let middle = reader.index().middle_key(&mut ReadTrace::default()).unwrap();
        let Some(middle) = middle else {
            assert!(golden.cells.is_empty(), "{}", golden.name);
            continue;
        };
        let middle = KeyRef::parse(&middle).unwrap();
        let before = golden.before(&reader, &middle);
        if reader.trailer().data_index_count > 4 {
            let share = before as f64 / golden.cells.len() as f64;
            assert!((0.2..0.8).contains(&share), "{}: {share}", golden.name);
        }
    }
}

#[test]
fn verify_finds_every_file_sound() {
    let mut blocks = 0;
    for golden in Golden::all() {
        let bytes = Bytes::from(std::fs::read(&golden.path).unwrap());
        let name = FileName::new(golden.name.clone());
        let found = sstable::verify(Arc::new(bytes), name, Limits::default(), |_| {}).unwrap();
        assert_eq!(found.problems, [], "{}", golden.name);
        assert_eq!(found.cells, golden.cells.len() as u64, "{}", golden.name);
        blocks += found.blocks;
    }
    say(&format!("golden: {blocks} blocks are sound"));
}

#[test]
fn zstd_is_refused_by_name_without_its_feature() {
    if Compression::Zstd.is_supported() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/hfile/z01-zstd-frames.hfile");
    let error = Reader::open_file(&path, ReaderOptions::default()).unwrap_err();
    assert!(matches!(error, sstable::Error::Unsupported { .. }));
    let what = "unsupported compression codec: ZSTD, which needs a build with the feature `zstd`";
    assert!(error.to_string().ends_with(what), "{error}");
}

#[test]
fn blocks_are_counted_by_source() {
    let fixture = Fixture::all().into_iter().find(|fixture| fixture.name == "p25-none-none-row");
    let fixture = fixture.unwrap();
    let cache = Arc::new(BlockCache::new(4 << 20));
    let reader =
        Reader::open_file(&fixture.path, ReaderOptions::default().cache(Arc::clone(&cache)))
            .unwrap();
    let data_blocks = fixture.expect["blocks"]["DATA"].as_u64().unwrap();
    for (source, other) in
        [(BlockSource::File, BlockSource::Cache), (BlockSource::Cache, BlockSource::File)]
    {
        let mut scanner = reader.scanner(Caching::Use);
        scan_all(&mut scanner).unwrap();
        assert_eq!(scanner.trace().blocks(BlockKind::Data, source), data_blocks);
        assert_eq!(scanner.trace().blocks(BlockKind::Data, other), 0);
    }
    let mut scanner = reader.scanner(Caching::Bypass);
    scan_all(&mut scanner).unwrap();
    assert_eq!(scanner.trace().blocks(BlockKind::Data, BlockSource::File), data_blocks);

    let row = reader.first_row().unwrap().to_vec();
    for source in [BlockSource::File, BlockSource::Cache, BlockSource::Cache] {
        let found = reader.row(&row).unwrap();
        assert!(found.cell().is_some());
        let trace = found.trace();
        assert_eq!(trace.blocks(BlockKind::Bloom, source), 1);
        assert_eq!(trace.data_blocks(), 1);
    }
    assert!(cache.stats().reserved_bytes > 0, "the open file keeps its filter in memory");
    drop(reader);
    drop(scanner);
    assert_eq!(cache.stats().reserved_bytes, 0, "closing the file frees its filter");
}
