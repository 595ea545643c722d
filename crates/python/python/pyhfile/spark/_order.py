"""The order of rows between tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ._text import escape


class WrittenRange(NamedTuple):
    """The rows that a task wrote of a family into a file."""

    family: str
    first: bytes
    last: bytes
    task: str


def check_no_overlap(ranges: Iterable[WrittenRange]) -> None:
    """Refuses rows of a family that two tasks wrote, or that are between those of another task."""
    last: WrittenRange | None = None
    for rows in sorted(ranges):
        if last is not None and last.family == rows.family:
            if rows.first <= last.last and rows.task != last.task:
                raise ValueError(
                    f"family {rows.family}: rows {_shown(last)} of task {last.task} and {_shown(rows)} of task "
                    f"{rows.task} overlap; pyhfile.spark.for_bulk_load brings the rows of a region into one task"
                )
            if rows.last < last.last:
                continue
        last = rows


def _shown(rows: WrittenRange) -> str:
    return f"{escape(rows.first)} to {escape(rows.last)}"
