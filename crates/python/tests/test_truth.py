"""Cells are those that HBase returned: of files, snapshots, tables and stores, iterated and as Arrow data."""

import pyhfile
import pyarrow
import pytest

from conftest import DATA, MANIFEST, NOW, SNAPSHOTS, of_arrow, of_cells, truth

HFILES = sorted(path.stem for path in (DATA / "hfile").glob("*.hfile"))


@pytest.mark.parametrize("name", HFILES)
def test_an_hfile_has_its_cells(name):
    directory = DATA / "hfile"
    (cells,) = directory.glob(f"{name}.cells.ndjson*")
    expected = truth(cells)
    with pyhfile.open_hfile(directory / f"{name}.hfile") as file:
        assert file.entry_count == len(expected)
        assert of_cells(file.cells(raw=True)) == expected
        assert of_arrow(pyarrow.table(file.scan(raw=True))) == expected


@pytest.mark.parametrize("name", sorted(MANIFEST["snapshots"]))
@pytest.mark.parametrize("raw", [False, True])
def test_a_snapshot_has_the_cells_that_hbase_reads(root, name, raw):
    expected = truth(SNAPSHOTS / MANIFEST["snapshots"][name]["rawFile" if raw else "cellsFile"])
    snapshot = pyhfile.open_snapshot(root, name)
    assert snapshot.name == MANIFEST["snapshots"][name]["table"]
    assert snapshot.creation_time == MANIFEST["snapshots"][name]["creationTime"]
    assert of_cells(snapshot.cells(raw=raw, now=NOW)) == expected
    for threads in (1, 2):
        assert of_arrow(pyarrow.table(snapshot.scan(raw=raw, now=NOW, threads=threads))) == expected


@pytest.mark.parametrize("name", sorted(MANIFEST["liveTables"]))
@pytest.mark.parametrize("raw", [False, True])
def test_a_table_with_its_logs_has_the_cells_of_the_running_cluster(root, name, raw):
    expected = truth(SNAPSHOTS / MANIFEST["liveTables"][name]["liveRawFile" if raw else "liveFile"])
    table = pyhfile.open_table(root, name)
    assert of_cells(table.cells(raw=raw, now=NOW, with_wal=True)) == expected
    assert of_arrow(pyarrow.table(table.scan(raw=raw, now=NOW, with_wal=True))) == expected


def test_without_its_logs_a_table_has_the_cells_of_its_files(root):
    table = pyhfile.open_table(root, "t1")
    assert table.write_ahead_logs
    # The snapshot was taken at the same moment, without a flush.
    expected = truth(SNAPSHOTS / MANIFEST["snapshots"]["s13"]["cellsFile"])
    assert of_cells(table.cells(now=NOW)) == expected


def test_logs_are_read_from_another_directory(own_root, tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    (own_root / "WALs").rename(logs / "WALs")
    with pytest.raises(pyhfile.Error, match="hbase.wal.dir"):
        pyhfile.open_table(own_root, "t1").cells(now=NOW, with_wal=True)
    table = pyhfile.open_table(own_root, "t1", wal_root=logs)
    expected = truth(SNAPSHOTS / MANIFEST["liveTables"]["t1"]["liveFile"])
    assert of_cells(table.cells(now=NOW, with_wal=True)) == expected


@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("raw", {"raw": True}),
        ("v1", {"versions": 1}),
        ("v3", {"versions": 3}),
        ("timerange", {"min_timestamp": 1_700_000_060_000, "max_timestamp": 1_700_000_120_000}),
        ("range", {"versions": 2, "start": b"row00000010", "stop": "row00000030"}),
    ],
)
def test_a_store_has_the_cells_that_hbase_shows(store_path, name, choice):
    expected = truth(DATA / "store" / "overlap" / "expect" / f"{name}.cells.ndjson.gz")
    with pyhfile.open_store(store_path) as store:
        assert of_cells(store.cells(**choice)) == expected
        assert of_arrow(pyarrow.table(store.scan(**choice))) == expected


def test_the_half_of_a_file_has_its_cells():
    region = DATA / "rootdir" / "root" / "data" / "default" / "t1" / "77a347dcd3a699aadaaa702b08393620"
    halves = [path for path in (region / "f1").iterdir() if "." in path.name]
    assert halves
    for path in halves:
        half = pyhfile.open_hfile(path)
        rows = [cell.row for cell in half.cells(raw=True)]
        assert half.is_half and 0 < len(rows) < half.entry_count
        assert rows[0] >= b"row-01500" > half.first_row
