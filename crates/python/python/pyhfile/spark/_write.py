"""Frames become HFiles: what the driver and what each task does."""

from __future__ import annotations

import os
import time
import uuid
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Optional

import pyarrow
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import BinaryType, StringType, StructType

from .. import TableWarning, write_hfiles
from .._tuples import WrittenFile
from ._options import Options, local_path
from ._order import WrittenRange, check_no_overlap
from ._target import Move, Target
from ._text import parse_splits

_SETTINGS = ("compression", "encoding", "bloom", "filter", "family", "hbase_version")


@dataclass
class Attempt(WriterCommitMessage):
    """What an attempt of a task wrote."""

    number: str
    task: str
    files: list[WrittenFile]


class HFileWriter(DataSourceArrowWriter):
    """Writes the batches of each task with ``write_hfiles``, and commits them together."""

    def __init__(self, options: Options, schema: StructType, overwrite: bool) -> None:
        path = options.text("path")
        if not path:
            raise ValueError("save needs the path of a directory")
        self._arguments = _arguments(options)
        options.check_all_known()
        _check_row(self._arguments["row"] or "row", schema)
        self._target = Target(local_path(path), uuid.uuid4().hex, overwrite)
        for job in self._target.begin():
            warnings.warn(
                TableWarning(
                    f"{job}: left by an aborted job, or in use by a running one; "
                    'mode("overwrite") removes it: use that only if no other job runs'
                ),
                stacklevel=1,
            )

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> Attempt:
        """Writes the rows of a task, on a worker."""
        context = TaskContext.get()
        assert context is not None, "a task has a context"
        # The number of an attempt within its task repeats after an executor was lost.
        number = context.taskAttemptId()
        task = str(context.partitionId())
        first = next(iterator, None)
        if first is None:
            return Attempt(str(number), task, [])
        reader = pyarrow.RecordBatchReader.from_batches(first.schema, chain([first], iterator))
        directory = self._target.attempt(number)
        written = write_hfiles(reader, directory, sort=False, **self._arguments)
        for file in written.files:
            self._target.check_family(file.family)
        return Attempt(str(number), task, written.files)

    def commit(self, messages: list[Optional[WriterCommitMessage]]) -> None:
        """Moves the files of all tasks into the directory, on the driver."""
        attempts = [message for message in messages if isinstance(message, Attempt)]
        if len(attempts) != len(messages):
            raise RuntimeError(f"{len(messages) - len(attempts)} tasks do not say what they wrote")
        check_no_overlap(
            WrittenRange(file.family, file.first_row, file.last_row, attempt.task)
            for attempt in attempts
            for file in attempt.files
        )
        self._target.commit(
            [
                Move(attempt.number, file.family, os.path.basename(file.path), file.size)
                for attempt in attempts
                for file in attempt.files
            ]
        )

    def abort(self, messages: list[Optional[WriterCommitMessage]]) -> None:
        """Removes the files of the job, on the driver."""
        self._target.abort()


def _arguments(options: Options) -> dict[str, Any]:
    """Returns the arguments of ``write_hfiles``, which are those of all tasks."""
    now = int(time.time() * 1000)
    timestamp = options.text("timestamp")
    create_time = options.integer("create_time")
    arguments: dict[str, Any] = dict(options.texts(_SETTINGS))
    arguments.update(
        row=options.text("row"),
        columns=_columns(options),
        types=options.mapping("types"),
        splits=parse_splits(options.text("splits") or ""),
        tags=options.boolean("tags"),
        block_size=options.integer("block_size"),
        # All tasks and their repetitions write the same cells.
        create_time=now if create_time is None else create_time,
    )
    if arguments["row"] is not None:
        if timestamp == "":
            raise ValueError("option timestamp is empty: give milliseconds or the name of a column")
        if timestamp is None:
            arguments["timestamp"] = now
        elif timestamp.isdecimal():
            arguments["timestamp"] = int(timestamp)
        else:
            arguments["timestamp"] = timestamp
    elif timestamp is not None:
        raise ValueError("option timestamp needs the option row: without it, each row is a cell and has a timestamp")
    return arguments


def _columns(options: Options) -> Any:
    text = options.text("columns")
    is_mapping = text is not None and text.startswith("{")
    return options.mapping("columns") if is_mapping else options.names("columns")


def _check_row(row: str, schema: StructType) -> None:
    """Refuses a row key that the frame does not have, or whose order is not that of bytes."""
    if row not in schema.names:
        known = ", ".join(schema.names)
        raise ValueError(f"no column is named {row}; known are {known}; option row names the column of the row key")
    kind = schema[row].dataType
    if not isinstance(kind, (BinaryType, StringType)):
        raise ValueError(f"column {row} has the type {kind.simpleString()}, but row keys must be string or binary")
