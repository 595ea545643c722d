"""The format is made known to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """Make the format ``hbase-files`` known to a Spark session.

    The options ``start``, ``stop`` and ``prefix`` limit the rows that are read; conditions of a query do not.

    :param spark: the session.
    :raises RuntimeError: before Spark 4.0, which has no data sources in Python; see :func:`pyhfile.spark.read_splits`.
    """
    if not hasattr(spark, "dataSource"):
        raise RuntimeError(
            f"Spark {spark.version} has no data sources in Python, which Spark 4.0 and later have; "
            "pyhfile.spark.read_splits reads with Spark 3.5"
        )
    # Imports what Spark 3.5 does not have.
    from ._source import HBaseFiles

    spark.dataSource.register(HBaseFiles)
