"""With types, a scan has one row for each row of the table, and typed columns."""

import pyhfile
import pyarrow
import pytest

from conftest import MANIFEST, NOW, SNAPSHOTS, hfile_command, truth

ROWS = {
    # Values as HBase's Bytes.toBytes writes them.
    "ada": {"name": "Ada", "age": (36).to_bytes(8, "big"), "ok": b"\xff", "x": b"\x3f\xf8" + bytes(6)},
    "bob": {"name": "Bob", "small": b"\xff\xfe", "mid": (7).to_bytes(4, "big"), "y": b"\x3f\xc0\x00\x00"},
    "eve": {"other": b"1"},
}
TYPES = {
    "f:name": "string",
    "f:age": "int64",
    "f:ok": "bool",
    "f:x": "float64",
    "f:small": "int16",
    "f:mid": "int32",
    "f:y": "float32",
    "f:raw": "binary",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("typed") / "store"
    hfile_command("store", "create", path, "f")
    for row, columns in ROWS.items():
        for name, value in columns.items():
            value = value if isinstance(value, str) else "hex:" + value.hex()
            hfile_command("store", "put", path, row, f"f:{name}={value}")
    return pyhfile.open_store(path)


def test_columns_have_types_and_nulls(store):
    table = pyarrow.table(store.scan(types=TYPES, row_type="string"))
    assert table.schema.names == ["row", *TYPES]
    assert table.schema.field("row").type == pyarrow.string()
    assert table.schema.field("f:ok").type == pyarrow.bool_()
    ada, bob = table.to_pylist()
    nothing = dict.fromkeys(TYPES)
    assert ada == {**nothing, "row": "ada", "f:name": "Ada", "f:age": 36, "f:ok": True, "f:x": 1.5}
    assert bob == {**nothing, "row": "bob", "f:name": "Bob", "f:small": -2, "f:mid": 7, "f:y": 1.5}


def test_all_rows_and_times(store):
    every = store.scan(types={b"f:name": "string"}, all_rows=True, timestamps=True).read_all()
    assert every.column("row").to_pylist() == [b"ada", b"bob", b"eve"]
    assert every.schema.names == ["row", "f:name", "f:name:timestamp"]
    times = every.column("f:name:timestamp").to_pylist()
    assert times[0] > 1_700_000_000_000 and times[2] is None
    # Names without types are bytes.
    assert store.scan(types=["f:name"], start="b").read_all().to_pylist() == [
        {"row": b"bob", "f:name": b"Bob"}
    ]


def test_a_pivot_of_a_snapshot_has_the_newest_values(root):
    cells = truth(SNAPSHOTS / MANIFEST["snapshots"]["s1"]["cellsFile"])
    expected = {}
    for row, family, qualifier, time, _, value, _ in cells:
        if (family, qualifier) in [(b"f1", b"a"), (b"f2", b"q")]:
            expected.setdefault(row, {}).setdefault(family + b":" + qualifier, value)
    snapshot = pyhfile.open_snapshot(root, "s1")
    table = pyarrow.table(snapshot.scan(types=["f1:a", "f2:q"], now=NOW, threads=2))
    found = {
        row: {name: value for name, value in ((b"f1:a", a), (b"f2:q", q)) if value is not None}
        for row, a, q in zip(*(column.to_pylist() for column in table.columns))
    }
    assert found == expected and len(found) == table.num_rows > 100


def test_a_value_of_another_type_is_an_error(store):
    with pytest.raises(pyhfile.ValueTypeError, match="row ada, column f:name: .* int64") as raised:
        store.scan(types={"f:name": "int64"}).read_all()
    assert isinstance(raised.value, ValueError)


def test_a_value_of_another_type_can_be_null(store):
    scan = store.scan(types={"f:name": "int64", "f:age": "int64"}, on_error="null")
    assert scan.read_all().column("f:name").to_pylist() == [None, None] and scan.bad_values == 2
    assert scan.read_all().column("f:age").to_pylist() == [36, None]
    with pytest.raises(ValueError, match="on_error"):
        store.scan(on_error="null")
    with pytest.raises(ValueError, match="on_error"):
        store.scan(types=["f:name"], on_error="ignore")


def test_column_names_are_those_of_cells(store, root):
    expected = sorted({f"f:{name}".encode() for columns in ROWS.values() for name in columns})
    assert store.column_names() == expected
    assert store.column_names(sample=1) == sorted(f"f:{name}".encode() for name in ROWS["ada"])
    assert store.column_names(start="c") == [b"f:other"]
    snapshot = pyhfile.open_snapshot(root, "s4")
    every = sorted({cell.family + b":" + cell.qualifier for cell in snapshot.cells()})
    assert snapshot.column_names() == every
    assert snapshot.column_names(families="f2") == [name for name in every if name.startswith(b"f2:")]
    assert set(snapshot.column_names(sample=1)) < set(every)
