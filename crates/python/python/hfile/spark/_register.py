"""The format is made known to a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PUSHES_FILTERS = "spark.sql.python.filterPushdown.enabled"


def register(spark: SparkSession, *, push_filters: bool = False) -> None:
    """Make the format ``hbase-files`` known to a Spark session.

    The options ``start``, ``stop`` and ``prefix`` limit the rows that are read. With ``push_filters``, conditions on the
    row key do so too, from Spark 4.1 on. Then load a frame anew for each condition: Spark (4.1 to 4.3) keeps the
    rows of the last condition for all later uses of the same frame, whatever their conditions are, so that **rows are
    missing without an error**.

    :param spark: the session.
    :param push_filters: take conditions on the row key; this sets ``spark.sql.python.filterPushdown.enabled`` for the session, without
        which Spark refuses each read by a source that takes conditions.
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
