"""What Spark reads from a path: which files, and what is refused in place of a smaller frame. Without a JVM."""

import datetime
import os

import pyhfile
import pyarrow
import pytest

pytest.importorskip("pyspark.sql.datasource")

from pyhfile.spark import _read
from pyhfile.spark._options import Options
from pyhfile.spark._read import HFileReader
from pyhfile.spark._schema import CELLS, Layout
from pyhfile.spark._target import COMMITTING, SUCCESS, TEMPORARY

from pyspark.sql.types import StringType, StructField, StructType, TimestampType


@pytest.fixture
def directory(tmp_path):
    """HFiles of two families, as a bulk load takes them; one begins with an underscore."""
    data = pyarrow.table({"row": ["a", "b"], "f:q": ["1", "2"], "_g:q": ["3", "4"], "_g:p": ["5", "6"]})
    pyhfile.write_hfiles(data, tmp_path / "out", row="row", timestamp=1)
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
    pyhfile.write_hfiles(data, tmp_path / "out", row="row", timestamp=1)
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


def test_what_damage_took_from_a_task_is_warned_of_and_counted(own_root, tmp_path, monkeypatch):
    snapshot = pyhfile.open_snapshot(own_root, "s1")
    whole = len(snapshot.scan(families="f1").read_all())
    path = next(path for path in own_root.glob("**/f1/*") if path.stat().st_size > 20_000 and path.is_file())
    damaged = bytearray(path.read_bytes())
    damaged[9000:9010] = bytes(10)
    path.write_bytes(damaged)
    options = {"root": str(own_root), "snapshot": "s1", "families": "f1", "counters": str(tmp_path)}

    def read(**more):
        reader = HFileReader(Options({**options, **more}), CELLS)
        return sum(len(batch) for part in reader.partitions() for batch in reader.read(part))

    found = []
    monkeypatch.setattr(_read, "_write_counters", lambda _, counters: found.extend(counters["missing"]))
    with pytest.raises(pyhfile.DamagedError, match=path.name):
        read()
    # Twice: workers live on, and each query tells of its own losses.
    for _ in range(2):
        with pytest.warns(pyhfile.TableWarning, match=f"{path.name}.*rows between row-.* may be missing"):
            assert 0 < read(skip_damaged="true") < whole
    assert len(found) == 2 and path.name in found[0]
    with pytest.raises(ValueError, match="skip_damaged"):
        cells(path, skip_damaged="true")


def test_a_range_that_ends_before_it_begins_is_refused(own_root):
    options = {"root": str(own_root), "snapshot": "s1", "start": "b", "stop": "a"}
    with pytest.raises(ValueError, match="start b is greater than stop a"):
        HFileReader(Options(options), CELLS).partitions()
