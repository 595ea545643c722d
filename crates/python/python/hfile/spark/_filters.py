"""Spark's filters on the row key become ranges of rows. Spark 4.1 and later have filters."""

from __future__ import annotations

from typing import Any, Optional

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
)

from ._ranges import ReadRange, after, one_row, rows_of, with_prefix
from ._schema import ROW
from ._text import to_bytes


def rows_of_filter(condition: Filter) -> Optional[list[ReadRange]]:
    """Returns the rows that a filter allows; None if it is not on the row key, or allows too many ranges."""
    if getattr(condition, "attribute", None) != (ROW,):
        return None
    if isinstance(condition, In):
        # Null is equal to no row.
        return rows_of(to_bytes(value) for value in condition.value if value is not None)
    key = _key(getattr(condition, "value", None))
    if key is None:
        return None
    if isinstance(condition, (EqualTo, EqualNullSafe)):
        return [one_row(key)]
    if isinstance(condition, LessThan):
        return [ReadRange(b"", key)]
    if isinstance(condition, LessThanOrEqual):
        return [ReadRange(b"", after(key))]
    if isinstance(condition, GreaterThan):
        return [ReadRange(after(key), None)]
    if isinstance(condition, GreaterThanOrEqual):
        return [ReadRange(key, None)]
    if isinstance(condition, StringStartsWith):
        return [with_prefix(key)]
    return None


def _key(value: Any) -> Optional[bytes]:
    return to_bytes(value) if isinstance(value, (bytes, bytearray, str)) else None
