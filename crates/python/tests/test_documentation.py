"""The examples of the README and of the guide run, and print what the guide says; everything has a docstring.

With ``UPDATE_PAGES=1`` the outputs are written into the guide.
"""

import contextlib
import doctest
import inspect
import io
import os
import pathlib
import re

import pyhfile
import pytest

from conftest import unpack

PACKAGE = pathlib.Path(__file__).parents[1]
GUIDE = PACKAGE.parents[1] / "docs" / "src" / "guides" / "python.md"
# A block of Python, and the block with its output if there is one.
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [PACKAGE / "README.md", GUIDE], ids=lambda page: page.name)
def test_the_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    unpack(tmp_path)
    monkeypatch.chdir(tmp_path)
    run_page(page)


def run_page(page):
    """Runs the examples of a page in the current directory, and compares or updates their output."""
    text, names, wrong = page.read_text(encoding="utf-8"), {}, []

    def run(match):
        code, expected = match.groups()
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, "example", "exec"), names)
        printed = out.getvalue()
        if expected is None:
            return match[0]
        if printed != expected:
            wrong.append((code, expected, printed))
        return f"```python\n{code}```\n\n```text\n{printed}```\n"

    updated, count = EXAMPLE.subn(run, text)
    assert count == text.count("```python") > 0
    if os.environ.get("UPDATE_PAGES"):
        page.write_text(updated, encoding="utf-8")
    else:
        assert not wrong


def test_the_examples_of_docstrings_print_what_they_say(tmp_path, monkeypatch):
    unpack(tmp_path)
    monkeypatch.chdir(tmp_path)
    runner, found = doctest.DocTestRunner(), 0
    for name in pyhfile.__all__:
        text = inspect.getdoc(getattr(pyhfile, name)) if name != "__version__" else ""
        example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
        if example.examples:
            assert runner.run(example).failed == 0, name
            found += 1
    assert found >= 2


def test_everything_has_a_docstring():
    for name in pyhfile.__all__:
        item = getattr(pyhfile, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(item), name
        if inspect.isclass(item) and not issubclass(item, (tuple, Exception)):
            for member, value in vars(item).items():
                if not member.startswith("_"):
                    assert inspect.getdoc(value), f"{name}.{member}"
