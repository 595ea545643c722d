"""What cannot be read raises an exception that names the file and the place; nothing else is raised."""

import os
import pickle
import random
import shutil

import pyhfile
import pyarrow
import pytest

from conftest import DATA, NOW, files_of_region, of_cells

HFILE = DATA / "hfile" / "s01-default.hfile"


def flipped(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x40
    path.write_bytes(data)


def test_the_classes_are_those_that_programs_catch():
    for name in ["DamagedError", "NotFoundError", "UnsupportedError", "ValueTypeError"]:
        assert issubclass(getattr(pyhfile, name), pyhfile.Error)
        assert getattr(pyhfile, name).__module__ == "pyhfile"
    assert issubclass(pyhfile.Error, OSError)
    assert issubclass(pyhfile.NotFoundError, FileNotFoundError)
    error = pyhfile.DamagedError("damaged", path="file", offset=7)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.path, copy.offset) == ("damaged", "file", 7)


def test_what_is_not_there_is_named(root, snapshot, store_path, tmp_path):
    with pytest.raises(pyhfile.NotFoundError, match="has no snapshot nope") as raised:
        pyhfile.open_snapshot(root, "nope")
    assert raised.value.path.endswith(".hbase-snapshot")
    with pytest.raises(pyhfile.NotFoundError, match="has no table t99"):
        pyhfile.open_table(root, "t99")
    with pytest.raises(FileNotFoundError) as raised:
        pyhfile.open_hfile(tmp_path / "nope")
    assert raised.value.path == str(tmp_path / "nope") and raised.value.errno == 2
    with pytest.raises(pyhfile.NotFoundError, match="no store"):
        pyhfile.open_store(tmp_path)
    with pytest.raises(pyhfile.NotFoundError, match="not a root directory"):
        pyhfile.list_snapshots(tmp_path)
    for source in (snapshot, pyhfile.open_store(store_path), pyhfile.open_hfile(HFILE)):
        with pytest.raises(pyhfile.NotFoundError, match="no family f9"):
            source.cells(families=["f9"])
        with pytest.raises(pyhfile.NotFoundError, match="no family f9"):
            source.get("no such row", columns="f9:a")
    with pytest.raises(pyhfile.UnsupportedError, match="hdfs dfs -get"):
        pyhfile.open_snapshot("hdfs://namenode/hbase", "s1")


def test_wrong_arguments_are_refused(snapshot, store_path):
    store, file = pyhfile.open_store(store_path), pyhfile.open_hfile(HFILE)
    with pytest.raises(TypeError, match="expected bytes or str, not int"):
        snapshot.scan(start=7)
    for source, options, what in [
        (snapshot, {"columns": "f1"}, "FAMILY:QUALIFIER"),
        (snapshot, {"types": {"f1:a": "int65"}}, "unknown type .*int16"),
        (snapshot, {"types": ["f1:a"], "raw": True}, "a pivot shows"),
        (snapshot, {"types": ["f1:a"], "families": "f1"}, "leave out families"),
        (snapshot, {"timestamps": True}, "need types"),
        (snapshot, {"types": ["f1:a", "f1:a"]}, "twice"),
        (snapshot, {"versions": 0}, "at least 1"),
        (snapshot, {"with_wal": True}, "not a snapshot, which has no logs"),
        (file, {"with_wal": True}, "with_wal is for tables"),
        (store, {"skip_damaged": True}, "skip_damaged is for tables"),
        (store, {"threads": 2}, "threads is for tables"),
        (store, {"now": 1}, "own clock"),
    ]:
        with pytest.raises(ValueError, match=what):
            source.scan(**options).read_all()


def test_damage_names_the_file_and_the_offset(tmp_path):
    path = tmp_path / "damaged.hfile"
    shutil.copy(HFILE, path)
    flipped(path, 2000)
    file = pyhfile.open_hfile(path)
    reads = [
        lambda: list(file.cells(raw=True)),
        lambda: file.scan(raw=True).read_all(),
        lambda: list(file.scan(raw=True)),
    ]
    for read in reads:
        with pytest.raises(pyhfile.DamagedError, match="DATA.* block at 0x") as raised:
            read()
        assert raised.value.path == str(path)
        assert 0 <= raised.value.offset <= 2000
    # Through another library the error is that of the library, with the same text.
    with pytest.raises(OSError, match="DATA.* block at 0x") as raised:
        pyarrow.table(file.scan(raw=True))
    assert str(path) in str(raised.value)
    flipped(path, path.stat().st_size - 4096)
    with pytest.raises(pyhfile.Error):
        pyhfile.open_hfile(path)
    path.write_bytes(b"no HFile at all")
    with pytest.raises(pyhfile.DamagedError):
        pyhfile.open_hfile(path)


