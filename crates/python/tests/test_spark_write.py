"""Spark writes frames as HFiles for HBase's bulk load: in local mode, and the directory's rules without Spark."""

import bisect
import errno
import fcntl
import os
import pathlib
import random

import pyhfile
import pytest

import spark_session

spark_session.skip_unless_asked()

from conftest import of_cells

import pyhfile.spark
from pyhfile.spark import _target
from pyhfile.spark._options import Options
from pyhfile.spark._order import WrittenRange, check_no_overlap
from pyhfile.spark._sources import _paths
from pyhfile.spark._target import Move, Target
from pyhfile.spark._write import HFileWriter

import pyspark.errors
from pyspark.sql import functions
from pyspark.sql.types import StringType, StructField, StructType

import test_bulk_load
from test_bulk_load import judge  # noqa: F401: a fixture

NOW = 1_700_000_000_000
SPLITS = [b"row0100", b"row0101,\xff", b"row0400"]


@pytest.fixture(scope="module")
def spark():
    spark = spark_session.start("local[2]")
    yield spark
    spark.stop()


def write(frame, directory, mode="append", **options):
    options = {"row": "id", "timestamp": NOW, **options}
    writer = frame.write.format("hbase-files").options(**options).mode(mode)
    writer.save(str(directory))


def files_of(directory):
    return sorted(
        path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()
    )


def read(directory):
    """The cells of all files, after a check that the set is whole and has nothing else."""
    names = files_of(directory)
    assert "_SUCCESS" in names and not (directory / "_temporary").exists()
    files = [directory / name for name in names if name != "_SUCCESS"]
    return sorted(cell for file in files for cell in of_cells(pyhfile.open_hfile(file).cells()))


def people(spark):
    """Rows in random order, of all types, with nulls, and their cells."""
    table, cells = test_bulk_load.frame()
    frame = spark.createDataFrame(table).repartition(3)
    return frame, sorted(
        (row, family.encode(), qualifier.encode(), NOW, "Put", value, None)
        for row, family, qualifier, value in cells
    )


def test_each_region_and_family_is_a_file(spark, tmp_path):
    frame, cells = people(spark)
    ready = pyhfile.spark.for_bulk_load(frame, "id", SPLITS)
    assert ready.columns == frame.columns
    write(ready, tmp_path / "out", splits=pyhfile.spark.splits_option(SPLITS), compression="LZ4")
    assert read(tmp_path / "out") == cells
    for family in ("f", "g"):
        files = [pyhfile.open_hfile(path) for path in (tmp_path / "out" / family).iterdir()]
        ranges = sorted((file.first_row, file.last_row) for file in files)
        regions = [[bisect.bisect(SPLITS, row) for row in rows] for rows in ranges]
        assert regions == [[0, 0], [1, 1], [2, 2], [3, 3]]
        assert {file.compression for file in files} == {"LZ4"}


def test_files_of_one_region_are_those_of_write_hfiles(spark, tmp_path):
    table, _ = test_bulk_load.frame()
    options = {"create_time": NOW, "encoding": "FAST_DIFF", "bloom": "ROWCOL"}
    ready = pyhfile.spark.for_bulk_load(spark.createDataFrame(table), "id", [])
    write(ready, tmp_path / "spark", **options)
    pyhfile.write_hfiles(table, tmp_path / "plain", row="id", timestamp=NOW, **options)
    for family in ("f", "g"):
        found, expected = (
            [path.read_bytes() for path in (tmp_path / directory / family).iterdir()]
            for directory in ("spark", "plain")
        )
        assert found == expected


