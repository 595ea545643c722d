"""Apache Spark reads HBase's files, and writes HFiles for HBase's bulk load.

=====================  ==================================================================
``register``           makes the format ``hbase-files`` known to a Spark session
``for_bulk_load``      brings the rows of each region into one task, sorted
``splits_option``      the text of the option ``splits``
=====================  ==================================================================

Needs PySpark 4.0 or later and pyarrow on the driver and on all workers: ``pip install hfile[spark]``. No jar is needed.

A frame becomes HFiles::

    hfile.spark.register(spark)
    splits = hfile.open_table("/data/hbase", "users").splits
    ready = hfile.spark.for_bulk_load(users, "id", splits)
    (ready.write.format("hbase-files").option("row", "id")
        .option("splits", hfile.spark.splits_option(splits)).mode("append").save("/shared/users"))
"""

from ._bulk_load import for_bulk_load
from ._register import register
from ._text import splits_option

__all__ = ["for_bulk_load", "register", "splits_option"]
