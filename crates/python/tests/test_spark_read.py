"""Spark reads snapshots, tables and HFiles: what HBase returned for them, in local mode and in a cluster."""

import datetime
import decimal
import json

import pyhfile
import pyarrow
import pytest

import spark_session

spark_session.skip_unless_asked()

from conftest import MANIFEST, NOW, SNAPSHOTS, truth
from spark_faults import FAULTS, FaultyFiles

import pyhfile.spark

import pyspark.errors

CLUSTER = "local-cluster[2,1,1024]"


@pytest.fixture(scope="module", params=["local[2]", CLUSTER])
def spark(request):
    spark = spark_session.start(request.param, spark_executor_memory="1g")
    spark.dataSource.register(FaultyFiles)
    yield spark
    spark.stop()


def frame(spark, root, schema=None, format="hbase-files", **options):
    reader = spark.read.format(format).option("root", str(root)).options(**options)
    return (reader.schema(schema) if schema else reader).load()


def cells(frame):
    """The rows of a frame of cells as tuples without the sequence id, in the order of its tasks."""
    return [
        tuple(bytes(part) if isinstance(part, bytearray) else part for part in row[:-1])
        for row in frame.collect()
    ]


@pytest.mark.parametrize("name", sorted(MANIFEST["snapshots"]))
@pytest.mark.parametrize("raw", [False, True])
def test_a_snapshot_has_the_cells_that_hbase_reads(spark, root, name, raw):
    expected = truth(SNAPSHOTS / MANIFEST["snapshots"][name]["rawFile" if raw else "cellsFile"])
    found = frame(spark, root, snapshot=name, raw=raw, now=NOW, target_bytes=20_000)
    assert cells(found) == expected


@pytest.mark.parametrize("name", sorted(MANIFEST["liveTables"]))
@pytest.mark.parametrize("raw", [False, True])
def test_a_table_with_its_logs_has_the_cells_of_the_running_cluster(spark, root, name, raw):
    expected = truth(SNAPSHOTS / MANIFEST["liveTables"][name]["liveRawFile" if raw else "liveFile"])
    assert cells(frame(spark, root, table=name, raw=raw, now=NOW, with_wal=True)) == expected


def test_without_its_logs_a_table_has_the_cells_of_its_files(spark, root):
    expected = truth(SNAPSHOTS / MANIFEST["snapshots"]["s13"]["cellsFile"])
    assert cells(frame(spark, root, table="t1", now=NOW)) == expected


def test_splits_are_read_without_a_data_source(spark, root):
    for name, target in (("s4", 20_000), ("s1", None)):
        expected = truth(SNAPSHOTS / MANIFEST["snapshots"][name]["cellsFile"])
        splits = pyhfile.open_snapshot(root, name).splits(now=NOW, target_bytes=target)
        found = pyhfile.spark.read_splits(spark, splits)
        assert found.rdd.getNumPartitions() == len(splits)
        assert cells(found) == expected
    typed = pyhfile.open_snapshot(root, "s4").splits(types={"f1:a": "string"})
    assert pyhfile.spark.read_splits(spark, typed).columns == ["row", "f1:a"]
    with pytest.raises(ValueError, match="schema must name the columns"):
        pyhfile.spark.read_splits(spark, [])
    assert pyhfile.spark.read_splits(spark, [], found.schema).collect() == []


def test_the_schema_chooses_columns_types_and_their_order(spark, root):
    snapshot = pyhfile.open_snapshot(root, "s4")
    types = {"f2:q": "binary", "f1:a": "string"}
    expected = pyarrow.table(snapshot.scan(types=types, row_type="string", now=NOW))
    rows = list(zip(*(expected.column(name).to_pylist() for name in ("f2:q", "row", "f1:a"))))
    found = frame(spark, root, "`f2:q` binary, row string, `f1:a` string", snapshot="s4", now=NOW)
    collected = [(value and bytes(value), row, text) for value, row, text in found.collect()]
    assert collected == rows and any(None in row for row in rows)
    # A frame need not have the row key.
    assert frame(spark, root, "`f1:a` string", snapshot="s4", now=NOW).count() == snapshot.scan(
        types={"f1:a": "string"}, now=NOW
    ).count()
    every = frame(spark, root, "`f1:a` string", snapshot="s4", now=NOW, all_rows="true")
    assert every.count() == snapshot.scan(types={"f1:a": "string"}, all_rows=True, now=NOW).count()
    part = frame(spark, root, "timestamp long, row binary", snapshot="s4", now=NOW, families="f1")
    expected = pyarrow.table(snapshot.scan(families="f1", now=NOW))
    assert [tuple(row) for row in part.selectExpr("timestamp", "hex(row)").collect()] == [
        (time, row.hex().upper())
        for time, row in zip(expected["timestamp"].to_pylist(), expected["row"].to_pylist())
    ]


