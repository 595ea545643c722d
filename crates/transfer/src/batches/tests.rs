//! Record batches become the cells that CSV of the same records becomes, or errors that name record and column.

use std::cell::Cell as Flag;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{
    ArrayRef, BinaryArray, Float64Array, Int32Array, Int64Array, NullArray, RecordBatch,
    RecordBatchIterator, StringArray, TimestampMillisecondArray, TimestampSecondArray,
};
use arrow_schema::{ArrowError, SchemaRef};
use cells::ValueType;
use hfile_arrow::RecordBatchReader;
use sstable::{Cell, CellType, Comparator, FileName, Timestamp, WriterOptions};

use crate::{
    BadLinePolicy, Build, ColumnFamily, ColumnOptions, CsvOptions, Error, Extent, Input,
    InputFormat, InputOptions, Observer, Phase, Sorting,
};

const NOW: Timestamp = Timestamp::new(1_700_000_000_000);

fn text<'t>(values: impl IntoIterator<Item = Option<&'t str>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<StringArray>())
}

fn numbers(values: impl IntoIterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<Int64Array>())
}

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .expect("columns of one length")
}

fn by_row(row: &str) -> ColumnOptions {
    ColumnOptions { row: vec![row.to_owned()], ..Default::default() }
}

fn open(batches: Vec<RecordBatch>, columns: &ColumnOptions) -> crate::Result<Input> {
    let schema = batches[0].schema();
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let family =
        if columns.row.is_empty() { ColumnFamily::Unknown } else { ColumnFamily::Option("f") };
    Input::batches(FileName::new("data"), reader, columns, family, NOW)
}

fn cells(batches: Vec<RecordBatch>, columns: &ColumnOptions) -> Vec<Cell> {
    let input = open(batches, columns).expect("known columns");
    input.collect::<Result<_, _>>().expect("sound records")
}

/// Returns the message of the error, at the beginning or at a record.
fn error(batch: RecordBatch, columns: &ColumnOptions) -> String {
    match open(vec![batch], columns) {
        Err(error) => error.to_string(),
        Ok(input) => input.collect::<Result<Vec<_>, _>>().expect_err("a bad record").to_string(),
    }
}

fn shown(cells: &[Cell]) -> Vec<String> {
    cells.iter().map(|cell| format!("{:?} {:?}", cell.as_ref(), cell.value())).collect()
}

#[test]
fn rows_become_cells_as_those_of_csv() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let csv = directory.path().join("users.csv");
    std::fs::write(
        &csv,
        "id,city,name,info:age,updated,note\n7,Ulm,Ann,41,5,x\n3,Ulm,,42,2023-11-14,y\n8,Bonn,Bob,,7,z\n",
    )
    .expect("disk takes it");
    let columns = ColumnOptions {
        row: vec!["city".to_owned(), "id".to_owned()],
        row_separator: Some("\\x00".to_owned()),
        column: vec!["name=info:name".parse().expect("a column")],
        ignore: vec!["note".to_owned()],
        timestamp: Some("updated".to_owned()),
        types: vec!["info:age=int64".parse().expect("a type")],
        ..Default::default()
    };
    let options = InputOptions {
        format: InputFormat::Csv,
        paths: vec![csv],
        is_dry_run: false,
        columns: columns.clone(),
        csv: CsvOptions { null: Some(String::new()), ..Default::default() },
    };
    let input = options.open(ColumnFamily::Option("f"), NOW, 1).expect("known columns");
    let expected = input.collect::<Result<Vec<_>, _>>().expect("sound records");
    assert_eq!(expected.len(), 4);

    let batches = [0..2, 2..3].map(|rows| {
        batch([
            ("id", numbers([Some(7), Some(3), Some(8)])),
            ("city", text([Some("Ulm"), Some("Ulm"), Some("Bonn")])),
            ("name", text([Some("Ann"), None, Some("Bob")])),
            ("info:age", numbers([Some(41), Some(42), None])),
            ("updated", text([Some("5"), Some("2023-11-14"), Some("7")])),
            ("note", text([None, None, None])),
        ])
        .slice(rows.start, rows.len())
    });
    let with_row_type = ColumnOptions { row_type: Some(ValueType::String), ..columns };
    assert_eq!(shown(&cells(batches.to_vec(), &with_row_type)), shown(&expected));
}

