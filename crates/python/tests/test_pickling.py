"""Sources and scans can be pickled: they are opened again, with the same arguments."""

import pickle
import warnings

import pyhfile
import pyarrow
import pytest

from conftest import DATA, NOW


def copied(item):
    return pickle.loads(pickle.dumps(item))


def test_sources_are_opened_again(root, store_path, tmp_path, monkeypatch):
    monkeypatch.chdir(DATA / "hfile")
    sources = [
        pyhfile.open_hfile("s01-default.hfile"),
        pyhfile.open_snapshot(root, "s4"),
        pyhfile.open_table(root, "t1"),
        pyhfile.open_table(root, "t1", wal_root=root),
        pyhfile.open_store(store_path, cache_bytes=1 << 20),
    ]
    scans = [source.scan(raw=True) for source in sources]
    monkeypatch.chdir(tmp_path)
    for source, scan in zip(sources, scans):
        copy = copied(source)
        assert type(copy) is type(source)
        expected = list(source.cells(raw=True))
        assert list(copy.cells(raw=True)) == expected and expected
        assert copied(scan).count() == len(expected)
    assert copied(sources[1]).snapshot_name == "s4"


def test_a_scan_keeps_all_arguments(root, tmp_path):
    table = pyhfile.open_table(root, "t1")
    rows = sorted({cell.row for cell in table.cells(with_wal=True, now=NOW)})
    for arguments in [
        {"start": rows[3], "stop": rows[-3].decode()},
        {"prefix": rows[0][:-1], "families": "f1"},
        {"columns": [b"f1:a", "f2:q"], "versions": 2},
        {"min_timestamp": 1_700_000_060_000, "max_timestamp": 1_700_000_120_000, "raw": True},
        {"types": {"f1:a": "string", b"f2:q": "binary"}, "row_type": "string", "timestamps": True},
        {"types": ["f1:a"], "all_rows": True, "batch_size": 7},
        {"skip_damaged": True, "threads": 2},
        {"wal_memory": 1000, "wal_directory": tmp_path},
    ]:
        scan = table.scan(**arguments, with_wal=True, now=NOW)
        copy = copied(copied(scan))
        expected = pyarrow.table(scan)
        assert pyarrow.table(copy) == expected and expected.num_rows > 0, arguments
        assert copy.schema == scan.schema
    split = table.splits(now=NOW, target_bytes=20_000)[1]
    assert pyarrow.table(copied(split.scan())) == pyarrow.table(split.scan())


def test_unread_logs_are_a_warning(root, snapshot):
    table = pyhfile.open_table(root, "t1")
    for read in [
        lambda **arguments: list(table.cells(**arguments)),
        lambda **arguments: table.scan(**arguments).count(),
        lambda **arguments: table.get("no such row", **arguments),
        lambda **arguments: table.splits(**arguments),
    ]:
        with pytest.warns(pyhfile.TableWarning, match="write-ahead log.* in no store file; with_wal"):
            read()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(with_wal=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert snapshot.scan().count() > 0
