"""Spark's types, Arrow's and those that the package decodes."""

from __future__ import annotations

from typing import NamedTuple, Optional

import pyarrow
import pyarrow.compute
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from ._text import escape, unescape


class _Type(NamedTuple):
    spark: DataType
    arrow: pyarrow.DataType
    name: str


_TYPES = [
    _Type(StringType(), pyarrow.string(), "string"),
    _Type(BinaryType(), pyarrow.binary(), "binary"),
    _Type(BooleanType(), pyarrow.bool_(), "bool"),
    _Type(ByteType(), pyarrow.int8(), "int8"),
    _Type(ShortType(), pyarrow.int16(), "int16"),
    _Type(IntegerType(), pyarrow.int32(), "int32"),
    _Type(LongType(), pyarrow.int64(), "int64"),
    _Type(FloatType(), pyarrow.float32(), "float32"),
    _Type(DoubleType(), pyarrow.float64(), "float64"),
    _Type(DateType(), pyarrow.date32(), "date"),
    # Spark's times have microseconds; those of scans have milliseconds.
    _Type(TimestampType(), pyarrow.timestamp("us", "UTC"), "timestamp"),
]

#: The columns of a frame with a row for each cell.
CELLS = StructType(
    [
        StructField("row", BinaryType()),
        StructField("family", BinaryType()),
        StructField("qualifier", BinaryType()),
        StructField("timestamp", LongType()),
        StructField("type", StringType()),
        StructField("value", BinaryType()),
        StructField("tags", BinaryType()),
        StructField("sequence_id", LongType()),
    ]
)

ROW = "row"


class Layout:
    """How the columns of a scan become those of a frame."""

    def __init__(self, schema: StructType, *, bad_as_null: bool = False) -> None:
        self._fields = list(schema.fields)
        self._bad_as_null = bad_as_null
        #: How many times became null because Spark has none that far.
        self.far_times = 0
        self.has_columns = any(":" in field.name for field in self._fields)
        if not self.has_columns:
            _check_cells(self._fields)
        names = [unescape(field.name) for field in self._fields]
        for field in self._fields:
            if names.count(unescape(field.name)) > 1:
                raise ValueError(f"several columns of the schema are {field.name}")

    @property
    def types(self) -> Optional[dict[bytes, str]]:
        """The types of the columns to scan; None for cells."""
        if not self.has_columns:
            return None
        columns = [field for field in self._fields if field.name != ROW]
        return {unescape(field.name): _type_of(field).name for field in columns}

    @property
    def row_type(self) -> Optional[str]:
        """The type of the row key; None if the frame does not have it, and for cells."""
        rows = [field for field in self._fields if field.name == ROW]
        return _type_of(rows[0]).name if rows and self.has_columns else None

    @property
    def families(self) -> set[bytes]:
        """The families of the columns."""
        return {column.split(b":", 1)[0] for column in self.types or {}}

    def to_frame_columns(self, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
        """Returns the columns that the frame has, in its order and with its nullability, which Spark compares."""
        columns = iter(range(1, batch.num_columns))
        arrays, fields = [], []
        for field in self._fields:
            if self.has_columns:
                # A scan has the row first, and then the columns as `types` has them.
                place = 0 if field.name == ROW else next(columns)
            else:
                place = batch.schema.get_field_index(field.name)
            kind, array = _type_of(field).arrow, batch.column(place)
            arrays.append(array if array.type == kind else self._cast(batch, field.name, array, kind))
            fields.append(pyarrow.field(field.name, kind, field.nullable))
        return pyarrow.record_batch(arrays, schema=pyarrow.schema(fields))

    def _cast(
        self, batch: pyarrow.RecordBatch, name: str, array: pyarrow.Array, kind: pyarrow.DataType
    ) -> pyarrow.Array:
        """Returns an array with Spark's type. Spark counts time in microseconds, so milliseconds can be too many."""
        if not pyarrow.types.is_timestamp(kind):
            return array.cast(kind)
        millis = array.cast(pyarrow.int64())
        limit = (2**63 - 1) // 1000
        is_far = pyarrow.compute.greater(pyarrow.compute.abs(millis), limit)
        # The absolute value of the least number is negative.
        is_far = pyarrow.compute.or_(is_far, pyarrow.compute.equal(millis, -(2**63)))
        if pyarrow.compute.any(is_far).as_py():
            if not self._bad_as_null:
                at = is_far.index(True).as_py()
                row = batch.column(0)[at].as_py()
                shown = escape(row) if isinstance(row, bytes) else row
                raise ValueError(f"row {shown}, {name}: {millis[at]} ms are beyond the times of Spark")
            self.far_times += pyarrow.compute.sum(is_far).as_py()
            array = pyarrow.compute.if_else(is_far, pyarrow.scalar(None, array.type), array)
        return array.cast(kind)


def spark_schema(schema: pyarrow.Schema) -> StructType:
    """Returns the schema of a frame with the columns of a scan."""
    return StructType([StructField(field.name, _of_arrow(field.type)) for field in schema])


def _of_arrow(kind: pyarrow.DataType) -> DataType:
    if pyarrow.types.is_decimal(kind):
        return DecimalType(kind.precision, kind.scale)
    if pyarrow.types.is_timestamp(kind):
        return TimestampType()
    return next(known.spark for known in _TYPES if known.arrow == kind)


def _type_of(field: StructField) -> _Type:
    kind = field.dataType
    if isinstance(kind, DecimalType):
        arrow = pyarrow.decimal128(kind.precision, kind.scale)
        return _Type(kind, arrow, f"decimal({kind.precision},{kind.scale})")
    for known in _TYPES:
        if type(known.spark) is type(kind):
            return known
    names = ", ".join([*(known.spark.simpleString() for known in _TYPES), "decimal"])
    raise ValueError(f"column {field.name}: values of type {kind.simpleString()} are not read; known are {names}")


def _check_cells(fields: list[StructField]) -> None:
    """Refuses columns that no cell has."""
    for field in fields:
        if field.name not in CELLS.names:
            raise ValueError(
                f"column {field.name} is neither family:qualifier nor one of a cell: {', '.join(CELLS.names)}"
            )
        if CELLS[field.name].dataType != field.dataType:
            raise ValueError(
                f"column {field.name} of cells has the type {CELLS[field.name].dataType.simpleString()}, "
                f"not {field.dataType.simpleString()}"
            )
