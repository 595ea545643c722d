//! Record batches of HFiles, stores and snapshots: the same cells, from the same blocks.
//!
//! `cargo test -p hfile-arrow --test arrow`

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int8Type, Int16Type, Int64Type,
    TimestampMillisecondType,
};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use cells::{ValueType, ndjson};
use hbase_files::{FileTree, LocalTree, RootDirectory, TableScan};
use hfile_arrow::{
    ArrowFile, BatchScan, BatchSplit, CellColumn, Error, ParquetCompression, ParquetFile,
    PivotColumn,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sstable::{
    Caching, Cell, CellRef, CellType, Compression, DataBlockEncoding, FileName, KeyRef, ReadTrace,
    Reader, ReaderOptions, SequenceId, Timestamp, Writer, WriterOptions,
};
use store::{FamilyOptions, Put, Store, StoreOptions};
use support::directory_cases::{DirectoryCase, Outcome, cases};
use support::fixtures::read_cells;
use support::root_directory::{self, NOW, RootCopy};

/// Returns the cells of batches that have all parts.
fn cells_of(batches: &[RecordBatch]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for batch in batches {
        let bytes = |index: usize| batch.column(index).as_binary::<i32>();
        let numbers = |index: usize| batch.column(index).as_primitive::<Int64Type>();
        let types = batch.column(4).as_string::<i32>();
        for row in 0..batch.num_rows() {
            let name = types.value(row);
            let cell_type = CellType::ALL.into_iter().find(|known| known.name() == name);
            let tags = bytes(6);
            let cell = CellRef {
                row: bytes(0).value(row),
                family: bytes(1).value(row),
                qualifier: bytes(2).value(row),
                timestamp: Timestamp::new(numbers(3).value(row)),
                cell_type: cell_type.expect("a type"),
                value: bytes(5).value(row),
                tags: if tags.is_null(row) { b"" } else { tags.value(row) },
                sequence_id: SequenceId::new(numbers(7).value(row) as u64),
            };
            cells.push(cell.to_cell());
        }
    }
    cells
}

fn collect(batches: impl Iterator<Item = hfile_arrow::Result<RecordBatch>>) -> Vec<RecordBatch> {
    batches.collect::<Result<_, _>>().expect("sound")
}

/// Returns the cells of a range as the file's scanner has them, and its counters.
fn scanned(reader: &Reader, start: &[u8], stop: Option<&[u8]>) -> (Vec<Cell>, ReadTrace) {
    let mut scanner = reader.scanner(Caching::Bypass);
    if start.is_empty() {
        scanner.seek_to_first().expect("sound");
    } else {
        scanner.seek(KeyRef::before_row(start)).expect("sound");
    }
    let mut cells = Vec::new();
    while let Some(cell) = scanner.cell().filter(|cell| stop.is_none_or(|stop| cell.row < stop)) {
        cells.push(cell.to_cell());
        scanner.advance().expect("sound");
    }
    (cells, scanner.take_trace())
}

fn golden(name: &str) -> Reader {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/hfile").join(name);
    Reader::open_file(path, ReaderOptions::default()).expect("sound")
}

fn put<'c>(row: &'c [u8], qualifier: &'c [u8], time: i64, value: &'c [u8]) -> CellRef<'c> {
    CellRef::put(row, b"f", qualifier, Timestamp::new(time), value)
}

/// Returns a file with these cells in small blocks.
fn file<'c>(cells: impl IntoIterator<Item = CellRef<'c>>) -> Reader {
    let options = WriterOptions::default()
        .block_size(1024)
        .compression(Compression::Snappy)
        .data_block_encoding(DataBlockEncoding::FastDiff);
    let name = FileName::new("made.hfile");
    let mut writer = Writer::new(Vec::new(), name.clone(), options).expect("memory");
    for cell in cells {
        writer.append(cell).expect("in order");
    }
    let (bytes, _) = writer.finish().expect("memory");
    Reader::open(Arc::new(Bytes::from(bytes)), name, ReaderOptions::default()).expect("ours")
}

