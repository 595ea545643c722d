"""The order of rows, in a task and between tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow
import pyarrow.compute

from ._text import escape


class WrittenRange(NamedTuple):
    """The rows that a task wrote of a family into a file."""

    family: str
    first: bytes
    last: bytes
    task: str


class OrderedBatches:
    """Record batches, whose row keys must not descend.

    An error while they are read is kept: a reader in between only hands on its text.
    """

    def __init__(self, batches: Iterable[pyarrow.RecordBatch], row: str) -> None:
        self._batches = batches
        self._row = row
        self.error: BaseException | None = None

    def __iter__(self) -> Iterator[pyarrow.RecordBatch]:
        last: bytes | None = None
        try:
            for batch in self._batches:
                last = self._check(batch, last)
                yield batch
        except Exception as error:
            self.error = error
            raise

    def _check(self, batch: pyarrow.RecordBatch, last: bytes | None) -> bytes | None:
        """Checks the rows of a batch and the last one before; returns its last row."""
        # The writer refuses null.
        keys = batch.column(self._row).drop_null()
        if len(keys) == 0:
            return last
        first = _key(keys[0])
        if last is not None and first < last:
            raise _out_of_order(last, first)
        descends = pyarrow.compute.less(keys[1:], keys[:-1])
        if pyarrow.compute.any(descends).as_py():
            place = descends.index(True).as_py()
            raise _out_of_order(_key(keys[place]), _key(keys[place + 1]))
        return _key(keys[-1])


def check_no_overlap(ranges: Iterable[WrittenRange]) -> None:
    """Refuses rows of a family that two tasks wrote, or that are between those of another task."""
    last: WrittenRange | None = None
    for rows in sorted(ranges):
        if last is not None and last.family == rows.family:
            if rows.first <= last.last and rows.task != last.task:
                raise ValueError(
                    f"family {rows.family}: rows {_shown(last)} of task {last.task} and {_shown(rows)} of task "
                    f"{rows.task} overlap; hfile.spark.for_bulk_load brings the rows of a region into one task"
                )
            if rows.last < last.last:
                continue
        last = rows


def _key(value: pyarrow.Scalar) -> bytes:
    key = value.as_py()
    return key.encode() if isinstance(key, str) else bytes(key)


def _out_of_order(before: bytes, after: bytes) -> ValueError:
    return ValueError(
        f"row {escape(after)} comes after {escape(before)}, but the rows of a task must ascend; "
        "hfile.spark.for_bulk_load sorts them"
    )


def _shown(rows: WrittenRange) -> str:
    return f"{escape(rows.first)} to {escape(rows.last)}"
