"""The splits of a scan, pickled and read by other processes, together return each of its rows once."""

import concurrent.futures
import multiprocessing
import pickle

import pyhfile
import pyarrow
import pytest

from conftest import DATA, MANIFEST, NOW, SNAPSHOTS, of_arrow, of_cells, truth

HFILE = DATA / "hfile" / "p01-prefix-lz4-row.hfile"  # Blocks of 2 KiB.


def sent(splits):
    return [pickle.loads(pickle.dumps(split)) for split in splits]


def joined(splits):
    return pyarrow.concat_tables(pyarrow.table(split.scan()) for split in splits)


@pytest.mark.parametrize("name", sorted(MANIFEST["snapshots"]))
@pytest.mark.parametrize("raw", [False, True])
def test_the_splits_of_a_snapshot_have_the_cells_that_hbase_reads(root, name, raw):
    expected = truth(SNAPSHOTS / MANIFEST["snapshots"][name]["rawFile" if raw else "cellsFile"])
    snapshot = pyhfile.open_snapshot(root, name)
    for target in (None, 4000):
        splits = sent(snapshot.splits(raw=raw, now=NOW, target_bytes=target))
        assert splits or not expected
        found = of_arrow(joined(splits)) if splits else []
        assert found == expected, target
        assert {split.region for split in splits} <= {region.name for region in snapshot.regions}
        for one, following in zip(splits, splits[1:]):
            assert one.stop == following.start and one.path is None and one.estimated_bytes > 0


@pytest.mark.parametrize("name", sorted(MANIFEST["liveTables"]))
def test_the_splits_of_a_table_have_its_unflushed_cells(root, name):
    expected = truth(SNAPSHOTS / MANIFEST["liveTables"][name]["liveFile"])
    table = pyhfile.open_table(root, name)
    splits = sent(table.splits(now=NOW, with_wal=True, target_bytes=20_000))
    assert of_arrow(joined(splits)) == expected


def count_of(data):
    scan = pickle.loads(data).scan()
    return scan.count(), scan.data_blocks


def test_other_processes_read_splits(snapshot):
    scan = snapshot.scan(types={"f1:a": "string"}, families=None)
    splits = snapshot.splits(types={"f1:a": "string"}, target_bytes=4000)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        counts = list(pool.map(count_of, map(pickle.dumps, splits)))
    rows = scan.count()
    assert sum(count for count, _ in counts) == rows > 900
    assert all(0 < blocks < scan.data_blocks for _, blocks in counts)


def test_an_hfile_is_divided(tmp_path, monkeypatch):
    monkeypatch.chdir(HFILE.parent)
    file = pyhfile.open_hfile(HFILE.name)
    splits = sent(file.splits(raw=True, target_bytes=4000))
    monkeypatch.chdir(tmp_path)
    assert len(splits) > 4
    assert {split.path for split in splits} == {str(HFILE)} and splits[0].region is None
    expected = pyarrow.table(file.scan(raw=True))
    assert joined(splits) == expected
    narrow = file.splits(raw=True, start=splits[1].start, stop=splits[1].stop)
    assert len(narrow) == 1 and narrow[0].start == splits[1].start
    assert joined(narrow) == joined(splits[1:2])


def test_a_range_of_rows_has_the_splits_that_it_needs(snapshot):
    rows = [cell.row for cell in snapshot.cells()]
    start, stop = rows[100], rows[200]
    splits = snapshot.splits(start=start, stop=stop, target_bytes=2000)
    assert splits[0].start == start and splits[-1].stop == stop
    assert joined(splits) == pyarrow.table(snapshot.scan(start=start, stop=stop))
    assert len(snapshot.splits(target_bytes=2000)) > len(splits)
    assert snapshot.splits(start=b"zzz") == [] or joined(snapshot.splits(start=b"zzz")).num_rows == 0


def test_bytes_that_are_no_split_are_refused(snapshot, store_path):
    data = bytes(snapshot.splits()[0])
    for bad in [b"", b"pickle", data[:-1], data[:40] + b"x" + data[41:]]:
        with pytest.raises(ValueError, match="split"):
            pyhfile.Split(bad)
    with pytest.raises(ValueError, match="not of a store"):
        pyhfile.open_store(store_path).splits()
    with pytest.raises(ValueError, match="target_bytes"):
        snapshot.splits(target_bytes=0)
    with pytest.raises(pyhfile.NotFoundError, match="no family f9"):
        snapshot.splits(families="f9")
    assert "rows [" in repr(snapshot.splits()[0])


def test_files_are_found_in_the_archive(own_root):
    table = pyhfile.open_table(own_root, "t1")
    expected = pyarrow.table(table.scan(now=NOW))
    splits = sent(table.splits(now=NOW, target_bytes=20_000))
    archive = own_root / "archive" / "data" / "default" / "t1"
    for path in (own_root / "data" / "default" / "t1").glob("*/f*/*"):
        target = archive / path.parent.parent.name / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    assert joined(splits) == expected
    with pytest.raises(pyhfile.DamagedError, match="missing"):
        table.scan(now=NOW).read_all()


def test_regions_that_cannot_be_read_are_named(own_root):
    table = pyhfile.open_table(own_root, "t1")
    region = own_root / "data" / "default" / "t1" / table.regions[0].name
    region.rename(own_root / "gone")
    table = pyhfile.open_table(own_root, "t1")
    with pytest.raises(pyhfile.Error):
        table.splits()
    with pytest.warns(pyhfile.TableWarning, match="missing or incomplete"):
        splits = table.splits(skip_damaged=True, now=NOW)
    assert joined(splits) == pyarrow.table(table.scan(skip_damaged=True, now=NOW))


def test_a_scan_has_its_schema_and_its_count(snapshot, store_path):
    scan = snapshot.scan(types={"f1:a": "string"}, timestamps=True)
    table = pyarrow.table(scan)
    assert scan.schema == table.schema and scan.count() == table.num_rows
    assert pyhfile.open_store(store_path).scan().count() == len(list(pyhfile.open_store(store_path).cells()))


def test_parts_of_splits_have_ranges_of_their_rows(snapshot):
    rows = sorted({cell.row for cell in snapshot.cells(now=NOW)})
    ranges = [(rows[5], rows[9]), (rows[100], rows[100] + b"\0"), (rows[-3], None), (b"\xff", None)]
    for source in (snapshot, pyhfile.open_hfile(HFILE)):
        for arguments in ({}, {"target_bytes": 4000}, {"start": rows[7]}, {"prefix": rows[100]}):
            splits = source.splits(now=NOW, **arguments)
            parts = sent(part for split in splits for part in split.within(ranges))
            found = [cell for part in parts for cell in of_arrow(pyarrow.table(part.scan()))]
            arguments.pop("target_bytes", None)
            assert found == of_cells(
                cell
                for cell in source.cells(now=NOW, **arguments)
                if any(first <= cell.row and (stop is None or cell.row < stop) for first, stop in ranges)
            )
    assert snapshot.splits(stop=rows[5])[0].within(ranges) == []