#[test]
fn batches_have_the_cells_of_a_file() {
    for name in [
        "s01-default.hfile",
        "s02-empty.hfile",
        "s04-three-index-levels.hfile",
        "p25-none-none-row.hfile",
    ] {
        let reader = golden(name);
        let (expected, _) = scanned(&reader, b"", None);
        for (rows_max, bytes_max) in [(7, 1 << 20), (1 << 20, 5000), (1 << 20, 16 << 20)] {
            let scan = BatchScan::cells().raw(true).rows_max(rows_max).bytes_max(bytes_max);
            let batches = collect(scan.hfile(&reader).expect("sound"));
            assert!(cells_of(&batches) == expected, "{name}");
            for batch in &batches {
                assert!((1..=rows_max).contains(&batch.num_rows()), "{name}");
                let contents: usize = cells_of(std::slice::from_ref(batch))
                    .iter()
                    .map(|cell| cell.row().len() + cell.qualifier().len() + cell.value().len())
                    .sum();
                assert!(contents <= bytes_max || batch.num_rows() == 1, "{name}: {contents}");
            }
        }
    }
}

#[test]
fn a_row_range_reads_the_blocks_of_a_scan_of_that_range() {
    let rows: Vec<_> = (0..5000).map(|number| format!("row{number:05}").into_bytes()).collect();
    let reader = file(rows.iter().map(|row| put(row, b"q", 5, row)));
    let all = scanned(&reader, b"", None).1.data_blocks();
    assert!(all > 50, "{all} blocks");
    for (start, stop) in [(0, 1), (17, 18), (100, 2000), (4990, 5000), (0, 5000)] {
        let end = rows.get(stop).map(Vec::as_slice);
        let (expected, trace) = scanned(&reader, &rows[start], end);
        let scan = BatchScan::cells().raw(true).start(&rows[start]);
        let scan = match end {
            Some(end) => scan.stop(end),
            None => scan,
        };
        let mut batches = scan.hfile(&reader).expect("sound");
        let found = collect(&mut batches);
        assert!(cells_of(&found) == expected);
        assert_eq!(batches.trace().data_blocks(), trace.data_blocks(), "{start}..{stop}");
        assert!(stop - start == 5000 || trace.data_blocks() < all, "{start}..{stop}");
    }
    // Outside of the file's rows, no block is read.
    for scan in [
        BatchScan::cells().start("s"),
        BatchScan::cells().prefix("q"),
        BatchScan::cells().family("other"),
    ] {
        let mut batches = scan.hfile(&reader).expect("sound");
        assert!(collect(&mut batches).is_empty());
        assert!(batches.trace().data_blocks() <= 1, "{:?}", batches.trace());
    }
}

#[test]
fn columns_that_are_not_wanted_are_not_read() {
    let qualifiers: Vec<_> = (0..2000).map(|number| format!("q{number:04}").into_bytes()).collect();
    let rows: [&[u8]; 3] = [b"row1", b"row2", b"row3"];
    let cells = rows.iter().flat_map(|row| qualifiers.iter().map(|name| put(row, name, 5, row)));
    let reader = file(cells);
    let all = scanned(&reader, b"", None).1.data_blocks();
    for raw in [false, true] {
        let scan = BatchScan::cells().raw(raw).column("f", "q0700").column("f", "q0702");
        let mut batches = scan.column("g", "q0001").hfile(&reader).expect("sound");
        let found = cells_of(&collect(&mut batches));
        let names: Vec<_> = found.iter().map(|cell| (cell.row(), cell.qualifier())).collect();
        let expected: Vec<(&[u8], &[u8])> =
            rows.iter().flat_map(|row| [(*row, &b"q0700"[..]), (*row, b"q0702")]).collect();
        assert_eq!(names, expected);
        let blocks = batches.trace().data_blocks();
        assert!(blocks <= 9 && all > 20 * blocks, "{blocks} of {all} blocks");
    }
}

