"""The types of the compiled part of the package; its docstrings are there."""

from collections.abc import Iterable, Sequence
from os import PathLike
from types import TracebackType
from typing import Literal, Protocol, TypeVar, Union, final

import pyarrow
from typing_extensions import Self, TypeAlias, disjoint_base

from ._tuples import Cell, Missing, Region, TornLog, Written

__all__ = [
    "BatchIterator",
    "CellIterator",
    "HFile",
    "Scan",
    "Snapshot",
    "Source",
    "Split",
    "Store",
    "Table",
    "__version__",
    "list_snapshots",
    "list_tables",
    "open_hfile",
    "open_snapshot",
    "open_store",
    "open_table",
    "split_points",
    "write_hfiles",
]

_Bytes: TypeAlias = Union[bytes, bytearray, str]
_Names: TypeAlias = Union[_Bytes, Iterable[_Bytes]]
_Path: TypeAlias = Union[str, PathLike[str]]
_Type: TypeAlias = Literal[
    "string",
    "int8",
    "int16",
    "int32",
    "int64",
    "float32",
    "float64",
    "bool",
    "timestamp",
    "date",
    "decimal",
    "binary-hex",
    "binary",
    "text",
    "byte",
    "short",
    "int",
    "long",
    "float",
    "double",
    "boolean",
]
# A decimal can have numbers, ``decimal(10,2)``, and names are accepted in any case, so a name is any text. The
# literals are what editors suggest; they are the names of the command line.
_TypeName: TypeAlias = Union[_Type, str]
_Compression: TypeAlias = Literal["NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"]
_Encoding: TypeAlias = Literal["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"]
_Bloom: TypeAlias = Literal["NONE", "ROW", "ROWCOL"]
_Filter: TypeAlias = Literal[
    "classic-bloom",
    "blocked-bloom",
    "split-block",
    "cuckoo",
    "ribbon",
    "binary-fuse",
]
# A mapping does not accept a mapping of another type of keys, so the type of keys is a variable.
_Key = TypeVar("_Key", bound=_Bytes)
_Types: TypeAlias = Union[dict[_Key, _TypeName], _Bytes, Iterable[_Bytes]]

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

__version__: str

def open_hfile(path: _Path) -> HFile: ...
def open_snapshot(root: _Path, name: str) -> Snapshot: ...
def open_table(root: _Path, name: str, wal_root: _Path | None = None) -> Table: ...
def open_store(path: _Path, *, cache_bytes: int | None = None) -> Store: ...
def list_snapshots(root: _Path) -> list[str]: ...
def list_tables(root: _Path) -> list[str]: ...
def split_points(source: Source, n: int) -> list[bytes]: ...
def write_hfiles(
    data: _ArrowStream,
    directory: _Path,
    *,
    row: str | Iterable[str] | None = None,
    columns: dict[str, _Key] | Iterable[str] | None = None,
    types: dict[_Key, _TypeName] | None = None,
    timestamp: int | str | None = None,
    splits: Iterable[_Bytes] | None = None,
    create_time: int | None = None,
    compression: _Compression | str | None = None,
    encoding: _Encoding | str | None = None,
    bloom: _Bloom | str | None = None,
    filter: _Filter | str | None = None,
    sort: bool = True,
    memory: int = 268_435_456,
    temporary_directory: _Path | None = None,
    row_type: _TypeName | None = None,
    row_separator: _Bytes | None = None,
    family: str | None = None,
    block_size: int | None = None,
    tags: bool = False,
    hbase_version: str | None = None,
    skip_bad: bool = False,
    force: bool = False,
) -> Written: ...

