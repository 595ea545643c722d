//! A row gives the same answer however often its block was read before.
//!
//! ```text
//! first touch    from the file: in a full cache the encoded block is scanned up to the row
//! second touch   from the cache: the block is decoded, and searched from then on
//! third touch    from the cache: a search
//! ```
//!
//! Each row of a file is read first after the cache was filled, then twice more: present rows, and
//! absent ones between others, before the first and after the last row of a block and of the file.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use filter::Seed;
use sstable::lookup::{LookupLimits, RowInFile, RowLookup};
use sstable::{
    BlockCache, BlockKind, BlockSource, BloomType, Caching, Cell, CellRef, CellType,
    DataBlockEncoding, FileName, FilterUse, KeyRef, ReadTrace, Reader, ReaderOptions, RowProbe,
    Scanner, SequenceId, Timestamp, Writer, WriterOptions,
};
use store::{Delete, FamilyOptions, Get, Put, Store, StoreOptions};
use support::mutants::Mutant;
use support::sound::Sound;

/// Returns a file that fills the cache.
fn filler() -> Bytes {
    let options = WriterOptions::default().block_size(1000);
    let mut writer = Writer::new(Vec::new(), FileName::new("filler"), options).unwrap();
    for number in 0..600 {
        let row = format!("row{number:05}");
        let cell = CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), &[b'v'; 900]);
        writer.append(cell).unwrap();
    }
    writer.finish().unwrap().0.into()
}

/// Opens a file with a cache that is full of another file.
fn open(bytes: &Bytes) -> (Reader, Arc<BlockCache>) {
    static FILLER: LazyLock<Bytes> = LazyLock::new(filler);
    let cache = Arc::new(BlockCache::new(512 << 10));
    let options = ReaderOptions::default().cache(Arc::clone(&cache));
    let filler = Reader::open(Arc::new(FILLER.clone()), FileName::new("filler"), options).unwrap();
    let mut scanner = filler.scanner(Caching::Use);
    scanner.seek_to_first().unwrap();
    while scanner.cell().is_some() {
        scanner.advance().unwrap();
    }
    assert!(cache.stats().block_bytes > cache.stats().capacity_bytes / 8 * 7);
    let options = ReaderOptions::default().cache(Arc::clone(&cache)).filter_use(FilterUse::None);
    (Reader::open(Arc::new(bytes.clone()), FileName::new("touched"), options).unwrap(), cache)
}

/// Gets a row without filters.
fn look_up(reader: &Reader, row: &[u8], trace: &mut ReadTrace) -> Option<Scanner> {
    find(reader, row, trace).unwrap()
}

/// Returns a scanner at the first cell of a row.
fn find(reader: &Reader, row: &[u8], trace: &mut ReadTrace) -> sstable::Result<Option<Scanner>> {
    let (files, probe) = ([reader.lookup_file()], RowProbe::new(row, Seed::default()));
    let mut lookup = RowLookup::new(&files, &probe, LookupLimits::default());
    let found = lookup.next_file();
    trace.add(lookup.trace());
    Ok(found?.map(RowInFile::into_scanner))
}

/// Returns the cells of the row at the scanner's position.
fn cells_of_row(scanner: &mut Scanner, row: &[u8]) -> Vec<Cell> {
    let mut cells = Vec::new();
    while let Some(cell) = scanner.cell().filter(|cell| cell.row == row) {
        cells.push(cell.to_cell());
        scanner.advance().unwrap();
    }
    cells
}

/// Rows wider than a block among narrow ones, several versions of a column, and all kinds of
/// deletes.
fn wide_and_narrow(options: WriterOptions) -> (Bytes, Vec<Cell>) {
    let types = [
        CellType::Put,
        CellType::Put,
        CellType::Delete,
        CellType::DeleteColumn,
        CellType::DeleteFamilyVersion,
    ];
    let mut cells = Vec::new();
    for row in 0..40_u64 {
        let name = format!("{:03}-{}", row * 2, "r".repeat(row as usize % 7));
        for column in 0..[1, 2, 30][row as usize % 3] {
            for version in 0..3 {
                let number = row * 100 + column * 3 + version;
                let cell_type = types[number as usize % types.len()];
                let deletes_family = cell_type == CellType::DeleteFamilyVersion;
                let qualifier = format!("q{column:02}");
                let tags = [0, 4, 65, b't', b'a', b'g'];
                let cell = CellRef {
                    row: name.as_bytes(),
                    family: b"f",
                    qualifier: if deletes_family { b"" } else { qualifier.as_bytes() },
                    timestamp: Timestamp::new(1_700_000_000_000 - version.cast_signed() * 1000),
                    cell_type,
                    value: &vec![
                        b'v';
                        if cell_type == CellType::Put { column as usize } else { 0 }
                    ],
                    tags: &tags[..if column % 2 == 0 { tags.len() } else { 0 }],
                    sequence_id: SequenceId::new(number),
                };
                cells.push(cell.to_cell());
            }
        }
    }
    cells.sort_by(|left, right| left.as_ref().compare(&right.as_ref()));
    let mut writer = Writer::new(Vec::new(), FileName::new("touched"), options).unwrap();
    for cell in &cells {
        writer.append(cell.as_ref()).unwrap();
    }
    (writer.finish().unwrap().0.into(), cells)
}

