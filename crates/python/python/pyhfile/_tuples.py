"""The named tuples of the package."""

from __future__ import annotations

from typing import NamedTuple, Optional


class Cell(NamedTuple):
    """A cell: a version of a column, or a delete marker."""

    row: bytes
    family: bytes
    qualifier: bytes
    #: Milliseconds since 1970.
    timestamp: int
    #: ``Put``, or of delete markers ``Delete``, ``DeleteColumn``, ``DeleteFamily``, ``DeleteFamilyVersion``.
    type: str
    value: bytes
    #: The tags as they are stored, each ``u16 BE length, u8 type, data``; None without tags.
    tags: Optional[bytes]
    #: The sequence id of the write; 0 if the file stores none.
    sequence_id: int


class Missing(NamedTuple):
    """Cells that a scan left out because a file or a part of it is damaged or missing."""

    #: The file that is damaged or missing: ``REGION/FAMILY/NAME`` if it could not be opened, its name if it
    #: is a MOB file, and otherwise its path.
    path: str
    #: What is wrong.
    what: str
    #: The encoded name of the region; empty for a write-ahead log, a MOB file and a problem of the table.
    region: str
    #: The family; empty for a write-ahead log and a problem of the table.
    family: bytes
    #: The last readable row before the damage, or the start of the region; None if rows from the start of
    #: the table may be missing.
    first_row: Optional[bytes]
    #: The first readable row after the damage, or the end of the region; None if rows to the end of the
    #: table may be missing.
    last_row: Optional[bytes]


class TornLog(NamedTuple):
    """A torn write-ahead log: it ends within an entry, its header or its trailer.

    Its server died or still writes it, or a copy of it was cut off.
    """

    #: The log.
    path: str
    #: The offset of the unfinished part in the file.
    offset: int
    #: The number of bytes from there to the end of the file, which were not read.
    bytes: int
    #: The unfinished part, such as ``an entry``.
    part: str


class Region(NamedTuple):
    """A region of a table."""

    #: The encoded name, which names the region's directory.
    name: str
    #: The smallest row that the region can have; empty for the first region.
    start_key: bytes
    #: The smallest row after the region; empty for the last region.
    end_key: bytes
    #: The number of store files.
    files: int


class WrittenFile(NamedTuple):
    """An HFile that ``write_hfiles`` wrote: the cells of one family in one region."""

    #: The path of the file.
    path: str
    #: The family.
    family: str
    #: The number of cells.
    cells: int
    #: The bytes of the file.
    size: int
    #: The first row.
    first_row: bytes
    #: The last row.
    last_row: bytes


class Written(NamedTuple):
    """What ``write_hfiles`` wrote."""

    #: The files, by family and row.
    files: list[WrittenFile]
    #: The number of cells in all files.
    cells: int
    #: The number of rows that were skipped, because they have a bad value.
    bad_rows: int


for _class in (Cell, Missing, Region, TornLog, Written, WrittenFile):
    _class.__module__ = "pyhfile"
