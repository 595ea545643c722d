"""Ranges of rows, which options and Spark's filters limit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Optional


class RowKeys(NamedTuple):
    """Rows from ``start`` until before ``stop``; to the end without ``stop``."""

    start: bytes
    stop: Optional[bytes]

    def is_empty(self) -> bool:
        """Returns whether no row is in the range."""
        return self.stop is not None and self.stop <= self.start

    def intersection(self, other: RowKeys) -> RowKeys:
        """Returns the rows of both."""
        stops = [stop for stop in (self.stop, other.stop) if stop is not None]
        return RowKeys(max(self.start, other.start), min(stops, default=None))


ALL = [RowKeys(b"", None)]


def one_row(key: bytes) -> RowKeys:
    """Returns the range of one row."""
    return RowKeys(key, after(key))


def after(key: bytes) -> bytes:
    """Returns the first key behind another."""
    return key + b"\0"


def with_prefix(prefix: bytes) -> RowKeys:
    """Returns the rows that begin with some bytes."""
    head = prefix.rstrip(b"\xff")
    stop = head[:-1] + bytes([head[-1] + 1]) if head else None
    return RowKeys(prefix, stop)


def intersection(left: list[RowKeys], right: list[RowKeys]) -> list[RowKeys]:
    """Returns the rows of both lists, in order; the ranges of a list do not overlap."""
    both = (one.intersection(other) for one in left for other in right)
    return sorted(keys for keys in both if not keys.is_empty())


def rows_of(keys: Iterable[bytes]) -> list[RowKeys]:
    """Returns the ranges of some rows."""
    return [one_row(key) for key in sorted(set(keys))]