/// Returns the rows of these cells, and rows before, between and after them.
fn asked(cells: &[Cell]) -> Vec<Vec<u8>> {
    let mut rows: Vec<_> = cells.iter().map(|cell| cell.row().to_vec()).collect();
    rows.dedup();
    let after = rows.iter().map(|row| [&row[..], b"\0"].concat());
    let before = rows.iter().map(|row| row[..row.len() - 1].to_vec());
    let mut asked: Vec<_> = before.chain(after).chain(rows.iter().cloned()).collect();
    asked.extend([b"".to_vec(), b"\xff".to_vec()]);
    asked.sort();
    asked.dedup();
    asked
}

/// Gets each row three times, the first time with a cache that has no block of the file.
fn check(bytes: &Bytes, cells: &[Cell], encoding: DataBlockEncoding) {
    for row in asked(cells) {
        let expected: Vec<_> = cells.iter().filter(|cell| cell.row() == row).cloned().collect();
        let (reader, cache) = open(bytes);
        let mut touched = None;
        for touch in 1..=3 {
            let what = || format!("{encoding}, {}, touch {touch}", cells::escape(&row));
            let mut trace = ReadTrace::default();
            let mut found = look_up(&reader, &row, &mut trace);
            assert_eq!(found.is_some(), !expected.is_empty(), "{}", what());
            if let Some(scanner) = &mut found {
                assert_eq!(cells_of_row(scanner, &row), expected, "{}", what());
                trace.add(scanner.trace());
            }
            // Later some blocks may be evicted by others of the same row.
            let from_file = trace.blocks(BlockKind::Data, BlockSource::File);
            assert!(touch > 1 || from_file == trace.data_blocks(), "{}", what());
            let now = trace.data_blocks();
            assert_eq!(*touched.get_or_insert(now), now, "{}", what());
            assert!(cache.stats().block_bytes <= cache.stats().capacity_bytes, "{}", what());
        }
    }
}

#[test]
fn a_row_answers_the_same_at_the_first_second_and_third_touch() {
    for encoding in DataBlockEncoding::ALL {
        for compress_tags in [false, true] {
            for (block_size, bloom_type) in [(200, BloomType::Row), (1200, BloomType::RowCol)] {
                let options = WriterOptions::default()
                    .data_block_encoding(encoding)
                    .compress_tags(compress_tags)
                    .includes_tags(true)
                    .bloom_type(bloom_type)
                    .index_block_size(400)
                    .block_size(block_size);
                let (bytes, cells) = wide_and_narrow(options.clone());
                check(&bytes, &cells, encoding);
                let sound = Sound::written(encoding.name(), options);
                check(&sound.bytes.into(), &sound.cells, encoding);
            }
        }
    }
}

/// A get may leave the scanner in a block that is still encoded.
#[test]
fn a_scanner_moves_anywhere_from_a_found_row() {
    for encoding in DataBlockEncoding::ALL {
        let options = WriterOptions::default()
            .data_block_encoding(encoding)
            .includes_tags(true)
            .block_size(500);
        let (bytes, cells) = wide_and_narrow(options);
        for start in (0..cells.len()).step_by(7) {
            let row = cells[start].row();
            let first = cells.iter().position(|cell| cell.row() == row).unwrap();
            let check_position = |scanner: &Scanner, at: Option<usize>| {
                let expected = at.and_then(|at| cells.get(at)).map(Cell::as_ref);
                assert_eq!(scanner.cell(), expected, "{encoding}, {at:?}");
            };
            let found = |ahead: usize| {
                let (reader, _) = open(&bytes);
                let mut scanner = look_up(&reader, row, &mut ReadTrace::default()).unwrap();
                for _ in 0..ahead {
                    scanner.advance().unwrap();
                }
                check_position(&scanner, Some(first + ahead));
                scanner
            };
            for ahead in [0, 1, 5].into_iter().filter(|ahead| first + ahead < cells.len()) {
                let mut scanner = found(ahead);
                scanner.retreat().unwrap();
                check_position(&scanner, (first + ahead).checked_sub(1));

                let mut scanner = found(ahead);
                scanner.seek_before(KeyRef::before_row(row)).unwrap();
                check_position(&scanner, first.checked_sub(1));

                let key = cells[start].as_ref().key();
                let mut scanner = found(ahead);
                scanner.seek(key).unwrap();
                check_position(&scanner, cells.iter().position(|cell| cell.as_ref().key() == key));

                let next = cells.iter().position(|cell| cell.row() > row);
                let mut scanner = found(ahead);
                scanner.seek(KeyRef::after_row(row)).unwrap();
                check_position(&scanner, next);
                scanner.seek(KeyRef::before_row(row)).unwrap();
                check_position(&scanner, Some(first));
            }
        }
    }
}