#[test]
fn timestamps_come_from_an_option_or_a_column() {
    let at: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![1, 2]));
    let records = batch([
        ("id", text([Some("a"), Some("b")])),
        ("n", numbers([Some(1), Some(2)])),
        ("at", at),
    ]);
    let times = |columns: &ColumnOptions| -> Vec<i64> {
        cells(vec![records.clone()], columns).iter().map(|cell| cell.timestamp().get()).collect()
    };
    let fixed = ColumnOptions { ignore: vec!["at".to_owned()], ..by_row("id") };
    assert_eq!(times(&fixed), [NOW.get(), NOW.get()]);
    let given = ColumnOptions { timestamp: Some("2000-01-01".to_owned()), ..fixed };
    assert_eq!(times(&given), [946_684_800_000, 946_684_800_000]);
    for column in ["at", "n"] {
        let timestamp = Some(format!("column:{column}"));
        let ignore = if column == "at" { vec![] } else { vec!["at".to_owned()] };
        let types =
            if column == "at" { vec!["f:n=int16".parse().expect("a type")] } else { vec![] };
        let columns = ColumnOptions { ignore, timestamp, types, ..by_row("id") };
        if column == "at" {
            assert_eq!(times(&columns), [1, 2]);
        } else {
            // No other column is left.
            let what = open(vec![records.clone()], &columns).err().expect("no cells").to_string();
            assert!(what.starts_with("data: no column becomes a cell: keys alone"), "{what}");
        }
    }
}

/// The zero says that it is a number: four digits alone could be a year.
#[test]
fn a_number_with_a_leading_zero_is_a_time_in_milliseconds() {
    let records = batch([("id", text([Some("a")])), ("n", numbers([Some(1)]))]);
    for (given, millis) in [("0100", 100), ("01000000", 1_000_000), ("0", 0)] {
        let columns = ColumnOptions { timestamp: Some(given.to_owned()), ..by_row("id") };
        assert_eq!(cells(vec![records.clone()], &columns)[0].timestamp().get(), millis);
    }
}

#[test]
fn a_time_that_is_too_far_is_an_error() {
    let far: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX / 100]));
    let records = batch([("id", text([Some("a")])), ("n", numbers([Some(1)])), ("at", far)]);
    let timestamp = Some("column:at".to_owned());
    let wrong = error(records.clone(), &ColumnOptions { timestamp, ..by_row("id") });
    assert!(wrong.contains("milliseconds in 64 bits cannot hold"), "{wrong}");
    let types = vec!["f:at=int64".parse().expect("a type")];
    let wrong = error(records, &ColumnOptions { types, ..by_row("id") });
    assert!(wrong.contains("milliseconds in 64 bits cannot hold"), "{wrong}");
}

/// The second file has other bytes for equal numbers.
#[test]
fn a_column_whose_type_changes_is_an_error() {
    let first = batch([("id", text([Some("a")])), ("n", numbers([Some(1)]))]);
    let narrow: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let second = batch([("id", text([Some("b")])), ("n", narrow)]);
    let mut input =
        open(vec![first.clone(), second.clone()], &by_row("id")).expect("known columns");
    assert!(input.next().expect("a cell").is_ok());
    let wrong = input.next().expect("an error").expect_err("another type").to_string();
    assert!(wrong.contains("\"n\": values of type int32, but int64 in a file before"), "{wrong}");
    let types = vec!["f:n=int64".parse().expect("a type")];
    let shown = cells(vec![first.clone(), second], &ColumnOptions { types, ..by_row("id") });
    assert_eq!(shown[0].value(), shown[1].value());

    let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"c"[..]]));
    let nothing: ArrayRef = Arc::new(NullArray::new(1));
    let third = batch([("id", bytes), ("n", nothing)]);
    assert_eq!(cells(vec![first, third], &by_row("id")).len(), 1, "text and bytes are the same");
}

