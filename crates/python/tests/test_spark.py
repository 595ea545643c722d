"""The example of Spark on the first page of the project runs, and those of the guide print what it says.

Each has a process of its own: Spark's JVM keeps the directory in which it began.
"""

import os
import pathlib
import subprocess
import sys

import pyhfile
import pytest

import spark_session
from conftest import unpack
from test_documentation import EXAMPLE, GUIDE

README = pathlib.Path(__file__).parents[3] / "README.md"
SPARK_GUIDE = GUIDE.with_name("spark.md")

EXAMPLE_OF_README = """
import pathlib, sys, spark_session
spark = spark_session.start("local[1]")
exec(pathlib.Path(sys.argv[1]).read_text())
print("rows", spark.read.parquet("users").count())
"""
EXAMPLES_OF_PAGE = """
import pathlib, sys, test_documentation
test_documentation.run_page(pathlib.Path(sys.argv[1]))
"""


def run(script, argument, directory):
    environment = {**os.environ, "PYTHONPATH": str(spark_session.TESTS)}
    command = [sys.executable, "-c", script, str(argument)]
    process = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_the_example_of_the_readme_runs(tmp_path):
    root = unpack(tmp_path)
    (example,) = [code for code, _ in EXAMPLE.findall(README.read_text(encoding="utf-8"))]
    (tmp_path / "example.py").write_text(example)
    printed = run(EXAMPLE_OF_README, tmp_path / "example.py", tmp_path)
    expected = pyhfile.open_snapshot(root, "s1").scan(types={"f1:a": "string"}, start="row-01000")
    assert printed.endswith(f"rows {expected.count()}\n") and expected.count() > 100


@pytest.mark.skipif(os.environ.get("SPARK_TESTS") != "1", reason="minutes with Spark: set SPARK_TESTS=1")
def test_the_examples_of_the_guide_print_what_it_says(tmp_path):
    unpack(tmp_path)
    run(EXAMPLES_OF_PAGE, SPARK_GUIDE, tmp_path)
