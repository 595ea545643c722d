"""What a frame is read from: a snapshot, a table, or HFiles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from .._hfile import Source, open_hfile, open_snapshot, open_table
from ._options import Options, local_path
from ._schema import Layout
from ._target import COMMITTING, SUCCESS, TEMPORARY
from ._text import escape


class Sources(NamedTuple):
    """The names of a source, which is opened while a query is planned."""

    root: Optional[str]
    snapshot: Optional[str]
    table: Optional[str]
    wal_root: Optional[str]
    path: Optional[str]

    @classmethod
    def of_options(cls, options: Options) -> Sources:
        """Takes the names of a source from options."""
        names = {name: options.text(name) for name in cls._fields}
        for name in ("root", "wal_root", "path"):
            text = names[name]
            names[name] = local_path(text) if text else None
        sources = cls(**names)
        kinds = [kind for kind in (sources.snapshot, sources.table, sources.path) if kind]
        needs_root = sources.path is None
        if len(kinds) != 1 or needs_root != bool(sources.root):
            raise ValueError(
                "a source is needed: the options root and snapshot, the options root and table, or the path of HFiles"
            )
        if sources.wal_root is not None and sources.table is None:
            raise ValueError("option wal_root is for a table: a snapshot and HFiles have no logs")
        return sources

    def open(self, layout: Layout, arguments: dict[str, Any]) -> Iterator[OpenSource]:
        """Opens what is read."""
        if self.snapshot is not None:
            yield OpenSource(open_snapshot(self.root or "", self.snapshot), arguments)
        elif self.table is not None:
            yield OpenSource(open_table(self.root or "", self.table, self.wal_root), arguments)
        else:
            if len(layout.families) > 1:
                raise ValueError(
                    "columns of several families are in several files; read a table or a snapshot, or cells"
                )
            families = layout.families or _families_of(arguments)
            for file in self._files(families, is_raw=arguments["raw"]):
                yield OpenSource(open_hfile(file.path), _of_family(arguments, file.family))

    def _files(self, families: set[bytes], is_raw: bool) -> list[_File]:
        """Returns the files of a path that have the families; all files without families."""
        files = [_File.of_path(path) for path in _paths(self.path or "")]
        if not files:
            raise ValueError(f"no HFile is below {self.path}")
        found = {file.family for file in files if file.family is not None}
        missing = families - found
        # Files without cells do not say which family they are of.
        if missing and found:
            names = ", ".join(escape(name) for name in sorted(missing))
            known = ", ".join(escape(name) for name in sorted(found))
            raise ValueError(f"no HFile below {self.path} has the family {names}; they have {known}")
        if families:
            files = [file for file in files if file.family in families]
        if not is_raw:
            _check_no_overlap(files)
        return files


class OpenSource(NamedTuple):
    """A source, and the arguments of its ``splits``."""

    source: Source
    arguments: dict[str, Any]


def _families_of(arguments: dict[str, Any]) -> set[bytes]:
    """Returns the families that the options ``families`` and ``columns`` choose."""
    columns: list[bytes] = arguments.get("columns") or []
    return {*(arguments.get("families") or []), *(column.split(b":", 1)[0] for column in columns)}


def _of_family(arguments: dict[str, Any], family: Optional[bytes]) -> dict[str, Any]:
    """Returns the arguments for a file, which has one family."""
    chosen = dict(arguments)
    if chosen.get("families"):
        chosen["families"] = [name for name in chosen["families"] if name == family] or None
    if chosen.get("columns"):
        of_file = [name for name in chosen["columns"] if name.split(b":", 1)[0] == family]
        chosen["columns"] = of_file or None
    return chosen


class _File(NamedTuple):
    """An HFile; its names and limits are None if it has no cells."""

    family: Optional[bytes]
    first_row: Optional[bytes]
    last_row: Optional[bytes]
    path: str

    @classmethod
    def of_path(cls, path: str) -> _File:
        """Opens a file, and closes it: there can be more than a process may hold open."""
        with open_hfile(path) as file:
            return cls(file.family, file.first_row, file.last_row, path)


def _paths(path: str) -> list[str]:
    """Returns a file, or all files in a directory and below."""
    # The path can be that of a family in the directory of a job, or of one of its files.
    family = path if os.path.isdir(path) else os.path.dirname(path)
    parent = os.path.dirname(os.path.abspath(family))
    if os.path.lexists(os.path.join(parent, COMMITTING)):
        raise _not_whole(parent, COMMITTING)
    if not os.path.isdir(path):
        return [path]
    found = []
    for directory, names, files in os.walk(path, onerror=_raise):
        if COMMITTING in files:
            raise _not_whole(directory, COMMITTING)
        if TEMPORARY in names and SUCCESS not in files:
            raise _not_whole(directory, TEMPORARY)
        # Names of families and files can begin with an underscore; hidden ones are no data for Spark and Hadoop.
        names[:] = sorted(name for name in names if name != TEMPORARY and not name.startswith("."))
        for name in names:
            if os.path.islink(os.path.join(directory, name)):
                raise ValueError(
                    f"{os.path.join(directory, name)} is a symbolic link to a directory, which is not followed"
                )
        data = sorted(name for name in files if name != SUCCESS and not name.startswith("."))
        found += [os.path.join(directory, name) for name in data]
    return found


def _not_whole(directory: str, found: str) -> ValueError:
    return ValueError(
        f"{directory} is not whole: a job writes it, or ended before it had written all files; it has {found}"
    )


def _raise(error: OSError) -> None:
    """Raises why a directory cannot be read, which a walk would leave out."""
    raise error


def _check_no_overlap(files: list[_File]) -> None:
    """Refuses files that may have cells of the same row and family: no file has what HBase would show."""
    last: Optional[_File] = None
    for file in sorted(file for file in files if file.first_row is not None):
        if last is not None and last.family == file.family:
            assert file.first_row is not None and last.last_row is not None, "files with rows"
            if file.first_row <= last.last_row:
                raise ValueError(
                    f"{last.path} and {file.path} have rows in common, so that neither has what HBase would show; "
                    "read their table, or all their cells with the option raw"
                )
        last = file