#[test]
fn a_row_can_be_a_cell() {
    let records = batch([
        ("row", text([Some("a"), Some("b")])),
        ("family", text([Some("f"), Some("g")])),
        ("qualifier", text([Some("q"), None])),
        ("timestamp", numbers([Some(5), Some(6)])),
        ("type", text([None, Some("DeleteColumn")])),
        ("sequence_id", numbers([Some(9), None])),
    ]);
    let found = cells(vec![records.clone()], &ColumnOptions::default());
    assert_eq!(
        shown(&found),
        ["a/f:q/5/Put/vlen=0/seqid=9 []", "b/g:/6/DeleteColumn/vlen=0/seqid=0 []"]
    );
    assert_eq!(found[1].cell_type(), CellType::DeleteColumn);
    // The columns that a table has.
    let columns = ColumnOptions { ignore: vec!["sequence_id".to_owned()], ..by_row("row") };
    assert_eq!(cells(vec![records], &columns).len(), 6);
}

#[test]
fn a_part_of_a_cell_that_two_columns_have_is_an_error() {
    let one = text([Some("a")]);
    let records = batch([
        ("row", one.clone()),
        ("family", one.clone()),
        ("timestamp", numbers([Some(1)])),
        ("value", one.clone()),
        ("value", one),
    ]);
    let wrong = error(records, &ColumnOptions::default());
    assert!(wrong.contains("two columns are named \"value\""), "{wrong}");
}

#[test]
fn errors_name_the_record_its_row_and_the_column() {
    let good =
        batch([("id", text([Some("a"), Some("b")])), ("age", text([Some("1"), Some("old")]))]);
    let typed =
        ColumnOptions { types: vec!["f:age=int64".parse().expect("a type")], ..by_row("id") };
    let named = |id: ArrayRef, age: ArrayRef| batch([("id", id), ("age", age)]);
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let long = "x".repeat(40_000);
    for (records, columns, message) in [
        (
            good.clone(),
            typed,
            "data: record 2: row b, column \"age\": \"old\" is not of type int64",
        ),
        (
            named(text([Some("a"), None]), numbers([None, None])),
            by_row("id"),
            "data: record 2: column \"id\": the row key is null",
        ),
        (
            named(text([Some("a"), Some("")]), numbers([None, None])),
            by_row("id"),
            "data: record 2: column \"id\": the row is empty",
        ),
        (
            named(text([Some(&long[..])]), numbers([None])),
            by_row("id"),
            "column \"id\": a row of 40000 bytes exceeds the maximum of 32767",
        ),
        (
            named(numbers([Some(1), Some(2)]), numbers([None, None])),
            by_row("id"),
            "data: column \"id\": row keys of type Int64 need row_type: string for text, or int64 for",
        ),
        (good.clone(), by_row("key"), "data: row: no column is named key; known are id, age"),
        (
            named(text([Some("a"), Some("b")]), floats),
            ColumnOptions { timestamp: Some("column:age".to_owned()), ..by_row("id") },
            "data: no column becomes a cell",
        ),
        (
            batch([
                ("id", text([Some("a")])),
                ("at", numbers([Some(-1)])),
                ("age", numbers([Some(1)])),
            ]),
            ColumnOptions { timestamp: Some("at".to_owned()), ..by_row("id") },
            "data: record 1: row a, column \"at\": -1 milliseconds are a time before 1970",
        ),
        (
            batch([
                ("row", text([Some("a")])),
                ("family", text([Some("f:g")])),
                ("timestamp", numbers([Some(1)])),
            ]),
            ColumnOptions { timestamp: Some("5".to_owned()), ..Default::default() },
            "data: timestamp cannot be combined with the columns row, family and timestamp",
        ),
    ] {
        let found = error(records, &columns);
        assert!(found.contains(message), "{found}");
    }
    let copied = BadLinePolicy::Copy("bad.csv".into());
    let columns = ColumnOptions { bad_lines: Some(copied), ..by_row("id") };
    assert!(error(good, &columns).contains("bad records can only be skipped"));
}

