"""The names of types and settings are the same in the stubs, in the package and on the command line."""

import ast
import pathlib
import re

import pyhfile
import pyarrow
import pytest

# A page of a verb begins with its help.
PAGES = pathlib.Path(__file__).parents[3] / "docs/src/reference/command-line"
STUB = pathlib.Path(__file__).parents[1] / "python" / "pyhfile" / "_hfile.pyi"
# What the command line also takes, and the package does not: a prefix has a length, for which there is no argument.
ONLY_COMMAND_LINE = {"bloom": ["ROWPREFIX_FIXED_LENGTH"]}
# Other names of a type, with a text and its bytes.
ALIASES = {
    "binary": ("00ff", b"\0\xff"),
    "text": ("a", b"a"),
    "byte": ("1", b"\1"),
    "short": ("1", b"\0\1"),
    "int": ("1", b"\0\0\0\1"),
    "long": ("1", b"\0\0\0\0\0\0\0\1"),
    "float": ("1", b"\x3f\x80\0\0"),
    "double": ("1", b"\x3f\xf0\0\0\0\0\0\0"),
    "boolean": ("true", b"\xff"),
}


def literals():
    """Returns the names of each ``Literal`` of the stub that has a name."""
    found = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and getattr(getattr(node.value, "value", None), "id", "") == "Literal":
            names = node.value.slice
            found[node.target.id] = [name.value for name in getattr(names, "elts", [names])]
    return found


def listed(text):
    """Returns the names of a list in a message or the help."""
    return re.findall(r"[\w-]+", re.sub(r"\b(?:or|and)\b", ",", text))


def known_to_the_package(tmp_path, **arguments):
    """Returns the names in the error for an unknown one."""
    data = pyarrow.table({"id": ["a"], "f:q": ["v"]})
    with pytest.raises(ValueError, match="unknown") as raised:
        pyhfile.write_hfiles(data, tmp_path / "out", row="id", **arguments)
    return listed(re.search(r"(?:known|types) are (.*)", str(raised.value))[1])


def known_to_the_command_line(pattern):
    help_text = (PAGES / "build.md").read_text(encoding="utf-8")
    return listed(re.search(pattern, help_text, re.DOTALL)[1])


@pytest.mark.parametrize(
    ("name", "alias", "pattern"),
    [
        ("compression", "_Compression", r"Compress blocks with (.*?) \["),
        ("encoding", "_Encoding", r"Encode data blocks with (.*?) \["),
        ("bloom", "_Bloom", r"Write an HBase Bloom filter: (.*?) \["),
        ("filter", "_Filter", r"--filter <KIND>.*?possible values: (.*?)\]"),
    ],
)
def test_settings_have_one_name(tmp_path, name, alias, pattern):
    names = literals()[alias]
    assert names == known_to_the_package(tmp_path, **{name: "?"})
    assert names + ONLY_COMMAND_LINE.get(name, []) == known_to_the_command_line(pattern)
    # In any case, as on the command line.
    data = pyarrow.table({"id": ["a"], "f:q": ["v"]})
    for known in names:
        pyhfile.write_hfiles(data, tmp_path / known, row="id", **{name: known.swapcase()})


def test_types_have_one_name(tmp_path):
    names = [name for name in literals()["_Type"] if name not in ALIASES]
    assert names == known_to_the_package(tmp_path, types={"f:q": "?"})
    help_text = (PAGES / "build.md").read_text(encoding="utf-8")
    (types,) = re.findall(r"^  types +(.*?)^  \S", help_text, re.DOTALL | re.MULTILINE)
    assert [name for name in names if not re.search(rf"\b{name}\b", types)] == []
    assert set(literals()["_Type"]) == {*names, *ALIASES}
    for alias, (text, expected) in ALIASES.items():
        data = pyarrow.table({"id": ["a"], "f:q": [text]})
        (file,) = pyhfile.write_hfiles(data, tmp_path / alias, row="id", types={"f:q": alias}).files
        assert [cell.value for cell in pyhfile.open_hfile(file.path).cells()] == [expected]


def test_no_literal_is_forgotten():
    assert set(literals()) == {"_Type", "_Compression", "_Encoding", "_Bloom", "_Filter"}
