"""Five million cells in 21 regions, from Spark, pyarrow, polars and DuckDB, are loaded by a real HBase; and what reading them costs.

Only with HBASE_JUDGE=1 and SPARK_TESTS=1. ``-s`` prints the figures.
"""

import json
import os
import time
import zlib

import duckdb
import pyhfile
import polars
import pyarrow
import pyarrow.compute
import pytest

import spark_session

spark_session.skip_unless_asked()

import pyhfile.spark

from pyspark.sql import functions

from test_bulk_load import judge  # noqa: F401: a fixture

ROWS = int(os.environ.get("LARGE_ROWS", 2_500_000))
NOW = 1_700_000_000_000
SPLITS = [b"row%08d" % (ROWS * part // 21) for part in range(1, 21)]
# Coprime to the number of rows, so that the rows are in another order.
STRIDE = 1_000_003


@pytest.fixture(scope="module")
def spark():
    spark = spark_session.start("local[2]", spark_driver_memory="2g")
    yield spark
    spark.stop()


def table():
    """The rows, not sorted."""
    numbers = pyarrow.array([number * STRIDE % ROWS for number in range(ROWS)], pyarrow.int64())
    digits = pyarrow.compute.utf8_lpad(numbers.cast(pyarrow.string()), 8, "0")
    texts = pyarrow.compute.binary_join_element_wise("row", digits, "")
    return pyarrow.table({"id": texts, "f:number": numbers, "f:text": texts})


def write_with_spark(request, directory):
    spark = request.getfixturevalue("spark")
    numbers = spark.range(ROWS).select(((functions.col("id") * STRIDE) % ROWS).alias("f:number"))
    id = functions.format_string("row%08d", "`f:number`")
    frame = numbers.select(id.alias("id"), "`f:number`", id.alias("f:text"))
    ready = pyhfile.spark.for_bulk_load(frame, "id", SPLITS)
    options = {"row": "id", "timestamp": NOW, "splits": pyhfile.spark.splits_option(SPLITS)}
    ready.write.format("hbase-files").options(**options).mode("append").save(str(directory))


def write_data(data, directory):
    pyhfile.write_hfiles(data, directory, row="id", timestamp=NOW, splits=SPLITS)


def write_with_pyarrow(_, directory):
    write_data(table(), directory)


def write_with_polars(_, directory):
    write_data(polars.from_arrow(table()), directory)


def write_with_duckdb(_, directory):
    rows = table()
    write_data(duckdb.from_arrow(rows), directory)


def checksum():
    """The sum of the CRC-32s of the cells, as the judge computes it."""
    time, total = NOW.to_bytes(8, "big"), 0
    for number in range(ROWS):
        row = b"row%08d" % number
        total += zlib.crc32(row + b"number" + time + number.to_bytes(8, "big"))
        total += zlib.crc32(row + b"text" + time + row)
    return total


@pytest.mark.skipif(os.environ.get("HBASE_JUDGE") != "1", reason="needs real HBase: set HBASE_JUDGE=1")
@pytest.mark.parametrize(
    "write", [write_with_spark, write_with_pyarrow, write_with_polars, write_with_duckdb]
)
def test_hbase_counts_every_cell(write, judge, request, tmp_path):  # noqa: F811
    begun = time.monotonic()
    write(request, tmp_path / "out")
    seconds = time.monotonic() - begun
    print(f"\n{write.__name__}: {2 * ROWS} cells in {seconds:.1f} s")
    files = list((tmp_path / "out" / "f").iterdir())
    assert len(files) == len(SPLITS) + 1
    splits = ",".join(split.hex() for split in SPLITS)
    answer = judge(
        *("bulkload", tmp_path / "out", "--family", "f", "--splits", splits, "--count"),
        *("--expect-rows", ROWS, "--expect-crc-sum", checksum()),
    )
    assert answer["loaded"] == len(files) and answer["count"]["cells"] == 2 * ROWS


def plain_seconds(spark, directory):
    """The processor time of Arrow scans of all files, in tasks of the same workers."""

    def scan(path):
        # Defined here, so that workers get it by value.
        import time

        import pyhfile

        begun = time.thread_time()
        rows = sum(batch.num_rows for batch in pyhfile.open_hfile(path).scan())
        return rows, time.thread_time() - begun

    paths = sorted(str(path) for path in directory.rglob("f/*"))
    tasks = spark.sparkContext.parallelize(paths, len(paths)).map(scan).collect()
    assert sum(rows for rows, _ in tasks) == 2 * ROWS
    return sum(seconds for _, seconds in tasks)


def test_the_reader_costs_little_more_than_a_scan(spark, tmp_path):
    write_with_pyarrow(None, tmp_path / "out")
    figures = []
    for turn in range(3):
        counters = tmp_path / f"counters{turn}"
        counters.mkdir()
        reader = spark.read.format("hbase-files").option("counters", str(counters))
        begun = time.monotonic()
        reader.load(str(tmp_path / "out")).write.format("noop").mode("overwrite").save()
        end_to_end = time.monotonic() - begun
        tasks = [json.loads(path.read_text()) for path in counters.glob("*.json")]
        assert sum(task["rows"] for task in tasks) == 2 * ROWS
        in_reader = sum(task["cpu_seconds"] for task in tasks)
        figures.append((in_reader, plain_seconds(spark, tmp_path / "out"), end_to_end))
    in_reader, plain, end_to_end = (min(column) for column in zip(*figures))
    rate = 2 * ROWS / end_to_end
    print(
        f"\nprocessor time: {in_reader:.2f} s in the reader, {plain:.2f} s of scans, {in_reader / plain:.2f} times; "
        f"end to end {end_to_end:.1f} s, {rate:,.0f} cells/s"
    )
    assert in_reader < 1.15 * plain
