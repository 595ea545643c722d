"""The format ``hbase-files``."""

from __future__ import annotations

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter
from pyspark.sql.types import StructType

from ._options import Options
from ._read import HFileReader
from ._schema import CELLS
from ._write import HFileWriter


class HBaseFiles(DataSource):
    """The format, for one read or write."""

    @classmethod
    def name(cls) -> str:
        """Returns the name of the format."""
        return "hbase-files"

    def schema(self) -> StructType:
        """Returns the columns of a frame for which none were chosen."""
        return CELLS

    def reader(self, schema: StructType) -> DataSourceReader:
        """Returns the reader of a query, on the driver."""
        return HFileReader(Options(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Returns the writer of a job, on the driver."""
        return HFileWriter(Options(self.options), schema, overwrite)
