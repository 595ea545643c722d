"""A program that uses the whole package, for mypy and pyright in strict mode. It is not run."""

from __future__ import annotations

import pickle

import pyhfile
import pyhfile.spark
from pyspark.sql import DataFrame, SparkSession


def read(root: str) -> int:
    table = pyhfile.open_table(root, "t1")
    with pyhfile.open_snapshot(root, "s1") as snapshot:
        names: list[bytes] = snapshot.column_names(sample=10)
        scan: pyhfile.Scan = snapshot.scan(types={"f:a": "decimal(10,2)", "f:b": "date"}, on_error="null")
        splits: list[pyhfile.Split] = snapshot.splits(types=names, target_bytes=1 << 28)
    rows: int = scan.count() + scan.bad_values
    for split in splits:
        again: pyhfile.Split = pyhfile.Split(bytes(split))
        start: bytes = again.start
        stop: bytes | None = again.stop
        blocks: int | None = again.scan().data_blocks
        rows += len(start) + len(stop or b"") + (blocks or 0) + again.estimated_bytes
    cells: list[pyhfile.Cell] = list(table.cells(with_wal=True, columns=["f:a", b"f:b"]))
    data: bytes = pickle.dumps(table)
    return rows + len(cells) + len(data)


def write(scan: pyhfile.Scan, directory: str, splits: list[bytes]) -> pyhfile.Written:
    return pyhfile.write_hfiles(scan, directory, row="row", splits=splits, types={"f:q": "int8"})


def spark(session: SparkSession, frame: DataFrame, table: pyhfile.Table) -> tuple[DataFrame, DataFrame, str]:
    pyhfile.spark.register(session)
    splits: list[bytes] = table.region_splits
    ready: DataFrame = pyhfile.spark.for_bulk_load(frame, "id", splits)
    return ready, pyhfile.spark.read_splits(session, table.splits()), pyhfile.spark.splits_option([*splits, "z"])
