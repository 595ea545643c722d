"""`write_hfiles`: what pyarrow, polars and DuckDB hold becomes HFiles, which are read back, and equal those of `hfile build`."""

import datetime
import decimal
import os
import pathlib
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time

import duckdb
import pyhfile
import pandas
import polars
import pyarrow
import pytest

from conftest import hfile_command, of_cells

NOW = 1_700_000_000_000

# A column of each type, its Arrow type, two values and their bytes by HBase's Bytes.
TYPES = {
    "f:bool": (pyarrow.bool_(), [True, False], [b"\xff", b"\0"]),
    "f:float32": (pyarrow.float32(), [1.5, float("inf")], [b"\x3f\xc0\0\0", b"\x7f\x80\0\0"]),
    "f:float64": (pyarrow.float64(), [-0.1, 0.0], [struct.pack(">d", -0.1), bytes(8)]),
    "f:int16": (pyarrow.int16(), [-2, 258], [b"\xff\xfe", b"\x01\x02"]),
    "f:int32": (pyarrow.int32(), [258, -1], [b"\0\0\x01\x02", b"\xff\xff\xff\xff"]),
    "f:int64": (pyarrow.int64(), [-(2**63), 7], [b"\x80" + bytes(7), bytes(7) + b"\x07"]),
    "g:binary": (pyarrow.binary(), [b"\0\xff", b""], [b"\0\xff", b""]),
    "g:text": (pyarrow.string(), ["é", "x" * 3000], ["é".encode(), b"x" * 3000]),
}


def frame():
    """Rows zoe, ann and bob; bob has only nulls but one, and of zoe each value is the second."""
    columns = {
        name: pyarrow.array([values[1], values[0], None], kind)
        for name, (kind, values, _) in TYPES.items()
    }
    columns["f:int64"] = pyarrow.array([7, -(2**63), 5], pyarrow.int64())
    return pyarrow.table({"id": ["zoe", "ann", "bob"], **columns})


def expected_cells():
    cells = []
    for name, (_, _, encoded) in TYPES.items():
        family, qualifier = name.encode().split(b":")
        for row, value in zip((b"ann", b"zoe"), encoded):
            cells.append((row, family, qualifier, NOW, "Put", value, None))
    cells.append((b"bob", b"f", b"int64", NOW, "Put", bytes(7) + b"\x05", None))
    return sorted(cells)


def read(written):
    return sorted(
        cell for file in written.files for cell in of_cells(pyhfile.open_hfile(file.path).cells())
    )


def contents(directory):
    """The bytes of the files of each family, in the order of the rows."""
    return {
        family.name: sorted(file.read_bytes() for file in family.iterdir())
        for family in pathlib.Path(directory).iterdir()
    }


def as_batches(table):
    return pyarrow.RecordBatchReader.from_batches(
        table.schema, (batch for batch in table.to_batches(max_chunksize=1))
    )


@pytest.mark.parametrize(
    "convert",
    [
        lambda table: table,
        as_batches,
        polars.from_arrow,
        lambda people: duckdb.sql("SELECT * FROM people"),
        lambda people: duckdb.sql("SELECT * FROM people").to_arrow_reader(2),
    ],
    ids=["pyarrow", "reader", "polars", "duckdb", "duckdb reader"],
)
def test_all_types_are_written_and_read_back(convert, tmp_path):
    written = pyhfile.write_hfiles(
        convert(frame()), tmp_path / "out", row="id", splits=[b"b", "yak"], timestamp=NOW
    )
    assert read(written) == expected_cells()
    assert written.cells == len(expected_cells()) and written.bad_rows == 0
    ranges = [(file.family, file.first_row, file.last_row) for file in written.files]
    assert ranges == [
        ("f", b"ann", b"ann"),
        ("f", b"bob", b"bob"),
        ("f", b"zoe", b"zoe"),
        ("g", b"ann", b"ann"),
        ("g", b"zoe", b"zoe"),
    ]
    for file in written.files:
        path = pathlib.Path(file.path)
        assert path.parent == tmp_path / "out" / file.family
        assert path.stat().st_size == file.size
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("memory, version", [(1 << 28, "2.5"), (2000, "2.6")], ids=["in memory", "in runs"])
def test_the_bytes_are_those_of_hfile_build(memory, version, tmp_path):
    rows = 500
    ids = [f"row{number * 7 % rows:03}" for number in range(rows)]
    names = [f"user {number}" if number % 3 else None for number in range(rows)]
    ages = list(range(rows))
    table = pyarrow.table({"id": ids, "name": names, "age": pyarrow.array(ages, pyarrow.int32())})
    pyhfile.write_hfiles(
        table,
        tmp_path / "python",
        row="id",
        columns={"name": "info:name", "age": "stats:age"},
        timestamp=NOW,
        splits=["row100", "row400"],
        create_time=NOW,
        compression="lz4",
        encoding="FAST_DIFF",
        bloom="ROWCOL",
        filter="ribbon",
        block_size=1024,
        hbase_version=version,
        memory=memory,
        temporary_directory=tmp_path,
    )
    csv = tmp_path / "users.csv"
    lines = [f"{key},{name or ''},{age}\n" for key, name, age in zip(ids, names, ages)]
    csv.write_text("id,name,age\n" + "".join(lines))
    options = (
        "--row id --column name=info:name --column age=stats:age --type stats:age=int32 --null= --sort "
        f"--timestamp 0{NOW} --create-time {NOW} --splits row100,row400 --compression LZ4 --data-block-encoding FAST_DIFF "
        f"--bloom-type ROWCOL --filter ribbon --block-size 1024 --hbase-version {version}"
    )
    hfile_command("build", "--from", "csv", csv, *options.split(), "--output", tmp_path / "build")
    assert contents(tmp_path / "python") == contents(tmp_path / "build")
    assert sorted(os.listdir(tmp_path)) == ["build", "python", "users.csv"]


