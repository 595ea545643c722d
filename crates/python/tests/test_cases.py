"""Root directories whose files disagree: the cells of HBase, perhaps with a warning, or an error.

``tests/support/directory_cases.rs`` has the cases; ``crates/python/check`` writes them.
"""

import json
import os
import pathlib
import warnings

import pyhfile
import pytest
from conftest import of_arrow, of_cells, truth

CASES = sorted(pathlib.Path(os.environ.get("DIRECTORY_CASES", ".")).glob("*/case.json"))


def test_there_are_cases():
    assert "DIRECTORY_CASES" not in os.environ or CASES


def read(case, directory, door):
    """Returns the cells by one way of reading, and the texts of the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        opener = pyhfile.open_snapshot if case["is_snapshot"] else pyhfile.open_table
        table = opener(case["root"], case["place"])
        options = {"now": case["now"], "with_wal": case["with_logs"]}
        if door == "cells":
            cells = of_cells(table.cells(**options))
        elif door == "scan":
            cells = of_arrow(table.scan(**options).read_all())
        else:
            expected = truth(directory / "cells.ndjson")
            rows = sorted({cell[0] for cell in expected})[::50]
            cells = [cell for row in rows for cell in of_cells(table.get(row, **options))]
    return cells, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("door", ["cells", "scan", "get"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_a_read_returns_the_cells_of_hbase_or_says_what_is_wrong(path, door):
    case, directory = json.loads(path.read_text()), path.parent
    if case["error"]:
        with pytest.raises(pyhfile.Error) as raised:
            read(case, directory, door)
        assert case["error"] in str(raised.value), case["name"]
        return
    cells, told = read(case, directory, door)
    expected = truth(directory / "cells.ndjson")
    if door == "get":
        rows = set(sorted({cell[0] for cell in expected})[::50])
        expected = [cell for cell in expected if cell[0] in rows]
        assert sorted(cells) == sorted(expected), case["name"]
    else:
        assert cells == expected, case["name"]
    if case["warning"]:
        assert any(case["warning"] in text for text in told), (case["name"], told)
    else:
        assert told == [], case["name"]