#[test]
fn a_file_shows_what_its_markers_leave() {
    let marker = CellRef { cell_type: CellType::DeleteColumn, ..put(b"row1", b"q", 6, b"") };
    let cells = [
        put(b"row1", b"q", 7, b"new"),
        marker,
        put(b"row1", b"q", 5, b"old"),
        put(b"row2", b"q", 5, b"two"),
    ];
    let reader = file(cells);
    let count = |scan: BatchScan| {
        let batches = collect(scan.hfile(&reader).expect("sound"));
        batches.iter().map(RecordBatch::num_rows).sum::<usize>()
    };
    assert_eq!(count(BatchScan::cells()), 2);
    assert_eq!(count(BatchScan::cells().raw(true)), 4);
    let before = |max| BatchScan::cells().time_range(Timestamp::new(0), Timestamp::new(max));
    assert_eq!((count(before(7)), count(before(7).raw(true))), (1, 3));
    let values = BatchScan::cells().parts([CellColumn::Value, CellColumn::Row]);
    let batch = collect(values.hfile(&reader).expect("sound")).remove(0);
    assert_eq!((batch.num_columns(), batch.schema().field(0).name().as_str()), (2, "value"));
    assert_eq!(batch.column(0).as_binary::<i32>().value(0), b"new");
}

/// A store with typed values in two families.
fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(directory.path(), StoreOptions::default()).expect("new");
    for family in ["info", "stats"] {
        store.create_family(family, FamilyOptions::default().versions(3)).expect("new");
    }
    let ada = Put::new("ada").column_at("info", "age", Timestamp::new(5), 35_i64.to_be_bytes());
    store
        .put(ada.column_at("info", "age", Timestamp::new(6), 36_i64.to_be_bytes()))
        .expect("sound");
    let more =
        Put::new("ada").column_at("stats", "score", Timestamp::new(7), 1.5_f64.to_be_bytes());
    store.put(more.column_at("info", "name", Timestamp::new(8), "Ada")).expect("sound");
    store.flush().expect("disk takes it");
    let alan =
        Put::new("alan").column_at("info", "small", Timestamp::new(9), (-2_i16).to_be_bytes());
    store.put(alan.column_at("stats", "ok", Timestamp::new(9), [0xff])).expect("sound");
    store.put(Put::new("bob").column_at("info", "other", Timestamp::new(9), "x")).expect("sound");
    (directory, store)
}

fn typed(names: [(&str, &str, ValueType); 5]) -> Vec<PivotColumn> {
    let column = |(family, name, value_type)| PivotColumn::new(family, name).value_type(value_type);
    names.into_iter().map(column).collect()
}

#[test]
fn a_pivot_has_typed_columns_and_nulls() {
    let (_directory, store) = store();
    let columns = typed([
        ("stats", "score", ValueType::Float64),
        ("info", "age", ValueType::Int64),
        ("info", "name", ValueType::String),
        ("info", "small", ValueType::Int16),
        ("stats", "ok", ValueType::Bool),
    ]);
    let scan = BatchScan::pivot(columns).row_type(ValueType::String).times(true);
    let batches = collect(scan.store(&store).expect("sound"));
    let [batch] = &batches[..] else { panic!("{} batches", batches.len()) };
    let names: Vec<_> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(
        names[..5],
        ["row", "stats:score", "stats:score:timestamp", "info:age", "info:age:timestamp"]
    );
    let rows: Vec<_> = batch.column(0).as_string::<i32>().iter().flatten().collect();
    assert_eq!(rows, ["ada", "alan"]);
    let float = batch.column(1).as_primitive::<Float64Type>();
    assert_eq!((float.value(0), float.is_null(1)), (1.5, true));
    let (age, time) =
        (batch.column(3).as_primitive::<Int64Type>(), batch.column(4).as_primitive::<Int64Type>());
    assert_eq!((age.value(0), time.value(0), time.is_null(1)), (36, 6, true), "the newest version");
    assert_eq!(batch.column(5).as_string::<i32>().value(0), "Ada");
    let small = batch.column(7).as_primitive::<Int16Type>();
    assert_eq!((small.is_null(0), small.value(1)), (true, -2));
    assert!(batch.column(9).as_boolean().value(1));

    let all = collect(scan.all_rows(true).store(&store).expect("sound"));
    let rows: Vec<_> = all[0].column(0).as_string::<i32>().iter().flatten().collect();
    assert_eq!(rows, ["ada", "alan", "bob"]);
}

