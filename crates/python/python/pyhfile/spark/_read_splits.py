"""Frames of splits, with any version of Spark that has ``mapInArrow``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Optional

import pyarrow
from pyspark.sql.types import BinaryType, StructField, StructType

from .._hfile import Split
from ._schema import Layout, spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_splits(
    spark: SparkSession, splits: Iterable[Split], schema: Optional[StructType] = None
) -> DataFrame:
    """Return a frame of what splits have, one task a split: for Spark 3.5, which has no data sources in Python.

    ``pyhfile.spark.read_splits(spark, table.splits(types={"info:age": "int32"}))`` has the columns of
    ``table.scan(types={"info:age": "int32"})``. Conditions are not pushed: give ``start``, ``stop`` or ``prefix`` to ``splits``.

    :param spark: the session.
    :param splits: what :meth:`pyhfile.Source.splits` returned.
    :param schema: the columns of the frame if there is no split; otherwise those of the first.
    :raises ValueError: if there is neither a split nor a schema.
    """
    data = [bytes(split) for split in splits]
    if data:
        schema = spark_schema(Split(data[0]).scan().schema)
        tasks = spark.sparkContext.parallelize([(one,) for one in data], len(data))
        packed = StructType([StructField("split", BinaryType())])
        return spark.createDataFrame(tasks, packed).mapInArrow(_read, schema)
    if schema is None:
        raise ValueError("there is no split, so schema must name the columns")
    return spark.createDataFrame([], schema)


def _read(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Reads splits in a task."""
    for packed in batches:
        for data in packed.column(0).to_pylist():
            for batch in Split(data).scan():
                # Spark compares types and nullability.
                yield Layout(spark_schema(batch.schema)).to_frame_columns(batch)