#[test]
fn bad_records_are_skipped_and_counted() {
    let columns = ColumnOptions {
        bad_lines: Some(BadLinePolicy::Skip),
        types: vec!["f:b=int16".parse().expect("a type")],
        ..by_row("id")
    };
    let records = batch([
        ("id", text([Some("a"), Some("b"), Some("c")])),
        ("a", numbers([Some(1), Some(2), Some(3)])),
        ("b", numbers([Some(1), Some(1 << 20), Some(3)])),
    ]);
    let mut input = open(vec![records], &columns).expect("known columns");
    let rows: Vec<_> = input.by_ref().map(|cell| cell.expect("sound").row().to_vec()).collect();
    // No part of a bad record is written.
    assert_eq!(rows, [b"a", b"a", b"c", b"c"]);
    assert_eq!((input.record_count(), input.bad_line_count(), input.unit()), (2, 1, "record"));
    let problem = &input.first_bad_lines()[0];
    let what = problem.problem.to_string();
    assert_eq!((problem.line, what.contains("column \"b\"")), (2, true), "{what}");
}

#[test]
fn an_error_of_the_stream_is_an_error_of_the_input() {
    let first = batch([("id", text([Some("a")])), ("n", numbers([Some(1)]))]);
    let schema = first.schema();
    let failed = Err(ArrowError::ComputeError("the query failed".to_owned()));
    let reader = RecordBatchIterator::new([Ok(first), failed], schema);
    let name = FileName::new("data");
    let input = Input::batches(name, reader, &by_row("id"), ColumnFamily::Option("f"), NOW);
    let found: Vec<_> = input.expect("known columns").collect();
    assert_eq!(found.len(), 2);
    let line = cells::error_line(found[1].as_ref().expect_err("the query failed"));
    assert!(
        line.contains("data: cannot read record batches: ") && line.contains("the query failed"),
        "{line}"
    );
}

/// An observer that ends the operation at the given question.
struct EndsAt(u64, AtomicU64);

impl Observer for EndsAt {
    fn begin(&self, phase: &'static str, extent: Extent) -> Box<dyn Phase> {
        ().begin(phase, extent)
    }

    fn is_cancelled(&self) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed) >= self.0
    }
}

/// Builds from 300 rows in runs of about 70 cells.
fn build(out: &Path, scratch: &Path, observer: &dyn Observer) -> crate::Result<()> {
    let ids: Vec<_> = (0..300).map(|row| format!("row{:03}", (row * 7) % 300)).collect();
    let records = batch([
        ("id", text(ids.iter().map(|id| Some(&id[..])))),
        ("n", numbers((0..300).map(Some))),
    ]);
    let sorting = Sorting::All { memory: 7_000, directory: Some(scratch.to_owned()) };
    let build = Build {
        options: WriterOptions::default().bulk_load(NOW).create_time(NOW),
        order: Comparator::Bytes,
        sorting: &sorting,
        observer,
    };
    let mut input = open(vec![records], &by_row("id"))?;
    let written = build.write_bulk_load(&mut input, out, &[b"row100".to_vec()], false)?;
    assert_eq!(written.files.iter().map(|file| file.summary.cell_count).sum::<u64>(), 300);
    assert_eq!(written.files[1].summary.first_row.as_deref(), Some(&b"row100"[..]));
    Ok(())
}