#[test]
fn a_value_of_another_type_is_an_error() {
    let (_directory, store) = store();
    let age = PivotColumn::new("info", "age").value_type(ValueType::Int32);
    let error = BatchScan::pivot([age]).store(&store).expect("sound").find_map(Result::err);
    let error = error.expect("eight bytes");
    assert!(matches!(error, Error::Value { .. }));
    assert_eq!(
        error.to_string(),
        "row ada, column info:age: 8 bytes are no int32; choose another type, or binary-hex for any bytes"
    );
    let twice = [PivotColumn::new("f", "q"), PivotColumn::new("f", "q")];
    let raw = BatchScan::pivot([PivotColumn::new("f", "q")]).raw(true);
    for (scan, what) in [(BatchScan::pivot(twice), "given twice"), (raw, "no deleted cells")] {
        let error = scan.store(&store).expect_err("contradictory");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_store_shows_all_families_in_order() {
    let (_directory, store) = store();
    let cells = cells_of(&collect(BatchScan::cells().store(&store).expect("sound")));
    let names: Vec<_> = cells
        .iter()
        .map(|cell| {
            [cell.row(), cell.family(), cell.qualifier()]
                .map(|part| String::from_utf8_lossy(part).into_owned())
                .join("/")
        })
        .collect();
    assert_eq!(
        names,
        [
            "ada/info/age",
            "ada/info/age",
            "ada/info/name",
            "ada/stats/score",
            "alan/info/small",
            "alan/stats/ok",
            "bob/info/other"
        ]
    );
    let one = BatchScan::cells().family("stats").start("al").stop("b").versions(1);
    assert_eq!(cells_of(&collect(one.store(&store).expect("sound"))).len(), 1);
}

/// Returns the cells that HBase returned, without sequence ids.
fn truth(file: &str) -> Vec<Cell> {
    read_cells(&root_directory::data().join(file))
}

#[test]
fn parquet_and_arrow_files_have_the_cells_of_a_snapshot() {
    let root = RootCopy::new();
    for (snapshot, raw, file) in
        [("s4", true, "s4.raw.ndjson.gz"), ("s10", false, "s10.cells.ndjson.gz")]
    {
        let table = root.snapshot(snapshot);
        let expected = truth(file);
        let scan = BatchScan::cells().raw(raw).rows_max(1000);
        let batches = scan.table(&table, &TableScan::default()).expect("sound").into_reader();
        let (schema, name) = (batches.schema(), FileName::new("test"));
        let batches: Vec<_> = batches.collect::<Result<_, _>>().expect("sound");
        assert!(batches.len() > 4);

        let mut arrow = ArrowFile::new(Vec::new(), name.clone(), &schema).expect("memory");
        let parquet = ParquetFile::new(Vec::new(), name, schema, ParquetCompression::Snappy);
        let mut parquet = parquet.expect("memory");
        for batch in &batches {
            arrow.write(batch).expect("memory");
            parquet.write(batch).expect("memory");
        }
        let (arrow, parquet) = (arrow.finish().expect("memory"), parquet.finish().expect("memory"));
        assert!(parquet.len() < arrow.len() / 2, "{} and {} bytes", parquet.len(), arrow.len());
        let reader =
            arrow_ipc::reader::FileReader::try_new(Cursor::new(arrow), None).expect("ours");
        let of_arrow: Vec<_> = reader.collect::<Result<_, _>>().expect("ours");
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(parquet)).expect("ours");
        let reader = reader.build().expect("ours");
        let of_parquet: Vec<_> = reader.collect::<Result<_, _>>().expect("ours");
        for (format, batches) in [("arrow", of_arrow), ("parquet", of_parquet)] {
            let mut found = cells_of(&batches);
            for cell in &mut found {
                cell.set_sequence_id(SequenceId::default());
            }
            assert!(found == expected, "{snapshot} in {format}: {} cells", found.len());
        }
    }
}

#[test]
fn a_row_range_of_a_table_reads_the_blocks_of_its_scan() {
    let root = RootCopy::new();
    let table = root.snapshot("s2");
    let blocks = |start: &str, stop: &str| {
        let mut cells = table.scan(&TableScan::default().start(start).stop(stop)).expect("sound");
        let mut expected = Vec::new();
        while let Some(cell) = cells.next_ref().expect("sound") {
            expected.push(cell.to_cell());
        }
        let scan = BatchScan::cells().start(start).stop(stop);
        let mut batches = scan.table(&table, &TableScan::default()).expect("sound");
        assert!(cells_of(&collect(&mut batches)) == expected);
        assert_eq!(batches.trace().data_blocks(), cells.trace().data_blocks(), "{start}..{stop}");
        batches.trace().data_blocks()
    };
    let (one, all) = (blocks("row-00700", "row-00720"), blocks("row-", "row."));
    assert!(one > 0 && 4 * one < all, "{one} of {all} blocks");
}

#[test]
fn batches_say_what_a_scan_of_a_damaged_table_left_out() {
    let root = RootCopy::new();
    let table = root.snapshot("s2");
    let file = table.regions[0].families[0].files.first().expect("flushed before");
    let path = file.locate(&LocalTree).expect("there").path;
    let mut bytes = std::fs::read(&path).expect("there");
    bytes[300] ^= 1;
    std::fs::write(&path, bytes).expect("the disk has room");

    let mut batches =
        BatchScan::cells().table(&table, &TableScan::default()).expect("opened later");
    assert!(batches.any(|batch| batch.is_err()));
    assert!(batches.missing().is_empty());
    let reading = TableScan::default().skip_damaged(true);
    let mut batches = BatchScan::cells().table(&table, &reading).expect("skips damage");
    let found = cells_of(&collect(&mut batches)).len();
    let mut cells = table.scan(&reading).expect("skips damage");
    let direct: Vec<_> = cells.by_ref().collect::<Result<_, _>>().expect("skips damage");
    assert_eq!(direct.len(), found);
    assert_eq!(batches.missing(), cells.missing());
    assert_eq!(batches.missing().len(), 1);
    assert!(path.ends_with(batches.missing()[0].file.rsplit('/').next().expect("a path")));
}

/// Returns the cells of a case by record batches, one a line, and the warnings.
fn read_case(case: &DirectoryCase, root: &Path) -> hfile_arrow::Result<(String, String)> {
    let root = RootDirectory::open(Arc::new(LocalTree), root)?;
    let table = if case.place.is_snapshot {
        root.snapshot(case.place.name)?.table
    } else {
        root.table(&case.place.name.parse().expect("a name"))?
    };
    let reading = TableScan::default().with_logs(case.place.with_logs);
    let scan = BatchScan::cells().now(Timestamp::new(case.now()));
    let mut batches = scan.table(&table, &reading)?;
    let read = batches.by_ref().collect::<hfile_arrow::Result<Vec<_>>>()?;
    let mut lines = Vec::new();
    for cell in cells_of(&read) {
        ndjson::write_cell_without_seq(&mut lines, &cell.as_ref()).expect("memory");
        lines.push(b'\n');
    }
    let warnings = batches.warnings().iter().map(ToString::to_string).collect();
    Ok((String::from_utf8(lines).expect("text"), warnings))
}

#[test]
fn a_directory_whose_files_disagree_gives_the_cells_of_hbase_or_an_error() {
    for case in cases() {
        let (copy, name) = (case.copy(), case.name);
        let read = read_case(case, &copy.path());
        let read = read.map_err(|error| cells::error_line(&error));
        match (case.outcome, read) {
            (Outcome::Error(wanted), Err(error)) => {
                assert!(error.contains(wanted), "{name}: {error:?} lacks {wanted:?}");
            }
            (Outcome::Error(wanted), Ok(_)) => panic!("{name}: no error, wanted {wanted:?}"),
            (_, Err(error)) => panic!("{name}: {error}"),
            (outcome, Ok((cells, warnings))) => {
                assert!(cells == case.cells(), "{name}: other cells: {warnings}");
                match outcome {
                    Outcome::CellsAndWarning(wanted) => {
                        assert!(warnings.contains(wanted), "{name}: {warnings:?} lacks {wanted:?}");
                    }
                    _ => assert_eq!(warnings, "", "{name}"),
                }
            }
        }
    }
}

/// Returns the rows of batches, which another scan may divide otherwise.
fn rows_of(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    let rows =
        batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|row| batch.slice(row, 1)));
    rows.collect()
}