def test_all_types_come_back_from_files_that_spark_wrote(spark, tmp_path):
    schema = (
        "row string, `f:z` boolean, `f:y` tinyint, `f:s` smallint, `f:i` int, `f:l` bigint, `f:f` float, `f:d` double, "
        "`f:c` decimal(10,2), `f:day` date, `f:at` timestamp, `f:t` string, `f:b` binary"
    )
    price, day = decimal.Decimal("-12.50"), datetime.date(1969, 12, 31)
    at = datetime.datetime(2023, 11, 14, 22, 13, 20, 500_000)
    rows = [
        ("a", True, -1, -2, 1 << 20, -1 << 40, 1.5, -0.1, price, day, at, "é", bytearray(b"\0\xff")),
        ("b", *[None] * 11, bytearray(b"")),
        ("c", False, 5, 7, -1, 0, float("inf"), 0.0, price * 0, day, at, "", None),
    ]
    written = pyhfile.spark.for_bulk_load(spark.createDataFrame(rows, schema), "row", ["b"])
    options = {"row": "row", "splits": "b", "types": '{"f:at": "timestamp"}'}
    writer = written.write.format("hbase-files").options(**options)
    writer.mode("append").save(str(tmp_path / "out"))
    # What a job that did not commit left is not read.
    (tmp_path / "out" / "_temporary").mkdir()
    (tmp_path / "out" / "_temporary" / "file").write_text("no HFile")
    read = spark.read.format("hbase-files").schema(schema).load(f"file://{tmp_path}/out")
    assert [tuple(row) for row in read.orderBy("row").collect()] == rows
    files = [pyhfile.open_hfile(path) for path in sorted((tmp_path / "out" / "f").iterdir())]
    types = {"f:c": "decimal(10,2)", "f:at": "timestamp"}
    splits = [split for file in files for split in file.splits(types=types, row_type="string")]
    found = pyhfile.spark.read_splits(spark, splits).orderBy("row").collect()
    assert [tuple(row) for row in found] == [(row[0], row[8], row[10]) for row in rows if row[8] is not None]


@pytest.fixture
def counted(tmp_path):
    """Counts the blocks that the tasks of a query read."""

    def count(query):
        for path in tmp_path.glob("*.json"):
            path.unlink()
        rows = [bytes(row.row) if not isinstance(row.row, str) else row.row for row in query.collect()]
        counters = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
        return rows, sum(task["data_blocks"] for task in counters)

    return count


def test_a_frame_is_right_for_each_of_several_conditions(spark, root):
    found = frame(spark, root, "row string, `f1:a` string", snapshot="s1", now=NOW)
    few, many = found.where("row < 'row-00100'"), found.where("row >= 'row-02000'")
    counts = [few.count(), many.count(), found.count()]
    assert 0 < counts[0] < counts[1] < counts[2]
    assert few.union(many).count() == counts[0] + counts[1]
    assert found.union(few).count() == counts[0] + counts[2]
    # Also while Spark pushes conditions: the source takes none.
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    assert [few.count(), many.count(), found.count()] == counts
    spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_a_prefix_and_limits_are_options_that_choose_the_blocks_that_are_read(spark, root, tmp_path, counted):
    snapshot = pyhfile.open_snapshot(root, "s4")
    for options in (
        {"prefix": "row-01"},
        {"start": "row-00500", "stop": r"row-0150\x30"},
        {"prefix": "row-01", "start": "row-0150"},
    ):
        found = frame(spark, root, snapshot="s4", now=NOW, counters=tmp_path, **options)
        rows, blocks = counted(found)
        limits = {name: text.replace(r"\x30", "0") for name, text in options.items()}
        prefix = limits.pop("prefix", "")
        expected = [
            cell.row for cell in snapshot.cells(now=NOW, **limits) if cell.row.startswith(prefix.encode())
        ]
        assert rows == expected and len(rows) > 100
        scan = snapshot.scan(now=NOW)
        scan.read_all()
        assert 0 < blocks < scan.data_blocks


