"""What Spark reads from a path: which files, and what is refused in place of a smaller frame. Without a JVM."""

import datetime
import os

import hfile
import pyarrow
import pytest

pytest.importorskip("pyspark.sql.datasource")

from hfile.spark import _read
from hfile.spark._options import Options
from hfile.spark._ranges import rows_of
from hfile.spark._read import HFileReader
from hfile.spark._schema import CELLS, Layout
from hfile.spark._target import COMMITTING, SUCCESS, TEMPORARY

from pyspark.sql.types import StringType, StructField, StructType, TimestampType


@pytest.fixture
def directory(tmp_path):
    """HFiles of two families, as a bulk load takes them; one begins with an underscore."""
    data = pyarrow.table({"row": ["a", "b"], "f:q": ["1", "2"], "_g:q": ["3", "4"], "_g:p": ["5", "6"]})
    hfile.write_hfiles(data, tmp_path / "out", row="row", timestamp=1)
    return tmp_path / "out"


def cells(path, schema=CELLS, **options):
    """The family, qualifier and value of each cell."""
    reader = HFileReader(Options({"path": str(path), **options}), schema)
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    rows = pyarrow.Table.from_batches(batches).to_pylist()
    return sorted((row["family"], row["qualifier"], row["value"]) for row in rows)


def test_all_families_are_read_and_options_choose_some(directory):
    of_f = [(b"f", b"q", b"1"), (b"f", b"q", b"2")]
    of_q = [(b"_g", b"q", b"3"), (b"_g", b"q", b"4")]
    of_g = [(b"_g", b"p", b"5"), (b"_g", b"p", b"6"), *of_q]
    assert cells(directory) == [*of_g, *of_f]
    assert cells(directory, families="f") == of_f
    assert cells(directory, families="f,_g") == [*of_g, *of_f]
    assert cells(directory, columns="_g:q,f:q") == [*of_q, *of_f]


def test_a_path_without_the_files_is_an_error_and_no_empty_frame(directory, tmp_path):
    with pytest.raises(ValueError, match="no HFile below .* has the family g; they have _g, f"):
        cells(directory, families="g")
    schema = StructType([StructField("row", StringType()), StructField("inof:name", StringType())])
    with pytest.raises(ValueError, match="has the family inof"):
        cells(directory, schema)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no HFile is below"):
        cells(tmp_path / "empty")
    with pytest.raises(ValueError, match="wal_root is for a table"):
        cells(directory, wal_root=str(tmp_path))


def test_a_directory_that_is_not_whole_is_refused(directory):
    (directory / TEMPORARY).mkdir()
    with pytest.raises(ValueError, match="is not whole.*has _temporary"):
        cells(directory)
    (directory / SUCCESS).touch()
    assert len(cells(directory)) == 6
    (directory / COMMITTING).touch()
    with pytest.raises(ValueError, match="is not whole.*has _committing"):
        cells(directory)


def test_a_family_or_file_of_a_directory_that_is_not_whole_is_refused(directory):
    assert len(cells(directory / "f")) == 2
    (file,) = (directory / "f").iterdir()
    assert len(cells(file)) == 2
    (directory / COMMITTING).touch()
    for path in (directory / "f", file):
        with pytest.raises(ValueError, match="out is not whole.*has _committing"):
            cells(path)


def test_a_file_whose_name_begins_with_an_underscore_is_read(directory):
    (file,) = (directory / "f").iterdir()
    file.rename(file.with_name("_" + file.name))
    (directory / "f" / ".hidden").write_bytes(b"no HFile")
    (directory / SUCCESS).touch()
    assert len(cells(directory)) == 6