#[test]
fn a_cancelled_build_leaves_nothing_wherever_it_ends() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (out, scratch) = (directory.path().join("out"), directory.path().join("scratch"));
    std::fs::create_dir(&scratch).expect("free");
    let observer = EndsAt(u64::MAX, 0.into());
    build(&out, &scratch, &observer).expect("not cancelled");
    let asked = observer.1.into_inner();
    assert!(asked > 2 * 300, "for each cell read, written to a run and to a file");
    std::fs::remove_dir_all(&out).expect("ours");
    for at in [0, 10, 150, 299, 301, 500, asked - 1] {
        let error = build(&out, &scratch, &EndsAt(at, 0.into())).expect_err("cancelled");
        assert!(matches!(error, Error::Cancelled), "at {at}: {error}");
        let left = |directory: &Path| std::fs::read_dir(directory).expect("readable").count();
        assert_eq!((left(directory.path()), left(&scratch)), (1, 0), "at {at}");
    }
}

/// An observer that ends the operation once all cells are appended to their files.
#[derive(Default)]
struct EndsAfterCells(Arc<AtomicU64>);

struct WritingPhase(Arc<AtomicU64>);

impl Phase for WritingPhase {
    fn advance(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }
}

impl Observer for EndsAfterCells {
    fn begin(&self, phase: &'static str, extent: Extent) -> Box<dyn Phase> {
        if phase == "writing" {
            return Box::new(WritingPhase(Arc::clone(&self.0)));
        }
        ().begin(phase, extent)
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 300
    }
}

/// Its filters and index can take seconds.
#[test]
fn a_build_can_be_cancelled_while_it_writes_the_end_of_a_file() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let out = directory.path().join("out");
    let error = build(&out, directory.path(), &EndsAfterCells::default()).expect_err("cancelled");
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).expect("readable").count(), 0);
}

/// A reader that says when it is dropped.
struct Watched {
    batches: std::vec::IntoIter<RecordBatch>,
    schema: SchemaRef,
    is_dropped: Rc<Flag<bool>>,
}

impl Iterator for Watched {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.next().map(Ok)
    }
}

impl RecordBatchReader for Watched {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.is_dropped.set(true);
    }
}

/// Its batches would otherwise be in memory while the cells are merged and written.
#[test]
fn a_stream_is_released_after_its_last_batch() {
    let is_dropped = Rc::new(Flag::new(false));
    let batch = batch([("id", text([Some("a")])), ("q", text([Some("1")]))]);
    let schema = batch.schema();
    let batches = vec![batch].into_iter();
    let reader = Watched { batches, schema, is_dropped: Rc::clone(&is_dropped) };
    let family = ColumnFamily::Option("f");
    let mut input = Input::batches(FileName::new("data"), reader, &by_row("id"), family, NOW)
        .expect("known columns");
    assert!(input.next().is_some() && !is_dropped.get());
    assert!(input.next().is_none() && is_dropped.get(), "the input is still there");
}

/// An observer that ends the work in the phase of reading.
struct EndsReading;

struct EndedPhase;

impl Phase for EndedPhase {
    fn is_cancelled(&self) -> bool {
        true
    }
}

impl Observer for EndsReading {
    fn begin(&self, _phase: &'static str, _extent: Extent) -> Box<dyn Phase> {
        Box::new(EndedPhase)
    }
}

/// Records without cells do not ask the observer.
#[test]
fn records_of_null_can_be_cancelled() {
    let nulls = batch([("id", text([Some("a")])), ("q", text([None]))]);
    let mut input = open(vec![nulls.clone(), nulls], &by_row("id")).expect("known columns");
    let sorting = Sorting::All { memory: 1 << 20, directory: None };
    let options = WriterOptions::default();
    let order = Comparator::Bytes;
    let build = Build { options, order, sorting: &sorting, observer: &EndsReading };
    let written = build.write_file(&mut input, Vec::new(), FileName::new("out"));
    let error = written.map(|_| ()).expect_err("cancelled");
    assert!(error.to_string().contains("read record batches"), "{error}");
    assert_eq!(input.record_count(), 0, "no batch was read to its end");
}
