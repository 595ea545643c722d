"""Frames in the order that a bulk load needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Union

from pyspark.sql import functions
from pyspark.sql.types import BinaryType, StringType

from ._text import ascending

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The column of the region's number, which the result does not have.
_REGION = "__hfile_region"


def for_bulk_load(
    df: DataFrame, row: str, splits: Iterable[Union[bytes, bytearray, str]]
) -> DataFrame:
    """Return the rows of ``df`` with those of each region of an HBase table in one partition, sorted by row key.

    Each task of a write then has the rows of one region, and writes one file for each family. Spark before 4.1 has no
    ``repartitionById``: there, a task can have several regions, and others none. The files are the same.

    :param df: the rows.
    :param row: the column of the row key, text or binary.
    :param splits: the start rows of all regions of the table but the first, ascending: the ``region_splits`` of a
        :class:`pyhfile.Table`, or :func:`pyhfile.split_points`.
    :returns: a frame with the columns of ``df``.
    :raises TypeError: if the row key is neither text nor binary.
    :raises ValueError: if the splits do not ascend.
    """
    keys = ascending(splits)
    name = _quoted(row)
    key_type = df.select(name).schema[0].dataType
    if not isinstance(key_type, (BinaryType, StringType)):
        raise TypeError(
            f"column {row} has the type {key_type.simpleString()}, but row keys must be string or binary; "
            "cast('string') makes digits of a number, and cast('binary') the bytes of HBase's Bytes.toBytes"
        )
    key = f"CAST({name} AS BINARY)"
    numbered = df.withColumn(_REGION, functions.expr(_region(key, keys, 0)))
    if hasattr(numbered, "repartitionById"):
        partitioned = numbered.repartitionById(len(keys) + 1, _REGION)
    else:
        partitioned = numbered.repartition(len(keys) + 1, _REGION)
    # Dropped after the sort: a projection keeps the partitions and their order.
    return partitioned.sortWithinPartitions(functions.expr(key)).drop(_REGION)


def _quoted(name: str) -> str:
    """Returns a column name in SQL, where a dot or a colon in the name has no meaning."""
    return "`" + name.replace("`", "``") + "`"


def _region(key: str, splits: list[bytes], first: int) -> str:
    """Returns SQL for the number of the region of a key: a binary search, in which ``splits`` begin after region ``first``."""
    if not splits:
        return str(first)
    middle = len(splits) // 2
    below = _region(key, splits[:middle], first)
    above = _region(key, splits[middle + 1 :], first + middle + 1)
    return f"CASE WHEN {key} < X'{splits[middle].hex()}' THEN {below} ELSE {above} END"
