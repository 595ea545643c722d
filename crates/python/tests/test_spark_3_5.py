"""Spark 3.5, which has no data sources in Python, reads splits: what HBase returned for a snapshot.

It is installed beside the Spark of the environment, into the directory that SPARK_3_5 names.
"""

import os
import pathlib
import pickle
import subprocess
import sys

import pytest

import spark_session
from conftest import MANIFEST, NOW, SNAPSHOTS, truth

spark_session.skip_unless_asked()

PACKAGES = ["pyspark==3.5.9", "py4j==0.10.9.7"]
SCRIPT = """
import pathlib, pickle, sys
import pyhfile, pyhfile.spark, pyspark
from pyspark.sql import SparkSession

assert pyspark.__version__.startswith("3.5"), pyspark.__version__
root, now, out = sys.argv[1:]
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
try:
    pyhfile.spark.register(spark)
    raise SystemExit("Spark 3.5 has data sources")
except RuntimeError as error:
    assert "read_splits" in str(error), error
splits = pyhfile.open_snapshot(root, "s4").splits(now=int(now), target_bytes=20_000)
rows = pyhfile.spark.read_splits(spark, splits).collect()
plain = [tuple(bytes(part) if isinstance(part, bytearray) else part for part in row) for row in rows]
pathlib.Path(out).write_bytes(pickle.dumps(plain))
"""


@pytest.fixture(scope="module")
def spark_3_5(tmp_path_factory):
    directory = pathlib.Path(os.environ.get("SPARK_3_5", tmp_path_factory.mktemp("spark") / "3.5"))
    if not (directory / "pyspark").is_dir():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", directory]
        if subprocess.run([*command, *PACKAGES]).returncode != 0:
            pytest.skip("Spark 3.5 cannot be installed")
    return directory


def test_a_snapshot_has_the_cells_that_hbase_reads(spark_3_5, root, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(spark_3_5), "SPARK_HOME": str(spark_3_5 / "pyspark")}
    command = [sys.executable, "-c", SCRIPT, str(root), str(NOW), str(tmp_path / "rows")]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)
    rows = pickle.loads((tmp_path / "rows").read_bytes())
    assert [row[:-1] for row in rows] == truth(SNAPSHOTS / MANIFEST["snapshots"]["s4"]["cellsFile"])
