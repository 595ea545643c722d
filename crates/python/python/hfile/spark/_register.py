"""The format is made known to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PUSHES_FILTERS = "spark.sql.python.filterPushdown.enabled"


def register(spark: SparkSession, *, push_filters: bool = True) -> None:
    """Make the format ``hbase-files`` known to a Spark session.

    From Spark 4.1 on, conditions on the row key limit which blocks are read: this sets
    ``spark.sql.python.filterPushdown.enabled``, without which Spark refuses to read with a source that takes conditions. It is
    a setting of the session for all Python data sources.

    :param spark: the session.
    :param push_filters: False leaves the setting alone, and reads all rows; ``start``, ``stop`` and ``prefix`` still
        limit them.
    :raises RuntimeError: before Spark 4.0, which has no data sources in Python; see :func:`hfile.spark.read_splits`.
    """
    if not hasattr(spark, "dataSource"):
        raise RuntimeError(
            f"Spark {spark.version} has no data sources in Python, which Spark 4.0 and later have; "
            "hfile.spark.read_splits reads with Spark 3.5"
        )
    # Imports what Spark 3.5 does not have.
    from pyspark.sql import datasource

    from ._source import HBaseFiles, PushingFiles

    if push_filters and hasattr(datasource, "Filter"):
        spark.conf.set(_PUSHES_FILTERS, "true")
        spark.dataSource.register(PushingFiles)
    else:
        spark.dataSource.register(HBaseFiles)