def test_data_in_order_needs_no_sort_and_makes_the_same_files(tmp_path):
    # Row 3 is there three times, and its last name counts; columns are in any order.
    ids = [f"row{number:03}" for number in (1, 2, 3, 3, 3, 4)]
    columns = {"id": ids, "g:z": [1, 2, 3, 4, None, 6], "f:b": list("abcdef"), "f:a": list("ghijkl")}
    table = pyarrow.concat_tables(pyarrow.table(columns).slice(at, 2) for at in (0, 2, 4))
    options = {"row": "id", "splits": ["row003"], "timestamp": NOW, "create_time": NOW}
    sorted_here = pyhfile.write_hfiles(table, tmp_path / "sorted", **options)
    pyhfile.write_hfiles(table, tmp_path / "in order", **options, sort=False)
    assert sorted_here.cells == 17
    assert contents(tmp_path / "in order") == contents(tmp_path / "sorted")
    # Also between batches.
    with pytest.raises(ValueError, match="record 2: row row003 comes after row row004.*sort the data, as sort=True"):
        pyhfile.write_hfiles(pyarrow.concat_tables([table.slice(5), table.slice(4, 1)]), tmp_path / "other", **options, sort=False)
    assert sorted(os.listdir(tmp_path)) == ["in order", "sorted"]


def test_columns_types_and_timestamps_can_be_chosen(tmp_path):
    times = [datetime.datetime(2023, 11, 14, 22, 13, 20, 500_000), datetime.datetime(2000, 1, 1)]
    table = pyarrow.table(
        {
            "city": ["Ulm", "Bonn"],
            "number": [7, 8],
            "day": [datetime.date(1970, 1, 2)] * 2,
            "price": [decimal.Decimal("1.50")] * 2,
            "at": times,
            "note": ["unused", "unused"],
        }
    )
    written = pyhfile.write_hfiles(
        table,
        tmp_path / "out",
        row=["city", "number"],
        row_type="string",
        row_separator=b"\0",
        columns={"day": "f:day", "price": b"f:\xffprice", "at": "f:at"},
        types={"day": "int32", b"f:\xffprice": "string", "f:at": "int64"},
        timestamp="at",
    )
    at = [1_700_000_000_500, 946_684_800_000]
    assert read(written) == sorted(
        (key, b"f", qualifier, time, "Put", value, None)
        for key, time in zip((b"Ulm\x007", b"Bonn\x008"), at)
        for qualifier, value in (
            (b"at", time.to_bytes(8, "big")),
            (b"day", b"\0\0\0\x01"),
            (b"\xffprice", b"1.50"),
        )
    )
    listed = pyhfile.write_hfiles(
        table.rename_columns(["f:a", "n", "d", "p", "t", "f:b"]),
        tmp_path / "listed",
        row="n",
        row_type="int64",
        columns=["f:a"],
        timestamp=5,
    )
    assert [cell[:5] for cell in read(listed)] == [
        (number.to_bytes(8, "big"), b"f", b"a", 5, "Put") for number in (7, 8)
    ]
    defaulted = pyhfile.write_hfiles(
        table.select(["city", "number"]), tmp_path / "family", row="city", family="f"
    )
    now = [cell[3] for cell in read(defaulted)]
    assert abs(now[0] / 1000 - time.time()) < 60 and now[0] == now[1]


