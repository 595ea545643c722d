"""A running HBase bulk-loads what `write_hfiles` wrote, and its own client returns every cell.

Only with HBASE_JUDGE=1: it needs a JDK, and HBase's jars (tests/hbase-judge/README.md).
"""

import json
import os
import pathlib
import random
import struct
import subprocess

import duckdb
import pyhfile
import polars
import pyarrow
import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("HBASE_JUDGE") != "1", reason="needs real HBase: set HBASE_JUDGE=1"
)

JUDGE = pathlib.Path(__file__).parents[3] / "tests" / "hbase-judge" / "judge"
NOW = 1_700_000_000_000
ROWS, WIDE = 500, 200
SPLITS = [b"row0100", b"row0101", b"row0400"]
# Arrow's type, a value of a number, and its bytes by HBase's Bytes.
TYPES = {
    "bool": (pyarrow.bool_(), lambda n: n % 2 == 0, lambda v: b"\xff" if v else b"\0"),
    "float32": (pyarrow.float32(), lambda n: n / 4, lambda v: struct.pack(">f", v)),
    "float64": (pyarrow.float64(), lambda n: -n / 10, lambda v: struct.pack(">d", v)),
    "int16": (pyarrow.int16(), lambda n: n - 250, lambda v: struct.pack(">h", v)),
    "int32": (pyarrow.int32(), lambda n: n << 20, lambda v: struct.pack(">i", v)),
    "int64": (pyarrow.int64(), lambda n: -n << 40, lambda v: struct.pack(">q", v)),
    "binary": (pyarrow.binary(), lambda n: bytes([n % 256, 0]), lambda v: v),
    "text": (pyarrow.string(), lambda n: f"é{n}" * (n % 50), str.encode),
}


@pytest.fixture(scope="module")
def judge():
    """Asks a running HBase; one serves all questions."""
    process = subprocess.Popen(
        [JUDGE, "batch", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(*arguments):
        process.stdin.write(json.dumps(list(map(str, arguments))) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert answer["ok"], answer
        return answer["result"]

    yield ask
    process.stdin.close()
    process.wait()


def frame():
    """Rows in random order, a third of their values null: all types in the family f, a wide row in g."""
    numbers = list(range(ROWS))
    random.Random(1).shuffle(numbers)
    columns = {"id": pyarrow.array([f"row{number:04}" for number in numbers])}
    cells = []

    def add(family, qualifier, kind, make, encode):
        known = [hash((number, len(columns))) % 3 > 0 for number in numbers]
        values = [make(number) if there else None for number, there in zip(numbers, known)]
        columns[f"{family}:{qualifier}"] = pyarrow.array(values, kind)
        for number, value in zip(numbers, values):
            if value is not None:
                cells.append((f"row{number:04}".encode(), family, qualifier, encode(value)))

    for name, (kind, make, encode) in TYPES.items():
        add("f", name, kind, make, encode)
    for index in range(WIDE):
        add("g", f"q{index:03}", *TYPES["int64"])
    return pyarrow.table(columns), sorted(cells)


CONVERSIONS = {
    "pyarrow": lambda people: people,
    "polars": polars.from_arrow,
    "duckdb": lambda people: duckdb.sql("SELECT * FROM people"),
}


@pytest.mark.parametrize("library", CONVERSIONS)
def test_hbase_loads_the_files_and_returns_every_cell(library, judge, tmp_path):
    people, cells = frame()
    written = pyhfile.write_hfiles(
        CONVERSIONS[library](people),
        tmp_path / "out",
        row="id",
        timestamp=NOW,
        splits=SPLITS,
        compression="LZ4",
        encoding="FAST_DIFF",
        bloom="ROWCOL",
        memory=1 << 20,
    )
    assert written.cells == len(cells)
    load_and_compare(judge, tmp_path / "out", cells)


def load_and_compare(judge, directory, cells):
    """HBase loads a directory into a table with `SPLITS`, returns the cells, and reads each file."""
    splits = ",".join(split.hex() for split in SPLITS)
    for family in ("f", "g"):
        expected = directory.parent / f"{family}.ndjson"
        with expected.open("w") as lines:
            for row, _, qualifier, value in (cell for cell in cells if cell[1] == family):
                cell = {"row": row.hex(), "family": family.encode().hex(), "qualifier": qualifier.encode().hex()}
                cell.update(ts=NOW, type="Put", value=value.hex())
                lines.write(json.dumps(cell) + "\n")
        files = list((directory / family).iterdir())
        answer = judge(
            "bulkload", directory, "--family", family, "--splits", splits, "--expect", expected
        )
        assert answer["loaded"] == len(files)
        for file in files:
            judge("read", file)
