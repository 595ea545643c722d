"""Spark in a cluster: workers and executors die, tasks run twice, and the driver dies while it commits."""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys

import pytest

import spark_session

spark_session.skip_unless_asked()

from spark_faults import FAULTS, FaultyFiles

import pyhfile.spark
from pyhfile.spark._sources import _paths

from pyspark.sql import functions

from test_spark_write import NOW, files_of, read

ROWS, REGIONS = 3000, 6
SPLITS = [f"row{ROWS // REGIONS * number:05}" for number in range(1, REGIONS)]
CELLS = [
    (f"row{number:05}".encode(), b"f", b"n", NOW, "Put", number.to_bytes(8, "big"), None)
    for number in range(ROWS)
]


def frame(spark):
    """The rows of CELLS in another order."""
    numbers = spark.range(ROWS).repartition(2)
    return numbers.select(functions.format_string("row%05d", "id").alias("id"), numbers.id.alias("f:n"))


def write(spark, directory, splits=SPLITS, mode="append", **faults):
    ready = pyhfile.spark.for_bulk_load(frame(spark), "id", splits)
    options = {"row": "id", "timestamp": NOW, "splits": pyhfile.spark.splits_option(splits), **faults}
    ready.write.format("faulty-files").options(**options).mode(mode).save(str(directory))


@pytest.fixture(scope="module")
def cluster():
    # Small batches, so that a fault within a task has batches before and after it.
    spark = spark_session.start(
        "local-cluster[2,1,1024]",
        spark_executor_memory="1g",
        spark_sql_execution_arrow_maxRecordsPerBatch=100,
    )
    spark.dataSource.register(FaultyFiles)
    yield spark
    spark.stop()


@pytest.mark.parametrize("place", ["within", "after"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_survives_a_fault(fault, place, cluster, tmp_path):
    write(cluster, tmp_path / "out", fault=fault, place=place, flag=str(tmp_path / "flag"))
    assert (tmp_path / "flag").exists()
    assert read(tmp_path / "out") == CELLS
    assert len(files_of(tmp_path / "out")) == REGIONS + 1


@contextlib.contextmanager
def standalone():
    """A master, and workers with one core on two addresses of this machine: Spark repeats a task on another host only."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    spark_class = pathlib.Path(os.environ["SPARK_HOME"]) / "bin" / "spark-class"
    deploy = "org.apache.spark.deploy"
    processes = []

    def begin(name, *arguments):
        command = [spark_class, f"{deploy}.{name}", *arguments]
        environment = {**os.environ, "SPARK_DAEMON_MEMORY": "256m"}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        processes.append(subprocess.Popen(command, env=environment, **quiet))

    begin("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    for host in ("127.0.0.2", "127.0.0.3"):
        begin("worker.Worker", "--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0", master)
    try:
        yield master
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def speculating():
    with standalone() as master:
        spark = spark_session.start(
            master,
            spark_executor_memory="512m",
            spark_speculation="true",
            spark_speculation_interval="100ms",
            spark_speculation_multiplier="1.1",
            spark_speculation_quantile="0.3",
            spark_speculation_minTaskRuntime="100ms",
            spark_sql_execution_arrow_maxRecordsPerBatch=100,
        )
        spark.dataSource.register(FaultyFiles)
        yield spark
        spark.stop()


@pytest.mark.parametrize("place", ["within", "after"])
def test_a_task_that_runs_twice_writes_its_rows_once(place, speculating, tmp_path):
    write(speculating, tmp_path / "out", fault="slow", place=place, flag=str(tmp_path / "flag"))
    # The job did not wait for the slow attempt.
    assert (tmp_path / "flag").exists() and not (tmp_path / "flag.ended").exists()
    names = files_of(tmp_path / "out")
    assert "_SUCCESS" in names
    assert len([name for name in names if name.startswith("f/")]) == REGIONS
    # An attempt that was not killed yet can have left files, which belong to no family.
    rows = [
        row.row
        for name in names
        if name.startswith("f/")
        for row in pyhfile.open_hfile(tmp_path / "out" / name).cells()
    ]
    assert sorted(rows) == [cell[0] for cell in CELLS]


JOB = """
    import sys
    import spark_session, test_spark_cluster, spark_faults
    spark = spark_session.start("local[2]")
    spark.dataSource.register(spark_faults.FaultyFiles)
    test_spark_cluster.write(spark, sys.argv[1], fault=sys.argv[2], mode=sys.argv[3])
"""


def test_a_driver_that_dies_between_two_renames_leaves_whole_files_and_no_success(tmp_path):
    script = tmp_path / "run_job.py"
    script.write_text("\n".join(line.strip() for line in JOB.splitlines()))

    def run(fault, mode):
        command = [sys.executable, script, tmp_path / "out", fault, mode]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)

    assert run("driver", "append").returncode < 0
    names = files_of(tmp_path / "out")
    moved = [name for name in names if name.startswith("f/")]
    assert len(moved) == 1 and "_SUCCESS" not in names
    assert pyhfile.open_hfile(tmp_path / "out" / moved[0]).entry_count == ROWS // REGIONS
    for path in (tmp_path / "out", tmp_path / "out" / "f", tmp_path / "out" / moved[0]):
        with pytest.raises(ValueError, match="is not whole: .* has _committing"):
            _paths(str(path))
    again = run("none", "append")
    assert again.returncode == 1 and "has _committing: the job" in again.stderr
    assert [name for name in files_of(tmp_path / "out") if name.startswith("f/")] == moved
    assert run("none", "overwrite").returncode == 0
    assert read(tmp_path / "out") == CELLS
