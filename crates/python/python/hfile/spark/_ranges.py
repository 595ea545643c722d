"""Ranges of rows, which options and Spark's filters limit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Optional


class ReadRange(NamedTuple):
    """Rows from ``start`` until before ``stop``; to the end without ``stop``."""

    start: bytes
    stop: Optional[bytes]

    def is_empty(self) -> bool:
        """Returns whether no row is in the range."""
        return self.stop is not None and self.stop <= self.start

    def intersection(self, other: ReadRange) -> ReadRange:
        """Returns the rows of both."""
        stops = [stop for stop in (self.stop, other.stop) if stop is not None]
        return ReadRange(max(self.start, other.start), min(stops, default=None))


ALL = [ReadRange(b"", None)]


def one_row(key: bytes) -> ReadRange:
    """Returns the range of one row."""
    return ReadRange(key, after(key))


def after(key: bytes) -> bytes:
    """Returns the first key behind another."""
    return key + b"\0"


def with_prefix(prefix: bytes) -> ReadRange:
    """Returns the rows that begin with some bytes."""
    head = prefix.rstrip(b"\xff")
    stop = head[:-1] + bytes([head[-1] + 1]) if head else None
    return ReadRange(prefix, stop)


def intersection(left: list[ReadRange], right: list[ReadRange]) -> list[ReadRange]:
    """Returns the rows of both lists, in order; the ranges of a list do not overlap."""
    both = (one.intersection(other) for one in left for other in right)
    return sorted(keys for keys in both if not keys.is_empty())


def rows_of(keys: Iterable[bytes]) -> list[ReadRange]:
    """Returns the ranges of some rows."""
    return [one_row(key) for key in sorted(set(keys))]