#[test]
fn splits_from_bytes_have_the_batches_of_the_scan() {
    let root = RootCopy::new();
    let table = root.snapshot("s4");
    let first = table.scan(&TableScan::default()).expect("sound").next().expect("a cell");
    let first = first.expect("sound");
    let column = PivotColumn::new(first.family(), first.qualifier());
    let tree: Arc<dyn FileTree> = Arc::new(LocalTree);
    let pivot = BatchScan::pivot([column.clone()]);
    for scan in [
        BatchScan::cells().rows_max(100),
        BatchScan::cells().raw(true).parts([CellColumn::Value, CellColumn::Row]),
        pivot.clone().times(true),
        pivot.all_rows(true).row_type(ValueType::String),
    ] {
        let scan = scan.now(NOW);
        let whole = collect(scan.table(&table, &TableScan::default()).expect("sound"));
        let splits = scan.table_splits(&table, &TableScan::default(), Some(4000)).expect("sound");
        assert!(splits.splits.len() > 5 && splits.missing.is_empty());
        let mut parts = Vec::new();
        for split in splits.splits {
            let bytes = split.to_bytes().expect("UTF-8");
            let mut changed = bytes.clone();
            for len in 0..bytes.len() {
                assert!(BatchSplit::from_bytes(&bytes[..len], Arc::clone(&tree)).is_err());
                changed[len] ^= 1;
                assert!(BatchSplit::from_bytes(&changed, Arc::clone(&tree)).is_err(), "{len}");
                changed[len] ^= 1;
            }
            let sent = BatchSplit::from_bytes(&bytes, Arc::clone(&tree)).expect("just written");
            parts.extend(collect(sent.open().expect("sound")));
        }
        assert_eq!(rows_of(&parts), rows_of(&whole));
    }
    let twice = BatchScan::pivot([column.clone(), column]);
    assert!(twice.table_splits(&table, &TableScan::default(), None).is_err());
}

