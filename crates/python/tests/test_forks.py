"""Forks of the process, and processes of multiprocessing: each call works or says what to do, and none hangs."""

import multiprocessing
import os
import select
import signal
import threading

import pyhfile
import pyarrow
import pytest

from conftest import DATA, NOW

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no forks")


def in_fork(work):
    """Returns what a fork returns, or the error that it raises, as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = repr(work())
        except BaseException as error:  # Nothing may go on after this.
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    if not select.select([reading], [], [], 60)[0]:
        os.kill(child, signal.SIGKILL)
    text = os.read(reading, 1 << 16).decode()
    os.close(reading)
    os.waitpid(child, 0)
    return text or "hangs"


def test_a_fork_reads_files_and_tables_and_opens_its_own_store(snapshot, store_path):
    file, store = pyhfile.open_hfile(DATA / "hfile" / "s01-default.hfile"), pyhfile.open_store(store_path)
    split = snapshot.splits()[0]
    sources = {
        "file": lambda: len(list(file.cells(raw=True))),
        "get": lambda: file.get(file.first_row),
        "snapshot": lambda: snapshot.scan(now=NOW).count(),
        "threads": lambda: snapshot.scan(now=NOW, threads=2).count(),
        "split": lambda: split.scan().count(),
        "own store": lambda: pyhfile.open_store(store_path).scan().count(),
    }
    for name, work in sources.items():
        assert in_fork(work) == repr(work()), name
    for refused in (lambda: store.scan().count(), lambda: store.get("row"), lambda: list(store.cells())):
        assert "forked from; open it in this process" in in_fork(refused)
    assert store.scan().count() > 0
    assert in_fork(lambda: list(store.families)) == "['f']"


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """An HFile with many blocks."""
    numbers = range(200_000)
    rows = pyarrow.table({"id": [f"row{n:09}" for n in numbers], "f:v": [f"{n:0100}" for n in numbers]})
    path = tmp_path_factory.mktemp("long") / "out"
    (written,) = pyhfile.write_hfiles(rows, path, row="id").files
    return pyhfile.open_hfile(written.path)


def test_a_scan_that_began_before_a_fork_goes_on_in_the_parent(long, snapshot):
    cells, batches = long.cells(), iter(long.scan(batch_size=1000))
    for _ in range(10_000):
        next(cells)
    for _ in range(10):
        next(batches)
    # A thread reads ahead, which the fork does not have.
    assert in_fork(lambda: sum(1 for _ in cells)) == "190000"
    assert in_fork(lambda: sum(batch.num_rows for batch in batches)) == "190000"
    assert sum(1 for _ in cells) == 190_000
    assert sum(batch.num_rows for batch in batches) == 190_000
    # The threads of this scan read all cells.
    batches = iter(snapshot.scan(raw=True, threads=2, batch_size=100))
    begun = next(batches).num_rows

    def drop():
        nonlocal batches
        del batches

    assert in_fork(drop) == "None"
    answer = in_fork(lambda: sum(batch.num_rows for batch in batches))
    assert "forked from; begin a scan in this process" in answer, answer
    assert begun + sum(batch.num_rows for batch in batches) == snapshot.scan(raw=True).count()


def test_a_fork_reads_while_threads_of_its_parent_read(long, snapshot):
    done = threading.Event()

    def read():
        number = 0
        while not done.is_set():
            number = (number + 7919) % 200_000
            long.get(f"row{number:09}")
            pyhfile.open_hfile(long.path)

    threads = [threading.Thread(target=read) for _ in range(3)]
    threads.append(threading.Thread(target=lambda: [snapshot.scan().count() for _ in iter(done.is_set, True)]))
    for thread in threads:
        thread.start()
    try:
        for _ in range(100):
            answer = in_fork(lambda: (len(long.get("row000000500")), snapshot.scan(now=NOW, prefix="row-00").count() > 0))
            assert answer == "(1, True)"
    finally:
        done.set()
        for thread in threads:
            thread.join()


def count(split):
    return split.scan().count()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_multiprocessing_read_splits(snapshot, method):
    splits = snapshot.splits(target_bytes=20_000, now=NOW)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert sum(pool.map(count, splits)) == snapshot.scan(now=NOW).count()
        assert pool.apply_async(count, (snapshot.splits(now=NOW)[0],)).get(timeout=60) > 0


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("returns", [True, False])
def test_a_fork_neither_writes_nor_removes_what_its_parent_writes(tmp_path, sort, returns):
    schema = pyarrow.schema([("id", pyarrow.string()), ("f:v", pyarrow.string())])
    parent, seen = os.getpid(), []

    def batches():
        for number in range(6):
            if number == 3:
                child = os.fork()
                if child:
                    seen.append(os.waitpid(child, 0)[1])
                elif not returns:
                    raise RuntimeError("in the fork")
            rows = [f"row{number:03}{n:05}" for n in range(20_000)]
            yield pyarrow.record_batch([rows, [row * 5 for row in rows]], schema=schema)

    def write(directory, data):
        options = {"row": "id", "sort": sort, "memory": 1 << 20, "timestamp": 1, "create_time": 1}
        return pyhfile.write_hfiles(data, directory, temporary_directory=tmp_path, **options)

    try:
        written = write(tmp_path / "out", pyarrow.RecordBatchReader.from_batches(schema, batches()))
    except pyhfile.Error as error:
        if os.getpid() != parent:
            is_known = "end the fork" in str(error)
            os._exit(7 if is_known else 1)
        raise
    if os.getpid() != parent:
        os._exit(2)
    assert seen == [7 << 8]
    rows = [f"row{number:03}{n:05}" for number in range(6) for n in range(20_000)]
    table = pyarrow.table({"id": rows, "f:v": [row * 5 for row in rows]})
    plain = write(tmp_path / "plain", table)
    assert written.cells == plain.cells == 120_000
    (file,), (expected,) = written.files, plain.files
    found = [cell[:-1] for cell in pyhfile.open_hfile(file.path).cells()]
    assert found == [cell[:-1] for cell in pyhfile.open_hfile(expected.path).cells()]
    assert sorted(os.listdir(tmp_path)) == ["out", "plain"]