/// A get from an encoded block does not read past its row, and a scanner that moves back from there
/// no longer knows the index entry. So the next search of the block must check it against the
/// index.
#[test]
fn damage_after_the_row_is_found_by_the_next_get_even_after_a_scanner_moved_back() {
    for encoding in
        [DataBlockEncoding::Prefix, DataBlockEncoding::Diff, DataBlockEncoding::FastDiff]
    {
        // A block is checked against the key of the next block, or the last key in the file info.
        for block_size in [500, 64 << 10] {
            let options =
                WriterOptions::default().data_block_encoding(encoding).block_size(block_size);
            let sound = Sound::written(encoding.name(), options);
            let row = sound.cells[2].row();
            let len = sound.covered(0).len();
            let mut found = 0_u64;
            for at in len.saturating_sub(100)..len {
                let mutant = Mutant::overwritten(&sound, 0, at, b"~").unwrap();
                let bytes = mutant.bytes.into();
                let get = |reader: &Reader| find(reader, row, &mut ReadTrace::default());
                let (reader, _) = open(&bytes);
                let first = get(&reader).unwrap().unwrap();
                assert_eq!(first.cell(), sound.first_of(row).map(Cell::as_ref));
                let Err(error) = get(&reader) else { continue };
                let (reader, _) = open(&bytes);
                let mut scanner = get(&reader).unwrap().unwrap();
                if let Err(moved) = scanner.retreat() {
                    // The scanner detects that the cells are inconsistent, or compares them with the index.
                    found += u64::from(moved.to_string() == error.to_string());
                    continue;
                }
                found += 1;
                let after = get(&reader).err().map(|error| error.to_string());
                assert_eq!(after, Some(error.to_string()), "{encoding}, {block_size}, {at}");
            }
            assert!(found > 0, "{encoding}, {block_size}: no damage that only the index reveals");
        }
    }
}

/// The trace counts the size of a cached block as it is in the cache.
#[test]
fn in_a_full_cache_a_block_is_decoded_at_the_second_touch_otherwise_at_the_first() {
    for encoding in
        [DataBlockEncoding::Prefix, DataBlockEncoding::Diff, DataBlockEncoding::FastDiff]
    {
        let options = WriterOptions::default().data_block_encoding(encoding).includes_tags(true);
        let (bytes, cells) = wide_and_narrow(options);
        let touch = |reader: &Reader| {
            let mut trace = ReadTrace::default();
            assert!(look_up(reader, cells[0].row(), &mut trace).is_some());
            trace.bytes(BlockKind::Data, BlockSource::Cache)
        };
        let (reader, _) = open(&bytes);
        let [first, second, third, fourth] = [(); 4].map(|()| touch(&reader));
        assert_eq!(first, 0, "{encoding}");
        assert!(second < third, "{encoding}: {second} {third}");
        assert_eq!(third, fourth, "{encoding}");
        let reader = support::sound::open(bytes.clone()).unwrap();
        assert_eq!([(); 4].map(|()| touch(&reader)), [0, third, third, third], "{encoding}");
    }
}

#[test]
fn a_store_gives_the_same_answers_from_encoded_blocks_on_every_touch() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions::default().auto_compaction(false);
    let store = Store::open(directory.path(), options.clone()).unwrap();
    let names: Vec<_> =
        DataBlockEncoding::ALL.iter().map(|encoding| encoding.name().to_owned()).collect();
    for (name, encoding) in names.iter().zip(DataBlockEncoding::ALL) {
        let options = FamilyOptions::default().versions(3).block_size(600);
        store.create_family(name, options.data_block_encoding(encoding)).unwrap();
    }
    for file in 0..3_u32 {
        for row in (0..90).filter(|row| row % 3 != file) {
            let key = format!("row{:03}", row * 2);
            for name in &names {
                let mut put = Put::new(&key);
                for column in 0..[1, 3, 40][row as usize % 3] {
                    put = put.column(name, format!("q{column:02}"), format!("{file}-{row}"));
                }
                store.put(put).unwrap();
                if row % 11 == 0 {
                    store.delete(Delete::row(&key).family(name)).unwrap();
                }
            }
        }
        store.flush().unwrap();
    }
    drop(store);
    let [plain, encoded @ ..] = &names[..] else { panic!("several encodings") };
    for row in 0..181 {
        let key = format!("row{row:03}");
        let columns: [&[&str]; 3] = [&[], &["q00"], &["q01", "q37"]];
        for columns in columns {
            let store = Store::open(directory.path(), options.clone()).unwrap();
            let shown = |family: &str| {
                let get = Get::row(&key).versions(3);
                let get = match columns {
                    [] => get.family(family),
                    columns => columns.iter().fold(get, |get, it| get.column(family, *it)),
                };
                let cells = store.get(&get).unwrap();
                let parts = |cell: &Cell| (cell.qualifier().to_vec(), cell.value().to_vec());
                cells.iter().map(parts).collect::<Vec<_>>()
            };
            let expected = shown(plain);
            for family in encoded {
                for touch in 1..=3 {
                    assert_eq!(shown(family), expected, "{family}, {key}, touch {touch}");
                }
            }
        }
    }
}
