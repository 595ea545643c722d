"""What the tests share: the files that HBase wrote, and the cells that HBase returned for them."""

import gzip
import json
import os
import pathlib
import struct
import subprocess
import tarfile

import pyhfile
import pytest

DATA = pathlib.Path(__file__).parents[3] / "tests" / "data"
SNAPSHOTS = DATA / "snapshots"
MANIFEST = json.loads((SNAPSHOTS / "manifest.json").read_text())
# The time at which no cell of the snapshots has expired.
NOW = 1_795_412_744_014


def truth(path):
    """Returns the cells that HBase returned, as tuples without the sequence id."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [_cell(json.loads(line)) for line in lines]


def _cell(cell):
    tags = b"".join(
        struct.pack(">HB", 1 + len(tag["value"]) // 2, tag["type"]) + bytes.fromhex(tag["value"])
        for tag in cell.get("tags", [])
    )
    row, family, qualifier, value = (
        bytes.fromhex(cell[name]) for name in ("row", "family", "qualifier", "value")
    )
    return row, family, qualifier, cell["ts"], cell["type"], value, tags or None


def of_cells(cells):
    """Returns cells as tuples without the sequence id."""
    return [cell[:-1] for cell in cells]


def of_arrow(table):
    """Returns the rows of a pyarrow table as tuples without the sequence id."""
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns[:-1])) if table.num_rows else []


def hfile_command(*arguments):
    """Runs the command line, which makes what this package only reads."""
    default = pathlib.Path(__file__).parents[3] / "target" / "debug" / "hfile"
    command = os.environ.get("HFILE_COMMAND", str(default))
    return subprocess.run([command, *map(str, arguments)], check=True, capture_output=True)


def unpack(directory):
    with tarfile.open(SNAPSHOTS / "rootdir.tar.gz") as archive:
        archive.extractall(directory)
    return directory / "rootdir"


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    """A root directory of HBase. Tests do not change it."""
    return unpack(tmp_path_factory.mktemp("hbase"))


@pytest.fixture
def own_root(tmp_path):
    """A root directory of HBase that the test may change."""
    return unpack(tmp_path)


@pytest.fixture(scope="session")
def store_path(tmp_path_factory):
    """A store with three versions of each column in four files."""
    path = tmp_path_factory.mktemp("store") / "store"
    hfile_command("store", "create", path, "f", "--versions", 3)
    files = sorted((DATA / "store" / "overlap" / "files").glob("??"))
    hfile_command("store", "import", path, "f", *files)
    return path


@pytest.fixture
def snapshot(root):
    """A snapshot of a split table, with references and bulk-loaded files."""
    return pyhfile.open_snapshot(root, "s4")


def files_of_region(root, snapshot, family):
    """Returns the paths of the HFiles in which the first region of a snapshot has cells of a family."""
    name = snapshot.regions[0].name
    found = [path for path in root.glob(f"**/{name}/{family}/*") if path.stat().st_size > 0]
    return sorted(found, key=lambda path: path.stat().st_size)
