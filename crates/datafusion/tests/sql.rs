//! SQL over HFiles, snapshots and stores: HBase's cells, and only the blocks of the wanted rows.
//!
//! `cargo test --manifest-path crates/datafusion/Cargo.toml`

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use cells::{ValueType, ndjson};
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use flate2::read::GzDecoder;
use hbase_files::{LocalTree, RootDirectory, Table, TableScan};
use hfile_datafusion::{HFileScanExec, TableOptions};
use serde_json::Value;
use sstable::{CellRef, CellType, SequenceId, Timestamp};
use support::directory_cases::{DirectoryCase, Outcome, cases};
use support::root_directory::{RootCopy, data, manifest};

mod made;

use made::{hfile, rows_of};

/// The time at which all cells of the fixture are unexpired.
const NOW: Timestamp = Timestamp::new(1_795_412_744_014);

fn root(copy: &RootCopy) -> RootDirectory {
    RootDirectory::open(Arc::new(LocalTree), &copy.path()).expect("a root directory")
}

fn snapshot(copy: &RootCopy, name: &str) -> Table {
    root(copy).snapshot(name).expect("sound").table
}

fn context() -> SessionContext {
    SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2))
}

/// Returns a context with the table `t`.
fn context_of(table: hfile_datafusion::HFileTable) -> SessionContext {
    let context = context();
    context.register_table("t", Arc::new(table)).expect("a new name");
    context
}