@pytest.mark.parametrize("convert", [lambda scan: scan, pyarrow.table, polars.DataFrame])
def test_a_scan_is_written_as_its_cells(snapshot, convert, tmp_path):
    cells = of_cells(snapshot.cells(raw=True))
    written = pyhfile.write_hfiles(
        convert(snapshot.scan(raw=True)), tmp_path / "out", splits=snapshot.region_splits, tags=True
    )
    families = [of_cells(pyhfile.open_hfile(file.path).cells(raw=True)) for file in written.files]
    found = [cell for file in families for cell in file]
    assert sorted(found, key=repr) == sorted(cells, key=repr)
    assert len(snapshot.region_splits) == len(snapshot.regions) - 1


def test_split_points_divide_a_source(snapshot, root, tmp_path):
    cells = of_cells(snapshot.cells(raw=True))
    for source in (snapshot, pyhfile.open_snapshot(root, "s1")):
        points = pyhfile.split_points(source, 4)
        assert points == sorted(set(points)) and 1 <= len(points) <= 3
        assert pyhfile.split_points(source, 1) == []
    table = pyarrow.table({"id": [f"{n:06}" for n in range(50_000)], "f:q": ["x" * 50] * 50_000})
    written = pyhfile.write_hfiles(table, tmp_path / "out", row="id", block_size=4096)
    points = pyhfile.split_points(pyhfile.open_hfile(written.files[0].path), 5)
    assert [abs(int(point) - 10_000 * (n + 1)) < 700 for n, point in enumerate(points)] == [True] * 4
    again = pyhfile.write_hfiles(table, tmp_path / "again", row="id", splits=points)
    assert [abs(file.cells - 10_000) < 1_000 for file in again.files] == [True] * 5
    with pytest.raises(ValueError, match="n must be at least 1"):
        pyhfile.split_points(snapshot, 0)
    assert cells


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (
            {"row": "id", "types": {"f:a": "int16"}},
            pyhfile.ValueTypeError,
            'data: record 2: row b, column "f:a": "70000" is not of type int16',
        ),
        ({"row": "key"}, ValueError, "data: row: no column is named key; known are id, f:a, f:t"),
        ({"row": "f:a", "columns": ["f:t"]}, pyhfile.ValueTypeError, 'column "f:a": row keys of type Int64 need row_type: string'),
        ({"row": "id", "columns": {"f:a": "a"}}, ValueError, "a is not FAMILY:QUALIFIER"),
        ({"row": "id", "columns": {"b": "f:b"}}, ValueError, "columns: no column is named b"),
        ({"row": "id", "types": {"f:z": "int16"}}, ValueError, "types: no column maps to f:z"),
        ({"row": "id", "types": {"f:a": "int17"}}, ValueError, "unknown type 'int17'|unknown type \"int17\""),
        ({"row": "id", "splits": ["b", "a"]}, ValueError, "b does not sort before a"),
        ({"row": "id", "hbase_version": "2.4"}, ValueError, 'unknown hbase_version "2.4"; known are 2.5, 2.6'),
        ({"row": "id", "compression": "zip"}, ValueError, 'unknown compression "zip"; known are NONE'),
        ({"row": "id", "filter": "bloom"}, ValueError, 'unknown filter "bloom"'),
        ({"row": "f:t"}, ValueError, 'no family is known for id: set one with columns, as {"name": "info:name"}, or'),
        ({"row": "id", "timestamp": -5}, ValueError, "a time before 1970"),
        ({"row": "id", "timestamp": "at"}, ValueError, "timestamp: no column is named at"),
        ({}, ValueError, "row is needed to name the columns of the row key"),
    ],
)
def test_errors_name_record_row_and_column(arguments, error, message, tmp_path):
    table = pyarrow.table({"id": ["a", "b"], "f:a": [1, 70_000], "f:t": ["x", "y"]})
    with pytest.raises(error, match=message):
        pyhfile.write_hfiles(table, tmp_path / "out", **arguments)
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_written_is_refused(tmp_path):
    table = pyarrow.table({"id": ["a", "b"], "f:t": [datetime.datetime(2000, 1, 1)] * 2})
    with pytest.raises(pyhfile.ValueTypeError, match='column "f:t": values of type Timestamp.* need a type'):
        pyhfile.write_hfiles(table, tmp_path / "out", row="id")
    with pytest.raises(TypeError, match="data must have __arrow_c_stream__.*list does not"):
        pyhfile.write_hfiles([1], tmp_path / "out", row="id")
    # Its null row would become a cell.
    fields = [pyarrow.array(["a", "b"]), pyarrow.array(["x", "y"])]
    rows = pyarrow.StructArray.from_arrays(fields, ["id", "f:q"], mask=pyarrow.array([False, True]))
    chunks = pyarrow.chunked_array([rows])
    for array in (chunks, polars.Series(chunks), pandas.Series(chunks, dtype=pandas.ArrowDtype(rows.type))):
        with pytest.raises(TypeError, match="data must be a table, not the (ChunkedArray|Series) of one column"):
            pyhfile.write_hfiles(array, tmp_path / "out", row="id")
    table = pyarrow.table({"id": ["a"], "f:q": ["x"]})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    for force, message in ((False, "is not an empty directory"), (True, "notes.txt is not a part of one")):
        with pytest.raises(pyhfile.Error, match=message):
            pyhfile.write_hfiles(table, tmp_path / "out", row="id", force=force)
    (tmp_path / "out" / "notes.txt").unlink()
    for _ in range(2):
        written = pyhfile.write_hfiles(table, tmp_path / "out", row="id", force=True)
    assert list(contents(tmp_path / "out")) == ["f"] and len(read(written)) == 1
    assert len(os.listdir(tmp_path / "out" / "f")) == 1 and os.listdir(tmp_path) == ["out"]


