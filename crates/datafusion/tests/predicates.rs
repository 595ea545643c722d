//! Random predicates: the same answer with push-down, and by DataFusion alone over all rows.
//!
//! The tables are a snapshot, as cells, raw and as pivoted rows, `hbase:meta` with its own order of rows,
//! a store whose rows are integers, and an HFile. DataFusion evaluates each predicate over a copy of the
//! table in memory. `CASES` is the number of predicates of each table.

use std::sync::Arc;

use cells::ValueType;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use hbase_files::{LocalTree, RootDirectory, Table, TableScan};
use hfile_arrow::PivotColumn;
use hfile_datafusion::{HFileTable, TableOptions};
use proptest::prelude::*;
use proptest::strategy::Union;
use proptest::test_runner::{Config, TestRunner};
use sstable::Timestamp;
use store::{FamilyOptions, Put, Store, StoreOptions};
use support::root_directory::RootCopy;
use tokio::runtime::Runtime;

#[allow(dead_code, reason = "the other tests use the rest")]
mod made;

/// The time at which all cells of the fixture are unexpired.
const NOW: Timestamp = Timestamp::new(1_795_412_744_014);

/// Returns a context with `t`, and with `m`, which has the same rows in memory.
fn context(runtime: &Runtime, table: HFileTable) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(2).with_batch_size(100);
    let context = SessionContext::new_with_config(config);
    context.register_table("t", Arc::new(table)).expect("a new name");
    runtime.block_on(async {
        let all = context.sql("SELECT * FROM t").await.expect("sound");
        let schema = Arc::clone(all.schema().inner());
        let batches = all.collect().await.expect("sound");
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert!(rows > 10, "{rows} rows");
        let memory = MemTable::try_new(schema, vec![batches]).expect("one schema");
        context.register_table("m", Arc::new(memory)).expect("a new name");
    });
    context
}

/// Returns the answer as text: the rows in any order, or the error.
fn answer(runtime: &Runtime, context: &SessionContext, sql: &str) -> Result<Vec<String>, String> {
    let batches = runtime.block_on(async {
        let frame = context.sql(sql).await?;
        frame.collect().await
    });
    let text = pretty_format_batches(&batches.map_err(|error| error.to_string())?).expect("text");
    let mut lines: Vec<_> = text.to_string().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    Ok(lines)
}

