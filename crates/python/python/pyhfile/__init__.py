"""Apache HBase's files, snapshots, tables and stores, read without HBase, and HFiles for its bulk load.

=====================  ==================================================================
``open_hfile``         an HFile
``open_snapshot``      a snapshot in a root directory of HBase
``open_table``         a table of a running or abandoned root directory
``open_store``         an embedded store, for reading only
``list_snapshots``     the names of the snapshots in a root directory
``list_tables``        the names of its tables
``write_hfiles``       Arrow data as HFiles for HBase's bulk load
``split_points``       rows that divide a source into equal parts
=====================  ==================================================================

Each ``open_`` function returns an object with ``scan`` (Arrow record batches for pyarrow, polars and DuckDB),
``cells`` (an iterator), ``get`` (the cells of a row) and ``splits`` (parts that other processes read)::

    table = pyhfile.open_snapshot("/data/hbase", "users-monday")
    users = pyarrow.table(table.scan(types={"info:name": "string", "info:age": "int64"}))

What cannot be read raises a subclass of :class:`Error`, with the path and the offset.
"""

from ._errors import (
    DamagedError,
    Error,
    NotFoundError,
    TableWarning,
    UnsupportedError,
    ValueTypeError,
)
from ._hfile import (
    BatchIterator,
    CellIterator,
    HFile,
    Scan,
    Snapshot,
    Source,
    Split,
    Store,
    Table,
    __version__,
    list_snapshots,
    list_tables,
    open_hfile,
    open_snapshot,
    open_store,
    open_table,
    split_points,
    write_hfiles,
)
from ._tuples import Cell, Missing, Region, TornLog, Written, WrittenFile

__all__ = [
    "BatchIterator",
    "Cell",
    "CellIterator",
    "DamagedError",
    "Error",
    "HFile",
    "Missing",
    "NotFoundError",
    "Region",
    "Scan",
    "Snapshot",
    "Source",
    "Split",
    "Store",
    "Table",
    "TableWarning",
    "TornLog",
    "UnsupportedError",
    "ValueTypeError",
    "Written",
    "WrittenFile",
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
