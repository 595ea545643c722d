"""A scan returns the chosen rows, families, columns, versions and times, and reads no other blocks."""

import pyhfile
import pyarrow
import pytest

from conftest import DATA, MANIFEST, NOW, SNAPSHOTS, of_cells, truth


def choices(cells):
    """Yields keyword arguments, and whether a cell is chosen by them."""
    low, high = cells[len(cells) // 3][0], cells[len(cells) // 2][0]
    family, qualifier = cells[0][1], cells[0][2]
    times = sorted(cell[3] for cell in cells)
    first, last = times[len(times) // 4], times[len(times) // 2]
    column = family + b":" + qualifier
    yield {"start": low, "stop": high}, lambda cell: low <= cell[0] < high
    yield {"start": high}, lambda cell: cell[0] >= high
    yield {"stop": low.decode()}, lambda cell: cell[0] < low
    yield {"prefix": high[:-1]}, lambda cell: cell[0].startswith(high[:-1])
    yield {"families": family}, lambda cell: cell[1] == family
    yield {"columns": [column]}, lambda cell: cell[1:3] == (family, qualifier)
    yield {"columns": column.decode(), "start": low}, lambda cell: (
        cell[1:3] == (family, qualifier) and cell[0] >= low
    )
    yield (
        {"min_timestamp": first, "max_timestamp": last},
        lambda cell: first <= cell[3] < last,
    )


@pytest.mark.parametrize("name", ["s4", "s10", "s6"])
def test_a_snapshot_is_read_in_part(root, name):
    cells = truth(SNAPSHOTS / MANIFEST["snapshots"][name]["rawFile"])
    snapshot = pyhfile.open_snapshot(root, name)
    for choice, is_chosen in choices(cells):
        expected = [cell for cell in cells if is_chosen(cell)]
        assert of_cells(snapshot.cells(raw=True, **choice)) == expected, choice
        assert pyarrow.table(snapshot.scan(raw=True, **choice)).num_rows == len(expected), choice


def test_an_hfile_is_read_in_part():
    path = DATA / "hfile" / "s01-default.hfile"
    cells = truth(DATA / "hfile" / "s01-default.cells.ndjson.gz")
    file = pyhfile.open_hfile(path)
    for choice, is_chosen in choices(cells):
        expected = [cell for cell in cells if is_chosen(cell)]
        assert of_cells(file.cells(raw=True, **choice)) == expected, choice


def test_get_returns_one_row(root, store_path):
    cells = truth(SNAPSHOTS / MANIFEST["snapshots"]["s4"]["cellsFile"])
    row = cells[len(cells) // 2][0]
    path = DATA / "hfile" / "s01-default.hfile"
    stored = truth(DATA / "store" / "overlap" / "expect" / "v3.cells.ndjson.gz")
    for source, row, cells, options in [
        (pyhfile.open_snapshot(root, "s4"), row, cells, {"now": NOW}),
        (pyhfile.open_store(store_path), stored[9][0], stored, {}),
        (pyhfile.open_hfile(path), None, None, {"raw": True}),
    ]:
        if cells is None:
            cells = truth(DATA / "hfile" / "s01-default.cells.ndjson.gz")
            row = cells[7][0]
        expected = [cell for cell in cells if cell[0] == row]
        assert expected
        assert of_cells(source.get(row, **options)) == expected
        assert of_cells(source.get(row.decode(), **options)) == expected
        assert source.get(b"no such row", **options) == []
        one = expected[0]
        column = one[1] + b":" + one[2]
        assert of_cells(source.get(row, columns=column, versions=1, **options)) == [one]


def test_a_row_range_reads_fewer_blocks():
    file = pyhfile.open_hfile(DATA / "hfile" / "p01-prefix-lz4-row.hfile")  # Blocks of 2 KiB.
    rows = [cell.row for cell in file.cells(raw=True)]
    every, few = file.scan(raw=True), file.scan(raw=True, start=rows[500], stop=rows[501] + b"\0")
    assert pyarrow.table(every).num_rows == len(rows)
    assert pyarrow.table(few).num_rows > 0
    assert 0 < few.data_blocks <= 2 < 10 < every.data_blocks


def test_cells_are_named_tuples(snapshot):
    cell = next(snapshot.cells())
    row, family, qualifier, timestamp, kind, value, tags, sequence_id = cell
    assert cell == pyhfile.Cell(row, family, qualifier, timestamp, kind, value, tags, sequence_id)
    assert (cell.row, cell.type) == (row, "Put")
    assert sequence_id > 0


def test_attributes_describe_the_source(root, snapshot, store_path):
    assert pyhfile.list_snapshots(root) == sorted(MANIFEST["snapshots"])
    assert "ns1:t4" not in pyhfile.list_tables(root) and "t1" in pyhfile.list_tables(root)
    assert isinstance(snapshot, pyhfile.Table) and isinstance(snapshot, pyhfile.Source)
    assert (snapshot.name, snapshot.snapshot_name, snapshot.kind) == ("t1", "s4", "FLUSH")
    assert (snapshot.ttl, snapshot.is_expired, snapshot.problems) == (None, False, [])
    assert snapshot.families["f1"]["VERSIONS"] == "3"
    regions = snapshot.regions
    assert [region.name for region in regions] == MANIFEST["liveTables"]["t1"]["regions"]
    assert regions[0].start_key == regions[-1].end_key == b""
    assert all(one.end_key == next.start_key for one, next in zip(regions, regions[1:]))
    assert "t1" in repr(snapshot) and "Snapshot" in repr(snapshot)
    store = pyhfile.open_store(store_path)
    assert store.families["f"]["VERSIONS"] == "3" and store.path == str(store_path)
    file = pyhfile.open_hfile(DATA / "hfile" / "p01-prefix-lz4-row.hfile")
    assert (file.encoding, file.compression, file.family) == ("PREFIX", "LZ4", b"f")
    assert file.first_row == b"user0000000113" and file.size == 32160
    assert b"hfile.AVG_KEY_LEN" in file.file_info and file.time_range == (0, 2**63 - 2)


def test_ranges_and_numbers_that_choose_nothing_are_refused(snapshot, store_path):
    file = pyhfile.open_hfile(DATA / "hfile" / "p01-prefix-lz4-row.hfile")
    for source in [snapshot, file, pyhfile.open_store(store_path)]:
        with pytest.raises(ValueError, match="start b is greater than stop a"):
            pyarrow.table(source.scan(start="b", stop="a"))
        assert pyarrow.table(source.scan(start="b", stop="b")).num_rows == 0
    with pytest.raises(ValueError, match="threads must be at least 1"):
        snapshot.scan(threads=0)
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        snapshot.scan(batch_size=0)


def test_a_type_has_the_name_of_the_command_line_and_other_ones(snapshot):
    for names in [["binary-hex", "binary"], ["string", "text"]]:
        tables = [
            pyarrow.table(snapshot.scan(types={"f1:a": name}, stop="row-00010")) for name in names
        ]
        assert tables[0] == tables[1] and tables[0].num_rows > 0
    with pytest.raises(ValueError, match="types are string, .*, binary-hex"):
        snapshot.scan(types={"f1:a": "varchar"})
