"""HBase's files become frames: what the driver and what each task does."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from .._errors import TableWarning
from .._hfile import Scan, Split
from .._tuples import Missing
from ._options import Options, local_path
from ._schema import Layout
from ._sources import Sources
from ._text import escape, unescape

# As of Spark's own files: spark.sql.files.maxPartitionBytes.
_TARGET_BYTES = 128 << 20


class SplitPartition(InputPartition):
    """The split that a task reads."""

    def __init__(self, split: Split) -> None:
        super().__init__(split)


class HFileReader(DataSourceReader):
    """Divides a source into splits, on the driver, and reads them, in tasks."""

    def __init__(self, options: Options, schema: StructType) -> None:
        self._layout = Layout(schema, bad_as_null=options.text("on_error") == "null")
        self._sources = Sources.of_options(options)
        counters = options.text("counters")
        self._counters = counters and local_path(counters)
        self._arguments = _arguments(options, self._layout)
        options.check_all_known()

    def partitions(self) -> list[InputPartition]:
        """Returns what each task reads, on the driver."""
        parts: list[InputPartition] = []
        for opened in self._sources.open(self._layout, self._arguments):
            with opened.source as source:
                parts.extend(SplitPartition(split) for split in source.splits(**opened.arguments))
        return parts

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Returns the record batches of a task, on a worker, and writes counters at their end."""
        # Spark makes a partition without a split if there is none.
        split = partition.value
        if split is None:
            return
        scan = split.scan()
        try:
            yield from self._batches(scan)
        finally:
            # Also if Spark takes no more rows.
            for lost in scan.missing:
                _warn(lost)

    def _batches(self, scan: Scan) -> Iterator[pyarrow.RecordBatch]:
        """Returns the batches of a scan, and writes counters at their end."""
        rows, seconds = 0, 0.0
        far_before = self._layout.far_times
        began = time.thread_time()
        for batch in scan:
            arranged = self._layout.to_frame_columns(batch)
            rows += arranged.num_rows
            seconds += time.thread_time() - began
            yield arranged
            began = time.thread_time()
        if self._counters:
            counters = {
                "rows": rows,
                "data_blocks": scan.data_blocks or 0,
                "bad_values": scan.bad_values + self._layout.far_times - far_before,
                "missing": [_text(lost) for lost in scan.missing],
                "cpu_seconds": seconds + time.thread_time() - began,
            }
            _write_counters(self._counters, counters)


def _arguments(options: Options, layout: Layout) -> dict[str, Any]:
    """Returns the arguments of ``splits``."""
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
        "skip_damaged": options.boolean("skip_damaged"),
        "batch_size": options.integer("batch_size"),
        "on_error": options.text("on_error") or "raise",
    }
    for name in ("start", "stop", "prefix"):
        text = options.text(name)
        arguments[name] = None if text is None else unescape(text)
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


def _text(lost: Missing) -> str:
    """Returns what a task left out, in words."""
    first = "the start of the table" if lost.first_row is None else escape(lost.first_row)
    last = "the end of the table" if lost.last_row is None else escape(lost.last_row)
    what = lost.what if lost.what.startswith(lost.path) else f"{lost.path}: {lost.what}"
    return f"{what}; rows between {first} and {last} may be missing or incomplete"


def _warn(lost: Missing) -> None:
    """Warns in the log of a worker. Workers live on, so the warning is not one that is shown once only."""
    warnings.warn_explicit(_text(lost), TableWarning, __name__, 1, registry={})


def _write_counters(directory: str, counters: dict[str, Any]) -> None:
    """Writes a file that is whole as soon as others see it."""
    context = TaskContext.get()
    assert context is not None, "a task has a context"
    path = os.path.join(directory, f"{context.taskAttemptId()}.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"partition": context.partitionId(), **counters}, file)
    os.replace(path + ".part", path)