def test_a_directory_that_cannot_be_listed_is_an_error(directory, monkeypatch):
    os.symlink(directory / "f", directory / "link")
    with pytest.raises(ValueError, match="link is a symbolic link to a directory, which is not followed"):
        cells(directory)
    os.unlink(directory / "link")
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("/f"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(PermissionError):
        cells(directory)


def test_columns_of_one_name_are_refused():
    fields = [StructField(name, StringType()) for name in ("row", "f:a", "f:\\x61")]
    with pytest.raises(ValueError, match="several columns of the schema are f:a"):
        Layout(StructType(fields))


def test_a_time_beyond_those_of_spark_names_its_row_or_is_null():
    schema = StructType([StructField("row", StringType()), StructField("f:t", TimestampType())])
    for far in (2**63 - 1, -(2**63), (2**63 - 1) // 1000 + 1):
        times = pyarrow.array([0, far], pyarrow.timestamp("ms", tz="UTC"))
        batch = pyarrow.record_batch({"row": ["a", "b"], "f:t": times})
        with pytest.raises(ValueError, match=f"row b, f:t: {far} ms are beyond the times of Spark"):
            Layout(schema).to_frame_columns(batch)
        found = Layout(schema, bad_as_null=True).to_frame_columns(batch).column(1)
        assert found.null_count == 1 and found[0].as_py() == datetime.datetime.fromtimestamp(0, datetime.timezone.utc)


def test_times_that_became_null_are_counted(tmp_path, monkeypatch):
    times = pyarrow.array([0, 2**62, -(2**63)], pyarrow.int64())
    data = pyarrow.table({"row": ["a", "b", "c"], "f:t": times})
    hfile.write_hfiles(data, tmp_path / "out", row="row", timestamp=1)
    schema = StructType([StructField("row", StringType()), StructField("f:t", TimestampType())])
    found = []
    monkeypatch.setattr(_read, "_write_counters", lambda _, counters: found.append(counters["bad_values"]))
    options = {"path": str(tmp_path / "out"), "on_error": "null", "counters": str(tmp_path)}
    reader = HFileReader(Options(options), schema)
    (part,) = reader.partitions()
    for _ in range(2):
        (batch,) = reader.read(part)
        assert batch.column(1).null_count == 2
    assert found == [2, 2]


class Counted:
    """A source that counts how often it is planned."""

    def __init__(self, source):
        self.source, self.planned = source, 0

    @property
    def __class__(self):
        return type(self.source)

    def __getattr__(self, name):
        return getattr(self.source, name)

    def splits(self, **arguments):
        self.planned += 1
        return self.source.splits(**arguments)


def test_each_region_is_planned_once_for_the_rows_of_a_list(snapshot, directory):
    (file,) = (directory / "f").iterdir()
    # A row between two regions is the first of the second one.
    starts = {region.start_key for region in snapshot.regions}
    for source, regions in ((snapshot, len(snapshot.regions)), (hfile.open_hfile(file), 1)):
        every = [cell[:-1] for cell in source.cells()]
        rows = {cell[0] for cell in every}
        keys = sorted({*sorted(rows)[1::7], *(starts & rows)})
        counted = Counted(source)
        # Rows that no region or file has are in one of them, or in none.
        ranges = rows_of([*keys, b"", b"none", b"\xff"])
        splits = list(_read._splits(counted, ranges, {"target_bytes": 4000}))
        found = [tuple(row.values())[:-1] for split in splits for row in split.scan().read_all().to_pylist()]
        assert found == [cell for cell in every if cell[0] in keys] and keys
        assert 1 <= counted.planned <= regions
    # Regions that overlap: the rows of the first one are also behind the second one.
    first, second, *_ = snapshot.regions
    counted = Counted(snapshot)
    counted.regions = [first._replace(end_key=b""), second._replace(end_key=second.start_key + b"\0")]
    keys = [b"row-00420", b"row-01006", b"row-02012"]
    parts = list(_read._splits(counted, rows_of(keys), {}))
    assert [part.start for part in parts] == keys and counted.planned == 1
    # Rows of one region need no other.
    counted = Counted(snapshot)
    assert len(list(_read._splits(counted, rows_of(keys[:1] * 2 + [b"a"]), {}))) and counted.planned == 1