def test_regions_are_numbered_by_the_bytes_of_the_rows(spark):
    draw = random.Random(3)
    keys = [bytes(draw.choices([0, 44, 92, 97, 128, 255], k=draw.randrange(1, 4))) for _ in range(900)]
    splits = sorted(set(draw.sample(keys, 300)))
    frame = spark.createDataFrame([(key,) for key in keys], "`a.b` binary")
    ready = pyhfile.spark.for_bulk_load(frame, "a.b", splits)
    placed = ready.select("`a.b`", functions.spark_partition_id()).collect()
    # Spark 4.1 and later give each region its task.
    assert [bisect.bisect(splits, key) for key, _ in placed] == [task for _, task in placed]
    assert [bytes(key) for key, _ in placed] == sorted(keys)


def test_any_tasks_that_do_not_overlap_make_the_files_of_regions(spark, tmp_path):
    frame, cells = people(spark)
    # Three tasks, whose limits are not those of the regions.
    ranges = frame.repartitionByRange(3, "id").sortWithinPartitions("id")
    write(ranges, tmp_path / "out", splits=pyhfile.spark.splits_option(SPLITS))
    assert read(tmp_path / "out") == cells
    for path in (tmp_path / "out" / "f").iterdir():
        file = pyhfile.open_hfile(path)
        assert bisect.bisect(SPLITS, file.first_row) == bisect.bisect(SPLITS, file.last_row)


def test_columns_types_and_cells_can_be_chosen(spark, tmp_path):
    frame = spark.sql(
        "SELECT 'a' AS id, DATE '1970-01-03' AS day, 5 AS n, TIMESTAMP '2023-11-14 22:13:20Z' AS at"
    )
    write(
        frame,
        tmp_path / "out",
        columns='{"day": "f:day", "n": "g:n"}',
        types='{"f:day": "int32"}',
        timestamp="at",
    )
    assert read(tmp_path / "out") == [
        (b"a", b"f", b"day", NOW, "Put", b"\0\0\0\x02", None),
        (b"a", b"g", b"n", NOW, "Put", b"\0\0\0\x05", None),
    ]
    write(frame.withColumnRenamed("n", "f:n"), tmp_path / "listed", columns="f:n")
    assert [cell[2] for cell in read(tmp_path / "listed")] == [b"n"]
    cells = spark.createDataFrame(
        [(b"r", b"f", b"q", 7, "DeleteColumn", b""), (b"r", b"f", b"q", 5, "Put", b"v")],
        "row binary, family binary, qualifier binary, timestamp long, type string, value binary",
    )
    cells.coalesce(1).write.format("hbase-files").mode("append").save(str(tmp_path / "cells"))
    (file,) = (tmp_path / "cells" / "f").iterdir()
    assert [cell[3:6] for cell in pyhfile.open_hfile(file).cells(raw=True)] == [
        (7, "DeleteColumn", b""),
        (5, "Put", b"v"),
    ]


def test_an_empty_frame_commits(spark, tmp_path):
    frame, _ = people(spark)
    for name, empty in (("rows", frame.limit(0)), ("tasks", spark.createDataFrame([], frame.schema))):
        write(empty, tmp_path / name)
        assert files_of(tmp_path / name) == ["_SUCCESS"]


def test_a_row_out_of_order_fails_and_names_both_rows(spark, tmp_path):
    frame = spark.createDataFrame([("b\0", 1), ("a", 2)], "id string, `f:n` int").coalesce(1)
    with pytest.raises(pyspark.errors.PySparkException, match=r"row a comes after row b\\x00.*for_bulk_load"):
        write(frame, tmp_path / "out")
    assert files_of(tmp_path / "out") == []


