"""HBase's files become frames: what the driver and what each task does."""

from __future__ import annotations

import bisect
import json
import os
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import pyarrow
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import BinaryType, StringType, StructType

from .._hfile import HFile, Source, Split, Table
from ._options import Options, local_path
from ._ranges import ALL, ReadRange, intersection, with_prefix
from ._schema import ROW, Layout
from ._sources import Sources
from ._text import unescape

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

# As of Spark's own files: spark.sql.files.maxPartitionBytes.
_TARGET_BYTES = 128 << 20
# Maximum number of tasks for more ranges of rows than this, as those of an IN list.
_TASKS_OF_ROWS = 32


class SplitPartition(InputPartition):
    """The splits that a task reads."""

    def __init__(self, splits: list[Split]) -> None:
        super().__init__(splits)


class HFileReader(DataSourceReader):
    """Divides a source into splits, on the driver, and reads them, in tasks."""

    def __init__(self, options: Options, schema: StructType) -> None:
        self._layout = Layout(schema, bad_as_null=options.text("on_error") == "null")
        self._sources = Sources.of_options(options)
        self._rows = _rows_of_options(options)
        counters = options.text("counters")
        self._counters = counters and local_path(counters)
        self._arguments = _arguments(options, self._layout)
        options.check_all_known()
        rows = [field.dataType for field in schema.fields if field.name == ROW]
        self._rows_are_bytes = all(isinstance(kind, (BinaryType, StringType)) for kind in rows)

    def partitions(self) -> list[InputPartition]:
        """Returns what each task reads, on the driver."""
        parts: list[list[Split]] = []
        for opened in self._sources.open(self._layout, self._arguments):
            with opened.source as source:
                parts.extend([split] for split in _splits(source, self._rows, opened.arguments))
        if len(self._rows) > _TASKS_OF_ROWS:
            size = -(-len(parts) // _TASKS_OF_ROWS)
            grouped = (parts[first : first + size] for first in range(0, len(parts), size))
            parts = [[split for part in group for split in part] for group in grouped]
        return [SplitPartition(splits) for splits in parts]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Returns the record batches of a task, on a worker."""
        # Spark makes a partition without splits if there is none.
        splits = partition.value or []
        if not self._counters:
            return self._batches(splits)
        return self._counted(splits, self._counters)

    def _batches(self, splits: Iterable[Split]) -> Iterator[pyarrow.RecordBatch]:
        for split in splits:
            for batch in split.scan():
                yield self._layout.to_frame_columns(batch)

    def _counted(self, splits: list[Split], directory: str) -> Iterator[pyarrow.RecordBatch]:
        """Returns the same batches, and writes counters at their end."""
        rows, blocks, bad_values, seconds = 0, 0, 0, 0.0
        far_before = self._layout.far_times
        began = time.thread_time()
        for split in splits:
            scan = split.scan()
            for batch in scan:
                arranged = self._layout.to_frame_columns(batch)
                rows += arranged.num_rows
                seconds += time.thread_time() - began
                yield arranged
                began = time.thread_time()
            blocks += scan.data_blocks or 0
            bad_values += scan.bad_values
        seconds += time.thread_time() - began
        counters = {
            "splits": len(splits),
            "rows": rows,
            "data_blocks": blocks,
            "bad_values": bad_values + self._layout.far_times - far_before,
            "cpu_seconds": seconds,
        }
        _write_counters(directory, counters)


class PushingReader(HFileReader):
    """A reader that reads only rows that the filters of a query allow.

    A class of its own: Spark refuses each read by a class with this method while filters are not pushed.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Takes the filters on the row key. Spark evaluates all of them again."""
        # Spark 4.0 has no filters to import.
        from ._filters import rows_of_filter

        if self._rows_are_bytes:
            for condition in filters:
                allowed = rows_of_filter(condition)
                if allowed is not None:
                    self._rows = intersection(self._rows, allowed)
        return filters


class _RowsOfRegion(NamedTuple):
    """A region, and ranges of its rows that are read."""

    start: bytes
    stop: Optional[bytes]
    rows: list[ReadRange]


def _splits(source: Source, rows: list[ReadRange], arguments: dict[str, Any]) -> Iterator[Split]:
    """Returns the splits of a source for some ranges of rows."""
    if len(rows) == 1:
        yield from source.splits(start=rows[0].start, stop=rows[0].stop, **arguments)
        return
    # Several ranges are rows of an IN list, for which regions need not be divided. Each region is planned once.
    arguments = {**arguments, "target_bytes": None}
    for region in _by_region(source, rows):
        for split in source.splits(start=region.start, stop=region.stop, **arguments):
            yield from split.within(region.rows)


def _by_region(source: Source, rows: list[ReadRange]) -> list[_RowsOfRegion]:
    """Returns the regions that can have the rows, each of which is in one; an HFile counts as a region."""
    if isinstance(source, HFile):
        first, last = source.first_row or b"", source.last_row or b""
        inside = [keys for keys in rows if first <= keys.start <= last]
        return [_RowsOfRegion(b"", None, inside)] if inside else []
    assert isinstance(source, Table), "a source of frames"
    regions = sorted(source.regions, key=lambda region: region.start_key)
    if any(left.end_key != right.start_key for left, right in zip(regions, regions[1:])):
        # Of a table with a hole or with regions that overlap, any region can have any row.
        return [_RowsOfRegion(b"", None, rows)]
    starts = [region.start_key for region in regions]
    found: dict[int, list[ReadRange]] = {}
    for keys in rows:
        at = max(bisect.bisect_right(starts, keys.start) - 1, 0)
        found.setdefault(at, []).append(keys)
    return [
        _RowsOfRegion(regions[at].start_key, regions[at].end_key or None, inside)
        for at, inside in found.items()
    ]


def _arguments(options: Options, layout: Layout) -> dict[str, Any]:
    """Returns the arguments of ``splits`` but for the range of rows."""
    now = options.integer("now")
    target = options.integer("target_bytes")
    with_wal = options.boolean("with_wal")
    if target is None and not with_wal:
        # With logs, each task reads all of them, so regions are not divided.
        target = _TARGET_BYTES
    arguments: dict[str, Any] = {
        "target_bytes": target,
        "versions": options.integer("versions"),
        "min_timestamp": options.integer("min_timestamp"),
        "max_timestamp": options.integer("max_timestamp"),
        "raw": options.boolean("raw"),
        # Cells expire at the same time in all tasks, and in tasks that run again.
        "now": int(time.time() * 1000) if now is None else now,
        "with_wal": with_wal,
        "batch_size": options.integer("batch_size"),
        "on_error": options.text("on_error") or "raise",
    }
    families, columns = options.names("families"), options.names("columns")
    all_rows = options.boolean("all_rows")
    if layout.has_columns:
        if families or columns:
            raise ValueError("options families and columns choose cells; the schema names columns already")
        arguments.update(types=layout.types, row_type=layout.row_type, all_rows=all_rows)
    else:
        if all_rows:
            raise ValueError("option all_rows needs a schema with columns family:qualifier")
        arguments["families"] = families and [unescape(name) for name in families]
        arguments["columns"] = columns and [unescape(name) for name in columns]
    return arguments


def _rows_of_options(options: Options) -> list[ReadRange]:
    """Returns the rows of the options ``start``, ``stop`` and ``prefix``."""
    start, stop, prefix = (options.text(name) for name in ("start", "stop", "prefix"))
    rows = intersection(ALL, [ReadRange(unescape(start or ""), None if stop is None else unescape(stop))])
    return intersection(rows, [with_prefix(unescape(prefix or ""))])


def _write_counters(directory: str, counters: dict[str, Any]) -> None:
    """Writes a file that is whole as soon as others see it."""
    context = TaskContext.get()
    assert context is not None, "a task has a context"
    path = os.path.join(directory, f"{context.taskAttemptId()}.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"partition": context.partitionId(), **counters}, file)
    os.replace(path + ".part", path)