#[test]
fn splits_of_an_hfile_have_its_cells() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/hfile/p01-prefix-lz4-row.hfile");
    let tree: Arc<dyn FileTree> = Arc::new(LocalTree);
    let scan = BatchScan::cells().raw(true);
    let expected =
        cells_of(&collect(scan.hfile(&golden("p01-prefix-lz4-row.hfile")).expect("sound")));
    let splits = scan.hfile_splits(&tree, &path, Some(3000)).expect("sound");
    assert!(splits.len() > 3, "{} splits", splits.len());
    let mut found = Vec::new();
    for split in splits {
        let sent = BatchSplit::from_bytes(&split.to_bytes().expect("UTF-8"), Arc::clone(&tree));
        found.extend(cells_of(&collect(sent.expect("just written").open().expect("sound"))));
    }
    assert!(found == expected);
}

#[test]
fn values_of_each_type_have_their_arrow_type() {
    let decimal = ValueType::from_name("decimal(10,2)").expect("a type");
    let cases = [
        ("int8", ValueType::Int8, b"\xfe".to_vec(), "-2"),
        (
            "timestamp",
            ValueType::Timestamp,
            1_500_i64.to_be_bytes().to_vec(),
            "1970-01-01T00:00:01.500Z",
        ),
        ("date", ValueType::Date, 1_i32.to_be_bytes().to_vec(), "1970-01-02"),
        ("decimal", decimal, b"\0\0\0\x01\x0f".to_vec(), "1.50"),
    ];
    let cells: Vec<_> = cases.iter().map(|(name, _, value, _)| (name.as_bytes(), value)).collect();
    let mut cells: Vec<_> =
        cells.iter().map(|(name, value)| put(b"row1", name, 5, value)).collect();
    cells.sort_by(|one, other| one.qualifier.cmp(other.qualifier));
    let reader = file(cells);
    let columns = cases
        .iter()
        .map(|(name, value_type, ..)| PivotColumn::new("f", name).value_type(*value_type));
    let batch = collect(BatchScan::pivot(columns).hfile(&reader).expect("sound")).remove(0);
    for (index, (name, _, _, expected)) in cases.iter().enumerate() {
        let column = batch.column(index + 1);
        let text = match column.data_type() {
            DataType::Int8 => column.as_primitive::<Int8Type>().value(0).to_string(),
            DataType::Timestamp(TimeUnit::Millisecond, Some(zone)) if &**zone == "UTC" => {
                let millis = column.as_primitive::<TimestampMillisecondType>().value(0);
                assert_eq!(millis, 1_500);
                (*expected).to_owned()
            }
            DataType::Date32 => {
                assert_eq!(column.as_primitive::<Date32Type>().value(0), 1);
                (*expected).to_owned()
            }
            DataType::Decimal128(10, 2) => {
                column.as_primitive::<Decimal128Type>().value_as_string(0)
            }
            other => panic!("{name} is {other}"),
        };
        assert_eq!(text, *expected, "{name}");
    }
}