@disjoint_base
class Source:
    def scan(
        self,
        *,
        start: _Bytes | None = None,
        stop: _Bytes | None = None,
        prefix: _Bytes | None = None,
        families: _Names | None = None,
        columns: _Names | None = None,
        types: _Types[_Key] | None = None,
        row_type: _TypeName | None = None,
        timestamps: bool = False,
        all_rows: bool = False,
        versions: int | None = None,
        min_timestamp: int | None = None,
        max_timestamp: int | None = None,
        raw: bool = False,
        now: int | None = None,
        skip_damaged: bool = False,
        with_wal: bool = False,
        wal_memory: int | None = None,
        wal_directory: _Path | None = None,
        threads: int = 1,
        batch_size: int | None = None,
        on_error: Literal["raise", "null"] = "raise",
    ) -> Scan: ...
    def splits(
        self,
        *,
        target_bytes: int | None = None,
        start: _Bytes | None = None,
        stop: _Bytes | None = None,
        prefix: _Bytes | None = None,
        families: _Names | None = None,
        columns: _Names | None = None,
        types: _Types[_Key] | None = None,
        row_type: _TypeName | None = None,
        timestamps: bool = False,
        all_rows: bool = False,
        versions: int | None = None,
        min_timestamp: int | None = None,
        max_timestamp: int | None = None,
        raw: bool = False,
        now: int | None = None,
        skip_damaged: bool = False,
        with_wal: bool = False,
        wal_memory: int | None = None,
        wal_directory: _Path | None = None,
        threads: int = 1,
        batch_size: int | None = None,
        on_error: Literal["raise", "null"] = "raise",
    ) -> list[Split]: ...
    def cells(
        self,
        *,
        start: _Bytes | None = None,
        stop: _Bytes | None = None,
        prefix: _Bytes | None = None,
        families: _Names | None = None,
        columns: _Names | None = None,
        versions: int | None = None,
        min_timestamp: int | None = None,
        max_timestamp: int | None = None,
        raw: bool = False,
        now: int | None = None,
        skip_damaged: bool = False,
        with_wal: bool = False,
        wal_memory: int | None = None,
        wal_directory: _Path | None = None,
        threads: int = 1,
    ) -> CellIterator: ...
    def column_names(
        self,
        *,
        sample: int | None = None,
        start: _Bytes | None = None,
        stop: _Bytes | None = None,
        prefix: _Bytes | None = None,
        families: _Names | None = None,
        now: int | None = None,
        with_wal: bool = False,
    ) -> list[bytes]: ...
    def get(
        self,
        row: _Bytes,
        *,
        families: _Names | None = None,
        columns: _Names | None = None,
        versions: int | None = None,
        min_timestamp: int | None = None,
        max_timestamp: int | None = None,
        raw: bool = False,
        now: int | None = None,
        skip_damaged: bool = False,
        with_wal: bool = False,
        wal_memory: int | None = None,
        wal_directory: _Path | None = None,
    ) -> list[Cell]: ...
    def close(self) -> None: ...
    def __reduce__(self) -> tuple[object, ...]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...

@final
class HFile(Source):
    @property
    def path(self) -> str: ...
    @property
    def is_half(self) -> bool: ...
    @property
    def size(self) -> int: ...
    @property
    def entry_count(self) -> int: ...
    @property
    def family(self) -> bytes | None: ...
    @property
    def first_row(self) -> bytes | None: ...
    @property
    def last_row(self) -> bytes | None: ...
    @property
    def compression(self) -> str: ...
    @property
    def encoding(self) -> str: ...
    @property
    def time_range(self) -> tuple[int, int] | None: ...
    @property
    def file_info(self) -> dict[bytes, bytes]: ...

@disjoint_base
class Table(Source):
    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def families(self) -> dict[str, dict[str, str]]: ...
    @property
    def regions(self) -> list[Region]: ...
    @property
    def region_splits(self) -> list[bytes]: ...
    @property
    def write_ahead_logs(self) -> list[str]: ...
    @property
    def problems(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...

@final
class Snapshot(Table):
    @property
    def snapshot_name(self) -> str: ...
    @property
    def creation_time(self) -> int: ...
    @property
    def owner(self) -> str | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def ttl(self) -> int | None: ...
    @property
    def is_expired(self) -> bool: ...

@final
class Store(Source):
    @property
    def path(self) -> str: ...
    @property
    def families(self) -> dict[str, dict[str, str]]: ...

@final
class Split:
    def __new__(cls, data: bytes) -> Self: ...
    def scan(self) -> Scan: ...
    def within(self, ranges: Sequence[tuple[_Bytes, _Bytes | None]]) -> list[Split]: ...
    @property
    def region(self) -> str | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def start(self) -> bytes: ...
    @property
    def stop(self) -> bytes | None: ...
    @property
    def estimated_bytes(self) -> int: ...
    def __bytes__(self) -> bytes: ...
    def __reduce__(self) -> tuple[type[Self], tuple[bytes]]: ...

@final
class Scan:
    def __reduce__(self) -> tuple[object, ...]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def schema(self) -> pyarrow.Schema: ...
    def count(self) -> int: ...
    def to_reader(self) -> pyarrow.RecordBatchReader: ...
    def read_all(self) -> pyarrow.Table: ...
    def __iter__(self) -> BatchIterator: ...
    @property
    def missing(self) -> list[Missing]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def torn_logs(self) -> list[TornLog]: ...
    @property
    def bad_values(self) -> int: ...
    @property
    def data_blocks(self) -> int | None: ...

@final
class BatchIterator:
    def __iter__(self) -> Self: ...
    def __next__(self) -> pyarrow.RecordBatch: ...

@final
class CellIterator:
    def __iter__(self) -> Self: ...
    def __next__(self) -> Cell: ...
    @property
    def missing(self) -> list[Missing]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def torn_logs(self) -> list[TornLog]: ...
