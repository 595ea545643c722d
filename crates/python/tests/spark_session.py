"""Spark sessions for the tests. Only one runs at a time in a process; a test module asks for the one that it needs."""

import os
import pathlib
import shutil
import sys

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install pyspark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs a JDK of version 17 or later", allow_module_level=True)

import pyhfile.spark
import pyspark
from pyspark.sql import SparkSession

TESTS = pathlib.Path(__file__).parent
# Workers are started by the JVM, and would be those of the first `python3` of PATH.
os.environ["PYSPARK_PYTHON"] = sys.executable
# Where the JVM and the workers find Spark and the modules of the tests.
os.environ["SPARK_HOME"] = str(pathlib.Path(pyspark.__file__).parent)
os.environ["PYTHONPATH"] = str(TESTS)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def skip_unless_asked():
    """Skips a module whose tests take minutes."""
    if os.environ.get("SPARK_TESTS") != "1":
        pytest.skip("minutes with Spark: set SPARK_TESTS=1", allow_module_level=True)


def start(master, **settings):
    """Returns a new session; settings have underscores in place of dots."""
    running = SparkSession.getActiveSession()
    if running is not None:
        running.stop()
    builder = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.executorEnv.PYTHONPATH", str(TESTS))
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "OFF")
    )
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), str(value))
    spark = builder.getOrCreate()
    pyhfile.spark.register(spark)
    return spark