def test_bad_rows_can_be_skipped(tmp_path):
    table = pyarrow.table({"id": ["a", None, "c"], "f:a": ["1", "2", "x"]})
    written = pyhfile.write_hfiles(
        table, tmp_path / "out", row="id", types={"f:a": "int16"}, skip_bad=True
    )
    assert (written.cells, written.bad_rows) == (1, 2)


def test_an_error_of_the_data_is_an_error_and_leaves_nothing(tmp_path):
    def batches():
        yield pyarrow.record_batch({"id": ["a"], "f:q": ["x"]})
        raise RuntimeError("the query failed")

    schema = pyarrow.schema({"id": pyarrow.string(), "f:q": pyarrow.string()})
    reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(pyhfile.Error, match="data: cannot read record batches: .*the query failed"):
        pyhfile.write_hfiles(reader, tmp_path / "out", row="id")
    assert os.listdir(tmp_path) == []


SLOW = """
    import sys, threading, time
    import pyhfile, pyarrow
    kind, directory = sys.argv[1:]
    rows = 20_000
    batch = pyarrow.record_batch({"id": [f"{n * 7919 % rows:08}" for n in range(rows)], "f:q": ["x" * 50] * rows})
    def endless():
        print("begun", flush=True)
        while True:
            yield batch
    def data():
        if kind == "reading":
            return pyarrow.RecordBatchReader.from_batches(batch.schema, endless())
        print("begun", flush=True)
        return pyarrow.Table.from_batches([batch] * 400)
    memory = 1 << 34 if kind == "sorting" else 1 << 22
    try:
        pyhfile.write_hfiles(data(), directory + "/out", row="id", memory=memory, temporary_directory=directory)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.parametrize("kind", ["reading", "sorting", "merging"])
@pytest.mark.parametrize("delay", [0.3, 1.5, 4.0])
def test_ctrl_c_ends_the_work_within_a_second_and_leaves_nothing(kind, delay, tmp_path):
    script = textwrap.dedent(SLOW)
    process = subprocess.Popen(
        [sys.executable, "-c", script, kind, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    out = process.stdout.readline()
    took = time.monotonic() - sent
    process.wait()
    process.stdout.close()
    assert out == "interrupted\n"
    assert os.listdir(tmp_path) == []
    # A second, and one more for a machine with other work.
    assert took < 2.0


def test_other_threads_run_meanwhile(tmp_path):
    table = pyarrow.table({"id": [f"{n:06}" for n in range(200_000)], "f:q": ["x" * 50] * 200_000})
    steps, done = [], threading.Event()

    def count():
        while not done.is_set():
            steps.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    pyhfile.write_hfiles(table, tmp_path / "out", row="id")
    done.set()
    thread.join()
    assert len(steps) > 10
