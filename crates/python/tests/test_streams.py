"""Streams: read by other libraries, read twice, in bounded memory, by several threads."""

import concurrent.futures
import subprocess
import sys
import threading
import time

import duckdb
import pyhfile
import pyarrow
import pyarrow.compute
import pytest

from conftest import DATA, NOW, hfile_command


def test_a_scan_is_read_more_than_once(snapshot):
    scan = snapshot.scan(now=NOW)
    first, second = pyarrow.table(scan), pyarrow.RecordBatchReader.from_stream(scan).read_all()
    assert first.num_rows > 1000 and first.equals(second)
    # Also at the same time, and after the other has ended.
    one, other = scan.to_reader(), scan.to_reader()
    assert one.read_next_batch().equals(other.read_next_batch())
    assert scan.read_all().equals(first)


def test_the_schema_is_known_before_reading(snapshot):
    schema = pyarrow.schema(snapshot.scan())
    assert schema.names == [
        "row", "family", "qualifier", "timestamp", "type", "value", "tags", "sequence_id",
    ]
    assert schema == snapshot.scan().to_reader().schema
    assert "qualifier" in repr(snapshot.scan())


def test_batches_have_at_most_the_wanted_size(snapshot):
    sizes = [batch.num_rows for batch in snapshot.scan(batch_size=1000)]
    assert len(sizes) > 2 and set(sizes[:-1]) == {1000} and 0 < sizes[-1] <= 1000


def test_duckdb_reads_a_scan(snapshot):
    cells = snapshot.scan(now=NOW)  # DuckDB finds it by its name.
    expected = pyarrow.table(cells)
    rows = duckdb.sql("SELECT count(*), sum(octet_length(value)), min(timestamp) FROM cells").fetchall()
    size = pyarrow.compute.sum(pyarrow.compute.binary_length(expected.column("value"))).as_py()
    oldest = pyarrow.compute.min(expected.column("timestamp")).as_py()
    assert rows == [(expected.num_rows, size, oldest)]
    rows_of_table = snapshot.scan(types={"f1:a": "binary"}, row_type="string", now=NOW)
    query = "SELECT count(\"f1:a\") FROM rows_of_table WHERE row >= 'row-01'"
    ((rows,),) = duckdb.sql(query).fetchall()
    assert rows == pyarrow.table(snapshot.scan(types=["f1:a"], start="row-01", now=NOW)).num_rows


def test_polars_reads_a_scan(snapshot):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(snapshot.scan(now=NOW))
    assert frame.height == pyarrow.table(snapshot.scan(now=NOW)).num_rows


def test_a_closed_source_is_not_read():
    file = pyhfile.open_hfile(DATA / "hfile" / "s01-default.hfile")
    scan, cells = file.scan(raw=True), file.cells(raw=True)
    file.close()
    with pytest.raises(ValueError, match="closed"):
        pyarrow.table(scan)
    with pytest.raises(ValueError, match="closed"):
        file.get("row")
    # What was open goes on.
    assert len(list(cells)) == file.entry_count


def test_threads_share_one_source(snapshot):
    expected = pyarrow.table(snapshot.scan(raw=True))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        tables = pool.map(lambda _: snapshot.scan(raw=True, threads=2).read_all(), range(16))
        assert all(table.equals(expected) for table in tables)
    # One iterator: each cell goes to one thread.
    cells, found = snapshot.cells(raw=True), []
    threads = [threading.Thread(target=lambda: found.extend(cells)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(snapshot.cells(raw=True))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An HFile of 90 MB: 300,000 cells with values of 250 bytes."""
    directory = tmp_path_factory.mktemp("large")
    with open(directory / "rows.csv", "w", encoding="utf-8") as rows:
        rows.write("id,v\n")
        for number in range(300_000):
            rows.write(f"row{number:09},{number:0250}\n")
    options = ["--row", "id", "--column", "v=f:v", "--output", directory / "large.hfile"]
    hfile_command("build", "--from", "csv", *options, directory / "rows.csv")
    (directory / "rows.csv").unlink()
    return directory / "large.hfile"


def test_a_long_scan_takes_little_memory(large):
    program = """
import resource, sys, pyhfile, pyarrow
scan = pyhfile.open_hfile(sys.argv[1]).scan()
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
reader = pyarrow.RecordBatchReader.from_stream(scan)
before, rows = peak(), 0
for batch in reader:
    rows += batch.num_rows
print(rows, peak() - before)
"""
    assert large.stat().st_size > 80 << 20
    command = [sys.executable, "-c", program, str(large)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows, kilobytes = map(int, output.split())
    assert rows == 300_000
    assert kilobytes < 48 << 10


def test_other_threads_run_while_files_are_read(large):
    """A thread that counts goes on while another reads: reading does not hold the lock."""
    file, counted, done = pyhfile.open_hfile(large), [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    began = time.monotonic()
    # One call that reads all data blocks: no row has this column.
    assert list(file.cells(columns="f:none")) == []
    seconds = time.monotonic() - began
    during = counted[0]
    done.set()
    counter.join()
    # At least one in ten of the turns that a thread alone would have.
    assert during > seconds * 1000 / 10, (during, seconds)