def test_tasks_that_overlap_are_refused(spark, tmp_path):
    frame = spark.createDataFrame([("a", 1), ("c", 3), ("b", 2), ("d", 4)], "id string, `f:n` int")
    with pytest.raises(pyspark.errors.PySparkException, match="family f: rows .* of task . and .* overlap"):
        write(frame.coalesce(2).sortWithinPartitions("id"), tmp_path / "out")
    assert files_of(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compresion": "LZ4"}, "unknown option compresion; known are .*compression"),
        ({"row": "key"}, "no column is named key; known are id, f:n"),
        ({"row": "f:n"}, "column f:n has the type int, but row keys must be string or binary"),
        ({"block_size": "much"}, "option block_size must be an integer, not much"),
        ({"columns": '{"f:n": 5}'}, "option columns must be a JSON object"),
        ({"splits": "b,a"}, "splits must ascend, but b does not sort before a"),
    ],
)
def test_wrong_options_are_refused_before_any_task(options, message, spark, tmp_path):
    frame = spark.createDataFrame([("a", 1)], "id string, `f:n` int")
    with pytest.raises(pyspark.errors.PySparkException, match=message):
        write(frame, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_a_cell_fails(spark, tmp_path):
    frame = spark.createDataFrame([(None, 1)], "id string, `f:n` int")
    with pytest.raises(pyspark.errors.PySparkException, match="record 1"):
        write(frame, tmp_path / "out")
    with pytest.raises(TypeError, match="column n has the type int.*cast"):
        pyhfile.spark.for_bulk_load(spark.sql("SELECT 1 AS n"), "n", [])
    with pytest.raises(ValueError, match="splits must ascend"):
        pyhfile.spark.for_bulk_load(frame, "id", ["b", "b"])
    with pytest.raises(pyspark.errors.PySparkException, match="hdfs is not read or written"):
        frame.write.format("hbase-files").option("row", "id").mode("append").save("hdfs://a/b")


def test_a_second_run_adds_files_or_replaces_them(spark, tmp_path):
    frame = spark.createDataFrame([("a", 1)], "id string, `f:n` int")
    other = spark.createDataFrame([("b", 2)], "id string, `g:n` int")
    write(frame, tmp_path / "out")
    write(other, tmp_path / "out")
    assert [cell[:2] for cell in read(tmp_path / "out")] == [(b"a", b"f"), (b"b", b"g")]
    write(other, tmp_path / "out", mode="overwrite")
    assert [cell[:2] for cell in read(tmp_path / "out")] == [(b"b", b"g")]


# The directory, without Spark.


def attempt(target, number, family, content=b"data"):
    """Writes a file as a task does."""
    directory = pathlib.Path(target.attempt(number)) / family
    directory.mkdir(parents=True)
    name = f"{number:032x}"
    (directory / name).write_bytes(content)
    return Move(str(number), family, name, len(content))


def begun(path, job="job", overwrite=False):
    target = Target(str(path), job, overwrite)
    assert target.begin() == []
    return target


def test_only_files_that_tasks_named_are_committed(tmp_path):
    target = begun(tmp_path / "out")
    moves = [attempt(target, 1, "f"), attempt(target, 3, "g")]
    attempt(target, 2, "f", b"of an attempt that lost")
    target.commit(moves)
    assert files_of(tmp_path / "out") == ["_SUCCESS", f"f/{1:032x}", f"g/{3:032x}"]
    assert not (tmp_path / "out" / "_temporary").exists()
    with pytest.raises(FileNotFoundError, match="no such directory on this worker"):
        target.attempt(4)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("step", range(3))
def test_a_commit_that_ends_between_two_moves_is_seen(step, overwrite, tmp_path, monkeypatch):
    out = tmp_path / "out"
    first = begun(out)
    first.commit([attempt(first, 9, "f")])
    target = begun(out, "second", overwrite)
    moves = [attempt(target, number, "f") for number in range(3)]
    rename, done = os.rename, []

    def fail(*paths):
        if len(done) == step:
            raise KeyboardInterrupt
        done.append(paths)
        rename(*paths)

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(KeyboardInterrupt):
        target.commit(moves)
    monkeypatch.undo()
    assert "_SUCCESS" not in files_of(out)
    with pytest.raises(FileExistsError, match="has _committing: the job second commits there.*overwrite"):
        Target(str(out), "third", False).begin()
    # Spark aborts a job whose commit failed: no file is lost, of either job.
    target.abort()
    kept = sorted(path.name for path in out.rglob("*") if len(path.name) == 32)
    assert kept == [f"{number:032x}" for number in (0, 1, 2, 9)]
    with pytest.raises(ValueError, match="is not whole: a job writes it, or ended"):
        _paths(str(out))
    last = Target(str(out), "last", True)
    assert last.begin() == [str(out / "_temporary" / "second")]
    last.commit([attempt(last, 7, "f")])
    assert files_of(out) == ["_SUCCESS", f"f/{7:032x}"]


def test_what_an_aborted_job_leaves_is_named_and_removed_only_by_overwrite(tmp_path):
    out = tmp_path / "out"
    target = begun(out)
    attempt(target, 1, "f")
    target.abort()
    assert files_of(out) == []
    # An attempt that did not know writes on.
    late = out / "_temporary" / "job" / "2" / "f"
    late.mkdir(parents=True)
    (late / "file").write_bytes(b"late")
    for overwrite, is_left in ((False, True), (True, False)):
        target = Target(str(out), f"next-{overwrite}", overwrite)
        assert target.begin() == [str(out / "_temporary" / "job")]
        target.commit([attempt(target, 5 + overwrite, "f")])
        assert late.exists() == is_left
        assert "_SUCCESS" in files_of(out)


@pytest.mark.parametrize("overwrite", [False, True])
def test_two_jobs_do_not_commit_at_a_time(overwrite, tmp_path, monkeypatch):
    out = tmp_path / "out"
    one, other = begun(out, "one"), Target(str(out), "other", overwrite)
    other.begin()
    moves = {target: [attempt(target, number, "f")] for target, number in ((one, 1), (other, 2))}
    rename = os.rename

    def commit_other(*paths):
        with pytest.raises(FileExistsError, match="has _committing: the job one commits there"):
            other.commit(moves[other])
        rename(*paths)

    monkeypatch.setattr(os, "rename", commit_other)
    one.commit(moves[one])
    monkeypatch.undo()
    assert files_of(out) == ["_SUCCESS", f"_temporary/other/2/f/{2:032x}", f"f/{1:032x}"]
    other.commit(moves[other])
    of_one = [] if overwrite else [f"f/{1:032x}"]
    assert files_of(out) == ["_SUCCESS", *of_one, f"f/{2:032x}"]


def test_a_job_that_ends_while_another_takes_its_lock_is_no_owner_of_it(tmp_path, monkeypatch):
    out = tmp_path / "out"
    target = begun(out, "one", overwrite=True)
    committing = out / "_committing"
    committing.write_text("earlier")
    flock, earlier = fcntl.flock, []

    def lock_after_the_earlier_job_has_ended(*arguments):
        if not earlier:
            earlier.append(committing.unlink())
        flock(*arguments)

    monkeypatch.setattr(fcntl, "flock", lock_after_the_earlier_job_has_ended)
    lock = target._lock()
    assert committing.read_text() == "one"
    assert committing.stat().st_ino == os.fstat(lock).st_ino
    os.close(lock)


def test_an_overwrite_removes_other_jobs_only_while_none_of_them_can_commit(tmp_path, monkeypatch):
    out = tmp_path / "out"
    other, one = begun(out, "other"), Target(str(out), "one", True)
    one.begin()
    moves = {target: [attempt(target, number, "f")] for target, number in ((one, 1), (other, 2))}
    remove_tree, refused = _target._remove_tree, []

    def commit_other(path):
        with pytest.raises(FileExistsError, match="has _committing: the job one commits there"):
            other.commit(moves[other])
        refused.append(path)
        remove_tree(path)

    monkeypatch.setattr(_target, "_remove_tree", commit_other)
    one.commit(moves[one])
    assert refused == [str(out / "_temporary" / "other")]
    assert files_of(out) == ["_SUCCESS", f"f/{1:032x}"]


def test_a_job_whose_files_an_overwrite_has_removed_changes_nothing(tmp_path, monkeypatch):
    out = tmp_path / "out"
    late, one = begun(out, "late"), Target(str(out), "one", True)
    one.begin()
    moves = {target: [attempt(target, number, "f")] for target, number in ((one, 1), (late, 2))}
    lock = Target._lock

    def lock_after_one_has_committed(target):
        if target is late:
            one.commit(moves[one])
        return lock(target)

    monkeypatch.setattr(Target, "_lock", lock_after_one_has_committed)
    with pytest.raises(FileNotFoundError, match="the driver does not see it"):
        late.commit(moves[late])
    assert files_of(out) == ["_SUCCESS", f"f/{1:032x}"]


def test_a_job_that_another_precedes_in_locking_its_file_leaves_the_file(tmp_path, monkeypatch):
    out = tmp_path / "out"
    target = begun(out, "late")
    committing, flock, held = out / "_committing", fcntl.flock, []

    def lock_after_another_job(*arguments):
        if not held:
            held.append(os.open(committing, os.O_RDWR))
            flock(held[0], fcntl.LOCK_EX)
            committing.write_text("other")
        flock(*arguments)

    monkeypatch.setattr(fcntl, "flock", lock_after_another_job)
    with pytest.raises(FileExistsError, match="has _committing: the job other commits there"):
        target.commit([attempt(target, 1, "f")])
    assert committing.read_text() == "other"
    os.close(held[0])


def test_a_directory_that_another_job_left_half_done_is_not_appended_to(tmp_path, monkeypatch):
    out = tmp_path / "out"
    first = begun(out, "first")
    first.commit([attempt(first, 1, "f")])
    target = begun(out, "late")
    lock = Target._lock

    def lock_after_another_has_died(target):
        (out / "_SUCCESS").unlink()
        (out / "_committing").write_text("died")
        monkeypatch.setattr(Target, "_is_whole", lambda target: True)
        found = lock(target)
        monkeypatch.undo()
        return found

    monkeypatch.setattr(Target, "_lock", lock_after_another_has_died)
    with pytest.raises(FileExistsError, match="has files without _SUCCESS: a job ended"):
        target.commit([attempt(target, 2, "f")])
    assert (out / "_committing").exists() and not (out / "f" / f"{2:032x}").exists()


def test_a_lock_that_cannot_be_written_is_not_left(tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out"
    target = begun(out)
    moves = [attempt(target, 1, "f")]
    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match="No space"):
        target.commit(moves)
    monkeypatch.undo()
    assert not (out / "_committing").exists()
    target.commit(moves)
    assert files_of(out) == ["_SUCCESS", f"f/{1:032x}"]


def test_the_mark_of_a_job_that_died_when_all_was_done_hinders_nobody(tmp_path):
    out = tmp_path / "out"
    first = begun(out, "first")
    first.commit([attempt(first, 1, "f")])
    (out / "_committing").write_text("first")
    second = begun(out, "second")
    second.commit([attempt(second, 2, "f")])
    assert files_of(out) == ["_SUCCESS", f"f/{1:032x}", f"f/{2:032x}"]


def test_without_locks_a_job_that_may_run_is_not_replaced(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(errno.ENOLCK, "No locks available")

    out = tmp_path / "out"
    monkeypatch.setattr(fcntl, "flock", refuse)
    target = begun(out)
    target.commit([attempt(target, 1, "f")])
    (out / "_committing").write_text("earlier")
    target = Target(str(out), "next", True)
    target.begin()
    moves = [attempt(target, 2, "f")]
    with pytest.raises(OSError, match="cannot be locked.*whether the job earlier still commits.*remove this file"):
        target.commit(moves)
    (out / "_committing").unlink()
    target.commit(moves)
    assert files_of(out) == ["_SUCCESS", f"f/{2:032x}"]


def test_a_commit_that_cannot_move_a_file_names_where_the_files_are(tmp_path, monkeypatch):
    target = begun(tmp_path / "out")
    moves = [attempt(target, 1, "f")]

    def fail(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="the commit stopped after it had begun: .*No space.*_temporary/job"):
        target.commit(moves)
    target.abort()
    assert f"_temporary/job/1/f/{1:032x}" in files_of(tmp_path / "out")


def test_families_with_names_of_the_target_are_refused(tmp_path):
    target = begun(tmp_path / "out")
    with pytest.raises(ValueError, match="a family named _SUCCESS cannot be written"):
        target.commit([attempt(target, 1, "_SUCCESS")])


def test_the_first_task_refuses_such_a_family(spark, tmp_path):
    data = spark.createDataFrame([("a", "v")], ["id", "_SUCCESS:q"])
    with pytest.raises(pyspark.errors.PySparkException, match="a family named _SUCCESS cannot be written"):
        data.write.format("hbase-files").options(row="id").mode("append").save(str(tmp_path / "out"))
    assert files_of(tmp_path / "out") == []


def test_a_writer_warns_of_what_an_aborted_job_left(tmp_path):
    left = tmp_path / "out" / "_temporary" / "0123"
    left.mkdir(parents=True)
    options = Options({"path": str(tmp_path / "out"), "row": "id"})
    schema = StructType([StructField("id", StringType())])
    with pytest.warns(pyhfile.TableWarning, match=f"{left}: left by an aborted job"):
        HFileWriter(options, schema, overwrite=False)


def test_files_that_no_job_wrote_are_not_replaced(tmp_path):
    for name in ("notes.txt", "f/notes.txt"):
        out = tmp_path / f"out{len(name)}"
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("mine")
        for overwrite in (False, True):
            with pytest.raises(FileExistsError, match="notes.txt is not a part of"):
                Target(str(out), "job", overwrite).begin()
        assert files_of(out) == [name]


def test_a_file_that_the_driver_does_not_see_is_an_error(tmp_path):
    target = begun(tmp_path / "out")
    move = attempt(target, 1, "f")
    with pytest.raises(OSError, match="has 4 bytes, but its task wrote 5"):
        target.commit([move._replace(size=5)])
    with pytest.raises(FileNotFoundError, match="the driver does not see it"):
        target.commit([move, move._replace(attempt="2")])
    assert [name for name in files_of(tmp_path / "out") if not name.startswith("_")] == []


def test_ranges_may_touch_but_not_overlap():
    check_no_overlap([WrittenRange("f", b"a", b"b", "0"), WrittenRange("f", b"c", b"d", "1")])
    check_no_overlap([WrittenRange("f", b"a", b"c", "0"), WrittenRange("g", b"b", b"d", "1")])
    # The limits of regions divide what a task wrote.
    check_no_overlap([WrittenRange("f", b"a", b"b", "0"), WrittenRange("f", b"c", b"c", "0")])
    for wrong in (
        [WrittenRange("f", b"a", b"b", "0"), WrittenRange("f", b"b", b"d", "1")],
        [WrittenRange("f", b"a", b"z", "0"), WrittenRange("f", b"b", b"c", "0"), WrittenRange("f", b"d", b"e", "1")],
    ):
        with pytest.raises(ValueError, match="overlap"):
            check_no_overlap(wrong)


@pytest.mark.skipif(os.environ.get("HBASE_JUDGE") != "1", reason="needs real HBase: set HBASE_JUDGE=1")
def test_hbase_loads_what_spark_wrote_and_returns_every_cell(judge, spark, tmp_path):  # noqa: F811
    table, cells = test_bulk_load.frame()
    splits = test_bulk_load.SPLITS
    ready = pyhfile.spark.for_bulk_load(spark.createDataFrame(table).repartition(3), "id", splits)
    options = {"compression": "LZ4", "encoding": "FAST_DIFF", "bloom": "ROWCOL"}
    write(ready, tmp_path / "out", splits=pyhfile.spark.splits_option(splits), **options)
    test_bulk_load.load_and_compare(judge, tmp_path / "out", cells)
