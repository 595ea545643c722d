"""Compares exported files with the cells that HBase returned, as pyarrow and as DuckDB read them.

compare.py FORMAT DIR CELLS [COLUMN=TYPE ...]

FORMAT is parquet or arrow, DIR the directory of an export, CELLS the expected cells as lines of JSON.
With columns (f1:a=binary-hex), the export is a pivot with row keys of type string and with times.
Prints the number of rows that each reader found; exits with 1 at the first difference.
"""

import json
import os
import struct
import sys

import duckdb
import pyarrow
import pyarrow.ipc
import pyarrow.parquet


def cells(path):
    """Yields the expected cells: the fields of a row of the files."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            cell = json.loads(line)
            part = lambda name: bytes.fromhex(cell[name])
            tags = b"".join(
                struct.pack(">HB", 1 + len(tag["value"]) // 2, tag["type"]) + bytes.fromhex(tag["value"])
                for tag in cell.get("tags", [])
            )
            yield (part("row"), part("family"), part("qualifier"), cell["ts"], cell["type"], part("value"), tags or None)


def pivoted(expected, columns):
    """Returns a row for each row with a value: the key, and the newest value and time of each column."""
    rows = {}
    for row, family, qualifier, ts, _, value, _ in expected:
        name = (family + b":" + qualifier).decode()
        if name in columns:
            decoded = value.decode() if columns[name] == "string" else value
            rows.setdefault(row.decode(), {}).setdefault(name, (decoded, ts))
    return [
        (row, *(part for name in columns for part in values.get(name, (None, None))))
        for row, values in sorted(rows.items())
    ]


def same(reader, found, expected):
    for number, (ours, theirs) in enumerate(zip(found, expected)):
        if ours != theirs:
            sys.exit(f"{reader}: row {number} is {ours}, expected {theirs}")
    if len(found) != len(expected):
        sys.exit(f"{reader}: {len(found)} rows, expected {len(expected)}")
    print(f"{reader}: {len(found)} rows")


def main():
    form, directory, path, *columns = sys.argv[1:]
    columns = dict(column.split("=") for column in columns)
    expected = list(cells(path))
    names = ["row", "family", "qualifier", "timestamp", "type", "value", "tags"]
    if columns:
        expected = pivoted(expected, columns)
        names = ["row"] + [part for name in columns for part in (name, name + ":timestamp")]
    with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as manifest:
        regions = json.load(manifest)["regions"]
    files = [os.path.join(directory, file["file"]) for region in regions for file in region["files"]]
    read = pyarrow.parquet.read_table if form == "parquet" else lambda file: pyarrow.ipc.open_file(file).read_all()
    exported = pyarrow.concat_tables(read(file) for file in files)
    exported.validate(full=True)
    same("pyarrow", list(zip(*(exported.column(name).to_pylist() for name in names))), expected)

    select = ", ".join(f'"{name}"' for name in names)
    source = f"read_parquet({files!r})" if form == "parquet" else "exported"
    same("DuckDB", duckdb.sql(f"SELECT {select} FROM {source}").fetchall(), expected)


main()
