"""Values of all types are written by write_hfiles and read back equal, with and without named types."""

import datetime
import decimal
import pathlib

import pyhfile
import pyarrow
import pytest


def values():
    utc = datetime.timezone.utc
    moment = datetime.datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=utc)
    return {
        "f:int8": (pyarrow.array([-128, None, 127], pyarrow.int8()), "int8"),
        "f:int16": (pyarrow.array([-32768, None, 7], pyarrow.int16()), "int16"),
        "f:int32": (pyarrow.array([-(2**31), None, 7], pyarrow.int32()), "int32"),
        "f:int64": (pyarrow.array([-(2**63), None, 7], pyarrow.int64()), "int64"),
        "f:float32": (pyarrow.array([1.5, None, -0.1], pyarrow.float32()), "float32"),
        "f:float64": (pyarrow.array([1.5, None, -0.1], pyarrow.float64()), "float64"),
        "f:bool": (pyarrow.array([True, None, False]), "bool"),
        "f:string": (pyarrow.array(["é", None, ""]), "string"),
        "f:binary": (pyarrow.array([b"\0\xff", None, b""]), "binary"),
        "f:date": (pyarrow.array([datetime.date(1969, 12, 31), None, datetime.date(2024, 2, 29)]), "date"),
        "f:decimal": (
            pyarrow.array(
                [decimal.Decimal("-123.45"), None, decimal.Decimal("0.10")], pyarrow.decimal128(10, 2)
            ),
            "decimal(10,2)",
        ),
        "f:timestamp": (
            pyarrow.array([moment, None, moment], pyarrow.timestamp("ms", "UTC")),
            "timestamp",
        ),
    }


def written(directory, data, **arguments):
    made = pyhfile.write_hfiles(data, directory, row="id", timestamp=5, **arguments)
    (file,) = made.files
    assert pathlib.Path(file.path).is_file()
    return pyhfile.open_hfile(file.path)


def test_all_types_are_read_back(tmp_path):
    columns = values()
    ids = pyarrow.array(["a", "b", "c"])
    data = pyarrow.table({"id": ids, **{name: array for name, (array, _) in columns.items()}})
    # Of timestamps, milliseconds are kept, so they need a type.
    with pytest.raises(pyhfile.ValueTypeError, match="timestamp for milliseconds"):
        written(tmp_path / "none", data)
    file = written(tmp_path / "out", data, types={"f:timestamp": "timestamp"})
    types = {name: type_name for name, (_, type_name) in columns.items()}
    found = pyarrow.table(file.scan(types=types, row_type="string", all_rows=True))
    expected = data.filter(pyarrow.array([True, False, True])).rename_columns(["row", *types])
    assert found.to_pylist() == expected.select(found.column_names).to_pylist()
    assert found.schema.types == expected.schema.types
    again = written(tmp_path / "again", found.rename_columns(["id", *types]), types={"f:timestamp": "timestamp"})
    assert list(again.cells(raw=True)) == list(file.cells(raw=True))
    decimals = [cell.value for cell in file.cells(columns="f:decimal")]
    # A scale and an integer, as HBase's Bytes.toBytes(BigDecimal).
    assert decimals == [b"\0\0\0\2" + (-12345).to_bytes(2, "big", signed=True), b"\0\0\0\2\x0a"]


def test_text_is_parsed_as_the_type(tmp_path):
    data = pyarrow.table(
        {"id": ["a"], "f:d": ["2024-02-29"], "f:t": ["2024-02-29T12:00:00Z"], "f:n": ["1.5"], "f:b": ["-2"]}
    )
    types = {"f:d": "date", "f:t": "timestamp", "f:n": "decimal", "f:b": "int8"}
    file = written(tmp_path / "out", data, types=types)
    (row,) = pyarrow.table(file.scan(types=types)).to_pylist()
    assert (row["f:d"], row["f:n"], row["f:b"]) == (datetime.date(2024, 2, 29), decimal.Decimal("1.5"), -2)
    assert row["f:t"] == datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc)
    with pytest.raises(pyhfile.ValueTypeError, match="no decimal\\(3,2\\)|decimal"):
        file.scan(types={"f:b": "decimal(3,2)"}).read_all()
    with pytest.raises(ValueError, match="types are string, int8"):
        file.scan(types={"f:b": "int7"})


def test_categories_are_cells_and_errors_name_the_row(tmp_path):
    data = pyarrow.table(
        {
            "row": ["a", "b"],
            "family": pyarrow.array(["f", "f"]).dictionary_encode(),
            "qualifier": pyarrow.array(["q", None]).dictionary_encode(),
            "timestamp": [1, 2],
            "value": pyarrow.array([b"x", b"x"]).dictionary_encode(),
        }
    )
    (file,) = pyhfile.write_hfiles(data, tmp_path / "out").files
    cells = [tuple(cell)[:6] for cell in pyhfile.open_hfile(file.path).cells(raw=True)]
    assert cells == [(b"a", b"f", b"q", 1, "Put", b"x"), (b"b", b"f", b"", 2, "Put", b"x")]
    bad = data.set_column(3, "timestamp", pyarrow.array([1, -2]))
    with pytest.raises(pyhfile.ValueTypeError, match='record 2: row b, column "timestamp": -2'):
        pyhfile.write_hfiles(bad, tmp_path / "bad")
    long = pyarrow.table({"id": ["k" * 5000], "f:n": ["x" * 100_000]})
    with pytest.raises(pyhfile.ValueTypeError) as raised:
        pyhfile.write_hfiles(long, tmp_path / "long", row="id", types={"f:n": "int64"})
    assert len(str(raised.value)) < 500 and "100000 bytes" in str(raised.value)