async fn query(context: &SessionContext, sql: &str) -> Vec<RecordBatch> {
    let frame = context.sql(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    frame.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Runs a query. Returns its rows, and the data blocks that its scans read.
async fn measured(context: &SessionContext, sql: &str) -> (usize, usize) {
    let plan = context.sql(sql).await.expect("sound").create_physical_plan().await.expect("sound");
    let batches = collect(Arc::clone(&plan), context.task_ctx()).await.expect("sound");
    (batches.iter().map(RecordBatch::num_rows).sum(), data_blocks(&plan))
}

fn data_blocks(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let own = match plan.downcast_ref::<HFileScanExec>() {
        Some(scan) => {
            let metrics = scan.metrics().expect("a scan has metrics");
            metrics.sum_by_name("data_blocks").map_or(0, |blocks| blocks.as_usize())
        }
        None => 0,
    };
    own + plan.children().into_iter().map(data_blocks).sum::<usize>()
}

/// Returns the lines of a file of cells that HBase returned, in the order of text.
fn truth(file: &Value) -> Vec<String> {
    let path = data().join(file.as_str().expect("the name of a file"));
    let mut text = String::new();
    GzDecoder::new(File::open(path).expect("there")).read_to_string(&mut text).expect("gzip");
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// Returns the cells of batches with all parts but the sequence id, as lines in the order of text.
fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let mut lines = Vec::new();
    for batch in batches {
        let bytes = |name: &str| batch.column_by_name(name).expect("there").as_binary::<i32>();
        let times = batch.column_by_name("timestamp").expect("there");
        let types = batch.column_by_name("type").expect("there").as_string::<i32>();
        let tags = bytes("tags");
        for index in 0..batch.num_rows() {
            let name = types.value(index);
            let cell_type = CellType::ALL.into_iter().find(|known| known.name() == name);
            let cell = CellRef {
                row: bytes("row").value(index),
                family: bytes("family").value(index),
                qualifier: bytes("qualifier").value(index),
                timestamp: Timestamp::new(times.as_primitive::<Int64Type>().value(index)),
                cell_type: cell_type.expect("a type"),
                value: bytes("value").value(index),
                tags: if tags.is_null(index) { b"" } else { tags.value(index) },
                sequence_id: SequenceId::default(),
            };
            let mut line = Vec::new();
            ndjson::write_cell_without_seq(&mut line, &cell).expect("memory");
            lines.push(String::from_utf8(line).expect("text").trim_end().to_owned());
        }
    }
    lines.sort_unstable();
    lines
}

#[track_caller]
fn check(what: &str, found: &[String], expected: &[String]) {
    let differs = found.iter().zip(expected).position(|(found, expected)| found != expected);
    if let Some(at) = differs {
        panic!("{what}, cell {at}:\n{}\nexpected:\n{}", found[at], expected[at]);
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_snapshot_has_the_cells_that_hbase_reads_offline() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    for (name, expected) in manifest["snapshots"].as_object().expect("an object") {
        let table = snapshot(&copy, name);
        for (raw, file) in [(false, "cellsFile"), (true, "rawFile")] {
            let options = TableOptions::cells().raw(raw).now(NOW);
            let table = options.table(&table, &TableScan::default()).expect("sound");
            let found = lines(&query(&context_of(table), "SELECT * FROM t").await);
            check(&format!("{name}, raw {raw}"), &found, &truth(&expected[file]));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_with_its_logs_has_the_cells_of_the_running_cluster() {
    let (copy, manifest) = (RootCopy::new(), manifest());
    let table = root(&copy).table(&"t1".parse().expect("a name")).expect("sound");
    let options = TableOptions::cells().now(NOW);
    let table = options.table(&table, &TableScan::default().with_logs(true)).expect("sound");
    assert!(table.torn_logs().is_empty());
    let (context, expected) = (context_of(table), truth(&manifest["liveTables"]["t1"]["liveFile"]));
    check("t1", &lines(&query(&context, "SELECT * FROM t").await), &expected);
    // Several ranges of rows in several regions, each with its cells from the logs.
    let sql = "SELECT * FROM t WHERE \"row\" < 'row-00500' OR \"row\" >= 'row-01500'";
    let is_wanted = |line: &&String| {
        let row = &line[r#"{"row":""#.len()..];
        let row = cells::parse_hex(&row[..row.find('"').expect("a string")]).expect("hex");
        row < b"row-00500".to_vec() || row >= b"row-01500".to_vec()
    };
    let expected: Vec<String> = expected.iter().filter(is_wanted).cloned().collect();
    assert!(!expected.is_empty());
    check("ranges of t1", &lines(&query(&context, sql).await), &expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_names_its_torn_logs() {
    let copy = RootCopy::new();
    let table = root(&copy).table(&"t1".parse().expect("a name")).expect("sound");
    let log = table.logs.iter().find(|log| log.to_string_lossy().ends_with("1795412744013"));
    let log = log.expect("there");
    let bytes = std::fs::read(log).expect("readable");
    std::fs::write(log, &bytes[..1000]).expect("disk takes it");
    let scan = TableScan::default().with_logs(true);
    let cells = TableOptions::cells().now(NOW).table(&table, &scan).expect("no damage");
    let [torn] = cells.torn_logs() else { panic!("one log: {:?}", cells.torn_logs()) };
    assert_eq!((&torn.path, torn.offset + torn.bytes), (log, 1000));
    assert!(!query(&context_of(cells), "SELECT * FROM t").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_range_of_a_snapshot_reads_the_blocks_of_its_scan() {
    let copy = RootCopy::new();
    let table = snapshot(&copy, "s2");
    let options = TableOptions::cells().now(NOW);
    let context = context_of(options.table(&table, &TableScan::default()).expect("sound"));
    let mut blocks = Vec::new();
    for (start, stop) in [("row-00700", "row-00720"), ("row-01000", "row-01900"), ("row-", "row.")]
    {
        let scan = TableScan::default().now(NOW).start(start).stop(stop);
        let mut cells = table.scan(&scan).expect("sound");
        let mut expected = 0;
        while cells.next_ref().expect("sound").is_some() {
            expected += 1;
        }
        let sql = format!("SELECT value FROM t WHERE \"row\" >= '{start}' AND \"row\" < '{stop}'");
        let (found, read) = measured(&context, &sql).await;
        assert_eq!(found, expected, "{sql}");
        assert_eq!(read as u64, cells.trace().data_blocks(), "{sql}");
        blocks.push(read);
    }
    assert!(blocks[0] > 0 && 4 * blocks[0] < blocks[2], "{blocks:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_range_of_a_file_reads_the_blocks_of_its_scan() {
    let reader = hfile(0..5000);
    let context = context_of(TableOptions::cells().raw(true).hfile(&reader).expect("sound"));
    let (all_rows, all) = measured(&context, "SELECT value FROM t").await;
    assert!(all_rows == 5000 && all > 50, "{all} blocks");
    for (sql, start, stop) in [
        ("\"row\" = 'row00017'", 17, 18),
        ("\"row\" > 'row00099' AND \"row\" <= 'row01999'", 100, 2000),
        ("\"row\" BETWEEN 'row00100' AND 'row00109'", 100, 110),
        ("\"row\" LIKE 'row012%'", 1200, 1300),
        ("NOT \"row\" < 'row04990'", 4990, 5000),
    ] {
        let (cells, trace) = rows_of(&reader, start, stop);
        let sql = format!("SELECT value FROM t WHERE {sql}");
        let blocks = usize::try_from(trace.data_blocks()).expect("few blocks");
        assert_eq!(measured(&context, &sql).await, (cells, blocks), "{sql}");
        assert!(trace.data_blocks() < all as u64 / 2);
    }
    let (rows, blocks) = measured(&context, "SELECT value FROM t LIMIT 3").await;
    assert!(rows == 3 && blocks == 1, "{blocks} blocks for three rows");
    let (rows, blocks) = measured(&context, "SELECT value FROM t WHERE family = 'other'").await;
    assert!(rows == 0 && blocks <= 1, "{blocks} blocks for another family");
}

async fn explained(context: &SessionContext, sql: &str) -> String {
    let batches = query(context, &format!("EXPLAIN {sql}")).await;
    let plans = batches.iter().flat_map(|batch| batch.column(1).as_string::<i32>().iter());
    plans.flatten().collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_shows_what_is_read() {
    let copy = RootCopy::new();
    let table = snapshot(&copy, "s1");
    let cells = TableOptions::cells().raw(true).row_type(ValueType::String);
    let context = context_of(cells.table(&table, &TableScan::default()).expect("sound"));
    let sql = "SELECT value FROM t WHERE \"row\" >= 'row-00010' AND \"row\" < 'row-00020' \
               AND family = 'f1' AND qualifier IN ('a', 'b') AND \"timestamp\" > 1000";
    let plan = explained(&context, sql).await;
    for part in [
        "HFileScanExec: source=table t1",
        "rows=[row-00010..row-00020]",
        "columns=[f1:a, f1:b]",
        "times=[1001..",
        "regions=1 of 3",
        "partitions=1",
    ] {
        assert!(plan.contains(part), "no {part} in {plan}");
    }
    let plan = explained(&context, "SELECT * FROM t WHERE \"row\" IN ('x', 'a') LIMIT 7").await;
    assert!(plan.contains("rows=[a, x]") && plan.contains("limit=7"), "{plan}");
    assert!(!plan.contains("FilterExec"), "an exact predicate is not evaluated again: {plan}");
    let plan = explained(&context, "SELECT * FROM t ORDER BY \"row\"").await;
    assert!(plan.contains("partitions=2") && !plan.contains("SortExec"), "{plan}");

    let columns = ["f1:a=string", "f1:b=string", "f2:q=string"].map(str::parse);
    let columns = columns.into_iter().collect::<Result<Vec<_>, _>>().expect("columns");
    let rows = TableOptions::pivot(columns).row_type(ValueType::String);
    let context = context_of(rows.table(&table, &TableScan::default()).expect("sound"));
    let plan = explained(&context, "SELECT \"f1:a\" FROM t").await;
    assert!(plan.contains("columns=[f1:a, f1:b, f2:q]"), "each makes a row: {plan}");
    let plan = explained(&context, "SELECT \"f1:a\" FROM t WHERE \"f2:q\" > 'm'").await;
    assert!(plan.contains("columns=[f1:a, f2:q]"), "no row without f2:q: {plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_is_named_with_its_file_and_place() {
    let reader = made::damaged_hfile();
    let context = context_of(TableOptions::cells().hfile(&reader).expect("sound"));
    let frame = context.sql("SELECT count(*) FROM t").await.expect("sound");
    let error = frame.collect().await.expect_err("damaged").to_string();
    assert!(error.contains("made.hfile") && error.contains("DATA block at 0x"), "{error}");
    let other_rows = "SELECT count(*) FROM t WHERE \"row\" < 'row00001'";
    assert_eq!(query(&context, other_rows).await.len(), 1, "other blocks are sound");

    let copy = RootCopy::new();
    let skipping = TableScan::default().skip_damaged(true);
    let error = TableOptions::cells().table(&snapshot(&copy, "s1"), &skipping);
    assert!(error.expect_err("silent").to_string().contains("skip damaged"));
}

/// A query of rows that only a lost region has reads no other region, and must not find none.
#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_lost_region_are_an_error() {
    let copy = RootCopy::walt();
    let whole = root(&copy).table(&"walt".parse().expect("a name")).expect("sound");
    let lost = &whole.regions[0].info;
    std::fs::remove_dir_all(whole.path.join(lost.encoded_name.as_str())).expect("ours");
    let rest = root(&copy).table(&"walt".parse().expect("a name")).expect("most of it");
    assert_eq!(rest.regions.len() + 1, whole.regions.len());
    let context = context_of(TableOptions::cells().table(&rest, &TableScan::default()).unwrap());
    for rows in ["\"row\" < 'a'", "\"row\" = 'a'", "\"row\" = 'zz'", "true LIMIT 1"] {
        let sql = format!("SELECT count(*) FROM (SELECT * FROM t WHERE {rows})");
        let frame = context.sql(&sql).await.expect("a query");
        let error = frame.collect().await.expect_err(rows).to_string();
        assert!(error.contains("a part of the table cannot be read"), "{rows}: {error}");
    }
}

/// Returns the cells of a case by a query, and the warnings; or the text of the error.
async fn read_case(case: &DirectoryCase, copy: &RootCopy) -> Result<(Vec<String>, String), String> {
    let opened = if case.place.is_snapshot {
        root(copy).snapshot(case.place.name).map(|snapshot| snapshot.table)
    } else {
        root(copy).table(&case.place.name.parse().expect("a name"))
    };
    let table = opened.map_err(|error| cells::error_line(&error))?;
    let scan = TableScan::default().with_logs(case.place.with_logs);
    let options = TableOptions::cells().now(Timestamp::new(case.now()));
    let table = options.table(&table, &scan).map_err(|error| cells::error_line(&error))?;
    let warnings = table.warnings().iter().map(ToString::to_string).collect();
    let frame = context_of(table).sql("SELECT * FROM t").await.expect("a query");
    let batches = frame.collect().await.map_err(|error| cells::error_line(&error))?;
    Ok((lines(&batches), warnings))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_whose_files_disagree_gives_the_cells_of_hbase_or_an_error() {
    for case in cases() {
        let (copy, name) = (case.copy(), case.name);
        match (case.outcome, read_case(case, &copy).await) {
            (Outcome::Error(wanted), Err(error)) => {
                assert!(error.contains(wanted), "{name}: {error:?} lacks {wanted:?}");
            }
            (Outcome::Error(wanted), Ok(_)) => panic!("{name}: no error, wanted {wanted:?}"),
            (_, Err(error)) => panic!("{name}: {error}"),
            (outcome, Ok((cells, warnings))) => {
                let mut expected: Vec<_> = case.cells().lines().map(str::to_owned).collect();
                expected.sort_unstable();
                check(name, &cells, &expected);
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