/// Compares the answers about random predicates made of these.
fn compare(table: HFileTable, leaves: BoxedStrategy<String>, is_pivot: bool) {
    let runtime = Runtime::new().expect("threads");
    let context = context(&runtime, table);
    let predicate = leaves.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} AND {other})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} OR {other})")),
            inner.prop_map(|one| format!("NOT ({one})")),
        ]
    });
    let one_part = if is_pivot { "\"f1:a\"" } else { "value" };
    let queries = (predicate, 0..5_usize).prop_map(move |(predicate, form)| {
        let (columns, rest) = [
            ("*", ""),
            ("count(*)", ""),
            (one_part, ""),
            ("\"row\"", "ORDER BY \"row\" LIMIT 7"),
            ("max(\"row\") AS last, count(\"row\") AS rows", ""),
        ][form];
        let query = |table: &str| format!("SELECT {columns} FROM {table} WHERE {predicate} {rest}");
        Query { ours: query("t"), in_memory: query("m") }
    });
    let cases = std::env::var("CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(150);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let run = TestRunner::new(config).run(&queries, |Query { ours, in_memory }| {
        let found = answer(&runtime, &context, &ours);
        let expected = answer(&runtime, &context, &in_memory);
        // Bytes that are no text are an error; push-down may leave them unread.
        if expected.is_ok() {
            prop_assert_eq!(found, expected, "{}", ours);
        }
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

/// A query of the table, and the same one of its copy in memory.
#[derive(Clone, Debug)]
struct Query {
    ours: String,
    in_memory: String,
}

fn one_of(strategies: Vec<BoxedStrategy<String>>) -> BoxedStrategy<String> {
    Union::new(strategies).boxed()
}

/// Returns predicates on a column by these constants, in both orders of the operands.
fn comparisons(column: &'static str, constant: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let operator = prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
    let one = (operator, constant.clone(), any::<bool>()).prop_map(move |(op, value, swapped)| {
        if swapped { format!("{value} {op} {column}") } else { format!("{column} {op} {value}") }
    });
    let between = (constant.clone(), constant.clone(), any::<bool>());
    let between = between.prop_map(move |(low, high, not)| {
        format!("{column} {} BETWEEN {low} AND {high}", if not { "NOT" } else { "" })
    });
    let list =
        (prop::collection::vec(constant, 1..6), any::<bool>()).prop_map(move |(list, not)| {
            format!("{column} {} IN ({})", if not { "NOT" } else { "" }, list.join(", "))
        });
    prop_oneof![3 => one, 1 => between, 1 => list].boxed()
}

fn likes(prefixes: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let tails = prop::sample::select(vec!["%", "", "_", "%5", "\\%%", "5%"]);
    (prefixes, tails, any::<bool>())
        .prop_map(|(prefix, tail, not)| {
            format!("\"row\" {} LIKE '{prefix}{tail}'", if not { "NOT" } else { "" })
        })
        .boxed()
}

/// Returns keys like the rows of the fixture: some rows, neighbours of rows, and prefixes.
fn row_texts() -> BoxedStrategy<String> {
    prop_oneof![
        4 => (0..2600_u32).prop_map(|number| format!("row-{number:05}")),
        1 => (0..30_u32).prop_map(|number| format!("row-{number:03}")),
        1 => prop::sample::select(vec!["", "r", "row-", "row-00017a", "row.", "zzz"])
            .prop_map(str::to_owned),
    ]
    .boxed()
}

fn quoted(texts: BoxedStrategy<String>) -> BoxedStrategy<String> {
    texts.prop_map(|text| format!("'{text}'")).boxed()
}

fn row_predicates() -> BoxedStrategy<String> {
    one_of(vec![comparisons("\"row\"", quoted(row_texts())), likes(row_texts())])
}

fn cell_predicates(first_time: i64) -> BoxedStrategy<String> {
    let names = |names: &[&'static str]| {
        quoted(prop::sample::select(names.to_vec()).prop_map(str::to_owned).boxed())
    };
    let times =
        (0..3_000_000_i64).prop_map(move |time| (first_time + time - 1_000_000).to_string());
    let times = one_of(vec![
        times.boxed(),
        (-2..2_000_i64).prop_map(|time| time.to_string()).boxed(),
        extreme_times(),
    ]);
    one_of(vec![
        row_predicates(),
        row_predicates(),
        comparisons("family", names(&["f1", "f2", "f3", "x"])),
        comparisons("qualifier", names(&["a", "b", "q", "c", ""])),
        comparisons("\"timestamp\"", times),
    ])
}

/// Returns times at the ends of the range of a scan.
fn extreme_times() -> BoxedStrategy<String> {
    let times = vec![i64::MIN + 1, -5, 0, i64::MAX - 1, i64::MAX];
    prop::sample::select(times).prop_map(|time| time.to_string()).boxed()
}

fn snapshot(copy: &RootCopy, name: &str) -> Table {
    let root = RootDirectory::open(Arc::new(LocalTree), &copy.path()).expect("a root directory");
    root.snapshot(name).expect("sound").table
}

/// Returns the time of the first cell.
fn first_time(table: &Table) -> i64 {
    let mut cells = table.scan(&TableScan::default().raw(true)).expect("sound");
    cells.next_ref().expect("sound").map_or(0, |cell| cell.timestamp.get())
}

#[test]
fn cells_of_a_snapshot() {
    let copy = RootCopy::new();
    let table = snapshot(&copy, "s4");
    let predicates = cell_predicates(first_time(&table));
    for (raw, row_type) in
        [(false, ValueType::String), (true, ValueType::String), (true, ValueType::BinaryHex)]
    {
        let options = TableOptions::cells().raw(raw).row_type(row_type).now(NOW);
        let cells = options.table(&table, &TableScan::default()).expect("sound");
        compare(cells, predicates.clone(), false);
    }
}

#[test]
fn cells_of_a_snapshot_within_times() {
    let copy = RootCopy::new();
    let table = snapshot(&copy, "s4");
    let first = first_time(&table);
    let predicates = cell_predicates(first);
    let options = TableOptions::cells().raw(true).row_type(ValueType::String).now(NOW);
    // The predicates narrow the range of the scan; they do not replace it.
    for (min, max) in [(i64::MIN, i64::MAX), (1, first + 1), (first, i64::MAX)] {
        let within = TableScan::default().time_range(Timestamp::new(min), Timestamp::new(max));
        compare(options.clone().table(&table, &within).expect("sound"), predicates.clone(), false);
    }
}

#[test]
fn rows_of_a_snapshot() {
    let copy = RootCopy::new();
    let columns = ["f1:a=string", "f1:b", "f2:q"].map(str::parse::<PivotColumn>);
    let columns = columns.into_iter().collect::<Result<Vec<_>, _>>().expect("columns");
    let options = TableOptions::pivot(columns).row_type(ValueType::String).times(true).now(NOW);
    let rows = options.table(&snapshot(&copy, "s1"), &TableScan::default()).expect("sound");
    let texts =
        quoted(prop::sample::select(vec!["", "a", "m", "s", "z"]).prop_map(str::to_owned).boxed());
    let nulls =
        prop::sample::select(vec!["\"f1:a\"", "\"f1:b\"", "\"f2:q\"", "\"f2:q:timestamp\""]);
    let nulls = (nulls, any::<bool>())
        .prop_map(|(column, not)| format!("{column} IS {} NULL", if not { "NOT" } else { "" }));
    let predicates = one_of(vec![
        row_predicates(),
        comparisons("\"f1:a\"", texts.clone()),
        comparisons("\"f2:q\"", texts),
        nulls.boxed(),
    ]);
    compare(rows, predicates, true);
}

#[test]
fn regions_in_the_order_of_hbase_meta() {
    let copy = RootCopy::new();
    let root = RootDirectory::open(Arc::new(LocalTree), &copy.path()).expect("a root directory");
    let table = root.table(&"hbase:meta".parse().expect("a name")).expect("sound");
    let options = TableOptions::cells().row_type(ValueType::String).now(NOW);
    let cells = options.table(&table, &TableScan::default().with_logs(true)).expect("sound");
    let rows = ["t1", "t1,", "t1,,", "t2", "hbase:", "t"].map(str::to_owned).to_vec();
    let rows = prop::sample::select(rows).boxed();
    compare(cells, one_of(vec![comparisons("\"row\"", quoted(rows.clone())), likes(rows)]), false);
}

#[test]
fn integers_of_a_store() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(directory.path(), StoreOptions::default()).expect("new");
    let family = FamilyOptions::default().versions(3);
    for name in ["f1", "f2"] {
        store.create_family(name, family.clone()).expect("new");
    }
    for number in (-40_i32..40).chain([i32::MIN, i32::MAX]) {
        let row = number.to_be_bytes();
        for time in 0..3 {
            let time = Timestamp::new(i64::from(number.rem_euclid(7)) + 10 * time);
            let put = Put::new(row).column_at("f1", "a", time, row);
            store.put(put.column_at("f2", "b", time, [1])).expect("sound");
        }
        if number == 7 {
            store.flush().expect("disk takes it");
        }
    }
    let number = prop_oneof![
        4 => (-45_i64..45).prop_map(|number| number.to_string()),
        1 => prop::sample::select(vec![i64::from(i32::MIN), i64::from(i32::MAX), 1 << 40])
            .prop_map(|number| number.to_string()),
    ];
    // The end of the range of a scan, which is excluded.
    store
        .put(Put::new(1_i32.to_be_bytes()).column_at("f1", "a", Timestamp::new(i64::MAX - 1), "v"))
        .expect("sound");
    let time = (-3_i64..30).prop_map(|time| time.to_string()).boxed();
    let time = one_of(vec![time, extreme_times()]);
    let predicates = one_of(vec![
        comparisons("\"row\"", number.boxed()),
        comparisons("\"timestamp\"", time),
        Just("qualifier = 'b'".to_owned()).boxed(),
    ]);
    for raw in [false, true] {
        let options = TableOptions::cells().raw(raw).row_type(ValueType::Int32);
        compare(options.store(&store).expect("sound"), predicates.clone(), false);
    }
}

#[test]
fn bytes_of_a_file() {
    let rows = (0..320_u32).prop_map(|number| {
        // Digits are 0x30 to 0x39.
        let digits: Vec<_> =
            format!("{number:05}").chars().map(|digit| format!("3{digit}")).collect();
        format!("X'726f77{}'", digits.concat())
    });
    let rows = rows.boxed();
    let predicates = one_of(vec![
        comparisons("\"row\"", rows),
        comparisons("family", quoted(Just("f".to_owned()).boxed())),
        comparisons("\"timestamp\"", (3..8_i64).prop_map(|time| time.to_string()).boxed()),
    ]);
    let options = TableOptions::cells().raw(true);
    compare(options.hfile(&made::hfile(0..300)).expect("sound"), predicates, false);
}