#[test]
fn a_bad_value_can_become_null_and_is_counted() {
    let rows: [&[u8]; 3] = [b"1234", b"12345678", b""];
    let names: [&[u8]; 3] = [b"row1", b"row2", b"row3"];
    let reader = file(names.iter().zip(rows).map(|(name, value)| put(name, b"q", 5, value)));
    let column = PivotColumn::new("f", "q").value_type(ValueType::Int64);
    let scan = BatchScan::pivot([column]).times(true);
    let error = scan.hfile(&reader).expect("sound").find_map(Result::err).expect("four bytes");
    assert!(error.to_string().starts_with("row row1, column f:q: 4 bytes are no int64"), "{error}");
    let mut batches = scan.bad_values_as_null(true).hfile(&reader).expect("sound");
    let batch = collect(&mut batches).remove(0);
    let values: Vec<_> = batch.column(1).as_primitive::<Int64Type>().iter().collect();
    assert_eq!(values, [None, Some(i64::from_be_bytes(*b"12345678")), None]);
    assert_eq!((batch.column(2).null_count(), batches.bad_values()), (0, 2));
    let keys = BatchScan::pivot([PivotColumn::new("f", "q")]).row_type(ValueType::Int64);
    let mut batches = keys.bad_values_as_null(true).hfile(&reader).expect("sound");
    assert!(batches.any(|batch| batch.is_err()), "a row key is never null");
}
