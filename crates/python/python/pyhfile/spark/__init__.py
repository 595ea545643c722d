"""Apache Spark reads HBase's files, and writes HFiles for HBase's bulk load.

=====================  ==================================================================
``register``           makes the format ``hbase-files`` known to a Spark session
``for_bulk_load``      brings the rows of each region into one task, sorted
``splits_option``      the text of the option ``splits``
``read_splits``        a frame of splits, for Spark 3.5
=====================  ==================================================================

The format needs PySpark 4.0 or later and pyarrow on the driver and on all workers: ``pip install pyhfile[spark]``. No jar is needed.

A snapshot becomes a frame, of all cells or of typed columns; nothing is restored, and nothing is written into the
root directory::

    pyhfile.spark.register(spark)
    users = (spark.read.format("hbase-files").schema("row string, `info:name` string, `info:age` int")
        .option("root", "/data/hbase").option("snapshot", "users-monday").load())

A frame becomes HFiles::

    splits = pyhfile.open_table("/data/hbase", "users").region_splits
    ready = pyhfile.spark.for_bulk_load(users, "id", splits)
    (ready.write.format("hbase-files").option("row", "id")
        .option("splits", pyhfile.spark.splits_option(splits)).mode("append").save("/shared/users"))
"""

from ._bulk_load import for_bulk_load
from ._read_splits import read_splits
from ._register import register
from ._text import splits_option

__all__ = ["for_bulk_load", "read_splits", "register", "splits_option"]
