"""The exceptions of the package."""

from __future__ import annotations

from typing import Optional


class Error(OSError):
    """Something cannot be read. The message says what, where and why.

    ``path`` is the file, ``offset`` the place in it in bytes, ``errno`` the number of the operating
    system's error; each is None if it is unknown.
    """

    path: Optional[str]
    offset: Optional[int]

    def __init__(
        self,
        message: str,
        *,
        path: Optional[str] = None,
        offset: Optional[int] = None,
        errno: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.offset = offset
        self.errno = errno


class NotFoundError(Error, FileNotFoundError):
    """There is no such file, snapshot, table, store or family."""


class DamagedError(Error):
    """Bytes contradict the format, or a file that a table needs is missing. A retry does not help."""


class UnsupportedError(Error):
    """The file is sound, but needs what this package does not read, such as encryption."""


class ValueTypeError(Error, ValueError):
    """A value is not of the type that was given for its column, as eight bytes are for int64."""



class TableWarning(UserWarning):
    """A part of a directory leaves a doubt: which regions count, or whether a log is whole.

    The message begins with the path of the file or directory. ``warnings.simplefilter("error",
    pyhfile.TableWarning)`` makes it an exception.
    """


for _class in (Error, NotFoundError, DamagedError, UnsupportedError, ValueTypeError, TableWarning):
    _class.__module__ = "pyhfile"