def test_a_scan_goes_on_after_damage(own_root):
    snapshot = pyhfile.open_snapshot(own_root, "s4")
    whole = of_cells(snapshot.cells(raw=True))
    path = files_of_region(own_root, snapshot, "f1")[-1]
    flipped(path, 300)
    with pytest.raises(pyhfile.DamagedError) as raised:
        snapshot.scan(raw=True).read_all()
    assert raised.value.path.endswith(path.name) and raised.value.offset is not None

    scan = snapshot.scan(raw=True, skip_damaged=True)
    rest = pyarrow.table(scan)
    assert 0 < rest.num_rows < len(whole)
    (missing,) = scan.missing
    assert missing.path.endswith(path.name) and missing.family == b"f1"
    assert missing.region == snapshot.regions[0].name and "CRC32C" in missing.what
    cells = snapshot.cells(raw=True, skip_damaged=True)
    found = set(of_cells(cells))
    assert len(found) == rest.num_rows and cells.missing == [missing]
    between = lambda row: (
        (missing.first_row is None or row >= missing.first_row)
        and (missing.last_row is None or row <= missing.last_row)
    )
    assert all(between(cell[0]) for cell in whole if cell not in found)

    path.unlink()
    with pytest.raises(pyhfile.DamagedError, match="missing"):
        snapshot.scan(raw=True).read_all()
    assert 0 < sum(1 for _ in snapshot.cells(raw=True, skip_damaged=True)) < len(whole)


def test_a_row_of_a_lost_region_is_not_absent(own_root):
    table = pyhfile.open_table(own_root, "t1")
    lost = table.regions[0]
    (directory,) = own_root.glob(f"data/default/t1/{lost.name}")
    row = next(iter(table.cells(families=["f1"]))).row
    shutil.rmtree(directory)
    table = pyhfile.open_table(own_root, "t1")
    with pytest.raises(pyhfile.Error):
        table.get(row)
    with pytest.warns(pyhfile.TableWarning, match="may be missing or incomplete"):
        table.get(row, skip_damaged=True)


def test_a_torn_log_is_read_up_to_its_end_and_named(own_root):
    table = pyhfile.open_table(own_root, "t1")
    whole = of_cells(table.cells(with_wal=True, raw=True))
    assert table.scan(with_wal=True).torn_logs == []
    (log,) = (log for log in table.write_ahead_logs if log.endswith("1795412744013"))
    os.truncate(log, 1000)

    cells = table.cells(with_wal=True, raw=True)
    assert 0 < len(of_cells(cells)) <= len(whole)
    (torn,) = cells.torn_logs
    assert torn.path == log and torn.offset + torn.bytes == 1000
    assert torn.part == "an entry"
    scan = table.scan(with_wal=True)
    scan.read_all()
    assert scan.torn_logs == [torn]
    assert table.scan().torn_logs == []


def test_an_encrypted_log_or_file_is_refused_by_name(own_root):
    table = pyhfile.open_table(own_root, "t1")
    log = table.write_ahead_logs[0]
    with open(log, "r+b") as file:
        start = file.read(200)
        # The class of the writer, in the header: a name of the same length that nothing reads.
        assert b"ProtobufLogWriter" in start
        file.seek(start.index(b"ProtobufLogWriter"))
        file.write(b"ProtobufLogWroter")
    with pytest.raises(pyhfile.UnsupportedError) as raised:
        list(table.cells(with_wal=True))
    assert raised.value.path == log


def test_whatever_the_bytes_are_only_our_exceptions_are_raised(tmp_path):
    """Flips and cuts of a file: an exception of the package, or cells."""
    rng, sound = random.Random(7), HFILE.read_bytes()
    path, failures = tmp_path / "mutant.hfile", 0
    for _ in range(300):
        data = bytearray(sound)
        if rng.random() < 0.2:
            del data[rng.randrange(len(data)):]
        else:
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        try:
            file = pyhfile.open_hfile(path)
            file.scan(raw=True).read_all()
            file.get(b"row")
        except pyhfile.Error as error:
            assert "internal" not in str(error)
            failures += 1
    assert failures > 200


def test_a_damaged_manifest_is_named(own_root):
    manifest = own_root / ".hbase-snapshot" / "s1" / "data.manifest"
    manifest.write_bytes(manifest.read_bytes()[:-100])
    with pytest.raises(pyhfile.DamagedError) as raised:
        pyhfile.open_snapshot(own_root, "s1").scan(now=NOW).read_all()
    assert raised.value.path.endswith("data.manifest")