def test_reading_changes_nothing_in_the_root_directory(spark, own_root):
    def state():
        paths = sorted(own_root.rglob("*"))
        return [(path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths]

    before = state()
    assert frame(spark, own_root, snapshot="s9").count() > 0
    assert frame(spark, own_root, table="t1", with_wal=True).count() > 0
    assert state() == before


@pytest.mark.parametrize(
    ("options", "schema", "message"),
    [
        ({}, None, "a source is needed: the options root and snapshot"),
        ({"snapshot": "s1", "table": "t1"}, None, "a source is needed"),
        ({"snapshot": "s1", "prefx": "a"}, None, "unknown option prefx; known are .*prefix"),
        ({"snapshot": "none"}, None, "no snapshot|none"),
        ({"snapshot": "s1"}, "row string", "column row of cells has the type binary, not string"),
        ({"snapshot": "s1"}, "name string", "column name is neither family:qualifier nor one of a cell"),
        ({"snapshot": "s1"}, "`f1:a` map<int,int>", "column f1:a: values of type map<int,int> are not read"),
        ({"snapshot": "s1"}, "`f9:a` int", "f9"),
        ({"snapshot": "s1", "families": "f1"}, "`f1:a` int", "options families and columns choose cells"),
        ({"snapshot": "s1", "raw": "maybe"}, None, "option raw must be true or false, not maybe"),
    ],
)
def test_wrong_options_are_refused(options, schema, message, spark, root):
    with pytest.raises(pyspark.errors.PySparkException, match=message):
        frame(spark, root, schema, **options).collect()


def test_a_value_of_another_type_fails_and_names_row_and_column(spark, root, tmp_path):
    found = frame(spark, root, "row string, `f1:a` bigint", snapshot="s4", now=NOW)
    with pytest.raises(pyspark.errors.PySparkException, match="row row-0.*f1:a.*int64"):
        found.collect()
    options = {"snapshot": "s4", "now": NOW, "on_error": "null", "counters": tmp_path}
    found = frame(spark, root, "row string, `f1:a` bigint", **options)
    assert None in [row[1] for row in found.collect()]
    assert sum(json.loads(path.read_text())["bad_values"] for path in tmp_path.glob("*.json")) > 0


def test_files_with_rows_in_common_are_read_only_raw(spark, tmp_path):
    for number in (1, 2):
        people = pyarrow.table({"id": ["a", "z"], "f:n": pyarrow.array([number] * 2, pyarrow.int64())})
        pyhfile.write_hfiles(people, tmp_path / str(number), row="id", timestamp=number)
    reader = spark.read.format("hbase-files")
    with pytest.raises(pyspark.errors.PySparkException, match="have rows in common"):
        reader.load(str(tmp_path)).collect()
    assert len(reader.option("raw", "true").load(str(tmp_path)).collect()) == 4


@pytest.mark.parametrize("place", ["within", "after"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_read_survives_a_fault(fault, place, spark, root, tmp_path):
    if spark.sparkContext.master != CLUSTER:
        pytest.skip("a task runs again in a cluster only")
    expected = truth(SNAPSHOTS / MANIFEST["snapshots"]["s4"]["cellsFile"])
    flag = tmp_path / "flag"
    options = {"fault": fault, "place": place, "flag": flag, "batch_size": 100, "target_bytes": 20_000}
    found = frame(spark, root, format="faulty-files", snapshot="s4", now=NOW, **options)
    assert cells(found) == expected and flag.exists()
